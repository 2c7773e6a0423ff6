//! Locks: a task takes one, waits for it, gives it back.
//!
//! A lock of [`LockOrder::Arrival`](crate::lock::LockOrder) is handed over: the release names the next
//! holder and signals it. A lock of `Barging` is free after a release. Polling waiters see the release as
//! they see any flag. The first poll that ends after the flag is visible takes the lock, and clears the flag
//! for all other waiters. Sleeping waiters see nothing: the release wakes one of them if the lock is marked.
//!
//! A release signals waiters that poll without yielding only if they have a cpu; the others check the lock
//! when they get one. It signals all waiters that yield, because their polls are computed without an event
//! for each.
//!
//! The word of a lock is on a cache line ([`crate::sync::Line`]). Who takes the lock or gives it back waits
//! until it has the line, and each release sends the line round all cpus that poll it.

use crate::engine::Engine;
use crate::engine::state::{Activity, Part, Waiting};
use crate::ids::{AppId, CpuId, LockId, TaskId};
use crate::lock::{LockWord, Protocol};
use crate::observe::Observation;
use crate::policy::TaskState;
use crate::sync::Given;
use crate::time::{Span, Time};

impl Engine<'_> {
    /// How long it takes until the cpus that poll the word of a lock have fetched its line, one after the
    /// other. This cpu and the task `next` do not count.
    fn reads_of_pollers(&self, cpu: CpuId, lock: LockId, next: Option<TaskId>) -> Span {
        if !self.shared.locks.rules(lock).polls_its_word() {
            return Span::ZERO;
        }
        let mut reads = Span::ZERO;
        for id in self.shared.locks.waiters(lock) {
            let task = &self.shared.tasks[id];
            let (there, other) = (task.cpu, &self.cpus[task.cpu]);
            let polls = other.current == id && other.activity == Activity::Spin;
            let waits = task.waiting == Waiting::Lock && self.shared.lock_of(task) == lock;
            if polls && waits && there != cpu && next != Some(id) {
                reads += self.shared.machine.signal_latency(cpu, there);
            }
        }
        reads
    }

    /// The current task gives a lock back, and all that poll its word fetch the line.
    fn give_line(&mut self, cpu: CpuId, lock: LockId) {
        let locks = &self.shared.locks;
        // A queued lock is handed over by a store to the word of the next one.
        if locks.rules(lock).word == LockWord::Shared || !locks.has_next(lock) {
            let reads = self.reads_of_pollers(cpu, lock, None);
            let wait = self.shared.write_word(&self.cpus[cpu], lock, reads);
            self.cpus[cpu].pend(Part::Lock, wait);
        }
    }

    /// The current task takes a lock of its program (true) or begins to wait for it.
    pub(crate) fn lock(&mut self, cpu: CpuId, own: LockId) -> bool {
        let id = self.cpus[cpu].current;
        let app = self.shared.tasks[id].app();
        let record = &mut self.shared.apps[app];
        let lock = record.lock(own);
        if self.shared.locks.take(lock, id) {
            record.counters.locks += 1;
            self.shared.tasks[id].pc += 1;
            self.shared.take_line(&mut self.cpus[cpu], lock);
            self.withdraw(cpu, app, lock);
            if self.lock_raises(lock) {
                self.raise(id);
            }
            return true;
        }
        self.shared.write_word(&self.cpus[cpu], lock, Span::ZERO);
        self.shared.emit_running(&mut self.cpus[cpu]);
        self.shared.observe(Observation::LockAwaited { task: id, lock: own });
        if self.lock_raises(lock) {
            self.await_raising(id, lock);
        }
        self.begin_wait(cpu, Waiting::Lock, Time::NEVER);
        false
    }

    /// The current task gives a lock of its program back.
    pub(crate) fn unlock(&mut self, cpu: CpuId, own: LockId) {
        let id = self.cpus[cpu].current;
        let app = self.shared.tasks[id].app();
        let lock = self.shared.apps[app].lock(own);
        self.give_line(cpu, lock);
        let at = (self.cpus[cpu].cursor(self.shared.now), cpu);
        let given = self.shared.locks.give(lock, id, at);
        let raises = self.lock_raises(lock);
        // The kernel lowers who inherited before it wakes the next one, glibc who was at the ceiling after
        // that.
        let first = raises && self.shared.locks.rules(lock).protocol == Protocol::Inherits;
        if first {
            self.raise(id);
        }
        match given {
            Given::Nothing => {}
            Given::To(next) => {
                // On average, half of the other pollers fetch the line first.
                let before = Span::from_ns(self.reads_of_pollers(cpu, lock, Some(next)).ns() / 2);
                let visible = self.shared.visible(&self.cpus[cpu], next) + before;
                self.signal(cpu, next, Some(visible));
            }
            Given::Free(sleeper) => {
                self.tell_pollers(cpu, app, lock);
                if let Some(sleeper) = sleeper {
                    self.signal(cpu, sleeper, None);
                }
            }
        }
        if raises && !first {
            self.raise(id);
        }
    }

    /// A lock is free: polling waiters see it. A waiter without a cpu that does not yield checks the lock
    /// when it gets a cpu.
    fn tell_pollers(&mut self, cpu: CpuId, app: AppId, lock: LockId) {
        self.shared.note_waiters(app, lock);
        let yields = self.shared.locks.rules(lock).yields();
        let mut pollers = std::mem::take(self.shared.locks.pollers(lock));
        pollers.retain(|id| {
            let id = *id;
            let tell = yields || self.shared.tasks[id].state == TaskState::Running;
            if tell {
                self.signal(cpu, id, None);
            } else {
                self.shared.tasks[id].history.lock.listed = false;
            }
            tell
        });
        *self.shared.locks.pollers(lock) = pollers;
    }

    /// A lock has been taken: polling waiters no longer see it free.
    fn withdraw(&mut self, cpu: CpuId, app: AppId, lock: LockId) {
        self.shared.note_waiters(app, lock);
        let pollers = std::mem::take(self.shared.locks.pollers(lock));
        for id in &pollers {
            let task = &mut self.shared.tasks[*id];
            if task.ready().is_never() {
                continue;
            }
            let (there, deadline) = (task.cpu, task.history.lock.deadline);
            task.look(Time::NEVER, deadline);
            self.shared.watch.note(there);
            let polling = matches!(self.cpus[there].activity, Activity::Poll | Activity::Spin);
            if there != cpu && polling {
                self.shared.rounds.mark(there);
            }
        }
        *self.shared.locks.pollers(lock) = pollers;
    }

    /// The current task, which has waited for a lock, has got it.
    pub(crate) fn obtain(&mut self, cpu: CpuId) {
        let id = self.cpus[cpu].current;
        let task = &self.shared.tasks[id];
        let (app, waiter) = (task.app(), task.history.lock);
        let lock = self.shared.lock_of(task);
        let waited = self.shared.now.since(waiter.since);
        let record = &mut self.shared.apps[app];
        let own = record.own_lock(lock);
        record.counters.locks += 1;
        record.counters.lock_waits += 1;
        record.counters.lock_wait_ns += waited.ns();
        if self.shared.locks.rules(lock).barges() {
            self.shared.locks.seize(lock, id, waiter.announced);
            self.shared.take_line(&mut self.cpus[cpu], lock);
            self.withdraw(cpu, app, lock);
        }
        self.shared.report_polling(&mut self.cpus[cpu]);
        self.shared.observe(Observation::LockObtained { task: id, lock: own });
    }
}
