//! Locks of the reference engine. A lock that is not handed over is a word that everybody reads: whoever
//! looks while it is free has it.

use sim_core::ids::{LockId, TaskId};
use sim_core::lock::{LockOrder, LockWait, LockWord, Protocol};
use sim_core::observe::Observation;
use sim_core::policy::TaskState;
use sim_core::program::Op;

use super::Reference;
use super::state::{Activity, LOCK, NEVER, Overhead, Waiting};

impl Reference<'_> {
    /// The lock that a task waits for, and how its program calls it.
    fn awaited_as(&self, t: usize) -> Option<(usize, LockId)> {
        let task = &self.tasks[t];
        match self.apps[task.app].spec.program.ops().get(task.pc) {
            Some(Op::Lock(lock)) if task.waiting == Waiting::Lock => {
                Some((self.apps[task.app].locks + lock.0 as usize, *lock))
            }
            _ => None,
        }
    }

    /// The lock that a task waits for.
    pub(super) fn awaited(&self, t: usize) -> Option<usize> {
        self.awaited_as(t).map(|(lock, _)| lock)
    }

    fn barges(&self, lock: usize) -> bool {
        self.locks[lock].rules.order == LockOrder::Barging
    }

    /// A task waits for a lock and yields after each look.
    pub(super) fn lock_yields(&self, t: usize) -> bool {
        self.awaited(t).is_some_and(|lock| self.locks[lock].rules.wait == LockWait::Yield)
    }

    /// When a task sees what it waits for. Who polls for a lock that is not handed over, without yielding,
    /// looks at the lock itself.
    pub(super) fn ready_at(&self, t: usize) -> u64 {
        let Some(lock) = self.awaited(t).filter(|lock| self.barges(*lock) && !self.lock_yields(t)) else {
            return self.tasks[t].ready;
        };
        let lock = &self.locks[lock];
        let (at, there) = lock.freed;
        if lock.holder.is_some() { NEVER } else { at + self.latency(there, self.tasks[t].cpu) }
    }

    /// When a look finds the wait over or the patience at an end.
    pub(super) fn visible_at(&self, t: usize) -> u64 {
        self.ready_at(t).min(self.tasks[t].deadline)
    }

    /// How long a task polls for a lock before it sleeps.
    pub(super) fn lock_patience(&self, t: usize) -> Option<u64> {
        self.patience(self.awaited(t)?)
    }

    fn patience(&self, lock: usize) -> Option<u64> {
        match self.locks[lock].rules.wait {
            LockWait::Sleep { spins, .. } => Some(self.machine.costs.poll.ns().saturating_mul(spins)),
            LockWait::Spin | LockWait::Yield => None,
        }
    }

    /// A task that comes back from the kernel with nothing may poll as long again.
    pub(super) fn renew_patience(&mut self, t: usize, begins: u64) {
        let again = self
            .awaited(t)
            .is_some_and(|lock| matches!(self.locks[lock].rules.wait, LockWait::Sleep { again: true, .. }));
        if std::mem::take(&mut self.tasks[t].lock.returned)
            && again
            && let Some(patience) = self.lock_patience(t)
        {
            self.tasks[t].deadline = begins.saturating_add(patience);
        }
    }

    /// Everybody who waits for a lock and yields is told whether it is free.
    fn tell_yielders(&mut self, lock: usize, seen: impl Fn(&Self, usize) -> u64) {
        for t in 0..self.tasks.len() {
            if self.awaited(t) == Some(lock) && self.lock_yields(t) {
                self.tasks[t].ready = seen(self, t);
            }
        }
    }

    /// How long it takes to send the line of a lock's word to all cpus that poll it, except this one and that
    /// of the task `but`.
    fn round_of_pollers(&self, c: usize, lock: usize, but: Option<usize>) -> u64 {
        let rules = self.locks[lock].rules;
        let sleeper = matches!(rules.wait, LockWait::Sleep { spins: 0, .. });
        if rules.word == LockWord::Own || sleeper {
            return 0;
        }
        let polls = |there: &usize| {
            let (activity, current) = (self.cpus[*there].activity, self.cpus[*there].current);
            let waits = |t: &usize| self.awaited(*t) == Some(lock);
            *there != c && activity == Activity::Spin && current != but && current.is_some_and(|t| waits(&t))
        };
        (0..self.cpus.len()).filter(polls).map(|there| self.latency(c, there)).sum()
    }

    /// A cpu writes the word of a lock after `overhead`: how long it waits for the line. `round`: how long
    /// the line is then under way to others.
    fn fetch_line(&mut self, c: usize, lock: usize, overhead: &Overhead, round: u64) -> u64 {
        if self.locks[lock].rules.wait == LockWait::Yield {
            // A system call between two polls: nobody queues for the line.
            return 0;
        }
        let at = self.now + overhead.total();
        let owner = self.locks[lock].owner;
        let own = owner.filter(|owner| *owner != c).map_or(0, |owner| self.latency(owner, c));
        let record = &mut self.locks[lock];
        record.owner = Some(c);
        let (since, until) = record.moves;
        let queued = if at < since { 0 } else { until.saturating_sub(at) };
        if at > until {
            record.moves = (at, at);
        }
        record.moves.1 += own + round;
        queued + own
    }

    /// Takes a lock (true) or begins to wait for it.
    pub(super) fn lock(&mut self, c: usize, t: usize, name: LockId, overhead: &mut Overhead) -> bool {
        let app = self.tasks[t].app;
        let lock = self.apps[app].locks + name.0 as usize;
        let barges = self.barges(lock);
        let line = self.fetch_line(c, lock, overhead, 0);
        let record = &mut self.locks[lock];
        if record.holder.is_none_or(|holder| holder == t) {
            if record.holder.is_none() {
                record.marked = false;
            }
            record.holder = Some(t);
            overhead.0[LOCK] += line;
            self.apps[app].counters.locks += 1;
            self.tasks[t].pc += 1;
            if barges {
                self.tell_yielders(lock, |_, _| NEVER);
            }
            if self.protocol(lock) != Protocol::Plain {
                self.adjust(t);
            }
            return true;
        }
        if !barges {
            record.line.push(t);
        }
        self.announce(c);
        self.observe(Observation::LockAwaited { task: TaskId(t as u32), lock: name });
        self.tasks[t].lock.since = self.now;
        self.tasks[t].lock.marks = self.patience(lock) == Some(0);
        self.tasks[t].lock.returned = false;
        match self.protocol(lock) {
            Protocol::Plain => {}
            Protocol::Ceiling(_) => self.adjust(t),
            Protocol::Inherits => {
                self.finds_place(lock, t);
                if let Some(holder) = self.locks[lock].holder {
                    self.adjust(holder);
                }
            }
        }
        self.wait(c, Waiting::Lock, NEVER, *overhead);
        false
    }

    /// Gives a lock back: to the next in line, or to nobody, waking one of those that sleep.
    pub(super) fn unlock(&mut self, c: usize, t: usize, name: LockId, overhead: &mut Overhead) {
        let lock = self.apps[self.tasks[t].app].locks + name.0 as usize;
        let barges = self.barges(lock);
        let own_words = self.locks[lock].rules.word == LockWord::Own;
        let handed = !barges && !self.locks[lock].line.is_empty();
        if !own_words || !handed {
            let round = self.round_of_pollers(c, lock, None);
            overhead.0[LOCK] += self.fetch_line(c, lock, overhead, round);
        }
        let at = self.now + overhead.total();
        let record = &mut self.locks[lock];
        if record.holder != Some(t) {
            return;
        }
        record.holder = None;
        record.freed = (at, c);
        let called = (!barges || std::mem::take(&mut record.marked)) && !record.line.is_empty();
        let next = called.then(|| record.line.remove(0));
        if !barges {
            record.holder = next;
        } else {
            self.tell_yielders(lock, |all, t| at + all.latency(c, all.tasks[t].cpu));
            for there in (0..self.cpus.len()).filter(|there| *there != c) {
                if self.cpus[there].current.is_some_and(|t| self.awaited(t).is_some()) && self.is_due(there) {
                    self.mark(there);
                }
            }
        }
        if self.protocol(lock) == Protocol::Inherits {
            // It is as before when the next one wakes.
            self.adjust(t);
        }
        if let Some(next) = next {
            let others = if barges { 0 } else { self.round_of_pollers(c, lock, Some(next)) };
            let seen = self.seen_at(c, next, overhead) + others / 2;
            self.signal(c, next, seen, overhead);
        }
        if matches!(self.protocol(lock), Protocol::Ceiling(_)) {
            self.adjust(t);
        }
    }

    /// What a lock does to priorities here.
    fn protocol(&self, lock: usize) -> Protocol {
        if self.real_time { self.locks[lock].rules.protocol } else { Protocol::Plain }
    }

    /// The current task, which has waited for a lock, has it.
    pub(super) fn got_lock(&mut self, c: usize, t: usize, overhead: &mut Overhead) {
        let Some((lock, name)) = self.awaited_as(t) else { return };
        let app = self.tasks[t].app;
        let waited = self.now - self.tasks[t].lock.since;
        let counters = &mut self.apps[app].counters;
        counters.locks += 1;
        counters.lock_waits += 1;
        counters.lock_wait_ns += waited;
        if self.barges(lock) {
            let record = &mut self.locks[lock];
            record.holder = Some(t);
            record.marked = self.tasks[t].lock.marks;
            overhead.0[LOCK] += self.fetch_line(c, lock, overhead, 0);
            self.tell_yielders(lock, |_, _| NEVER);
        }
        self.tell_polling(c);
        self.observe(Observation::LockObtained { task: TaskId(t as u32), lock: name });
    }

    /// The current task says that it will sleep, if it waits for a lock that is not handed over.
    pub(super) fn mark_lock(&mut self, c: usize, t: usize, overhead: &Overhead) {
        let Some(lock) = self.awaited(t).filter(|lock| self.barges(*lock)) else { return };
        self.tasks[t].lock.marks = true;
        let record = &mut self.locks[lock];
        record.marked = record.holder.is_some();
        self.fetch_line(c, lock, overhead, 0);
    }

    /// The current task is in the kernel and wants to sleep: true when it does. It does not sleep on a lock
    /// that has lost its mark.
    pub(super) fn may_sleep(&mut self, t: usize) -> bool {
        let mut sleeps = self.ready_at(t) == NEVER;
        let Some(lock) = self.awaited(t) else { return sleeps };
        let app = self.tasks[t].app;
        if self.barges(lock) {
            self.tasks[t].lock.returned = true;
            let record = &mut self.locks[lock];
            sleeps &= record.marked;
            if sleeps {
                record.line.push(t);
            }
        }
        self.apps[app].counters.lock_sleeps += u64::from(sleeps);
        debug_assert!(self.tasks[t].state == TaskState::Running);
        sleeps
    }
}
