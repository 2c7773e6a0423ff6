//! `round-robin`: one quantum each in turn.

use notation::parameter::{Parameter, Values};
use sim_core::os::{Discipline, RoundRobinParams};
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICK_SKEW, linux, time};

const PARAMETERS: &[Parameter] = &[
    time(
        "quantum",
        100 * MS,
        SHORTEST,
        "Time slice of every task. 100ms is the quantum of SCHED_RR in Linux.",
    ),
    time("tick", MS, SHORTEST, "Period of the timer tick."),
    TICK_SKEW,
];

/// The entry of the shelf.
pub(super) const ROUND_ROBIN: Entry = Entry {
    name: "round-robin",
    summary: "every task runs for one quantum, one after the other; a yield puts the caller at the end of the queue",
    source: "POSIX.1 SCHED_RR; quantum of Linux 2.6.28, kernel/sched_rt.c",
    about: "Every task runs for one quantum, one after the other, whatever it did before. Use this OS model as a simple \
reference for the real schedulers. With k computing tasks on a cpu, a task waits (k - 1) quanta before it runs again. \
With four tasks and a quantum of 100 ms it waits 300 ms. A yield puts the caller at the end of the queue and gives up \
the rest of its quantum.",
    example: "{ round-robin: { quantum: 10ms } }",
    parameters: PARAMETERS,
    balancer: linux("linux-2.6.28"),
    make: round_robin,
};

fn round_robin(values: &Values, _cpus: u32) -> Discipline {
    Discipline::RoundRobin(RoundRobinParams { quantum: Span::from_ns(values.get("quantum")) })
}
