//! Numbers as people read them: a unit that fits, a few significant digits.

use crate::statistics::Summary;

/// Units of time with their length in seconds, longest first.
const TIME_UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)];

/// The longest unit of time in which `seconds` is at least 1, and its length in seconds.
pub(crate) fn time_unit(seconds: f64) -> (&'static str, f64) {
    TIME_UNITS.into_iter().find(|(_, length)| seconds >= *length).unwrap_or(TIME_UNITS[0])
}

/// Decimals that show `value` with about three significant digits beyond its magnitude.
fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v >= 1_000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    }
}

/// A value with three to five digits.
pub(crate) fn plain(value: f64) -> String {
    let decimals = decimals(value);
    format!("{value:.decimals$}")
}

/// A ratio with two decimals.
pub(crate) fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

/// A share (0 to 1) as a percentage with one decimal, without its sign.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// A percentage: whole above ten, one decimal below.
pub(crate) fn spread(percent: f64) -> String {
    if percent >= 10.0 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

/// A mean number of events, rounded to a whole one.
pub(crate) fn count(value: f64) -> String {
    if value > 0.0 && value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// Mean and half-width of the confidence interval, both over `scale`.
pub(crate) fn mean_and_error(summary: &Summary, scale: f64) -> String {
    let mean = summary.mean / scale;
    let decimals = decimals(mean);
    match summary.half_width() {
        Some(half) => format!("{mean:.decimals$} ±{:.decimals$}", half / scale),
        None => format!("{mean:.decimals$}"),
    }
}

/// Seconds with their unit.
pub(crate) fn seconds(seconds: f64) -> String {
    let (unit, length) = time_unit(seconds);
    format!("{} {unit}", plain(seconds / length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::summarise;

    #[test]
    fn units_fit() {
        assert_eq!(seconds(12.3456), "12.35 s");
        assert_eq!(seconds(0.001_5), "1.500 ms");
        assert_eq!(seconds(0.000_25), "250.0 us");
        assert_eq!(seconds(0.0), "0.000 s");
    }

    #[test]
    fn errors_have_the_decimals_of_their_mean() {
        let s = summarise(&[10.0, 10.1, 10.2]).unwrap();
        assert_eq!(mean_and_error(&s, 1.0), "10.10 ±0.25");
        assert_eq!(mean_and_error(&summarise(&[0.5]).unwrap(), 1e-3), "500.0");
    }

    #[test]
    fn small_counts_keep_a_decimal() {
        assert_eq!((count(0.0), count(0.4), count(1234.5)), ("0".into(), "0.4".into(), "1234".into()));
    }
}
