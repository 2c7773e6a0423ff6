//! Waits for locks: what a waiter sees of its lock, when it sleeps, and the word of the lock.

use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, LockWaiter, Part, Task, Waiting};
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
        let lock = self.lock_of(&self.tasks[id]);
        let rules = self.locks.rules(lock);
        // A waiter that does not poll first marks the lock at its first look.
        let announced = rules.sleeps_after() == Some(0);
        let listed = rules.barges();
        if listed {
            self.locks.pollers(lock).push(id);
        }
        self.tasks[id].history.lock =
            LockWaiter { since: self.now, deadline, announced, listed, slept: false };
    }

    /// The lock of the run that a task waits for or comes to.
    pub(crate) fn lock_of(&self, task: &Task) -> LockId {
        self.apps[task.app()].lock_of(task)
    }

    /// When what a waiting task waits for is visible to it, as far as is known: of a lock that is not handed
    /// over, when it could see that the lock is free.
    pub(crate) fn wait_ends(&self, task: &Task) -> Time {
        if task.waiting != Waiting::Lock {
            return task.ready();
        }
        let lock = self.lock_of(task);
        let rules = self.locks.rules(lock);
        if !rules.barges() || rules.yields() {
            return task.ready();
        }
        let free = self.locks.free(lock);
        free.map_or(Time::NEVER, |(at, there)| at + self.machine.signal_latency(there, task.cpu))
    }

    /// A lock that is not handed over has been taken or given back by a task of an application: the waits for
    /// it end at other instants.
    pub(super) fn note_waiters(&mut self, app: AppId, lock: LockId) {
        if !self.watch.is_watching() || !self.locks.rules(lock).barges() {
            return;
        }
        let app = &self.apps[app];
        let (first, tasks) =
            if app.named_locks { (0, self.tasks.len() as u32) } else { (app.first.0, app.tasks) };
        for id in (first..first + tasks).map(TaskId) {
            let task = &self.tasks[id];
            if task.waiting == Waiting::Lock && self.lock_of(task) == lock {
                self.watch.note(task.cpu);
            }
        }
    }

    /// The current task of a cpu has just got the cpu and waits for a lock that is not handed over: it checks
    /// the lock itself from now on.
    pub(crate) fn look_at_lock(&mut self, cpu: CpuId, id: TaskId, from: Time) {
        let task = &self.tasks[id];
        let lock = self.lock_of(task);
        let rules = self.locks.rules(lock);
        if !rules.barges() || rules.yields() {
            return;
        }
        debug_assert!(task.cpu == cpu, "{id} looks on {cpu} and belongs to {}", task.cpu);
        let again = matches!(rules.wait, crate::lock::LockWait::Sleep { again: true, .. });
        let limit =
            if again && task.history.lock.slept { rules.spin_limit(self.machine.costs.poll) } else { None };
        let ready = self.wait_ends(&self.tasks[id]);
        let deadline = limit.map(|limit| self.deadline(from, Some(limit)));
        let waiter = &mut self.tasks[id].history.lock;
        waiter.slept = false;
        waiter.deadline = deadline.unwrap_or(waiter.deadline);
        if !std::mem::replace(&mut waiter.listed, true) {
            self.locks.pollers(lock).push(id);
        }
        let deadline = waiter.deadline;
        self.tasks[id].look(ready, deadline);
        self.watch.note(cpu);
    }

    /// The current task writes the word of a lock after its pending overhead, and other cpus then fetch its
    /// line within `reads`. Returns how long it waits for the line; no time where waiters make a system call
    /// between two polls.
    pub(super) fn write_word(&mut self, record: &Cpu, lock: LockId, reads: Span) -> Span {
        if self.locks.rules(lock).yields() {
            return Span::ZERO;
        }
        let latency = |had| self.machine.signal_latency(had, record.id);
        self.locks.line(lock).write(record.cursor(self.now), record.id, latency, reads)
    }

    /// The current task takes the line of a lock that it has got.
    pub(super) fn take_line(&mut self, record: &mut Cpu, lock: LockId) {
        let wait = self.write_word(record, lock, Span::ZERO);
        record.pend(Part::Lock, wait);
    }

    /// The current task has polled for a lock as long as it does, and marks the lock before it sleeps.
    pub(crate) fn announce_sleep(&mut self, record: &Cpu) {
        let lock = self.lock_of(&self.tasks[record.current]);
        if self.locks.rules(lock).barges() {
            self.locks.announce(lock);
            self.write_word(record, lock, Span::ZERO);
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
        let lock = app.lock_of(task);
        let mut sleeps = unready;
        if self.locks.rules(lock).barges() {
            sleeps = unready && self.locks.sleep(lock, id);
            let waiter = &mut task.history.lock;
            waiter.slept = true;
            waiter.listed &= !sleeps;
        }
        app.counters.lock_sleeps += u64::from(sleeps);
        sleeps
    }
}
