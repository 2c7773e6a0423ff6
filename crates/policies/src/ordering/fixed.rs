//! `FP`: fixed priorities over one queue for the whole machine, by rate, by deadline or as given.

use notation::choices;
use notation::declare::{Duration, PerApp};
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, Timer, View, Why};
use sim_core::program::{AppSpec, Op};
use sim_core::time::Span;

use crate::entry::{Entry, Level, Showcase, TaskGroups};
use crate::ordering::LEAST_SLICE;
use crate::ordering::queue::{DispatchQueue, Servers};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "FP",
    summary: "fixed priorities over one queue for the whole machine: by rate, by deadline, or as given",
    source: "Liu and Layland 1973 (JACM 20(1)): rate monotonic; Leung and Whitehead 1982 (Performance \
        Evaluation 2): deadline monotonic",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("fp.md"),
    wins: Showcase { scenario: "fixed_priorities", label: "FP", against: "FIFO", app: "user", point: "" },
    loses: Showcase { scenario: "fixed_priorities", label: "FP", against: "VTIME", app: "other", point: "" },
    build: &|values, setting| {
        Box::new(Fixed {
            keys: keys(values, setting.apps),
            slice: Span::from_ns(Parameters::from(values).slice.ns()),
            servers: Servers::whole(setting.machine),
            queue: DispatchQueue::default(),
        })
    },
};

choices! {
    /// What a priority follows.
    enum By {
        Rate = "rate",
        Deadline = "deadline",
        Given = "given",
    }
}

parameters! {
    /// Parameters of `FP`.
    struct Parameters {
        /// `rate`: the shorter the period, the better (rate monotonic). `deadline`: the shorter the deadline,
        /// the better (deadline monotonic). `given`: by `priority`.
        by: By = By::Rate;
        /// The priority of each application with `by: given`; 1 is the best one.
        priority: PerApp<u32> = 50, in 1..=99;
        /// The period of an application whose program has no clock (`until`) and no deadline.
        period: PerApp<Duration> = ms(100), in us(1)..=s(1000);
        /// How long a task runs before its equals have a turn (`RR_TIMESLICE` of Linux).
        slice: Duration = ms(100), in LEAST_SLICE..=s(1000);
    }
}

const BEST: Why = Why::rule("dispatched: the best priority");

struct Fixed {
    /// Of each application; the least is the best.
    keys: Vec<i64>,
    slice: Span,
    servers: Servers,
    queue: DispatchQueue,
}

/// The shortest period of the clocks of a program.
pub(super) fn period(app: &AppSpec) -> Option<Span> {
    let of = |op: &Op| if let Op::Until { period, .. } = op { Some(*period) } else { None };
    app.program.ops().iter().filter_map(of).min()
}

/// The priority of each application; the least is the best.
pub(super) fn keys(values: &Values, apps: &[AppSpec]) -> Vec<i64> {
    let values = Parameters::from(values);
    let key = |app: &AppSpec| {
        let stated = || Span::from_ns(values.period.of(&app.name).ns());
        let period = || period(app).or(app.deadline).unwrap_or_else(stated);
        match values.by {
            By::Rate => period().ns() as i64,
            By::Deadline => app.deadline.unwrap_or_else(period).ns() as i64,
            By::Given => i64::from(*values.priority.of(&app.name)),
        }
    };
    apps.iter().map(key).collect()
}

impl Fixed {
    fn key(&self, view: &dyn View, task: TaskId) -> i64 {
        self.keys.get(view.task(task).app.0 as usize).copied().unwrap_or(i64::MAX)
    }
}

impl Policy for Fixed {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let key = self.key(view, task);
        self.servers.place(view, task, placement, Some(key))
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let key = self.key(system, task);
        if self.servers.takes(task, cpu) {
            return Some(QueueEntry { preempts: true, ..QueueEntry::new(key, self.slice) });
        }
        self.servers.went_back(system, task, why, !self.queue.is_empty());
        if why == Enqueue::Preempted {
            self.queue.hold_first(key, task);
        } else {
            self.queue.hold(key, task);
        }
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let slice = self.slice;
        self.queue.dispatch(system, cpu, BEST, |_| slice);
    }

    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        let slice = self.slice;
        self.queue.fill(system, &mut self.servers, BEST, |_| slice);
    }

    fn running(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let key = self.key(system, task);
        self.servers.set(cpu, Some(key));
    }

    fn stopping(&mut self, _: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.ends(cpu);
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
