//! `oversim docs`: the pages of the manual, their list, and a search in them.

mod search;
mod show;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::styling::Style;
use experiment::PolicyRegistry;
use experiment::suggest::hint;
use experiment::text::{cut, hanging};

use crate::args::Docs;
use crate::failure::Failure;
use crate::manual::{Manual, Page, Section};
use crate::output::{colours, to_stdout, width};

/// Widest text: longer lines are hard to read.
const WIDEST: usize = 100;
/// Titles, where the output shows colours.
const TITLE: Style = Style::new().bold();
/// Most pages that a search shows.
const PAGES: usize = 8;
/// Most sections of a page that a search shows.
const SECTIONS: usize = 2;
/// Most names that a search refers to.
const NAMES: usize = 6;

/// Lists the pages, prints one or a section of it, or searches.
pub(crate) fn docs(args: &Docs, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let manual = Manual::read().map_err(|error| Failure::Output(format!("the built-in manual: {error}")))?;
    let pages = manual.pages();
    let width = width().min(WIDEST);
    match &args.words[..] {
        [] => to_stdout(|out| list(&pages, out, width))?,
        [address] if is_address(&pages, address) => {
            let text = section(&pages, address).map_err(Failure::Input)?;
            to_stdout(|out| show::write(text, out, width))?;
        }
        words => {
            let words: Vec<String> = words.iter().flat_map(|word| search::words(word)).collect();
            let found = search::search(&pages, &words);
            let names = explained(policies, &words);
            if found.is_empty() && names.is_empty() {
                return Err(Failure::Input(nothing(&pages, &words)));
            }
            to_stdout(|out| results(&found, &names, &words, out, width))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a word is the name of a page, or cannot be anything else.
fn is_address(pages: &[Page], word: &str) -> bool {
    let name = word.split('#').next().unwrap_or(word);
    find(pages, name).is_some() || word.contains('/') || word.ends_with(".md")
}

fn find<'a, 'b>(pages: &'b [Page<'a>], name: &str) -> Option<&'b Page<'a>> {
    let name = name.strip_prefix("docs/").unwrap_or(name);
    let name = name.strip_suffix(".md").unwrap_or(name);
    pages.iter().find(|page| page.name.eq_ignore_ascii_case(name))
}

/// The text of a page, or of one of its sections with those below it.
fn section<'a>(pages: &[Page<'a>], address: &str) -> Result<&'a str, String> {
    let (name, anchor) = address.split_once('#').unwrap_or((address, ""));
    let Some(page) = find(pages, name) else {
        let near = hint(name, pages.iter().map(|page| page.name));
        let stop = if near.is_empty() { "." } else { "" };
        return Err(format!("the manual has no page `{name}`{near}{stop} `oversim docs` lists all pages"));
    };
    if anchor.is_empty() {
        return Ok(page.text);
    }
    let sections = page.sections();
    page.at(anchor).ok_or_else(|| {
        let near = hint(anchor, sections.iter().map(|section| section.anchor.as_str()));
        let stop = if near.is_empty() { "." } else { "" };
        let name = page.name;
        format!("the page `{name}` has no section `{anchor}`{near}{stop} `oversim docs {name}` prints it all")
    })
}

/// A text in bold where the output shows colours.
fn bold(text: &str) -> String {
    if colours() { format!("{TITLE}{text}{TITLE:#}") } else { text.to_owned() }
}

fn list(pages: &[Page], out: &mut dyn Write, width: usize) -> io::Result<()> {
    let wide = pages.iter().map(|page| page.name.chars().count()).max().unwrap_or(0);
    let mut part = "";
    for page in pages {
        if page.part != part {
            part = page.part;
            writeln!(out, "\n{}", bold(part))?;
        }
        writeln!(out, "{}", cut(&format!("  {:wide$}  {}", page.name, page.title), width))?;
    }
    let how = "`oversim docs PAGE` prints a page, `oversim docs WORD...` searches in all of them. \
        `oversim explain NAME` has a page for each name of scenarios and results.";
    writeln!(out, "\n{}", hanging(how, ["", ""], width).join("\n"))
}

/// The pages of `oversim explain` whose name has all words.
fn explained(policies: &PolicyRegistry, words: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    if words.is_empty() {
        return names;
    }
    for page in explain::Kind::ALL.into_iter().flat_map(|kind| explain::pages_with(policies, kind)) {
        let has_all = |name: &String| {
            let name = name.to_lowercase();
            words.iter().all(|word| search::count(&name, word) > 0)
        };
        if (has_all(&page.name) || page.aliases.iter().any(has_all)) && !names.contains(&page.name) {
            names.push(page.name);
        }
    }
    names
}

fn results(
    found: &[search::Found],
    names: &[String],
    words: &[String],
    out: &mut dyn Write,
    width: usize,
) -> io::Result<()> {
    for hit in found.iter().take(PAGES) {
        let title = cut(&hit.page.title, width.saturating_sub(hit.page.name.chars().count() + 2));
        writeln!(out, "{}  {title}", bold(hit.page.name))?;
        for section in hit.sections.iter().take(SECTIONS) {
            let anchor = if section.level > 1 { format!("#{}  ", section.anchor) } else { String::new() };
            let room = width.saturating_sub(anchor.chars().count() + 2);
            let context = search::context(&Section::prose(section.text), words, room);
            writeln!(out, "{}", cut(&format!("  {anchor}{context}"), width).trim_end())?;
        }
    }
    let mut last = Vec::new();
    if found.len() > PAGES {
        last.push(format!("{} more pages have it; more words narrow the search.", found.len() - PAGES));
    }
    if let Some(hit) = found.first() {
        let name = hit.page.name;
        last.push(format!(
            "`oversim docs {name}` prints a page, `oversim docs {name}#SECTION` a part of it."
        ));
    }
    if !names.is_empty() {
        let shown: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
        let more = if names.len() > NAMES { " and others" } else { "" };
        last.push(format!("`oversim explain` has pages for {}{more}.", shown.join(", ")));
    }
    if !found.is_empty() {
        writeln!(out)?;
    }
    writeln!(out, "{}", hanging(&last.join(" "), ["", ""], width).join("\n"))
}

/// The error of a search without a result: which word is nowhere, and what is near it.
fn nothing(pages: &[Page], words: &[String]) -> String {
    let all = words.join(" ");
    if all.is_empty() {
        return "a search needs a word with a letter or a number".into();
    }
    let missing = words.iter().find(|word| search::search(pages, std::slice::from_ref(word)).is_empty());
    let Some(word) = missing else {
        return format!("no page of the manual has all of `{all}`; fewer words find more");
    };
    let headings: Vec<String> =
        pages.iter().flat_map(Page::sections).flat_map(|section| search::words(&section.heading)).collect();
    let near = hint(word, headings.iter().map(String::as_str));
    let stop = if near.is_empty() { "." } else { "" };
    format!("the manual does not have `{word}`{near}{stop} `oversim docs` lists all pages")
}
