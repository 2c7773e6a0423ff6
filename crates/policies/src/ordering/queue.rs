//! A dispatch queue: tasks that a policy holds until a cpu needs one, and the cpus that need one.
//!
//! Several cpus serve one queue. A task for which a cpu is idle, or which preempts, does not wait in it.

use std::collections::BTreeSet;

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::{Division, Machine};
use sim_core::policy::{CpuChoice, Enqueue, Placement, QueueEntry, System, THROTTLED, Timer, View, Why};
use sim_core::time::Span;

use crate::queues::Queues;
use crate::spread::first_allowed;

/// The tasks that a policy holds, in the order of keys; of equal keys the first come.
#[derive(Default)]
pub(super) struct DispatchQueue {
    tasks: BTreeSet<(i64, i64, TaskId)>,
    entries: i64,
}

impl DispatchQueue {
    pub(super) fn hold(&mut self, key: i64, task: TaskId) {
        self.entries += 1;
        self.tasks.insert((key, self.entries, task));
    }

    /// Holds a task before its equals: it had a cpu and was preempted.
    pub(super) fn hold_first(&mut self, key: i64, task: TaskId) {
        self.entries += 1;
        self.tasks.insert((key, -self.entries, task));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The held tasks with their keys, the first one first.
    pub(super) fn tasks(&self) -> impl DoubleEndedIterator<Item = (i64, TaskId)> + '_ {
        self.tasks.iter().map(|(key, _, task)| (*key, *task))
    }

    /// All held tasks, which it then no longer has.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = (i64, TaskId)> + use<> {
        std::mem::take(&mut self.tasks).into_iter().map(|(key, _, task)| (key, task))
    }

    /// True when it had this task, which it then no longer has.
    pub(super) fn remove(&mut self, task: TaskId) -> bool {
        let found = self.tasks.iter().find(|(_, _, held)| *held == task).copied();
        found.is_some_and(|found| self.tasks.remove(&found))
    }

    /// Gives idle cpus the held tasks that they may run ([`FILL`]).
    pub(super) fn fill(
        &mut self,
        system: &mut dyn System,
        servers: &mut Servers,
        why: Why,
        slice: impl Fn(TaskId) -> Span,
    ) {
        while let Some((_, cpu)) = servers.fill(system, self.tasks().map(|(_, task)| task)) {
            if !self.dispatch(system, cpu, why, &slice) {
                return;
            }
            servers.note(system, cpu);
        }
    }

    /// Gives a cpu the first task that may run there, with its slice; false without one.
    pub(super) fn dispatch(
        &mut self,
        system: &mut dyn System,
        cpu: CpuId,
        why: Why,
        slice: impl Fn(TaskId) -> Span,
    ) -> bool {
        loop {
            let first = self.tasks.iter().find(|(.., task)| system.allowed(*task, cpu)).copied();
            let Some(first) = first else { return false };
            let why = why.with("tasks held", self.tasks.len() as u64);
            self.tasks.remove(&first);
            let (key, _, task) = first;
            system.dispatch(task, cpu, QueueEntry::new(key, slice(task)), why);
            // A throttled one goes along and waits there.
            if system.task(task).priority < THROTTLED {
                return true;
            }
        }
    }
}

/// The cpus that serve a dispatch queue: which are idle, and with which keys the others run. A task counts
/// from the instant at which it is placed.
pub(super) struct Servers {
    idle: Queues,
    /// A cpu that goes idle takes held tasks of the part that it is in.
    reach: Division,
    running: BTreeSet<(i64, CpuId)>,
    keys: Vec<Option<i64>>,
    /// The task that was placed on an idle cpu, or on one where it preempts, and the cpu.
    direct: Option<(TaskId, CpuId)>,
}

/// The timer at which idle cpus take held tasks. Policies use smaller numbers for their own timers.
pub(super) const FILL: Timer = Timer::Token(1 << 32);

impl Servers {
    /// The cpus of a machine; those of a group are near each other.
    pub(super) fn new(machine: &Machine, groups: Division) -> Self {
        let cpus = machine.cpus();
        let keys = vec![None; cpus as usize];
        let idle = Queues::by(cpus, groups);
        Self { idle, reach: Division::equal(cpus, cpus), running: BTreeSet::new(), keys, direct: None }
    }

    /// The cpus of a machine, all near each other.
    pub(super) fn whole(machine: &Machine) -> Self {
        Self::new(machine, Division::equal(machine.cpus(), machine.cpus()))
    }

    /// The same where a cpu that goes idle takes held tasks only of the part that it is in.
    pub(super) fn within(self, reach: Division) -> Self {
        Self { reach, ..self }
    }

    /// The queue of a cpu has changed.
    pub(super) fn note(&mut self, view: &dyn View, cpu: CpuId) {
        self.idle.note(view, cpu);
        if view.nr_running(cpu) == 0 {
            self.ends(cpu);
        }
    }

    /// A cpu no longer runs the task that it ran. One that has just been placed there keeps its key.
    pub(super) fn ends(&mut self, cpu: CpuId) {
        if self.direct.is_none_or(|(_, sent)| sent != cpu) {
            self.set(cpu, None);
        }
    }

    /// A task that had a cpu is about to be held again, behind `others` or not. If another cpu is idle,
    /// [`FILL`]
    /// fires at this instant: the task lost its cpu to one that was placed before that cpu became idle, or
    /// the task that has the cpu next may not run on the idle one.
    pub(super) fn went_back(&mut self, system: &mut dyn System, task: TaskId, why: Enqueue, others: bool) {
        let displaced = match why {
            Enqueue::Created | Enqueue::Woken => false,
            Enqueue::Preempted => true,
            Enqueue::Expired | Enqueue::Yielded => others,
        };
        if displaced && self.idle_for(system, task).is_some() {
            system.at(system.now(), FILL);
        }
    }

    /// An idle cpu on which a task may run, the nearest to its last one.
    fn idle_for(&mut self, view: &dyn View, task: TaskId) -> Option<CpuId> {
        self.idle.refresh(view);
        let near = view.task(task).cpu;
        self.idle.idle_from(self.reach.around(near), near.0, |cpu| view.allowed(task, cpu))
    }

    /// The first of these held tasks that an idle cpu may run, and the cpu.
    pub(super) fn fill(
        &mut self,
        view: &dyn View,
        mut held: impl Iterator<Item = TaskId>,
    ) -> Option<(TaskId, CpuId)> {
        held.find_map(|task| self.idle_for(view, task).map(|cpu| (task, cpu)))
    }

    /// A cpu runs a task with this key, or none.
    pub(super) fn set(&mut self, cpu: CpuId, key: Option<i64>) {
        let before = std::mem::replace(&mut self.keys[cpu.0 as usize], key);
        if let Some(before) = before {
            self.running.remove(&(before, cpu));
        }
        if let Some(key) = key {
            self.running.insert((key, cpu));
        }
    }

    /// A cpu for a created or woken task: its last one if it is idle, else an idle one of the same group,
    /// else any idle one, else, for a task with a key that preempts, the one that runs the largest key, else
    /// its last one.
    pub(super) fn place(
        &mut self,
        view: &dyn View,
        task: TaskId,
        placement: Placement,
        preempts: Option<i64>,
    ) -> CpuChoice {
        self.idle.refresh(view);
        let (Placement::Fork { parent: near } | Placement::Wake { previous: near, .. }) = placement;
        let fits = |cpu: CpuId| view.allowed(task, cpu);
        let sent = |servers: &mut Self, cpu: CpuId, rule: &'static str| {
            servers.direct = Some((task, cpu));
            servers.set(cpu, preempts);
            CpuChoice::new(cpu, Why::rule(rule))
        };
        if view.nr_running(near) == 0 && fits(near) {
            return sent(self, near, "placed: its last cpu is idle");
        }
        let cpus = view.machine().cpus();
        if let Some(cpu) = self.idle.idle_from(self.idle.near(near), near.0, fits) {
            return sent(self, cpu, "placed: an idle cpu of the same group");
        }
        if let Some(cpu) = self.idle.idle_from(0..cpus, near.0, fits) {
            return sent(self, cpu, "placed: an idle cpu");
        }
        let worst = preempts.and_then(|key| {
            self.running.iter().rev().find(|(other, cpu)| *other > key && fits(*cpu)).copied()
        });
        if let Some((_, cpu)) = worst {
            return sent(self, cpu, "placed: it preempts the task that would run last");
        }
        self.direct = None;
        let cpu = if fits(near) { near } else { first_allowed(view, task) };
        CpuChoice::new(cpu, Why::rule("placed: no cpu is idle, waits in the dispatch queue"))
    }

    /// True when `place` has just sent this task to a cpu that is idle or where it preempts.
    pub(super) fn sends(&self, task: TaskId) -> bool {
        self.direct.is_some_and(|(sent, _)| sent == task)
    }

    /// True when `place` has just sent this task to this cpu, which is idle or where it preempts.
    pub(super) fn takes(&mut self, task: TaskId, cpu: CpuId) -> bool {
        self.direct.take() == Some((task, cpu))
    }
}
