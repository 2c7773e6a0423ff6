//! `EDF`: earliest deadline first over one queue for the whole machine, with a budget per period.

use notation::declare::{Duration, PerApp};
use notation::parameters;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, View, Why};
use sim_core::time::Span;

use crate::entry::{Entry, Level, Setting, Showcase};
use crate::ordering::queue::{DispatchQueue, Servers};
use crate::ordering::{LEAST_SLICE, Used, slot};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "EDF",
    summary: "earliest deadline first over one queue for the whole machine; each application states its period",
    source: "Liu and Layland 1973 (JACM 20(1)); Abeni and Buttazzo 1998 (constant bandwidth server); SCHED_DEADLINE of Linux",
    level: Level::InKernel,
    parameters: Parameters::TABLE,
    about: "Each task has a deadline, and the task with the earliest deadline runs. A task that is created or wakes gets a deadline one \
`period` later; each application can have its own. When a task has run for `budget` in all, its deadline moves by one period. \
A task that calls `sched_yield` gives up the rest of its job: its next deadline is one period later. All tasks that wait are in one queue for the whole machine. A created or woken task goes directly to an idle \
cpu, or to the cpu that runs the latest deadline if its own is earlier, where it preempts. Weights have no effect.\n\n\
On one cpu EDF meets all deadlines if any order does (Liu and Layland); on several cpus it does not, and unlike SCHED_DEADLINE \
nothing here checks whether the periods and budgets fit the machine: a task beyond its budget is not stopped, it only gets a \
later deadline. EDF is good where the user knows which program is urgent, and states a short period for it. With the same \
period for all it orders tasks by the time when they woke. A task that polls and yields goes behind all tasks that do not \
wait. Each poll of a waiting task is simulated.",
    sees: "EDF observes wake-ups, the budget that each task has used, idle cpus and masks. Periods are given by the user.",
    costs: "Its hooks take no simulated time. A task that preempts on another cpu interrupts it; one that another cpu takes \
from the queue costs a migration there.",
    wins: Showcase {
        scenario: "short_waits",
        label: "EDF",
        against: "MLFQ",
        app: "code",
        point: "",
        about: "The period of the program is 10 ms and that of the hogs 1 s. A woken thread always has the \
earlier deadline and preempts at once.",
    },
    loses: Showcase {
        scenario: "urgent_and_bulk",
        label: "EDF",
        against: "VTIME",
        app: "urgent",
        point: "",
        about: "Both programs have the same period, and weights have no effect. VTIME follows the weights.",
    },
    build: |values, setting| Box::new(Edf::new(&values.into(), setting)),
    example: "On one cpu, task A has a period of 100 ms and B one of 30 ms; the budget is 20 ms. A is created at 0 ms (deadline 100) \
and runs. B wakes at 5 ms with deadline 35, preempts A, needs 10 ms and sleeps at 15 ms. A continues. If B \
wakes at 30 ms, its deadline is 60, and it preempts again. Otherwise the budget of A ends at 30 ms, and its next deadline is 200.",
};

parameters! {
    /// Parameters of `EDF`.
    struct Parameters {
        /// The deadline of a task is this long after it wakes, and the next deadline this long after the last
        /// one. 100 ms is the largest period at which users see no delay.
        period: PerApp<Duration> = ms(100), in us(1)..=s(1000);
        /// Cpu time, up to the next timer tick, after which a task gets its next deadline (the runtime of
        /// SCHED_DEADLINE).
        budget: Duration = ms(20), in LEAST_SLICE..=s(1000);
    }
}

struct Edf {
    budget: Span,
    /// Of each application.
    periods: Vec<i64>,
    servers: Servers,
    queue: DispatchQueue,
    /// The deadline of each task, ns, and what it has used of its budget.
    jobs: Vec<(i64, Span)>,
    used: Used,
}

impl Edf {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        Self {
            budget: Span::from_ns(values.budget.ns()),
            periods: setting.apps.iter().map(|app| values.period.of(&app.name).ns() as i64).collect(),
            servers: Servers::new(setting.machine, setting.machine.cpus()),
            queue: DispatchQueue::default(),
            jobs: Vec::new(),
            used: Used::default(),
        }
    }

    fn period(&self, view: &dyn View, task: TaskId) -> i64 {
        self.periods.get(view.task(task).app.0 as usize).copied().unwrap_or(0)
    }
}

impl Policy for Edf {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let deadline = view.now().ns() as i64 + self.period(view, task);
        self.servers.place(view, task, placement, Some(deadline))
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let (now, period) = (system.now().ns() as i64, self.period(system, task));
        let (deadline, used) = *slot(&mut self.jobs, task);
        let job = match why {
            // A task that yields gives up the rest of its job.
            Enqueue::Created | Enqueue::Woken | Enqueue::Yielded => (now + period, Span::ZERO),
            _ if used >= self.budget => (now.max(deadline).saturating_add(period), Span::ZERO),
            Enqueue::Expired | Enqueue::Preempted => (deadline, used),
        };
        *slot(&mut self.jobs, task) = job;
        if self.servers.takes(task, cpu) {
            return Some(QueueEntry { preempts: true, ..QueueEntry::new(job.0, self.budget - job.1) });
        }
        self.queue.hold(job.0, task);
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let why = Why::rule("dispatched: the earliest deadline");
        self.queue.dispatch(system, cpu, why, |task| self.budget - self.jobs[task.index()].1);
    }

    fn running(&mut self, _: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.servers.set(cpu, Some(slot(&mut self.jobs, task).0));
    }

    fn stopping(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let used = self.used.since(system, task);
        slot(&mut self.jobs, task).1 += used;
        self.servers.set(cpu, None);
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
