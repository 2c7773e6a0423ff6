//! The built-in manual: its pages in the order of the summary, and their sections.

use std::io::{self, Read};

use flate2::read::DeflateDecoder;

use crate::markdown::plain;

/// The summary and its pages as `build.rs` has written them.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/manual.deflate"));

/// The text of all pages.
pub(crate) struct Manual(String);

/// A page of the manual.
pub(crate) struct Page<'a> {
    /// Its path below `docs`, without `.md` and without `/README`: `model/memory`.
    pub(crate) name: &'a str,
    /// Its title.
    pub(crate) title: String,
    /// The part of the manual that it is in.
    pub(crate) part: &'a str,
    /// Its text in Markdown.
    pub(crate) text: &'a str,
}

/// A heading of a page and what is below it, up to the next heading.
pub(crate) struct Section<'a> {
    /// The number of its marks `#`; 1 for the title of the page.
    pub(crate) level: usize,
    /// Its heading without marks.
    pub(crate) heading: String,
    /// Its anchor in the browser.
    pub(crate) anchor: String,
    /// The text below the heading.
    pub(crate) text: &'a str,
    /// Where its heading begins in the page, bytes.
    begin: usize,
}

impl Manual {
    /// Unpacks the manual.
    pub(crate) fn read() -> io::Result<Self> {
        let mut text = String::new();
        DeflateDecoder::new(PACKED).read_to_string(&mut text)?;
        Ok(Self(text))
    }

    /// The pages in the order of the summary.
    pub(crate) fn pages(&self) -> Vec<Page<'_>> {
        let mut words = self.0.split('\0');
        let mut next = || Some((words.next()?, words.next()?));
        let Some((_, summary)) = next() else { return Vec::new() };
        let mut pages = Vec::new();
        while let Some((path, text)) = next() {
            let stem = path.strip_suffix(".md").unwrap_or(path);
            let name = stem.strip_suffix("/README").unwrap_or(stem);
            let title = plain(text.lines().next().unwrap_or_default().trim_start_matches('#'));
            pages.push(Page { name, title, part: part(summary, path), text });
        }
        pages
    }
}

/// Names and titles of all pages, for completions.
pub(crate) fn names() -> Vec<(String, String)> {
    let Ok(manual) = Manual::read() else { return Vec::new() };
    manual.pages().into_iter().map(|page| (page.name.to_owned(), page.title)).collect()
}

/// The heading of the summary above a page; the first part has none but the title of the manual.
fn part<'a>(summary: &'a str, path: &str) -> &'a str {
    let link = format!("]({path})");
    let above = summary.lines().take_while(|line| !line.contains(&link));
    let part = above.filter_map(|line| line.strip_prefix("# ")).last().unwrap_or_default();
    if part == "Summary" { "Begin" } else { part }
}

impl<'a> Page<'a> {
    /// Its sections: the first one is what is below the title.
    pub(crate) fn sections(&self) -> Vec<Section<'a>> {
        let mut headings = Vec::new();
        let (mut at, mut is_code) = (0, false);
        for line in self.text.split_inclusive('\n') {
            is_code ^= line.starts_with("```");
            let marks = line.chars().take_while(|c| *c == '#').count();
            if marks > 0 && !is_code && line[marks..].starts_with(' ') {
                headings.push((at, marks, line));
            }
            at += line.len();
        }
        let anchors: Vec<String> = headings.iter().map(|(.., line)| anchor(line)).collect();
        let ends = headings.iter().skip(1).map(|(begin, ..)| *begin).chain([self.text.len()]);
        let sections =
            headings.iter().zip(ends).enumerate().map(|(at, ((begin, level, line), end))| Section {
                level: *level,
                heading: plain(&line[*level..]),
                anchor: numbered(&anchors[..=at]),
                text: &self.text[begin + line.len()..end],
                begin: *begin,
            });
        sections.collect()
    }

    /// The section of this anchor and those below it.
    pub(crate) fn at(&self, anchor: &str) -> Option<&'a str> {
        let sections = self.sections();
        let at = sections.iter().position(|section| section.anchor == anchor.to_lowercase())?;
        let level = sections[at].level;
        let end = sections[at + 1..].iter().find(|section| section.level <= level);
        Some(&self.text[sections[at].begin..end.map_or(self.text.len(), |section| section.begin)])
    }
}

impl Section<'_> {
    /// A text without blocks of code, marks and line breaks; a row of a table is a sentence.
    pub(crate) fn prose(text: &str) -> String {
        let prose: Vec<&str> = text.split("```").step_by(2).collect();
        let mut words: Vec<String> = Vec::new();
        for line in prose.join("\n").lines().map(str::trim) {
            let cells = line.trim_matches('|').split('|').map(str::trim).filter(|cell| !cell.is_empty());
            match line {
                line if line.starts_with("|--") || line.starts_with('<') && line.ends_with('>') => {}
                line if line.starts_with('|') => {
                    words.push(format!("{}.", cells.collect::<Vec<_>>().join(", ")));
                }
                line => words.push(line.strip_prefix("- ").unwrap_or(line).to_owned()),
            }
        }
        words.retain(|line| !line.is_empty());
        plain(&words.join(" "))
    }
}

/// The anchor of a heading: lower case, `-` for blanks, without punctuation other than `-` and `_`.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// The last one of these anchors; the second of the same text ends in `-1`, as in the browser.
fn numbered(anchors: &[String]) -> String {
    let Some((last, before)) = anchors.split_last() else { return String::new() };
    match before.iter().filter(|anchor| *anchor == last).count() {
        0 => last.clone(),
        times => format!("{last}-{times}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_has_the_pages_of_the_summary_with_titles_and_parts() {
        let manual = Manual::read().unwrap();
        let pages = manual.pages();
        assert!(pages.len() > 40, "{}", pages.len());
        for page in &pages {
            let sections = page.sections();
            assert!(!page.title.is_empty() && !page.part.is_empty(), "{}", page.name);
            assert!(sections[0].level == 1 && sections[0].heading == page.title, "{}", page.name);
        }
        assert!(pages.iter().any(|page| page.name == "lessons"));
        // `oversim explain` has these.
        assert!(!pages.iter().any(|page| page.name == "glossary" || page.name.ends_with("LOAD")));
    }

    #[test]
    fn a_page_is_cut_at_its_headings_but_not_in_code() {
        let text = "# A *b*\none\n## C d\ntwo\n```sh\n# no heading\n```\n### E\nthree\n## F\nfour\n### E\n";
        let page = Page { name: "a", title: "A b".into(), part: "x", text };
        let found: Vec<_> = page.sections().into_iter().map(|s| (s.level, s.heading, s.anchor)).collect();
        let of = |level: usize, heading: &str, anchor: &str| (level, heading.into(), anchor.into());
        assert_eq!(
            found,
            [of(1, "A b", "a-b"), of(2, "C d", "c-d"), of(3, "E", "e"), of(2, "F", "f"), of(3, "E", "e-1")]
        );
        let below = page.at("c-d").unwrap();
        assert!(below.starts_with("## C d\n") && below.ends_with("three\n"), "{below}");
        assert_eq!((page.at("f"), page.at("g")), (Some("## F\nfour\n### E\n"), None));
        let page = "a *b*\n\n```\nx\n```\n<details>\n- e\n| c | d |\n|---|---|\n";
        assert_eq!(Section::prose(page), "a b e c, d.");
    }
}
