//! Who is picked on a cpu, and periods of task groups of limited cpu time ([`crate::run_queue::bandwidth`]).

use crate::engine::state::Part;
use crate::engine::update::update_period;
use crate::engine::{Change, Engine};
use crate::event::{Timer, Timers};
use crate::ids::{CpuId, TaskId};
use crate::os::OsModel;
use crate::rng::{Purpose, below, draw, key};
use crate::run_queue::{self, Rules, bandwidth, groups, list};
use crate::time::{Span, Time};

impl Engine<'_> {
    /// Who runs next on a cpu. Tasks whose delayed dequeue ends by that are noted.
    pub(crate) fn choose(&mut self, cpu: CpuId) -> Option<TaskId> {
        if self.cpus[cpu].rare.delayed.is_none() {
            return self.choose_preferred(cpu);
        }
        let mut delayed = std::mem::take(&mut self.delayed);
        delayed.extend(list(&self.shared.tasks, self.cpus[cpu].rare.delayed));
        let next = self.choose_preferred(cpu);
        for id in delayed.drain(..).filter(|id| !self.shared.tasks[*id].history.delayed) {
            self.notices.push((id, cpu, Change::Dequeued));
        }
        self.delayed = delayed;
        next
    }

    /// Who runs next on a cpu. A preference is used up, followed or not.
    fn choose_preferred(&mut self, cpu: CpuId) -> Option<TaskId> {
        let rare = self.cpus[cpu].rare.written();
        let yield_target = rare.map(|rare| std::mem::replace(&mut rare.yield_target, TaskId::NONE));
        if let Some(yield_target) = yield_target.and_then(TaskId::some) {
            let (discipline, record) = (&self.shared.model.discipline, &self.cpus[cpu]);
            if discipline.follows_yield(&self.shared.tasks, record, yield_target) {
                return Some(yield_target);
            }
        }
        if !self.shared.model.groups.is_empty() {
            return self.choose_unthrottled(cpu);
        }
        let record = &mut self.cpus[cpu];
        self.shared.model.discipline.pick_next(&mut self.shared.tasks, record, self.shared.now)
    }

    /// The task that is picked on a cpu; those whose groups are throttled leave the queue on the way.
    #[cold]
    fn choose_unthrottled(&mut self, cpu: CpuId) -> Option<TaskId> {
        let (discipline, tasks, now) =
            (&self.shared.model.discipline, &mut self.shared.tasks, self.shared.now);
        let at_once = discipline.bandwidth().is_some_and(|rules| rules.at_once);
        loop {
            let next = discipline.pick_next(tasks, &mut self.cpus[cpu], now)?;
            let groups = discipline.groups().filter(|_| bandwidth::stops(tasks, &self.cpus[cpu], next, now));
            let Some(groups) = groups else { return Some(next) };
            let record = &mut self.cpus[cpu];
            let around = bandwidth::throttled_around(tasks, record, next).filter(|_| at_once);
            groups.throttle(tasks, record, next, now);
            self.notices.push((next, cpu, Change::Left));
            let others = around.map(|entity| bandwidth::members(tasks, record, entity));
            for id in others.into_iter().flatten() {
                groups.throttle(tasks, record, id, now);
                self.notices.push((id, cpu, Change::Left));
            }
            self.shared.watch.note(cpu);
        }
    }

    /// A period of a group begins (`sched_cfs_period_timer`): its pool is full again, and the cpus on which
    /// it is throttled run it again as far as the pool covers their overrun, the first throttled first.
    pub(crate) fn begin_period(&mut self, group: u16) {
        let Some(limit) = self.shared.model.groups[usize::from(group)].limit else {
            unreachable!("a period of the task group {group}, which has no limit");
        };
        self.timers.arm(self.shared.now + limit.period, Timer::Period(group));
        let first = &self.cpus[CpuId(0)];
        let pool = groups::whole(first, groups::on(first, group));
        bandwidth::fill(&mut self.shared.tasks, pool, limit);
        if self.shared.model.discipline.bandwidth().is_some_and(|rules| rules.expires) {
            self.expire(group);
        }
        let mut throttled: Vec<(Time, CpuId)> = Vec::new();
        for cpu in self.cpus.ids() {
            let entity = groups::on(&self.cpus[cpu], group);
            let history = &self.shared.tasks[entity].history;
            if history.is_throttled() {
                throttled.push((history.throttled_at, cpu));
            }
        }
        throttled.sort_unstable();
        for (_, cpu) in throttled {
            let entity = groups::on(&self.cpus[cpu], group);
            if bandwidth::pay(&mut self.shared.tasks, pool, entity) {
                self.unthrottle(cpu);
            }
        }
    }

    /// What cpus keep of the last period of a group is lost.
    fn expire(&mut self, group: u16) {
        for cpu in self.cpus.ids() {
            let entity = groups::on(&self.cpus[cpu], group);
            if self.shared.tasks[entity].history.chosen {
                self.catch_up(cpu);
            }
            if bandwidth::expire(&mut self.shared.tasks, entity) && self.shared.tasks[entity].history.chosen {
                self.shared.rounds.mark(cpu);
            }
        }
    }

    /// An interrupt lets the tasks of groups that are no longer throttled run again.
    fn unthrottle(&mut self, cpu: CpuId) {
        self.catch_up(cpu);
        let record = &mut self.cpus[cpu];
        let idle = record.current.is_none() && !run_queue::anyone_waits(&self.shared.tasks, record);
        let Some(groups) = self.shared.model.discipline.groups() else {
            unreachable!("tasks of groups wait on {cpu} under a discipline without groups");
        };
        for id in bandwidth::released(&self.shared.tasks, record) {
            groups.unthrottle(&mut self.shared.tasks, record, id, self.shared.now);
            self.notices.push((id, cpu, Change::Entered));
        }
        let exit = if idle { self.shared.idle_exit(record) } else { Span::ZERO };
        record.defer(Part::Kernel, self.shared.machine.costs.ipi + exit);
        self.shared.watch.note(cpu);
        self.shared.rounds.mark(cpu);
    }
}

/// The timers, with the first update of priorities of disciplines that have it and the first period of the
/// real-time class and of each task group of limited cpu time: the phases of their periods are random
/// (`init_cfs_bandwidth`).
pub(super) fn kernel_timers(model: &OsModel, seed: u64) -> Timers {
    let mut timers = Timers::with_capacity(1 << 10);
    if let Some(period) = update_period(model) {
        timers.arm(Time::ZERO + period, Timer::Update);
    }
    if let Some(class) = model.discipline.real_time().filter(|class| !class.rules.period_starts) {
        let drawn = draw(key(seed, Purpose::Bandwidth, u64::MAX), 0);
        let phase = Span::from_ns(below(class.rules.period.ns(), drawn));
        timers.arm(Time::ZERO + phase, Timer::Refill);
    }
    for (number, group) in model.groups.iter().enumerate() {
        if let Some(limit) = group.limit {
            let drawn = draw(key(seed, Purpose::Bandwidth, number as u64), 0);
            let phase = Span::from_ns(below(limit.period.ns(), drawn));
            timers.arm(Time::ZERO + phase, Timer::Period(number as u16));
        }
    }
    timers
}
