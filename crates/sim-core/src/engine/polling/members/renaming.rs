//! Finds that the polling of members repeats itself, and skips whole periods of it.
//!
//! The state has recurred when in each place of the queue, and on the cpu, there is a task that is as far
//! ahead of the others as the one that was there at a marked state: whoever it is, it goes on as that one did
//! if their weights, processes and polls are equal. Under EEVDF four equal tasks are in the same places only
//! after 28 dispatches, but others are in the place of each after 7. Where the first of all keys runs, those
//! that have not run since the mark wait behind all others and have no say until these come up to them. A
//! task with a slice recurs only in its own place.
//!
//! In each period a task does what the one in its place at the mark has done, and goes to the place to which
//! that one went. Each task thus goes around in an orbit of places, and its share of any number of periods is
//! a sum over this orbit.

use crate::engine::polling::members::{Member, Members, NONE};
use crate::run_queue::FAR_KEY;
use crate::run_queue::multilevel::{Levels, Setting};
use crate::time::{Span, Time};

/// The first mark, in dispatches; the next ones come after twice as many.
const FIRST_MARK: usize = 4;

/// Periods must be shorter than this number of cycles from the next event for a mark to be set.
const WORTHWHILE: u64 = 8;

/// A place in the order of the queue, the first one that of the current task.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Who was there at the mark, with keys and counts.
    number: u32,
    pub(super) then: Member,
    /// Who is there now, and where the one of the mark is now.
    pub(super) now: u32,
    moves_to: u32,
}

/// What the task in a place at the beginning of a period does in it.
#[derive(Clone, Copy)]
struct Share {
    cycles: u64,
    switches: u64,
    used: Span,
    /// At the end of the first period, where it has run and where it was picked.
    last_ran: Option<Time>,
    protection: Option<i64>,
}

/// The state of polling at the beginning of a dispatch, to recognise it when it recurs.
#[derive(Default)]
pub(super) struct Mark {
    is_set: bool,
    /// The dispatch of the next one, and that from which they are counted.
    due: usize,
    from: usize,
    places: Vec<Place>,
    /// How many of them, from the first one, take part.
    taking_part: usize,
    groups: Vec<(i64, i64)>,
    base: i64,
    /// See [`Members::lead`].
    lead: (i64, i64),
    overhead: Span,
    since: Time,
    switching: Span,
    cycles: u64,
    switches: u64,
    // For an orbit of places: these, what happens in each, and who is there.
    orbit: Vec<u32>,
    shares: Vec<Share>,
    whose: Vec<u32>,
}

impl Mark {
    /// There is none yet at this dispatch.
    pub(super) fn clear(&mut self, dispatch: usize) {
        (self.is_set, self.due, self.from) = (false, dispatch + FIRST_MARK, dispatch);
    }

    /// The present one is of other members.
    pub(super) fn forget(&mut self) {
        self.is_set = false;
    }
}

/// What is left of a protection.
fn left(member: &Member) -> i64 {
    (member.protection - member.key).max(0)
}

impl Members {
    /// At the beginning of a dispatch: skips as many whole periods as pass without event; true when they
    /// continue forever.
    #[inline(always)]
    pub(super) fn skip_periods(
        &mut self,
        levels: Option<&dyn Levels>,
        limit: Time,
        dispatches: usize,
    ) -> bool {
        let calls = dispatches >= self.mark.due || self.looks_the_same();
        calls && self.compare_or_mark(levels, limit, dispatches)
    }

    #[inline(never)]
    fn compare_or_mark(&mut self, levels: Option<&dyn Levels>, limit: Time, dispatches: usize) -> bool {
        if self.mark.is_set && self.looks_the_same() && self.has_recurred() {
            return self.skip(levels, limit, dispatches);
        }
        // At the very start of a run less of a switch is charged than later.
        if dispatches >= self.mark.due && (self.by_deadline || self.charged > Time::ZERO) {
            let room = self.soonest(self.members.len()).min(limit).since(self.since);
            if room > self.cycle * WORTHWHILE {
                self.set_mark(dispatches);
            } else {
                self.mark.due = usize::MAX;
            }
        }
        false
    }

    /// When the first of those in so many places observes the end of its wait.
    fn soonest(&self, places: usize) -> Time {
        if self.by_deadline {
            return self.queue.soonest;
        }
        let (mut soonest, mut number) = (self.members[self.current as usize].visible, self.queue.first);
        for _ in 1..places {
            let Some(member) = self.members.get(number as usize) else { break };
            (soonest, number) = (soonest.min(member.visible), member.next);
        }
        soonest
    }

    #[inline(never)]
    pub(super) fn set_mark(&mut self, dispatches: usize) {
        self.sync_around();
        let Self { members, mark, around, .. } = self;
        mark.places.clear();
        let mut number = self.current;
        let mut next = self.queue.first;
        loop {
            let member = &mut members[number as usize];
            (member.place, member.renewed) = (mark.places.len() as u32, false);
            mark.places.push(Place { number, then: *member, now: number, moves_to: 0 });
            if next == NONE {
                break;
            }
            (number, next) = (next, members[next as usize].next);
        }
        mark.groups.clear();
        let keys = |group: &u32| (members[*group as usize].key, members[*group as usize].deadline);
        mark.groups.extend(around.iter().map(keys));
        (mark.is_set, mark.due) = (true, 2 * dispatches - mark.from);
        (self.mark.base, self.mark.lead) = (self.base, self.lead());
        let mark = &mut self.mark;
        (mark.overhead, mark.since, mark.switching) = (self.overhead, self.since, self.switching);
        (mark.cycles, mark.switches) = (self.cycles, self.switches);
    }

    /// The current task is to its deadline and to the first one that waits as the one at the mark was; also
    /// without a mark.
    #[inline(always)]
    fn looks_the_same(&self) -> bool {
        self.lead() == self.mark.lead && self.overhead == self.mark.overhead
    }

    /// How far the current task is from its deadline, and the first one that waits from it.
    #[inline(always)]
    fn lead(&self) -> (i64, i64) {
        let current = &self.members[self.current as usize];
        let deadline = if self.by_deadline { current.deadline - current.key } else { 0 };
        (deadline, self.members.get(self.queue.first as usize).map_or(0, |next| next.key - current.key))
    }

    /// In each place there is a task like the one that was there at the mark, all keys having grown by the
    /// same amount. Notes who is where.
    #[inline(never)]
    pub(super) fn has_recurred(&mut self) -> bool {
        let (by_deadline, in_place) = (self.by_deadline, !self.shares.is_empty());
        let Self { members, mark, .. } = self;
        let growth = members[self.current as usize].key - mark.places[0].then.key;
        if left(&members[self.current as usize]) != left(&mark.places[0].then) && by_deadline {
            return false;
        }
        if in_place && self.base - mark.base != growth {
            return false;
        }
        let (mut number, mut next) = (self.current, self.queue.first);
        mark.taking_part = mark.places.len();
        for place in 0..mark.places.len() {
            let (now, then) = (&members[number as usize], &mark.places[place].then);
            let waits = number == mark.places[place].number && now.cycles == then.cycles;
            if waits && !by_deadline {
                mark.taking_part = mark.taking_part.min(place);
            } else {
                let alike = (now.weight, now.polls, now.process) == (then.weight, then.polls, then.process);
                let deadlines = !by_deadline || now.deadline - then.deadline == growth;
                let here = place < mark.taking_part && (!in_place || number == mark.places[place].number);
                if !alike || !here || !deadlines || now.key - then.key != growth {
                    return false;
                }
                mark.places[now.place as usize].moves_to = place as u32;
            }
            mark.places[place].now = number;
            if next != NONE {
                (number, next) = (next, members[next as usize].next);
            }
        }
        true
    }

    /// For how many periods nothing but yields changes the order of those that take part.
    fn periods_unchanged(&self, levels: Option<&dyn Levels>, growth: i64) -> u64 {
        let mark = &self.mark;
        let mut most = u64::MAX;
        for (number, (key, deadline)) in self.around.iter().zip(&mark.groups) {
            let group = &self.members[*number as usize];
            // Else a request of the group has ended in between.
            let kept = group.deadline == *deadline;
            most = most.min(if kept { self.periods_kept(*number, group.key - key) } else { 0 });
        }
        if self.by_deadline {
            return most;
        }
        let key = |place: &Place| self.members[place.now as usize].key;
        let (part, rest) = mark.places.split_at(mark.taking_part);
        let beyond = rest.first().map_or(i64::MAX, key).min(self.ahead_key);
        if growth > 0 && beyond < i64::MAX {
            // Behind those that are further ahead no task falls.
            let last = part.iter().map(key).max().unwrap_or(beyond);
            most = (beyond - last - 1).max(0) as u64 / growth as u64;
        }
        if let Some(levels) = levels {
            let periods = part.iter().map(|place| self.periods_in_slice(levels, place.now, &place.then));
            most = most.min(periods.min().unwrap_or(0));
        }
        most
    }

    /// How often what has happened since the mark happens again before anything else does.
    fn skip(&mut self, levels: Option<&dyn Levels>, limit: Time, dispatches: usize) -> bool {
        self.sync_around();
        let mark = &self.mark;
        let growth = self.members[self.current as usize].key - mark.places[0].then.key;
        let mut most = self.periods_unchanged(levels, growth);
        // Every skipped cycle ends before the limit, and every skipped poll precedes every visibility time.
        let end = self.soonest(mark.taking_part).min(limit);
        let forever = if self.by_deadline { !self.contested } else { most == u64::MAX };
        if end.is_never() && forever {
            return true;
        }
        if growth > 0 {
            let farthest = self.members.iter().map(|member| member.key).max().unwrap_or(0);
            most = most.min((FAR_KEY - 1 - farthest).max(0) as u64 / growth as u64);
        }
        let period = self.since - mark.since;
        let room = if end.is_never() {
            u64::MAX
        } else {
            end.since(self.since).ns().saturating_sub(1) / period.ns()
        };
        let times = room.min(most);
        if times > 0 {
            self.repeat(levels, times, growth);
        }
        self.mark.is_set = false;
        self.mark.due = match times {
            _ if times == room => usize::MAX,
            // A request of a group around ends, or a group loses the cpu.
            0 => dispatches + FIRST_MARK,
            _ => dispatches + 1,
        };
        false
    }

    /// What has happened since the mark happens again, this number of times.
    fn repeat(&mut self, levels: Option<&dyn Levels>, times: u64, growth: i64) {
        let mut mark = std::mem::take(&mut self.mark);
        let period = self.since - mark.since;
        if let Some(levels) = levels {
            self.use_slices(levels, &mark.places[..mark.taking_part], times);
        }
        mark.whose.clear();
        mark.whose.extend(mark.places.iter().map(|place| place.now));
        mark.whose[..mark.taking_part].fill(NONE);
        for first in 0..mark.taking_part as u32 {
            if mark.whose[first as usize] == NONE {
                self.repeat_orbit(&mut mark, first, times, (period, growth));
            }
        }
        self.queue.sum += i128::from(self.queue.load) * i128::from(growth) * i128::from(times);
        for (number, (key, _)) in self.around.iter().zip(&mark.groups) {
            let group = &mut self.members[*number as usize];
            group.key += (group.key - key) * times as i64;
        }
        self.switching += (self.switching - mark.switching) * times;
        self.cycles += (self.cycles - mark.cycles) * times;
        self.switches += (self.switches - mark.switches) * times;
        self.since += period * times;
        self.charged += period * times;
        (self.around_from, self.around_until) = (self.charged, Time::ZERO);
        self.base += (self.base - mark.base) * times as i64;
        // The one that is switched out last goes to the same place in each period.
        if let Some(at) = mark.places.iter().position(|place| place.now == self.before) {
            self.before = mark.whose[at];
        }
        (self.current, self.picked) = (mark.whose[0], self.since);
        (self.queue.first, self.queue.last) = (NONE, NONE);
        self.waits += 1;
        for number in &mark.whose[1..] {
            self.insert(self.queue.last, *number);
            self.members[*number as usize].waits_from = self.waits;
        }
        self.mark = mark;
    }

    /// The tasks in the orbit of places to which one belongs do, period after period, what was done from the
    /// place in which they are.
    fn repeat_orbit(&mut self, mark: &mut Mark, first: u32, times: u64, (period, growth): (Span, i64)) {
        let Mark { places, orbit, shares, whose, .. } = mark;
        orbit.clear();
        shares.clear();
        let mut place = first;
        loop {
            orbit.push(place);
            let Place { number, then, moves_to, .. } = &places[place as usize];
            let now = &self.members[*number as usize];
            shares.push(Share {
                cycles: now.cycles - then.cycles,
                switches: now.switches - then.switches,
                used: now.used - then.used,
                last_ran: (now.cycles > then.cycles).then_some(now.last_ran),
                protection: now.renewed.then_some(now.protection),
            });
            place = *moves_to;
            if place == first {
                break;
            }
        }
        let length = orbit.len();
        let sum = |from: usize, count: usize| {
            (from..from + count).map(|at| shares[at % length]).fold((0, 0, Span::ZERO), |sum, share| {
                (sum.0 + share.cycles, sum.1 + share.switches, sum.2 + share.used)
            })
        };
        let (rounds, rest) = (times / length as u64, (times % length as u64) as usize);
        let whole = sum(0, length);
        let mut part = sum(0, rest);
        for (at, place) in orbit.iter().enumerate() {
            let goes_to = orbit[(at + rest) % length] as usize;
            let number = places[*place as usize].now;
            whose[goes_to] = number;
            let member = &mut self.members[number as usize];
            member.cycles += whole.0 * rounds + part.0;
            member.switches += whole.1 * rounds + part.1;
            member.used += whole.2 * rounds + part.2;
            // The last periods in which it has run and in which it was picked.
            let last = |of: &dyn Fn(&Share) -> bool| {
                let back = (0..length.min(usize::try_from(times).unwrap_or(length)))
                    .find(|back| of(&shares[(at + rest + length - 1 - back) % length]));
                back.map(|back| (times - back as u64, shares[(at + rest + length - 1 - back) % length]))
            };
            if let Some((periods, Share { last_ran: Some(last_ran), .. })) =
                last(&|share| share.last_ran.is_some())
            {
                member.last_ran = last_ran + period * periods;
            }
            if let Some((periods, Share { protection: Some(protection), .. })) =
                last(&|share| share.protection.is_some())
            {
                member.protection = protection + growth * periods as i64;
            }
            let then = &places[goes_to].then;
            member.key = then.key + growth * (times + 1) as i64;
            if self.by_deadline {
                member.deadline = then.deadline + growth * (times + 1) as i64;
            }
            // The window moves on by a place.
            let (leaves, enters) = (shares[at], shares[(at + rest) % length]);
            part.0 = part.0 + enters.cycles - leaves.cycles;
            part.1 = part.1 + enters.switches - leaves.switches;
            part.2 = part.2 + enters.used - leaves.used;
        }
    }

    pub(super) const fn setting(&self, contested: bool) -> Setting {
        // Into which array an expired task would go does not matter: it yields at once.
        let (base, running, from, starving) = (self.base, self.running, self.charged, Time::NEVER);
        Setting { base, running, contested, from, starving }
    }

    /// For what time a member has been charged since the mark at which it was in the same place.
    fn charged_since(&self, number: u32, then: &Member) -> Span {
        let now = &self.members[number as usize];
        let cycle = self.looks[now.polls as usize].poll + self.prices.call;
        cycle * (now.cycles - then.cycles) + self.switch_charge() * (now.switches - then.switches)
    }

    /// For how many periods, in each of which a member is charged as since the mark, its key grows by its
    /// yields only: within its slice, or for ever when the end of a slice changes nothing.
    fn periods_in_slice(&self, levels: &dyn Levels, number: u32, then: &Member) -> u64 {
        let (member, share) = (&self.members[number as usize], &self.shares[number as usize]);
        if levels.steady(member.key, member.weight, share) {
            return u64::MAX;
        }
        let room = levels.room(share, member.key, member.weight, self.running);
        room.saturating_sub(1) / self.charged_since(number, then).ns().max(1)
    }

    /// The members in these places go through so many periods.
    fn use_slices(&mut self, levels: &dyn Levels, places: &[Place], times: u64) {
        for Place { now, then, .. } in places {
            let (setting, span) = (self.setting(true), self.charged_since(*now, then) * times);
            let Member { mut key, weight, .. } = self.members[*now as usize];
            let share = &mut self.shares[*now as usize];
            levels.run(&setting, weight, &mut key, share, span);
            share.expired = false;
        }
    }

    /// For how many periods, in each of which it grows older by `growth`, a group around the current task
    /// keeps the cpu and its request: as long as it is eligible, and protected or the one with the earliest
    /// deadline.
    fn periods_kept(&self, number: u32, growth: i64) -> u64 {
        let group = &self.members[number as usize];
        let queue = &self.levels[group.level as usize];
        let mut last = group.deadline - 1;
        if queue.first != NONE {
            // It is not ahead of the mean of all as long as it is not ahead of that of the others.
            last = last.min(queue.sum.div_euclid(i128::from(queue.load)) as i64);
            if self.members[queue.first as usize].deadline <= group.deadline {
                last = last.min(group.protection - 1);
            }
        }
        (last - group.key).max(0) as u64 / growth.max(1) as u64
    }
}
