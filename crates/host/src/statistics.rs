//! Quartiles, spreads and two-valued samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sample counts as two-valued if the values between its two groups differ by at least this share of the
/// median.
const SPLIT: f64 = 0.10;
/// And by at least this multiple of the wider group.
const CLEAR: f64 = 2.0;

/// A sample of times in nanoseconds, sorted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// The smallest value, ns.
    pub min: f64,
    /// The first quartile, ns.
    pub q1: f64,
    /// The median, ns.
    pub median: f64,
    /// The third quartile, ns.
    pub q3: f64,
    /// The largest value, ns.
    pub max: f64,
    /// The two groups of a two-valued sample, the smaller times first; empty for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// All values in increasing order, ns.
    pub values: Vec<f64>,
}

/// One group of a two-valued sample.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Mode {
    /// Median of the group, ns.
    pub median: f64,
    /// Number of values in it.
    pub count: usize,
}

impl Sample {
    /// The sample of these values; `None` without any, or if one is no number.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        values.sort_by(f64::total_cmp);
        Some(Self {
            min: values[0],
            q1: quantile(&values, 0.25),
            median: quantile(&values, 0.5),
            q3: quantile(&values, 0.75),
            max: values[values.len() - 1],
            modes: modes(&values),
            values,
        })
    }

    /// Half the distance of the quartiles over the median.
    #[must_use]
    pub fn width(&self) -> f64 {
        if self.median > 0.0 { (self.q3 - self.q1) / 2.0 / self.median } else { 0.0 }
    }

    /// Whether a value lies between the smallest and the largest one.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.min <= value && value <= self.max
    }
}

/// The median of values in any order; 0 without any.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(values, 0.5)
}

/// A quantile of sorted values, by linear interpolation (definition 7 of Hyndman and Fan, 1996).
#[must_use]
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64)
}

/// Splits sorted values at the widest interval between neighbours, if both groups have at least two values
/// and the interval is clear.
fn modes(sorted: &[f64]) -> Vec<Mode> {
    if sorted.len() < 4 {
        return Vec::new();
    }
    let interval = |at: &usize| sorted[at + 1] - sorted[*at];
    let candidates = 1..sorted.len() - 2;
    let Some(at) = candidates.max_by(|a, b| interval(a).total_cmp(&interval(b))) else {
        return Vec::new();
    };
    let (low, high) = sorted.split_at(at + 1);
    let width = |group: &[f64]| group[group.len() - 1] - group[0];
    let clear = CLEAR * width(low).max(width(high));
    if interval(&at) < clear || interval(&at) < SPLIT * quantile(sorted, 0.5) {
        return Vec::new();
    }
    [low, high].map(|group| Mode { median: quantile(group, 0.5), count: group.len() }).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn quartiles_are_interpolated() {
        let sample = Sample::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert!(near(sample.q1, 1.75) && near(sample.median, 2.5) && near(sample.q3, 3.25));
        assert!(near(sample.min, 1.0) && near(sample.max, 4.0) && near(sample.width(), 0.3));
        assert!(sample.holds(1.0) && !sample.holds(4.1));
        assert!(Sample::of(Vec::new()).is_none() && Sample::of(vec![f64::NAN]).is_none());
    }

    #[test]
    fn two_values_are_found_and_one_is_not_split() {
        let two = Sample::of(vec![10.0, 20.2, 10.1, 20.0, 10.2, 10.0]).unwrap();
        assert_eq!(two.modes.iter().map(|mode| mode.count).collect::<Vec<_>>(), [4, 2]);
        assert!(near(two.modes[1].median, 20.1));
        for one in [vec![10.0, 10.1, 10.2, 10.0, 10.3], vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![1.0, 9.0]] {
            assert!(Sample::of(one).unwrap().modes.is_empty());
        }
        // A single value far away is an outlier, no second value.
        assert!(Sample::of(vec![10.0, 10.1, 10.2, 10.1, 30.0]).unwrap().modes.is_empty());
    }
}
