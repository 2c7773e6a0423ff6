//! The constant bandwidth server of a task of `SCHED_DEADLINE` (kernel/sched/deadline.c; Abeni and Buttazzo
//! 1998): what it has left of its runtime, and by when.
//!
//! Deviations: products are exact, where Linux drops the lowest 10 bits of each factor (`DL_SCALE`); a cpu
//! uses up a runtime by the clock, where Linux scales by clock rate and capacity (`dl_scaled_delta_exec`).

use crate::program::{Reservation, bandwidth};
use crate::time::{Span, Time};

/// What Linux has of the class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeadlineRules {
    /// How much of each `period` all tasks may reserve per cpu (`sched_rt_runtime_us`); none: there is no
    /// admission control.
    pub limit: Option<Span>,
    /// The period of `limit` (`sched_rt_period_us`), at least 1 ms.
    pub period: Span,
    /// A timer ends the runtime of a task (`HRTICK_DL`); otherwise the next tick does.
    pub timer: bool,
}

impl DeadlineRules {
    /// Whether tasks with these bandwidths, in units of 2^-20 of a cpu, may share so many cpus
    /// (`__dl_overflow`).
    #[must_use]
    pub fn admit(&self, bandwidths: u128, cpus: u32) -> bool {
        let of = |limit: Span| u128::from(bandwidth(limit, self.period)) * u128::from(cpus);
        self.limit.is_none_or(|limit| bandwidths <= of(limit))
    }
}

/// The server of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cbs {
    /// What is left of its runtime, ns; below zero its overrun.
    left: i64,
    /// Its absolute deadline; zero: it has never been runnable.
    deadline: Time,
    /// It has used up its runtime and waits for the next period (`dl_throttled`).
    throttled: bool,
    /// It has given up the rest of its runtime (`dl_yielded`).
    yielded: bool,
    /// Its timer is set.
    armed: bool,
}

impl Cbs {
    pub(crate) const NEW: Self =
        Self { left: 0, deadline: Time::ZERO, throttled: false, yielded: false, armed: false };

    /// The absolute deadline.
    pub(crate) const fn deadline(&self) -> Time {
        self.deadline
    }

    pub(crate) const fn is_throttled(&self) -> bool {
        self.throttled
    }

    /// What is left of the runtime, ns, at least 0.
    pub(crate) fn left(&self) -> u64 {
        self.left.max(0) as u64
    }

    /// When its next period begins (`dl_next_period`).
    pub(crate) fn next_period(&self, of: &Reservation) -> Time {
        Time::from_ns(self.deadline.ns().saturating_add(of.period.ns()).saturating_sub(of.deadline.ns()))
    }

    /// The instant for which its timer is to be set, once.
    pub(crate) fn arm(&mut self, of: &Reservation) -> Option<Time> {
        let sets = self.throttled && !std::mem::replace(&mut self.armed, self.throttled);
        sets.then(|| self.next_period(of))
    }

    /// Its timer goes off; true when it is the one that counts.
    pub(crate) fn fires(&self, of: &Reservation, now: Time) -> bool {
        self.throttled && self.next_period(of) <= now
    }

    /// `replenish_dl_new_period`.
    fn renew(&mut self, of: &Reservation, now: Time) {
        self.left = of.runtime.ns() as i64;
        self.deadline = now + of.deadline;
    }

    /// A new period begins for a throttled task; the periods that an overrun has used up are passed over
    /// (`replenish_dl_entity`).
    pub(crate) fn replenish(&mut self, of: &Reservation, now: Time) {
        if self.yielded {
            self.left = self.left.min(0);
        }
        if self.left <= 0 {
            let periods = self.left.unsigned_abs() / of.runtime.ns() + 1;
            self.left += (periods * of.runtime.ns()) as i64;
            self.deadline = self.deadline.saturating_add(of.period * periods);
        }
        if self.deadline < now {
            self.renew(of, now);
        }
        (self.throttled, self.yielded, self.armed) = (false, false, false);
    }

    /// It becomes runnable.
    pub(crate) fn wake(&mut self, of: &Reservation, now: Time) {
        if self.throttled {
            let begins = self.next_period(of);
            if begins > now {
                return;
            }
            // Its timer has gone off while it slept.
            self.replenish(of, begins);
        }
        if self.deadline == Time::ZERO {
            return self.renew(of, now);
        }
        self.enter(of, now);
        if self.throttled {
            return;
        }
        let past = self.deadline < now;
        let rest = self.deadline.since(now).ns();
        // `dl_entity_overflow`: what is left over the time that is left is more than its density.
        let asks = i128::from(self.left) * i128::from(of.deadline.ns());
        let dense = asks > i128::from(rest) * i128::from(of.runtime.ns());
        if dense && !past && of.deadline != of.period {
            // `update_dl_revised_wakeup`, with a density of 20 bits after the point.
            self.left = ((u128::from(bandwidth(of.runtime, of.deadline)) * u128::from(rest)) >> 20) as i64;
        } else if dense || past {
            self.renew(of, now);
        }
    }

    /// It enters a queue: one whose deadline is before the end of its period, and has passed, waits for that
    /// end (`dl_check_constrained_dl`).
    pub(crate) fn enter(&mut self, of: &Reservation, now: Time) {
        let waits = of.deadline != of.period && self.deadline < now && now < self.next_period(of);
        if waits && !self.throttled {
            self.throttled = true;
            self.left = self.left.min(0);
        }
    }

    /// It has run for a while.
    pub(crate) const fn run(&mut self, span: Span) {
        self.left -= span.ns() as i64;
    }

    /// It gives up what is left (`yield_task_dl`).
    pub(crate) const fn give_up(&mut self) {
        self.yielded = true;
    }

    /// What it has run so far is looked at (`update_curr_dl_se`): true when it is throttled from now on. A
    /// period that has begun long ago follows at once.
    pub(crate) fn look(&mut self, of: &Reservation, now: Time) -> bool {
        if self.throttled || (self.left > 0 && !self.yielded) {
            return false;
        }
        if self.next_period(of) < now {
            self.replenish(of, now);
            return false;
        }
        self.throttled = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    const fn reserve(runtime: u64, deadline: u64, period: u64) -> Reservation {
        let of = Span::from_ms;
        Reservation { runtime: of(runtime), deadline: of(deadline), period: of(period) }
    }

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * MS)
    }

    fn woken(of: &Reservation, ms: u64) -> Cbs {
        let mut cbs = Cbs::NEW;
        cbs.wake(of, at(ms));
        cbs
    }

    #[test]
    fn a_short_sleep_keeps_the_deadline_and_a_long_one_gets_a_new_one() {
        let of = reserve(3, 10, 10);
        for first in [0, 5] {
            let mut cbs = woken(&of, first);
            assert_eq!((cbs.left, cbs.deadline), (3 * MS as i64, at(first + 10)));
            cbs.run(Span::from_ms(2));
            // 1 ms of 8 ms is less than 3 of 10; of 3 ms it is more.
            let mut late = cbs;
            cbs.wake(&of, at(first + 2));
            assert_eq!((cbs.left, cbs.deadline), (MS as i64, at(first + 10)));
            late.wake(&of, at(first + 7));
            assert_eq!((late.left, late.deadline), (3 * MS as i64, at(first + 17)));
        }
    }

    #[test]
    fn an_overrun_waits_for_the_next_period_and_is_paid_back() {
        let of = reserve(3, 10, 10);
        let mut cbs = woken(&of, 0);
        cbs.run(Span::from_ms(2));
        assert!(!cbs.look(&of, at(2)));
        cbs.run(Span::from_ms(2));
        assert!(cbs.look(&of, at(4)) && cbs.is_throttled());
        assert_eq!((cbs.arm(&of), cbs.arm(&of)), (Some(at(10)), None));
        assert!(!cbs.fires(&of, at(9)) && cbs.fires(&of, at(10)));
        cbs.replenish(&of, at(10));
        assert_eq!((cbs.left, cbs.deadline, cbs.throttled), (2 * MS as i64, at(20), false));
        // 7 ms too many are three periods.
        cbs.run(Span::from_ms(9));
        assert!(cbs.look(&of, at(19)));
        cbs.replenish(&of, at(20));
        assert_eq!((cbs.left, cbs.deadline), (2 * MS as i64, at(50)));
    }

    #[test]
    fn a_yield_gives_up_the_rest_but_no_debt() {
        let of = reserve(3, 10, 10);
        for (ran, left) in [(1, 3), (4, 2)] {
            let mut cbs = woken(&of, 0);
            cbs.run(Span::from_ms(ran));
            cbs.give_up();
            assert!(cbs.look(&of, at(ran)));
            cbs.replenish(&of, at(10));
            assert_eq!((cbs.left, cbs.deadline), (left * MS as i64, at(20)));
            assert!(!cbs.look(&of, at(11)));
        }
    }

    #[test]
    fn a_throttled_task_that_sleeps_finds_its_next_period_when_it_wakes() {
        let of = reserve(3, 10, 10);
        let mut cbs = woken(&of, 0);
        cbs.run(Span::from_ms(4));
        assert!(cbs.look(&of, at(4)));
        let (mut early, mut late) = (cbs, cbs);
        early.wake(&of, at(9));
        assert!(early.is_throttled());
        cbs.wake(&of, at(10));
        assert_eq!((cbs.left, cbs.deadline), (2 * MS as i64, at(20)));
        late.wake(&of, at(25));
        assert_eq!((late.left, late.deadline), (3 * MS as i64, at(35)));
    }

    #[test]
    fn a_constrained_deadline_waits_for_its_period_or_gets_the_rest_by_its_density() {
        let of = reserve(3, 6, 20);
        let mut cbs = woken(&of, 0);
        cbs.run(Span::from_ms(1));
        let mut late = cbs;
        // 2 ms of 2 ms are too many: it gets half of them.
        cbs.wake(&of, at(4));
        assert_eq!((cbs.left, cbs.deadline), (MS as i64, at(6)));
        // After its deadline it waits for the next period, which begins at 20 ms.
        late.wake(&of, at(8));
        assert_eq!((late.is_throttled(), late.arm(&of)), (true, Some(at(20))));
        late.replenish(&of, at(20));
        assert_eq!((late.left, late.deadline), (3 * MS as i64, at(26)));
        // A long sleep later there is nothing to wait for.
        late.wake(&of, at(50));
        assert_eq!((late.left, late.deadline, late.throttled), (3 * MS as i64, at(56), false));
    }

    #[test]
    fn ninety_five_percent_of_the_cpus_can_be_reserved() {
        let rules =
            DeadlineRules { limit: Some(Span::from_ms(950)), period: Span::from_ms(1_000), timer: false };
        let of = |runtime| u128::from(bandwidth(Span::from_ms(runtime), Span::from_ms(100)));
        assert!(rules.admit(of(95), 1) && !rules.admit(of(96), 1));
        assert!(rules.admit(of(95) * 2, 2) && rules.admit(of(96) + of(94), 2) && !rules.admit(of(96) * 2, 2));
        assert!(DeadlineRules { limit: None, ..rules }.admit(of(96) * 2, 1));
    }
}
