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
