//! Load averages of task groups (PELT, kernel/sched/pelt.c and fair.c of Linux 6.18): what the shares of
//! groups follow, and what a task counts where cpus are compared.
//!
//! A task or group is queued a part of the time, averaged with a half-life of 32 ms; its load is that part of
//! its weight. The average of a queue follows the weights in it, and a task that moves takes its load along
//! (`attach_entity_load_avg`, `propagate_entity_load_avg`). Each cpu contributes the average of its queue to
//! the sum of the group (`update_tg_load_avg`).
//!
//! Deviations: the contribution of a cpu on which nothing of the group is queued fades without a pause; Linux
//! brings it up to date at the next balancing pass, every 32 ms on idle cpus. The load of a task that leaves
//! a cpu asleep goes at once.

use crate::decay::{PERIOD_NS, approached, faded};
use crate::engine::state::Cpu;
use crate::ids::{CpuId, TaskId};
use crate::run_queue::Tasks;
use crate::time::{Span, Time};

/// Averages carry this many binary digits behind the point.
const FINE: u32 = 10;
/// Queued all of the time.
const ALWAYS: u64 = 1 << (2 * FINE);
/// A contribution is brought up to date at most this often (since 6.7).
const CONTRIBUTES_EVERY: Span = Span::from_ms(1);
/// And if it differs by more than this part (`update_tg_load_avg`).
const CONTRIBUTES_FROM: u64 = 64;

/// A value that follows a target with a half-life of 32 periods of 1,024 us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Follower {
    /// At the end of the last period.
    value: u64,
    target: u64,
    /// Sum of target x ns in the present period.
    area: u64,
    /// Up to when it has been counted; `NEVER` while its clock stands still.
    at: Time,
}

impl Follower {
    const ZERO: Self = Self { value: 0, target: 0, area: 0, at: Time::ZERO };

    /// Brings it up to date. A period in which the target changes counts by its mean.
    fn update(&mut self, now: Time) {
        if now <= self.at {
            return;
        }
        let periods = now.ns() / PERIOD_NS - self.at.ns() / PERIOD_NS;
        if periods == 0 {
            self.area += self.target * (now - self.at).ns();
        } else {
            let mean = (self.area + self.target * (PERIOD_NS - self.at.ns() % PERIOD_NS)) / PERIOD_NS;
            self.value = approached(approached(self.value, mean, 1), self.target, periods - 1);
            self.area = self.target * (now.ns() % PERIOD_NS);
        }
        self.at = now;
    }

    fn get(&self, now: Time) -> u64 {
        let mut later = *self;
        later.update(now);
        later.value
    }

    /// From now on it follows `target`, even if its clock stood still: then the period that has begun counts
    /// by its value up to here.
    fn follow(&mut self, now: Time, target: u64) {
        if self.at.is_never() {
            (self.at, self.area) = (now, self.value * (now.ns() % PERIOD_NS));
        }
        self.update(now);
        self.target = target;
    }

    /// Its clock stands still from now on.
    fn freeze(&mut self, now: Time) {
        self.update(now);
        (self.target, self.at) = (0, Time::NEVER);
    }

    fn add(&mut self, now: Time, value: u64) {
        self.update(now);
        self.value += value;
    }

    fn remove(&mut self, now: Time, value: u64) {
        self.update(now);
        self.value = self.value.saturating_sub(value);
    }
}

/// The averages of a task, of a group on a cpu, or of a group as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Loads {
    /// The part of the time it is queued, of [`ALWAYS`].
    runnable: Follower,
    /// Of a group on a cpu: the load of its queue. Of a group as a whole: the contributions of the cpus on
    /// which nothing is queued, which all fade alike.
    queue: Follower,
    /// Of a group on a cpu: what it contributes, since when. Of a group as a whole: the sum of the cpus on
    /// which something is queued, or is throttled.
    contribution: u64,
    since: Time,
    /// The cpu to whose averages a task belongs.
    home: Option<CpuId>,
}

impl Loads {
    pub(crate) const NONE: Self = Self {
        runnable: Follower::ZERO,
        queue: Follower::ZERO,
        contribution: 0,
        since: Time::ZERO,
        home: None,
    };
}

/// The records of the groups on a cpu.
#[derive(Clone, Copy)]
pub(super) struct Records {
    cpu: CpuId,
    first: u32,
    count: u32,
}

impl Records {
    pub(super) fn of(cpu: &Cpu) -> Self {
        Self { cpu: cpu.id, first: cpu.rare.first_group.0, count: u32::from(cpu.rare.group_count) }
    }

    /// Those of another cpu.
    pub(super) const fn on(self, cpu: CpuId) -> Self {
        let before = self.first - self.cpu.0 * (self.count + 1);
        Self { cpu, first: before + cpu.0 * (self.count + 1), ..self }
    }

    /// That of a group; of the queue of the cpu itself for 0.
    pub(super) const fn queue(self, group: u16) -> TaskId {
        TaskId(self.first + if group == 0 { self.count } else { group as u32 - 1 })
    }

    /// The group of a record; not of that of the cpu itself.
    const fn group(self, entity: TaskId) -> u16 {
        (entity.0 - self.first + 1) as u16
    }

    /// The group as a whole.
    const fn whole(self, group: u16) -> TaskId {
        TaskId(self.on(CpuId(0)).first - self.count + group as u32 - 1)
    }
}

/// The load of a task or group in its queue, fine.
fn load(tasks: &Tasks, id: TaskId, now: Time) -> u64 {
    (u64::from(tasks[id].weight) * tasks[id].history.loads.runnable.get(now)) >> FINE
}

/// True while the averages of a group on a cpu stand still: it is throttled, and nothing is queued.
const fn is_frozen(loads: &Loads) -> bool {
    loads.queue.at.is_never()
}

/// What a group on which nothing is queued contributes by now.
fn left_of(loads: &Loads, now: Time) -> u64 {
    faded(loads.contribution, (now.ns() / PERIOD_NS).saturating_sub(loads.since.ns() / PERIOD_NS))
}

/// The contribution of a cpu to the load of a group follows the average of its queue.
fn contribute(tasks: &mut Tasks, on: Records, group: u16, now: Time) {
    if group == 0 {
        return;
    }
    let (entity, whole) = (on.queue(group), on.whole(group));
    let loads = &tasks[entity].history.loads;
    let (value, old) = (loads.queue.get(now), loads.contribution);
    if tasks[entity].history.load == 0 && !is_frozen(loads) {
        let left = left_of(loads, now);
        let faded = &mut tasks[whole].history.loads.queue;
        faded.remove(now, left);
        faded.add(now, value);
    } else {
        if value.abs_diff(old) <= old / CONTRIBUTES_FROM || now.since(loads.since) < CONTRIBUTES_EVERY {
            return;
        }
        let sum = &mut tasks[whole].history.loads.contribution;
        *sum = *sum - old + value;
    }
    let loads = &mut tasks[entity].history.loads;
    (loads.contribution, loads.since) = (value, now);
}

/// Something enters the queue of a group in which nothing is queued, or the last leaves it.
fn turn(tasks: &mut Tasks, on: Records, group: u16, now: Time, enters: bool) {
    let (entity, whole) = (on.queue(group), on.whole(group));
    let loads = tasks[entity].history.loads;
    let contribution = if enters { left_of(&loads, now) } else { loads.contribution };
    let sums = &mut tasks[whole].history.loads;
    if enters {
        sums.queue.remove(now, contribution);
        sums.contribution += contribution;
    } else {
        sums.contribution -= contribution;
        sums.queue.add(now, contribution);
    }
    let loads = &mut tasks[entity].history.loads;
    (loads.contribution, loads.since) = (contribution, now);
}

/// A task or group enters (or leaves) its queue on a cpu with its weight; that of a throttled group stands
/// still.
pub(super) fn count(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, (enters, stops): (bool, bool), now: Time) {
    let (on, group) = (Records::of(cpu), tasks[id].history.group);
    let entity = on.queue(group);
    if enters {
        tasks[id].history.loads.runnable.follow(now, ALWAYS);
    } else if stops {
        tasks[id].history.loads.runnable.freeze(now);
    } else {
        tasks[id].history.loads.runnable.follow(now, 0);
    }
    let (before, frozen) = (tasks[entity].history.load, is_frozen(&tasks[entity].history.loads));
    if before > 0 {
        contribute(tasks, on, group, now);
    } else if group > 0 && !frozen {
        turn(tasks, on, group, now, true);
    }
    let weight = u64::from(tasks[id].weight);
    let after = if enters { before + weight } else { before - weight };
    tasks[entity].history.load = after;
    let queue = &mut tasks[entity].history.loads.queue;
    if after == 0 && stops {
        queue.freeze(now);
    } else {
        queue.follow(now, after << FINE);
        if after == 0 && group > 0 {
            turn(tasks, on, group, now, false);
        }
    }
}

/// The weight of a group that is queued on a cpu changes (`reweight_entity`), with its load.
pub(super) fn reweigh(tasks: &mut Tasks, cpu: &Cpu, entity: TaskId, weight: u32, now: Time) {
    let (on, group) = (Records::of(cpu), tasks[entity].history.group);
    let queue = on.queue(group);
    let (before, load_before) = (u64::from(tasks[entity].weight), load(tasks, entity, now));
    tasks[entity].weight = weight;
    let load_after = load(tasks, entity, now);
    let history = &mut tasks[queue].history;
    history.load = history.load - before + u64::from(weight);
    let target = history.load << FINE;
    history.loads.queue.add(now, load_after);
    history.loads.queue.remove(now, load_before);
    history.loads.queue.follow(now, target);
}

/// A task that enters a cpu brings its load there from where it was; a new one counts in full at once
/// (`init_entity_runnable_average`).
pub(super) fn arrive(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, now: Time) {
    let on = Records::of(cpu);
    match tasks[id].history.loads.home.replace(cpu.id) {
        Some(home) if home == cpu.id => return,
        Some(home) => detach(tasks, on.on(home), id, now),
        None => tasks[id].history.loads.runnable = Follower { value: ALWAYS, at: now, ..Follower::ZERO },
    }
    attach(tasks, on, id, now);
}

/// A task that is in no queue changes its group (`task_change_group_fair`): its load leaves the queues of the
/// old one and comes to those of the new one.
pub(crate) fn regroup(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, group: u16, now: Time) {
    let home = tasks[id].history.loads.home;
    let on = |home| Records::of(cpu).on(home);
    if let Some(home) = home {
        detach(tasks, on(home), id, now);
    }
    tasks[id].history.group = group;
    if let Some(home) = home {
        attach(tasks, on(home), id, now);
    }
}

/// A task that is in no queue has had another weight: the load of its cpu follows at once
/// (`reweight_entity`).
pub(crate) fn reweighed(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, before: u32, now: Time) {
    let Some(home) = tasks[id].history.loads.home else { return };
    let (on, group) = (Records::of(cpu).on(home), tasks[id].history.group);
    let part = tasks[id].history.loads.runnable.get(now);
    let load_before = (u64::from(before) * part) >> FINE;
    let load_after = load(tasks, id, now);
    let queue = &mut tasks[on.queue(group)].history.loads.queue;
    queue.add(now, load_after);
    queue.remove(now, load_before);
    contribute(tasks, on, group, now);
}

/// The load of a task comes to a cpu.
fn attach(tasks: &mut Tasks, on: Records, id: TaskId, now: Time) {
    let runnable = tasks[id].history.loads.runnable.get(now);
    let (mut group, mut carried) = (tasks[id].history.group, load(tasks, id, now));
    loop {
        let queue = on.queue(group);
        tasks[queue].history.loads.queue.add(now, carried);
        contribute(tasks, on, group, now);
        if group == 0 {
            return;
        }
        let before = load(tasks, queue, now);
        let own = &mut tasks[queue].history.loads.runnable;
        own.update(now);
        own.value = (own.value + runnable).min(ALWAYS);
        carried = load(tasks, queue, now) - before;
        group = tasks[queue].history.group;
    }
}

/// A task ends.
pub(super) fn ends(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, now: Time) {
    if let Some(home) = tasks[id].history.loads.home.take() {
        detach(tasks, Records::of(cpu).on(home), id, now);
    }
}

/// The load of a task leaves a cpu. A group counts as queued for as much of the time as its tasks can
/// account for (`update_tg_cfs_load`).
fn detach(tasks: &mut Tasks, on: Records, id: TaskId, now: Time) {
    let (mut group, mut carried) = (tasks[id].history.group, load(tasks, id, now));
    loop {
        let queue = on.queue(group);
        tasks[queue].history.loads.queue.remove(now, carried);
        contribute(tasks, on, group, now);
        if group == 0 {
            return;
        }
        let before = load(tasks, queue, now);
        let (weight, rest) = (tasks[queue].history.load, tasks[queue].history.loads.queue.get(now));
        let own = &mut tasks[queue].history.loads.runnable;
        own.update(now);
        own.value = own.value.min((rest << FINE).checked_div(weight).unwrap_or(0));
        carried = before - load(tasks, queue, now);
        group = tasks[queue].history.group;
    }
}

/// At a tick: the contributions of the groups around a task are brought up to date.
pub(super) fn tick(tasks: &mut Tasks, cpu: &Cpu, entity: TaskId, now: Time) {
    let on = Records::of(cpu);
    contribute(tasks, on, on.group(entity), now);
}

/// The load of a group on a cpu and on all cpus, for its share there (`calc_group_shares`).
pub(super) fn for_share(tasks: &Tasks, cpu: &Cpu, entity: TaskId, now: Time) -> (u64, u64) {
    let (on, loads) = (Records::of(cpu), &tasks[entity].history.loads);
    let sums = &tasks[on.whole(on.group(entity))].history.loads;
    let here = tasks[entity].history.load.max(loads.queue.get(now) >> FINE);
    let own = if tasks[entity].history.load == 0 { left_of(loads, now) } else { loads.contribution };
    let others = (sums.contribution + sums.queue.get(now)).saturating_sub(own);
    (here, (others >> FINE) + here)
}

/// The load of a cpu: the average of its queue (`cpu_load`).
pub(crate) fn of_cpu(tasks: &Tasks, cpu: &Cpu, now: Time) -> u64 {
    tasks[Records::of(cpu).queue(0)].history.loads.queue.get(now) >> FINE
}

/// What a task counts of the load of its cpu (`task_h_load`).
pub(crate) fn of_task(tasks: &Tasks, cpu: &Cpu, id: TaskId, now: Time) -> u64 {
    let group = tasks[id].history.group;
    let Some(home) = tasks[id].history.loads.home else { return u64::from(tasks[id].weight) };
    part(tasks, Records::of(cpu).on(home), (group, load(tasks, id, now) >> FINE), now)
}

/// What a load in the queue of a group counts of the load of the cpu (`update_cfs_rq_h_load`).
fn part(tasks: &Tasks, on: Records, (group, load_there): (u16, u64), now: Time) -> u64 {
    let queue = on.queue(group);
    let all = tasks[queue].history.loads.queue.get(now) >> FINE;
    let whole = if group == 0 {
        all
    } else {
        part(tasks, on, (tasks[queue].history.group, load(tasks, queue, now) >> FINE), now)
    };
    load_there * whole / (all + 1)
}

/// What is queued on a cpu, by the weights in its own queue (`weighted_cpuload` before 4.2).
pub(crate) fn queued_on(tasks: &Tasks, cpu: &Cpu) -> u64 {
    tasks[Records::of(cpu).queue(0)].history.load
}

/// What a task counts of that (`task_h_load` before 4.2).
pub(crate) fn queued_of(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> u64 {
    let (task, on) = (&tasks[id], Records::of(cpu));
    let on = task.history.loads.home.map_or(on, |home| on.on(home));
    queued_part(tasks, on, (task.history.group, task.weight.into()))
}

/// What a weight in the queue of a group counts of what is queued on the cpu.
fn queued_part(tasks: &Tasks, on: Records, (group, weight): (u16, u64)) -> u64 {
    let queue = on.queue(group);
    let all = tasks[queue].history.load;
    let whole = match group {
        0 => all,
        _ => queued_part(tasks, on, (tasks[queue].history.group, tasks[queue].weight.into())),
    };
    weight * whole / (all + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_way_is_left_after_32_periods_and_a_frozen_one_stays() {
        let at = |periods: u64| Time::from_ns(periods * PERIOD_NS);
        let mut one = Follower::ZERO;
        one.follow(at(0), ALWAYS);
        // The factors are whole numbers of 32 bits.
        let near = |found: u64, expected: u64| assert!(found.abs_diff(expected) <= 1, "{found}, {expected}");
        near(one.get(at(32)), ALWAYS / 2);
        near(one.get(at(64)), ALWAYS / 4 * 3);
        one.freeze(at(32));
        near(one.get(at(500)), ALWAYS / 2);
        one.follow(at(500), ALWAYS);
        near(one.get(at(532)), ALWAYS / 4 * 3);
    }

    #[test]
    fn an_average_that_stood_still_stays_within_its_targets() {
        let mut one = Follower::ZERO;
        one.follow(Time::ZERO, ALWAYS);
        // It stops at the end of a period and goes on at the beginning of one.
        one.freeze(Time::from_ns(200 * PERIOD_NS - 1));
        let before = one.value;
        one.follow(Time::from_ns(300 * PERIOD_NS + 1), ALWAYS);
        let after = one.get(Time::from_ns(301 * PERIOD_NS));
        assert!((before..=ALWAYS).contains(&after), "{before} {after}");
    }

    #[test]
    fn a_period_counts_by_the_mean_of_its_targets() {
        // Half of each period: the average tends to a half.
        let mut one = Follower::ZERO;
        for half in 0..2_000 {
            one.follow(Time::from_ns(half * PERIOD_NS / 2), if half % 2 == 0 { ALWAYS } else { 0 });
        }
        assert!(one.value.abs_diff(ALWAYS / 2) < ALWAYS / 1_000, "{one:?}");
    }
}
