//! The pages of `docs/reference` and the glossary, made from the registries by the code of `oversim explain`.

use std::fmt::Write as _;

use crate::link::{FILES, target};
use crate::markdown::{capital, cell, see, write_markdown};
use crate::page::{Block, Kind, Page};
use crate::search::pages;

/// The first line of every page.
const NOTE: &str = "<!-- written by OVERSIM_UPDATE=1 cargo test -p oversim-explain --test reference; edit \
    the registries instead -->\n";

/// The glossary, seen from `docs/reference`.
const GLOSSARY: &str = "../glossary.md";

/// All files and their texts, in order of path; paths are those seen from `docs/reference`.
#[must_use]
pub fn files() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = FILES
        .iter()
        .map(|(file, title, about, kinds)| ((*file).into(), kind_page(title, about, kinds)))
        .collect();
    for page in pages(Kind::Policy) {
        let path = format!("policies/{}.md", page.name);
        files.push((path, format!("{}\n{NOTE}", markdown(&[page], 1))));
    }
    files.push(("README.md".into(), index()));
    files.push((GLOSSARY.into(), glossary()));
    files.sort();
    files
}

fn markdown(pages: &[Page], level: usize) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail, and what is written is text.
    let _ = write_markdown(pages, level, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn kind_page(title: &str, about: &str, kinds: &[Kind]) -> String {
    let pages: Vec<Page> = kinds.iter().flat_map(|kind| pages(*kind)).collect();
    format!("# {title}\n\n{NOTE}\n{about}\n\n{}", markdown(&pages, 2))
}

/// Writes the list of all pages with their summaries.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_index(out: &mut dyn std::io::Write) -> std::io::Result<()> {
    out.write_all(index().as_bytes())
}

fn index() -> String {
    let mut text = format!(
        "# Reference\n\n{NOTE}\n\
All names of scenarios and results. `oversim explain NAME` prints the same pages.\n\n\
Where each policy wins and loses, measured: [showcases](showcases.md). The words of the field: \
[glossary]({GLOSSARY}).\n"
    );
    for kind in Kind::listed() {
        let _ = write!(text, "\n## {}\n\n| | |\n|---|---|\n", kind.title());
        let pages = pages(kind);
        for (i, page) in pages.iter().enumerate() {
            // The second heading of the same name has a number behind it.
            let before = pages[..i].iter().filter(|other| other.name == page.name).count();
            let number = if before > 0 { format!("-{before}") } else { String::new() };
            let summary = cell(&capital(&page.summary));
            let _ = writeln!(text, "| [{}]({}{number}) | {summary} |", page.name, target(page));
        }
    }
    text
}

/// The words of the field, each with its meaning and what to read next.
fn glossary() -> String {
    let mut text = format!(
        "# Glossary\n\n{NOTE}\n\
The words of the field as oversim uses them. `oversim explain TERM` prints the same entries and finds the \
synonyms.\n"
    );
    for page in pages(Kind::Term) {
        let _ = write!(text, "\n## {}\n\n", page.name);
        let blocks = page.sections.iter().flat_map(|section| &section.blocks);
        let (mut paragraphs, mut links) = (vec![format!("{}.", page.summary)], String::new());
        for block in blocks {
            match block {
                // The synonyms come last.
                Block::Text(also) if also.starts_with("Also: ") => links = format!("{also} {links}"),
                Block::Text(rest) => paragraphs.push(rest.clone()),
                Block::See(all) => links = format!("{links}See: {}.", see(all)),
                _ => {}
            }
        }
        let _ = write!(text, "{}\n\n{links}\n", paragraphs.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_glossary_has_every_term_with_links() {
        let text = glossary();
        for page in pages(Kind::Term) {
            let entry = text.split_once(&format!("\n## {}\n", page.name)).map_or("", |(_, rest)| rest);
            let entry = entry.split("\n## ").next().unwrap_or_default();
            assert!(entry.contains("See: ") && entry.contains(&page.summary), "{}: {entry}", page.name);
        }
    }
}
