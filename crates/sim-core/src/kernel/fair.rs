//! Polling under the plain fair yield, worked out in closed form: the task with the least virtual runtime polls until it is
//! behind the next one; those that are close together take turns, and whole rounds of them are skipped at once.
//!
//! The same as [`crate::kernel::ring`] works out for any discipline, on small copies of tasks of one weight.

use crate::account::Category;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::ring::TURNS_FORETOLD;
use crate::kernel::rotation::{polls, sight};
use crate::kernel::state::{Lead, ProcessId};
use crate::kernel_model::{CfsRelease, Discipline};
use crate::machine::Costs;
use crate::observe::Observer;
use crate::policy::{PARKED, TaskState};
use crate::run_queue::cfs::weighted;
use crate::time::{Span, Time};

/// Rings kept at most: forecasts of more cpus than these displace each other.
pub(crate) const FAIR_RINGS: usize = 256;

/// A runnable task of the first band, as it stands in the queue.
#[derive(Clone, Copy)]
struct Member {
    vruntime: i64,
    sight: Time,
    process: ProcessId,
    /// Where its record is.
    number: u32,
    polls: bool,
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

/// The members in the order of the queue (the current one first, the others by virtual runtime), and how far the present
/// cycle is.
#[derive(Default)]
pub(crate) struct FairRing {
    queue: Vec<Member>,
    records: Vec<Record>,
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
    /// The first instant at which any of them sees.
    soonest: Time,
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

impl FairRing {
    #[inline]
    fn cycle(&self) -> Span {
        self.poll + self.call
    }

    #[inline]
    fn price(&self, from: &Member, to: &Member) -> Span {
        if from.process == to.process { self.thread } else { self.process }
    }

    /// Everybody polls, and nothing is in sight.
    fn all_blind(&self) -> bool {
        self.soonest.is_never() && self.queue.iter().all(|member| member.polls)
    }

    /// Runs until something other than polling is due and returns that instant (see [`crate::kernel::ring::Ring::run`]). Cycles
    /// that end before `limit` are done; when nothing happens before `limit`, or nothing ever, it stops there.
    fn run(&mut self, limit: Time) -> Time {
        let cycle = self.cycle();
        let mut turns = 0;
        loop {
            if turns % 2 == 1 && self.skip(limit) {
                return Time::NEVER;
            }
            let check = self.since + self.lead + self.poll;
            let [current, rival, ..] = &self.queue[..] else { return self.stop(limit, check, u64::MAX) };
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
            self.hand_over();
            turns += 1;
            if limit.is_never() && turns > TURNS_FORETOLD {
                let check = self.since + self.lead + self.poll;
                return if self.queue[0].sight <= check { check } else { check + self.call };
            }
        }
    }

    /// The current member's turn of `wanted` cycles does not end before `limit`, or in it the member sees: goes up to there.
    fn stop(&mut self, limit: Time, check: Time, wanted: u64) -> Time {
        let (cycle, sight) = (self.cycle(), self.queue[0].sight);
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
        let current = &mut self.queue[0];
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
    fn hand_over(&mut self) {
        let old = self.queue[0];
        let cost = self.price(&old, &self.queue[1]);
        self.records[old.number as usize].switches += 1;
        let mut place = 0;
        while let Some(next) = self.queue.get(place + 1).copied() {
            if place > 0 && next.vruntime > old.vruntime {
                break;
            }
            self.queue[place] = next;
            place += 1;
        }
        self.queue[place] = old;
        self.switches += 1;
        self.switching += cost;
        self.lead = cost;
        self.charged = (self.since + cost).saturating_sub(self.origin.charge);
    }

    /// After a switch: goes through as many whole rounds of those who are close together as pass without event; true when they go
    /// on for ever.
    fn skip(&mut self, limit: Time) -> bool {
        // Every skipped cycle ends before the limit, and every skipped look comes before anybody sees.
        let [current, next, ..] = &self.queue[..] else { return false };
        let end = limit.min(current.sight).min(next.sight);
        if end.since(self.since) < self.cycle() * 2 || self.charged == Time::ZERO {
            return false;
        }
        let first = self.queue[0].vruntime;
        let near = |m: &&Member| m.polls && m.vruntime - first <= self.turn;
        let group = self.queue.iter().take_while(near).count();
        // The turn that has begun must be like the later ones.
        if group < 2 || self.price(&self.queue[group - 1], &self.queue[0]) != self.lead {
            return false;
        }
        let round = self.round(group) + self.cycle() * group as u64;
        let end = self.queue[..group].iter().map(|member| member.sight).fold(end, Time::min);
        let room = end.since(self.since);
        let mut rounds = if end.is_never() { u64::MAX } else { room.ns().saturating_sub(1) / round.ns() };
        if let Some(next) = self.queue.get(group) {
            // Behind those who are further ahead nobody falls.
            let room = (next.vruntime - self.queue[group - 1].vruntime - 1).max(0);
            rounds = rounds.min(room as u64 / self.turn.max(1) as u64);
        }
        if rounds == u64::MAX {
            return true;
        }
        if rounds > 0 {
            self.go_round(group, rounds, round);
        }
        false
    }

    /// Time of the switches in a round of the first members.
    fn round(&self, group: usize) -> Span {
        let mut switching = self.price(&self.queue[group - 1], &self.queue[0]);
        for pair in self.queue[..group].windows(2) {
            switching += self.price(&pair[0], &pair[1]);
        }
        switching
    }

    /// Books whole rounds of the first members.
    fn go_round(&mut self, group: usize, rounds: u64, round: Span) {
        let (cycle, turn) = (self.cycle(), self.turn);
        let mut end = self.since + round * (rounds - 1);
        let mut from = self.queue[group - 1];
        for at in 0..group {
            let cost = self.price(&from, &self.queue[at]);
            end += cost + cycle;
            let member = &mut self.queue[at];
            member.vruntime += turn * rounds as i64;
            let record = &mut self.records[member.number as usize];
            record.cycles += rounds;
            record.switches += rounds;
            record.used += (cost + cycle) * rounds;
            record.last_ran = end;
            from = *member;
        }
        let turns = rounds * group as u64;
        self.switching += (round - cycle * group as u64) * rounds;
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
        self.load_fair(cpu, slot);
        let ring = &mut self.fair_rings[slot];
        ring.due = if ring.all_blind() { Time::NEVER } else { ring.run(Time::NEVER) };
        ring.due
    }

    /// Does all cycles under the fair yield that end before `limit`. Where the foretold instant has come and nothing has
    /// happened in between, they are worked out already.
    pub(crate) fn settle_fair(&mut self, cpu: CpuId, limit: Time) {
        let slot = cpu.0 as usize % self.fair_rings.len();
        if self.fair_rings[slot].due != limit || !self.is_loaded(cpu, slot) {
            self.load_fair(cpu, slot);
            self.fair_rings[slot].run(limit);
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
        at.some().is_none_or(|id| self.world.tasks[id].band != band) && ring.origin == self.origin_of(cpu)
    }

    fn load_fair(&mut self, cpu: CpuId, slot: usize) {
        let origin = self.origin_of(cpu);
        let (record, ring) = (&self.cpus[cpu], &mut self.fair_rings[slot]);
        let Costs { poll, yield_call, switch_thread, switch_process, .. } = self.world.machine.costs;
        let first = &self.world.tasks[record.current];
        ring.origin = origin;
        ring.due = Time::NEVER;
        ring.weight = first.weight;
        (ring.poll, ring.call, ring.thread, ring.process) = (poll, yield_call, switch_thread, switch_process);
        ring.soonest = Time::NEVER;
        ring.each = weighted(poll + yield_call, first.weight);
        ring.turn = weighted(origin.charge + poll + yield_call, first.weight);
        ring.since = origin.since;
        ring.lead = origin.lead;
        ring.charged = origin.charged;
        (ring.switching, ring.cycles, ring.switches) = (Span::ZERO, 0, 0);
        ring.queue.clear();
        ring.records.clear();
        let (mut at, mut following) = (record.current, record.head);
        while let Some(id) = at.some() {
            let task = &self.world.tasks[id];
            if task.band != first.band {
                break;
            }
            let (vruntime, process, sight, polls) = (task.vruntime, task.process, sight(task), polls(task));
            let number = ring.records.len() as u32;
            ring.queue.push(Member { vruntime, sight, process, number, polls });
            ring.records.push(Record {
                task: id,
                polls,
                vruntime,
                sight,
                cycles: 0,
                switches: 0,
                used: Span::ZERO,
                last_ran: Time::ZERO,
            });
            ring.soonest = ring.soonest.min(sight);
            at = following;
            following = at.some().map_or(TaskId::NONE, |id| self.world.tasks[id].next);
        }
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
        for member in &ring.queue {
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

    /// Rebuilds the queue in the order of the ring; other bands stay behind.
    fn relink_fair(&mut self, cpu: CpuId, slot: usize) {
        let (record, ring, tasks) = (&mut self.cpus[cpu], &self.fair_rings[slot], &mut self.world.tasks);
        let task_at = |at: usize| ring.records[ring.queue[at].number as usize].task;
        let ran = |member: &&Member| ring.records[member.number as usize].last_ran;
        let latest = ring.queue.iter().skip(1).max_by_key(ran);
        record.last_process = latest.map_or(record.last_process, |member| member.process);
        // What stood behind the last member in the order of loading.
        let rest = ring.records.last().map_or(TaskId::NONE, |last| tasks[last.task].next);
        record.current = task_at(0);
        record.head = task_at(1);
        tasks[record.current].state = TaskState::Running;
        tasks[record.current].previous = TaskId::NONE;
        tasks[record.current].next = TaskId::NONE;
        let mut before = TaskId::NONE;
        for at in 1..ring.queue.len() {
            let id = task_at(at);
            let task = &mut tasks[id];
            task.state = TaskState::Queued;
            task.previous = before;
            task.next = if at + 1 == ring.queue.len() { rest } else { task_at(at + 1) };
            before = id;
        }
        match rest.some() {
            Some(rest) => tasks[rest].previous = before,
            None => record.tail = before,
        }
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
