//! `VTIME`: weighted virtual time over one queue for the whole machine, the simplest sched_ext scheduler.

use notation::declare::Duration;
use notation::parameters;
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, Timer, View, Why};
use sim_core::time::Span;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::ordering::queue::{DispatchQueue, Servers};
use crate::ordering::{LEAST_SLICE, SCX_SLICE, Used, slot};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "VTIME",
    summary: "one queue for the whole machine, ordered by weighted virtual time: the simplest sched_ext \
        scheduler",
    source: "sched_ext of Linux 6.12, tools/sched_ext/scx_simple.bpf.c",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("vtime.md"),
    wins: Showcase { scenario: "one_queue_or_many", label: "VTIME", against: "FIFO", app: "ep", point: "" },
    loses: Showcase { scenario: "short_waits", label: "VTIME", against: "MLFQ", app: "code", point: "" },
    build: &|values, setting| Box::new(Vtime::new(&values.into(), setting)),
};

parameters! {
    /// Parameters of `VTIME`.
    struct Parameters {
        /// How long a task runs, up to the next timer tick, and the most virtual time that a sleeper can save
        /// (SCX_SLICE_DFL).
        slice: Duration = SCX_SLICE, in LEAST_SLICE..=s(1000);
    }
}

const LEAST: Why = Why::rule("dispatched: the least virtual time");

struct Vtime {
    slice: Span,
    servers: Servers,
    queue: DispatchQueue,
    /// The largest virtual time with which a task has begun to run (`vtime_now`).
    now: i64,
    vtime: Vec<i64>,
    used: Used,
}

impl Vtime {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        Self {
            slice: Span::from_ns(values.slice.ns()),
            servers: Servers::whole(setting.machine),
            queue: DispatchQueue::default(),
            now: 0,
            vtime: Vec::new(),
            used: Used::default(),
        }
    }
}

impl Policy for Vtime {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.servers.place(view, task, placement, None)
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let vtime = slot(&mut self.vtime, task);
        // A created task begins now; one that slept has saved one slice at most.
        let credit = if why == Enqueue::Created { 0 } else { self.slice.ns() as i64 };
        *vtime = (*vtime).max(self.now - credit);
        if self.servers.takes(task, cpu) {
            return Some(QueueEntry::new(*vtime, self.slice));
        }
        self.servers.went_back(system, task, why, !self.queue.is_empty());
        self.queue.hold(*vtime, task);
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let slice = self.slice;
        self.queue.dispatch(system, cpu, LEAST, |_| slice);
    }

    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        let slice = self.slice;
        self.queue.fill(system, &mut self.servers, LEAST, |_| slice);
    }

    fn running(&mut self, _: &mut dyn System, task: TaskId, _: CpuId) {
        self.now = self.now.max(*slot(&mut self.vtime, task));
    }

    fn stopping(&mut self, system: &mut dyn System, task: TaskId, _: CpuId) {
        let (used, weight) = (self.used.since(system, task), system.task(task).weight);
        *slot(&mut self.vtime, task) += (u128::from(used.ns()) * 1024 / u128::from(weight)) as i64;
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
