//! A seeded random sample of configurations, and what a sample does not show.

use std::collections::BTreeSet;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Which configurations of a sweep are calculated again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// All.
    Full,
    /// So many of each sweep, drawn with this seed.
    Some {
        /// How many, at least 1.
        count: u64,
        /// The seed.
        seed: u64,
    },
}

impl Sample {
    /// The configurations of a sweep with so many; none for all of them.
    pub(crate) fn of(self, configurations: u64) -> Option<BTreeSet<u64>> {
        let Self::Some { count, seed } = self else { return None };
        if count >= configurations {
            return None;
        }
        // Floyd's algorithm: each set of this size has the same probability.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut chosen = BTreeSet::new();
        for last in configurations - count..configurations {
            let drawn = rng.random_range(0..=last);
            if !chosen.insert(drawn) {
                chosen.insert(last);
            }
        }
        Some(chosen)
    }
}

/// The smallest number of differing configurations that a sample of `count` of `all` shows with a
/// probability of 95 %: at least one of them is in the sample.
#[must_use]
pub fn unseen(count: u64, all: u64) -> u64 {
    let missed = |differing: u64| {
        let each = (0..count.min(all)).map(|drawn| {
            let left = (all - drawn) as f64;
            (left - differing as f64).max(0.0) / left
        });
        each.product::<f64>()
    };
    let (mut low, mut high) = (1, all.max(1));
    while low < high {
        let middle = low + (high - low) / 2;
        if missed(middle) <= 0.05 { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_size_and_follows_the_seed() {
        let of = |count, seed| Sample::Some { count, seed }.of(1_000);
        let one = of(100, 1).unwrap();
        assert!(one.len() == 100 && one.iter().all(|number| *number < 1_000));
        assert_eq!(of(100, 1).unwrap(), one);
        assert_ne!(of(100, 2).unwrap(), one);
        assert_eq!(of(1_000, 1), None);
        assert_eq!(Sample::Full.of(10), None);
    }

    #[test]
    fn what_a_sample_shows_is_the_hypergeometric_law() {
        // All are in the sample: a single difference is seen. One of two: it takes both.
        assert_eq!((unseen(10, 10), unseen(1, 2)), (1, 2));
        // 1 - (1 - 0.05)^59 = 95 % for a large sweep.
        assert_eq!(unseen(59, 1_000_000).div_ceil(10_000), 5);
        let seen = (0..2_000).filter(|seed| {
            let sample = Sample::Some { count: 60, seed: *seed }.of(400).unwrap();
            (0..unseen(60, 400)).any(|differing| sample.contains(&(differing * 7)))
        });
        let share = seen.count() as f64 / 2_000.0;
        assert!((0.94..0.99).contains(&share), "{share}");
    }
}
