//! CFS where there are task groups (kernel/sched/fair.c to 6.5): each group has a queue on each cpu, with a
//! minimum, buddies and a mark of its own, and competes in the queue around it as one entity. What differs
//! between releases: `cfs_params`.
//!
//! Virtual runtime is brought up to date where the kernel does it: at ticks, entries, exits, picks and
//! yields.
//!
//! Deviations: a tick within a poll-and-yield cycle waits for the yield; of equal virtual runtimes tasks come
//! before groups, and groups in the order of their numbers; a task whose group is throttled loses its place
//! as a buddy.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::observe::LeaveReason;
use crate::policy::THROTTLED;
use crate::run_queue::cfs::{self, weighted};
use crate::run_queue::cfs_params::{BuddyLimit, CfsParams, StartDebit, YieldMode};
use crate::run_queue::group_loads::Records;
use crate::run_queue::level::{Level, current, each_waiting};
use crate::run_queue::{
    Entry, FastForward, Grouped, Picked, Picks, Rules, Tasks, Ticks, bandwidth, group_loads, groups,
    insert_by, remove,
};
use crate::time::{Span, Time};

/// CFS in a run with task groups: [`crate::os::OsModel::groups`] makes it of [`CfsParams`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CfsGroups(pub(crate) CfsParams);

/// What the queue of a group on a cpu, or that of the cpu itself, knows (`cfs_rq`), and since when a task or
/// group is the current one of its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Queue {
    /// Of a queue: the least virtual runtime, which never goes back.
    minimum: i64,
    /// Of a queue: the tasks and groups in it, the current one included.
    running: u32,
    /// Of a queue: the last one woken to preempt, the one that it preempted, and the one that yielded.
    next_buddy: TaskId,
    last_buddy: TaskId,
    skip: TaskId,
    /// Of a queue: when a buddy was last not followed (2.6.27).
    pair_start: Time,
    /// Of a task or group: when it was picked.
    picked: Time,
}

impl Queue {
    pub(crate) const EMPTY: Self = Self {
        minimum: 0,
        running: 0,
        next_buddy: TaskId::NONE,
        last_buddy: TaskId::NONE,
        skip: TaskId::NONE,
        pair_start: Time::ZERO,
        picked: Time::ZERO,
    };
}

/// The record of the queue in which a task or group of a cpu is.
fn around(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> TaskId {
    Records::of(cpu).queue(groups::of(tasks, cpu, id))
}

/// The first waiting one of the queue of a group, or of the cpu for 0.
fn leftmost(tasks: &Tasks, cpu: &Cpu, group: u16, without: TaskId) -> Option<TaskId> {
    let mut first: Option<TaskId> = None;
    each_waiting(tasks, cpu, Level { priority: 0, group }, |id, task: &Task| {
        if id != without && first.is_none_or(|first| task.vruntime < tasks[first].vruntime) {
            first = Some(id);
        }
    });
    first
}

/// The current one of a queue.
fn current_of(tasks: &Tasks, cpu: &Cpu, group: u16) -> Option<TaskId> {
    current(tasks, cpu, Level { priority: 0, group })
}

/// The minimum of a queue follows the smaller of its current and its leftmost entity, or the leftmost one
/// alone (`update_min_vruntime`).
fn follow_least(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, group: u16, without: TaskId) {
    let stays = |id: &TaskId| params.minimum_with_current && *id != without;
    let both = [current_of(tasks, cpu, group).filter(stays), leftmost(tasks, cpu, group, without)];
    let least = both.into_iter().flatten().map(|id| tasks[id].vruntime).min();
    if let Some(least) = least {
        let minimum = &mut tasks[Records::of(cpu).queue(group)].history.queue.minimum;
        *minimum = (*minimum).max(least);
    }
}

/// Charges the current task and the groups around it (`update_curr`), of their limits too.
fn charge(params: &CfsParams, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
    let Some(current) = cpu.current.some().filter(|_| now > cpu.charged) else { return };
    let span = now - cpu.charged;
    cpu.charged = now;
    let mut next = Some(current);
    while let Some(id) = next {
        let task = &mut tasks[id];
        task.vruntime += weighted(span, task.weight);
        if id != current {
            task.last_ran = now;
        }
        if bandwidth::use_up(tasks, cpu, id, span) {
            cpu.resched = true;
        }
        follow_least(params, tasks, cpu, groups::of(tasks, cpu, id), TaskId::NONE);
        next = groups::parent(tasks, cpu, id);
    }
}

/// The slice of a task or group: its share of the period of its queue, and of it the share of each group
/// around it (`sched_slice`). `enters`: it is not queued yet.
fn slice(params: &CfsParams, tasks: &Tasks, cpu: &Cpu, id: TaskId, enters: bool) -> Span {
    let beside = tasks[around(tasks, cpu, id)].history.queue.running;
    let running = if params.alt_period { cpu.running } else { beside };
    let mut slice = cfs::period(params, running + u32::from(enters));
    for one in groups::chain(tasks, cpu, id) {
        let weight = tasks[one].weight;
        let outside = if one == id { enters } else { !tasks[one].history.queued };
        let others = tasks[around(tasks, cpu, one)].history.load;
        slice = cfs::part(slice, weight, others + if outside { u64::from(weight) } else { 0 });
    }
    if params.base_slice { slice.max(params.min_granularity) } else { slice }
}

/// The turn of a current task or group ends at a tick: it has run for its slice, or is too far behind the
/// first one that waits (`check_preempt_tick`).
fn check_turn(params: &CfsParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, at: Time) {
    if tasks[around(tasks, cpu, id)].history.queue.running < 2 {
        return;
    }
    let slice = slice(params, tasks, cpu, id, false);
    let turn = if params.cap_slice { slice.min(params.latency) } else { slice };
    let ran = at.since(tasks[id].history.queue.picked);
    if ran > turn {
        cpu.resched = true;
        if params.clear_buddies {
            forget(tasks, cpu, id);
        }
    } else if params.gap_test && ran >= params.min_granularity {
        let first = leftmost(tasks, cpu, groups::of(tasks, cpu, id), TaskId::NONE);
        let behind = |first: TaskId| tasks[id].vruntime - tasks[first].vruntime > turn.ns() as i64;
        cpu.resched |= first.is_some_and(behind);
    }
}

/// Marks of a queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Next,
    Last,
    Skip,
}

const MARKS: [Mark; 3] = [Mark::Next, Mark::Last, Mark::Skip];

impl Mark {
    const fn of(self, queue: &mut Queue) -> &mut TaskId {
        match self {
            Self::Next => &mut queue.next_buddy,
            Self::Last => &mut queue.last_buddy,
            Self::Skip => &mut queue.skip,
        }
    }
}

/// A task or group gets a mark in its queue, and the groups around it in theirs (`set_next_buddy`,
/// `set_last_buddy`, `set_skip_buddy`).
fn mark(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, mark: Mark) {
    let mut next = Some(id);
    while let Some(one) = next {
        let queue = around(tasks, cpu, one);
        *mark.of(&mut tasks[queue].history.queue) = one;
        next = groups::parent(tasks, cpu, one);
    }
}

/// A task or group loses its marks, and the groups around it as far as they have them (`clear_buddies`).
fn forget(tasks: &mut Tasks, cpu: &Cpu, id: TaskId) {
    MARKS.into_iter().for_each(|mark| unmark(tasks, cpu, id, mark));
}

/// It loses this mark.
fn unmark(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, mark: Mark) {
    let mut next = Some(id);
    while let Some(one) = next {
        let queue = around(tasks, cpu, one);
        let marked = mark.of(&mut tasks[queue].history.queue);
        if *marked != one {
            return;
        }
        *marked = TaskId::NONE;
        next = groups::parent(tasks, cpu, one);
    }
}

/// A group gets its weight on a cpu (`reweight_entity`).
fn reweigh(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, entity: TaskId, now: Time) {
    match groups::share(params.group_shares, tasks, cpu, entity, now) {
        Some(weight) if weight == tasks[entity].weight => {}
        Some(weight) if tasks[entity].history.queued => {
            groups::change_weight(tasks, cpu, entity, weight, now);
        }
        Some(weight) => tasks[entity].weight = weight,
        None => {}
    }
}

/// The groups around a task or group get the weights of what is queued in them.
fn reweigh_around(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, id: TaskId, now: Time) {
    let mut next = groups::parent(tasks, cpu, id);
    while let Some(entity) = next {
        reweigh(params, tasks, cpu, entity, now);
        next = groups::parent(tasks, cpu, entity);
    }
}

/// A task enters its queue, and the groups around it that are not queued enter theirs as if they woke
/// (`enqueue_task_fair`). Without an entry the task keeps its place.
fn enter(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, id: TaskId, (entry, now): (Option<Entry>, Time)) {
    group_loads::arrive(tasks, cpu, id, now);
    let (mut next, mut entry) = (Some(id), entry);
    while let Some(inside) = next {
        if inside != id {
            if tasks[inside].history.queued {
                break;
            }
            reweigh(params, tasks, cpu, inside, now);
        }
        if let Some(entry) = entry {
            seat(params, tasks, cpu, inside, (entry, now));
        }
        if inside != id {
            tasks[inside].history.queued = true;
        }
        let queue = around(tasks, cpu, inside);
        tasks[queue].history.queue.running += 1;
        groups::count(tasks, cpu, inside, true, now);
        next = groups::parent(tasks, cpu, inside);
        entry = Some(Entry::Wake);
    }
    reweigh_around(params, tasks, cpu, id, now);
}

/// Places a task or group in its queue (`place_entity`). What comes from another cpu is as far from the
/// minimum as it was from the one there.
fn seat(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, id: TaskId, (entry, now): (Entry, Time)) {
    let (group, records) = (groups::of(tasks, cpu, id), Records::of(cpu));
    let minimum = tasks[records.queue(group)].history.queue.minimum;
    let left = leftmost(tasks, cpu, group, id).filter(|_| !params.minimum_with_current);
    let least = left.map_or(minimum, |left| tasks[left].vruntime.min(minimum));
    let debit = match params.debit {
        _ if entry != Entry::Fork || !params.start_debit => 0,
        StartDebit::Period => {
            let queue = &tasks[records.queue(group)].history.queue;
            cfs::period(params, queue.running + 1).ns() as i64
        }
        StartDebit::Slice => weighted(slice(params, tasks, cpu, id, true), tasks[id].weight),
    };
    match entry {
        Entry::Move => tasks[id].vruntime += minimum,
        Entry::Wake if groups::number(cpu, id) == 0 && tasks[id].cpu != cpu.id => {
            let there = records.on(tasks[id].cpu).queue(group);
            tasks[id].vruntime += minimum - tasks[there].history.queue.minimum;
        }
        Entry::Wake | Entry::Fork => {}
    }
    cfs::seat(params, &mut tasks[id], (entry, now), (least, debit));
}

/// A task leaves its queue, and the groups around it in which nothing is queued any more leave theirs
/// (`dequeue_task_fair`). It may still be linked.
fn dequeue(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, id: TaskId, (sleeps, now): (bool, Time)) {
    let mut inside = id;
    loop {
        let (group, queue) = (groups::of(tasks, cpu, inside), around(tasks, cpu, inside));
        forget(tasks, cpu, inside);
        tasks[queue].history.queue.running -= 1;
        if inside != id {
            let history = &mut tasks[inside].history;
            (history.queued, history.chosen) = (false, false);
        }
        groups::count(tasks, cpu, inside, false, now);
        follow_least(params, tasks, cpu, group, inside);
        let Some(entity) = groups::parent(tasks, cpu, inside) else { return };
        if tasks[entity].history.load > 0 {
            if sleeps && params.sleep_buddy {
                mark(tasks, cpu, entity, Mark::Next);
            }
            return reweigh_around(params, tasks, cpu, inside, now);
        }
        bandwidth::give_back(tasks, cpu, entity);
        inside = entity;
    }
}

/// Who runs next in a queue (`pick_next_entity`).
fn best_of(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, group: u16, now: Time) -> Option<TaskId> {
    let current = current_of(tasks, cpu, group);
    let Some(first) = leftmost(tasks, cpu, group, TaskId::NONE) else { return current };
    let before = |one: TaskId, other: TaskId| tasks[one].vruntime < tasks[other].vruntime;
    let best = current.filter(|current| before(*current, first)).unwrap_or(first);
    let queue = Records::of(cpu).queue(group);
    let Queue { next_buddy, last_buddy, skip, pair_start, .. } = tasks[queue].history.queue;
    let near =
        |id: &TaskId| tasks[*id].vruntime - tasks[best].vruntime <= cfs::granularity(params, &tasks[best]);
    let mut next = best;
    if params.yield_mode == YieldMode::Skip && skip == best {
        let waits = if Some(best) == current { Some(first) } else { leftmost(tasks, cpu, group, best) };
        let stays = current.filter(|id| *id != best);
        let second = match (stays, waits) {
            (Some(stays), Some(waits)) if before(stays, waits) => Some(stays),
            (stays, waits) => waits.or(stays),
        };
        next = second.filter(near).unwrap_or(best);
    }
    let since = now.since(pair_start);
    let follows = |buddy: &TaskId| match params.buddy_limit {
        BuddyLimit::Slice => since <= slice(params, tasks, cpu, *buddy, false),
        BuddyLimit::Granularity => near(buddy),
    };
    let preferred = [next_buddy, last_buddy].into_iter().filter_map(TaskId::some).find(follows);
    if preferred.is_none() && params.times_pairs() {
        tasks[queue].history.queue.pair_start = now;
    }
    Some(preferred.unwrap_or(next))
}

/// A task that has entered, or a group around it, takes the cpu where it meets the current one
/// (`check_preempt_wakeup`).
fn preempts(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, id: TaskId, now: Time) -> bool {
    let current = cpu.current;
    if params.preempting_buddies && cpu.resched {
        return false;
    }
    let Some((one, other)) = groups::meeting(tasks, cpu, id, current) else { return false };
    let running = tasks[around(tasks, cpu, one)].history.queue.running;
    let ran = now.since(tasks[other].history.queue.picked);
    let preempts = cfs::leads(params, (&tasks[one], &tasks[other]), (running, ran));
    if params.buddies && (preempts || !params.preempting_buddies) {
        let beside = tasks[around(tasks, cpu, current)].history.queue.running;
        let crowded = !params.crowded_last_buddy || beside >= params.nr_latency;
        if params.last_buddy && crowded && (other == current || !params.preempting_buddies) {
            mark(tasks, cpu, current, Mark::Last);
        }
        mark(tasks, cpu, if params.preempting_buddies { one } else { id }, Mark::Next);
    }
    preempts
}

/// The current task has been picked: it and the groups around it that were not current begin their turns;
/// where each pick renews slices, all of them (`set_next_entity`).
fn picked(params: &CfsParams, tasks: &mut Tasks, cpu: &Cpu, how: Picked) {
    let Some(current) = cpu.current.some() else { return };
    for id in groups::all(cpu) {
        let around = groups::chain(tasks, cpu, current).any(|around| around == id);
        tasks[id].history.chosen &= around;
    }
    let mut next = Some(current);
    while let Some(id) = next {
        let history = &mut tasks[id].history;
        let anew = if id == current { how != Picked::Again } else { !history.chosen };
        history.chosen = id != current;
        if anew || params.renew_slice {
            history.queue.picked = cpu.picked;
        }
        if params.clear_picked {
            forget(tasks, cpu, id);
        } else {
            unmark(tasks, cpu, id, Mark::Skip);
        }
        if !params.minimum_with_current {
            follow_least(params, tasks, cpu, groups::of(tasks, cpu, id), TaskId::NONE);
        }
        next = groups::parent(tasks, cpu, id);
    }
}

/// The current task has called `sched_yield` (`yield_task_fair`). Nothing happens to a task that is alone on
/// its cpu.
fn yields(params: &CfsParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
    if params.yield_mode == YieldMode::Posix {
        let mut last: Option<i64> = None;
        each_waiting(tasks, cpu, Level::of(tasks, cpu, id), |_, task| {
            last = last.max(Some(task.vruntime));
        });
        if let Some(last) = last {
            tasks[id].vruntime = tasks[id].vruntime.max(last + 1);
        }
    }
    charge(params, tasks, cpu, now);
    if cpu.running > 1 {
        forget(tasks, cpu, id);
        if params.yield_mode == YieldMode::Skip {
            mark(tasks, cpu, id, Mark::Skip);
        }
    }
}

impl Rules for CfsGroups {
    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, now: Time) {
        enter(&self.0, tasks, cpu, id, (Some(entry), now));
    }

    /// With task groups each tick is processed in its time: it reads what is queued on other cpus.
    fn slice_end(&self, _: &Tasks, cpu: &Cpu, _: Time, _: impl Fn(Time) -> Time) -> Time {
        cpu.rare.next_tick
    }

    fn contested(&self, _: &Tasks, _: &Cpu) -> bool {
        true
    }

    fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
        preempts(&self.0, tasks, cpu, id, now)
    }

    /// At each level it is near the least of its queue (`yield_to_task_fair`).
    fn prefers(&self, tasks: &Tasks, cpu: &Cpu, target: TaskId, _: i64) -> bool {
        groups::chain(tasks, cpu, target).all(|id| {
            let group = groups::of(tasks, cpu, id);
            let both = [current_of(tasks, cpu, group), leftmost(tasks, cpu, group, TaskId::NONE)];
            let least = both.into_iter().flatten().map(|id| tasks[id].vruntime).min();
            let gap = tasks[id].vruntime - least.unwrap_or(tasks[id].vruntime);
            gap <= self.0.wakeup_granularity.ns() as i64
        })
    }

    fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        yields(&self.0, tasks, cpu, id, now);
    }

    fn times_picks(&self) -> bool {
        true
    }

    fn renews_slice(&self) -> bool {
        self.0.renew_slice
    }

    /// The minimum is that of the queue of its group.
    fn has_relative_keys(&self) -> bool {
        false
    }

    fn ticks(&self) -> Option<Ticks> {
        Some(Ticks { late: Span::ZERO })
    }

    /// `entity_tick`, from the inside out.
    fn tick(&self, tasks: &mut Tasks, cpu: &mut Cpu, at: Time) {
        charge(&self.0, tasks, cpu, at);
        let mut next = cpu.current.some();
        while let Some(id) = next {
            if cpu.current != id {
                group_loads::tick(tasks, cpu, id, at);
                reweigh(&self.0, tasks, cpu, id, at);
            }
            check_turn(&self.0, tasks, cpu, id, at);
            next = groups::parent(tasks, cpu, id);
        }
    }

    fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        charge(&self.0, tasks, cpu, now);
    }

    fn picked(&self, tasks: &mut Tasks, cpu: &mut Cpu, how: Picked) {
        picked(&self.0, tasks, cpu, how);
    }

    fn choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, _: Option<TaskId>, now: Time) -> Option<TaskId> {
        let mut group = 0;
        loop {
            let next = best_of(&self.0, tasks, cpu, group, now)?;
            group = groups::number(cpu, next);
            if group == 0 {
                return Some(next);
            }
        }
    }

    fn leave(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, reason: LeaveReason, now: Time) {
        let queue = around(tasks, cpu, id);
        let minimum = tasks[queue].history.queue.minimum;
        if tasks[id].priority == THROTTLED {
            // It has left already.
            bandwidth::end_throttling(tasks, cpu, id);
        } else {
            let sleeps = reason == LeaveReason::Slept;
            if sleeps && self.0.adaptive_gran {
                tasks[id].history.waker.sleeps(&self.0);
            }
            dequeue(&self.0, tasks, cpu, id, (sleeps, now));
        }
        if reason == LeaveReason::Moved {
            tasks[id].vruntime -= minimum;
        }
        if reason == LeaveReason::Exited {
            group_loads::ends(tasks, cpu, id, now);
        }
    }

    fn groups(&self) -> Option<&dyn Grouped> {
        Some(self)
    }
}

impl FastForward for CfsGroups {
    fn picks(&self) -> Picks {
        Picks::EachCycle
    }
}

impl Grouped for CfsGroups {
    fn end_delay(&self, _: &mut Tasks, _: &mut Cpu, _: TaskId, _: Time) {}

    fn emptied(&self, _: &mut Tasks, _: &mut Cpu, _: Time) {}

    fn change_priority(&self, tasks: &mut Tasks, _: &mut Cpu, id: TaskId, priority: u8) {
        tasks[id].priority = priority;
    }

    /// `throttle_cfs_rq`.
    fn throttle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        dequeue(&self.0, tasks, cpu, id, (false, now));
        bandwidth::set_aside(self, tasks, cpu, id);
    }

    /// `unthrottle_cfs_rq`: the group enters as if it woke, its tasks have kept their places in it.
    fn unthrottle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        remove(tasks, cpu, id);
        bandwidth::end_throttling(tasks, cpu, id);
        enter(&self.0, tasks, cpu, id, (None, now));
        insert_by(self, tasks, cpu, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::{Boxed, ProcessId};
    use crate::ids::{AppId, CpuId};
    use crate::machine::PerCpu;
    use crate::os::TaskGroup;

    /// Tasks of these groups (from 1; 0: none) that have entered the first of two cpus with this many groups
    /// in a row, the first one as the current one.
    fn entered(params: &CfsParams, count: usize, of: &[u16]) -> (Tasks, PerCpu<Cpu>) {
        let mut tasks = Tasks::default();
        let mut cpus: PerCpu<Cpu> = [0, 1].map(|cpu| Cpu::new(CpuId(cpu))).into_iter().collect();
        for group in of {
            let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
            task.history = Boxed::ready();
            task.history.group = *group;
            tasks.push(task);
        }
        let group = TaskGroup { name: "group".into(), parent: None, weight: 1024, limit: None };
        groups::add(&mut tasks, &mut cpus, &vec![group; count]);
        let (rules, cpu) = (CfsGroups(params.clone()), &mut cpus[CpuId(0)]);
        for number in 0..of.len() as u32 {
            let id = TaskId(number);
            rules.place(&mut tasks, cpu, id, Entry::Wake, Time::ZERO);
            cpu.running += 1;
            if number == 0 {
                cpu.current = id;
                rules.picked(&mut tasks, cpu, Picked::Anew(Time::ZERO));
            } else {
                insert_by(&rules, &mut tasks, cpu, id);
            }
        }
        (tasks, cpus)
    }

    #[test]
    fn a_slice_is_the_share_of_a_share() {
        let of: Vec<u16> = (0..16).map(|number| 1 + number / 8).collect();
        // A new task of a group is one of nine, in a period of 27 ms or, for 17 tasks, 51 ms.
        for (alt_period, us, new) in [(false, 1_500, 1_500_000), (true, 3_000, 2_833_333)] {
            let params = CfsParams { alt_period, ..CfsParams::late(8) };
            let (tasks, cpus) = entered(&params, 2, &of);
            let cpu = &cpus[CpuId(0)];
            assert_eq!(slice(&params, &tasks, cpu, TaskId(3), false), Span::from_us(us));
            assert_eq!(slice(&params, &tasks, cpu, TaskId(12), true), Span::from_ns(new));
        }
    }

    #[test]
    fn a_mark_goes_up_and_ends_as_far_as_it_is_held() {
        let params = CfsParams::late(8);
        let (mut tasks, cpus) = entered(&params, 2, &[1, 1, 2]);
        let cpu = &cpus[CpuId(0)];
        let next = |tasks: &Tasks, group: u16| tasks[Records::of(cpu).queue(group)].history.queue.next_buddy;
        mark(&mut tasks, cpu, TaskId(1), Mark::Next);
        assert_eq!((next(&tasks, 1), next(&tasks, 0)), (TaskId(1), groups::on(cpu, 0)));
        mark(&mut tasks, cpu, TaskId(2), Mark::Next);
        forget(&mut tasks, cpu, TaskId(1));
        assert_eq!((next(&tasks, 1), next(&tasks, 0)), (TaskId::NONE, groups::on(cpu, 1)));
        forget(&mut tasks, cpu, TaskId(2));
        assert!(next(&tasks, 2).is_none() && next(&tasks, 0).is_none());
    }

    #[test]
    fn who_moves_keeps_its_distance_from_the_minimum_of_its_group() {
        let params = CfsParams::late(8);
        let rules = CfsGroups(params.clone());
        let (mut tasks, mut cpus) = entered(&params, 1, &[1, 1]);
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        rules.charge(&mut tasks, &mut cpus[CpuId(0)], ms(5));
        let here = Records::of(&cpus[CpuId(0)]).queue(1);
        assert_eq!(tasks[here].history.queue.minimum, tasks[TaskId(1)].vruntime);
        let behind = tasks[TaskId(0)].vruntime - tasks[here].history.queue.minimum;
        assert_eq!(behind, 5_000_000);
        rules.leave(&mut tasks, &mut cpus[CpuId(0)], TaskId(0), LeaveReason::Moved, ms(5));
        cpus[CpuId(0)].current = TaskId::NONE;
        let there = Records::of(&cpus[CpuId(1)]).queue(1);
        tasks[there].history.queue.minimum = 77;
        rules.place(&mut tasks, &mut cpus[CpuId(1)], TaskId(0), Entry::Move, ms(5));
        assert_eq!(tasks[TaskId(0)].vruntime, 77 + 5_000_000);
    }
}
