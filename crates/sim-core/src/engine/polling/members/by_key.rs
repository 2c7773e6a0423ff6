//! The pick of a fair yield, which charges its caller and changes nothing else (CFS, plain virtual time): the
//! current task polls until its key is not before that of the first waiting one, which then runs. With slack
//! (the yield of CFS from 2.6.39 to 6.5) that one runs as soon as it is near enough: two tasks then change
//! places at each poll, and one that is far behind polls on until it is not.
//!
//! No rule of a discipline reads more of a task than its key, so that whole rounds of tasks of one weight
//! that poll alike follow from the keys without a search for a recurrence.

use crate::engine::polling::members::{DISPATCHES_PREDICTED, Members, NONE};
use crate::engine::polling::{all_unaware, polls};
use crate::ids::TaskId;
use crate::run_queue::cfs::{weighted, yields_until_behind};
use crate::run_queue::{Slack, Tasks};
use crate::time::{Span, Time};

/// Tasks to read, and dispatches to make, before a long queue is searched for "nothing will ever happen".
pub(crate) const READ_FIRST: usize = 64;

/// Who waits behind a member, or first.
enum Place {
    Empty,
    /// Its number and its key.
    Member(u32, i64),
    /// A task that does not poll, with its key.
    Other(i64),
}

impl Members {
    /// Reads the key of the first task that is not read, if it is of the same priority level.
    #[inline]
    fn look_ahead(&mut self, source: &Tasks) {
        let ahead = self.ahead.some().map(|id| &source[id]).filter(|task| task.priority == self.priority);
        self.ahead_key = ahead.map_or(i64::MAX, |task| task.vruntime);
    }

    /// Who waits behind a member, or first: a member, or the first task that is not read, which becomes one.
    #[inline(always)]
    fn behind(&mut self, previous: u32, source: &Tasks) -> Place {
        let number = if previous == NONE { self.queue.first } else { self.members[previous as usize].next };
        if number == NONE {
            return if self.ahead_key == i64::MAX { Place::Empty } else { self.read_ahead(previous, source) };
        }
        let member = &self.members[number as usize];
        // A task that is not read goes before its equals that have run.
        if self.ahead_key < member.key || (self.ahead_key == member.key && member.cycles > 0) {
            return self.read_ahead(previous, source);
        }
        Place::Member(number, member.key)
    }

    #[inline(never)]
    fn read_ahead(&mut self, previous: u32, source: &Tasks) -> Place {
        let task = &source[self.ahead];
        if !polls(task) {
            return Place::Other(task.vruntime);
        }
        self.alike &= (task.polls, task.weight) == (self.polls, self.weight);
        self.mark.forget();
        let number = self.members.len() as u32;
        self.read(self.ahead, task);
        self.insert(previous, number);
        self.ahead = task.next;
        self.look_ahead(source);
        Place::Member(number, task.vruntime)
    }

    /// As [`Members::run`].
    pub(super) fn run_by_key(&mut self, slack: Option<Slack>, source: &Tasks, limit: Time) -> Time {
        self.slack = slack;
        self.look_ahead(source);
        let head = self.ahead;
        let stay = |members: &mut Self, cycles: u64| {
            members.stay(cycles);
        };
        let mut dispatches = 0;
        loop {
            let next = self.behind(NONE, source);
            let rival = match next {
                Place::Empty => return self.stop(limit, u64::MAX, stay),
                Place::Member(_, key) | Place::Other(key) => key,
            };
            let current = &self.members[self.current as usize];
            let first = self.since + self.overhead + self.cycle;
            let lead = rival - current.key - weighted(first.since(self.charged), self.weight) - self.slack();
            let wanted = yields_until_behind(lead, self.cycle_charge);
            if wanted == u64::MAX {
                return self.stop(limit, wanted, stay);
            }
            // Its last poll of this dispatch comes one call before the end.
            let end = first + self.cycle * (wanted - 1);
            if current.visible.saturating_add(self.prices.call) <= end || end >= limit {
                return self.stop(limit, wanted, stay);
            }
            match next {
                Place::Member(next, _) => {
                    let key = self.stay(wanted);
                    self.switch(key, next);
                }
                _ => {
                    self.stay(wanted - 1);
                    return end;
                }
            }
            dispatches += 1;
            if self.predicts && dispatches >= READ_FIRST {
                if dispatches > DISPATCHES_PREDICTED {
                    return self.end_of_cycle();
                }
                if dispatches == READ_FIRST && self.is_stuck(source, head) {
                    return Time::NEVER;
                }
            }
            let forever = if self.alike && slack.is_none() {
                (dispatches + 1).is_power_of_two() && self.one_after_another(source, limit, dispatches)
            } else {
                self.skip_periods(None, limit, dispatches)
            };
            if forever {
                return Time::NEVER;
            }
        }
    }

    /// By how much the first waiting task may be behind the current one and run instead.
    #[inline]
    fn slack(&self) -> i64 {
        match self.slack {
            None => 0,
            Some(Slack { span, weighed: true }) => weighted(span, self.weight),
            Some(Slack { span, weighed: false }) => span.ns() as i64,
        }
    }

    /// No task of the whole queue will ever observe anything.
    fn is_stuck(&self, source: &Tasks, head: TaskId) -> bool {
        all_unaware(source, (self.members[0].task, head), usize::MAX)
    }

    /// The current task goes through whole cycles. Returns its key.
    #[inline]
    fn stay(&mut self, cycles: u64) -> i64 {
        let member = &mut self.members[self.current as usize];
        if cycles == 0 {
            return member.key;
        }
        let first = self.since + self.overhead + self.cycle;
        member.key += weighted(first.since(self.charged), self.weight);
        member.key += self.cycle_charge * (cycles - 1) as i64;
        let key = member.key;
        self.count(cycles, first + self.cycle * (cycles - 1));
        key
    }

    /// The current task, which has yielded, goes behind all whose keys are not after its own, and the first
    /// one takes the cpu.
    #[inline(always)]
    fn switch(&mut self, key: i64, next: u32) {
        let old = self.current;
        self.queue.first = self.members[next as usize].next;
        let previous = self.behind_equals(key, |member| member.key);
        self.insert(previous, old);
        self.hand_over(old, next);
        self.charge_switch();
    }

    /// After a switch: tasks whose keys are no further apart than a dispatch of one cycle adds run one after
    /// the other, one cycle each. Does their dispatches up to the one in which something happens, and whole
    /// rounds at once; true when they continue forever.
    fn one_after_another(&mut self, source: &Tasks, limit: Time, dispatches: usize) -> bool {
        let growth = weighted(self.switch_charge() + self.cycle, self.weight);
        // At the very start of a run less of a switch is charged than later.
        if self.charged == Time::ZERO {
            return false;
        }
        // Long walks are made where there were many dispatches, so that they do not take longer than these.
        let most = if dispatches + 1 >= READ_FIRST { usize::MAX } else { READ_FIRST };
        let key = self.members[self.current as usize].key;
        let (mut dispatched, mut end) = (0, self.since + self.overhead);
        let (mut previous, mut last, mut beyond) = (NONE, self.current, i64::MAX);
        let mut soonest = limit;
        loop {
            end += self.cycle;
            let visible = self.members[last as usize].visible;
            if visible.saturating_add(self.prices.call) <= end || end >= limit || dispatched == most {
                for _ in 0..dispatched {
                    let (key, next) = (self.stay(1), self.queue.first);
                    self.switch(key, next);
                }
                return false;
            }
            soonest = soonest.min(visible);
            dispatched += 1;
            let behind = self.behind(previous, source);
            if !self.alike {
                return false;
            }
            match behind {
                Place::Member(number, its) if its - key <= growth => {
                    end += self.cost(last, number);
                    (previous, last) = (number, number);
                }
                Place::Member(_, its) | Place::Other(its) => {
                    beyond = its;
                    break;
                }
                Place::Empty => break,
            }
        }
        // The dispatch that has begun must be like the later ones.
        if dispatched == 1 || self.cost(last, self.current) != self.overhead {
            return false;
        }
        let round = end - self.since;
        // Every skipped cycle ends before the limit, and every skipped poll precedes every visibility time:
        // in the first round they do.
        let end = soonest.since(self.since).ns() - 1;
        let mut rounds = if soonest.is_never() { u64::MAX } else { (end / round.ns()).max(1) };
        if beyond < i64::MAX {
            // Behind those who are further ahead no task falls.
            let room = (beyond - self.members[last as usize].key - 1).max(0);
            rounds = rounds.min(room as u64 / growth.max(1) as u64);
        }
        if rounds > 0 && rounds < u64::MAX {
            self.go_round(rounds, dispatched, (round, growth));
        }
        rounds == u64::MAX
    }

    /// The current task and those behind it go through whole rounds, after which they are queued in the same
    /// order.
    fn go_round(&mut self, rounds: u64, group: usize, (round, growth): (Span, i64)) {
        let mut end = self.since + round * (rounds - 1);
        let (mut number, mut next, mut cost) = (self.current, self.queue.first, self.overhead);
        for _ in 0..group {
            let span = cost + self.cycle;
            end += span;
            let member = &mut self.members[number as usize];
            member.key += growth * rounds as i64;
            member.used += span * rounds;
            member.last_ran = end;
            member.cycles += rounds;
            member.switches += rounds;
            self.before = number;
            if next != NONE {
                cost = self.cost(number, next);
                (number, next) = (next, self.members[next as usize].next);
            }
        }
        let group = group as u64;
        self.switching += (round - self.cycle * group) * rounds;
        self.cycles += rounds * group;
        self.switches += rounds * group;
        (self.since, self.picked) = (end, end);
        self.charged += round * rounds;
    }
}
