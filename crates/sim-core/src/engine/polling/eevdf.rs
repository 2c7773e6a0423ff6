//! The polling cycle under EEVDF: dispatches one by one until the state of the priority repeats, relative to
//! itself; then whole periods are skipped.
//!
//! Picks depend on differences of virtual times only. When all members of a priority have the same
//! differences as before, everything in between will happen again, however long the period is.

use crate::engine::polling::general::{DISPATCHES_PREDICTED, Member, Polling, YieldRule};
use crate::engine::state::{Overhead, Part};
use crate::os::EevdfParams;
use crate::run_queue::cfs::weighted;
use crate::run_queue::eevdf::{Average, Contender, best};
use crate::time::{Span, Time};

/// The state of a polling cycle at the beginning of a dispatch, to recognise it when it recurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    members: Vec<Member>,
    order: Vec<u32>,
    since: Time,
    overhead: Overhead,
    paid: Overhead,
    cycles: u64,
    switches: u64,
}

impl Member {
    const fn contender(&self) -> Contender {
        Contender { weight: self.weight, vruntime: self.vruntime, vdeadline: self.vdeadline }
    }
}

impl Polling {
    /// As [`Polling::run`]. No task of the priority is a delayed one.
    pub(crate) fn run_eevdf(&mut self, params: &EevdfParams, limit: Time) -> Time {
        let (mut turns, mut next_mark) = (0, 1);
        loop {
            let check = self.since + self.overhead.total() + self.prices.poll;
            let end = check + self.prices.call;
            if self.is_alone() {
                return self.stop(limit, check, u64::MAX);
            }
            if self.at(0).ready <= check {
                return check;
            }
            if end >= limit {
                return limit;
            }
            let (one, next) = self.after_yield(params, end);
            if next > 0 && !self.at(next).polls {
                return end;
            }
            self.take_turn(params, one, next, end);
            turns += 1;
            if turns > DISPATCHES_PREDICTED && limit.is_never() {
                let check = self.since + self.overhead.total() + self.prices.poll;
                return if self.at(0).ready <= check { check } else { check + self.prices.call };
            }
            if turns > 1 && self.repeats() {
                if self.skip_periods(limit) {
                    return Time::NEVER;
                }
                next_mark = usize::MAX;
            } else if turns == next_mark {
                // Brent's way of finding a period of unknown length: marks at powers of two.
                self.set_mark();
                next_mark *= 2;
            }
        }
    }

    /// No task competes with the current member.
    fn is_alone(&self) -> bool {
        self.order.len() < 2 || self.at(1).priority > self.at(0).priority
    }

    /// What the current member's yield at `end` makes of it, and the position of who is picked then.
    fn after_yield(&self, params: &EevdfParams, end: Time) -> (Contender, usize) {
        let current = self.at(0);
        let mut one = current.contender();
        one.age(weighted(end.since(self.charged), current.weight), params);
        let rivals =
            |priority: u8| self.queue().enumerate().skip(1).filter(move |(_, m)| m.priority == priority);
        let sum = |one: Contender| {
            let mut average = Average::default();
            average.add(one);
            rivals(current.priority).for_each(|(_, m)| average.add(m.contender()));
            average
        };
        if rivals(current.priority).next().is_some() && sum(one).allows(one.vruntime) {
            one.forfeit(params);
        }
        if current.directed
            && let Some((at, _)) =
                rivals(current.priority).find(|(_, m)| m.app == current.app && (!m.polls || m.ready <= end))
        {
            return (one, at);
        }
        let lowest = self.at(1).priority;
        let waiting = rivals(lowest.min(current.priority)).map(|(at, m)| (at, m.contender()));
        let next = if lowest < current.priority {
            let mut average = Average::default();
            rivals(lowest).for_each(|(_, m)| average.add(m.contender()));
            best(&average, None, waiting)
        } else {
            best(&sum(one), Some((one, current.protection)), waiting)
        };
        (one, next.unwrap_or(0))
    }

    /// Charges the current member's cycle, which ends at `end`, and dispatches the one at `next`.
    fn take_turn(&mut self, params: &EevdfParams, one: Contender, next: usize, end: Time) {
        let used = end - self.since;
        let overhead = std::mem::replace(&mut self.overhead, Overhead::NONE);
        self.paid.add(&overhead);
        self.cycles += 1;
        self.since = end;
        self.charged = end;
        let current = self.at_mut(0);
        (current.vruntime, current.vdeadline) = (one.vruntime, one.vdeadline);
        current.cycles += 1;
        current.used += used;
        current.last_ran = Some(end);
        if next == 0 {
            return;
        }
        current.switches += 1;
        self.switches += 1;
        let (old, new) = (*self.at(0), *self.at(next));
        self.overhead = Overhead::switch(self.switch_cost(&old, &new));
        self.order[1..=next].rotate_right(1);
        self.order[..=1].swap(0, 1);
        // From behind the new one to behind the last of the others that does not come after it.
        let key = |m: &Member| (m.priority, m.vdeadline);
        let place = 1 + self.queue().skip(2).take_while(|m| key(m) <= key(&old)).count();
        self.order[1..=place].rotate_left(1);
        self.at_mut(0).protection = new.contender().protection(params);
    }

    fn set_mark(&mut self) {
        let mark = &mut self.mark;
        mark.members.clone_from(&self.members);
        mark.order.clone_from(&self.order);
        mark.since = self.since;
        mark.overhead = self.overhead;
        mark.paid = self.paid;
        mark.cycles = self.cycles;
        mark.switches = self.switches;
    }

    /// True when all members of the priority have the same differences as at the mark.
    fn repeats(&self) -> bool {
        let mark = &self.mark;
        let Some(first) = self.order.first().map(|at| *at as usize) else { return false };
        if mark.order.first() != self.order.first()
            || mark.overhead != self.overhead
            || mark.order != self.order
        {
            return false;
        }
        let shift = self.members[first].vruntime - mark.members[first].vruntime;
        let left = |m: &Member| (m.protection - m.vruntime).max(0);
        left(&self.members[first]) == left(&mark.members[first])
            && self
                .members
                .iter()
                .zip(&mark.members)
                .filter(|(m, _)| m.priority == self.members[first].priority)
                .all(|(now, then)| {
                    now.vruntime - then.vruntime == shift && now.vdeadline - then.vdeadline == shift
                })
    }

    /// Charges as many periods since the mark once more as fit before the limit and before any visibility
    /// time; true when there is no end to them. Virtual times stay: only their differences count.
    fn skip_periods(&mut self, limit: Time) -> bool {
        let priority = self.at(0).priority;
        let sees = self.members.iter().filter(|m| m.priority == priority && m.polls).map(|m| m.ready).min();
        let end = sees.unwrap_or(Time::NEVER).min(limit);
        if end.is_never() {
            return true;
        }
        let period = self.since - self.mark.since;
        let times = end.since(self.since).ns().saturating_sub(1) / period.ns();
        let shift = period * times;
        for (member, then) in self.members.iter_mut().zip(&self.mark.members) {
            if member.cycles > then.cycles {
                member.last_ran = member.last_ran.map(|at| at + shift);
                member.used += (member.used - then.used) * times;
                member.switches += (member.switches - then.switches) * times;
                member.cycles += (member.cycles - then.cycles) * times;
            }
        }
        let switched = self.paid.part(Part::Switch) - self.mark.paid.part(Part::Switch);
        self.paid.grow(Part::Switch, switched * times);
        self.cycles += (self.cycles - self.mark.cycles) * times;
        self.switches += (self.switches - self.mark.switches) * times;
        self.since += shift;
        self.charged = self.since;
        false
    }

    /// A member that is alone goes through cycles of which the first is charged `first` and the others
    /// `each`.
    pub(crate) fn age_alone(&mut self, params: &EevdfParams, first: Span, each: Span, cycles: u64) {
        debug_assert!(self.rule == YieldRule::Eevdf);
        let member = self.at_mut(0);
        let (first, each) = (weighted(first, member.weight), weighted(each, member.weight));
        let mut one = member.contender();
        one.age(first, params);
        let mut rest = cycles as i64 - 1;
        if each > 0 {
            let cycles_to = |virtual_time: i64| 1.max((virtual_time + each - 1) / each);
            let to_deadline = cycles_to(one.vdeadline - one.vruntime);
            if to_deadline <= rest {
                one.age(each * to_deadline, params);
                rest -= to_deadline;
                let request = cycles_to(weighted(params.slice, one.weight));
                if rest >= request {
                    one.age(each * request * (rest / request), params);
                    rest %= request;
                }
            }
            one.age(each * rest, params);
        } else if rest > 0 {
            one.age(0, params);
        }
        (member.vruntime, member.vdeadline) = (one.vruntime, one.vdeadline);
    }
}
