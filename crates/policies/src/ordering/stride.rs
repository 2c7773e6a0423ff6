//! `STRIDE`: proportional shares by virtual time on each cpu.

use notation::declare::Duration;
use notation::parameters;
use sim_core::policy::Order;
use sim_core::time::Span;

use crate::entry::{Entry, Level, Showcase};
use crate::ordering::LEAST_SLICE;
use crate::ordering::per_cpu::PerCpu;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "STRIDE",
    summary: "proportional shares: on each cpu the task that is furthest behind its share runs for one quantum",
    source: "Waldspurger and Weihl, Stride scheduling: deterministic proportional-share resource management, MIT/LCS/TM-528, 1995",
    level: Level::InKernel,
    parameters: Parameters::TABLE,
    about: "Each task has a pass value. The task with the smallest pass runs for one quantum. Its pass grows by the time it ran \
times 1,024 / weight, so that cpu time is shared in the ratio of the weights. Two tasks that compute all the time are never \
further apart than about one quantum. A task that joins a queue starts at the smallest pass there, and one that slept keeps no credit. A created or woken \
task goes to its last cpu if that is idle, otherwise to the shortest queue. A cpu that goes idle takes one task from the \
longest queue.\n\n\
STRIDE shows what CFS adds to plain virtual time: CFS gives sleepers a credit, lets woken tasks preempt, and shortens slices \
when queues are long. Without them a task that sleeps often waits for whole quanta. A task that polls and yields stays in \
front until its pass is above that of the next task, so polling takes a full share of the cpu.",
    sees: "STRIDE observes the cpu time and weight of each task, queue lengths and masks.",
    costs: "Its hooks take no simulated time. A stolen task costs a migration on the cpu that takes it.",
    wins: Showcase {
        scenario: "polling_in_order",
        label: "STRIDE",
        against: "FIFO",
        app: "first",
        point: "",
        about: "A thread that polls keeps its cpu for a whole share, and FIFO switches after every poll. \
Switches take 15 % of the time under FIFO and 4 % under STRIDE.",
    },
    loses: Showcase {
        scenario: "short_waits",
        label: "STRIDE",
        against: "LOAD",
        app: "code",
        point: "",
        about: "Threads that sleep every millisecond wait for whole quanta of 100 ms when they wake. CFS lets \
them preempt.",
    },
    build: |values, setting| {
        let slice = Span::from_ns(Parameters::from(values).slice.ns());
        Box::new(PerCpu::new(Order::VirtualTime { slice }, setting.machine))
    },
    example: "Tasks A and B with weights 2,048 and 1,024 share one cpu, and the quantum is 100 ms. Both begin with pass 0. A \
runs first, and its pass is 50 (100 x 1,024 / 2,048). B runs to 100 and A to 100. B, which has waited longer, runs to 200, and \
A runs twice, to 200. After 600 ms A has run for 400 ms and B for 200 ms.",
};

parameters! {
    /// Parameters of `STRIDE`.
    struct Parameters {
        /// The quantum: how long a task runs, up to the next timer tick (100 ms in the prototype of the paper).
        slice: Duration = ms(100), in LEAST_SLICE..=s(1000);
    }
}
