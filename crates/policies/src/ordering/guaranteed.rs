//! `GUARANTEED`: the task that has had the least of what it is entitled to runs next.

use notation::declare::Duration;
use notation::parameters;
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, THROTTLED, Timer, View, Why,
};
use sim_core::time::{Span, Time};

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::ordering::queue::{DispatchQueue, Servers};
use crate::ordering::{LEAST_SLICE, SCX_SLICE, slot};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "GUARANTEED",
    summary: "guaranteed scheduling: the task that has had the smallest part of its share since it was \
        created runs next",
    source: "Tanenbaum, Modern Operating Systems, chapter 2: guaranteed scheduling",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("guaranteed.md"),
    wins: Showcase {
        scenario: "share_since_the_start",
        label: "GUARANTEED",
        against: "VTIME",
        app: "returns",
        point: "",
    },
    loses: Showcase {
        scenario: "share_since_the_start",
        label: "GUARANTEED",
        against: "VTIME",
        app: "steady",
        point: "",
    },
    build: &|values, setting| Box::new(Guaranteed::new(&values.into(), setting)),
};

parameters! {
    /// Parameters of `GUARANTEED`.
    struct Parameters {
        /// How long a task runs, up to the next timer tick, before the ratios are compared again (the source
        /// gives none here; 20 to 50 ms is its advice for turns).
        slice: Duration = SCX_SLICE, in LEAST_SLICE..=s(1000);
    }
}

struct Guaranteed {
    slice: Span,
    servers: Servers,
    queue: DispatchQueue,
    /// When each task was created.
    created: Vec<Time>,
}

impl Guaranteed {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        Self {
            slice: Span::from_ns(values.slice.ns()),
            servers: Servers::whole(setting.machine),
            queue: DispatchQueue::default(),
            created: Vec::new(),
        }
    }

    /// Cpu time of a task over what it is entitled to. That is its weight times the time since it was
    /// created, over the weights of all tasks. The last is the same for all and left out. The shift leaves
    /// 2^60 steps for a task of weight 1 that had a cpu all the time.
    fn ratio(&self, system: &mut dyn System, task: TaskId) -> u128 {
        let age = system.now() - self.created[task.0 as usize];
        let entitled = u128::from(age.ns().max(1)) * u128::from(system.task(task).weight.max(1));
        (u128::from(system.cpu_time(task).ns()) << 60) / entitled
    }

    /// The held task with the least ratio that may run on a cpu; of equal ones the first come.
    fn least(&self, system: &mut dyn System, cpu: CpuId) -> Option<TaskId> {
        let mut least: Option<(u128, TaskId)> = None;
        for (_, task) in self.queue.tasks() {
            if system.allowed(task, cpu) {
                let ratio = self.ratio(system, task);
                if least.is_none_or(|(other, _)| ratio < other) {
                    least = Some((ratio, task));
                }
            }
        }
        least.map(|(_, task)| task)
    }
}

impl Policy for Guaranteed {
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
        let created = slot(&mut self.created, task);
        if why == Enqueue::Created {
            *created = system.now();
        }
        if self.servers.takes(task, cpu) {
            return Some(QueueEntry::new(0, self.slice));
        }
        self.servers.went_back(system, task, why, !self.queue.is_empty());
        self.queue.hold(0, task);
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        while let Some(task) = self.least(system, cpu) {
            let held = self.queue.tasks().count() as u64;
            self.queue.remove(task);
            let why = Why::rule("dispatched: has had the least of its share").with("tasks held", held);
            system.dispatch(task, cpu, QueueEntry::new(0, self.slice), why);
            // A throttled one goes along and waits there.
            if system.task(task).priority < THROTTLED {
                return;
            }
        }
    }

    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        while let Some((_, cpu)) = self.servers.fill(system, self.queue.tasks().map(|(_, task)| task)) {
            self.dispatch(system, cpu);
            self.servers.note(system, cpu);
        }
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
