//! Pages as text for a terminal.

use std::io::{self, Write};

use notation::text::{cut, hanging};
use policies::PolicyRegistry;

use crate::page::{Block, Kind, Link, Page};
use crate::search::pages_with;

/// Widest text: longer lines are hard to read.
const WIDEST: usize = 100;
const INDENT: &str = "  ";

/// Writes pages, lines of at most `width` (and at most 100) columns.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_text(pages: &[Page], out: &mut dyn Write, width: usize) -> io::Result<()> {
    let width = width.min(WIDEST);
    for (i, page) in pages.iter().enumerate() {
        if i > 0 {
            writeln!(out, "\n{}\n", "-".repeat(width))?;
        }
        let title = format!("{} ({}): {}", page.name, page.kind.name(), page.summary);
        wrapped(out, &title, "", INDENT, width)?;
        for section in &page.sections {
            writeln!(out)?;
            if !section.title.is_empty() {
                writeln!(out, "{}", section.title)?;
            }
            let indent = if section.title.is_empty() { "" } else { INDENT };
            for block in &section.blocks {
                write_block(out, block, indent, width)?;
            }
        }
    }
    Ok(())
}

fn write_block(out: &mut dyn Write, block: &Block, indent: &str, width: usize) -> io::Result<()> {
    match block {
        Block::Text(text) => {
            for (i, paragraph) in text.split("\n\n").enumerate() {
                if i > 0 {
                    writeln!(out)?;
                }
                wrapped(out, paragraph, indent, indent, width)?;
            }
        }
        Block::Yaml(yaml) => {
            for line in yaml.lines() {
                writeln!(out, "{indent}{INDENT}{line}")?;
            }
        }
        Block::Command(command) => writeln!(out, "{indent}{INDENT}$ {command}")?,
        Block::Parameters(rows) => {
            for row in rows {
                let head = format!("{} = {} ({})", row.name, row.default, row.range());
                wrapped(out, &head, indent, &format!("{indent}      "), width)?;
                let deep = format!("{indent}    ");
                wrapped(out, &row.about, &deep, &deep, width)?;
            }
        }
        Block::Facts(facts) => {
            for fact in facts {
                let about = if fact.about.is_empty() { String::new() } else { format!(": {}", fact.about) };
                let line = format!("{} = {}{about}", fact.name, fact.value);
                wrapped(out, &line, indent, &format!("{indent}    "), width)?;
            }
        }
        Block::See(links) => {
            let links: Vec<String> = links.iter().map(reference).collect();
            wrapped(out, &links.join(", "), indent, indent, width)?;
        }
    }
    Ok(())
}

/// `policy LOAD`, or the path of a document.
fn reference(link: &Link) -> String {
    if link.kind.is_empty() { link.name.clone() } else { format!("{} {}", link.kind, link.name) }
}

/// Writes words in lines of at most `width` columns; a longer word is alone on its line.
fn wrapped(out: &mut dyn Write, text: &str, first: &str, rest: &str, width: usize) -> io::Result<()> {
    writeln!(out, "{}", hanging(text, [first, rest], width).join("\n"))
}

/// Writes the list of all pages: one line each, shortened to the width; terms by name only.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_overview(policies: &PolicyRegistry, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let how = "`oversim explain NAME` shows one of these pages, `policy:NAME` searches only the policies.";
    wrapped(out, how, "", "", width.min(WIDEST))?;
    for kind in Kind::listed() {
        writeln!(out, "\n{}", kind.title())?;
        let pages = pages_with(policies, kind);
        let wide = pages.iter().map(|page| page.name.chars().count()).max().unwrap_or(0);
        for page in &pages {
            let line = format!("{INDENT}{:wide$}  {}", page.name, page.summary);
            writeln!(out, "{}", cut(&line, width))?;
        }
    }
    writeln!(out, "\n{}", Kind::Term.title())?;
    let terms: Vec<String> = pages_with(policies, Kind::Term).into_iter().map(|page| page.name).collect();
    wrapped(out, &terms.join(", "), INDENT, INDENT, width.min(WIDEST))?;
    writeln!(out)?;
    let more = "There are also pages for every parameter (`oversim explain interval`, `SPEED.interval`) and \
        for any machine \
description (`oversim explain core:8`).";
    wrapped(out, more, "", "", width.min(WIDEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{find, pages};

    #[test]
    fn lines_fit_into_a_hundred_columns() {
        for page in Kind::ALL.into_iter().flat_map(pages) {
            let mut text = Vec::new();
            write_text(std::slice::from_ref(&page), &mut text, 500).unwrap();
            let text = String::from_utf8(text).unwrap();
            for line in text.lines().filter(|line| line.chars().count() > WIDEST) {
                let whole = line.trim_start().split(' ').count() == 1 || line.contains(": {");
                assert!(whole, "{}: {line}", page.name);
            }
        }
        let mut narrow = Vec::new();
        write_text(&find("PIN").unwrap(), &mut narrow, 60).unwrap();
        let narrow = String::from_utf8(narrow).unwrap();
        assert!(narrow.starts_with("PIN (policy): "), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 62), "{narrow}");
    }

    #[test]
    fn the_overview_names_every_page() {
        let mut text = Vec::new();
        write_overview(&PolicyRegistry::default(), &mut text, 80).unwrap();
        let text = String::from_utf8(text).unwrap();
        for page in Kind::listed().flat_map(pages) {
            assert!(text.contains(&format!("\n  {}", page.name)), "{}", page.name);
        }
        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(pages(Kind::Term).iter().all(|page| one_line.contains(&page.name)), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn a_list_of_cpus_is_not_shown_as_a_flag() {
        let mut text = Vec::new();
        write_text(&find("PIN.cpus").unwrap(), &mut text, WIDEST).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("(a list of cpus)") && !text.contains("true or false"), "{text}");
    }
}
