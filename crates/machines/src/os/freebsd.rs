//! `freebsd-7`: the ULE scheduler.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::os::{Balancer, Discipline, UleParams};
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICKS_TOGETHER, time};

/// Period of the statistics clock of 127 Hz, which counts the slices; ns, rounded down.
const STAT_TICK: u64 = 1_000_000_000 / 127;
/// `sched_slice` is a tenth of the clock's rate, in whole ticks.
const SLICE_TICKS: u64 = 12;

const PARAMETERS: &[Parameter] = &[
    time("tick", STAT_TICK, SHORTEST, "Period of the statistics clock. 7.874ms corresponds to 127 Hz."),
    TICKS_TOGETHER,
    time(
        "slice",
        SLICE_TICKS * STAT_TICK,
        SHORTEST,
        "Time slice of a thread with at most one rival (another runnable thread on its cpu): 12 ticks.",
    ),
    time(
        "min_slice",
        SLICE_TICKS * STAT_TICK,
        SHORTEST,
        "Shortest time slice. The slice is divided by the number of rivals, but not below this value. Six or more rivals \
            always give this value. FreeBSD 7.3 does not divide the slice (default). FreeBSD 10 and later go down to 2 \
            ticks (15.748ms).",
    ),
    Parameter {
        name: "interactive",
        kind: Kind::Count,
        default: 30,
        min: 0,
        max: 100,
        about: "Threads with an interactivity score below this value are interactive and run first \
            (kern.sched.interact).",
    },
    time(
        "history",
        5_000 * MS,
        SHORTEST,
        "Length of the history of running and sleeping that counts for the score (SCHED_SLP_RUN_MAX).",
    ),
];

/// The entry of the shelf.
pub(super) const FREEBSD_7: Entry = Entry {
    name: "freebsd-7",
    summary: "ULE: interactive threads run first, all others round robin; a yield puts the caller at the end of the \
queue",
    source: "FreeBSD 7.3, sys/kern/sched_ule.c",
    about: "ULE divides threads into two classes. A thread is interactive if it sleeps more than 5/3 of the time that it \
runs. Interactive threads run first, in the order of their scores. All other threads run round robin with a time slice \
of 12 ticks of a 127 Hz clock (94 ms). A yield puts the caller behind all threads that are not interactive, so yielding \
threads alternate at every poll.\n\nPlacement and balancing also follow ULE. If the number of threads is not a multiple \
of the number of cpus, an odd thread moves about once a second. Use this OS model with the policy ULE to study a \
scheduler that is fair over seconds. A program with frequent barriers cannot use that kind of fairness. FreeBSD 10 and \
later shorten the slice with the number of rivals, down to 2 ticks (16 ms): set `min_slice: 15748us`.",
    example: "{ freebsd-7: { interactive: 0 } }",
    parameters: PARAMETERS,
    balancer: Balancer { policy: "ULE", release: "" },
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
