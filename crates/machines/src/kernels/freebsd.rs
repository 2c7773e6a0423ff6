//! `freebsd-7`: the ULE scheduler.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::kernel_model::{Discipline, UleParams};
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICKS_TOGETHER, time};

/// Period of the statistics clock of 127 Hz, which counts the slices; ns, rounded down.
const STAT_TICK: u64 = 1_000_000_000 / 127;
/// `sched_slice` is a tenth of the clock's rate, in whole ticks.
const SLICE_TICKS: u64 = 12;

const PARAMETERS: &[Parameter] = &[
    time("tick", STAT_TICK, SHORTEST, "Tick of the statistics clock; 7.874ms is 127 Hz"),
    TICKS_TOGETHER,
    time("slice", SLICE_TICKS * STAT_TICK, SHORTEST, "Slice of a thread with at most one rival; 12 ticks"),
    time(
        "min_slice",
        SLICE_TICKS * STAT_TICK,
        SHORTEST,
        "The slice is divided by the number of rivals, down to this, reached with six or more; 7.3 does not divide, 10 and later go down to 2 ticks (15.748ms)",
    ),
    Parameter {
        name: "interactive",
        kind: Kind::Count,
        default: 30,
        min: 0,
        max: 100,
        about: "Threads with an interactivity score below this come first (kern.sched.interact)",
    },
    time(
        "history",
        5_000 * MS,
        SHORTEST,
        "Running and sleeping that counts for the score (SCHED_SLP_RUN_MAX)",
    ),
];

/// The entry of the shelf.
pub(super) const FREEBSD_7: Entry = Entry {
    name: "freebsd-7",
    summary: "ULE: interactive threads first, all others in turn; a yield goes to the end of the queue",
    source: "FreeBSD 7.3, sys/kern/sched_ule.c",
    about: "Threads that sleep more than 5/3 of the time they run are interactive and come first, by score; all others take \
turns of 12 ticks of a 127 Hz clock (94 ms). A yield goes behind all that are not interactive, so yielding threads rotate \
at every poll. Placement and balancing are those of ULE: an odd thread moves about once a second. Use it with the policy \
ULE to see a fair share over seconds that a program with frequent barriers cannot use. FreeBSD 10 and later shorten the turns \
with the number of rivals, down to 2 ticks (16 ms): `min_slice: 15748us`.",
    example: "{ freebsd-7: { interactive: 0 } }",
    parameters: PARAMETERS,
    make: ule,
};

fn ule(values: &Values, _cpus: u32) -> Discipline {
    let span = |name: &str| Span::from_ns(values.get(name));
    Discipline::Ule(UleParams {
        slice: span("slice"),
        min_slice: span("min_slice"),
        interactive: values.get("interactive") as u32,
        history: span("history"),
    })
}
