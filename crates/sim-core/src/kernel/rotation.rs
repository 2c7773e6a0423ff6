//! Polling in rotation, worked out in place: where a yield puts its caller behind all others of its band, each polling
//! task has a turn of one poll and one yield, one after the other in the order of the queue.
//!
//! The same as [`crate::kernel::ring`] works out for any discipline, without copies: looks, turns and instants agree to the nanosecond.

use crate::account::Category;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::state::{Cpu, Lead, Task, Waiting};
use crate::kernel_model::{CfsRelease, Discipline, YieldMode};
use crate::observe::Observer;
use crate::policy::{PARKED, TaskState};
use crate::run_queue::cfs::weighted;
use crate::run_queue::{self, Tasks};
use crate::time::{Span, Time};

/// True when a yield under this discipline puts its caller behind everybody of its band.
pub(crate) fn rotates(discipline: &Discipline) -> bool {
    match discipline {
        Discipline::Cfs(params) => params.yield_mode == YieldMode::Posix,
        Discipline::RoundRobin { .. } => true,
        Discipline::Eevdf(_) | Discipline::O1(_) | Discipline::Ule(_) | Discipline::Ts(_) => false,
    }
}

/// When a task will find its wait over or its patience at an end.
fn sight(task: &Task) -> Time {
    task.ready.min(task.deadline)
}

/// A task that polls and yields.
fn polls(task: &Task) -> bool {
    task.waiting != Waiting::No && task.yields
}

/// The first of the looks at `look`, `look + period`, ... that is not before an instant.
fn look_after(look: Time, period: Span, ready: Time) -> Time {
    if ready.is_never() {
        return Time::NEVER;
    }
    look + period * ready.since(look).ns().div_ceil(period.ns())
}

/// The queue's minimum after a yield. In 2.6.27 it follows the waiting tasks, but the caller where nobody waits.
fn follow_minimum(discipline: &Discipline, tasks: &Tasks, cpu: &mut Cpu) {
    run_queue::advance_minimum(discipline, tasks, cpu);
    if cpu.head.is_none() && matches!(discipline, Discipline::Cfs(params) if params.release == CfsRelease::V27) {
        cpu.min_vruntime = cpu.min_vruntime.max(tasks[cpu.current].vruntime);
    }
}

impl<O: Observer> Kernel<'_, O> {
    /// True when the current task of a cpu, which polls, and its rivals take turns in rotation.
    pub(crate) fn in_rotation(&self, cpu: CpuId) -> bool {
        let record = &self.cpus[cpu];
        let band = self.tasks[record.current].band;
        let before = |head: TaskId| self.tasks[head].band < band;
        self.rotates && band < PARKED && !record.head.some().is_some_and(before)
    }

    /// When polling in rotation next leads to something: a task sees, or one that does not poll follows. The first look of
    /// the current task is in vain.
    pub(crate) fn forecast_rotation(&self, cpu: CpuId) -> Time {
        let record = &self.cpus[cpu];
        let costs = &self.machine.costs;
        let first = &self.tasks[record.current];
        let start = record.since + record.lead.total();
        let mut end = start + costs.poll + costs.yield_call;
        let mut last = first;
        let mut at = record.head;
        // The first turn of each of the others.
        while let Some(id) = at.some() {
            let task = &self.tasks[id];
            if task.band != first.band {
                break;
            }
            if !polls(task) {
                return end;
            }
            let look = end + self.between(last, task) + costs.poll;
            if sight(task) <= look {
                return look;
            }
            end = look + costs.yield_call;
            (last, at) = (task, task.next);
        }
        // From here on the same look comes once a round.
        let look = end + self.between(last, first) + costs.poll;
        let round = look - (start + costs.poll);
        let mut soonest = look_after(look, round, sight(first));
        end = start + costs.poll + costs.yield_call;
        (last, at) = (first, record.head);
        while let Some(id) = at.some() {
            let task = &self.tasks[id];
            if task.band != first.band {
                break;
            }
            let look = end + self.between(last, task) + costs.poll;
            soonest = soonest.min(look_after(look, round, sight(task)));
            end = look + costs.yield_call;
            (last, at) = (task, task.next);
        }
        soonest
    }

    /// The price of the switch between two members of a rotation, none for a task alone.
    fn between(&self, from: &Task, to: &Task) -> Span {
        let costs = &self.machine.costs;
        if std::ptr::eq(from, to) {
            Span::ZERO
        } else if from.process == to.process {
            costs.switch_thread
        } else {
            costs.switch_process
        }
    }

    /// Does all cycles of a rotation that end before `limit` and before anything but polling is due.
    pub(crate) fn rotate(&mut self, cpu: CpuId, limit: Time) {
        let (mut turns, mut skipped) = (0, false);
        loop {
            let record = &self.cpus[cpu];
            let id = record.current;
            let (task, next) = (&self.tasks[id], record.head);
            let check = record.since + record.lead.total() + self.machine.costs.poll;
            let end = check + self.machine.costs.yield_call;
            if sight(task) <= check || end >= limit {
                return;
            }
            let rival = next.some().map(|next| &self.tasks[next]).filter(|rival| rival.band == task.band);
            let Some(rival) = rival else {
                self.rotate_alone(cpu, check, limit);
                return;
            };
            if !polls(rival) {
                return;
            }
            let cost = self.between(task, rival);
            self.take_turn_of_rotation(cpu, end);
            self.pass_on(cpu, id, next, cost);
            turns += 1;
            if !skipped && turns >= self.cpus[cpu].running {
                skipped = true;
                self.skip_rounds(cpu, limit);
            }
        }
    }

    /// The current task, alone in its band, goes through all its cycles that end before `limit` and before it sees.
    fn rotate_alone(&mut self, cpu: CpuId, check: Time, limit: Time) {
        let (cycle, call) = (self.machine.costs.poll + self.machine.costs.yield_call, self.machine.costs.yield_call);
        let sight = sight(&self.tasks[self.cpus[cpu].current]);
        let blind = if sight.is_never() { u64::MAX } else { sight.since(check).ns().div_ceil(cycle.ns()) };
        let before = 1 + (limit - (check + call) - Span::from_ns(1)).ns() / cycle.ns();
        let more = blind.min(before) - 1;
        self.take_turn_of_rotation(cpu, check + call);
        let record = &mut self.cpus[cpu];
        let task = &mut self.tasks[record.current];
        if let Discipline::Cfs(_) = self.model.discipline {
            task.vruntime += weighted(cycle, task.weight) * more as i64;
        }
        task.cpu_time += cycle * more;
        record.since += cycle * more;
        record.charged = record.since;
        task.last_ran = record.since;
        follow_minimum(&self.model.discipline, &self.tasks, record);
        self.count_cycles(cpu, more);
        let record = &mut self.cpus[cpu];
        record.picked = record.since;
        record.pair_start = record.since;
    }

    /// The books of whole cycles of the current task.
    fn count_cycles(&mut self, cpu: CpuId, cycles: u64) {
        let record = &mut self.cpus[cpu];
        let counters = &mut self.apps[self.tasks[record.current].app].counters;
        counters.polls += cycles;
        counters.yields += cycles;
        record.polled.0 += cycles;
        record.account.add(Category::Spin, self.machine.costs.poll * cycles);
        record.account.add(Category::Yield, self.machine.costs.yield_call * cycles);
    }

    /// The current task pays its lead, looks and yields; its cycle ends at `end`.
    fn take_turn_of_rotation(&mut self, cpu: CpuId, end: Time) {
        let record = &mut self.cpus[cpu];
        let id = record.current;
        let band = self.tasks[id].band;
        let last = run_queue::last_of_band(&self.tasks, record, band).map(|last| self.tasks[last].vruntime);
        let task = &mut self.tasks[id];
        if let Discipline::Cfs(_) = self.model.discipline {
            let behind = last.map_or(task.vruntime, |last| task.vruntime.max(last + 1));
            task.vruntime = behind + weighted(end.since(record.charged), task.weight);
        } else {
            task.vruntime = last.map_or(0, |last| last + 1);
        }
        task.cpu_time += end - record.since;
        task.last_ran = end;
        let mut lead = std::mem::replace(&mut record.lead, Lead::NONE);
        lead.pay(lead.total(), &mut record.account);
        record.since = end;
        record.charged = end;
        record.picked = end;
        record.pair_start = end;
        record.next_buddy = TaskId::NONE;
        record.last_buddy = TaskId::NONE;
        follow_minimum(&self.model.discipline, &self.tasks, record);
        self.count_cycles(cpu, 1);
    }

    /// The current task of a cpu goes behind the others of its band, the next one takes the cpu for the price of a switch.
    fn pass_on(&mut self, cpu: CpuId, id: TaskId, next: TaskId, cost: Span) {
        let discipline = &self.model.discipline;
        let record = &mut self.cpus[cpu];
        run_queue::remove(&mut self.tasks, record, next);
        run_queue::insert(discipline, &mut self.tasks, record, id);
        let task = &mut self.tasks[id];
        task.state = TaskState::Queued;
        self.apps[task.app].counters.voluntary_switches += 1;
        record.last_process = Some(task.process);
        record.polled.1 += 1;
        record.current = next;
        record.lead = Lead { switch: cost, ..Lead::NONE };
        record.charged = (record.since + cost).saturating_sub(record.switch_charge);
        self.tasks[next].state = TaskState::Running;
        run_queue::note_pick(discipline, &self.tasks, record);
    }

    /// After each member of a rotation has had a turn: all whole rounds but one that end before `limit` and before anybody sees,
    /// at once. Keys, clocks and counts change by the same amounts in each.
    fn skip_rounds(&mut self, cpu: CpuId, limit: Time) {
        let costs = &self.machine.costs;
        let fair = matches!(self.model.discipline, Discipline::Cfs(_));
        let record = &self.cpus[cpu];
        let first = &self.tasks[record.current];
        let cycle = costs.poll + costs.yield_call;
        let turn = record.switch_charge + cycle;
        let (mut members, mut round, mut gain, mut end) = (0, Span::ZERO, 0, limit);
        let (mut at, mut following) = (record.current, record.head);
        let mut last = first;
        while let Some(id) = at.some() {
            let task = &self.tasks[id];
            if task.band != first.band {
                break;
            }
            members += 1;
            round += self.between(last, task) + cycle;
            gain += 1 + if fair { weighted(turn, task.weight) } else { 0 };
            end = end.min(sight(task));
            last = task;
            at = following;
            following = at.some().map_or(TaskId::NONE, |id| self.tasks[id].next);
        }
        round += self.between(last, first);
        let rounds = (end.since(record.since).ns().saturating_sub(1) / round.ns()).saturating_sub(1);
        if rounds == 0 || end.is_never() || record.since.saturating_sub(record.switch_charge) == Time::ZERO {
            return;
        }
        self.book_rounds(cpu, rounds, round, gain);
        let record = &mut self.cpus[cpu];
        record.since += round * rounds;
        record.charged += round * rounds;
        record.polled.0 += members * rounds;
        record.polled.1 += members * rounds;
        record.account.add(Category::Spin, self.machine.costs.poll * (members * rounds));
        record.account.add(Category::Yield, self.machine.costs.yield_call * (members * rounds));
        record.account.add(Category::Switch, (round - cycle * members) * rounds);
    }

    /// What skipped rounds change of the members.
    fn book_rounds(&mut self, cpu: CpuId, rounds: u64, round: Span, gain: i64) {
        let cycle = self.machine.costs.poll + self.machine.costs.yield_call;
        let record = &self.cpus[cpu];
        let band = self.tasks[record.current].band;
        let mut from = run_queue::last_of_band(&self.tasks, record, band).unwrap_or(record.current);
        let (mut at, mut following) = (record.current, record.head);
        while let Some(id) = at.some() {
            if self.tasks[id].band != band {
                break;
            }
            let cost = self.between(&self.tasks[from], &self.tasks[id]);
            let task = &mut self.tasks[id];
            task.vruntime += gain * rounds as i64;
            task.cpu_time += (cost + cycle) * rounds;
            task.last_ran += round * rounds;
            let counters = &mut self.apps[task.app].counters;
            counters.polls += rounds;
            counters.yields += rounds;
            counters.voluntary_switches += rounds;
            from = id;
            at = following;
            following = at.some().map_or(TaskId::NONE, |id| self.tasks[id].next);
        }
    }
}
