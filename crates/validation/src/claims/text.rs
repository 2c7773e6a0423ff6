//! What can be read in any text of a claim: numbers, and known words.

use notation::declare::{Choice, Field};

/// The value of this name.
pub(super) fn named<T: Choice + Field>(name: &str) -> Option<T> {
    T::WORDS.iter().position(|word| *word == name).map(|at| T::from_numbers(&[at as u64]))
}

/// What the words of a text mean, each once, in the order written; whether capital or not.
pub(super) fn meanings<T: Copy + PartialEq>(text: &str, words: &[(&str, T)]) -> Vec<T> {
    let text = text.to_lowercase();
    let mut at: Vec<(usize, T)> =
        words.iter().filter_map(|(word, meaning)| Some((text.find(word)?, *meaning))).collect();
    at.sort_by_key(|(at, _)| *at);
    let mut found = Vec::new();
    for (_, meaning) in at {
        if !found.contains(&meaning) {
            found.push(meaning);
        }
    }
    found
}

/// The choices whose words a text has, in the order written.
pub(super) fn chosen<T: Choice + Field + PartialEq>(text: &str) -> Vec<T> {
    let words: Vec<(&str, T)> = T::WORDS.iter().filter_map(|word| Some((*word, named(word)?))).collect();
    meanings(text, &words)
}

/// The meaning of the first of these words that a text has.
pub(super) fn first<T: Copy>(text: &str, words: &[(&str, T)]) -> Option<T> {
    let text = text.to_lowercase();
    words.iter().find(|(word, _)| text.contains(word)).map(|(_, meaning)| *meaning)
}

/// The words of a text, numbers included.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned)
}

/// All numbers in a text, in order; a number inside a word (as in `t4`) is none.
pub(super) fn numbers(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let mut in_word = false;
    let mut digits = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_digit() && !in_word {
            digits.push(c);
            continue;
        }
        if let Ok(number) = digits.parse() {
            found.push(number);
        }
        digits.clear();
        in_word = c.is_alphanumeric() || c == '_';
    }
    found
}

/// The numbers in those pieces of a text that end so, as 140 in `8 per job, 140 user threads`.
pub(super) fn numbers_before(text: &str, ending: &str) -> Vec<u32> {
    let pieces = text.split([',', '(', ')']).filter_map(|piece| piece.split_once(ending));
    pieces.flat_map(|(piece, _)| numbers(piece)).collect()
}

/// The numbers between the first `start` of a text and the next.
pub(super) fn numbers_behind(text: &str, start: &str) -> Vec<u32> {
    text.split(start).nth(1).map_or(Vec::new(), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_alone() {
        assert_eq!(numbers("2 > 4 > 8 per core"), [2, 4, 8]);
        assert_eq!(numbers("16 threads on 1..16 cores"), [16, 1, 16]);
        assert_eq!(numbers("t4, 67x1 + 9x8"), [67, 9]);
        assert_eq!(numbers("2:1, 4:2"), [2, 1, 4, 2]);
        assert!(numbers("not stated").is_empty());
        assert_eq!(numbers_before("8 per job, 138 user threads", "user threads"), [138]);
        assert_eq!(numbers_before("144 vs 140 user threads", "user threads"), [144, 140]);
        assert_eq!(numbers_before("8 < 16 < 24 < 32 per job", "per job"), [8, 16, 24, 32]);
    }

    #[test]
    fn words_are_found_in_the_order_written() {
        let words = [("load", 1), ("linux", 1), ("pin", 2)];
        assert_eq!(meanings("PIN vs LOAD (Linux)", &words), [2, 1]);
        assert_eq!(first("PIN vs LOAD (Linux)", &words), Some(1));
    }
}
