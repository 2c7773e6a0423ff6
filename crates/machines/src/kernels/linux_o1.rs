//! `linux-2.6.18`: the O(1) scheduler of RHEL 5.

use notation::parameter::{Parameter, Values};
use sim_core::kernel_model::{Discipline, O1Params};
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICK_SKEW, flag, time};

const PARAMETERS: &[Parameter] = &[
    time("tick", MS, SHORTEST, "Timer tick; 1ms is HZ = 1000"),
    TICK_SKEW,
    time("timeslice", 100 * MS, SHORTEST, "Time slice at nice 0 (DEF_TIMESLICE)"),
    time("sleep_average", 1_000 * MS, SHORTEST, "Sleep that earns the whole priority bonus (MAX_SLEEP_AVG)"),
    flag(
        "bonus",
        "Sleepers get up to 5 levels of priority more, hogs up to 5 less; without it priorities are static",
    ),
];

/// The entry of the shelf.
pub(super) const LINUX_2_6_18: Entry = Entry {
    name: "linux-2.6.18",
    summary: "O(1) scheduler: active and expired arrays, priority bonus for sleepers; a yield goes to the expired array",
    source: "Linux 2.6.18, kernel/sched.c",
    about: "An active and an expired array of priorities. A task runs 100 ms at nice 0, then goes to the expired array; when \
the active one is empty the two change places. Up to a second of sleep is remembered and moves the priority by \
-5 to +5; a better priority pre-empts at once. A yield goes straight to the expired array, so a waiting thread \
beside one that computes looks at its flag once per 100 ms: with two threads per core, a barrier of a few ms of \
work takes about 100 ms when the other thread of the core belongs to someone else. Threads that sleep at \
barriers get the bonus and come back quickly. The kernel of Red Hat Enterprise Linux 5.",
    example: "{ linux-2.6.18: { timeslice: 50ms } }",
    parameters: PARAMETERS,
    make: o1,
};

fn o1(values: &Values, _cpus: u32) -> Discipline {
    Discipline::O1(O1Params {
        timeslice: Span::from_ns(values.get("timeslice")),
        sleep_average: Span::from_ns(values.get("sleep_average")),
        bonus: values.flag("bonus"),
    })
}
