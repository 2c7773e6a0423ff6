//! `linux-2.6.18`: the O(1) scheduler of RHEL 5.

use notation::declare::Duration;
use notation::parameter::{Values, joined};
use notation::parameters;
use sim_core::os::{Discipline, O1Params};
use sim_core::time::Span;

use super::balance::{Form, LOADS, LOADS_2_6_18};
use super::real_time::{CLASS, CLASS_2_6};
use super::{Entry, Kernel, LONGEST, OsBuilt, SHORTEST};

parameters! {
    /// Parameters of `linux-2.6.18`.
    struct Parameters {
        /// Period of the timer tick. 1ms corresponds to HZ = 1000.
        tick: Duration = ms(1), in SHORTEST..=LONGEST;
        /// If true, the ticks of the cpus are spread over half a period, as Linux did until 2.6.38. If false,
        /// all cpus tick at the same time.
        tick_skew: bool = true;
        /// Time slice of a task at nice 0 (DEF_TIMESLICE).
        timeslice: Duration = ms(100), in SHORTEST..=LONGEST;
        /// Length of sleep that earns the full priority bonus (MAX_SLEEP_AVG).
        sleep_average: Duration = s(1), in SHORTEST..=LONGEST;
        /// Tasks that sleep gain up to 5 priority levels, tasks that only compute lose up to 5. Without the
        /// bonus, priorities are static.
        bonus: bool = true;
    }
}

/// Its entry in the registry.
pub(super) const LINUX_2_6_18: Entry = Entry {
    name: "linux-2.6.18",
    summary: "O(1) scheduler: active and expired arrays, priority bonus for sleepers; a yield moves the \
        caller to the \
expired array",
    source: "Linux 2.6.18, kernel/sched.c",
    example: "{ linux-2.6.18: { timeslice: 50ms } }",
    parameters: &joined::<{ Parameters::TABLE.len() + LOADS + CLASS }>(
        &joined::<{ Parameters::TABLE.len() + LOADS }>(Parameters::TABLE, &LOADS_2_6_18),
        &CLASS_2_6,
    ),
    own: Kernel::linux(o1, Form::Loads),
};

fn o1(values: &Values, _cpus: u32) -> OsBuilt {
    let values = Parameters::from(values);
    let discipline = Discipline::O1(O1Params {
        timeslice: Span::from_ns(values.timeslice.ns()),
        sleep_average: Span::from_ns(values.sleep_average.ns()),
        bonus: values.bonus,
    });
    OsBuilt { tick: values.tick, tick_skew: values.tick_skew, autogroup: false, discipline }
}
