//! Polling under the plain fair yield, computed in closed form: the task with the least virtual runtime polls until it is
//! behind the next one. Tasks that are close together take turns, and whole rounds of them are skipped at once.
//!
//! The same as [`crate::kernel::ring`] computes for any discipline, for tasks of one weight. Only the tasks that get a turn are
//! copied: the queue is sorted, and so are those that have had a turn, so the next one is the first of the two. The time of
//! a forecast depends on the turns, not on the length of the queue.

use crate::account::Category;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::ring::TURNS_FORETOLD;
use crate::kernel::rotation::{polls, sight};
use crate::kernel::state::{Cpu, Lead, ProcessId, Task};
use crate::kernel_model::{CfsRelease, Discipline};
use crate::machine::Costs;
use crate::observe::Observer;
use crate::policy::{PARKED, TaskState};
use crate::run_queue::cfs::weighted;
use crate::run_queue::{self, Tasks};
use crate::time::{Span, Time};

/// Rings kept at most: forecasts of more cpus than these displace each other.
pub(crate) const FAIR_RINGS: usize = 256;

/// Tasks that a forecast looks at besides those that get a turn, to find that nothing ever happens or that rounds repeat.
const LOOKED_AT: usize = 64;

/// A runnable task of the current one's band, as it stands in the queue.
#[derive(Clone, Copy)]
struct Member {
    vruntime: i64,
    sight: Time,
    process: ProcessId,
    /// Where its record is.
    number: u32,
    polls: bool,
}

impl Member {
    /// Stands behind all others.
    const NOBODY: Self =
        Self { vruntime: i64::MAX, sight: Time::NEVER, process: ProcessId::NONE, number: 0, polls: false };

    const fn is_nobody(&self) -> bool {
        self.vruntime == i64::MAX
    }

    #[inline]
    fn of(task: &Task, number: usize) -> Self {
        Self {
            vruntime: task.vruntime,
            sight: sight(task),
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
    sight: Time,
    /// Cycles it went through, and how often it was switched out.
    cycles: u64,
    switches: u64,
    used: Span,
    /// When it last ran; zero = it has not.
    last_ran: Time,
}

/// The members and how far the present cycle is. The queue is what waits in `moved` and the tasks from `ahead` on, both
/// sorted by virtual runtime; of equals the latter come first.
pub(crate) struct FairRing {
    current: Member,
    /// Those that have had a turn; those before `front` have left the queue again.
    moved: Vec<Member>,
    front: usize,
    /// The first task of the cpu's queue that has not had a turn (else [`Member::NOBODY`]), and the task behind it, which is
    /// not loaded.
    ahead: Member,
    following: TaskId,
    band: u8,
    /// The loaded members, in the order of the cpu's queue.
    records: Vec<Record>,
    /// The members of a round that is skipped.
    group: Vec<Member>,
    poll: Span,
    call: Span,
    thread: Span,
    process: Span,
    /// Virtual runtime of a turn of one cycle behind a switch, and of one more cycle.
    turn: i64,
    each: i64,
    weight: u32,
    since: Time,
    lead: Span,
    charged: Time,
    /// Time of switches but the first lead, cycles done, switches made.
    switching: Span,
    cycles: u64,
    switches: u64,
    /// The process of the task that was switched out last, if any was.
    before: ProcessId,
    /// What it was loaded from, and the instant that its run foretold.
    origin: Origin,
    due: Time,
}

/// What a ring is loaded from besides its members; `charge` is what of a switch is charged to virtual runtime.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Origin {
    since: Time,
    lead: Span,
    charged: Time,
    charge: Span,
}

impl Default for FairRing {
    fn default() -> Self {
        Self {
            current: Member::NOBODY,
            moved: Vec::new(),
            front: 0,
            ahead: Member::NOBODY,
            following: TaskId::NONE,
            band: 0,
            records: Vec::new(),
            group: Vec::new(),
            poll: Span::ZERO,
            call: Span::ZERO,
            thread: Span::ZERO,
            process: Span::ZERO,
            turn: 0,
            each: 0,
            weight: 0,
            since: Time::ZERO,
            lead: Span::ZERO,
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

impl FairRing {
    #[inline]
    fn cycle(&self) -> Span {
        self.poll + self.call
    }

    #[inline]
    fn price(&self, from: &Member, to: &Member) -> Span {
        if from.process == to.process { self.thread } else { self.process }
    }

    /// Copies a task of the cpu's queue and finds the one behind it; nobody where there is none of the same band.
    #[inline]
    fn load(&mut self, tasks: &Tasks, id: TaskId) -> Member {
        let Some(task) = id.some().map(|id| &tasks[id]).filter(|task| task.band == self.band) else {
            return Member::NOBODY;
        };
        let member = Member::of(task, self.records.len());
        self.records.push(Record {
            task: id,
            polls: member.polls,
            vruntime: member.vruntime,
            sight: member.sight,
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

    /// Runs until something other than polling is due and returns that instant (see [`crate::kernel::ring::Ring::run`]). Cycles
    /// that end before `limit` are done; when nothing happens before `limit`, or nothing ever, it stops there.
    fn run(&mut self, tasks: &Tasks, limit: Time) -> Time {
        let cycle = self.cycle();
        let mut turns = 0;
        loop {
            if turns % 2 == 1 && self.skip(tasks, limit, turns) {
                return Time::NEVER;
            }
            let check = self.since + self.lead + self.poll;
            let current = &self.current;
            let rival = self.rival();
            if rival.is_nobody() {
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
            // Its last look of this turn comes one call before the end.
            if current.sight.saturating_add(self.call) <= end || end >= limit {
                return self.stop(limit, check, wanted);
            }
            if !rival.polls {
                self.go_through(wanted - 1);
                return self.since + self.lead + cycle;
            }
            self.go_through(wanted);
            self.hand_over(tasks);
            turns += 1;
            if limit.is_never() && turns > TURNS_FORETOLD {
                let check = self.since + self.lead + self.poll;
                return if self.current.sight <= check { check } else { check + self.call };
            }
        }
    }

    /// The current member's turn of `wanted` cycles does not end before `limit`, or in it the member sees: goes up to there.
    fn stop(&mut self, limit: Time, check: Time, wanted: u64) -> Time {
        let (cycle, sight) = (self.cycle(), self.current.sight);
        // It sees at the first look that is not before `sight`.
        let blind = match sight {
            Time::NEVER => u64::MAX,
            _ if sight <= check => 0,
            _ => sight.since(check).ns().div_ceil(cycle.ns()),
        };
        let first = check + self.call;
        let before = match limit {
            Time::NEVER => u64::MAX,
            _ if first >= limit => 0,
            _ => 1 + (limit - first - Span::from_ns(1)).ns() / cycle.ns(),
        };
        if before < wanted.min(blind) {
            self.go_through(before);
            return limit;
        }
        if blind == u64::MAX {
            return Time::NEVER;
        }
        self.go_through(blind);
        self.since + self.lead + self.poll
    }

    /// The current member goes through whole cycles and stays current.
    fn go_through(&mut self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        let cycle = self.cycle();
        let first = self.since + self.lead + cycle;
        let end = first + cycle * (cycles - 1);
        let current = &mut self.current;
        current.vruntime +=
            weighted(first.since(self.charged), self.weight) + self.each * (cycles as i64 - 1);
        let record = &mut self.records[current.number as usize];
        record.cycles += cycles;
        record.used += end - self.since;
        record.last_ran = end;
        self.cycles += cycles;
        self.lead = Span::ZERO;
        self.since = end;
        self.charged = end;
    }

    /// The next member takes the cpu, the current one goes behind all that are not ahead of it.
    fn hand_over(&mut self, tasks: &Tasks) {
        let old = self.current;
        let next = self.take_rival(tasks);
        let cost = self.price(&old, &next);
        self.records[old.number as usize].switches += 1;
        if self.front >= LOOKED_AT {
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
        self.lead = cost;
        self.charged = (self.since + cost).saturating_sub(self.origin.charge);
    }

    /// After a switch: goes through as many whole rounds of those who are close together as pass without event; true when they go
    /// on for ever.
    fn skip(&mut self, tasks: &Tasks, limit: Time, turns: usize) -> bool {
        // Every skipped cycle ends before the limit, and every skipped look comes before anybody sees.
        let first = self.current;
        let mut end = limit.min(first.sight).min(self.rival().sight);
        let cycle = self.cycle();
        if end.since(self.since) < cycle * 2 || self.charged == Time::ZERO {
            return false;
        }
        // A long walk only once in a while, so that it does not take longer than the turns.
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
            end = end.min(member.sight);
            if round >= end.since(self.since) || group >= most {
                return false;
            }
            group += 1;
            last = *member;
            if last.vruntime < ahead.vruntime {
                at += 1;
                continue;
            }
            let task = following.some().map(|id| &tasks[id]).filter(|task| task.band == self.band);
            ahead = task.map_or(Member::NOBODY, |task| Member::of(task, usize::MAX));
            following = task.map_or(TaskId::NONE, |task| task.next);
        };
        // The turn that has begun must be like the later ones.
        if group < 2 || self.price(&last, &first) != self.lead {
            return false;
        }
        round += self.lead;
        let room = end.since(self.since);
        let mut rounds = if end.is_never() { u64::MAX } else { room.ns().saturating_sub(1) / round.ns() };
        if beyond < i64::MAX {
            // Behind those who are further ahead nobody falls.
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

    /// Books whole rounds of the members of `group`, the current one and those behind it, which stay in this order.
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

impl<O: Observer> Kernel<'_, O> {
    /// True when the tasks that compete with the current one of a cpu, which polls, are of one weight and yield by the fair rule.
    pub(crate) fn yields_fairly(&self, cpu: CpuId) -> bool {
        let record = &self.cpus[cpu];
        let band = self.world.tasks[record.current].band;
        let before = |head: TaskId| self.world.tasks[head].band < band;
        self.world.fair && band < PARKED && !record.head.some().is_some_and(before)
    }

    /// When polling under the fair yield next leads to something.
    pub(crate) fn forecast_fair(&mut self, cpu: CpuId) -> Time {
        let slot = cpu.0 as usize % self.fair_rings.len();
        if self.all_blind(cpu) {
            self.fair_rings[slot].due = Time::NEVER;
            return Time::NEVER;
        }
        self.load_fair(cpu, slot);
        let ring = &mut self.fair_rings[slot];
        ring.due = ring.run(&self.world.tasks, Time::NEVER);
        ring.due
    }

    /// All tasks of the current one's band poll, and nothing that they wait for is known to come. Not found out where they are many.
    fn all_blind(&self, cpu: CpuId) -> bool {
        let (record, tasks) = (&self.cpus[cpu], &self.world.tasks);
        let blind = |task: &Task| polls(task) && sight(task).is_never();
        let first = &tasks[record.current];
        if !blind(first) {
            return false;
        }
        let mut at = record.head;
        for _ in 0..LOOKED_AT {
            match at.some().map(|id| &tasks[id]).filter(|task| task.band == first.band) {
                None => return true,
                Some(task) if blind(task) => at = task.next,
                Some(_) => return false,
            }
        }
        false
    }

    /// Does all cycles under the fair yield that end before `limit`. Where the foretold instant has come and nothing has
    /// happened in between, they are worked out already.
    pub(crate) fn settle_fair(&mut self, cpu: CpuId, limit: Time) {
        let slot = cpu.0 as usize % self.fair_rings.len();
        if self.fair_rings[slot].due != limit || !self.is_loaded(cpu, slot) {
            self.load_fair(cpu, slot);
            self.fair_rings[slot].run(&self.world.tasks, limit);
        }
        if self.fair_rings[slot].cycles > 0 {
            self.store_fair(cpu, slot);
        }
        self.fair_rings[slot].due = Time::NEVER;
    }

    fn origin_of(&self, cpu: CpuId) -> Origin {
        let record = &self.cpus[cpu];
        Origin {
            since: record.since,
            lead: record.lead.total(),
            charged: record.charged,
            charge: record.switch_charge,
        }
    }

    /// True when a ring was loaded from a cpu and the tasks on it as they still are.
    fn is_loaded(&self, cpu: CpuId, slot: usize) -> bool {
        let (record, ring) = (&self.cpus[cpu], &self.fair_rings[slot]);
        let band = self.world.tasks[record.current].band;
        let (mut at, mut following) = (record.current, record.head);
        for member in &ring.records {
            let Some(id) = at.some() else { return false };
            let task = &self.world.tasks[id];
            let same = member.task == id && member.vruntime == task.vruntime && task.band == band;
            if !same || member.sight != sight(task) || member.polls != polls(task) {
                return false;
            }
            at = following;
            following = at.some().map_or(TaskId::NONE, |id| self.world.tasks[id].next);
        }
        let ended = || at.some().is_none_or(|id| self.world.tasks[id].band != band);
        (!ring.ahead.is_nobody() || ended()) && ring.origin == self.origin_of(cpu)
    }

    fn load_fair(&mut self, cpu: CpuId, slot: usize) {
        let origin = self.origin_of(cpu);
        let (record, ring, tasks) = (&self.cpus[cpu], &mut self.fair_rings[slot], &self.world.tasks);
        let Costs { poll, yield_call, switch_thread, switch_process, .. } = self.world.machine.costs;
        let first = &tasks[record.current];
        ring.origin = origin;
        ring.due = Time::NEVER;
        ring.weight = first.weight;
        ring.band = first.band;
        (ring.poll, ring.call, ring.thread, ring.process) = (poll, yield_call, switch_thread, switch_process);
        ring.each = weighted(poll + yield_call, first.weight);
        ring.turn = weighted(origin.charge + poll + yield_call, first.weight);
        ring.since = origin.since;
        ring.lead = origin.lead;
        ring.charged = origin.charged;
        (ring.switching, ring.cycles, ring.switches) = (Span::ZERO, 0, 0);
        ring.moved.clear();
        ring.front = 0;
        ring.records.clear();
        ring.current = ring.load(tasks, record.current);
        ring.ahead = ring.load(tasks, record.head);
    }

    /// Writes a ring that was run back to the cpu.
    fn store_fair(&mut self, cpu: CpuId, slot: usize) {
        let (record, ring) = (&mut self.cpus[cpu], &self.fair_rings[slot]);
        record.account.add(Category::Spin, ring.poll * ring.cycles);
        record.account.add(Category::Yield, ring.call * ring.cycles);
        let mut lead = std::mem::replace(&mut record.lead, Lead::NONE);
        lead.pay(lead.total(), &mut record.account);
        // The last switch is still ahead when its turn has not had a cycle.
        record.account.add(Category::Switch, ring.switching - ring.lead);
        record.lead = Lead::switch(ring.lead);
        record.since = ring.since;
        record.charged = ring.charged;
        record.picked = ring.since;
        record.pair_start = ring.since;
        record.next_buddy = TaskId::NONE;
        record.last_buddy = TaskId::NONE;
        record.polled.0 += ring.cycles;
        record.polled.1 += ring.switches;
        for member in std::iter::once(&ring.current).chain(&ring.moved[ring.front..]) {
            let record = &ring.records[member.number as usize];
            if record.cycles == 0 {
                continue;
            }
            let task = &mut self.world.tasks[record.task];
            task.vruntime = member.vruntime;
            task.cpu_time += record.used;
            task.last_ran = record.last_ran;
            let counters = &mut self.world.apps[task.app].counters;
            counters.polls += record.cycles;
            counters.yields += record.cycles;
            counters.voluntary_switches += record.switches;
        }
        if ring.switches > 0 {
            self.relink_fair(cpu, slot);
        }
        self.follow_fair(cpu);
    }

    /// Rebuilds the queue in the order of the ring: those that have had a turn come between the others or behind them, other
    /// bands stay behind.
    fn relink_fair(&mut self, cpu: CpuId, slot: usize) {
        let (record, ring, tasks) = (&mut self.cpus[cpu], &self.fair_rings[slot], &mut self.world.tasks);
        let task_of = |member: &Member| ring.records[member.number as usize].task;
        record.last_process = ring.before;
        // The first task that has not had a turn, or what stands behind the band.
        let mut at = if ring.ahead.is_nobody() { ring.following } else { task_of(&ring.ahead) };
        link(tasks, record, TaskId::NONE, at);
        for member in &ring.moved[ring.front..] {
            let behind = |task: &Task| (task.band, task.vruntime) > (ring.band, member.vruntime);
            let previous = run_queue::place_between(tasks, at, record.tail, behind);
            at = previous.some().map_or(at, |previous| tasks[previous].next);
            let id = task_of(member);
            tasks[id].state = TaskState::Queued;
            link(tasks, record, previous, id);
            link(tasks, record, id, at);
        }
        record.current = task_of(&ring.current);
        let current = &mut tasks[record.current];
        current.state = TaskState::Running;
        current.previous = TaskId::NONE;
        current.next = TaskId::NONE;
    }

    /// The queue's minimum after cycles: of the current and the first waiting task, in 2.6.27 of the latter where there is one.
    fn follow_fair(&mut self, cpu: CpuId) {
        let record = &mut self.cpus[cpu];
        let current = self.world.tasks[record.current].vruntime;
        let old = matches!(&self.world.model.discipline, Discipline::Cfs(params) if params.release == CfsRelease::V27);
        let least = match record.head.some().map(|head| self.world.tasks[head].vruntime) {
            Some(head) if old => head,
            Some(head) => head.min(current),
            None => current,
        };
        record.min_vruntime = record.min_vruntime.max(least);
    }
}

/// Lets one task follow another in the queue of a cpu; without a former it is the first, without a latter that was the last.
#[inline]
fn link(tasks: &mut Tasks, record: &mut Cpu, former: TaskId, latter: TaskId) {
    match former.some() {
        Some(former) => tasks[former].next = latter,
        None => record.head = latter,
    }
    match latter.some() {
        Some(latter) => tasks[latter].previous = former,
        None => record.tail = former,
    }
}
