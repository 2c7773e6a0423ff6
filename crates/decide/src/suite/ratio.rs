//! Ratios of times with their intervals, over the seeds of one scenario and over scenarios.

use experiment::statistics::{p_value, summarise};
use serde::Serialize;

/// A difference of times of less than this share is below what the model can state: as in `oversim compare`.
pub const WORTH: f64 = 0.01;

/// How many times as long: a geometric mean with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Ratio {
    /// The mean.
    pub mean: f64,
    /// Low end of the interval (Student's t on the logarithms); none with fewer than two values.
    pub low: Option<f64>,
    /// High end.
    pub high: Option<f64>,
}

impl Ratio {
    /// Of logarithms; none without one.
    #[must_use]
    pub fn of(logs: &[f64]) -> Option<Self> {
        let summary = summarise(logs)?;
        let end = |at: usize| summary.ci95.map(|ends| libm::exp(ends[at]));
        Some(Self { mean: libm::exp(summary.mean), low: end(0), high: end(1) })
    }

    /// Whether it is certainly below 1, and by what the model can state.
    #[must_use]
    pub fn is_less(self) -> bool {
        self.high.is_some_and(|high| high < 1.0) && self.mean <= 1.0 - WORTH
    }

    /// Whether it is certainly above 1, and by what the model can state.
    #[must_use]
    pub fn is_more(self) -> bool {
        self.low.is_some_and(|low| low > 1.0) && self.mean >= 1.0 + WORTH
    }

    /// The interval, `0.91 to 1.04`; `-` without one.
    #[must_use]
    pub fn interval(self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
            _ => "-".to_owned(),
        }
    }

    /// The mean with its interval, `0.95 (0.91 to 0.99)`.
    #[must_use]
    pub fn written(self) -> String {
        match self.low {
            Some(_) => format!("{} ({})", shown(self.mean), self.interval()),
            None => shown(self.mean),
        }
    }
}

/// A ratio in a table: two decimals, three where it is small or near 1, fewer where it is large.
#[must_use]
pub fn shown(value: f64) -> String {
    match value {
        v if !v.is_finite() => "-".to_owned(),
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v < 0.0995 || (0.0005..0.01).contains(&(v - 1.0).abs()) => format!("{v:.3}"),
        v => format!("{v:.2}"),
    }
}

/// The two-sided p-value of "there is no difference", of paired differences of logarithms; 1 with fewer than
/// two of them.
#[must_use]
pub fn probability(differences: &[f64]) -> f64 {
    p_value(differences, 0.0).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_a_geometric_mean_and_certain_only_with_an_interval() {
        let half = Ratio::of(&[libm::log(0.25), libm::log(1.0)]).unwrap();
        assert!((half.mean - 0.5).abs() < 1e-9 && !half.is_less(), "{half:?}");
        let less = Ratio::of(&[-0.11, -0.1, -0.09]).unwrap();
        assert!(less.is_less() && !less.is_more(), "{less:?}");
        let little = Ratio::of(&[-0.002, -0.002, -0.002]).unwrap();
        assert!(!little.is_less(), "certain, and too small: {little:?}");
        let one = Ratio::of(&[-0.5]).unwrap();
        assert!(!one.is_less() && one.interval() == "-" && one.written() == "0.61", "{one:?}");
        assert!(Ratio::of(&[]).is_none());
    }

    #[test]
    fn ratios_near_one_are_not_shown_as_one() {
        let all = [1.0, 0.997, 1.0009, 0.5, 0.0321, 12.34, 123.4];
        let shown: Vec<String> = all.into_iter().map(shown).collect();
        assert_eq!(shown, ["1.00", "0.997", "1.001", "0.50", "0.032", "12.3", "123"]);
    }

    #[test]
    fn one_difference_has_no_probability() {
        assert!((probability(&[1.0]) - 1.0).abs() < 1e-12);
    }
}
