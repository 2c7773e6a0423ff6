//! Values by replicate, or why there are none.

use experiment::statistics::variation_percent;

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
