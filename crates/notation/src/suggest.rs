//! The nearest valid name to a mistyped one, or the present name to a former one.

use crate::renamed::{RENAMED, What, present};

/// "; did you mean `x`?" for the nearest name, or nothing.
#[must_use]
pub fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// As [`hint`], for the name of a metric: the present one if it is a former one.
#[must_use]
pub fn metric_hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match RENAMED.iter().find(|row| row.what == What::Metric && row.old == word) {
        Some(row) => format!("; it is called `{}` since version {}.", row.new, row.since),
        None => hint(word, names),
    }
}

/// The sentence about a name that a registry does not hold, with the valid ones and the nearest.
#[must_use]
pub fn unknown(what: &str, word: &str, names: &[&str]) -> String {
    format!("unknown {what} `{word}`; {what}s are {}{}", names.join(", "), hint(word, names.iter().copied()))
}

/// The nearest known name, or all of them when they are few.
#[must_use]
pub fn advice(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are none".into(),
        None => few(known),
    }
}

/// The known names, if they are few.
pub(crate) fn few(known: &[&str]) -> String {
    if known.is_empty() || known.len() > 40 { String::new() } else { format!("known: {}", known.join(", ")) }
}

/// The candidate that is the present name of `word` if that is a former name ([`RENAMED`]); else the nearest
/// to `word`, if one is near enough to have been meant (a third of its letters may differ; case is ignored).
/// The first of equally near ones wins.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(present) = present(RENAMED, word, candidates.iter().copied()) {
        return Some(present);
    }
    let word = folded(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = folded(candidate);
        let limit = word.len().max(other.len()).div_ceil(3);
        let near = distance(&word, &other);
        if near <= limit && best.is_none_or(|(least, _)| near < least) {
            best = Some((near, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// At most 64 letters in lower case: longer words are nobody's typing mistake.
fn folded(word: &str) -> Vec<char> {
    word.chars().take(64).flat_map(char::to_lowercase).collect()
}

/// Edits (insert, delete, replace, swap neighbours) from one word to the other: optimal string alignment
/// (Damerau 1964; Wagner and Fischer 1974).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = previous[j] + usize::from(x != y);
            let mut least = replaced.min(previous[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_find_their_word() {
        let machines = ["barcelona", "tigerton"];
        assert_eq!(nearest("barcelnoa", machines), Some("barcelona"));
        assert_eq!(nearest("Tigertown", machines), Some("tigerton"));
        assert_eq!(nearest("seed", ["speed", "seed"]), Some("seed"));
        assert_eq!(nearest("cray", machines), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!(hint("sped", ["speed", "variation"]), "; did you mean `speed`?");
        let former = "; it is called `variation` since version 1.0.0.";
        assert_eq!(metric_hint("spread", ["speed", "variation"]), former);
        assert_eq!(metric_hint("makespn", ["makespan"]), "; did you mean `makespan`?");
    }

    #[test]
    fn edits_are_counted() {
        let count = |a: &str, b: &str| distance(&folded(a), &folded(b));
        assert_eq!(count("kitten", "sitting"), 3);
        assert_eq!(count("ab", "ba"), 1);
        assert_eq!(count("", "abc"), 3);
    }
}
