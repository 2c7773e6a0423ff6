//! The best policy of a configuration, or of a class of configurations, and its margin over the second one.

use super::{Point, Response};
use crate::compare::{Ratio, paired};
use crate::metrics::{Better, Metric};
use crate::statistics::{rounded, summarise};

/// The best policy of some configurations.
#[derive(Clone, PartialEq, Debug)]
pub struct Winner {
    /// The best policy, by its position. Of policies with equal means, the one that the scenario names first.
    pub best: usize,
    /// Its mean: arithmetic over the replicates of one configuration, geometric over several configurations
    /// (arithmetic where a value is not positive).
    pub mean: f64,
    /// The other policies with the same mean.
    pub equal: Vec<usize>,
    /// The second one with its mean; `None` if no other policy completed as many runs.
    pub second: Option<(usize, f64)>,
    /// How far the best one is ahead of the second one; `None` without a second one.
    pub margin: Option<Margin>,
}

/// How far the best policy is ahead of the second one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Margin {
    /// By what factor the second one is worse, paired by replicate: 1.2 is 20 %. Over several configurations
    /// these are the pairs, each with the means over its replicates. `None` where a value is not positive.
    pub ratio: Option<Ratio>,
    /// The same factor for the eye: that of the means where there is no ratio, infinite if one of them is 0,
    /// and 1 of lateness. It is at least 1.
    pub factor: f64,
    /// Number of pairs.
    pub pairs: usize,
    /// Whether the whole 95 % interval is on the side of the best policy; `None` with a single pair, which
    /// has no interval.
    pub significant: Option<bool>,
}

impl Response {
    /// The best policy of these configurations, by the mean; only policies that completed as many runs as any
    /// other one take part. `None` if no run completed.
    #[must_use]
    pub fn winner(&self, points: &[usize]) -> Option<Winner> {
        let observed: Vec<Vec<Option<f64>>> =
            (0..self.policies.len()).map(|policy| self.observed(points, policy)).collect();
        let counts: Vec<usize> = observed.iter().map(|of| of.iter().flatten().count()).collect();
        let most = counts.iter().copied().max().filter(|most| *most > 0)?;
        let part: Vec<usize> = (0..observed.len()).filter(|policy| counts[*policy] == most).collect();
        let positive = part.iter().all(|policy| observed[*policy].iter().flatten().all(|x| *x > 0.0));
        let mean = |policy: &usize| {
            let values: Vec<f64> = observed[*policy].iter().flatten().copied().collect();
            if points.len() == 1 || !positive {
                return Some(summarise(&values)?.mean);
            }
            let logs: Vec<f64> = values.iter().map(|x| libm::log(*x)).collect();
            Some(rounded(libm::exp(summarise(&logs)?.mean)))
        };
        let mut ranked: Vec<(usize, f64)> =
            part.iter().filter_map(|policy| Some((*policy, mean(policy)?))).collect();
        match self.better() {
            Better::Lower => ranked.sort_by(|a, b| a.1.total_cmp(&b.1)),
            Better::Higher => ranked.sort_by(|a, b| b.1.total_cmp(&a.1)),
        }
        let (best, mean) = *ranked.first()?;
        let second = ranked.get(1).copied();
        let margin =
            second.and_then(|(second, other)| self.margin(&observed[best], &observed[second], mean, other));
        let equal = ranked.iter().skip(1).filter(|(_, other)| other.total_cmp(&mean).is_eq());
        let equal = equal.map(|(policy, _)| *policy).collect();
        Some(Winner { best, mean, equal, second, margin })
    }

    /// The values of a policy that count at these configurations: of one, its replicates; of several, the
    /// mean of each at which every run completed.
    fn observed(&self, points: &[usize], policy: usize) -> Vec<Option<f64>> {
        let of = |point: &Point| point.values.get(policy).cloned().unwrap_or_default();
        if let [only] = points {
            return self.points.get(*only).map_or_else(Vec::new, of);
        }
        let mean = |at: &usize| {
            let point = self.points.get(*at)?;
            let whole = point.values.iter().map(|values| values.iter().flatten().count()).max()?;
            let values: Vec<f64> = of(point).into_iter().flatten().collect();
            if values.len() == whole { Some(summarise(&values)?.mean) } else { None }
        };
        points.iter().map(mean).collect()
    }

    fn margin(&self, best: &[Option<f64>], second: &[Option<f64>], mean: f64, other: f64) -> Option<Margin> {
        let higher = self.better() == Better::Higher;
        // In this order a ratio above 1 and a difference below 0 speak for the best policy.
        let (a, b) = if higher { (best, second) } else { (second, best) };
        let pairs: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
        let paired = paired(&self.metric, &pairs, [self.sampling_error; 2])?;
        let significant = match paired.ratio {
            Some(ratio) => ratio.ci95.map(|[lo, _]| lo > 1.0),
            None => paired.difference.ci95.map(|[_, hi]| hi < 0.0),
        };
        let (over, under) = if higher { (mean, other) } else { (other, mean) };
        let of_means = if over.total_cmp(&under).is_eq() || Metric::is_signed(&self.metric) {
            1.0
        } else if under > 0.0 {
            over / under
        } else {
            f64::INFINITY
        };
        let factor = paired.ratio.map_or(of_means, |ratio| ratio.mean).max(1.0);
        Some(Margin { ratio: paired.ratio, factor, pairs: pairs.len(), significant })
    }
}
