//! Polling under a fair yield, which charges its caller and changes nothing else (CFS, plain virtual time):
//! the current task polls until its key is not before that of the first waiting one, which then runs.
//!
//! The same as on a copy of the queue (`queue_copy`), to the nanosecond, for tasks of one weight that poll
//! alike. No rule of a discipline reads more of a task than its key, so 64 bytes of each are copied instead
//! of two records, and whole rounds follow from the keys without a search for a recurrence. A task-step with
//! a dissemination barrier takes 3,500 instructions less (docs/performance/history.md).
//!
//! Tasks are read in the order of the queue, and only those that run: a queue may have thousands.

use crate::account::Category;
use crate::engine::polling::queue_copy::{DISPATCHES_PREDICTED, USUAL};
use crate::engine::polling::rotation::follow_minimum;
use crate::engine::polling::{Look, Prices, all_unaware, cycles_before, polls, polls_before};
use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, ProcessId, Task};
use crate::ids::TaskId;
use crate::policy::TaskState;
use crate::run_queue::cfs::{weighted, yields_until_behind};
use crate::run_queue::{self, Discipline, Tasks};
use crate::time::{Span, Time};

/// Tasks that are read first, and dispatches made, before all of a long queue is read to find that nothing
/// will ever happen.
pub(crate) const READ_FIRST: usize = 64;

/// A task that has been read, and what it has done since.
#[derive(Clone, Copy)]
struct Member {
    task: TaskId,
    /// Only where the tasks belong to several processes.
    process: ProcessId,
    /// The one that waits behind it.
    next: u32,
    key: i64,
    visible: Time,
    cycles: u64,
    switches: u64,
    used: Span,
    last_ran: Time,
}

/// No member.
const NONE: u32 = u32::MAX;

/// Who waits behind a member, or first.
enum Place {
    Empty,
    /// Its number and its key.
    Member(u32, i64),
    /// A task that polls in another way, has another weight, or does not poll, with its key.
    Other(i64, bool),
}

/// The polling of a cpu, and how far it is.
pub(crate) struct FairQueue {
    priority: u8,
    /// How all members poll.
    polls: u8,
    weight: u32,
    /// They belong to several processes.
    several: bool,
    look: Look,
    prices: Prices,
    /// A poll and a yield, and what they add to a key.
    cycle: Span,
    cycle_charge: i64,
    /// Members in the order of the queue, the current task first.
    members: Vec<Member>,
    current: u32,
    /// The first and the last of those of them that wait, in the order of their keys.
    first: u32,
    last: u32,
    /// The first task of the queue that has not been read, and its key; the greatest key without one.
    ahead: TaskId,
    ahead_key: i64,
    // The present dispatch, and what has been done.
    since: Time,
    overhead: Span,
    charged: Time,
    switching: Span,
    cycles: u64,
    switches: u64,
    /// The task that was switched out last.
    before: u32,
}

impl FairQueue {
    pub(crate) fn new() -> Self {
        Self {
            priority: 0,
            polls: 0,
            weight: 0,
            several: false,
            look: Look { each: Span::ZERO, poll: Span::ZERO, category: Category::Spin },
            prices: Prices::default(),
            cycle: Span::ZERO,
            cycle_charge: 0,
            members: Vec::with_capacity(USUAL),
            current: 0,
            first: NONE,
            last: NONE,
            ahead: TaskId::NONE,
            ahead_key: i64::MAX,
            since: Time::ZERO,
            overhead: Span::ZERO,
            charged: Time::ZERO,
            switching: Span::ZERO,
            cycles: 0,
            switches: 0,
            before: 0,
        }
    }

    /// Begins with what is on a cpu.
    pub(crate) fn load(&mut self, shared: &Shared, record: &Cpu) {
        let task = &shared.tasks[record.current];
        (self.priority, self.polls, self.weight) = (task.priority, task.polls, task.weight);
        self.several = record.several;
        self.look = shared.look(task);
        self.prices = Prices::of(&shared.machine.costs);
        self.cycle = self.look.poll + self.prices.call;
        self.cycle_charge = weighted(self.cycle, self.weight);
        self.members.clear();
        (self.current, self.first, self.last) = (0, NONE, NONE);
        self.ahead = record.head;
        self.read(record.current, task);
        self.look_ahead(&shared.tasks);
        (self.since, self.charged) = (record.since, record.charged);
        self.overhead = record.overhead.total();
        (self.switching, self.cycles, self.switches) = (Span::ZERO, 0, 0);
    }

    #[inline]
    fn read(&mut self, task: TaskId, from: &Task) {
        self.members.push(Member {
            task,
            process: if self.several { from.process } else { ProcessId::NONE },
            next: NONE,
            key: from.vruntime,
            visible: from.visible,
            cycles: 0,
            switches: 0,
            used: Span::ZERO,
            last_ran: Time::ZERO,
        });
    }

    /// Reads the key of the first task that is not read, if it is of the same priority level.
    #[inline]
    fn look_ahead(&mut self, source: &Tasks) {
        let ahead = self.ahead.some().map(|id| &source[id]).filter(|task| task.priority == self.priority);
        self.ahead_key = ahead.map_or(i64::MAX, |task| task.vruntime);
    }

    /// Who waits behind a member, or first: a member, or the first task that is not read, which becomes one.
    #[inline(always)]
    fn behind(&mut self, previous: u32, source: &Tasks) -> Place {
        let number = if previous == NONE { self.first } else { self.members[previous as usize].next };
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
        if (task.polls, task.weight) != (self.polls, self.weight) {
            return Place::Other(task.vruntime, polls(task));
        }
        let number = self.members.len() as u32;
        self.read(self.ahead, task);
        self.insert(previous, number);
        self.ahead = task.next;
        self.look_ahead(source);
        Place::Member(number, task.vruntime)
    }

    /// Lets a member wait behind another, or first.
    #[inline]
    fn insert(&mut self, previous: u32, number: u32) {
        let before =
            if previous == NONE { &mut self.first } else { &mut self.members[previous as usize].next };
        let next = std::mem::replace(before, number);
        self.members[number as usize].next = next;
        if next == NONE {
            self.last = number;
        }
    }

    /// The run has ended like another one on the same queue.
    #[cfg(debug_assertions)]
    pub(crate) fn ends_like(&self, other: &Self) -> bool {
        let cpu = |queue: &Self| {
            let Self { since, overhead, charged, switching, cycles, switches, .. } = *queue;
            let current = queue.members[queue.current as usize].task;
            (current, since, overhead, charged, switching, cycles, switches)
        };
        let one = |one: &Member| (one.task, one.key, one.cycles, one.switches, one.used, one.last_ran);
        let ran = [self, other].map(|queue| queue.members.iter().filter(|member| member.cycles > 0).map(one));
        let [mine, others] = ran;
        cpu(self) == cpu(other) && mine.eq(others)
    }

    /// Runs until something other than polling is due and returns that instant: the current task's poll (it
    /// observes the end of its wait) or the end of its cycle (a task that does not poll follows). Cycles that
    /// end before `limit` are done; when nothing happens before `limit`, or nothing ever, it stops there.
    /// None when a task of a better priority waits, or one that polls in another way follows.
    pub(crate) fn run(&mut self, source: &Tasks, limit: Time) -> Option<Time> {
        let head = self.ahead;
        if head.some().is_some_and(|head| source[head].priority < self.priority) {
            return None;
        }
        let mut dispatches = 0;
        loop {
            let next = self.behind(NONE, source);
            let rival = match next {
                Place::Empty => return Some(self.stop(limit, u64::MAX)),
                Place::Member(_, key) | Place::Other(key, _) => key,
            };
            let current = &self.members[self.current as usize];
            let first = self.since + self.overhead + self.cycle;
            let lead = rival - current.key - weighted(first.since(self.charged), self.weight);
            let wanted = yields_until_behind(lead, self.cycle_charge);
            if wanted == u64::MAX {
                return Some(self.stop(limit, wanted));
            }
            // Its last poll of this dispatch comes one call before the end.
            let end = first + self.cycle * (wanted - 1);
            if current.visible.saturating_add(self.prices.call) <= end || end >= limit {
                return Some(self.stop(limit, wanted));
            }
            match next {
                Place::Member(next, _) => {
                    let key = self.stay(wanted);
                    self.switch(key, next);
                }
                Place::Other(_, true) => return None,
                _ => {
                    self.stay(wanted - 1);
                    return Some(end);
                }
            }
            dispatches += 1;
            if limit.is_never() && dispatches >= READ_FIRST {
                if dispatches > DISPATCHES_PREDICTED {
                    return Some(self.end_of_cycle());
                }
                if dispatches == READ_FIRST && self.is_stuck(source, head) {
                    return Some(Time::NEVER);
                }
            }
            if (dispatches + 1).is_power_of_two() && self.one_after_another(source, limit, dispatches) {
                return Some(Time::NEVER);
            }
        }
    }

    /// When the current task observes the end of its wait in its first cycle, or that cycle ends.
    fn end_of_cycle(&self) -> Time {
        let (start, visible) = (self.since + self.overhead, self.members[self.current as usize].visible);
        if visible <= start + self.look.poll { self.look.sees(start, visible) } else { start + self.cycle }
    }

    /// No task of the whole queue will ever observe anything.
    fn is_stuck(&self, source: &Tasks, head: TaskId) -> bool {
        all_unaware(source, (self.members[0].task, head), usize::MAX)
    }

    /// The current task's dispatch does not end before `limit`, or the task observes the end of its wait in
    /// it: runs up to there.
    fn stop(&mut self, limit: Time, wanted: u64) -> Time {
        let visible = self.members[self.current as usize].visible;
        let poll = self.since + self.overhead + self.look.poll;
        let unaware = polls_before(visible, poll, self.cycle);
        let before = cycles_before(limit, poll + self.prices.call, self.cycle);
        if before < wanted.min(unaware) {
            self.stay(before);
            return limit;
        }
        if unaware == u64::MAX {
            return Time::NEVER;
        }
        self.stay(unaware);
        self.look.sees(self.since + self.overhead, visible)
    }

    /// The current task goes through whole cycles. Returns its key.
    #[inline]
    fn stay(&mut self, cycles: u64) -> i64 {
        let member = &mut self.members[self.current as usize];
        if cycles > 0 {
            let first = self.since + self.overhead + self.cycle;
            let end = first + self.cycle * (cycles - 1);
            member.key += weighted(first.since(self.charged), self.weight);
            member.key += self.cycle_charge * (cycles - 1) as i64;
            member.used += end - self.since;
            member.last_ran = end;
            member.cycles += cycles;
            self.cycles += cycles;
            self.overhead = Span::ZERO;
            (self.since, self.charged) = (end, end);
        }
        member.key
    }

    /// The current task, which has yielded, goes behind all whose keys are not after its own, and the first
    /// one takes the cpu.
    #[inline(always)]
    fn switch(&mut self, key: i64, next: u32) {
        let old = self.current;
        self.members[old as usize].switches += 1;
        self.first = self.members[next as usize].next;
        let mut previous = if self.first == NONE { NONE } else { self.last };
        if previous != NONE && self.members[previous as usize].key > key {
            let mut number = self.first;
            previous = NONE;
            while self.members[number as usize].key <= key {
                (previous, number) = (number, self.members[number as usize].next);
            }
        }
        self.insert(previous, old);
        let cost = self.cost(old, next);
        self.switches += 1;
        (self.before, self.current) = (old, next);
        self.overhead = cost;
        self.switching += cost;
        self.charged = (self.since + cost).saturating_sub(self.switch_charge());
    }

    /// The switch between two members.
    #[inline]
    fn cost(&self, from: u32, to: u32) -> Span {
        if self.several {
            let process = |number: u32| self.members[number as usize].process;
            self.prices.switch(process(from), process(to))
        } else {
            self.prices.thread
        }
    }

    /// What of a switch is charged to keys.
    #[inline]
    const fn switch_charge(&self) -> Span {
        if self.several { self.prices.process } else { self.prices.thread }
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
                    let (key, next) = (self.stay(1), self.first);
                    self.switch(key, next);
                }
                return false;
            }
            soonest = soonest.min(visible);
            dispatched += 1;
            match self.behind(previous, source) {
                Place::Member(number, its) if its - key <= growth => {
                    end += self.cost(last, number);
                    (previous, last) = (number, number);
                }
                Place::Member(_, its) | Place::Other(its, _) => {
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
        let (mut number, mut next, mut cost) = (self.current, self.first, self.overhead);
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
        self.since = end;
        self.charged += round * rounds;
    }

    /// Writes what has happened back to the cpu.
    pub(crate) fn store(&self, shared: &mut Shared, record: &mut Cpu) {
        if self.cycles == 0 {
            return;
        }
        record.account.add(self.look.category, self.look.poll * self.cycles);
        record.account.add(Category::Yield, self.prices.call * self.cycles);
        record.pay_all();
        // The last switch is still pending when its dispatch has not completed a cycle.
        record.account.add(Category::Switch, self.switching - self.overhead);
        record.poll_on(self.since, self.charged, self.overhead, (self.cycles, self.switches));
        for member in self.members.iter().filter(|member| member.cycles > 0) {
            shared.tasks[member.task].vruntime = member.key;
            shared.has_polled(member.task, (member.used, member.last_ran), (member.cycles, member.switches));
        }
        if self.switches > 0 {
            record.last_process = shared.tasks[self.members[self.before as usize].task].process;
            self.relink(&shared.model.discipline, &mut shared.tasks, record);
        }
        follow_minimum(&shared.model.discipline, &shared.tasks, record);
    }

    /// Brings the queue into the order of the members. Tasks that are not read come behind the last one that
    /// has not run.
    fn relink(&self, discipline: &Discipline, tasks: &mut Tasks, record: &mut Cpu) {
        let waiting = |number: u32| self.members.get(number as usize);
        let mut members =
            std::iter::successors(waiting(self.first), |member| waiting(member.next)).peekable();
        let mut previous = TaskId::NONE;
        let precedes = |member: &Member| {
            member.key < self.ahead_key || (member.key == self.ahead_key && member.cycles == 0)
        };
        while let Some(member) = members.next_if(|member| precedes(member)) {
            run_queue::link(tasks, record, previous, member.task);
            previous = member.task;
        }
        run_queue::link(tasks, record, previous, self.ahead);
        let mut from = self.ahead;
        for member in members {
            discipline.insert_behind(tasks, record, (from, member.task));
            from = tasks[member.task].next;
        }
        tasks[self.members[0].task].state = TaskState::Queued;
        record.current = self.members[self.current as usize].task;
        let current = &mut tasks[record.current];
        current.state = TaskState::Running;
        (current.previous, current.next) = (TaskId::NONE, TaskId::NONE);
    }
}
