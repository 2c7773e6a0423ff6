//! `round-robin`: one quantum each in turn.

use notation::declare::Duration;
use notation::parameter::{Values, joined};
use notation::parameters;
use sim_core::os::{Discipline, RoundRobinParams};
use sim_core::time::Span;

use super::balance::{Form, LOADS, LOADS_2_6_28};
use super::{Entry, Kernel, LONGEST, OsBuilt, SHORTEST};

parameters! {
    /// Parameters of `round-robin`.
    struct Parameters {
        /// Time slice of every task. 100ms is the quantum of SCHED_RR in Linux.
        quantum: Duration = ms(100), in SHORTEST..=LONGEST;
        /// Period of the timer tick.
        tick: Duration = ms(1), in SHORTEST..=LONGEST;
        /// If true, the ticks of the cpus are spread over half a period, as Linux did until 2.6.38. If false,
        /// all cpus tick at the same time.
        tick_skew: bool = true;
    }
}

/// Its entry in the registry.
pub(super) const ROUND_ROBIN: Entry = Entry {
    name: "round-robin",
    summary: "every task runs for one quantum, one after the other; a yield puts the caller at the end of \
        the queue",
    source: "POSIX.1 SCHED_RR; quantum of Linux 2.6.28, kernel/sched_rt.c",
    example: "{ round-robin: { quantum: 10ms } }",
    parameters: &joined::<{ Parameters::TABLE.len() + LOADS }>(Parameters::TABLE, &LOADS_2_6_28),
    own: Kernel::linux(round_robin, Form::Loads).without_real_time(),
};

fn round_robin(values: &Values, _cpus: u32) -> OsBuilt {
    let values = Parameters::from(values);
    let discipline = Discipline::RoundRobin(RoundRobinParams { quantum: Span::from_ns(values.quantum.ns()) });
    OsBuilt { tick: values.tick, tick_skew: values.tick_skew, autogroup: false, discipline }
}
