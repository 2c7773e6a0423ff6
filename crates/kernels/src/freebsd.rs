//! `freebsd-7` and `freebsd-14`: the ULE scheduler.

use notation::declare::Duration;
use notation::parameter::{Values, changed, joined};
use notation::parameters;
use sim_core::os::{Discipline, UleParams};
use sim_core::time::Span;

use super::balance::Form;
use super::ule::{Balances, Places, Steals, UleRules};
use super::{Entry, Kernel, LONGEST, OsBuilt, SHORTEST};

/// Period of the statistics clock of 127 Hz, which counts the slices; ns, rounded down.
const STAT_TICK: u64 = 1_000_000_000 / 127;
/// `sched_slice` is a tenth of the clock's rate, in whole ticks.
const SLICE_TICKS: u64 = 12;

parameters! {
    /// Parameters of `freebsd-7`.
    struct Parameters {
        /// Period of the statistics clock. 7.874ms corresponds to 127 Hz.
        tick: Duration = STAT_TICK, in SHORTEST..=LONGEST;
        /// If true, the ticks of the cpus are spread over half a period. If false, all cpus tick at the same
        /// time, because one clock interrupt serves all of them.
        tick_skew: bool = false;
        /// Time slice of a thread with at most one rival (another runnable thread on its cpu): 12 ticks.
        slice: Duration = SLICE_TICKS * STAT_TICK, in SHORTEST..=LONGEST;
        /// Shortest time slice. The slice is divided by the number of rivals, but not below this value. Six
        /// or more rivals always give this value. FreeBSD 7.3 does not divide the slice. FreeBSD 10 and later
        /// go down to 2 ticks (15.748ms).
        min_slice: Duration = SLICE_TICKS * STAT_TICK, in SHORTEST..=LONGEST;
        /// Threads with an interactivity score below this value are interactive and run first
        /// (kern.sched.interact).
        interactive: u32 = 30, in 0..=100;
        /// Length of the history of running and sleeping that counts for the score (SCHED_SLP_RUN_MAX).
        history: Duration = s(5), in SHORTEST..=LONGEST;
    }
}

const QUEUES: usize = Parameters::TABLE.len();
const RULES: usize = UleRules::TABLE.len();

/// The kernel, with the rules of its balancer among its parameters.
const ULE: Kernel =
    Kernel { policy: "ULE", base: None, package: None, balance: Form::Ule, real_time: false, make: ule };

/// Its entry in the registry.
pub(super) const FREEBSD_14: Entry = Entry {
    name: "freebsd-14",
    summary: "ULE of 2023: slices shrink with the number of rivals, idle cpus steal from queues of two, the \
        long-term balancer evens out all queues",
    source: "FreeBSD 14, sys/kern/sched_ule.c",
    example: "{ freebsd-14: { places: lowest-idle } }",
    parameters: &joined::<{ QUEUES + RULES }>(
        &changed::<QUEUES>(Parameters::TABLE, &[Parameters::min_slice.with(2 * STAT_TICK)]),
        &changed::<RULES>(
            UleRules::TABLE,
            &[
                UleRules::places.with(Places::Nearest as u64),
                UleRules::steals.with(Steals::Nearest as u64),
                UleRules::balances.with(Balances::All as u64),
                UleRules::steal_threshold.with(2),
            ],
        ),
    ),
    own: ULE.like("freebsd-7"),
};

/// Its entry in the registry.
pub(super) const FREEBSD_7: Entry = Entry {
    name: "freebsd-7",
    summary: "ULE: interactive threads run first, all others round robin; a yield puts the caller at the \
        end of the queue",
    source: "FreeBSD 7.3, sys/kern/sched_ule.c",
    example: "{ freebsd-7: { interactive: 0 } }",
    parameters: &joined::<{ QUEUES + RULES }>(Parameters::TABLE, UleRules::TABLE),
    own: ULE,
};

fn ule(values: &Values, _cpus: u32) -> OsBuilt {
    let values = Parameters::from(values);
    let discipline = Discipline::Ule(UleParams {
        slice: Span::from_ns(values.slice.ns()),
        min_slice: Span::from_ns(values.min_slice.ns()),
        interactive: values.interactive,
        history: Span::from_ns(values.history.ns()),
    });
    OsBuilt { tick: values.tick, tick_skew: values.tick_skew, autogroup: false, discipline }
}
