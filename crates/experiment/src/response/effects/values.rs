//! The values that an analysis of variance can use: every policy and the same number of replicates in each
//! configuration.

use std::collections::{BTreeMap, BTreeSet};

use super::WIDE;
use crate::response::Response;

/// A block of values.
pub(super) struct Values {
    /// The configurations that count, by their position.
    pub(super) points: Vec<usize>,
    /// Number of policies and of replicates.
    pub(super) policies: usize,
    pub(super) replicates: usize,
    /// The values by configuration, policy and replicate.
    all: Vec<f64>,
    /// Whether they are logarithms.
    pub(super) logarithm: bool,
    /// Whether the replicates of all configurations have the same seeds.
    pub(super) aligned: bool,
}

impl Values {
    /// The values of most configurations.
    pub(super) fn of(response: &Response) -> Result<Self, String> {
        let policies = response.policies.len();
        // The replicates that all policies completed.
        let common = |at: usize| -> Vec<usize> {
            let values = &response.points[at].values;
            let has = |replicate: &usize| {
                values.len() == policies
                    && values.iter().all(|of| of.get(*replicate).is_some_and(Option::is_some))
            };
            (0..values.iter().map(Vec::len).max().unwrap_or(0)).filter(has).collect()
        };
        let known: Vec<Vec<usize>> = (0..response.points.len()).map(common).collect();
        // The number of replicates that keeps the most values.
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for of in known.iter().filter(|of| !of.is_empty()) {
            *counts.entry(of.len()).or_default() += 1;
        }
        let kept = |least: usize| counts.range(least..).map(|(_, count)| count).sum::<usize>() * least;
        let replicates = counts.keys().copied().max_by_key(|least| kept(*least)).ok_or("no run completed")?;
        let points: Vec<usize> = (0..known.len()).filter(|at| known[*at].len() >= replicates).collect();
        if points.len() < 2 {
            return Err("needs two configurations in which every policy completed".into());
        }
        let mut all = Vec::with_capacity(points.len() * policies * replicates);
        for at in &points {
            for of in &response.points[*at].values {
                all.extend(known[*at][..replicates].iter().filter_map(|replicate| of[*replicate]));
            }
        }
        let first = &known[points[0]][..replicates];
        let aligned = points.iter().all(|at| known[*at][..replicates] == *first);
        let (low, high) = all.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), x| (l.min(*x), h.max(*x)));
        let logarithm = low > 0.0 && high / low > WIDE;
        if logarithm {
            all.iter_mut().for_each(|x| *x = libm::log(*x));
        }
        let values = Self { points, policies, replicates, all, logarithm, aligned };
        let total = values.total();
        // Equal values leave some dust of rounding behind.
        let dust = values.mean().abs() * f64::EPSILON * 16.0;
        if total <= dust * dust * values.all.len() as f64 {
            return Err("all values are equal".into());
        }
        Ok(values)
    }

    /// The values of a policy in a configuration, by their positions among those that count.
    pub(super) fn replicates(&self, point: usize, policy: usize) -> &[f64] {
        let begin = (point * self.policies + policy) * self.replicates;
        &self.all[begin..begin + self.replicates]
    }

    pub(super) fn mean(&self) -> f64 {
        self.all.iter().sum::<f64>() / self.all.len() as f64
    }

    /// The sum of squares around the mean.
    pub(super) fn total(&self) -> f64 {
        let mean = self.mean();
        self.all.iter().map(|x| (x - mean) * (x - mean)).sum()
    }

    /// The mean of each policy in each configuration.
    pub(super) fn means(&self) -> Vec<Vec<f64>> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let of = |point: usize| (0..self.policies).map(|p| mean(self.replicates(point, p))).collect();
        (0..self.points.len()).map(of).collect()
    }

    /// The sum of squares of replicates around their means, and the mean square of it without what a seed adds
    /// to all values alike; 0 with one replicate.
    pub(super) fn seeds(&self, means: &[Vec<f64>]) -> (f64, f64) {
        if self.replicates < 2 {
            return (0.0, 0.0);
        }
        let (mut within, mut sums) = (0.0, vec![0.0; self.replicates]);
        for (point, means) in means.iter().enumerate() {
            for (policy, mean) in means.iter().enumerate() {
                for (sum, value) in sums.iter_mut().zip(self.replicates(point, policy)) {
                    within += (value - mean) * (value - mean);
                    *sum += value - mean;
                }
            }
        }
        let cells = (self.points.len() * self.policies) as f64;
        let replicates = self.replicates as f64;
        let blocks: f64 = sums.iter().map(|sum| sum * sum / cells).sum();
        let (rest, freedom) = if self.aligned {
            (within - blocks, (cells - 1.0) * (replicates - 1.0))
        } else {
            (within, cells * (replicates - 1.0))
        };
        (within, (rest / freedom).max(0.0))
    }

    /// Whether the configurations that count are all combinations of the values of the axes.
    pub(super) fn is_grid(&self, response: &Response) -> bool {
        let places: BTreeSet<&Vec<usize>> =
            self.points.iter().map(|at| &response.points[*at].places).collect();
        let sides = (0..response.axes.len()).map(|axis| {
            self.points.iter().map(|at| response.points[*at].places[axis]).collect::<BTreeSet<_>>().len()
        });
        let whole = sides.fold(1_usize, usize::saturating_mul);
        places.len() == whole && self.points.len() == whole
    }
}
