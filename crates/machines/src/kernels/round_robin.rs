//! `round-robin`: one quantum each in turn.

use notation::parameter::{Parameter, Values};
use sim_core::kernel_model::Discipline;
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICK_SKEW, time};

const PARAMETERS: &[Parameter] = &[
    time("quantum", 100 * MS, SHORTEST, "Time each task runs in turn; 100ms is Linux's SCHED_RR"),
    time("tick", MS, SHORTEST, "Timer tick"),
    TICK_SKEW,
];

/// The entry of the shelf.
pub(super) const ROUND_ROBIN: Entry = Entry {
    name: "round-robin",
    summary: "each task runs for one quantum in turn; a yield goes to the end of the queue",
    source: "POSIX.1 SCHED_RR; quantum of Linux 2.6.28, kernel/sched_rt.c",
    about: "Each task runs for one quantum in turn, whatever it did before: the plain reference to hold the real disciplines \
against. With k computing tasks on a cpu one waits (k - 1) quanta for its turn, 300 ms for four at 100 ms; a \
yield goes to the end of the queue and gives the rest of the quantum away.",
    example: "{ round-robin: { quantum: 10ms } }",
    parameters: PARAMETERS,
    make: round_robin,
};

fn round_robin(values: &Values, _cpus: u32) -> Discipline {
    Discipline::RoundRobin { quantum: Span::from_ns(values.get("quantum")) }
}
