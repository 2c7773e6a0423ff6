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
use crate::engine::shared::Shared;
use crate::engine::state::{Activity, LockWaiter, Part, Task, Waiting};
use crate::ids::{AppId, CpuId, LockId, TaskId};
use crate::lock::LockWord;
use crate::observe::Observation;
use crate::policy::TaskState;
use crate::program::Op;
use crate::sync::Given;
use crate::time::{Span, Time};

impl Shared<'_> {
    /// How long a task of an application polls for a lock before it sleeps.
    pub(crate) fn lock_spin_limit(&self, app: AppId) -> Option<Span> {
        let spins = self.apps[app].locks.rules.sleeps_after()?;
        Some(Span::from_ns(self.machine.costs.poll.ns().saturating_mul(spins)))
    }

    /// The end of a spin limit that begins at an instant. One that the run does not reach is not predicted:
    /// it may be years away.
    pub(crate) fn deadline(&self, from: Time, limit: Option<Span>) -> Time {
        let end = limit.map(|limit| from.saturating_add(limit));
        end.filter(|end| *end <= self.options.horizon).unwrap_or(Time::NEVER)
    }

    /// The lock that a task waits for or comes to.
    fn lock_of(&self, task: &Task) -> LockId {
        match self.apps[task.app()].program.ops().get(usize::from(task.pc)) {
            Some(Op::Lock(lock)) => *lock,
            _ => unreachable!("a task waits for a lock and is at no such operation"),
        }
    }

    /// A task begins to wait for a lock.
    pub(crate) fn await_lock(&mut self, id: TaskId, deadline: Time) {
        let task = &self.tasks[id];
        let (app, lock) = (task.app(), self.lock_of(task));
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

    /// When what a waiting task waits for is visible to it, as far as is known: of a lock that is not handed
    /// over, when it could see that the lock is free.
    pub(crate) fn wait_ends(&self, id: TaskId) -> Time {
        let task = &self.tasks[id];
        let app = &self.apps[task.app()];
        if task.waiting != Waiting::Lock || !app.locks.rules.barges() || app.locks.rules.yields() {
            return task.ready();
        }
        let free = app.locks.free(self.lock_of(task).0);
        free.map_or(Time::NEVER, |(at, there)| at + self.machine.signal_latency(there, task.cpu))
    }

    /// A lock that is not handed over has been taken or given back: the waits for it end at other instants.
    fn note_waiters(&mut self, app: AppId, lock: LockId) {
        if !self.dirty.watches() || !self.apps[app].locks.rules.barges() {
            return;
        }
        for id in (0..self.apps[app].tasks).map(|rank| self.apps[app].task(rank)) {
            let task = &self.tasks[id];
            if task.waiting == Waiting::Lock && self.lock_of(task) == lock {
                self.dirty.note(task.cpu);
            }
        }
    }

    /// The current task of a cpu has just got the cpu and waits for a lock that is not handed over: it checks
    /// the lock itself from now on.
    pub(crate) fn look_at_lock(&mut self, cpu: CpuId, id: TaskId, from: Time) {
        let task = &self.tasks[id];
        let (app, lock) = (task.app(), self.lock_of(task));
        let rules = self.apps[app].locks.rules;
        if !rules.barges() || rules.yields() {
            return;
        }
        debug_assert!(task.cpu == cpu, "{id} looks on {cpu} and belongs to {}", task.cpu);
        let again = matches!(rules.wait, crate::lock::LockWait::Sleep { again: true, .. });
        let limit = if again && task.history.lock.slept { self.lock_spin_limit(app) } else { None };
        let ready = self.wait_ends(id);
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
        self.dirty.note(cpu);
    }
}

impl Engine<'_> {
    /// How long it takes until the cpus that poll the word of a lock have fetched its line, one after the
    /// other. This cpu and the task `next` do not count.
    fn reads_of_pollers(&self, cpu: CpuId, app: AppId, lock: LockId, next: Option<TaskId>) -> Span {
        let record = &self.shared.apps[app];
        if !record.locks.rules.polls_its_word() {
            return Span::ZERO;
        }
        let mut reads = Span::ZERO;
        for id in record.locks.waiters(lock.0).map(|rank| record.task(rank)) {
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

    /// The current task writes the word of a lock after its pending overhead, and other cpus then fetch its
    /// line within `reads`. Returns how long it waits for the line; no time where waiters make a system call
    /// between two polls.
    fn write_word(&mut self, cpu: CpuId, app: AppId, lock: LockId, reads: Span) -> Span {
        if self.shared.apps[app].locks.rules.yields() {
            return Span::ZERO;
        }
        let at = self.cursor(cpu);
        let shared = &mut self.shared;
        let (machine, line) = (&shared.machine, shared.apps[app].locks.line(lock.0));
        line.write(at, cpu, |had| machine.signal_latency(had, cpu), reads)
    }

    /// The current task takes the line of a lock that it has got.
    fn take_line(&mut self, cpu: CpuId, app: AppId, lock: LockId) {
        let wait = self.write_word(cpu, app, lock, Span::ZERO);
        self.cpus[cpu].pend(Part::Lock, wait);
    }

    /// The current task gives a lock back, and all that poll its word fetch the line.
    fn give_line(&mut self, cpu: CpuId, app: AppId, lock: LockId) {
        let locks = &self.shared.apps[app].locks;
        // A queued lock is handed over by a store to the word of the next one.
        if locks.rules.word == LockWord::Shared || !locks.has_next(lock.0) {
            let reads = self.reads_of_pollers(cpu, app, lock, None);
            let wait = self.write_word(cpu, app, lock, reads);
            self.cpus[cpu].pend(Part::Lock, wait);
        }
    }

    /// The current task takes a lock (true) or begins to wait for it.
    pub(crate) fn lock(&mut self, cpu: CpuId, lock: LockId) -> bool {
        let id = self.cpus[cpu].current;
        let app = self.shared.tasks[id].app();
        let record = &mut self.shared.apps[app];
        if record.locks.take(lock.0, record.rank(id)) {
            record.counters.locks += 1;
            self.shared.tasks[id].pc += 1;
            self.take_line(cpu, app, lock);
            self.withdraw(cpu, app, lock);
            return true;
        }
        self.write_word(cpu, app, lock, Span::ZERO);
        self.shared.emit_running(&mut self.cpus[cpu]);
        self.observe(Observation::LockAwaited { task: id, lock });
        self.begin_wait(cpu, Waiting::Lock, Time::NEVER);
        false
    }

    /// The current task gives a lock back.
    pub(crate) fn unlock(&mut self, cpu: CpuId, lock: LockId) {
        let id = self.cpus[cpu].current;
        let app = self.shared.tasks[id].app();
        self.give_line(cpu, app, lock);
        let at = (self.cursor(cpu), cpu);
        let record = &mut self.shared.apps[app];
        match record.locks.give(lock.0, record.rank(id), at) {
            Given::Nothing => {}
            Given::To(rank) => {
                let next = record.task(rank);
                // On average, half of the other pollers fetch the line first.
                let before = Span::from_ns(self.reads_of_pollers(cpu, app, lock, Some(next)).ns() / 2);
                let visible = self.visible(cpu, next) + before;
                self.signal(cpu, next, Some(visible));
            }
            Given::Free(sleeper) => {
                let sleeper = sleeper.map(|rank| record.task(rank));
                self.tell_pollers(cpu, app, lock);
                if let Some(sleeper) = sleeper {
                    self.signal(cpu, sleeper, None);
                }
            }
        }
    }

    /// A lock is free: polling waiters see it. A waiter without a cpu that does not yield checks the lock
    /// when it gets a cpu.
    fn tell_pollers(&mut self, cpu: CpuId, app: AppId, lock: LockId) {
        self.shared.note_waiters(app, lock);
        let locks = &mut self.shared.apps[app].locks;
        let yields = locks.rules.yields();
        let mut pollers = std::mem::take(locks.pollers(lock.0));
        pollers.retain(|rank| {
            let id = self.shared.apps[app].task(*rank);
            let tell = yields || self.shared.tasks[id].state == TaskState::Running;
            if tell {
                self.signal(cpu, id, None);
            } else {
                self.shared.tasks[id].history.lock.listed = false;
            }
            tell
        });
        *self.shared.apps[app].locks.pollers(lock.0) = pollers;
    }

    /// A lock has been taken: polling waiters no longer see it free.
    fn withdraw(&mut self, cpu: CpuId, app: AppId, lock: LockId) {
        self.shared.note_waiters(app, lock);
        let pollers = std::mem::take(self.shared.apps[app].locks.pollers(lock.0));
        for rank in &pollers {
            let id = self.shared.apps[app].task(*rank);
            let task = &mut self.shared.tasks[id];
            if task.ready().is_never() {
                continue;
            }
            let (there, deadline) = (task.cpu, task.history.lock.deadline);
            task.look(Time::NEVER, deadline);
            self.shared.dirty.note(there);
            let polling = matches!(self.cpus[there].activity, Activity::Poll | Activity::Spin);
            if there != cpu && polling {
                self.mark(there);
            }
        }
        *self.shared.apps[app].locks.pollers(lock.0) = pollers;
    }

    /// The current task, which has waited for a lock, has got it.
    pub(crate) fn obtain(&mut self, cpu: CpuId) {
        let id = self.cpus[cpu].current;
        let task = &self.shared.tasks[id];
        let (app, lock, waiter) = (task.app(), self.shared.lock_of(task), task.history.lock);
        let waited = self.shared.now.since(waiter.since);
        let record = &mut self.shared.apps[app];
        record.counters.locks += 1;
        record.counters.lock_waits += 1;
        record.counters.lock_wait_ns += waited.ns();
        if record.locks.rules.barges() {
            record.locks.seize(lock.0, record.rank(id), waiter.announced);
            self.take_line(cpu, app, lock);
            self.withdraw(cpu, app, lock);
        }
        self.report_polling(cpu);
        self.observe(Observation::LockObtained { task: id, lock });
    }

    /// The current task has polled for a lock as long as it does, and marks the lock before it sleeps.
    pub(crate) fn announce_sleep(&mut self, cpu: CpuId) {
        let id = self.cpus[cpu].current;
        let task = &self.shared.tasks[id];
        let (app, lock) = (task.app(), self.shared.lock_of(task));
        let locks = &mut self.shared.apps[app].locks;
        if locks.rules.barges() {
            locks.announce(lock.0);
            self.write_word(cpu, app, lock, Span::ZERO);
            self.shared.tasks[id].history.lock.announced = true;
        }
    }

    /// The current task is in the kernel in order to sleep until what it waits for happens: true when it
    /// does. The kernel looks whether a lock that is not handed over still has its mark (`futex_wait_setup`).
    pub(crate) fn falls_asleep(&mut self, cpu: CpuId) -> bool {
        let id = self.cpus[cpu].current;
        let task = &self.shared.tasks[id];
        let unready = task.ready().is_never();
        if task.waiting != Waiting::Lock {
            return unready;
        }
        let (app, lock) = (task.app(), self.shared.lock_of(task));
        let record = &mut self.shared.apps[app];
        let mut sleeps = unready;
        if record.locks.rules.barges() {
            sleeps = unready && record.locks.sleep(lock.0, record.rank(id));
            let waiter = &mut self.shared.tasks[id].history.lock;
            waiter.slept = true;
            waiter.listed &= !sleeps;
        }
        record.counters.lock_sleeps += u64::from(sleeps);
        sleeps
    }
}
