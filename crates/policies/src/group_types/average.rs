//! Decayed averages of load and of busy time (PELT): half-life 32 ms, integers, brought up to date when
//! looked at.
//!
//! Source: kernel/sched/pelt.c of Linux 6.x: periods of 1,024 us, y^32 = 1/2. A task's average follows its
//! weight while it is runnable and fades while it sleeps; a cpu's is the sum of those of the tasks that
//! belong to it.

use sim_core::decay::{PERIOD_NS as PERIOD, approached};
use sim_core::time::{Span, Time};

use super::domains::UNIT;

/// Averages carry this many binary digits behind the point, so that small steps do not get lost.
pub(super) const FINE: u32 = 10;
/// A task that misses less than this part of the time has had its cpu all along: what it misses are kernel
/// threads and switches, during which the kernel's clock does not stop. An estimate: the kernel asks whether
/// the cpu has idled, which cpu time alone does not tell.
const AWAY: u64 = 64;
/// A value that follows a target with a half-life of 32 ms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Average {
    value: u64,
    target: u64,
    /// Periods already counted.
    periods: u64,
}

impl Average {
    /// Brings it up to date.
    pub(super) fn update(&mut self, now: Time) {
        let at = now.ns() / PERIOD;
        let missed = at.saturating_sub(self.periods);
        self.periods = at;
        if missed > 0 {
            self.value = approached(self.value, self.target, missed);
        }
    }

    /// From now on it follows `target`.
    pub(super) fn follow(&mut self, now: Time, target: u64) {
        self.update(now);
        self.target = target << FINE;
    }

    /// The value now, in fine units.
    pub(super) fn fine(&mut self, now: Time) -> u64 {
        self.update(now);
        self.value
    }

    /// The value now.
    pub(super) fn get(&mut self, now: Time) -> u64 {
        self.fine(now) >> FINE
    }

    /// Adds what a task that comes brings along.
    pub(super) fn add(&mut self, now: Time, fine: u64) {
        self.update(now);
        self.value = self.value.saturating_add(fine);
    }

    /// Whether it has arrived at what it follows.
    pub(super) const fn is_steady(&self) -> bool {
        self.value == self.target
    }

    /// Nothing is left of it.
    pub(super) fn clear(&mut self, now: Time) {
        self.update(now);
        (self.value, self.target) = (0, 0);
    }

    /// Takes away what a task that goes takes along.
    pub(super) fn remove(&mut self, now: Time, fine: u64) {
        self.update(now);
        self.value = self.value.saturating_sub(fine);
    }
}

/// How much of its time a task runs (`util_avg`), and what is expected of it when it wakes (`util_est`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Utilisation {
    /// With a half-life of 32 ms, in fine units.
    value: u64,
    /// The larger of `value` when it last fell asleep and the mean of such values, in fine units.
    expected: u64,
    /// Periods already counted, and the cpu time that the task had then.
    periods: u64,
    ran: Span,
    /// Of a period on a slower cpu, in 1,024ths.
    rest: u64,
    /// When it was last brought up to date, ns.
    at: u64,
}

impl Utilisation {
    /// That of a new task on a cpu with this utilisation, load and capacity: its part of the load, at most
    /// half of what is left of the cpu (`post_init_entity_util_avg`).
    pub(super) fn start(&mut self, now: Time, weight: u64, (busy, load): (u64, u64), capacity: u64) {
        let most = (capacity << FINE).saturating_sub(busy) / 2;
        let part = busy.saturating_mul(weight) / ((load >> FINE) + 1);
        self.value = if busy == 0 { most } else { part.min(most) };
        (self.periods, self.at) = (now.ns() / PERIOD, now.ns());
    }

    /// Brings it up to date with the cpu time that the task has used so far on a cpu of full capacity. Fine
    /// units.
    pub(super) fn fine(&mut self, now: Time, ran: Span) -> u64 {
        self.fine_on(now, ran, UNIT)
    }

    /// Brings it up to date while the task sleeps: it fades. Fine units.
    pub(super) fn asleep(&mut self, now: Time) -> u64 {
        self.fine(now, self.ran)
    }

    /// The same on a cpu of this capacity, whose clock is as slow as the cpu until it idles
    /// (`update_rq_clock_pelt`): all of its time, but for interrupts, leads to a whole, in more of it; a part
    /// leads to that part of the capacity.
    pub(super) fn fine_on(&mut self, now: Time, ran: Span, capacity: u64) -> u64 {
        let at = now.ns() / PERIOD;
        let missed = at.saturating_sub(self.periods);
        if missed > 0 {
            let all = missed.saturating_mul(PERIOD);
            let part = (ran.ns() - self.ran.ns()).min(all);
            let passed = now.ns() - self.at;
            if capacity < UNIT && part >= passed - passed / AWAY {
                self.rest += missed.saturating_mul(capacity);
                self.value = approached(self.value, UNIT << FINE, self.rest / UNIT);
                self.rest %= UNIT;
            } else {
                let target = (capacity << FINE) * (part / 1_000) / (missed * (PERIOD / 1_000));
                self.value = approached(self.value, target, missed);
            }
            (self.periods, self.ran, self.at) = (at, ran, now.ns());
        }
        self.value
    }

    /// It falls asleep (`util_est_update`): upwards at once, downwards by a quarter of the difference.
    pub(super) fn sleeps(&mut self) {
        let (old, new) = (self.expected, self.value);
        self.expected = if new >= old { new } else { old - (old - new) / 4 };
    }

    /// What is expected of it, in fine units.
    pub(super) const fn expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of the time of one cpu, in fine units.
    const WHOLE: u64 = UNIT << FINE;

    fn ms(ms: u64) -> Time {
        Time::from_ns(ms * PERIOD)
    }

    #[test]
    fn half_is_left_after_32_periods() {
        let mut average = Average::default();
        average.follow(ms(0), 1024);
        assert_eq!(average.get(ms(0)), 0);
        assert_eq!(average.get(ms(32)), 512);
        assert_eq!(average.get(ms(64)), 768);
        assert_eq!(average.get(ms(3_200)), 1024);
        average.follow(ms(3_200), 0);
        assert_eq!(average.get(ms(3_232)), 512);
        assert_eq!(average.get(ms(100_000)), 0);
    }

    #[test]
    fn a_task_is_utilised_by_what_it_runs_and_expected_to_be_when_it_wakes() {
        let mut task = Utilisation::default();
        task.start(ms(0), 1024, (0, 0), UNIT);
        assert_eq!(task.fine(ms(0), Span::ZERO), WHOLE / 2);
        // It gets half of a cpu: the value stays.
        assert_eq!(task.fine(ms(64), Span::from_ns(32 * PERIOD)), WHOLE / 2);
        task.sleeps();
        assert_eq!(task.fine(ms(96), Span::from_ns(32 * PERIOD)), WHOLE / 4);
        assert_eq!(task.expected(), WHOLE / 2);
        task.sleeps();
        assert_eq!(task.expected(), WHOLE / 16 * 7);
        // On a cpu that another task has half of the time it gets its part of the load or half of the rest.
        task.start(ms(96), 1024, (WHOLE / 2, WHOLE), UNIT);
        assert_eq!(task.fine(ms(96), Span::ZERO), WHOLE / 4);
    }

    #[test]
    fn a_task_takes_its_load_along() {
        let mut from = Average::default();
        from.add(ms(0), 1024 << FINE);
        from.follow(ms(0), 1024);
        let mut task = Average::default();
        task.add(ms(0), 1024 << FINE);
        task.follow(ms(0), 1024);
        let fine = task.fine(ms(40));
        from.remove(ms(40), fine);
        from.follow(ms(40), 0);
        assert_eq!(from.get(ms(40)), 0);
    }
}
