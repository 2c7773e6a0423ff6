//! `SJF` and `SRTF`: the shortest job first, or the one with the least time left, over one queue for the
//! whole machine.

use notation::choices;
use notation::declare::{Duration, Percent};
use notation::parameters;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, THROTTLED, Timer, View, Why,
};
use sim_core::time::Span;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::ordering::bursts::Bursts;
use crate::ordering::queue::{DispatchQueue, Servers};
use crate::ordering::{Used, slot};

/// The entry of `SJF` in the registry.
pub(crate) const SJF: Entry = Entry {
    name: "SJF",
    summary: "shortest job first over one queue for the whole machine; a job that runs is not preempted",
    source: "Conway, Maxwell and Miller 1967 (Theory of Scheduling: shortest processing time); estimates \
        as in Silberschatz, Galvin and Gagne, Operating System Concepts, section 5.3.2",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("sjf.md"),
    wins: Showcase { scenario: "job_lengths", label: "SJF", against: "FIFO", app: "short", point: "" },
    loses: Showcase { scenario: "job_lengths", label: "SJF", against: "SRTF", app: "short", point: "" },
    build: &|values, setting| Box::new(Shortest::new(&values.into(), setting, false)),
};

/// The entry of `SRTF` in the registry.
pub(crate) const SRTF: Entry = Entry {
    name: "SRTF",
    summary: "shortest remaining time first: as SJF, and a job that has less left preempts",
    source: "Schrage 1968 (Operations Research 16(3)): it has the least mean turnaround on one cpu; OSTEP \
        calls it STCF",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("srtf.md"),
    wins: Showcase { scenario: "job_lengths", label: "SRTF", against: "SJF", app: "short", point: "" },
    loses: Showcase { scenario: "job_lengths", label: "SRTF", against: "FIFO", app: "long", point: "" },
    build: &|values, setting| Box::new(Shortest::new(&values.into(), setting, true)),
};

choices! {
    /// How a policy knows how long a job takes.
    enum Lengths {
        Known = "known",
        Estimated = "estimated",
    }
}

parameters! {
    /// Parameters of `SJF` and `SRTF`.
    struct Parameters {
        /// `known`: from the program (the mean where lengths vary). `estimated`: by the cpu times between the
        /// last sleeps of the task.
        lengths: Lengths = Lengths::Known;
        /// The part of the last time in an estimate; the rest is the estimate before it.
        recent: Percent = percent(50), in 0..=percent(100);
        /// The estimate of a task that has not slept yet.
        first: Duration = ms(10), in us(1)..=s(1000);
    }
}

/// How long a task runs before it is looked at: one that polls goes behind all others, and one that has
/// begun another job queues again. The tick of a kernel at 100 Hz.
const LOOK: Span = Span::from_ms(10);

/// For how long a task keeps its cpu at least where jobs do not preempt each other, however short it was
/// estimated to be. `RR_TIMESLICE` of Linux.
const TURN: Span = Span::from_ms(100);

/// What a task has left that comes behind all others: half of the range, so that an instant can be added.
const LAST: i64 = i64::MAX / 2;

struct Shortest {
    preempts: bool,
    known: bool,
    recent: u64,
    first: u64,
    bursts: Vec<Bursts>,
    servers: Servers,
    /// In the order of what tasks have left.
    queue: DispatchQueue,
    jobs: Vec<Job>,
    used: Used,
}

/// What is known of a task.
#[derive(Clone, Copy, Default)]
struct Job {
    /// What it has left until it sleeps or ends, ns, and as of when.
    left: i64,
    since: i64,
    /// The work that it had done when it last had a cpu, and when it last woke; how often it has woken.
    done: Span,
    woke: (Span, u64),
    /// It polls for what has not happened, and is behind all others.
    polls: bool,
    /// Its present job is over when it has done or, by estimates, used so much, ns.
    until: u64,
    /// What it used since it woke, ns, and the estimate of such times.
    burst: u64,
    estimate: Option<u64>,
}

impl Shortest {
    fn new(values: &Parameters, setting: &Setting<'_>, preempts: bool) -> Self {
        Self {
            preempts,
            known: values.lengths == Lengths::Known,
            recent: values.recent.hundredths(),
            first: values.first.ns(),
            bursts: setting.apps.iter().map(Bursts::of).collect(),
            servers: Servers::whole(setting.machine),
            queue: DispatchQueue::default(),
            jobs: Vec::new(),
            used: Used::default(),
        }
    }

    /// Sets what a task has left that has no cpu.
    fn measure(&mut self, view: &dyn View, task: TaskId) -> i64 {
        let now = view.now().ns() as i64;
        let (view, first) = (view.task(task), self.first);
        let job = slot(&mut self.jobs, task);
        let left = if self.known {
            let bursts = self.bursts.get(view.app.0 as usize);
            bursts.map_or(u64::MAX, |bursts| bursts.left(view.rank, job.woke.1, (job.done - job.woke.0).ns()))
        } else {
            // One that has run for longer than that is taken to run as long again.
            let estimate = job.estimate.unwrap_or(first);
            if job.burst < estimate { estimate - job.burst } else { job.burst }
        };
        (job.left, job.since) = (left.min(LAST as u64) as i64, now);
        job.left
    }

    /// The task has slept: what it used before counts in its estimate.
    fn wakes(&mut self, task: TaskId) {
        let (recent, first) = (u128::from(self.recent), self.first);
        let job = slot(&mut self.jobs, task);
        job.woke = (job.done, job.woke.1 + 1);
        let burst = u128::from(std::mem::take(&mut job.burst));
        let before = u128::from(job.estimate.unwrap_or(first));
        // Shares are in hundredths of a per cent.
        job.estimate = Some(((burst * recent + before * (10_000 - recent)) / 10_000) as u64);
    }

    /// When a task would end that has the cpu from now on: tasks that run are compared by it.
    fn ends(&mut self, task: TaskId) -> i64 {
        let job = slot(&mut self.jobs, task);
        job.left + job.since
    }

    /// Held tasks that polled, and whose waits are over, have their place by what they have left again.
    fn revive(&mut self, view: &dyn View) {
        let last = self.queue.tasks().rev().take_while(|(left, _)| *left == LAST);
        let over = |(_, task): &(i64, TaskId)| {
            self.jobs[task.index()].polls && !view.task(*task).still_waits(view.now())
        };
        let found: Vec<TaskId> = last.filter(over).map(|(_, task)| task).collect();
        for task in found.into_iter().rev() {
            self.queue.remove(task);
            slot(&mut self.jobs, task).polls = false;
            let left = self.measure(view, task);
            self.queue.hold(left, task);
        }
    }

    /// Gives a cpu the shortest held job that may run there; false without one.
    fn send(&mut self, system: &mut dyn System, cpu: CpuId) -> bool {
        self.revive(system);
        loop {
            let first = self.queue.tasks().find(|(_, task)| system.allowed(*task, cpu));
            let Some((left, task)) = first else { return false };
            self.queue.remove(task);
            slot(&mut self.jobs, task).since = system.now().ns() as i64;
            let why = Why::rule("dispatched: the shortest job").with("left ns", left as u64);
            let entry = QueueEntry::new(self.ends(task), LOOK);
            system.dispatch(task, cpu, entry, why);
            // A throttled one goes along and waits there.
            if system.task(task).priority < THROTTLED {
                return true;
            }
        }
    }
}

impl Policy for Shortest {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        if matches!(placement, Placement::Wake { .. }) {
            self.wakes(task);
        }
        self.measure(view, task);
        let ends = self.ends(task);
        self.servers.place(view, task, placement, self.preempts.then_some(ends))
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let mut left = self.measure(system, task);
        let known = self.known;
        let job = slot(&mut self.jobs, task);
        let spent = if known { job.done.ns() } else { job.burst };
        job.polls = system.task(task).still_waits(system.now());
        // One that preempts may have come at the same instant.
        let alone = !self.preempts || system.nr_running(cpu) <= 1;
        if why == Enqueue::Expired && alone && !job.polls && left < LAST && spent < job.until {
            return Some(QueueEntry::new(self.ends(task), LOOK));
        }
        let turn = if known || self.preempts { Span::ZERO } else { TURN };
        job.until = spent.saturating_add((left as u64).max(turn.ns()));
        if self.servers.takes(task, cpu) {
            let entry = QueueEntry::new(self.ends(task), LOOK);
            return Some(QueueEntry { preempts: self.preempts, ..entry });
        }
        let job = slot(&mut self.jobs, task);
        if job.polls {
            left = LAST;
            job.left = left;
        }
        self.servers.went_back(system, task, why, !self.queue.is_empty());
        self.queue.hold(left, task);
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.send(system, cpu);
    }

    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        while let Some((_, cpu)) = self.servers.fill(system, self.queue.tasks().map(|(_, task)| task)) {
            if !self.send(system, cpu) {
                return;
            }
            self.servers.note(system, cpu);
        }
    }

    fn running(&mut self, _: &mut dyn System, task: TaskId, cpu: CpuId) {
        let ends = self.ends(task);
        self.servers.set(cpu, Some(ends));
    }

    fn stopping(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let used = self.used.since(system, task);
        let done = system.progress(task);
        let job = slot(&mut self.jobs, task);
        job.burst += used.ns();
        job.done = done;
        self.servers.ends(cpu);
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
