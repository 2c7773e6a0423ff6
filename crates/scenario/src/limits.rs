//! The largest scenarios that are read: bounds of keys, runs and configurations.

/// Longest horizon, ns: ten simulated days; instants and work then stay far from the ends of their ranges.
pub(crate) const MAX_HORIZON_NS: u64 = 864_000_000_000_000;
/// Most replicates.
pub(crate) const MAX_REPEAT: u64 = 10_000;
/// Largest first seed: those of all replicates are different numbers.
pub(crate) const MAX_SEED: u64 = u64::MAX - MAX_REPEAT;
/// Most threads per core.
pub(crate) const MAX_PER_CORE: u64 = 1 << 16;
/// Most runs of an experiment: each is held as a plan before the first one starts.
pub(crate) const MAX_RUNS: usize = 100_000;
/// Most configurations of an experiment: more are likely a typing mistake.
pub(crate) const MAX_CONFIGURATIONS: usize = 10_000;
/// Most configurations of a [`crate::Grid`], which holds none of them: counting them takes some seconds.
pub(crate) const MAX_GRID: usize = 10_000_000;
/// Most configurations of a `sample`, which are held in memory.
pub(crate) const MAX_SAMPLES: u64 = 100_000;
/// Most uncertain values of a scenario: each end is tried by reading the scenario with it, and each value is
/// part of the results.
pub(crate) const MAX_UNCERTAIN: usize = 200;
