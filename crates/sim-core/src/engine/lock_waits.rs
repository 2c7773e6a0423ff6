//! Waits for locks: what a waiter sees of its lock, when it sleeps, and the word of the lock.

use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, LockWaiter, Part, Waiting};
use crate::ids::{AppId, CpuId, LockId, TaskId};
use crate::time::{Span, Time};

impl Shared<'_> {
    /// The end of a spin limit that begins at an instant. One that the run does not reach is not predicted:
    /// it may be years away.
    pub(crate) fn deadline(&self, from: Time, limit: Option<Span>) -> Time {
        let end = limit.map(|limit| from.saturating_add(limit));
        end.filter(|end| *end <= self.options.horizon).unwrap_or(Time::NEVER)
    }

    /// A task begins to wait for a lock.
    pub(crate) fn await_lock(&mut self, id: TaskId, deadline: Time) {
        let task = &self.tasks[id];
        let app = task.app();
        let lock = self.apps[app].lock_of(task);
        let app = &mut self.apps[app];
        let (rank, rules) = (app.rank(id), app.locks.rules);
        // A waiter that does not poll first marks the lock at its first look.
        let announced = rules.sleeps_after() == Some(0);
        let listed = rules.barges();
        if listed {
            app.locks.pollers(lock.0).push(rank);
        }
        self.tasks[id].history.lock =
            LockWaiter { since: self.now, deadline, announced, listed, slept: false };
    }

    /// A lock that is not handed over has been taken or given back: the waits for it end at other instants.
    pub(super) fn note_waiters(&mut self, app: AppId, lock: LockId) {
        if !self.watch.is_watching() || !self.apps[app].locks.rules.barges() {
            return;
        }
        for id in (0..self.apps[app].tasks).map(|rank| self.apps[app].task(rank)) {
            let task = &self.tasks[id];
            if task.waiting == Waiting::Lock && self.apps[app].lock_of(task) == lock {
                self.watch.note(task.cpu);
            }
        }
    }

    /// The current task of a cpu has just got the cpu and waits for a lock that is not handed over: it checks
    /// the lock itself from now on.
    pub(crate) fn look_at_lock(&mut self, cpu: CpuId, id: TaskId, from: Time) {
        let task = &self.tasks[id];
        let app = task.app();
        let lock = self.apps[app].lock_of(task);
        let rules = self.apps[app].locks.rules;
        if !rules.barges() || rules.yields() {
            return;
        }
        debug_assert!(task.cpu == cpu, "{id} looks on {cpu} and belongs to {}", task.cpu);
        let again = matches!(rules.wait, crate::lock::LockWait::Sleep { again: true, .. });
        let limit = if again && task.history.lock.slept {
            self.apps[app].lock_spin_limit(self.machine.costs.poll)
        } else {
            None
        };
        let ready = self.apps[app].wait_ends(&self.machine, &self.tasks[id]);
        let deadline = limit.map(|limit| self.deadline(from, Some(limit)));
        let waiter = &mut self.tasks[id].history.lock;
        waiter.slept = false;
        waiter.deadline = deadline.unwrap_or(waiter.deadline);
        if !std::mem::replace(&mut waiter.listed, true) {
            let app = &mut self.apps[app];
            let rank = app.rank(id);
            app.locks.pollers(lock.0).push(rank);
        }
        let deadline = waiter.deadline;
        self.tasks[id].look(ready, deadline);
        self.watch.note(cpu);
    }

    /// The current task writes the word of a lock after its pending overhead, and other cpus then fetch its
    /// line within `reads`. Returns how long it waits for the line; no time where waiters make a system call
    /// between two polls.
    pub(super) fn write_word(&mut self, record: &Cpu, app: AppId, lock: LockId, reads: Span) -> Span {
        let locks = &mut self.apps[app].locks;
        if locks.rules.yields() {
            return Span::ZERO;
        }
        let latency = |had| self.machine.signal_latency(had, record.id);
        locks.line(lock.0).write(record.cursor(self.now), record.id, latency, reads)
    }

    /// The current task takes the line of a lock that it has got.
    pub(super) fn take_line(&mut self, record: &mut Cpu, app: AppId, lock: LockId) {
        let wait = self.write_word(record, app, lock, Span::ZERO);
        record.pend(Part::Lock, wait);
    }

    /// The current task has polled for a lock as long as it does, and marks the lock before it sleeps.
    pub(crate) fn announce_sleep(&mut self, record: &Cpu) {
        let task = &self.tasks[record.current];
        let app = task.app();
        let lock = self.apps[app].lock_of(task);
        let locks = &mut self.apps[app].locks;
        if locks.rules.barges() {
            locks.announce(lock.0);
            self.write_word(record, app, lock, Span::ZERO);
            self.tasks[record.current].history.lock.announced = true;
        }
    }

    /// The current task is in the kernel in order to sleep until what it waits for happens: true when it
    /// does. The kernel looks whether a lock that is not handed over still has its mark (`futex_wait_setup`).
    pub(crate) fn falls_asleep(&mut self, id: TaskId) -> bool {
        let task = &mut self.tasks[id];
        let unready = task.ready().is_never();
        if task.waiting != Waiting::Lock {
            return unready;
        }
        let app = &mut self.apps[task.app()];
        let (lock, rank) = (app.lock_of(task), app.rank(id));
        let mut sleeps = unready;
        if app.locks.rules.barges() {
            sleeps = unready && app.locks.sleep(lock.0, rank);
            let waiter = &mut task.history.lock;
            waiter.slept = true;
            waiter.listed &= !sleeps;
        }
        app.counters.lock_sleeps += u64::from(sleeps);
        sleeps
    }
}
