//! `FIFO`: first come, first served, with a slice.

use notation::declare::Duration;
use notation::parameters;
use sim_core::policy::Order;
use sim_core::time::Span;

use crate::entry::{Entry, Level, Showcase, TaskGroups};
use crate::ordering::per_cpu::PerCpu;
use crate::ordering::{LEAST_SLICE, SCX_SLICE};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "FIFO",
    summary: "first come, first served on each cpu, with a slice; an idle cpu steals from the longest queue",
    source: "sched_ext of Linux 6.12: scx_simple with -f, here with one queue per cpu (SCX_DSQ_LOCAL)",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("fifo.md"),
    wins: Showcase { scenario: "polling_in_order", label: "FIFO", against: "LOAD", app: "first", point: "" },
    loses: Showcase { scenario: "one_queue_or_many", label: "FIFO", against: "VTIME", app: "ep", point: "" },
    build: &|values, setting| {
        let slice = Span::from_ns(Parameters::from(values).slice.ns());
        Box::new(PerCpu::new(Order::Fifo { slice }, setting.machine))
    },
};

parameters! {
    /// Parameters of `FIFO`.
    struct Parameters {
        /// How long a task runs before the next one is picked (SCX_SLICE_DFL, 20 ms, of kernel/sched/ext.c).
        slice: Duration = SCX_SLICE, in LEAST_SLICE..=s(1000);
    }
}
