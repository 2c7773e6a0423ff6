//! Numbers in the words of an answer, and values as a scenario writes them.

use notation::number;

/// A text as a YAML scalar between single quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Nanoseconds as a length with its unit.
pub(crate) fn length(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let whole = units.into_iter().find(|(unit, _)| ns >= *unit && ns.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{ns}ns"), |(unit, name)| format!("{}{name}", ns / unit))
}

/// Per cent: whole from ten on, one decimal below; small negative ones are zero.
pub(crate) fn per_cent(value: f64) -> String {
    number::variation(value.max(0.0))
}

/// A regret in per cent in words: `12 % longer (11 to 14)`, and `7.3 times as long` from five times on.
pub(crate) fn longer(mean: f64, interval: Option<[f64; 2]>) -> String {
    if mean < 400.0 {
        return format!("{} % longer{}", per_cent(mean), between(interval));
    }
    let times = |percent: f64| number::short((percent / 100.0 + 1.0).max(0.0));
    let ends =
        interval.map_or_else(String::new, |[low, high]| format!(" ({} to {})", times(low), times(high)));
    format!("{} times as long{ends}", times(mean))
}

/// An interval of per cent in words: `(11 to 14)`, nothing without one.
pub(crate) fn between(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(String::new, |[low, high]| format!(" ({} to {})", per_cent(low), per_cent(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_largest_unit_that_leaves_a_whole_number() {
        assert_eq!(
            [0, 1, 1_500, 2_000, 3_000_000, 4_000_000_000].map(length),
            ["0ns", "1ns", "1500ns", "2us", "3ms", "4s"]
        );
    }

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(quoted("it's"), "'it''s'");
    }
}
