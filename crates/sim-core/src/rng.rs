//! Randomness: value-stable streams, one per (seed, purpose, entity), so that adding a task or a policy
//! does not shift the numbers another one draws.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The generator named in every result header: a change of any drawn value changes this name.
pub const GENERATOR: &str = "chacha8+splitmix64/v1";

/// What a stream is for. The discriminant is part of the stream's identity: never change or reuse one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Purpose {
    /// Variation of the work of compute operations; entity = task.
    WorkNoise = 1,
    /// Initial layouts drawn by a policy; entity = app.
    Layout = 3,
    /// Decisions of a policy; entity chosen by the policy.
    Policy = 4,
    /// Variation of the cost of creating tasks; entity = app, position = rank.
    Fork = 20,
    /// Instants at which applications arrive; entity = application of the scenario, position = copy.
    Arrival = 21,
    /// Phase in which applications arrive; entity = app.
    StartPhase = 22,
    /// Order in which tasks that exist before the start are released; entity = app, position = step.
    Release = 23,
    /// Whose hinting fault a page has that all tasks of a program use; entity = task.
    HintingFault = 25,
    /// Intervals between requests from outside; entity = source.
    Source = 26,
    /// Lengths of jobs; entity = pool, position = job of all passes.
    Job = 30,
    /// Order in which a worker looks for jobs of others; entity = pool and worker.
    Steal = 31,
    /// Random programs and scenarios in tests; entity chosen by the test.
    Test = 5,
    /// Lateness of timer ticks; entity = cpu.
    TickLateness = 8,
    /// Phase of the periods of limited task groups; entity = group.
    Bandwidth = 9,
    /// Where in the cycle of its runtime's yields an application starts; entity = app.
    YieldPhase = 24,
    /// Delays and vetoes of a perturbed policy; entity = its position in the stack.
    Perturb = 40,
    /// Values of uncertain inputs; entity = hash of the parameter's name, position = draw.
    Input = 41,
    /// Sampled configurations of a sweep; entity = hash of the path, position = sample.
    Sweep = 42,
}

/// The stream of one (seed, purpose, entity).
#[must_use]
pub fn stream(seed: u64, purpose: Purpose, entity: u64) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(entity);
    rng
}

/// The key of a counter-based stream: its n-th value is [`draw`]`(key, n)`, a pure function, so a draw
/// does not depend on who else drew before.
#[must_use]
pub fn key(seed: u64, purpose: Purpose, entity: u64) -> u64 {
    stream(seed, purpose, entity).random()
}

/// The n-th value of the counter-based stream `key`, uniform over all `u32`. SplitMix64's output function
/// (Steele, Lea, Flood, OOPSLA 2014) over a Weyl sequence.
#[must_use]
#[inline]
pub const fn draw(key: u64, n: u64) -> u32 {
    mix(key.wrapping_add(n.wrapping_mul(STEP)))
}

/// The next value of a counter-based stream: `position` begins as its key, the first value is [`draw`]`(key,
/// 1)`.
#[must_use]
#[inline]
pub const fn next(position: &mut u64) -> u32 {
    *position = position.wrapping_add(STEP);
    mix(*position)
}

/// The step of the Weyl sequence.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
const fn mix(mut z: u64) -> u32 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 32) as u32
}

/// A uniform draw as a whole number below `bound`; 0 when that is 0.
#[must_use]
pub const fn below(bound: u64, draw: u32) -> u64 {
    ((bound as u128 * draw as u128) >> 32) as u64
}

/// An exponentially distributed length with this mean for a uniform draw (inverse of the distribution
/// function), rounded to whole units; `libm`'s logarithm gives the same bits everywhere.
#[must_use]
pub fn exponential(mean: u64, draw: u32) -> u64 {
    let uniform = (f64::from(draw) + 0.5) / 4_294_967_296.0;
    libm::round(-libm::log(uniform) * mean as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_value_stable() {
        // Golden values: a change here breaks every published result and needs a new GENERATOR name.
        assert_eq!(draw(0, 1), 0xe220_a839);
        assert_eq!(draw(0, 2), 0x6e78_9e6a);
        let mut position = 0;
        assert_eq!([next(&mut position), next(&mut position)], [0xe220_a839, 0x6e78_9e6a]);
        let first: u64 = stream(1, Purpose::Layout, 0).random();
        let again: u64 = stream(1, Purpose::Layout, 0).random();
        assert_eq!(first, again);
    }

    #[test]
    fn streams_differ_by_seed_purpose_and_entity() {
        let keys = [
            key(1, Purpose::WorkNoise, 0),
            key(2, Purpose::WorkNoise, 0),
            key(1, Purpose::Layout, 0),
            key(1, Purpose::WorkNoise, 1),
        ];
        for (i, a) in keys.iter().enumerate() {
            for b in &keys[i + 1..] {
                assert_ne!(a, b);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "the mean of 10,000 draws")]
    fn draws_are_uniform_enough() {
        let k = key(3, Purpose::Test, 0);
        let mean = (0..10_000).map(|n| u64::from(draw(k, n))).sum::<u64>() / 10_000;
        let half = u64::from(u32::MAX / 2);
        assert!(mean.abs_diff(half) < half / 50, "{mean}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "the mean of 20,000 draws")]
    fn exponential_lengths_have_the_mean_and_the_deviation() {
        let k = key(4, Purpose::Test, 0);
        let lengths: Vec<f64> = (0..20_000).map(|n| exponential(1_000_000, draw(k, n)) as f64).collect();
        let mean = lengths.iter().sum::<f64>() / 20_000.0;
        let deviation = (lengths.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        assert!(
            (mean / 1e6 - 1.0).abs() < 0.03 && (deviation / 1e6 - 1.0).abs() < 0.04,
            "{mean} {deviation}"
        );
    }
}
