//! `EDF`: earliest deadline first over one queue for the whole machine, with a budget per period.

use notation::declare::{Duration, PerApp};
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, Timer, View, Watches, Why,
};
use sim_core::program::AppSpec;
use sim_core::time::{Span, Time};

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::ordering::queue::{DispatchQueue, Servers};
use crate::ordering::{LEAST_SLICE, Used, fixed, slot};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "EDF",
    summary: "earliest deadline first over one queue for the whole machine; each application states its \
        period",
    source: "Liu and Layland 1973 (JACM 20(1)); Abeni and Buttazzo 1998 (constant bandwidth server); \
        SCHED_DEADLINE of Linux",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("edf.md"),
    wins: Showcase { scenario: "short_waits", label: "EDF", against: "MLFQ", app: "code", point: "" },
    loses: Showcase { scenario: "urgent_and_bulk", label: "EDF", against: "VTIME", app: "urgent", point: "" },
    build: &|values, setting| Box::new(Edf::new(&values.into(), setting)),
};

parameters! {
    /// Parameters of `EDF`.
    struct Parameters {
        /// The deadline of a job is this long after its release (the instant of a clock, `until`, or of a
        /// request), and that of a task without jobs this long after it wakes, unless the application states
        /// a `deadline` or its program has a clock; the next deadline is this long after the last one.
        /// 100 ms is the largest period at which users see no delay.
        period: PerApp<Duration> = ms(100), in us(1)..=s(1000);
        /// Cpu time, up to the next timer tick, after which a task gets its next deadline (the runtime of
        /// SCHED_DEADLINE).
        budget: Duration = ms(20), in LEAST_SLICE..=s(1000);
    }
}

/// The cpu time after which a task gets its next deadline, ns.
pub(super) fn budget(values: &Values) -> u64 {
    Parameters::from(values).budget.ns()
}

const EARLIEST: Why = Why::rule("dispatched: the earliest deadline");

struct Edf {
    budget: Span,
    /// Deadline and period of each application.
    times: Vec<(i64, i64)>,
    servers: Servers,
    queue: DispatchQueue,
    /// The deadline of each task, ns, and what it has used of its budget.
    jobs: Vec<(i64, Span)>,
    /// The release of the job of each task that this deadline is for.
    releases: Vec<Option<Time>>,
    used: Used,
}

impl Edf {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        let times = |app: &AppSpec| {
            let stated = || Span::from_ns(values.period.of(&app.name).ns());
            let period = fixed::period(app).unwrap_or_else(stated).ns();
            (app.deadline.map_or(period, Span::ns) as i64, period as i64)
        };
        Self {
            budget: Span::from_ns(values.budget.ns()),
            times: setting.apps.iter().map(times).collect(),
            servers: Servers::whole(setting.machine),
            queue: DispatchQueue::default(),
            jobs: Vec::new(),
            releases: Vec::new(),
            used: Used::default(),
        }
    }

    /// True if the deadline that it has is that of its present job.
    fn is_same_job(&self, view: &dyn View, task: TaskId) -> bool {
        let released = view.task(task).released;
        released.is_some() && self.releases.get(task.index()).copied().flatten() == released
    }

    /// Its deadline, from its release, and its period, ns.
    fn times(&self, view: &dyn View, task: TaskId) -> (i64, i64) {
        self.times.get(view.task(task).app.0 as usize).copied().unwrap_or_default()
    }
}

impl Policy for Edf {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn watches(&self) -> Watches {
        Watches { releases: true, ..Watches::default() }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let from = view.task(task).released.unwrap_or(view.now());
        let deadline = if self.is_same_job(view, task) {
            self.jobs[task.index()].0
        } else {
            from.ns() as i64 + self.times(view, task).0
        };
        self.servers.place(view, task, placement, Some(deadline))
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let (now, (after, period)) = (system.now().ns() as i64, self.times(system, task));
        let (deadline, used) = *slot(&mut self.jobs, task);
        let (released, same) = (system.task(task).released, self.is_same_job(system, task));
        *slot(&mut self.releases, task) = released;
        let job = match why {
            _ if let Some(at) = released.filter(|_| !same) => (at.ns() as i64 + after, Span::ZERO),
            // It has waited for something in the middle of its job.
            Enqueue::Woken if same => (deadline, used),
            Enqueue::Created | Enqueue::Woken => (now + after, Span::ZERO),
            // A task that yields gives up the rest of its job.
            Enqueue::Yielded => (now + period, Span::ZERO),
            _ if used >= self.budget => (now.max(deadline).saturating_add(period), Span::ZERO),
            Enqueue::Expired | Enqueue::Preempted => (deadline, used),
        };
        *slot(&mut self.jobs, task) = job;
        if self.servers.takes(task, cpu) {
            return Some(QueueEntry { preempts: true, ..QueueEntry::new(job.0, self.budget - job.1) });
        }
        self.servers.went_back(system, task, why, !self.queue.is_empty());
        self.queue.hold(job.0, task);
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        // A wrapper can have had the task run since it was queued.
        let left = |task: TaskId| self.budget.saturating_sub(self.jobs[task.index()].1);
        self.queue.dispatch(system, cpu, EARLIEST, left);
    }

    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        let left = |task: TaskId| self.budget.saturating_sub(self.jobs[task.index()].1);
        self.queue.fill(system, &mut self.servers, EARLIEST, left);
    }

    fn running(&mut self, _: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.servers.set(cpu, Some(slot(&mut self.jobs, task).0));
    }

    fn stopping(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let used = self.used.since(system, task);
        slot(&mut self.jobs, task).1 += used;
        self.servers.ends(cpu);
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
