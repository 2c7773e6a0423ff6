//! `FIFO`: first come, first served, with a slice.

use notation::declare::Duration;
use notation::parameters;
use sim_core::policy::Order;
use sim_core::time::Span;

use crate::entry::{Entry, Level, Showcase};
use crate::ordering::per_cpu::PerCpu;
use crate::ordering::{LEAST_SLICE, SCX_SLICE};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "FIFO",
    summary: "first come, first served on each cpu, with a slice; an idle cpu steals from the longest queue",
    source: "sched_ext of Linux 6.12: scx_simple with -f, here with one queue per cpu (SCX_DSQ_LOCAL)",
    level: Level::InKernel,
    parameters: Parameters::TABLE,
    about: "A task that is created, wakes, yields or has used its slice goes behind all others of its cpu. Weights have no \
effect. A created or woken task goes to its last cpu if that is idle, otherwise to the shortest queue. A cpu that goes idle \
takes one task from the longest queue. FIFO does not balance between cpus that are busy.\n\n\
FIFO is the baseline for every other order. It is good where all tasks have equal work, because nothing is sorted and no task \
is preempted before its slice ends. It is bad for short tasks behind long ones: each waits for one whole slice of every \
task in front of it. A task that polls and yields goes behind all others after each poll, so that polling takes little time \
from tasks that compute.",
    sees: "FIFO observes queue lengths, masks and the last cpu of each task.",
    costs: "Its hooks take no simulated time. A stolen task costs a migration on the cpu that takes it.",
    wins: Showcase {
        scenario: "polling_in_order",
        label: "FIFO",
        against: "LOAD",
        app: "first",
        point: "",
        about: "A thread that yields goes behind all others of its cpu, so the other program computes \
while this one waits. Under LOAD the threads are spread unevenly.",
    },
    loses: Showcase {
        scenario: "one_queue_or_many",
        label: "FIFO",
        against: "VTIME",
        app: "ep",
        point: "",
        about: "17 threads run on 16 cpus. No cpu is idle, so FIFO moves none, and two threads share one cpu \
until the end.",
    },
    build: |values, setting| {
        let slice = Span::from_ns(Parameters::from(values).slice.ns());
        Box::new(PerCpu::new(Order::Fifo { slice }, setting.machine))
    },
    example: "Tasks A, B and C come to one cpu at 0, 1 and 2 ms with 50, 10 and 30 ms of work; the slice is 20 ms. A runs \
from 0 to 20 ms, B until 30 ms, C until 50 ms, A until 70 ms, C until 80 ms and A until 90 ms. B, the shortest, ends after \
29 ms, because one whole slice of A comes first.",
};

parameters! {
    /// Parameters of `FIFO`.
    struct Parameters {
        /// How long a task runs before the next one is picked (SCX_SLICE_DFL, 20 ms, of kernel/sched/ext.c).
        slice: Duration = SCX_SLICE, in LEAST_SLICE..=s(1000);
    }
}
