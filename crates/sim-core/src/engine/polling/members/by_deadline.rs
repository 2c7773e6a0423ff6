//! The pick of EEVDF on members: a yield forfeits the rest of a request unless its caller is ahead of the
//! weighted mean, and the earliest deadline among those that are not ahead runs (`run_queue::eligibility`).
//!
//! The mean of those that wait is kept as two sums. Task groups: `levels`.

use crate::engine::polling::members::{DISPATCHES_PREDICTED, Member, Members, NONE};
use crate::engine::polling::{cycles_before, polls, polls_before, visible_at};
use crate::engine::state::Cpu;
use crate::run_queue::cfs::weighted;
use crate::run_queue::{Contender, FAR_KEY, Requests, Tasks, slices};
use crate::time::{Span, Time};

/// The members that wait in a level.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    /// The first and the last of them, in the order of their keys.
    pub(super) first: u32,
    pub(super) last: u32,
    // By deadline only: the sum of the weights, and of weight times key.
    pub(super) load: i64,
    pub(super) sum: i128,
    /// When the first of the level observes the end of its wait; at once where one does not poll.
    pub(super) soonest: Time,
}

impl Queue {
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE, load: 0, sum: 0, soonest: Time::NEVER };
}

/// A yield of the current task: its key and deadline then, who runs next, and who waits before that one.
pub(super) struct Yield {
    pub(super) key: i64,
    pub(super) deadline: i64,
    pub(super) protection: i64,
    pub(super) next: u32,
    pub(super) previous: u32,
}

impl Members {
    /// As [`Members::run`].
    pub(super) fn run_by_deadline(
        &mut self,
        requests: Requests,
        source: (&Tasks, &Cpu),
        limit: Time,
    ) -> Time {
        self.read_level(requests, source);
        let most = DISPATCHES_PREDICTED + 2 * self.members.len();
        let (mut dispatches, mut bound) = (0, limit.min(self.exhausted));
        loop {
            if self.queue.first == NONE && !self.contested {
                return self.stop_by(limit, u64::MAX);
            }
            let end = self.since + self.overhead + self.cycle;
            let current = &self.members[self.current as usize];
            // Its poll comes one call before the end.
            if current.visible.saturating_add(self.prices.call) <= end || end >= bound {
                return self.stop_by(limit, 1);
            }
            let (caller, after) = (self.current, self.yields(end));
            let polls = |next: u32| self.members[next as usize].polls != 0;
            if self.divided
                && let Some(turn) = self.next_turn(end, after.next)
            {
                if !turn.task.is_some_and(polls) {
                    return end;
                }
                self.change_turns(&after, &turn, end);
                bound = limit.min(self.exhausted);
                self.mark.clear(dispatches + 1);
            } else {
                if !polls(after.next) {
                    return end;
                }
                self.dispatch(&after, end);
                if self.pushes && after.next == caller {
                    self.stay_eligible(bound);
                }
            }
            dispatches += 1;
            if after.key >= FAR_KEY {
                self.move_origin(caller);
                self.mark.clear(dispatches);
            }
            if self.predicts && dispatches > most {
                return self.end_of_cycle();
            }
            if self.skip_periods(None, bound, dispatches) {
                return Time::NEVER;
            }
        }
    }

    /// As [`Members::stop`], or up to the cycle after which a group around has no cpu time left.
    fn stop_by(&mut self, limit: Time, wanted: u64) -> Time {
        let bound = limit.min(self.exhausted);
        let due = self.stop(bound, wanted, Self::stay_alone);
        if due == bound && bound < limit { self.end_of_cycle() } else { due }
    }

    /// Reads all tasks that compete with the current one.
    pub(super) fn read_level(&mut self, requests: Requests, (source, record): (&Tasks, &Cpu)) {
        self.by_deadline = true;
        (self.pushes, self.unprotects) = (requests.pushes, requests.unprotects);
        self.timed = requests.timed;
        self.begin_levels(source, record);
        self.begin_request(0, requests, source);
        let grouped = record.rare.group_count > 0;
        while let Some(id) = self.ahead.some() {
            let task = &source[id];
            if task.priority != self.priority {
                break;
            }
            let number = self.members.len() as u32;
            self.read(id, task);
            if grouped {
                self.divided |= task.history.group != self.members[0].level;
                self.members[number as usize].level = task.history.group;
                self.enter(task.history.group);
            }
            self.insert(self.queue.last, number);
            self.begin_request(number, requests, source);
            self.alike &= (task.polls, task.weight) == (self.polls, self.weight);
            self.count_waiting(number, 1);
            self.ahead = task.next;
        }
        if grouped {
            self.read_groups(requests, source, record);
        }
        if requests.shared && record.rare.own_slices {
            self.share_protection();
        }
    }

    /// Each member is protected for the shortest request of its level at most.
    #[cold]
    fn share_protection(&mut self) {
        for number in 0..self.members.len() {
            let Member { level, slice, weight, .. } = self.members[number];
            let here = self.members.iter().filter(|other| other.level == level);
            let least = here.map(|other| other.slice).min().unwrap_or(slice);
            let protected = if least < slice { weighted(least, weight) } else { i64::MAX };
            self.members[number].protected = protected;
        }
    }

    /// Reads what EEVDF orders a member by.
    #[inline]
    pub(super) fn begin_request(&mut self, number: u32, requests: Requests, source: &Tasks) {
        let member = &mut self.members[number as usize];
        let task = &source[member.task];
        (member.deadline, member.protection) = (task.history.vdeadline, task.history.protection);
        member.slice = slices::of(requests.slice, task);
        member.request = weighted(member.slice, member.weight);
        member.protected = if requests.protected < member.slice {
            weighted(requests.protected, member.weight)
        } else {
            i64::MAX
        };
        self.queue.soonest = self.queue.soonest.min(if polls(task) { visible_at(task) } else { Time::ZERO });
    }

    /// A member begins to wait, or no longer does (-1).
    #[inline(always)]
    pub(super) fn count_waiting(&mut self, number: u32, times: i64) {
        let member = &self.members[number as usize];
        let weight = i64::from(member.weight) * times;
        self.queue.load += weight;
        self.queue.sum += i128::from(weight) * i128::from(member.key);
    }

    /// Key and deadline of a member that runs up to `end`.
    #[inline(always)]
    pub(super) fn aged(&self, member: &Member, end: Time) -> (i64, i64) {
        Self::aged_from(self.charged, member, end)
    }

    #[inline(always)]
    fn aged_from(begin: Time, member: &Member, end: Time) -> (i64, i64) {
        let (mut key, mut deadline) = (member.key, member.deadline);
        if end > begin {
            key += weighted(end - begin, member.weight);
            if key >= deadline {
                deadline = key + member.request;
            }
        }
        (key, deadline)
    }

    /// The current task yields at `end`: what it forfeits, and who is picked in its level.
    #[inline(always)]
    fn yields(&self, end: Time) -> Yield {
        let current = &self.members[self.current as usize];
        let (mut key, mut deadline) = self.aged(current, end);
        let weight = i128::from(current.weight);
        let load = i128::from(self.queue.load + i64::from(current.weight));
        let mut sum = self.queue.sum + weight * i128::from(key);
        let mut eligible = i128::from(key) * load <= sum;
        let mut protection = current.protection;
        if self.pushes {
            let mut one = Contender { weight: current.weight, vruntime: key, vdeadline: deadline };
            one.push(current.request, 1);
            deadline = one.vdeadline;
            protection = if self.unprotects { key } else { protection };
        } else if eligible {
            sum += weight * i128::from(deadline - key);
            key = deadline;
            deadline += current.request;
            eligible = i128::from(key) * load <= sum;
        }
        let stays = Yield { key, deadline, protection, next: self.current, previous: NONE };
        self.pick(self.queue.first, stays, (load, sum), eligible)
    }

    /// Who is picked in a level in which one runs that would stay, with the sums of all. The waiting ones are
    /// in the order of their deadlines, so that the first eligible one is the best of them.
    #[inline(always)]
    pub(super) fn pick(&self, first: u32, stays: Yield, (load, sum): (i128, i128), eligible: bool) -> Yield {
        if eligible && stays.key < stays.protection {
            return stays;
        }
        let (mut previous, mut next) = (NONE, first);
        while next != NONE {
            let member = &self.members[next as usize];
            if i128::from(member.key) * load <= sum {
                let keeps = eligible && stays.deadline < member.deadline;
                return if keeps { stays } else { Yield { next, previous, ..stays } };
            }
            (previous, next) = (next, member.next);
        }
        stays
    }

    /// The groups around the current task run up to `end`, a yield at which requests of theirs may end.
    #[inline(always)]
    pub(super) fn age_around(&mut self, end: Time) {
        if self.divided {
            for at in 0..self.around.len() {
                let number = self.around[at] as usize;
                let (key, deadline) = self.aged(&self.members[number], end);
                (self.members[number].key, self.members[number].deadline) = (key, deadline);
            }
            self.around_from = end;
        } else if end >= self.around_until {
            self.renew_around(end);
        }
    }

    #[inline(never)]
    fn renew_around(&mut self, end: Time) {
        self.around_until = Time::NEVER;
        for at in 0..self.around.len() {
            let member = &mut self.members[self.around[at] as usize];
            (member.key, member.deadline) = Self::aged_from(self.around_from, member, end);
            // How long it takes does not depend on the yields in between where a nanosecond is a whole
            // number.
            let each = weighted(Span::from_ns(1), member.weight);
            let whole = each * i64::from(member.weight) == weighted(Span::from_ns(1), 1);
            let left = if whole { ((member.deadline - member.key - 1).max(0) / each) as u64 } else { 0 };
            self.around_until = self.around_until.min(end.saturating_add(Span::from_ns(left)));
        }
        self.around_from = end;
    }

    /// The groups around the current task are as old as it is.
    #[inline]
    pub(super) fn sync_around(&mut self) {
        if self.around_from < self.charged && !self.around.is_empty() {
            self.renew_around(self.charged);
        }
    }

    /// A member is protected from now on: it has been picked.
    #[inline(always)]
    pub(super) fn protect(&mut self, number: u32) {
        let member = &mut self.members[number as usize];
        member.protection = member.deadline.min(member.key.saturating_add(member.protected));
        member.renewed = true;
    }

    /// A member is as a yield has left it.
    #[inline(always)]
    pub(super) fn has_yielded(&mut self, number: u32, after: &Yield) {
        let member = &mut self.members[number as usize];
        (member.key, member.deadline) = (after.key, after.deadline);
        if self.unprotects {
            (member.protection, member.renewed) = (after.protection, true);
        }
    }

    /// Behind whom a member waits: tasks with the same deadline as they come, groups behind them.
    #[inline(always)]
    pub(super) fn behind_deadline(&self, number: u32) -> u32 {
        let member = &self.members[number as usize];
        if !self.divided {
            return self.behind_equals(member.deadline, |other| other.deadline);
        }
        self.behind_equals((member.deadline, member.inside), |other| (other.deadline, other.inside))
    }

    /// The current task has yielded at `end`, and the next one is dispatched.
    #[inline(always)]
    fn dispatch(&mut self, after: &Yield, end: Time) {
        let old = self.current;
        self.age_around(end);
        self.count(1, end);
        self.has_yielded(old, after);
        if after.next == old {
            return;
        }
        self.count_waiting(after.next, -1);
        self.remove(after.previous, after.next);
        self.put(old);
        self.hand_over(old, after.next);
        // The switch is charged to the task that comes: from `end` on.
        self.protect(after.next);
    }

    /// The current task, whose yields move its deadline on, goes through the cycles after which it is picked
    /// again: as long as no other one is eligible, or it is eligible and protected. Both end at some key of
    /// its own, and each cycle adds the same to it.
    #[inline(never)]
    fn stay_eligible(&mut self, bound: Time) {
        let current = &self.members[self.current as usize];
        let (each, weight) = (self.cycle_charge, i128::from(current.weight));
        // Else a cycle may use up its request.
        if self.queue.first == NONE || !self.around.is_empty() || current.request <= each || each <= 0 {
            return;
        }
        let (mut least, mut number) = (i64::MAX, self.queue.first);
        while number != NONE {
            let member = &self.members[number as usize];
            (least, number) = (least.min(member.key), member.next);
        }
        let all = i128::from(self.queue.load) + weight;
        let alone = (i128::from(least) * all - self.queue.sum - 1).div_euclid(weight);
        let mean = self.queue.sum.div_euclid(i128::from(self.queue.load));
        let last = alone.max(mean.min(i128::from(current.protection) - 1));
        let kept = u64::try_from((last - i128::from(current.key)) / i128::from(each)).unwrap_or(0);
        let unaware = polls_before(current.visible, self.since + self.look.poll, self.cycle);
        let cycles = kept.min(unaware).min(cycles_before(bound, self.since + self.cycle, self.cycle));
        if cycles == 0 || cycles == u64::MAX {
            return;
        }
        let (weight, vruntime) = (current.weight, current.key + each * cycles as i64);
        let mut one = Contender { weight, vruntime, vdeadline: current.deadline };
        one.push(current.request, cycles as i64);
        let protection = if self.unprotects { vruntime } else { current.protection };
        let after =
            Yield { key: vruntime, deadline: one.vdeadline, protection, next: self.current, previous: NONE };
        self.count(cycles, self.since + self.cycle * cycles);
        self.has_yielded(self.current, &after);
    }

    /// Each yield may move the key of its caller on by a request. Before the numbers exceed 64 bits, the same
    /// one is subtracted from all of its level.
    #[cold]
    #[inline(never)]
    fn move_origin(&mut self, caller: u32) {
        let Member { level, key: origin, .. } = self.members[caller as usize];
        self.waits += 1;
        for member in self.members.iter_mut().filter(|member| member.level == level) {
            // How long ago its protection ended does not matter.
            member.protection = member.protection.max(member.key) - origin;
            member.deadline -= origin;
            member.key -= origin;
            member.waits_from = self.waits;
        }
        let present = self.level == level;
        let queue = if present { &mut self.queue } else { &mut self.levels[level as usize] };
        queue.sum -= i128::from(queue.load) * i128::from(origin);
        self.moved = true;
    }

    /// The current task goes through whole cycles while no other waits: it and the groups around it age.
    fn stay_alone(&mut self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        self.sync_around();
        let first = self.since + self.overhead + self.cycle;
        let (span, cycle) = (first.since(self.charged), self.cycle);
        let ages = |member: &mut Member| {
            let (weight, vruntime, vdeadline) = (member.weight, member.key, member.deadline);
            let mut one = Contender { weight, vruntime, vdeadline };
            if span > Span::ZERO {
                one.age_by(weighted(span, weight), member.request);
            }
            one.age_often(weighted(cycle, weight), (cycles - 1) as i64, member.request);
            (member.key, member.deadline) = (one.vruntime, one.vdeadline);
        };
        for number in self.around.iter().chain([&self.current]) {
            ages(&mut self.members[*number as usize]);
        }
        self.count(cycles, first + cycle * (cycles - 1));
        (self.around_from, self.around_until) = (self.charged, Time::ZERO);
    }

    /// Writes keys, deadlines and protections back.
    pub(super) fn store_requests(&mut self, tasks: &mut Tasks) {
        for (number, member) in self.members.iter().enumerate() {
            if member.cycles > 0 || number == self.current as usize || self.moved {
                let task = &mut tasks[member.task];
                task.vruntime = member.key;
                (task.history.vdeadline, task.history.protection) = (member.deadline, member.protection);
            }
        }
        if !self.levels.is_empty() {
            self.store_groups(tasks);
        }
    }
}
