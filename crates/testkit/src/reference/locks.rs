//! Locks of the reference engine. A lock that is not handed over is a word that everybody reads: whoever
//! looks while it is free has it.

use sim_core::ids::{LockId, TaskId};
use sim_core::lock::{LockOrder, LockWait, LockWord};
use sim_core::observe::Observation;
use sim_core::policy::TaskState;
use sim_core::program::Op;

use super::Reference;
use super::state::{Activity, LOCK, NEVER, Overhead, Waiting};

impl Reference<'_> {
    /// The lock that a task waits for.
    fn awaited(&self, t: usize) -> Option<usize> {
        let task = &self.tasks[t];
        match self.apps[task.app].spec.program.ops().get(task.pc) {
            Some(Op::Lock(lock)) if task.waiting == Waiting::Lock => Some(lock.0 as usize),
            _ => None,
        }
    }

    fn barges(&self, t: usize) -> bool {
        self.apps[self.tasks[t].app].spec.lock.order == LockOrder::Barging
    }

    pub(super) fn lock_yields(&self, t: usize) -> bool {
        self.apps[self.tasks[t].app].spec.lock.wait == LockWait::Yield
    }

    /// When a task sees what it waits for. Who polls for a lock that is not handed over, without yielding,
    /// looks at the lock itself.
    pub(super) fn ready_at(&self, t: usize) -> u64 {
        let Some(lock) = self.awaited(t).filter(|_| self.barges(t) && !self.lock_yields(t)) else {
            return self.tasks[t].ready;
        };
        let lock = &self.apps[self.tasks[t].app].signals.locks[lock];
        let (at, there) = lock.freed;
        if lock.holder.is_some() { NEVER } else { at + self.latency(there, self.tasks[t].cpu) }
    }

    /// When a look finds the wait over or the patience at an end.
    pub(super) fn visible_at(&self, t: usize) -> u64 {
        self.ready_at(t).min(self.tasks[t].deadline)
    }

    /// How long a task polls for a lock before it sleeps.
    pub(super) fn lock_patience(&self, t: usize) -> Option<u64> {
        match self.apps[self.tasks[t].app].spec.lock.wait {
            LockWait::Sleep { spins, .. } => Some(self.machine.costs.poll.ns().saturating_mul(spins)),
            LockWait::Spin | LockWait::Yield => None,
        }
    }

    /// A task that comes back from the kernel with nothing may poll as long again.
    pub(super) fn renew_patience(&mut self, t: usize, begins: u64) {
        let again =
            matches!(self.apps[self.tasks[t].app].spec.lock.wait, LockWait::Sleep { again: true, .. });
        if std::mem::take(&mut self.tasks[t].lock.returned)
            && again
            && let Some(patience) = self.lock_patience(t)
        {
            self.tasks[t].deadline = begins.saturating_add(patience);
        }
    }

    /// Everybody who waits for a lock and yields is told whether it is free.
    fn tell_yielders(&mut self, app: usize, lock: usize, seen: impl Fn(&Self, usize) -> u64) {
        for t in 0..self.tasks.len() {
            if self.tasks[t].app == app && self.awaited(t) == Some(lock) && self.lock_yields(t) {
                self.tasks[t].ready = seen(self, t);
            }
        }
    }

    /// How long it takes to send the line of a lock's word to all cpus that poll it, except this one and that
    /// of the task `but`.
    fn round_of_pollers(&self, c: usize, app: usize, lock: usize, but: Option<usize>) -> u64 {
        let rules = self.apps[app].spec.lock;
        let sleeper = matches!(rules.wait, LockWait::Sleep { spins: 0, .. });
        if rules.word == LockWord::Own || sleeper {
            return 0;
        }
        let polls = |there: &usize| {
            let (activity, current) = (self.cpus[*there].activity, self.cpus[*there].current);
            let waits = |t: &usize| self.tasks[*t].app == app && self.awaited(*t) == Some(lock);
            *there != c && activity == Activity::Spin && current != but && current.is_some_and(|t| waits(&t))
        };
        (0..self.cpus.len()).filter(polls).map(|there| self.latency(c, there)).sum()
    }

    /// A cpu writes the word of a lock after `overhead`: how long it waits for the line. `round`: how long
    /// the line is then under way to others.
    fn fetch_line(&mut self, c: usize, app: usize, lock: usize, overhead: &Overhead, round: u64) -> u64 {
        if self.apps[app].spec.lock.wait == LockWait::Yield {
            // A system call between two polls: nobody queues for the line.
            return 0;
        }
        let at = self.now + overhead.total();
        let owner = self.apps[app].signals.locks[lock].owner;
        let own = owner.filter(|owner| *owner != c).map_or(0, |owner| self.latency(owner, c));
        let record = &mut self.apps[app].signals.locks[lock];
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
    pub(super) fn lock(&mut self, c: usize, t: usize, lock: usize, overhead: &mut Overhead) -> bool {
        let (app, rank, barges) = (self.tasks[t].app, self.tasks[t].rank, self.barges(t));
        let line = self.fetch_line(c, app, lock, overhead, 0);
        let record = &mut self.apps[app].signals.locks[lock];
        if record.holder.is_none_or(|holder| holder == rank) {
            if record.holder.is_none() {
                record.marked = false;
            }
            record.holder = Some(rank);
            overhead.0[LOCK] += line;
            self.apps[app].counters.locks += 1;
            self.tasks[t].pc += 1;
            if barges {
                self.tell_yielders(app, lock, |_, _| NEVER);
            }
            return true;
        }
        if !barges {
            record.line.push(rank);
        }
        self.announce(c);
        self.observe(Observation::LockAwaited { task: TaskId(t as u32), lock: LockId(lock as u32) });
        self.tasks[t].lock.since = self.now;
        self.tasks[t].lock.marks = self.lock_patience(t) == Some(0);
        self.tasks[t].lock.returned = false;
        self.wait(c, Waiting::Lock, NEVER, *overhead);
        false
    }

    /// Gives a lock back: to the next in line, or to nobody, waking one of those that sleep.
    pub(super) fn unlock(&mut self, c: usize, t: usize, lock: usize, overhead: &mut Overhead) {
        let (app, rank, barges) = (self.tasks[t].app, self.tasks[t].rank, self.barges(t));
        let own_words = self.apps[app].spec.lock.word == LockWord::Own;
        let handed = !barges && !self.apps[app].signals.locks[lock].line.is_empty();
        if !own_words || !handed {
            let round = self.round_of_pollers(c, app, lock, None);
            overhead.0[LOCK] += self.fetch_line(c, app, lock, overhead, round);
        }
        let at = self.now + overhead.total();
        let record = &mut self.apps[app].signals.locks[lock];
        if record.holder != Some(rank) {
            return;
        }
        record.holder = None;
        record.freed = (at, c);
        let called = (!barges || std::mem::take(&mut record.marked)) && !record.line.is_empty();
        let next = called.then(|| record.line.remove(0));
        if !barges {
            record.holder = next;
        } else {
            self.tell_yielders(app, lock, |all, t| at + all.latency(c, all.tasks[t].cpu));
            for there in (0..self.cpus.len()).filter(|there| *there != c) {
                if self.cpus[there].current.is_some_and(|t| self.awaited(t).is_some()) && self.is_due(there) {
                    self.mark(there);
                }
            }
        }
        if let Some(next) = next {
            let next = self.task(app, next);
            let others = if barges { 0 } else { self.round_of_pollers(c, app, lock, Some(next)) };
            let seen = self.seen_at(c, next, overhead) + others / 2;
            self.signal(c, next, seen, overhead);
        }
    }

    /// The current task, which has waited for a lock, has it.
    pub(super) fn got_lock(&mut self, c: usize, t: usize, overhead: &mut Overhead) {
        let Some(lock) = self.awaited(t) else { return };
        let (app, rank) = (self.tasks[t].app, self.tasks[t].rank);
        let waited = self.now - self.tasks[t].lock.since;
        let counters = &mut self.apps[app].counters;
        counters.locks += 1;
        counters.lock_waits += 1;
        counters.lock_wait_ns += waited;
        if self.barges(t) {
            let record = &mut self.apps[app].signals.locks[lock];
            record.holder = Some(rank);
            record.marked = self.tasks[t].lock.marks;
            overhead.0[LOCK] += self.fetch_line(c, app, lock, overhead, 0);
            self.tell_yielders(app, lock, |_, _| NEVER);
        }
        self.tell_polling(c);
        self.observe(Observation::LockObtained { task: TaskId(t as u32), lock: LockId(lock as u32) });
    }

    /// The current task says that it will sleep, if it waits for a lock that is not handed over.
    pub(super) fn mark_lock(&mut self, c: usize, t: usize, overhead: &Overhead) {
        let Some(lock) = self.awaited(t).filter(|_| self.barges(t)) else { return };
        self.tasks[t].lock.marks = true;
        let app = self.tasks[t].app;
        let record = &mut self.apps[app].signals.locks[lock];
        record.marked = record.holder.is_some();
        self.fetch_line(c, app, lock, overhead, 0);
    }

    /// The current task is in the kernel and wants to sleep: true when it does. It does not sleep on a lock
    /// that has lost its mark.
    pub(super) fn may_sleep(&mut self, t: usize) -> bool {
        let mut sleeps = self.ready_at(t) == NEVER;
        let Some(lock) = self.awaited(t) else { return sleeps };
        let (app, rank) = (self.tasks[t].app, self.tasks[t].rank);
        if self.barges(t) {
            self.tasks[t].lock.returned = true;
            let record = &mut self.apps[app].signals.locks[lock];
            sleeps &= record.marked;
            if sleeps {
                record.line.push(rank);
            }
        }
        self.apps[app].counters.lock_sleeps += u64::from(sleeps);
        debug_assert!(self.tasks[t].state == TaskState::Running);
        sleeps
    }
}
