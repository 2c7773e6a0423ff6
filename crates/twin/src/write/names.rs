//! Names and lengths as scenarios write them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A name that scenarios accept.
#[must_use]
pub fn plain(name: &str) -> String {
    let mut plain: String = name
        .chars()
        .map(
            |letter| {
                if letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' { letter } else { '-' }
            },
        )
        .collect();
    plain.truncate(24);
    let plain = plain.trim_matches('-').to_owned();
    // `null` is no text in YAML.
    let word = !plain.eq_ignore_ascii_case("null");
    if word && plain.starts_with(|first: char| first.is_ascii_alphabetic()) {
        plain
    } else {
        format!("t{plain}")
    }
}

/// A name that no other thread has. `taken`: all names, each with the last number behind it.
pub(super) fn distinct(name: &str, taken: &mut BTreeMap<String, u64>) -> String {
    let mut wanted = name.to_owned();
    let mut number = taken.get(name).copied().unwrap_or(1);
    while taken.contains_key(&wanted) {
        number += 1;
        wanted = format!("{name}_{number}");
    }
    taken.insert(name.to_owned(), number);
    taken.entry(wanted.clone()).or_insert(1);
    wanted
}

/// A length as scenarios write it, exact to the ns.
pub(crate) fn time(ns: u64) -> String {
    let (unit, digits): (&str, u32) = match ns {
        0..1_000 => ("ns", 0),
        1_000..1_000_000 => ("us", 3),
        1_000_000..10_000_000_000 => ("ms", 6),
        _ => ("s", 9),
    };
    let scale = 10_u64.pow(digits);
    let mut text = (ns / scale).to_string();
    if !ns.is_multiple_of(scale) {
        let _ = write!(text, ".{:0width$}", ns % scale, width = digits as usize);
        text.truncate(text.trim_end_matches('0').len());
    }
    text + unit
}
