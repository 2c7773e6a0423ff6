//! The search in the manual: pages whose title has the words, then those with a heading that has them, then
//! those that have them most often.

use crate::manual::{Page, Section};

/// A page that has all words.
pub(super) struct Found<'a, 'b> {
    /// The page.
    pub(super) page: &'b Page<'a>,
    /// Its sections that have all words, the best first; where none has all, those that have one.
    pub(super) sections: Vec<Section<'a>>,
}

/// The words of a text in lower case, without the marks around them.
pub(super) fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

/// How often a word begins in a text in lower case.
pub(super) fn count(text: &str, word: &str) -> usize {
    begins(text, word).count()
}

/// Where a word begins in a text in lower case, bytes.
fn begins<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let starts = move |at: &usize| !text[..*at].ends_with(char::is_alphanumeric);
    text.match_indices(word).map(|(at, _)| at).filter(starts)
}

/// How well a text has words: how many of them its heading has, then how often it has the rarest.
type Score = (usize, usize);

/// The pages that have all of these words, the best first, those of equal rank in the order of the manual.
pub(super) fn search<'a, 'b>(pages: &'b [Page<'a>], words: &[String]) -> Vec<Found<'a, 'b>> {
    let mut found: Vec<([usize; 3], Found)> = Vec::new();
    if words.is_empty() {
        return Vec::new();
    }
    for page in pages {
        let text = page.text.to_lowercase();
        let rarest = words.iter().map(|word| count(&text, word)).min().unwrap_or(0);
        if rarest == 0 {
            continue;
        }
        let titled = has(&format!("{} {}", page.title, page.name).to_lowercase(), words);
        let mut sections: Vec<(Score, Section)> =
            page.sections().into_iter().map(|section| (score(&section, words), section)).collect();
        // Stable: sections of equal rank stay in the order of the page.
        sections.sort_by(|(one, _), (other, _)| other.cmp(one));
        let headed = sections.iter().map(|((heading, _), _)| *heading).max().unwrap_or(0);
        let whole = sections.iter().any(|((_, times), _)| *times > 0);
        let kept = |section: &Section| {
            let text = format!("{} {}", section.heading, section.text).to_lowercase();
            let any = words.iter().any(|word| count(&text, word) > 0);
            any && !whole
        };
        let sections = sections.into_iter().filter(|((_, times), section)| *times > 0 || kept(section));
        let sections: Vec<Section> = sections.map(|(_, section)| section).collect();
        found.push(([titled, headed, rarest], Found { page, sections }));
    }
    found.sort_by(|(one, _), (other, _)| other.cmp(one));
    found.into_iter().map(|(_, found)| found).collect()
}

/// How many of these words a text in lower case has.
fn has(text: &str, words: &[String]) -> usize {
    words.iter().filter(|word| count(text, word) > 0).count()
}

fn score(section: &Section, words: &[String]) -> Score {
    let heading = section.heading.to_lowercase();
    let text = format!("{heading} {}", section.text.to_lowercase());
    let rarest = words.iter().map(|word| count(&text, word)).min().unwrap_or(0);
    // A heading counts where the section has all words.
    (if rarest > 0 { has(&heading, words) } else { 0 }, rarest)
}

/// The part of a text around the first place with most of the words, of at most `room` columns.
pub(super) fn context(text: &str, words: &[String], room: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    // Lower case letter by letter, so that places in both are the same.
    let lower: String = letters.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect();
    let places = words.iter().flat_map(|word| begins(&lower, word));
    let mut places: Vec<usize> = places.map(|at| lower[..at].chars().count()).collect();
    places.sort_unstable();
    let near = |begin: usize| {
        let end = begin + room.saturating_sub(8);
        let window: String = lower.chars().skip(begin).take(end - begin).collect();
        has(&window, words)
    };
    // The first of the best ones.
    let best = places.iter().copied().max_by_key(|at| (near(*at), usize::MAX - at)).unwrap_or(0);
    let ends = |at: &usize| matches!(letters[*at], '.' | ':' | '?') && letters[at + 1].is_whitespace();
    let sentence = (0..best.saturating_sub(1)).rev().find(ends).map_or(0, |at| at + 1);
    // From the beginning of the sentence where the word is near it, else a little before the word.
    let from = if best - sentence < room / 2 { sentence } else { best - room / 4 };
    let word = letters[from..].iter().position(|c| c.is_whitespace()).map_or(from, |at| from + at + 1);
    let from = if from == sentence { from } else { word.min(best) };
    let dots = if from > sentence { "... " } else { "" };
    let rest: String = letters[from..].iter().collect();
    experiment::text::cut(&format!("{dots}{}", rest.trim_start()), room)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &'static str, title: &str, text: &'static str) -> Page<'static> {
        Page { name, title: title.into(), part: "x", text }
    }

    #[test]
    fn titles_come_first_then_headings_then_texts() {
        let pages = [
            page("a", "A", "# A\nlock lock lock lock\n"),
            page("b", "B", "# B\nb\n## Locks\na lock\n"),
            page("c", "Locks", "# Locks\none\n"),
            page("d", "D", "# D\nblock unlock\n"),
        ];
        let names = |query: &str| -> Vec<&str> {
            search(&pages, &words(query)).iter().map(|found| found.page.name).collect()
        };
        assert_eq!(names("lock"), ["c", "b", "a"]);
        assert_eq!(names("LOCK, b"), ["b"], "all words, whatever the case and the marks");
        assert_eq!(names("nothing"), [""; 0]);
        assert_eq!(names("?"), [""; 0]);
    }

    #[test]
    fn a_section_that_has_all_words_comes_before_others() {
        let text = "# A\nlock\n## One\nlock here\n## Two\nlock there, sleep\n## Three\nsleep\n";
        let pages = [page("a", "A", text)];
        let sections = |query: &str| -> Vec<String> {
            let found = search(&pages, &words(query));
            found.into_iter().flat_map(|found| found.sections).map(|s| s.heading).collect()
        };
        assert_eq!(sections("lock sleep"), ["Two"]);
        assert_eq!(sections("here there"), ["One", "Two"], "no section has both");
    }

    #[test]
    fn the_context_shows_the_words_in_their_sentence() {
        let text = "First sentence. A task takes the Lock and sleeps. Another one.";
        assert_eq!(context(text, &words("lock"), 40), "A task takes the Lock and sleeps. Ano...");
        assert_eq!(context(text, &words("another"), 40), "Another one.");
        let far = format!("{} lock is here", "word ".repeat(40).trim_end());
        let shown = context(&far, &words("lock"), 40);
        assert!(shown.starts_with("... word") && shown.ends_with("lock is here"), "{shown}");
        assert!(context("É lock", &words("lock"), 40).contains("lock"));
        assert_eq!(context("", &words("lock"), 40), "");
    }
}
