//! A value with its source as a machine file writes it.

use notation::neutral;

/// Longest source and summary, and longest text about a machine, in characters: those of the reader of
/// machine files.
pub(crate) const MAX_LINE: usize = 500;
pub(crate) const MAX_ABOUT: usize = 4_000;

/// A value of a machine file, as it is written there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Datum {
    pub(crate) name: &'static str,
    /// In the syntax of YAML.
    pub(crate) value: String,
    pub(crate) source: String,
    pub(crate) uncertain: bool,
}

/// The line of a value, with its smallest and largest value in the syntax of YAML if it has a range.
pub(crate) fn line(indent: &str, datum: &Datum, range: Option<&[String; 2]>) -> String {
    let uncertain = if datum.uncertain { ", uncertain: true" } else { "" };
    let range = range.map_or_else(String::new, |[low, high]| format!(", range: [{low}, {high}]"));
    let source = quoted(&datum.source, MAX_LINE);
    let value = &datum.value;
    format!("{indent}{}: {{ value: {value}, source: {source}{uncertain}{range} }}\n", datum.name)
}

/// A text of limited length in quotes, without invisible characters.
pub(crate) fn quoted(text: &str, most: usize) -> String {
    let text = neutral::line(text.trim());
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short = short.chars().take(most - 3).chain("...".chars()).collect();
    }
    format!("\"{}\"", short.replace('\\', "\\\\").replace('"', "\\\""))
}
