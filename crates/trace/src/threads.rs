//! What every thread does, as a stream: it has a cpu, polls, waits in a queue, or sleeps, and for what.
//!
//! The stays of a thread come in order, without gaps or overlaps, from its creation to its end.

use sim_core::ids::{CpuId, Id, LockId, TaskId};
use sim_core::observe::{LeaveReason, Observation, Observer, Sleep};
use sim_core::policy::{Action, Decision, THROTTLED};
use sim_core::program::{AppSpec, Objects};
use sim_core::time::Time;

use crate::slices::Owners;
use crate::ways::Ways;

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Doing {
    /// It has this cpu and work to do.
    Runs(CpuId),
    /// It waits by polling: alone on this cpu, or in turns with others that yield.
    Polls(CpuId, Option<LockId>),
    /// It waits in the queue of this cpu.
    Queued(CpuId),
    /// It sleeps.
    Sleeps(Sleep),
}

/// A stretch of time in which a thread does one thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// Thread.
    pub task: TaskId,
    /// From this instant.
    pub from: Time,
    /// To this one; later than `from`.
    pub to: Time,
    /// What it does.
    pub doing: Doing,
}

/// Takes in stays and wake-ups.
pub trait Watcher {
    /// A stay that has ended.
    fn stay(&mut self, stay: &Stay);
    /// A thread that slept for this becomes runnable. Without a waker no thread has woken it, but a timer, a
    /// device, or a request from outside.
    fn woken(&mut self, at: Time, waker: Option<TaskId>, task: TaskId, what: Sleep) {
        let _ = (at, waker, task, what);
    }
}

/// What is known of a thread.
#[derive(Clone, Copy, Debug)]
struct Thread {
    /// What it does, and since when; none: it does not exist.
    open: Option<(Doing, Time)>,
    /// The cpu whose queue it is in or that it has.
    on: Option<CpuId>,
    /// It began to wait by polling and has not gone on, or it is new.
    polls: bool,
    sleeps: Option<Sleep>,
    /// The lock that it waits for.
    lock: Option<LockId>,
    waker: Option<TaskId>,
    /// Its priority level.
    level: u8,
}

/// What is known of a cpu.
#[derive(Clone, Debug, Default)]
struct Cpu {
    /// Who has work there.
    works: Option<TaskId>,
    /// Who was the last to get the cpu or to begin to wait there.
    last: Option<TaskId>,
    /// All that are runnable there, in order of their numbers.
    members: Vec<TaskId>,
}

/// Turns the observations of a run into the stays of its threads.
#[derive(Debug)]
pub struct Threads<W> {
    owners: Owners,
    ways: Vec<Ways>,
    threads: Vec<Thread>,
    cpus: Vec<Cpu>,
    now: Time,
    watcher: W,
}

impl<W: Watcher> Threads<W> {
    /// For a run of these applications on so many cpus.
    #[must_use]
    pub fn new(cpus: u32, apps: &[AppSpec], objects: &Objects, watcher: W) -> Self {
        let owners = Owners::new(apps.iter().map(|app| app.tasks));
        let thread =
            Thread { open: None, on: None, polls: false, sleeps: None, lock: None, waker: None, level: 0 };
        Self {
            threads: vec![thread; owners.tasks() as usize],
            ways: apps.iter().map(|app| Ways::new(app, objects)).collect(),
            cpus: vec![Cpu::default(); cpus as usize],
            owners,
            now: Time::ZERO,
            watcher,
        }
    }

    /// The run is over at this instant: the last stay of every thread goes to the watcher, which is given
    /// back.
    #[must_use]
    pub fn finish(mut self, at: Time) -> W {
        for task in 0..self.threads.len() {
            let task = TaskId(task as u32);
            self.becomes(at.max(self.now), task, None);
        }
        self.watcher
    }

    /// What is seen so far.
    pub const fn watcher(&mut self) -> &mut W {
        &mut self.watcher
    }

    /// What a thread does now; none: it does not exist.
    #[must_use]
    pub fn doing(&self, task: TaskId) -> Option<Doing> {
        self.threads.get(task.index())?.open.map(|(doing, _)| doing)
    }

    /// True for a thread that has nothing to do but to poll when it has a cpu.
    #[must_use]
    pub fn only_polls(&self, task: TaskId) -> bool {
        self.threads.get(task.index()).is_some_and(|thread| thread.polls)
    }

    /// The lock that a thread waits for.
    #[must_use]
    pub fn awaits(&self, task: TaskId) -> Option<LockId> {
        self.threads.get(task.index())?.lock
    }

    /// The threads that are runnable on a cpu, in order of their numbers.
    #[must_use]
    pub fn runnable(&self, cpu: CpuId) -> &[TaskId] {
        self.cpus.get(cpu.index()).map_or(&[], |cpu| &cpu.members)
    }

    fn becomes(&mut self, at: Time, task: TaskId, doing: Option<Doing>) {
        let Some(thread) = self.threads.get_mut(task.index()) else { return };
        if thread.open.map(|(open, _)| open) == doing {
            return;
        }
        if let Some((open, from)) = std::mem::replace(&mut thread.open, doing.map(|doing| (doing, at)))
            && at > from
        {
            self.watcher.stay(&Stay { task, from, to: at, doing: open });
        }
    }

    fn goes_to(&mut self, task: TaskId, on: Option<CpuId>) {
        let Some(thread) = self.threads.get_mut(task.index()) else { return };
        if let Some(before) = std::mem::replace(&mut thread.on, on)
            && let Some(cpu) = self.cpus.get_mut(before.index())
        {
            if cpu.works == Some(task) {
                cpu.works = None;
            }
            if let Ok(place) = cpu.members.binary_search(&task) {
                cpu.members.remove(place);
            }
        }
        if let Some(cpu) = on.and_then(|on| self.cpus.get_mut(on.index()))
            && let Err(place) = cpu.members.binary_search(&task)
        {
            cpu.members.insert(place, task);
        }
    }

    /// Who of those that wait on a cpu by polling has it: one of them, or all of the best level in turns.
    fn polls(&self, cpu: &Cpu, task: TaskId) -> bool {
        let thread = |task: &TaskId| self.threads.get(task.index());
        let level = |task: &TaskId| thread(task).map_or(THROTTLED, |thread| thread.level);
        let waits = |task: &TaskId| thread(task).is_some_and(|thread| thread.polls);
        let yields = |task: TaskId| {
            let lock = thread(&task).and_then(|thread| thread.lock);
            self.ways.get(self.owners.app(task).index()).is_some_and(|ways| ways.yields(lock))
        };
        if let Some(last) = cpu.last.filter(|last| cpu.members.binary_search(last).is_ok() && waits(last))
            && !yields(last)
        {
            return last == task;
        }
        let best = cpu.members.iter().filter(|task| waits(task)).map(level).min();
        level(&task) != THROTTLED && Some(level(&task)) == best
    }

    fn does(&self, task: TaskId) -> Option<Doing> {
        let thread = self.threads.get(task.index())?;
        if let Some(what) = thread.sleeps {
            return Some(Doing::Sleeps(what));
        }
        let on = thread.on?;
        let cpu = self.cpus.get(on.index())?;
        Some(match cpu.works {
            Some(works) if works == task => Doing::Runs(on),
            None if thread.polls && self.polls(cpu, task) => Doing::Polls(on, thread.lock),
            _ => Doing::Queued(on),
        })
    }

    /// Something has changed on a cpu.
    fn look(&mut self, at: Time, on: CpuId) {
        let count = self.cpus.get(on.index()).map_or(0, |cpu| cpu.members.len());
        for place in 0..count {
            let task = self.cpus[on.index()].members[place];
            let does = self.does(task);
            self.becomes(at, task, does);
        }
    }

    fn runnable_on(&mut self, at: Time, task: TaskId, cpu: CpuId) {
        let Some(thread) = self.threads.get_mut(task.index()) else { return };
        // A new thread may have to wait for the others of its application before it has any work.
        thread.polls |= thread.open.is_none();
        let waker = thread.waker.take();
        if let Some(what) = thread.sleeps.take() {
            self.watcher.woken(at, waker, task, what);
        }
        self.goes_to(task, Some(cpu));
        self.look(at, cpu);
    }

    fn stopping(&mut self, at: Time, task: TaskId, on: CpuId, reason: LeaveReason) {
        if let Some(cpu) = self.cpus.get_mut(on.index()) {
            cpu.works = None;
            if reason == LeaveReason::Waits {
                cpu.last = Some(task);
            }
        }
        let Some(thread) = self.threads.get_mut(task.index()) else { return };
        match reason {
            LeaveReason::Waits => thread.polls = true,
            // What for is told next.
            LeaveReason::Slept => thread.sleeps = Some(Sleep::Timer),
            LeaveReason::Exited => {
                (thread.lock, thread.polls) = (None, false);
                self.becomes(at, task, None);
            }
            LeaveReason::Preempted | LeaveReason::Moved => {}
        }
        if matches!(reason, LeaveReason::Slept | LeaveReason::Exited) {
            self.goes_to(task, None);
        }
        self.look(at, on);
    }
}

impl<W: Watcher> Observer for Threads<W> {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.now = at;
        match *what {
            Observation::Runnable { task, cpu } => self.runnable_on(at, task, cpu),
            Observation::Running { task, cpu } => {
                if let Some(thread) = self.threads.get_mut(task.index()) {
                    thread.polls = false;
                }
                self.goes_to(task, Some(cpu));
                if let Some(cpu) = self.cpus.get_mut(cpu.index()) {
                    (cpu.works, cpu.last) = (Some(task), Some(task));
                }
                self.look(at, cpu);
            }
            Observation::Stopping { task, cpu, reason } => self.stopping(at, task, cpu, reason),
            Observation::Migrated { task, from, .. } => {
                self.goes_to(task, None);
                self.look(at, from);
            }
            Observation::LockAwaited { task, lock } => {
                if let Some(thread) = self.threads.get_mut(task.index()) {
                    thread.lock = Some(lock);
                }
            }
            Observation::LockObtained { task, .. } => {
                let Some(thread) = self.threads.get_mut(task.index()) else { return };
                thread.lock = None;
                if let Some(on) = thread.on {
                    self.look(at, on);
                }
            }
            Observation::AppStarted(_)
            | Observation::AppExited(_)
            | Observation::Polled { .. }
            | Observation::Arrived { .. }
            | Observation::Released { .. } => {}
        }
    }

    fn decided(&mut self, at: Time, decision: &Decision) {
        if let (Action::PrioritySet(level), Some(task)) = (&decision.action, decision.task)
            && let Some(thread) = self.threads.get_mut(task.index())
        {
            thread.level = *level;
            if let Some(on) = thread.on {
                self.look(at, on);
            }
        }
    }

    fn wants_dispatches(&self) -> bool {
        true
    }

    fn dispatched(&mut self, at: Time, task: TaskId, cpu: CpuId, _: sim_core::time::Span) {
        if let Some(record) = self.cpus.get_mut(cpu.index()) {
            record.last = Some(task);
        }
        self.look(at, cpu);
    }

    fn wants_sleeps(&self) -> bool {
        true
    }

    fn slept(&mut self, at: Time, task: TaskId, what: Sleep) {
        let Some(thread) = self.threads.get_mut(task.index()) else { return };
        thread.sleeps = Some(what);
        // When it wakes it looks whether its wait is over.
        thread.polls = !matches!(what, Sleep::Timer | Sleep::Device(_) | Sleep::Command);
        // Of one that polled nothing else is told.
        let on = thread.on;
        self.goes_to(task, None);
        self.becomes(at, task, Some(Doing::Sleeps(what)));
        if let Some(on) = on {
            self.look(at, on);
        }
    }

    fn wakes(&mut self, _: Time, waker: TaskId, task: TaskId) {
        if let Some(thread) = self.threads.get_mut(task.index()) {
            thread.waker = Some(waker);
        }
    }
}
