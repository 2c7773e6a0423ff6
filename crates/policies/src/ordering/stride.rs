//! `STRIDE`: proportional shares by virtual time on each cpu.

use notation::declare::Duration;
use notation::parameters;
use sim_core::policy::Order;
use sim_core::time::Span;

use crate::entry::{Entry, Level, Showcase, TaskGroups};
use crate::ordering::LEAST_SLICE;
use crate::ordering::per_cpu::PerCpu;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "STRIDE",
    summary: "proportional shares: on each cpu the task that is furthest behind its share runs for one \
        quantum",
    source: "Waldspurger and Weihl, Stride scheduling: deterministic proportional-share resource \
        management, MIT/LCS/TM-528, 1995",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("stride.md"),
    wins: Showcase {
        scenario: "polling_in_order",
        label: "STRIDE",
        against: "LOAD",
        app: "first",
        point: "",
    },
    loses: Showcase { scenario: "short_waits", label: "STRIDE", against: "LOAD", app: "code", point: "" },
    build: &|values, setting| {
        let slice = Span::from_ns(Parameters::from(values).slice.ns());
        Box::new(PerCpu::new(Order::VirtualTime { slice }, setting.machine))
    },
};

parameters! {
    /// Parameters of `STRIDE`.
    struct Parameters {
        /// The quantum: how long a task runs, up to the next timer tick (100 ms in the prototype of the
        /// paper).
        slice: Duration = ms(100), in LEAST_SLICE..=s(1000);
    }
}
