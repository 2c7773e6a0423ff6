//! Numbers as outputs write them: a unit that fits, and as many digits as the reader needs.

/// Units of time with their length in seconds, longest first.
const TIME_UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)];

/// The longest unit of time in which `seconds`, of either sign, is at least 1, and its length in seconds.
#[must_use]
pub fn time_unit(seconds: f64) -> (&'static str, f64) {
    TIME_UNITS.into_iter().find(|(_, length)| seconds.abs() >= *length).unwrap_or(TIME_UNITS[0])
}

/// Three significant digits; powers of ten for very large and very small values.
#[must_use]
pub fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 || (v < 1e-3 && v > 0.0) => format!("{value:.2e}"),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Decimals that show `value` with about three significant digits beyond its magnitude.
#[must_use]
pub fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v >= 1_000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    }
}

/// A value with three to five digits.
#[must_use]
pub fn plain(value: f64) -> String {
    let decimals = decimals(value);
    format!("{value:.decimals$}")
}

/// A ratio with two decimals.
#[must_use]
pub fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

/// A share (0 to 1) as a percentage with one decimal, without its sign.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// A percentage: whole above ten, one decimal below.
#[must_use]
pub fn variation(percent: f64) -> String {
    if percent >= 9.95 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

/// A mean number of events, rounded to a whole one.
#[must_use]
pub fn count(value: f64) -> String {
    if value > 0.0 && value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// A probability: `< 0.001`, `0.023` or `0.41`.
#[must_use]
pub fn probability(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".into(),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// Seconds with their unit.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    let (unit, length) = time_unit(seconds);
    format!("{} {unit}", plain(seconds / length))
}

/// Seconds with their unit, three significant digits.
#[must_use]
pub fn short_seconds(seconds: f64) -> String {
    let (unit, length) = time_unit(seconds);
    format!("{} {unit}", short(seconds / length))
}

/// A number of bytes with two or three digits: `5.1 GiB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut at = 0;
    while value >= 1_000.0 && at + 1 < units.len() {
        value /= 1_024.0;
        at += 1;
    }
    let decimals = usize::from(value < 100.0 && at > 0);
    format!("{value:.decimals$} {}", units[at])
}

/// A number of bytes, with larger units where it is a whole number of them: `1048576 bytes (1 MiB)`.
#[must_use]
pub fn whole_bytes(size: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = units.into_iter().find(|(unit, _)| size >= *unit && size.is_multiple_of(*unit));
    let short = whole.map_or_else(String::new, |(unit, name)| format!(" ({} {name})", size / unit));
    format!("{size} bytes{short}")
}

/// A number of things: `1 run`, `3 runs`.
#[must_use]
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Names as a list in a sentence: `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn listed(names: &[impl AsRef<str>]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit() {
        assert_eq!(seconds(12.3456), "12.35 s");
        assert_eq!(seconds(0.001_5), "1.500 ms");
        assert_eq!(seconds(0.000_25), "250.0 us");
        assert_eq!(seconds(0.0), "0.000 s");
        assert_eq!(short_seconds(0.0021), "2.10 ms");
    }

    #[test]
    fn three_digits() {
        let all = [1.2345, 12.345, 123.45, 0.12345, 0.0, 1234.0, 0.000_012].map(short);
        assert_eq!(all, ["1.23", "12.3", "123", "0.123", "0.00", "1234", "1.20e-5"]);
    }

    #[test]
    fn small_counts_keep_a_decimal() {
        assert_eq!((count(0.0), count(0.4), count(1234.5)), ("0".into(), "0.4".into(), "1234".into()));
    }

    #[test]
    fn lists_end_with_and() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(plural(1, "run", "runs"), "1 run");
    }
}
