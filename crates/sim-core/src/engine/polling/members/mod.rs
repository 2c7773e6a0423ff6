//! Polling on compact records of the tasks of a queue, for three picks: that of a fair yield, which charges
//! its caller and changes nothing else (`by_key`), that of the disciplines with slices (`by_slice`), and that
//! of EEVDF (`by_deadline`). Where the state recurs, whole periods are skipped (`renaming`).
//!
//! The same as one cycle after the other, to the nanosecond. A record has what these picks read of a task and
//! what the task has done, instead of the two records of a task that the rules of all disciplines need: a
//! step with a dissemination barrier under Linux 6.18 took 35,400 instructions without, and 22,600 with it.
//!
//! The members of a queue are linked in its order. Under a fair yield only tasks that run are read: a queue
//! may have thousands.
//!
//! A cycle that these records do not cover is an event of its own: one in which a task of a better priority
//! waits, or a directed yield finds a task.

mod by_deadline;
mod by_key;
mod by_slice;
mod levels;
mod renaming;
#[cfg(test)]
mod tests;

pub(crate) use by_key::READ_FIRST;

use crate::account::Category;
use crate::engine::polling::members::by_deadline::Queue;
use crate::engine::polling::members::levels::Limit;
use crate::engine::polling::members::renaming::Mark;
use crate::engine::polling::{Look, cycles_before, polls_before};
use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, Prices, ProcessId, Task};
use crate::ids::TaskId;
use crate::policy::TaskState;
use crate::run_queue::cfs::weighted;
use crate::run_queue::multilevel::Share;
use crate::run_queue::{self, Discipline, Picks, Rules, Slack, Tasks};
use crate::time::{Span, Time};

/// Dispatches that are predicted one by one before an event is armed to continue the prediction; more by
/// twice the length of a queue that is read at once.
const DISPATCHES_PREDICTED: usize = 512;

/// Room for this number of tasks is reserved at the start.
const USUAL: usize = 16;

/// A task that has been read, and what it has done since.
#[derive(Clone, Copy)]
struct Member {
    task: TaskId,
    /// Only where the tasks belong to several processes.
    process: ProcessId,
    /// The one that waits behind it.
    next: u32,
    weight: u32,
    key: i64,
    visible: Time,
    cycles: u64,
    switches: u64,
    used: Span,
    last_ran: Time,
    // By deadline only:
    deadline: i64,
    protection: i64,
    /// The length of its requests; in virtual time that, and of its protection where that is shorter.
    slice: Span,
    request: i64,
    protected: i64,
    /// Its place at the mark, and whether its protection is one of a pick since.
    place: u32,
    renewed: bool,
    /// The level in which it competes, and the one inside it where it is a task group.
    level: u16,
    inside: u16,
    /// Its number among those that have begun to wait since the queue was read; 0 where it waited then.
    waits_from: u32,
    /// How it polls; 0 if it does not.
    polls: u8,
}

/// No member.
const NONE: u32 = u32::MAX;

/// The polling of a cpu, and how far it is.
pub(crate) struct Members {
    priority: u8,
    /// How all members poll, and their weight; where they differ, the current one.
    polls: u8,
    weight: u32,
    /// All have one weight and poll alike, or in the ways of `looks`.
    alike: bool,
    looks: Vec<Look>,
    /// They belong to several processes.
    several: bool,
    /// They are picked by deadline, not by key.
    by_deadline: bool,
    /// A yield moves the deadline on, and ends the protection; a pick starts a timer
    /// ([`Requests`](run_queue::Requests)).
    pushes: bool,
    unprotects: bool,
    timed: bool,
    look: Look,
    prices: Prices,
    /// A poll and a yield, and what they add to a key.
    cycle: Span,
    cycle_charge: i64,
    /// Members in the order of the queue, the current task first.
    members: Vec<Member>,
    current: u32,
    /// Members that wait in the level of the current task.
    queue: Queue,
    level: u16,
    /// The first task of the queue that has not been read, and its key; the greatest key without one.
    ahead: TaskId,
    ahead_key: i64,
    /// Members that wait in each level, where there are task groups; the level of the current task is kept
    /// apart.
    levels: Vec<Queue>,
    /// The task groups around the current task, from the inside out, and whether one of them has rivals.
    around: Vec<u32>,
    contested: bool,
    /// Not all tasks are in the level of the current one.
    divided: bool,
    limits: Vec<Limit>,
    /// Up to when these groups have run by their keys, and from when on a yield may end a request of theirs.
    around_from: Time,
    around_until: Time,
    /// How many have begun to wait.
    waits: u32,
    /// From when on the groups around use up their runtime, and when the first of them has none left.
    turn_from: Time,
    exhausted: Time,
    /// The origin of virtual time has moved.
    moved: bool,
    mark: Mark,
    /// With slices: those of the members, the queue's `min_vruntime`, and the runnable tasks.
    shares: Vec<Share>,
    base: i64,
    running: u32,
    /// The run is a prediction: it ends after many dispatches.
    predicts: bool,
    // The present dispatch, and what has been done.
    since: Time,
    overhead: Span,
    charged: Time,
    switching: Span,
    cycles: u64,
    switches: u64,
    /// The task that was switched out last, and when.
    before: u32,
    picked: Time,
    /// See [`Picks::ByKey`].
    slack: Option<Slack>,
}

impl Members {
    /// None, of tasks that poll in these ways.
    pub(crate) fn new(looks: &[Look]) -> Self {
        Self {
            priority: 0,
            polls: 0,
            weight: 0,
            alike: true,
            looks: looks.to_vec(),
            several: false,
            by_deadline: false,
            pushes: false,
            unprotects: false,
            timed: false,
            look: Look { each: Span::ZERO, poll: Span::ZERO, category: Category::Spin },
            prices: Prices::default(),
            cycle: Span::ZERO,
            cycle_charge: 0,
            members: Vec::with_capacity(USUAL),
            current: 0,
            queue: Queue::EMPTY,
            level: 0,
            ahead: TaskId::NONE,
            ahead_key: i64::MAX,
            levels: Vec::new(),
            around: Vec::new(),
            contested: false,
            divided: false,
            limits: Vec::new(),
            around_from: Time::ZERO,
            around_until: Time::ZERO,
            waits: 0,
            turn_from: Time::ZERO,
            exhausted: Time::NEVER,
            moved: false,
            mark: Mark::default(),
            shares: Vec::new(),
            base: 0,
            running: 0,
            predicts: false,
            since: Time::ZERO,
            overhead: Span::ZERO,
            charged: Time::ZERO,
            switching: Span::ZERO,
            cycles: 0,
            switches: 0,
            before: 0,
            picked: Time::ZERO,
            slack: None,
        }
    }

    /// Runs what is on a cpu until something other than polling is due and returns that instant: the current
    /// task's poll (it observes the end of its wait) or the end of its cycle (a task that does not poll
    /// follows). Cycles that end before `limit` are done; when nothing happens before `limit`, or nothing
    /// ever, it stops there.
    pub(crate) fn run(&mut self, shared: &Shared, record: &Cpu, limit: Time) -> Time {
        let discipline = &shared.model.discipline;
        self.load(&shared.tasks, record, Prices::of(&shared.machine.costs));
        self.predicts = limit.is_never();
        if self.ahead.some().is_some_and(|head| shared.tasks[head].priority < self.priority) {
            return self.end_of_cycle();
        }
        let bound = if shared.directed { limit.min(shared.directed_from(record)) } else { limit };
        let due = match shared.picks {
            Picks::ByKey(slack) => self.run_by_key(slack, &shared.tasks, bound),
            Picks::ByDeadline(requests) => self.run_by_deadline(requests, (&shared.tasks, record), bound),
            Picks::BySlice => match discipline.levels() {
                Some(levels) => self.run_by_slice(levels, (&shared.tasks, record), bound),
                None => self.end_of_cycle(),
            },
            Picks::InTurns(_) | Picks::EachCycle => self.end_of_cycle(),
        };
        self.sync_around();
        if due == bound && bound < limit { self.end_of_cycle() } else { due }
    }

    /// Begins with what is on a cpu: its current task.
    fn load(&mut self, source: &Tasks, record: &Cpu, prices: Prices) {
        let task = &source[record.current];
        (self.priority, self.by_deadline) = (task.priority, false);
        self.several = record.several;
        self.prices = prices;
        self.look_like(task.polls, task.weight);
        self.members.clear();
        self.around.clear();
        self.levels.clear();
        (self.alike, self.contested, self.moved) = (true, false, false);
        (self.current, self.queue, self.level) = (0, Queue::EMPTY, 0);
        self.limits.clear();
        self.shares.clear();
        (self.divided, self.waits, self.exhausted) = (false, 0, Time::NEVER);
        (self.around_from, self.around_until) = (record.charged, Time::ZERO);
        self.mark.clear(0);
        (self.ahead, self.ahead_key) = (record.head, i64::MAX);
        self.read(record.current, task);
        (self.since, self.charged) = (record.since, record.charged);
        self.overhead = record.overhead.total();
        (self.switching, self.cycles, self.switches) = (Span::ZERO, 0, 0);
        self.picked = record.picked;
    }

    /// The current task polls in this way and has this weight.
    #[inline(never)]
    fn look_like(&mut self, polls: u8, weight: u32) {
        (self.polls, self.weight) = (polls, weight);
        self.look = self.looks[polls as usize];
        self.cycle = self.look.poll + self.prices.call;
        self.cycle_charge = weighted(self.cycle, weight);
    }

    #[inline]
    fn read(&mut self, task: TaskId, from: &Task) {
        self.members.push(Member {
            task,
            process: if self.several { from.process } else { ProcessId::NONE },
            next: NONE,
            weight: from.weight,
            key: from.vruntime,
            visible: from.visible,
            cycles: 0,
            switches: 0,
            used: Span::ZERO,
            last_ran: Time::ZERO,
            deadline: 0,
            protection: 0,
            slice: Span::ZERO,
            request: 0,
            protected: 0,
            place: 0,
            renewed: false,
            level: 0,
            inside: 0,
            waits_from: 0,
            polls: from.polls,
        });
    }

    /// Lets a member wait behind another, or first.
    #[inline]
    fn insert(&mut self, previous: u32, number: u32) {
        let before =
            if previous == NONE { &mut self.queue.first } else { &mut self.members[previous as usize].next };
        let next = std::mem::replace(before, number);
        self.members[number as usize].next = next;
        if next == NONE {
            self.queue.last = number;
        }
    }

    /// A member no longer waits behind another, or first.
    #[inline]
    fn remove(&mut self, previous: u32, number: u32) {
        let next = self.members[number as usize].next;
        if previous == NONE {
            self.queue.first = next;
        } else {
            self.members[previous as usize].next = next;
        }
        if next == NONE {
            self.queue.last = previous;
        }
    }

    /// Behind whom a member with this place in the order waits: behind all that are not after it.
    #[inline(always)]
    fn behind_equals<K: PartialOrd + Copy>(&self, order: K, of: impl Fn(&Member) -> K) -> u32 {
        let last = self.queue.last;
        if self.queue.first == NONE || of(&self.members[last as usize]) <= order {
            return if self.queue.first == NONE { NONE } else { last };
        }
        let (mut previous, mut number) = (NONE, self.queue.first);
        while of(&self.members[number as usize]) <= order {
            (previous, number) = (number, self.members[number as usize].next);
        }
        previous
    }

    /// The current task, which has yielded and waits now, is followed by `next`.
    #[inline(always)]
    fn hand_over(&mut self, old: u32, next: u32) {
        let cost = self.cost(old, next);
        self.members[old as usize].switches += 1;
        self.switches += 1;
        (self.before, self.current, self.picked) = (old, next, self.since);
        self.overhead = cost;
        self.switching += cost;
        if !self.alike {
            let Member { polls, weight, .. } = self.members[next as usize];
            self.look_like(polls, weight);
        }
    }

    /// What is switched to is charged for the switch.
    #[inline]
    fn charge_switch(&mut self) {
        self.charged = (self.since + self.overhead).saturating_sub(self.switch_charge());
    }

    /// The current task has gone through whole cycles, the last of which ends at `end`.
    #[inline]
    fn count(&mut self, cycles: u64, end: Time) {
        let member = &mut self.members[self.current as usize];
        member.used += end - self.since;
        member.last_ran = end;
        member.cycles += cycles;
        self.cycles += cycles;
        self.overhead = Span::ZERO;
        (self.since, self.charged) = (end, end);
    }

    /// The current task's dispatch does not end before `limit`, or the task observes the end of its wait in
    /// it: runs up to there. `stay` lets it go through whole cycles.
    fn stop(&mut self, limit: Time, wanted: u64, stay: impl FnOnce(&mut Self, u64)) -> Time {
        let visible = self.members[self.current as usize].visible;
        let poll = self.since + self.overhead + self.look.poll;
        let unaware = polls_before(visible, poll, self.cycle);
        let before = cycles_before(limit, poll + self.prices.call, self.cycle);
        if before < wanted.min(unaware) {
            stay(self, before);
            return limit;
        }
        if unaware == u64::MAX {
            return Time::NEVER;
        }
        stay(self, unaware);
        self.look.sees(self.since + self.overhead, visible)
    }

    /// When the current task observes the end of its wait in its first cycle, or that cycle ends.
    fn end_of_cycle(&self) -> Time {
        let (start, visible) = (self.since + self.overhead, self.members[self.current as usize].visible);
        if visible <= start + self.look.poll { self.look.sees(start, visible) } else { start + self.cycle }
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
        self.prices.charged(self.several)
    }

    /// The run has ended like another one on the same queue.
    #[cfg(debug_assertions)]
    pub(crate) fn ends_like(&self, other: &Self) -> bool {
        let cpu = |queue: &Self| {
            let Self { since, overhead, charged, switching, cycles, switches, .. } = *queue;
            let current = queue.members[queue.current as usize].task;
            (current, since, overhead, charged, switching, cycles, switches, queue.base)
        };
        let one = |one: &Member| {
            let keys = (one.key, one.deadline, one.protection);
            (one.task, keys, one.cycles, one.switches, one.used, one.last_ran)
        };
        let has_run = |member: &&Member| member.cycles > 0 || member.inside > 0;
        let [mine, others] = [self, other].map(|queue| queue.members.iter().filter(has_run).map(one));
        cpu(self) == cpu(other) && mine.eq(others) && self.shares == other.shares
    }

    /// Who has yielded last and has not been picked since.
    fn marked(&self) -> Option<TaskId> {
        let switched = self.switches > 0 && self.picked == self.since;
        switched.then(|| self.members[self.before as usize].task)
    }

    /// Writes what has happened back to the cpu.
    pub(crate) fn store(&mut self, shared: &mut Shared, record: &mut Cpu) {
        if self.cycles == 0 {
            return;
        }
        if self.alike {
            record.account.add(self.look.category, self.look.poll * self.cycles);
        } else {
            for member in &self.members {
                let look = self.looks[member.polls as usize];
                record.account.add(look.category, look.poll * member.cycles);
            }
        }
        record.account.add(Category::Yield, self.prices.call * self.cycles);
        record.pay_all();
        // The last switch is still pending when its dispatch has not completed a cycle.
        record.account.add(Category::Switch, self.switching - self.overhead);
        let picked = if shared.renews_slice { self.since } else { self.picked };
        record.poll_on((picked, self.since, self.charged), self.overhead, (self.cycles, self.switches));
        if matches!(shared.picks, Picks::ByKey(Some(_))) {
            record.set_skip(self.marked());
        }
        for member in self.members.iter().filter(|member| member.cycles > 0) {
            shared.tasks[member.task].vruntime = member.key;
            shared.has_polled(member.task, (member.used, member.last_ran), (member.cycles, member.switches));
        }
        if self.by_deadline {
            self.store_requests(&mut shared.tasks);
            if self.divided {
                self.merge_levels();
            }
        }
        self.store_shares(&mut shared.tasks, record);
        if self.switches > 0 {
            record.last_process = shared.tasks[self.members[self.before as usize].task].process;
            self.relink(&shared.model.discipline, &mut shared.tasks, record);
            if self.by_deadline && self.timed {
                record.rare.timed = true;
            }
        }
        shared.model.discipline.follow_yield(&shared.tasks, record);
    }

    /// Brings the queue into the order of the members. Tasks that are not read come behind the last one that
    /// has not run.
    fn relink(&self, discipline: &Discipline, tasks: &mut Tasks, record: &mut Cpu) {
        let waiting = |number: u32| self.members.get(number as usize);
        let mut members =
            std::iter::successors(waiting(self.queue.first), |member| waiting(member.next)).peekable();
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
        if self.by_deadline {
            run_queue::sum_waiting(tasks, record);
        }
        tasks[self.members[0].task].state = TaskState::Queued;
        record.current = self.members[self.current as usize].task;
        let current = &mut tasks[record.current];
        current.state = TaskState::Running;
        (current.previous, current.next) = (TaskId::NONE, TaskId::NONE);
    }
}
