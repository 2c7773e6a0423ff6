//! Polling on compact records of the tasks of a queue, for two picks: that of a fair yield, which charges its
//! caller and changes nothing else (`by_key`), and that of EEVDF (`by_deadline`), whose state recurs
//! (`renaming`).
//!
//! The same as on a copy of the queue (`queue_copy`), to the nanosecond. A record has what these picks read
//! of a task and what the task has done, instead of the two records of a task that the rules of all
//! disciplines need. What a task-step takes less for that: docs/performance/history.md.
//!
//! The members of a queue are linked in its order. Under a fair yield only tasks that run are read: a queue
//! may have thousands.

mod by_deadline;
mod by_key;
mod levels;
mod renaming;

pub(crate) use by_key::READ_FIRST;

use crate::account::Category;
use crate::engine::polling::members::by_deadline::Queue;
use crate::engine::polling::members::levels::Limit;
use crate::engine::polling::members::renaming::Mark;
use crate::engine::polling::queue_copy::USUAL;
use crate::engine::polling::{Look, cycles_before, polls_before};
use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, Prices, ProcessId, Task};
use crate::ids::TaskId;
use crate::policy::TaskState;
use crate::run_queue::cfs::weighted;
use crate::run_queue::{self, Discipline, Picks, Tasks};
use crate::time::{Span, Time};

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
    /// The length of its requests, and of its protection where that is shorter, in virtual time.
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
    /// How all members poll; where they differ, the current one.
    polls: u8,
    /// All poll alike, or in the ways of `looks`.
    alike: bool,
    looks: Vec<Look>,
    weight: u32,
    /// They belong to several processes.
    several: bool,
    /// They are picked by deadline, with requests of this length, not by key.
    by_deadline: bool,
    slice: Span,
    look: Look,
    prices: Prices,
    /// A poll and a yield, and what they add to a key.
    cycle: Span,
    cycle_charge: i64,
    /// Members in the order of the queue, the current task first.
    members: Vec<Member>,
    current: u32,
    /// Those of them that wait in the level of the current task.
    queue: Queue,
    level: u16,
    /// The first task of the queue that has not been read, and its key; the greatest key without one.
    ahead: TaskId,
    ahead_key: i64,
    /// Those that wait in each level, where there are task groups; that of the current task is kept apart.
    levels: Vec<Queue>,
    /// The task groups around the current task, from the inside out, and whether one of them has rivals.
    around: Vec<u32>,
    contested: bool,
    /// Not all tasks are in the level of the current one.
    divided: bool,
    limits: Vec<Limit>,
    /// How many have begun to wait.
    waits: u32,
    /// From when on the groups around use up their runtime, and when the first of them has none left.
    turn_from: Time,
    exhausted: Time,
    /// The origin of virtual time has moved.
    moved: bool,
    mark: Mark,
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

impl Members {
    /// None, of tasks that poll in these ways.
    pub(crate) fn new(looks: &[Look]) -> Self {
        Self {
            priority: 0,
            polls: 0,
            alike: true,
            looks: looks.to_vec(),
            weight: 0,
            several: false,
            by_deadline: false,
            slice: Span::ZERO,
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
            waits: 0,
            turn_from: Time::ZERO,
            exhausted: Time::NEVER,
            moved: false,
            mark: Mark::default(),
            since: Time::ZERO,
            overhead: Span::ZERO,
            charged: Time::ZERO,
            switching: Span::ZERO,
            cycles: 0,
            switches: 0,
            before: 0,
        }
    }

    /// Runs what is on a cpu until something other than polling is due and returns that instant: the current
    /// task's poll (it observes the end of its wait) or the end of its cycle (a task that does not poll
    /// follows). Cycles that end before `limit` are done; when nothing happens before `limit`, or nothing
    /// ever, it stops there. None where another mechanism has to do it.
    pub(crate) fn run(&mut self, shared: &Shared, record: &Cpu, limit: Time) -> Option<Time> {
        let picks = shared.picks?;
        self.load(&shared.tasks, record, Prices::of(&shared.machine.costs));
        self.by_deadline = matches!(picks, Picks::ByDeadline(_));
        match picks {
            Picks::ByKey => self.run_by_key(&shared.tasks, limit),
            Picks::ByDeadline(requests) => self.run_by_deadline(requests, (&shared.tasks, record), limit),
        }
    }

    /// Begins with what is on a cpu: its current task.
    fn load(&mut self, source: &Tasks, record: &Cpu, prices: Prices) {
        let task = &source[record.current];
        (self.priority, self.polls, self.weight) = (task.priority, task.polls, task.weight);
        self.several = record.several;
        self.prices = prices;
        self.look_like(task.polls);
        self.cycle_charge = weighted(self.cycle, self.weight);
        self.members.clear();
        self.around.clear();
        self.levels.clear();
        (self.alike, self.contested, self.moved) = (true, false, false);
        (self.current, self.queue, self.level) = (0, Queue::EMPTY, 0);
        self.limits.clear();
        (self.divided, self.waits, self.exhausted) = (false, 0, Time::NEVER);
        self.ahead = record.head;
        self.read(record.current, task);
        (self.since, self.charged) = (record.since, record.charged);
        self.overhead = record.overhead.total();
        (self.switching, self.cycles, self.switches) = (Span::ZERO, 0, 0);
    }

    /// The current task polls in this way.
    #[inline]
    fn look_like(&mut self, polls: u8) {
        self.polls = polls;
        self.look = self.looks[polls as usize];
        self.cycle = self.look.poll + self.prices.call;
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
    #[inline]
    fn hand_over(&mut self, old: u32, next: u32) {
        let cost = self.cost(old, next);
        self.members[old as usize].switches += 1;
        self.switches += 1;
        (self.before, self.current) = (old, next);
        self.overhead = cost;
        self.switching += cost;
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

    /// How many have been done.
    #[cfg(debug_assertions)]
    pub(crate) fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The run has ended like another one on the same queue.
    #[cfg(debug_assertions)]
    pub(crate) fn ends_like(&self, other: &Self) -> bool {
        let cpu = |queue: &Self| {
            let Self { since, overhead, charged, switching, cycles, switches, .. } = *queue;
            let current = queue.members[queue.current as usize].task;
            (current, since, overhead, charged, switching, cycles, switches)
        };
        let one = |one: &Member| {
            let keys = (one.key, one.deadline, one.protection);
            (one.task, keys, one.cycles, one.switches, one.used, one.last_ran)
        };
        let has_run = |member: &&Member| member.cycles > 0 || member.inside > 0;
        let [mine, others] = [self, other].map(|queue| queue.members.iter().filter(has_run).map(one));
        cpu(self) == cpu(other) && mine.eq(others)
    }

    /// The run has ended like one on a copy of the queue.
    #[cfg(debug_assertions)]
    pub(crate) fn ends_like_copy(&self, copy: &crate::engine::polling::queue_copy::QueueCopy) -> bool {
        let now = (self.since, self.overhead, self.charged, self.switching, self.cycles, self.switches);
        let then =
            (copy.cpu.since, copy.overhead, copy.cpu.charged, copy.switching, copy.cycles, copy.switches);
        let of = |id: TaskId| copy.done[id.0 as usize].task;
        let same = |member: &Member| {
            let Some(number) = copy.done.iter().position(|done| done.task == member.task) else {
                return false;
            };
            let (done, task) = (&copy.done[number], &copy.tasks[TaskId(number as u32)]);
            let ran = member.cycles == 0 || (member.used, member.last_ran) == (task.cpu_time, task.last_ran);
            let keys = !self.by_deadline
                || (member.deadline, member.protection) == (task.history.vdeadline, task.history.protection);
            let counts =
                (member.key, member.cycles, member.switches) == (task.vruntime, done.cycles, done.switches);
            ran && keys && counts
        };
        let next = |number: u32| self.members.get(number as usize);
        let order: Vec<TaskId> = if !self.divided {
            let listed = std::iter::successors(next(self.queue.first), |member| next(member.next));
            listed.map(|member| member.task).collect()
        } else {
            self.waiting_in_levels().iter().map(|number| self.members[*number as usize].task).collect()
        };
        now == then
            && self.members[self.current as usize].task == of(copy.cpu.current)
            && order.into_iter().zip(copy.queue().map(of)).all(|(mine, other)| mine == other)
            && self.members.iter().all(same)
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
        record.poll_on(self.since, self.charged, self.overhead, (self.cycles, self.switches));
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
        if self.switches > 0 {
            record.last_process = shared.tasks[self.members[self.before as usize].task].process;
            self.relink(&shared.model.discipline, &mut shared.tasks, record);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::polling::queue_copy::QueueCopy;
    use crate::ids::{AppId, CpuId, IdVec};
    use crate::rng;
    use crate::run_queue::eevdf::EevdfParams;
    use crate::run_queue::{Requests, groups, insert_by};

    const LOOKS: [u64; 3] = [40, 40, 190];

    fn looks() -> Vec<Look> {
        let look = |ns| Look { each: Span::from_ns(ns), poll: Span::from_ns(ns), category: Category::Spin };
        LOOKS.map(look).to_vec()
    }

    /// A queue under EEVDF whose tasks wait for instants of their own, without task groups or with two around
    /// all of them; every third case has tasks of several weights, processes and polls.
    fn queue(params: &EevdfParams, case: u32) -> (Tasks, Cpu) {
        let mut noise = u64::from(case) + 1;
        let mut draw = |bound: u64| (u64::from(rng::next(&mut noise)) * bound) >> 32;
        let (mut tasks, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
        let (count, groups) = (1 + draw(8) as u32, [0, 3, 0, 2][case as usize % 4]);
        let mixed = case.is_multiple_of(3);
        cpu.several = mixed;
        let apart = [0, 2_500, 500_000][draw(3) as usize];
        for number in 0..count + groups {
            let (weight, process) = if mixed {
                ([512, 1_024, 3_000][draw(3) as usize], ProcessId::of_app(AppId(draw(2) as u32)))
            } else {
                (1_024, ProcessId::NONE)
            };
            let mut task = Task::new(AppId(0), weight, process, 0);
            task.vruntime = draw(apart + 1) as i64;
            task.visible = Time::from_ns(draw(3_000_000));
            if draw(3) == 0 {
                task.visible = Time::NEVER;
            }
            task.polls = if mixed { 1 + draw(2) as u8 } else { 1 };
            if draw(12) == 0 && number > 0 {
                task.polls = 0;
            }
            task.history.vdeadline = task.vruntime + 1 + draw(params.slice.ns()) as i64;
            task.history.protection = task.vruntime + draw(params.slice.ns()) as i64;
            if case % 5 == 1 {
                // All are alike and change places in turn.
                (task.vruntime, task.history.vdeadline) = (0, 2_000);
                task.history.protection = i64::from(number == 0) * 2_000;
                task.visible = if number == 0 { Time::from_ns(2_500_000) } else { task.visible };
            }
            if case % 5 == 2 {
                // In each period one runs, and the others go on by a place.
                (task.weight, task.polls, task.process) = (1_024, 1, ProcessId::NONE);
                task.vruntime = i64::from(number) * (params.slice.ns() / u64::from(count)) as i64;
                task.history.vdeadline = task.vruntime + params.slice.ns() as i64;
                task.history.protection = 0;
            }
            // The second group is in the first one. Three groups compete with each other and with tasks.
            task.history.group = match groups {
                0 => 0,
                2 if number < count => 2,
                3 if number < count => draw(4) as u16,
                _ => u16::from(number == count + 1),
            };
            let id = tasks.push(task);
            if number == 0 {
                cpu.current = id;
            } else if number < count {
                insert_by(params, &mut tasks, &mut cpu, id);
            }
        }
        (cpu.rare.first_group, cpu.rare.group_count) = (TaskId(count), groups as u16);
        for group in groups::all(&cpu) {
            let holds = |task: TaskId| groups::chain(&tasks, &cpu, task).any(|around| around == group);
            let (queued, chosen) = ((0..count).map(TaskId).any(holds), holds(cpu.current));
            let history = &mut tasks[group].history;
            (history.queued, history.chosen) = (queued, chosen);
        }
        cpu.charged = Time::from_ns(1);
        cpu.running = count;
        (tasks, cpu)
    }

    fn members(tasks: &Tasks, cpu: &Cpu, params: &EevdfParams, limit: Time) -> (Members, Option<Time>) {
        let mut members = Members::new(&looks());
        members.load(tasks, cpu, PRICES);
        members.by_deadline = true;
        let requests = requests(params);
        let due = members.run_by_deadline(requests, (tasks, cpu), limit);
        (members, due)
    }

    fn requests(params: &EevdfParams) -> Requests {
        Requests { slice: params.slice, protected: params.protected }
    }

    const PRICES: Prices =
        Prices { call: Span::from_ns(300), thread: Span::from_ns(900), process: Span::from_ns(1_700) };

    fn copy(tasks: &Tasks, cpu: &Cpu) -> QueueCopy {
        let mut copy = QueueCopy::new(&looks());
        copy.load(cpu, tasks, &IdVec::default(), (PRICES, false));
        copy
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of polls one by one")]
    fn members_by_deadline_poll_as_a_copy_of_the_queue_does() {
        for case in 0..2_000 {
            let protected = [Span::from_us(700), EevdfParams::scaled(8).slice][case as usize / 4 % 2];
            let params = EevdfParams { protected, ..EevdfParams::scaled(8) };
            let (tasks, cpu) = queue(&params, case);
            let (quick, due) = members(&tasks, &cpu, &params, Time::NEVER);
            let due = due.expect("members cover it");
            // After many dispatches an event continues a prediction, here or there.
            if due < Time::NEVER {
                let later = copy(&tasks, &cpu).run(&params, due + Span::from_ns(1));
                let long = quick.cycles > 500 || later.since(due) > Span::from_ms(1);
                assert!(later == due || (later > due && long), "case {case}: {later:?} after {due:?}");
                let mut slow = copy(&tasks, &cpu);
                slow.run(&params, due);
                assert!(quick.ends_like_copy(&slow), "case {case}");
            }
            let limit = Time::from_ns(1_000 * u64::from(case)).min(due);
            let (quick, mine) = members(&tasks, &cpu, &params, limit);
            let mut slow = copy(&tasks, &cpu);
            assert_eq!(mine, Some(slow.run(&params, limit)), "case {case}");
            assert!(quick.ends_like_copy(&slow), "case {case} up to {limit:?}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of polls one by one")]
    fn the_origin_of_virtual_time_moves_as_on_a_copy() {
        // At the weight of `SCHED_IDLE` a yield is a 27,000th of 64 bits.
        let params = EevdfParams { slice: Span::from_ms(1_000_000), ..EevdfParams::scaled(1) };
        for case in 0..40 {
            let (mut tasks, cpu) = queue(&EevdfParams::scaled(1), case);
            for task in tasks.iter_mut() {
                (task.weight, task.visible, task.polls) = (3, Time::NEVER, 1);
            }
            let limit = Time::from_ns(50_000_000);
            let (quick, due) = members(&tasks, &cpu, &params, limit);
            let mut slow = copy(&tasks, &cpu);
            assert_eq!(due, Some(slow.run(&params, limit)), "case {case}");
            assert!(quick.members.iter().all(|member| member.key < run_queue::FAR_KEY));
            assert!(quick.ends_like_copy(&slow), "case {case}");
        }
    }

    #[test]
    fn a_state_in_which_the_current_task_is_protected_longer_is_another_one() {
        let params = EevdfParams::scaled(8);
        let (tasks, cpu) = (0..).map(|case| queue(&params, case)).find(|(_, cpu)| cpu.running > 1).unwrap();
        let (mut members, requests) = (Members::new(&looks()), requests(&params));
        members.load(&tasks, &cpu, PRICES);
        members.read_level(requests, (&tasks, &cpu));
        let protected = |members: &mut Members, until: i64| {
            let current = &mut members.members[0];
            current.protection = current.key + until;
        };
        protected(&mut members, 2_000);
        members.set_mark(4);
        assert!(members.has_recurred());
        protected(&mut members, 1_000);
        assert!(!members.has_recurred());
        // One that has ended is like one that ended before.
        protected(&mut members, -1_000);
        members.set_mark(4);
        protected(&mut members, -2_000);
        assert!(members.has_recurred());
    }
}
