//! The rules of `ULE` that differ between releases of FreeBSD, each with its function in
//! sys/kern/sched_ule.c, and the releases as rows of them. Each rule is a parameter of `ULE`, too.

use notation::choices;

use super::Parameters;

choices! {
    /// Where a thread goes (`sched_pickcpu`).
    pub(super) enum Places {
        Release = "release",
        /// To its last cpu if idle, to the idle one with the lowest number, to the one with the fewest
        /// threads.
        LowestIdle = "lowest-idle",
        /// To its last cpu if idle and warm, within its warm cache, to the least loaded cpu by levels.
        Nearest = "nearest",
    }
}

choices! {
    /// From where an idle cpu steals (`tdq_idled`).
    pub(super) enum Steals {
        Release = "release",
        /// From its core, else from the longest queue of the machine; it looks again at each tick.
        Longest = "longest",
        /// From the longest queue of the nearest level; it looks once.
        Nearest = "nearest",
    }
}

choices! {
    /// What a pass of the long-term balancer does (`sched_balance`).
    pub(super) enum Balances {
        Release = "release",
        /// One pair of cores, and within each core.
        Pair = "pair",
        /// All queues of the machine, longest to shortest.
        All = "all",
    }
}

/// The default of `kern.sched.steal_thresh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Threshold {
    /// The base-2 logarithm of the number of cpus, at most 3 (`sched_initticks`).
    Logarithm,
    /// Two threads.
    Two,
}

/// The rules of a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rules {
    pub(super) places: Places,
    pub(super) steals: Steals,
    pub(super) balances: Balances,
    pub(super) threshold: Threshold,
}

choices! {
    /// The words of `release`.
    pub(super) enum Release { FreeBsd7 = "7", FreeBsd12 = "12" }
}

impl Release {
    /// Its row: FreeBSD 7.3, and 12.
    const fn rules(self) -> Rules {
        match self {
            Self::FreeBsd7 => Rules {
                places: Places::LowestIdle,
                steals: Steals::Longest,
                balances: Balances::Pair,
                threshold: Threshold::Logarithm,
            },
            Self::FreeBsd12 => Rules {
                places: Places::Nearest,
                steals: Steals::Nearest,
                balances: Balances::All,
                threshold: Threshold::Two,
            },
        }
    }
}

impl Rules {
    /// The rules of the release, except those that the parameters set.
    pub(super) fn of(values: &Parameters) -> Self {
        let row = values.release.rules();
        Self {
            places: if values.places == Places::Release { row.places } else { values.places },
            steals: if values.steals == Steals::Release { row.steals } else { values.steals },
            balances: if values.balances == Balances::Release { row.balances } else { values.balances },
            ..row
        }
    }

    /// Threads that a queue must have before an idle cpu steals from it, by default.
    pub(super) fn threshold(&self, cpus: u32) -> u64 {
        match self.threshold {
            Threshold::Logarithm => u64::from(cpus.max(1).ilog2()).min(3),
            Threshold::Two => 2,
        }
    }
}
