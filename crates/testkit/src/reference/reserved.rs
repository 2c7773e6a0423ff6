//! SCHED_DEADLINE in the reference engine: what each task has left of its runtime, and its timer.

use sim_core::program::{Reservation, Scheduling};
use sim_core::time::Span;

use super::records::RefReserve;
use super::state::{NEVER, RefTask};
use super::{Reference, Timer};

fn ns(span: Span) -> i64 {
    span.ns() as i64
}

impl RefReserve {
    /// The begin of the period after that of its deadline.
    fn next(&self, of: Reservation) -> u64 {
        self.deadline + of.period.ns() - of.deadline.ns()
    }

    fn fresh(&mut self, of: Reservation, now: u64) {
        (self.runtime, self.deadline) = (ns(of.runtime), now + of.deadline.ns());
    }

    fn refill(&mut self, of: Reservation, now: u64) {
        if self.yielded {
            self.runtime = self.runtime.min(0);
        }
        while self.runtime <= 0 {
            self.runtime += ns(of.runtime);
            self.deadline += of.period.ns();
        }
        if self.deadline < now {
            self.fresh(of, now);
        }
        (self.throttled, self.yielded, self.timer) = (false, false, None);
    }

    /// Its deadline has passed, its period has not.
    fn too_late(&mut self, of: Reservation, now: u64) {
        if !self.throttled && of.deadline < of.period && self.deadline < now && now < self.next(of) {
            self.throttled = true;
            self.runtime = self.runtime.min(0);
        }
    }

    fn wakes(&mut self, of: Reservation, now: u64) {
        if self.throttled && self.next(of) <= now {
            let then = self.next(of);
            self.refill(of, then);
        }
        if self.throttled {
            return;
        }
        if self.deadline == 0 {
            return self.fresh(of, now);
        }
        self.too_late(of, now);
        if self.throttled {
            return;
        }
        if self.deadline < now {
            return self.fresh(of, now);
        }
        let rest = i128::from(self.deadline - now);
        let (runtime, deadline) = (i128::from(of.runtime.ns()), i128::from(of.deadline.ns()));
        if i128::from(self.runtime) * deadline > rest * runtime {
            if of.deadline == of.period {
                self.fresh(of, now);
            } else {
                let density = (runtime << 20) / deadline;
                self.runtime = ((density * rest) >> 20) as i64;
            }
        }
    }

    fn checks(&mut self, of: Reservation, now: u64) {
        let over = self.runtime <= 0 || self.yielded;
        if self.throttled || !over {
            return;
        }
        if self.next(of) < now {
            self.refill(of, now);
        } else {
            self.throttled = true;
        }
    }
}

impl RefTask {
    /// It has used up what it has reserved.
    pub(super) const fn is_spent(&self) -> bool {
        matches!(self.scheduling, Scheduling::Deadline(_)) && self.reserve.throttled
    }
}

impl Reference<'_> {
    pub(super) fn reserve(&self, t: usize) -> Option<Reservation> {
        match self.tasks[t].scheduling {
            Scheduling::Deadline(of) => Some(of),
            _ => None,
        }
    }

    pub(super) fn is_spent(&self, t: usize) -> bool {
        self.tasks[t].is_spent()
    }

    /// Such a task enters a queue. `wakes`: it has slept, or is new (`new`).
    pub(super) fn reserve_enters(&mut self, t: usize, wakes: bool, new: bool) {
        let Some(of) = self.reserve(t) else { return };
        let now = self.now;
        let reserve = &mut self.tasks[t].reserve;
        if new {
            *reserve = RefReserve::default();
        }
        if wakes || new {
            reserve.wakes(of, now);
        } else {
            reserve.too_late(of, now);
        }
    }

    /// It has run for a while.
    pub(super) fn reserve_runs(&mut self, c: usize, t: usize, span: u64) {
        self.tasks[t].reserve.runtime -= span as i64;
        if self.runtime_end(c) <= self.now && !self.cpus[c].resched {
            self.cpus[c].resched = true;
            self.mark(c);
        }
    }

    /// When a timer ends the runtime of the current task of a cpu.
    pub(super) fn runtime_end(&self, c: usize) -> u64 {
        let timer = self.class().and_then(|rules| rules.deadline).is_some_and(|rules| rules.timer);
        let current = self.cpus[c].current.filter(|t| timer && self.reserve(*t).is_some());
        let left = |t: usize| self.cpus[c].charged + self.tasks[t].reserve.runtime.max(0) as u64;
        current.map_or(NEVER, left)
    }

    /// Whether the runtime is used up at `at`, if nothing changes.
    pub(super) fn runtime_is_over(&self, c: usize, t: usize, at: u64) -> bool {
        at.saturating_sub(self.cpus[c].charged) as i64 >= self.tasks[t].reserve.runtime
    }

    /// What the current task has left is looked at; true when it has to stop.
    pub(super) fn reserve_is_over(&mut self, c: usize, t: usize) -> bool {
        let Some(of) = self.reserve(t) else { return false };
        let before = self.tasks[t].reserve;
        let now = self.now;
        self.tasks[t].reserve.checks(of, now);
        let after = self.tasks[t].reserve;
        let stops = after.throttled && !before.throttled;
        if stops || after.deadline != before.deadline {
            self.cpus[c].resched = true;
        }
        stops
    }

    /// `sched_yield`.
    pub(super) fn reserve_yields(&mut self, t: usize) {
        self.tasks[t].reserve.yielded |= self.reserve(t).is_some();
    }

    /// Timers of those of a cpu that have been throttled.
    pub(super) fn set_timers(&mut self, c: usize) {
        let current = self.cpus[c].current.into_iter();
        let all: Vec<usize> = current.chain(self.cpus[c].class.parked.iter().copied()).collect();
        for t in all {
            let Some(of) = self.reserve(t).filter(|_| self.is_spent(t)) else { continue };
            if self.tasks[t].reserve.timer.is_none() {
                let at = self.tasks[t].reserve.next(of).max(self.now);
                self.tasks[t].reserve.timer = Some(at);
                self.arm(at, Timer::Replenish(t));
            }
        }
    }

    /// The timer of a task goes off.
    pub(super) fn replenish(&mut self, t: usize) {
        let now = self.now;
        let Some(of) = self.reserve(t).filter(|of| self.is_runnable(t) && self.is_spent_until(t, *of)) else {
            return;
        };
        let c = self.tasks[t].cpu;
        self.charge(c);
        let idle = self.cpus[c].current.is_none() && self.in_order(c).is_empty();
        let runs = self.cpus[c].current == Some(t);
        if !runs {
            self.remove(c, t);
        }
        self.tasks[t].reserve.refill(of, now);
        self.tasks[t].front = false;
        if !runs {
            self.join_line(c, t);
            if self.preempts(c, t) {
                self.cpus[c].resched = true;
                if idle {
                    self.cpus[c].deferred.0[super::state::KERNEL] += self.idle_exit(c);
                }
            }
        }
        self.mark(c);
        self.notice_entry(t, c);
    }

    fn is_spent_until(&self, t: usize, of: Reservation) -> bool {
        self.is_spent(t) && self.tasks[t].reserve.next(of) <= self.now
    }

    /// The current task has just been throttled: others come.
    pub(super) fn pull_for_throttled(&mut self, c: usize) {
        if let Some(t) = self.cpus[c].current.filter(|t| self.is_spent(*t)) {
            self.pull_class(c, self.class_priority(t).unwrap_or(1));
        }
    }
}
