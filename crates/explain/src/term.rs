//! Pages of terms: the words of the field, from the glossary.

use notation::typed;
use serde::Deserialize;

use crate::page::{Block, Kind, Link, Page};

/// The glossary.
const FILE: &str = "crates/explain/data/glossary.yaml";
const TEXT: &str = include_str!("../data/glossary.yaml");

/// A term as the glossary has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    term: String,
    #[serde(default)]
    also: Vec<String>,
    text: String,
    #[serde(default)]
    see: Vec<String>,
    #[serde(default)]
    source: String,
}

pub(super) fn pages() -> Vec<Page> {
    // A test reads the glossary.
    let entries: Vec<Entry> = typed::parse(FILE, TEXT).unwrap_or_default();
    entries.into_iter().map(page).collect()
}

/// The first sentence is the summary, the others are the text.
fn page(entry: Entry) -> Page {
    let text = entry.text.trim();
    let (summary, rest) = text.split_once(". ").unwrap_or((text, ""));
    let mut page = Page::new(Kind::Term, &entry.term, summary.trim_end_matches('.'));
    if !entry.also.is_empty() {
        page = page.text("", &format!("Also: {}.", entry.also.join(", ")));
    }
    page = page.text("", rest);
    if !entry.source.is_empty() {
        page = page.text("Source", &format!("{}.", entry.source));
    }
    page = page.with("See", vec![Block::See(entry.see.iter().map(|see| link(see)).collect())]);
    page.aliases = entry.also;
    page
}

/// `policy:LOAD`, `scenario:odd_thread` or the path of a document.
fn link(see: &str) -> Link {
    let (kind, name) = see.split_once(':').unwrap_or(("", see));
    Link { kind: kind.to_owned(), name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::page::folded;
    use crate::search::find;
    use scenario::built_in;

    #[test]
    fn the_glossary_is_sorted_and_no_word_has_two_entries() {
        let entries: Vec<Entry> = typed::parse(FILE, TEXT).unwrap_or_else(|why| panic!("{why}"));
        assert!(entries.len() > 60);
        let terms: Vec<String> = entries.iter().map(|entry| entry.term.to_lowercase()).collect();
        assert!(terms.is_sorted(), "{:?}", terms.windows(2).find(|pair| pair[0] > pair[1]));
        let mut seen = BTreeSet::new();
        for word in entries.iter().flat_map(|entry| [&entry.term].into_iter().chain(&entry.also)) {
            assert!(seen.insert(folded(word)), "{word} has two entries");
        }
        for entry in &entries {
            let words = entry.text.split_whitespace().count();
            assert!((8..=75).contains(&words), "{}: {words} words", entry.term);
        }
    }

    #[test]
    fn everything_that_a_term_refers_to_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for page in pages() {
            let blocks = page.sections.iter().flat_map(|section| &section.blocks);
            let links: Vec<&Link> =
                blocks.flat_map(|b| if let Block::See(links) = b { &links[..] } else { &[] }).collect();
            assert!(!links.is_empty(), "{} refers to nothing", page.name);
            for Link { kind, name } in links {
                let found = match kind.as_str() {
                    "" => root.join(name).is_file(),
                    "scenario" => built_in::find(name).is_some(),
                    kind => find(&format!("{kind}:{name}")).is_ok(),
                };
                assert!(found, "{}: {kind}:{name}", page.name);
            }
        }
    }
}
