//! Text of a file with its name, numbers in it, and what is said of a wrong one: file, line, and what would
//! be right.

use import::Refused;
use notation::diagnostics::{Diagnostic, Place, Sources};
use notation::neutral;

/// Most bytes of a file. A year of `sacct` for a large cluster has some tens of megabytes.
pub const MAX_BYTES: u64 = 64 << 20;
/// Most characters of a foreign text in a message or a comment.
const LONGEST: usize = 100;
/// The largest number that is read: counters of the processor have at most 64 bits, and times are far below.
const LARGEST: f64 = 18_446_744_073_709_551_615.0;

/// A file with its name.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// For messages and comments.
    pub name: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// A line of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Counted from 1.
    pub(crate) number: usize,
    /// Its first byte.
    start: usize,
    /// Without its end.
    pub(crate) text: &'a str,
}

/// A number and where it is from.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Num {
    /// In s, bytes, or a count.
    pub(crate) value: f64,
    /// File, line and field, or a formula of such.
    pub(crate) origin: String,
}

impl Num {
    pub(crate) fn new(value: f64, origin: impl Into<String>) -> Self {
        Self { value, origin: origin.into() }
    }
}

impl<'a> Source<'a> {
    /// The lines with their numbers; a carriage return at an end is no part of a line.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let mut start = 0;
        self.text.split('\n').enumerate().map(move |(at, whole)| {
            let line = Line { number: at + 1, start, text: whole.strip_suffix('\r').unwrap_or(whole) };
            start += whole.len() + 1;
            line
        })
    }

    /// Where a field of a line is from, for comments.
    pub(crate) fn origin(&self, line: &Line<'_>, field: &str) -> String {
        format!("{}:{} {}", short(self.name), line.number, short(field))
    }

    /// What is wrong with a line, and what would be right.
    pub(crate) fn wrong(&self, line: &Line<'_>, message: &str, right: &str) -> Refused {
        let place = Place::range(0, line.start..line.start + line.text.len());
        let problem = Diagnostic::new(place, message).hint(right);
        Refused::Rendered(Sources::new(self.name, self.text).render(&[problem]))
    }

    /// What is wrong with the file as a whole, and what would be right.
    pub(crate) fn refused(&self, message: &str, right: &str) -> Refused {
        let problem = Diagnostic::new(Place::NONE, message).hint(right);
        Refused::Rendered(Sources::new(self.name, self.text).render(&[problem]))
    }

    /// A number of a field from 0 on; `right` shows a right one.
    pub(crate) fn number(
        &self,
        line: &Line<'_>,
        field: &str,
        text: &str,
        right: &str,
    ) -> Result<Num, Refused> {
        let value = finite(text).ok_or_else(|| {
            let what = format!("`{}` is no number from 0 on for {field}", short(text));
            self.wrong(line, &what, &format!("such as {right}"))
        })?;
        Ok(Num::new(value, self.origin(line, field)))
    }
}

/// A plain decimal number from 0 to 2^64; none for others, `NaN` and `inf` included.
pub(crate) fn finite(text: &str) -> Option<f64> {
    let text = text.trim();
    let value: f64 = text.parse().ok()?;
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    (plain && value.is_finite() && (0.0..=LARGEST).contains(&value) && !text.starts_with('-'))
        .then_some(value)
}

/// A foreign text for a comment or a message: on one line, without invisible characters, not long.
pub(crate) fn short(text: &str) -> String {
    let text = neutral::line(text.trim());
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_finite_and_not_negative() {
        assert_eq!(finite(" 1754.57 "), Some(1754.57));
        assert_eq!(finite("1e3"), Some(1000.0));
        for bad in ["", "-1", "-0", "NaN", "inf", "infinity", "1e400", "1e30", "0x10", "1,5", "+-1", "1 2"] {
            assert_eq!(finite(bad), None, "{bad}");
        }
    }

    #[test]
    fn foreign_text_is_short_and_visible() {
        assert_eq!(short("a\u{1b}[31m"), "a␛[31m");
        assert!(short(&"ü".repeat(1_000)).chars().count() < 110);
    }

    #[test]
    fn an_error_names_file_and_line_and_what_would_be_right() {
        let source = Source { name: "a.csv", text: "x\ny\r\nz" };
        let line = source.lines().nth(1).unwrap();
        assert_eq!((line.number, line.text), (2, "y"));
        let Refused::Rendered(text) = source.wrong(&line, "wrong", "such as `z`") else { panic!() };
        assert!(text.contains("a.csv:2:1") && text.contains("such as `z`"), "{text}");
    }
}
