//! The lines of a text with their numbers and places, and the numbers that stand in them.

use std::ops::Range;

use notation::diagnostics::{Diagnostic, Place};

/// Most bytes of a line that a message marks.
const MARKED: usize = 200;
/// Longest number, in bytes.
const MAX_NUMBER: usize = 40;

/// A value, or what is wrong.
pub(super) type Found<T> = Result<T, Box<Diagnostic>>;

/// A line without the space around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    source: u32,
    start: usize,
    pub(super) at: At,
    pub(super) text: &'a str,
}

/// Where a value was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    /// The line, from 1.
    pub(super) line: usize,
    pub(super) place: Place,
}

impl At {
    /// The error about what stands here.
    pub(super) fn wrong(self, message: impl Into<String>, hint: &str) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(self.place, message).hint(hint))
    }
}

/// The lines of a text; `source` is the number that their places carry.
pub(super) fn lines(source: u32, text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut next = 0;
    text.split_inclusive('\n').zip(1..).map(move |(whole, line)| {
        let start = next + whole.len() - whole.trim_start().len();
        next += whole.len();
        let text = whole.trim();
        let place = place(source, start, 0..text.floor_char_boundary(MARKED));
        Line { source, start, at: At { line, place }, text }
    })
}

fn place(source: u32, start: usize, within: Range<usize>) -> Place {
    Place::range(source, start + within.start..start + within.end)
}

impl<'a> Line<'a> {
    /// The text behind a beginning.
    pub(super) fn after(&self, beginning: &str) -> Option<&'a str> {
        self.text.strip_prefix(beginning).map(str::trim)
    }

    /// The place of a part of the line; of the line if it is none.
    pub(super) fn part(&self, part: &str) -> At {
        let from = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let inside = from.checked_add(part.len()).is_some_and(|end| end <= self.text.len());
        if !inside || part.is_empty() {
            return self.at;
        }
        let end = from + part.floor_char_boundary(MARKED);
        At { place: place(self.source, self.start, from..end), ..self.at }
    }

    /// A number above 0.
    pub(super) fn number(&self, word: Option<&str>, what: &str) -> Found<f64> {
        let word = word.unwrap_or_default();
        number(word).ok_or_else(|| {
            self.part(word).wrong(format!("there is no {what} here"), "a number above 0 is expected")
        })
    }

    /// A whole number from 1 to 4 billion.
    pub(super) fn count(&self, word: Option<&str>, what: &str) -> Found<u32> {
        let word = word.unwrap_or_default();
        let digits = word.chars().all(|c| c.is_ascii_digit());
        word.parse().ok().filter(|count| digits && *count > 0).ok_or_else(|| {
            let message = format!("there is no number of {what} here");
            self.part(word).wrong(message, "a whole number from 1 is expected")
        })
    }
}

/// A finite number above 0 in plain or scientific form.
pub(super) fn number(word: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if word.len() > MAX_NUMBER || !word.chars().all(plain) {
        return None;
    }
    word.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_where_they_are() {
        let text = "one\r\n  two 3\n\n\u{e9} x";
        let all: Vec<Line<'_>> = lines(7, text).collect();
        let seen: Vec<_> = all.iter().map(|line| (line.at.line, line.text)).collect();
        assert_eq!(seen, [(1, "one"), (2, "two 3"), (3, ""), (4, "\u{e9} x")]);
        let three = all[1].part(&all[1].text[4..]).place;
        assert_eq!((three.source, &text[three.start..three.end]), (7, "3"));
        assert_eq!(all[1].part("elsewhere"), all[1].at);
    }

    #[test]
    fn only_finite_numbers_above_zero_are_numbers() {
        assert_eq!((number("14479.33"), number("1.5e+03")), (Some(14_479.33), Some(1_500.0)));
        for wrong in ["", "0", "-3", "inf", "NaN", "1e999", "12a", "1,5", &"1".repeat(41)] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
