//! Task groups on members: each group is a member too, which competes in a level and has one inside it.
//!
//! As long as the groups around the current task keep the cpu, they only grow older, and only the level of
//! the task changes. When another one of an outer level takes the cpu, the whole way from that level down to
//! its task is picked anew.
//!
//! A group of limited cpu time uses up what it has on the cpu. The yield after which nothing is left is an
//! event, as is one after which a group without time would run: cpus share the pool, first come first served
//! (`run_queue::bandwidth`).

use crate::engine::polling::members::by_deadline::{Queue, Yield};
use crate::engine::polling::members::{Members, NONE};
use crate::engine::state::Cpu;
use crate::run_queue::{Requests, Tasks, groups};
use crate::time::{Span, Time};

/// A task group of limited cpu time.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    group: u32,
    /// What is left of it on this cpu, ns, and what it has used of that.
    left: i64,
    used: Span,
}

/// A group takes the cpu, or one around the current task loses it.
pub(super) struct Turn {
    /// How many of the groups around lose it, and who is picked beside the last of them.
    losers: usize,
    entity: u32,
    /// The task to which this leads; none where a group on the way has no cpu time left.
    pub(super) task: Option<u32>,
}

impl Members {
    /// What waits is that of another level from now on.
    #[inline]
    pub(super) fn enter(&mut self, level: u16) {
        if level != self.level {
            self.levels[self.level as usize] = self.queue;
            (self.queue, self.level) = (self.levels[level as usize], level);
        }
    }

    /// Makes room for the levels of a cpu and enters that of the current task.
    pub(super) fn begin_levels(&mut self, source: &Tasks, record: &Cpu) {
        if record.rare.group_count > 0 {
            self.levels.resize(1 + usize::from(record.rare.group_count), Queue::EMPTY);
        }
        self.level = groups::of(source, record, self.members[0].task);
        self.members[0].level = self.level;
    }

    /// Reads the groups in which something is queued: those around the current task, and those that wait.
    pub(super) fn read_groups(&mut self, requests: Requests, source: &Tasks, record: &Cpu) {
        for id in groups::all(record).filter(|id| source[*id].history.queued) {
            let group = &source[id];
            let number = self.members.len() as u32;
            self.read(id, group);
            let member = &mut self.members[number as usize];
            (member.level, member.inside) = (group.history.group, groups::number(record, id));
            member.polls = 0;
            if group.history.limited {
                let left = if group.history.is_throttled() { 0 } else { group.history.runtime };
                self.limits.push(Limit { group: number, left, used: Span::ZERO });
            }
            self.enter(group.history.group);
            self.begin_request(number, requests, source);
            if !group.history.chosen {
                self.put(number);
            }
        }
        for id in groups::chain(source, record, self.members[0].task).skip(1) {
            let number = self.members.iter().rposition(|member| member.task == id);
            debug_assert!(number.is_some(), "{id} is not queued on {}", record.id);
            self.around.extend(number.map(|number| number as u32));
        }
        self.enter(self.members[0].level);
        self.begin_turn();
    }

    /// Other groups are around the current task from now on.
    fn begin_turn(&mut self) {
        self.contested = self.divided && self.is_contested();
        (self.turn_from, self.exhausted) = (self.charged, Time::NEVER);
        (self.around_from, self.around_until) = (self.charged, Time::ZERO);
        for limit in &self.limits {
            if self.around.contains(&limit.group) {
                let left = Span::from_ns(limit.left.max(0) as u64);
                self.exhausted = self.exhausted.min(self.charged.saturating_add(left));
            }
        }
    }

    /// The groups around the current task have run since the begin of the turn.
    fn end_turn(&mut self) {
        let span = self.charged.since(self.turn_from);
        for limit in self.limits.iter_mut().filter(|limit| self.around.contains(&limit.group)) {
            limit.left -= span.ns() as i64;
            limit.used += span;
        }
        self.turn_from = self.charged;
    }

    /// Something competes with one of the groups around the current task.
    fn is_contested(&self) -> bool {
        let level = |group: &u32| self.members[*group as usize].level;
        self.around.iter().any(|group| self.levels[level(group) as usize].first != NONE)
    }

    /// A member begins to wait in the present level.
    #[inline(always)]
    pub(super) fn put(&mut self, number: u32) {
        self.count_waiting(number, 1);
        let previous = self.behind_deadline(number);
        self.insert(previous, number);
        self.waits += 1;
        self.members[number as usize].waits_from = self.waits;
    }

    /// A member of the present level no longer waits and runs, protected anew.
    fn take(&mut self, number: u32) {
        self.count_waiting(number, -1);
        let (mut previous, mut at) = (NONE, self.queue.first);
        while at != number {
            (previous, at) = (at, self.members[at as usize].next);
        }
        self.remove(previous, number);
        self.protect(number);
    }

    /// The yield of the current task at `end`, after which `next` would run in its level, lets a group there
    /// run, or another one instead of a group around the task.
    #[inline(never)]
    pub(super) fn next_turn(&self, end: Time, next: u32) -> Option<Turn> {
        for (depth, number) in self.around.iter().enumerate().rev() {
            let group = &self.members[*number as usize];
            let queue = &self.levels[group.level as usize];
            if queue.first == NONE {
                continue;
            }
            let (key, deadline) = self.aged(group, end);
            let load = i128::from(queue.load + i64::from(group.weight));
            let sum = queue.sum + i128::from(group.weight) * i128::from(key);
            let protection = group.protection;
            let stays = Yield { key, deadline, protection, next: *number, previous: NONE };
            let eligible = i128::from(key) * load <= sum;
            let entity = self.pick(queue.first, stays, (load, sum), eligible).next;
            if entity != *number {
                return Some(Turn { losers: depth + 1, entity, task: self.leads_to(entity) });
            }
        }
        let enters = self.members[next as usize].inside > 0;
        enters.then(|| Turn { losers: 0, entity: next, task: self.leads_to(next) })
    }

    /// The task that is picked in a group that waits, if that one and those in it have cpu time left; a task
    /// itself.
    fn leads_to(&self, entity: u32) -> Option<u32> {
        let mut number = entity;
        while self.members[number as usize].inside > 0 {
            let group = &self.members[number as usize];
            if self.limits.iter().any(|limit| limit.group == number && limit.left <= 0) {
                return None;
            }
            number = self.best(&self.levels[group.inside as usize]);
        }
        Some(number)
    }

    /// The earliest deadline in a level of which nothing runs, among those that are not ahead of the mean.
    fn best(&self, queue: &Queue) -> u32 {
        let mut number = queue.first;
        loop {
            let member = &self.members[number as usize];
            if i128::from(member.key) * i128::from(queue.load) <= queue.sum || member.next == NONE {
                return number;
            }
            number = member.next;
        }
    }

    /// The current task has yielded at `end`, and the cpu goes to another group or to a task beside it.
    #[inline(never)]
    pub(super) fn change_turns(&mut self, after: &Yield, turn: &Turn, end: Time) {
        let old = self.current;
        self.age_around(end);
        self.count(1, end);
        self.end_turn();
        self.has_yielded(old, after);
        self.put(old);
        for loser in 0..turn.losers {
            let group = self.around[loser];
            self.enter(self.members[group as usize].level);
            self.put(group);
        }
        self.around.drain(..turn.losers);
        let mut next = turn.entity;
        self.take(next);
        while self.members[next as usize].inside > 0 {
            self.around.insert(0, next);
            self.enter(self.members[next as usize].inside);
            next = self.best(&self.queue);
            self.take(next);
        }
        self.begin_turn();
        self.hand_over(old, next);
    }

    /// Writes what a yield changes of the groups back.
    pub(super) fn store_groups(&mut self, tasks: &mut Tasks) {
        self.end_turn();
        for (number, member) in (0..).zip(&self.members).filter(|(_, member)| member.inside > 0) {
            let group = &mut tasks[member.task];
            group.vruntime = member.key;
            (group.history.vdeadline, group.history.protection) = (member.deadline, member.protection);
            group.history.chosen = self.around.contains(&number);
        }
        for limit in &self.limits {
            let group = self.members[limit.group as usize].task;
            tasks[group].history.runtime -= limit.used.ns() as i64;
        }
    }

    /// The tasks that wait in any level, in the order of the queue: by deadline, then as they have come.
    pub(super) fn waiting_in_levels(&self) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.members.len());
        for level in 0..self.levels.len() as u16 {
            let queue = if level == self.level { &self.queue } else { &self.levels[level as usize] };
            let mut number = queue.first;
            while number != NONE {
                if self.members[number as usize].inside == 0 {
                    all.push(number);
                }
                number = self.members[number as usize].next;
            }
        }
        all.sort_by_key(|number| {
            let member = &self.members[*number as usize];
            // Members that have waited since the beginning are numbered in their order.
            let number = if member.waits_from == 0 { *number } else { 0 };
            (member.deadline, member.waits_from, number)
        });
        all
    }

    /// All that wait are in the present level, in the order of the queue.
    pub(super) fn merge_levels(&mut self) {
        let all = self.waiting_in_levels();
        (self.queue.first, self.queue.last) = (NONE, NONE);
        for number in all {
            self.insert(self.queue.last, number);
        }
    }
}
