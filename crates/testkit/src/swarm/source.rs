//! The random decisions of a case: from a seed, or from the bytes that a fuzzer proposes.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::rng::{Purpose, stream};

/// A source of decisions.
pub(super) enum Source<'a> {
    /// The stream of a seed.
    Seed(Box<ChaCha8Rng>),
    /// These bytes. After the last one every decision is the first of its possibilities.
    Bytes(&'a [u8]),
}

impl<'a> Source<'a> {
    /// The decisions of a seed.
    pub(super) fn seed(seed: u64) -> Self {
        Self::Seed(Box::new(stream(seed, Purpose::Test, 20)))
    }

    /// The decisions that bytes make.
    pub(super) const fn bytes(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }

    /// A number below `bound`, which is at least 1.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        match self {
            Self::Seed(rng) => rng.random_range(0..bound),
            Self::Bytes(bytes) => {
                // As few bytes as can express the bound: a fuzzer then changes a decision with one byte.
                let wanted = (u64::BITS - (bound - 1).leading_zeros()).div_ceil(8) as usize;
                let (used, rest) = bytes.split_at(wanted.min(bytes.len()));
                *bytes = rest;
                used.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)) % bound
            }
        }
    }

    /// A number from `low` to `high`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        match (high - low).checked_add(1) {
            Some(bound) => low + self.below(bound),
            None => self.below(u64::MAX),
        }
    }

    /// True in one of `of` cases.
    pub(super) fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == of - 1
    }

    /// One of a list, which is not empty.
    pub(super) fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len() as u64) as usize]
    }

    /// A number from `low` to `high`, each order of magnitude as likely as the others; `low` is at least 1.
    pub(super) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let digits = u64::from((high / low).max(1).ilog2());
        let size = low.saturating_mul(1 << self.between(0, digits));
        self.between(size.min(high), size.saturating_mul(2).min(high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide_and_run_out() {
        let mut source = Source::bytes(&[3, 1, 2, 7]);
        assert_eq!([source.below(4), source.below(1), source.below(1_000)], [3, 0, 258]);
        assert_eq!([source.between(5, 9), source.between(5, 9), source.below(u64::MAX)], [7, 5, 0]);
    }

    #[test]
    fn magnitudes_stay_in_their_range() {
        let mut source = Source::seed(1);
        let drawn: Vec<u64> = (0..1_000).map(|_| source.magnitude(3, 3_000)).collect();
        assert!(drawn.iter().all(|number| (3..=3_000).contains(number)));
        assert!(drawn.iter().filter(|number| **number < 30).count() > 200, "small ones are as likely");
    }
}
