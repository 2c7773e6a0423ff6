//! The pick of EEVDF on members: a yield forfeits the rest of a request unless its caller is ahead of the
//! weighted mean, and the earliest deadline among those that are not ahead runs (`run_queue::eligibility`).
//!
//! The mean of those that wait is kept as two sums. Task groups are covered where all tasks of the cpu are in
//! one group and no other competes with it or with one around it: each of them then only ages.

use crate::engine::polling::members::{Members, NONE};
use crate::engine::polling::queue_copy::DISPATCHES_PREDICTED;
use crate::engine::polling::{polls, visible_at};
use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::cfs::weighted;
use crate::run_queue::{Contender, FAR_KEY, Requests, Tasks, groups};
use crate::time::{Span, Time};

/// A task group around all tasks of a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Around {
    pub(super) entity: TaskId,
    pub(super) one: Contender,
}

/// A yield of the current task: its key and deadline then, who runs next, and who waits before that one.
struct Yield {
    key: i64,
    deadline: i64,
    next: u32,
    previous: u32,
}

impl Members {
    /// As [`Members::run`]. None when a task of a better priority waits, when task groups compete, or when
    /// virtual times become so large that the origin moves.
    pub(super) fn run_by_deadline(
        &mut self,
        requests: Requests,
        (source, record): (&Tasks, &Cpu),
        limit: Time,
    ) -> Option<Time> {
        if !self.read_level(requests, source) || !self.read_groups(source, record) {
            return None;
        }
        let most = DISPATCHES_PREDICTED + 2 * self.members.len();
        let mut dispatches = 0;
        loop {
            if self.first == NONE {
                return Some(self.stop(limit, u64::MAX, Self::stay_alone));
            }
            let end = self.since + self.overhead + self.cycle;
            let current = &self.members[self.current as usize];
            // Its poll comes one call before the end.
            if current.visible.saturating_add(self.prices.call) <= end || end >= limit {
                return Some(self.stop(limit, 1, Self::stay_alone));
            }
            let after = self.yields(end);
            if self.members[after.next as usize].polls == 0 {
                return Some(end);
            }
            if after.key >= FAR_KEY {
                return None;
            }
            self.dispatch(&after, end);
            dispatches += 1;
            if limit.is_never() && dispatches > most {
                return Some(self.end_of_cycle());
            }
            if self.skip_periods(limit, dispatches) {
                return Some(Time::NEVER);
            }
        }
    }

    /// Reads all tasks that compete with the current one. False when one of a better priority waits.
    pub(super) fn read_level(&mut self, requests: Requests, source: &Tasks) -> bool {
        self.slice = requests.slice;
        (self.load, self.sum, self.alike, self.ahead_key) = (0, 0, true, i64::MAX);
        self.soonest = Time::NEVER;
        self.begin_request(0, requests, source);
        if self.ahead.some().is_some_and(|head| source[head].priority < self.priority) {
            return false;
        }
        while let Some(id) = self.ahead.some() {
            let task = &source[id];
            if task.priority != self.priority {
                break;
            }
            let number = self.members.len() as u32;
            self.read(id, task);
            self.insert(self.last, number);
            self.begin_request(number, requests, source);
            self.alike &= task.polls == self.polls;
            self.count_waiting(number, 1);
            self.ahead = task.next;
        }
        self.mark.clear();
        true
    }

    /// Reads what EEVDF orders a member by.
    #[inline]
    fn begin_request(&mut self, number: u32, requests: Requests, source: &Tasks) {
        let member = &mut self.members[number as usize];
        let task = &source[member.task];
        (member.deadline, member.protection) = (task.history.vdeadline, task.history.protection);
        member.request = weighted(requests.slice, member.weight);
        member.protected = if requests.protected < requests.slice {
            weighted(requests.protected, member.weight)
        } else {
            i64::MAX
        };
        self.soonest = self.soonest.min(if polls(task) { visible_at(task) } else { Time::ZERO });
    }

    /// Reads the groups around the current task. False when something else competes with one of them.
    #[inline]
    fn read_groups(&mut self, source: &Tasks, record: &Cpu) -> bool {
        self.groups.clear();
        if record.rare.group_count == 0 {
            return true;
        }
        let group = |member: TaskId| groups::of(source, record, member);
        let own = group(self.members[0].task);
        if self.ahead.some().is_some() || self.members.iter().any(|member| group(member.task) != own) {
            return false;
        }
        for entity in groups::chain(source, record, self.members[0].task).skip(1) {
            self.groups.push(Around { entity, one: Contender::of(&source[entity]) });
        }
        let queued = groups::all(record).filter(|entity| source[*entity].history.queued).count();
        queued == self.groups.len()
    }

    /// A member begins to wait, or no longer does (-1).
    #[inline(always)]
    fn count_waiting(&mut self, number: u32, times: i64) {
        let member = &self.members[number as usize];
        let weight = i64::from(member.weight) * times;
        self.load += weight;
        self.sum += i128::from(weight) * i128::from(member.key);
    }

    /// The current task yields at `end`: who is picked. The waiting ones are in the order of their deadlines,
    /// so that the first eligible one is the best of them.
    #[inline(always)]
    fn yields(&self, end: Time) -> Yield {
        let current = &self.members[self.current as usize];
        let (mut key, mut deadline) = (current.key, current.deadline);
        if end > self.charged {
            key += weighted(end - self.charged, current.weight);
            if key >= deadline {
                deadline = key + current.request;
            }
        }
        let weight = i128::from(current.weight);
        let load = i128::from(self.load + i64::from(current.weight));
        let mut sum = self.sum + weight * i128::from(key);
        let mut eligible = i128::from(key) * load <= sum;
        if eligible {
            sum += weight * i128::from(deadline - key);
            key = deadline;
            deadline += current.request;
            eligible = i128::from(key) * load <= sum;
        }
        let keeps = Yield { key, deadline, next: self.current, previous: NONE };
        if eligible && key < current.protection {
            return keeps;
        }
        let (mut previous, mut next) = (NONE, self.first);
        while next != NONE {
            let member = &self.members[next as usize];
            if i128::from(member.key) * load <= sum {
                let stays = eligible && deadline < member.deadline;
                return if stays { keeps } else { Yield { next, previous, ..keeps } };
            }
            (previous, next) = (next, member.next);
        }
        keeps
    }

    /// The current task has yielded at `end`, and the next one is dispatched.
    #[inline(always)]
    fn dispatch(&mut self, after: &Yield, end: Time) {
        let old = self.current;
        if end > self.charged {
            for Around { one, .. } in &mut self.groups {
                one.age(weighted(end - self.charged, one.weight), self.slice);
            }
        }
        self.count(1, end);
        let member = &mut self.members[old as usize];
        (member.key, member.deadline) = (after.key, after.deadline);
        if after.next == old {
            return;
        }
        self.count_waiting(old, 1);
        self.count_waiting(after.next, -1);
        self.remove(after.previous, after.next);
        let previous = self.behind_equals(after.deadline, |member| member.deadline);
        self.insert(previous, old);
        self.hand_over(old, after.next);
        // The switch is charged to the task that comes: from `end` on.
        let next = &mut self.members[after.next as usize];
        next.protection = next.deadline.min(next.key.saturating_add(next.protected));
        next.renewed = true;
        let polls = next.polls;
        if !self.alike {
            self.look_like(polls);
        }
    }

    /// The current task goes through whole cycles while no other waits: it and the groups around it age.
    fn stay_alone(&mut self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        let first = self.since + self.overhead + self.cycle;
        let (span, cycle, slice) = (first.since(self.charged), self.cycle, self.slice);
        let ages = |one: &mut Contender| {
            if span > Span::ZERO {
                one.age(weighted(span, one.weight), slice);
            }
            one.age_often(weighted(cycle, one.weight), (cycles - 1) as i64, slice);
        };
        self.groups.iter_mut().for_each(|group| ages(&mut group.one));
        let current = &mut self.members[self.current as usize];
        let mut one =
            Contender { weight: current.weight, vruntime: current.key, vdeadline: current.deadline };
        ages(&mut one);
        (current.key, current.deadline) = (one.vruntime, one.vdeadline);
        self.count(cycles, first + cycle * (cycles - 1));
    }

    /// Writes keys, deadlines and protections back.
    pub(super) fn store_requests(&self, tasks: &mut Tasks) {
        for (number, member) in self.members.iter().enumerate() {
            if member.cycles > 0 || number == self.current as usize {
                let history = &mut tasks[member.task].history;
                (history.vdeadline, history.protection) = (member.deadline, member.protection);
            }
        }
        for group in &self.groups {
            tasks[group.entity].vruntime = group.one.vruntime;
            tasks[group.entity].history.vdeadline = group.one.vdeadline;
        }
    }
}
