//! What every reader promises about its messages.

use notation::neutral::is_invisible;

/// A text for people has no character that acts on a terminal or that is not seen, but line feeds.
#[track_caller]
pub(crate) fn visible(text: &str) {
    let found = text.chars().find(|c| is_invisible(*c) && *c != '\n');
    assert!(found.is_none(), "the invisible character {found:?} in a message or report: {text:?}");
}

/// A refusal says something, in visible characters.
#[track_caller]
pub(crate) fn refusal(text: &str) {
    assert!(!text.trim().is_empty(), "an empty refusal");
    visible(text);
}

/// A refusal that names one of these sources with a line, `name:3`.
#[track_caller]
pub(crate) fn placed_refusal(text: &str, sources: &[&str]) {
    refusal(text);
    let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let placed = |source: &&str| text.split(&format!("{source}:")).skip(1).any(digit);
    assert!(sources.iter().any(placed), "no line of {sources:?} is named: {text}");
}

/// A refusal in words, `line 3`.
#[track_caller]
pub(crate) fn worded_refusal(text: &str) {
    refusal(text);
    let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    assert!(text.split("line ").skip(1).any(digit), "no line is named: {text}");
}
