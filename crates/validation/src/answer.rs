//! What the simulator says about a claim: series of values by replicate, and the points made of them.

use experiment::statistics::{Summary, rounded, summarise, variation_percent};
use serde::Serialize;

/// Why a claim has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// It cannot be resolved to runs: the reason.
    Uncovered(String),
    /// It was resolved, but a run did not complete: which and why.
    Failed(String),
}

impl Trouble {
    /// It cannot be resolved to runs, for this reason.
    pub fn uncovered(reason: impl Into<String>) -> Self {
        Self::Uncovered(reason.into())
    }
}

/// One value per replicate. Replicates of different cells belong together: replicate i has the same seed
/// everywhere. A cell with fewer replicates than another stands with its mean where it has none.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Series(pub Vec<f64>);

impl Series {
    /// Every value through a function.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self(self.0.iter().map(|x| f(*x)).collect())
    }

    /// The value of a replicate; the mean where there are fewer.
    fn at(&self, replicate: usize) -> f64 {
        self.0.get(replicate).copied().unwrap_or_else(|| self.mean())
    }

    /// Replicate by replicate with another series; empty if one of them is.
    #[must_use]
    pub fn with(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let n = if self.0.is_empty() || other.0.is_empty() { 0 } else { self.0.len().max(other.0.len()) };
        Self((0..n).map(|i| f(self.at(i), other.at(i))).collect())
    }

    /// This over the other, replicate by replicate.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        self.with(other, |a, b| a / b)
    }

    /// How much longer this takes than the other, in per cent: its mean over the other's mean, minus one. One
    /// value per replicate of this one, so that the mean is the ratio of mean run times.
    #[must_use]
    pub fn gain_over(&self, other: &Self) -> Self {
        let mean = other.mean();
        self.map(|x| (x / mean - 1.0) * 100.0)
    }

    /// Arithmetic mean; not a number for an empty series.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// (max - min) / min in per cent; 0 for fewer than two values.
    #[must_use]
    pub fn variation(&self) -> f64 {
        variation_percent(&self.0).unwrap_or(0.0)
    }

    /// The mean of several series, replicate by replicate; empty for none, or if one is empty.
    #[must_use]
    pub fn mean_of(all: &[Self]) -> Self {
        let most = all.iter().map(|series| series.0.len()).max().unwrap_or(0);
        let n = if all.iter().any(|series| series.0.is_empty()) { 0 } else { most };
        let at = |i: usize| all.iter().map(|series| series.at(i)).sum::<f64>() / all.len() as f64;
        Self((0..n).map(at).collect())
    }
}

impl From<f64> for Series {
    fn from(value: f64) -> Self {
        Self(vec![value])
    }
}

/// A simulated quantity.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Point {
    /// What it is, such as `barcelona cg.B 2/core`. For a claim with several named values: the name.
    pub label: String,
    /// Mean over the replicates, in the unit of the claim.
    pub value: f64,
    /// 95 % confidence interval of the mean; none for a single replicate.
    pub ci95: Option<[f64; 2]>,
    /// Its values by replicate.
    #[serde(skip)]
    pub series: Series,
}

impl Point {
    /// The mean of a series.
    #[must_use]
    pub fn new(label: impl Into<String>, series: &Series) -> Self {
        let summary: Option<Summary> = summarise(&series.0);
        let value = summary.map_or(f64::NAN, |s| s.mean);
        Self { label: label.into(), value, ci95: summary.and_then(|s| s.ci95), series: series.clone() }
    }

    /// A quantity that many replicates have once, such as a maximum.
    #[must_use]
    pub fn single(label: impl Into<String>, value: f64) -> Self {
        let value = rounded(value);
        Self { label: label.into(), value, ci95: None, series: Series::from(value) }
    }
}

/// What the simulator says: quantities in the unit of the claim. One for a number; all that a bound, a range
/// or a maximum speaks of; for an ordering and a statement in words the differences that must not be
/// negative.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer(pub Vec<Point>);

impl Answer {
    /// One quantity.
    #[must_use]
    pub fn one(label: impl Into<String>, series: &Series) -> Self {
        Self(vec![Point::new(label, series)])
    }

    /// The mean of all its quantities as one; as it is if there are fewer than two.
    #[must_use]
    pub fn averaged(self) -> Self {
        let [first, .., last] = &self.0[..] else { return self };
        let label = format!("mean of {} from {} to {}", self.0.len(), first.label, last.label);
        let all: Vec<Series> = self.0.iter().map(|point| point.series.clone()).collect();
        Self::one(label, &Series::mean_of(&all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_ratios_of_means() {
        let slow = Series(vec![2.0, 4.0]);
        let fast = Series(vec![1.0, 3.0]);
        assert!((slow.gain_over(&fast).mean() - 50.0).abs() < 1e-9);
        assert_eq!(slow.over(&fast).0, [2.0, 4.0 / 3.0]);
        assert!((fast.variation() - 200.0).abs() < 1e-9);
        assert_eq!(Series::mean_of(&[slow, fast]).0, [1.5, 3.5]);
    }

    #[test]
    fn fewer_replicates_leave_those_of_the_others() {
        // One bound run beside three left to the balancer: no replicate is lost, and means stay means.
        let (bound, free) = (Series::from(2.0), Series(vec![2.0, 4.0, 6.0]));
        assert_eq!(free.over(&bound).0, [1.0, 2.0, 3.0]);
        assert_eq!(bound.with(&free, |a, b| b - a).0, [0.0, 2.0, 4.0]);
        assert_eq!(Series::mean_of(&[bound.clone(), free.clone()]).0, [2.0, 3.0, 4.0]);
        assert_eq!(Series::mean_of(&[bound, Series::default()]), Series::default());
        assert_eq!(free.with(&Series::default(), |a, _| a), Series::default());
    }
}
