//! Polling under the plain fair yield in closed form: the task with the least virtual runtime polls until it
//! is behind the next one. Tasks that are close together run one after the other, and whole rounds of them
//! are skipped at once.
//!
//! The same as [`crate::engine::polling::general`] computes for any discipline, for tasks of one weight. Only
//! the tasks that run are copied: the queue is sorted, and so are those that have run, so the next one is the
//! first of the two. The time of a prediction depends on the number of dispatches, not on the length of the
//! queue.

use crate::account::Category;
use crate::engine::Engine;
use crate::engine::polling::general::DISPATCHES_PREDICTED;
use crate::engine::polling::rotation::{polls, visible_at};
use crate::engine::state::{Overhead, ProcessId, Task};
use crate::ids::{CpuId, TaskId};
use crate::machine::Costs;
use crate::observe::Observer;
use crate::os::{CfsRelease, Discipline};
use crate::policy::{THROTTLED, TaskState};
use crate::run_queue::cfs::weighted;
use crate::run_queue::{self, Tasks};
use crate::time::{Span, Time};

/// Polling cycles kept at most: predictions of more cpus than these replace each other.
pub(crate) const FAIR_POLLING: usize = 256;

/// Tasks that a prediction reads besides those that run, to find that nothing ever happens or that rounds
/// repeat.
const LOOKED_AT: usize = 64;

/// Room for this number of tasks is reserved at the start.
const USUAL: usize = 16;

/// A runnable task of the current one's priority, as queued.
#[derive(Clone, Copy)]
struct Member {
    vruntime: i64,
    visible_at: Time,
    process: ProcessId,
    /// Where its record is.
    number: u32,
    polls: bool,
}

impl Member {
    /// Sorts behind all others.
    const NO_TASK: Self = Self {
        vruntime: i64::MAX,
        visible_at: Time::NEVER,
        process: ProcessId::NONE,
        number: 0,
        polls: false,
    };

    const fn is_no_task(&self) -> bool {
        self.vruntime == i64::MAX
    }

    #[inline]
    fn of(task: &Task, number: usize) -> Self {
        Self {
            vruntime: task.vruntime,
            visible_at: visible_at(task),
            process: task.process,
            number: number as u32,
            polls: polls(task),
        }
    }
}

/// What a member was loaded from and what it did.
#[derive(Clone, Copy)]
struct Record {
    task: TaskId,
    polls: bool,
    vruntime: i64,
    visible_at: Time,
    /// Cycles it went through, and how often it was switched out.
    cycles: u64,
    switches: u64,
    used: Span,
    /// When it last ran; zero = it has not.
    last_ran: Time,
}

/// The members and how far the present cycle is. The queue is what waits in `moved` and the tasks from
/// `ahead` on, both sorted by virtual runtime; of equals the latter come first.
pub(crate) struct FairPolling {
    current: Member,
    /// Those that have run; those before `front` have left the queue again.
    moved: Vec<Member>,
    front: usize,
    /// The first task of the cpu's queue that has not run (else [`Member::NO_TASK`]), and the task behind it,
    /// which is not loaded.
    ahead: Member,
    following: TaskId,
    priority: u8,
    /// The loaded members, in the order of the cpu's queue.
    records: Vec<Record>,
    /// The members of a round that is skipped.
    group: Vec<Member>,
    poll: Span,
    call: Span,
    thread: Span,
    process: Span,
    /// Virtual runtime of a dispatch of one cycle behind a switch, and of one more cycle.
    turn: i64,
    each: i64,
    weight: u32,
    since: Time,
    overhead: Span,
    charged: Time,
    /// Time of switches except the first overhead, cycles done, switches made.
    switching: Span,
    cycles: u64,
    switches: u64,
    /// The process of the task that was switched out last, if any was.
    before: ProcessId,
    /// What it was loaded from, and the instant that its run predicted.
    origin: Origin,
    due: Time,
}

/// What a polling cycle is loaded from besides its members; `charge` is what of a switch is charged to
/// virtual runtime.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Origin {
    since: Time,
    overhead: Span,
    charged: Time,
    charge: Span,
}

impl Default for FairPolling {
    fn default() -> Self {
        Self {
            current: Member::NO_TASK,
            moved: Vec::with_capacity(2 * USUAL),
            front: 0,
            ahead: Member::NO_TASK,
            following: TaskId::NONE,
            priority: 0,
            records: Vec::with_capacity(USUAL),
            group: Vec::with_capacity(USUAL),
            poll: Span::ZERO,
            call: Span::ZERO,
            thread: Span::ZERO,
            process: Span::ZERO,
            turn: 0,
            each: 0,
            weight: 0,
            since: Time::ZERO,
            overhead: Span::ZERO,
            charged: Time::ZERO,
            switching: Span::ZERO,
            cycles: 0,
            switches: 0,
            before: ProcessId::NONE,
            origin: Origin::default(),
            due: Time::NEVER,
        }
    }
}

impl FairPolling {
    #[inline]
    fn cycle(&self) -> Span {
        self.poll + self.call
    }

    #[inline]
    fn price(&self, from: &Member, to: &Member) -> Span {
        if from.process == to.process { self.thread } else { self.process }
    }

    /// Copies a task of the cpu's queue and finds the one behind it; no task where there is none of the same
    /// priority.
    #[inline]
    fn load(&mut self, tasks: &Tasks, id: TaskId) -> Member {
        let Some(task) = id.some().map(|id| &tasks[id]).filter(|task| task.priority == self.priority) else {
            return Member::NO_TASK;
        };
        let member = Member::of(task, self.records.len());
        self.records.push(Record {
            task: id,
            polls: member.polls,
            vruntime: member.vruntime,
            visible_at: member.visible_at,
            cycles: 0,
            switches: 0,
            used: Span::ZERO,
            last_ran: Time::ZERO,
        });
        self.following = task.next;
        member
    }

    /// The first of those that wait, if any.
    #[inline]
    fn rival(&self) -> &Member {
        self.moved.get(self.front).filter(|moved| moved.vruntime < self.ahead.vruntime).unwrap_or(&self.ahead)
    }

    /// Takes the first of those that wait out of the queue.
    #[inline]
    fn take_rival(&mut self, tasks: &Tasks) -> Member {
        match self.moved.get(self.front) {
            Some(moved) if moved.vruntime < self.ahead.vruntime => {
                self.front += 1;
                *moved
            }
            _ => {
                let ahead = self.ahead;
                self.ahead = self.load(tasks, self.following);
                ahead
            }
        }
    }

    /// Runs until something other than polling is due and returns that instant (see [`crate::engine::polling
    /// cycle::Polling::run`]). Cycles that end before `limit` are done; when nothing happens before `limit`,
    /// or nothing ever, it stops there.
    fn run(&mut self, tasks: &Tasks, limit: Time) -> Time {
        let cycle = self.cycle();
        let mut turns = 0;
        loop {
            if turns % 2 == 1 && self.skip(tasks, limit, turns) {
                return Time::NEVER;
            }
            let check = self.since + self.overhead + self.poll;
            let current = &self.current;
            let rival = self.rival();
            if rival.is_no_task() {
                return self.stop(limit, check, u64::MAX);
            }
            let first = weighted((check + self.call).since(self.charged), self.weight);
            let behind = rival.vruntime - current.vruntime - first;
            let wanted = match self.each {
                _ if behind <= 0 => 1,
                // A cycle too short to count: it never falls behind.
                0 => return self.stop(limit, check, u64::MAX),
                each => 1 + (behind as u64).div_ceil(each as u64),
            };
            let end = check + self.call + cycle * (wanted - 1);
            // Its last poll of this dispatch comes one call before the end.
            if current.visible_at.saturating_add(self.call) <= end || end >= limit {
                return self.stop(limit, check, wanted);
            }
            if !rival.polls {
                self.go_through(wanted - 1);
                return self.since + self.overhead + cycle;
            }
            self.go_through(wanted);
            self.hand_over(tasks);
            turns += 1;
            if limit.is_never() && turns > DISPATCHES_PREDICTED {
                let check = self.since + self.overhead + self.poll;
                return if self.current.visible_at <= check { check } else { check + self.call };
            }
        }
    }

    /// The current member's dispatch of `wanted` cycles does not end before `limit`, or the member observes
    /// the end of its wait in it: runs up to there.
    fn stop(&mut self, limit: Time, check: Time, wanted: u64) -> Time {
        let (cycle, visible_at) = (self.cycle(), self.current.visible_at);
        // It observes the end of its wait at the first poll that is not before its visibility time.
        let unaware = match visible_at {
            Time::NEVER => u64::MAX,
            _ if visible_at <= check => 0,
            _ => visible_at.since(check).ns().div_ceil(cycle.ns()),
        };
        let first = check + self.call;
        let before = match limit {
            Time::NEVER => u64::MAX,
            _ if first >= limit => 0,
            _ => 1 + (limit - first - Span::from_ns(1)).ns() / cycle.ns(),
        };
        if before < wanted.min(unaware) {
            self.go_through(before);
            return limit;
        }
        if unaware == u64::MAX {
            return Time::NEVER;
        }
        self.go_through(unaware);
        self.since + self.overhead + self.poll
    }

    /// The current member goes through whole cycles and stays current.
    fn go_through(&mut self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        let cycle = self.cycle();
        let first = self.since + self.overhead + cycle;
        let end = first + cycle * (cycles - 1);
        let current = &mut self.current;
        current.vruntime +=
            weighted(first.since(self.charged), self.weight) + self.each * (cycles as i64 - 1);
        let record = &mut self.records[current.number as usize];
        record.cycles += cycles;
        record.used += end - self.since;
        record.last_ran = end;
        self.cycles += cycles;
        self.overhead = Span::ZERO;
        self.since = end;
        self.charged = end;
    }

    /// The next member takes the cpu, the current one goes behind all that are not ahead of it.
    fn hand_over(&mut self, tasks: &Tasks) {
        let old = self.current;
        let next = self.take_rival(tasks);
        let cost = self.price(&old, &next);
        self.records[old.number as usize].switches += 1;
        if self.front >= USUAL {
            self.moved.drain(..self.front);
            self.front = 0;
        }
        let mut place = self.moved.len();
        self.moved.push(old);
        while place > self.front && self.moved[place - 1].vruntime > old.vruntime {
            self.moved.swap(place - 1, place);
            place -= 1;
        }
        self.current = next;
        self.before = old.process;
        self.switches += 1;
        self.switching += cost;
        self.overhead = cost;
        self.charged = (self.since + cost).saturating_sub(self.origin.charge);
    }

    /// After a switch: skips as many whole rounds of tasks that are close together as pass without event;
    /// true when they continue forever.
    fn skip(&mut self, tasks: &Tasks, limit: Time, turns: usize) -> bool {
        // Every skipped cycle ends before the limit, and every skipped poll precedes every visibility time.
        let first = self.current;
        let mut end = limit.min(first.visible_at).min(self.rival().visible_at);
        let cycle = self.cycle();
        if end.since(self.since) < cycle * 2 || self.charged == Time::ZERO {
            return false;
        }
        // A long walk is made seldom, so that it does not take longer than the dispatches.
        let most =
            if turns >= LOOKED_AT - 1 && (turns + 1).is_power_of_two() { usize::MAX } else { LOOKED_AT };
        let (mut group, mut round, mut last) = (1, cycle, first);
        let (mut ahead, mut following, mut at) = (self.ahead, self.following, self.front);
        let beyond = loop {
            let member = match self.moved.get(at) {
                Some(moved) if moved.vruntime < ahead.vruntime => moved,
                _ => &ahead,
            };
            if !member.polls || member.vruntime - first.vruntime > self.turn {
                break member.vruntime;
            }
            round += self.price(&last, member) + cycle;
            end = end.min(member.visible_at);
            if round >= end.since(self.since) || group >= most {
                return false;
            }
            group += 1;
            last = *member;
            if last.vruntime < ahead.vruntime {
                at += 1;
                continue;
            }
            let task = following.some().map(|id| &tasks[id]).filter(|task| task.priority == self.priority);
            ahead = task.map_or(Member::NO_TASK, |task| Member::of(task, usize::MAX));
            following = task.map_or(TaskId::NONE, |task| task.next);
        };
        // The dispatch that has begun must be like the later ones.
        if group < 2 || self.price(&last, &first) != self.overhead {
            return false;
        }
        round += self.overhead;
        let room = end.since(self.since);
        let mut rounds = if end.is_never() { u64::MAX } else { room.ns().saturating_sub(1) / round.ns() };
        if beyond < i64::MAX {
            // Behind those who are further ahead no task falls.
            let room = (beyond - last.vruntime - 1).max(0);
            rounds = rounds.min(room as u64 / self.turn.max(1) as u64);
        }
        if rounds == u64::MAX {
            return true;
        }
        if rounds > 0 {
            self.group.clear();
            self.group.push(first);
            for _ in 1..group {
                let member = self.take_rival(tasks);
                self.group.push(member);
            }
            self.go_round(rounds, round);
        }
        false
    }

    /// Charges whole rounds of the members of `group`, the current one and those behind it, which stay in
    /// this order.
    fn go_round(&mut self, rounds: u64, round: Span) {
        let (cycle, turn) = (self.cycle(), self.turn);
        let mut end = self.since + round * (rounds - 1);
        let turns = rounds * self.group.len() as u64;
        let mut from = self.group[self.group.len() - 1];
        self.before = from.process;
        for at in 0..self.group.len() {
            let mut member = self.group[at];
            let cost = self.price(&from, &member);
            end += cost + cycle;
            member.vruntime += turn * rounds as i64;
            let record = &mut self.records[member.number as usize];
            record.cycles += rounds;
            record.switches += rounds;
            record.used += (cost + cycle) * rounds;
            record.last_ran = end;
            self.group[at] = member;
            from = member;
        }
        self.current = self.group[0];
        self.moved.splice(..self.front, self.group[1..].iter().copied());
        self.front = 0;
        self.switching += (round - cycle * self.group.len() as u64) * rounds;
        self.cycles += turns;
        self.switches += turns;
        self.since = end;
        self.charged += round * rounds;
    }
}

impl<O: Observer> Engine<'_, O> {
    /// True when the tasks that compete with the current one of a cpu, which polls, are of one weight and
    /// yield by the fair rule.
    pub(crate) fn yields_fairly(&self, cpu: CpuId) -> bool {
        let record = &self.cpus[cpu];
        let priority = self.shared.tasks[record.current].priority;
        let before = |head: TaskId| self.shared.tasks[head].priority < priority;
        self.shared.fair && priority < THROTTLED && !record.head.some().is_some_and(before)
    }

    /// When polling under the fair yield next causes something.
    pub(crate) fn predict_fair(&mut self, cpu: CpuId) -> Time {
        let slot = cpu.0 as usize % self.fair_polling.len();
        if self.all_unaware(cpu) {
            self.fair_polling[slot].due = Time::NEVER;
            return Time::NEVER;
        }
        self.load_fair(cpu, slot);
        let polling = &mut self.fair_polling[slot];
        polling.due = polling.run(&self.shared.tasks, Time::NEVER);
        polling.due
    }

    /// All tasks of the current one's priority poll, and nothing that they wait for is known to come. Not
    /// found out where they are many.
    fn all_unaware(&self, cpu: CpuId) -> bool {
        let (record, tasks) = (&self.cpus[cpu], &self.shared.tasks);
        let unaware = |task: &Task| polls(task) && visible_at(task).is_never();
        let first = &tasks[record.current];
        if !unaware(first) {
            return false;
        }
        let mut at = record.head;
        for _ in 0..LOOKED_AT {
            match at.some().map(|id| &tasks[id]).filter(|task| task.priority == first.priority) {
                None => return true,
                Some(task) if unaware(task) => at = task.next,
                Some(_) => return false,
            }
        }
        false
    }

    /// Does all cycles under the fair yield that end before `limit`. Where the predicted instant has come and
    /// nothing has happened in between, they are computed already.
    pub(crate) fn settle_fair(&mut self, cpu: CpuId, limit: Time) {
        let slot = cpu.0 as usize % self.fair_polling.len();
        if self.fair_polling[slot].due != limit || !self.is_loaded(cpu, slot) {
            self.load_fair(cpu, slot);
            self.fair_polling[slot].run(&self.shared.tasks, limit);
        }
        if self.fair_polling[slot].cycles > 0 {
            self.store_fair(cpu, slot);
        }
        self.fair_polling[slot].due = Time::NEVER;
    }

    fn origin_of(&self, cpu: CpuId) -> Origin {
        let record = &self.cpus[cpu];
        Origin {
            since: record.since,
            overhead: record.overhead.total(),
            charged: record.charged,
            charge: record.switch_charge,
        }
    }

    /// True when a polling cycle was loaded from a cpu and the tasks on it as they still are.
    fn is_loaded(&self, cpu: CpuId, slot: usize) -> bool {
        let (record, polling) = (&self.cpus[cpu], &self.fair_polling[slot]);
        let priority = self.shared.tasks[record.current].priority;
        let (mut at, mut following) = (record.current, record.head);
        for member in &polling.records {
            let Some(id) = at.some() else { return false };
            let task = &self.shared.tasks[id];
            let same = member.task == id && member.vruntime == task.vruntime && task.priority == priority;
            if !same || member.visible_at != visible_at(task) || member.polls != polls(task) {
                return false;
            }
            at = following;
            following = at.some().map_or(TaskId::NONE, |id| self.shared.tasks[id].next);
        }
        let ended = || at.some().is_none_or(|id| self.shared.tasks[id].priority != priority);
        (!polling.ahead.is_no_task() || ended()) && polling.origin == self.origin_of(cpu)
    }

    fn load_fair(&mut self, cpu: CpuId, slot: usize) {
        let origin = self.origin_of(cpu);
        let (record, polling, tasks) = (&self.cpus[cpu], &mut self.fair_polling[slot], &self.shared.tasks);
        let Costs { poll, yield_call, switch_thread, switch_process, .. } = self.shared.machine.costs;
        let first = &tasks[record.current];
        polling.origin = origin;
        polling.due = Time::NEVER;
        polling.weight = first.weight;
        polling.priority = first.priority;
        (polling.poll, polling.call, polling.thread, polling.process) =
            (poll, yield_call, switch_thread, switch_process);
        polling.each = weighted(poll + yield_call, first.weight);
        polling.turn = weighted(origin.charge + poll + yield_call, first.weight);
        polling.since = origin.since;
        polling.overhead = origin.overhead;
        polling.charged = origin.charged;
        (polling.switching, polling.cycles, polling.switches) = (Span::ZERO, 0, 0);
        polling.moved.clear();
        polling.front = 0;
        polling.records.clear();
        polling.current = polling.load(tasks, record.current);
        polling.ahead = polling.load(tasks, record.head);
    }

    /// Writes a polling cycle that was run back to the cpu.
    fn store_fair(&mut self, cpu: CpuId, slot: usize) {
        let (record, polling) = (&mut self.cpus[cpu], &self.fair_polling[slot]);
        record.account.add(Category::Spin, polling.poll * polling.cycles);
        record.account.add(Category::Yield, polling.call * polling.cycles);
        let mut overhead = std::mem::replace(&mut record.overhead, Overhead::NONE);
        overhead.pay(overhead.total(), &mut record.account);
        // The last switch is still pending when its dispatch has not completed a cycle.
        record.account.add(Category::Switch, polling.switching - polling.overhead);
        let overhead = Overhead::switch(polling.overhead);
        record.poll_on(polling.since, polling.charged, overhead, (polling.cycles, polling.switches));
        for member in std::iter::once(&polling.current).chain(&polling.moved[polling.front..]) {
            let record = &polling.records[member.number as usize];
            if record.cycles == 0 {
                continue;
            }
            let task = &mut self.shared.tasks[record.task];
            task.vruntime = member.vruntime;
            task.cpu_time += record.used;
            task.last_ran = record.last_ran;
            let counters = &mut self.shared.apps[task.app].counters;
            counters.polls += record.cycles;
            counters.yields += record.cycles;
            counters.voluntary_switches += record.switches;
        }
        if polling.switches > 0 {
            self.relink_fair(cpu, slot);
        }
        self.follow_fair(cpu);
    }

    /// Rebuilds the queue in the order of the polling cycle: those that have run come between the others or
    /// behind them, other priorities stay behind.
    fn relink_fair(&mut self, cpu: CpuId, slot: usize) {
        let (record, polling, tasks) =
            (&mut self.cpus[cpu], &self.fair_polling[slot], &mut self.shared.tasks);
        let task_of = |member: &Member| polling.records[member.number as usize].task;
        record.last_process = polling.before;
        // The first task that has not run, or what follows the priority.
        let mut at = if polling.ahead.is_no_task() { polling.following } else { task_of(&polling.ahead) };
        run_queue::link(tasks, record, TaskId::NONE, at);
        for member in &polling.moved[polling.front..] {
            let behind = |task: &Task| (task.priority, task.vruntime) > (polling.priority, member.vruntime);
            let previous = run_queue::place_between(tasks, at, record.tail, behind);
            at = previous.some().map_or(at, |previous| tasks[previous].next);
            let id = task_of(member);
            tasks[id].state = TaskState::Queued;
            run_queue::link(tasks, record, previous, id);
            run_queue::link(tasks, record, id, at);
        }
        record.current = task_of(&polling.current);
        let current = &mut tasks[record.current];
        current.state = TaskState::Running;
        current.previous = TaskId::NONE;
        current.next = TaskId::NONE;
    }

    /// The queue's minimum after cycles: of the current and the first waiting task, in 2.6.27 of the latter
    /// where there is one.
    fn follow_fair(&mut self, cpu: CpuId) {
        let record = &mut self.cpus[cpu];
        let current = self.shared.tasks[record.current].vruntime;
        let old = matches!(&self.shared.model.discipline, Discipline::Cfs(params) if params.release == CfsRelease::V27);
        let least = match record.head.some().map(|head| self.shared.tasks[head].vruntime) {
            Some(head) if old => head,
            Some(head) => head.min(current),
            None => current,
        };
        record.min_vruntime = record.min_vruntime.max(least);
    }
}
