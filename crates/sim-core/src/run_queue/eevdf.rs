//! Earliest eligible virtual deadline first of Linux 6.6 to 7.1 (kernel/sched/fair.c): lag, eligibility,
//! protection, delayed dequeue, the yield. What differs between releases: `eevdf_params`.
//!
//! Virtual runtime is brought up to date where the kernel does it: at ticks, entries, exits, picks and
//! yields. Deviations: a tick within a poll-and-yield cycle waits for the yield, and the timer of a request
//! goes on past it; each priority has averages its own; a task that enters an empty priority starts at 0
//! (only differences count).

use crate::engine::state::{Cpu, Lazily, Task};
use crate::ids::TaskId;
use crate::observe::LeaveReason;
use crate::policy::THROTTLED;
use crate::program::Scheduling;
use crate::run_queue::cfs::weighted;
use crate::run_queue::delayed::{delay, unlink};
use crate::run_queue::eevdf_lag::{lag, lag_in, seat, seat_among};
use crate::run_queue::eevdf_params::{EevdfParams, EevdfYield, Preemption, Protection};
use crate::run_queue::eligibility::{Contender, Pick};
use crate::run_queue::level::{Level, average, average_of, current, earliest_waiting, has_rivals, scaled};
use crate::run_queue::{
    Change, Entry, FastForward, Grouped, Picked, Picks, Requested, Requests, Rules, Tasks, Ticks,
    at_least_1us, bandwidth, delayed_in, eevdf_polls, group_loads, groups, insert_by, list, remove, slices,
};
use crate::time::{Span, Time};

/// Whether another task or group, delayed or not, competes with the current task or a group around it.
fn contested(tasks: &Tasks, cpu: &Cpu) -> bool {
    let Some(current) = cpu.current.some() else { return false };
    if cpu.rare.group_count > 0 {
        return groups::chain(tasks, cpu, current).any(|id| has_rivals(tasks, cpu, id));
    }
    let priority = tasks[current].priority;
    cpu.head.some().is_some_and(|head| tasks[head].priority <= priority) || delayed_in(tasks, cpu, priority)
}

/// Brings the current task and the groups around it up to date (`update_curr`): at the end of a request a
/// new one begins; the kernel is to pick again then, or when the protection is used up, if others compete.
fn charge(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
    let Some(current) = cpu.current.some() else { return };
    if now <= cpu.charged {
        return;
    }
    let span = now - cpu.charged;
    cpu.charged = now;
    let mut next = Some(current);
    while let Some(id) = next {
        let task = &mut tasks[id];
        let mut one = Contender::of(task);
        let used_up = one.age(weighted(span, task.weight), slices::of(params.slice, task));
        (task.vruntime, task.history.vdeadline) = (one.vruntime, one.vdeadline);
        let unprotected = task.vruntime >= task.history.protection;
        let over = unprotected && is_over(params, tasks, cpu, id);
        let grouped = cpu.rare.group_count > 0;
        if grouped && bandwidth::use_up(tasks, cpu, id, span) {
            cpu.resched = true;
        }
        // The timer ends no turn of a task that polls and yields.
        if used_up && id == current && cpu.rare.timed && tasks[id].polls == 0 {
            cpu.rare.timed = false;
            cpu.resched |= contested(tasks, cpu);
        }
        if (used_up || over) && if grouped { has_rivals(tasks, cpu, id) } else { contested(tasks, cpu) } {
            if params.preemption == Preemption::Lazy {
                cpu.rare.lazily = Lazily::Spent;
            } else {
                cpu.resched = true;
            }
        }
        next = groups::parent(tasks, cpu, id);
    }
}

/// Whether the kernel is to pick again as the protection of the current task, or a group around it, has ended
/// within its request. Where that is a matter of the deadline, only if it is ahead of its share as well,
/// after a task with a shorter slice or a yield ended it (`did_preempt_short`).
fn is_over(params: &EevdfParams, tasks: &Tasks, cpu: &Cpu, id: TaskId) -> bool {
    match params.protection {
        Protection::MinSlice => true,
        // Deviation: without RUN_TO_PARITY the kernel keeps the mark that it does not heed at picks.
        Protection::Deadline => {
            params.preempt_short
                && params.protected.is_none()
                && !average_of(tasks, cpu, id).allows(tasks[id].vruntime)
        }
    }
}

/// The groups around a task or group get the weights of what is queued in them (`update_cfs_group`).
fn reweigh_around(params: &EevdfParams, tasks: &mut Tasks, cpu: &Cpu, id: TaskId, now: Time) {
    let mut next = groups::parent(tasks, cpu, id);
    while let Some(entity) = next {
        reweigh(params, tasks, cpu, entity, now);
        next = groups::parent(tasks, cpu, entity);
    }
}

/// A group gets its weight on a cpu; its lag, its request and its protection keep their share of service
/// (`reweight_entity`).
fn reweigh(params: &EevdfParams, tasks: &mut Tasks, cpu: &Cpu, entity: TaskId, now: Time) {
    let Some(weight) = groups::share(params.group_shares, tasks, cpu, entity, now) else { return };
    let before = tasks[entity].weight;
    if weight == before {
        return;
    }
    let queued = tasks[entity].history.queued;
    let others = queued.then(|| average(tasks, cpu, Level::of(tasks, cpu, entity), entity));
    if let Some(others) = &others {
        let average = others.with(Contender::of(&tasks[entity]));
        tasks[entity].history.vlag = lag_in(params, &average, &tasks[entity]);
    }
    let scaled = |value: i64| scaled(value, i64::from(before), i64::from(weight));
    let task = &mut tasks[entity];
    task.history.vlag = scaled(task.history.vlag);
    if let Some(others) = &others {
        groups::change_weight(tasks, cpu, entity, weight, now);
        let task = &mut tasks[entity];
        let protection = scaled(task.history.protection - task.vruntime);
        task.history.vdeadline = scaled(task.history.vdeadline - task.vruntime);
        if params.reweigh_places {
            seat_among(params, others, task, Entry::Move);
        } else {
            task.history.vdeadline += task.vruntime;
        }
        let kept = if params.protection == Protection::Deadline { 0 } else { protection };
        task.history.protection = task.vruntime + kept;
    } else {
        task.weight = weight;
    }
}

/// The current task has called `sched_yield` (`yield_task_fair`): unless it is ahead of the average of its
/// level, it forfeits the rest of its request, or its deadline moves on. Nothing happens to a task that is
/// alone on its cpu.
fn yields(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
    charge(params, tasks, cpu, now);
    let Some(current) = cpu.current.some() else { return };
    if !groups::chain(tasks, cpu, current).any(|id| has_rivals(tasks, cpu, id)) {
        return;
    }
    let slice = slices::of(params.slice, &tasks[current]);
    let mut one = Contender::of(&tasks[current]);
    match params.yields {
        EevdfYield::Deadline => {
            one.push(weighted(slice, one.weight), 1);
            if params.protection == Protection::Deadline {
                tasks[current].history.protection = one.vruntime;
            }
        }
        EevdfYield::Forfeit if average_of(tasks, cpu, current).allows(one.vruntime) => one.forfeit(slice),
        EevdfYield::Forfeit => {}
    }
    (tasks[current].vruntime, tasks[current].history.vdeadline) = (one.vruntime, one.vdeadline);
}

/// The task the kernel would pick, including a delayed one. Only the best priority level with a runnable task
/// competes; throttled tasks never do.
pub(super) fn pick(tasks: &Tasks, cpu: &Cpu) -> Option<TaskId> {
    let runnable = cpu.current.some().into_iter().chain(cpu.head.some());
    let priority = runnable.map(|id| tasks[id].priority).min().filter(|priority| *priority < THROTTLED)?;
    pick_within(tasks, cpu, Level { priority, group: 0 })
}

/// The pick in a level; of a group, the pick within it.
fn pick_within(tasks: &Tasks, cpu: &Cpu, mut level: Level) -> Option<TaskId> {
    loop {
        let next = best_of(tasks, cpu, level)?;
        let group = groups::number(cpu, next);
        if group == 0 || tasks[next].history.delayed {
            return Some(next);
        }
        level.group = group;
    }
}

/// The best task or group of a level.
fn best_of(tasks: &Tasks, cpu: &Cpu, level: Level) -> Option<TaskId> {
    let average = average(tasks, cpu, level, TaskId::NONE);
    let current = current(tasks, cpu, level);
    let me = current.map(|id| (Contender::of(&tasks[id]), tasks[id].history.protection));
    let mut pick = Pick::new(&average, me);
    earliest_waiting(tasks, cpu, level, |id, task| pick.consider(id, Contender::of(task)));
    pick.result().or(current)
}

/// True when a task that has entered would be picked, or the group around it where it meets the current one
/// (`find_matching_se`). Tasks of `SCHED_BATCH` and `SCHED_IDLE` never
/// preempt. An idle current task is always preempted and loses its protection (`wakeup_preempt_fair`).
fn preempts(params: &EevdfParams, tasks: &mut Tasks, cpu: &Cpu, id: TaskId) -> bool {
    let Some(current) = cpu.current.some() else {
        return cpu.rare.group_count > 0 || pick(tasks, cpu) == Some(id);
    };
    let (one, other) = if cpu.rare.group_count == 0 {
        (id, current)
    } else {
        let Some(met) = groups::meeting(tasks, cpu, id, current) else { return false };
        met
    };
    if tasks[one].priority == tasks[other].priority {
        // A group is never idle here.
        let idle =
            |of: TaskId, task: TaskId| of == task && tasks[task].history.scheduling == Scheduling::Idle;
        let (mine, theirs) = (idle(one, id), idle(other, current));
        if theirs && !mine {
            tasks[other].history.protection = tasks[other].vruntime;
            return true;
        }
        if mine != theirs || tasks[id].history.scheduling != Scheduling::Other {
            return false;
        }
    }
    // Else only a yield or a change of weight lets protection reach farther than a slice of the queue.
    let farther = cpu.rare.own_slices || params.yields == EevdfYield::Deadline || !params.request_scales;
    if farther && tasks[one].priority == tasks[other].priority {
        return preempts_by_slice(params, tasks, cpu, (one, other));
    }
    if cpu.rare.group_count == 0 {
        return pick(tasks, cpu) == Some(id);
    }
    best_of(tasks, cpu, Level::of(tasks, cpu, one)) == Some(one)
}

/// A task that has entered, or a group around it, would be picked where slices differ. One with a shorter
/// slice than the current one ends the protection of that one (`PREEMPT_SHORT`).
fn preempts_by_slice(
    params: &EevdfParams,
    tasks: &mut Tasks,
    cpu: &Cpu,
    (one, other): (TaskId, TaskId),
) -> bool {
    let level = Level::of(tasks, cpu, other);
    let slice = |id: TaskId| slices::of(params.slice, &tasks[id]);
    let shorter = params.preempt_short && slice(one) < slice(other);
    let average = average(tasks, cpu, level, TaskId::NONE);
    let eligible = |id: TaskId| average.allows(tasks[id].vruntime);
    let deadline = |id: TaskId| tasks[id].history.vdeadline;
    let (before, now) = (tasks[other].history.protection, tasks[other].vruntime);
    match params.protection {
        Protection::Deadline => {
            if shorter && eligible(one) && (deadline(one) < deadline(other) || !eligible(other)) {
                tasks[other].history.protection = before.min(now);
            }
            best_of(tasks, cpu, level) == Some(one)
        }
        Protection::MinSlice => {
            if shorter {
                tasks[other].history.protection = before.min(now);
            }
            let picked = best_of(tasks, cpu, level) == Some(one);
            if !picked {
                let least = slices::least(params.slice, tasks, cpu, level, TaskId::NONE);
                let shared =
                    params.protected.map_or(now + weighted(least, tasks[other].weight), |_| i64::MAX);
                tasks[other].history.protection = before.min(shared);
            }
            picked
        }
    }
}

/// Picks the next task; delayed ones that come up are dropped on the way.
fn choose(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) -> Option<TaskId> {
    while let Some(next) = pick(tasks, cpu) {
        if !tasks[next].history.delayed {
            return Some(next);
        }
        drop_delayed(params, tasks, cpu, next, now);
    }
    drop_all(params, tasks, cpu, now);
    None
}

/// A task of a throttled group leaves the queue with its lag (`throttle_cfs_rq_work`), even if it runs.
fn throttle(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
    tasks[id].history.vlag = lag(params, tasks, cpu, id);
    groups::count(tasks, cpu, id, false, now);
    bandwidth::set_aside(params, tasks, cpu, id);
    leave_groups(params, tasks, cpu, id, now);
}

/// A task of a group that is no longer throttled enters as if it woke (`unthrottle_cfs_rq`).
fn unthrottle(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
    remove(tasks, cpu, id);
    bandwidth::end_throttling(tasks, cpu, id);
    place(params, tasks, cpu, id, Entry::Wake, now);
    insert_by(params, tasks, cpu, id);
}

/// The current task of a cpu has been picked in place of another one: it and the groups around it that were
/// not picked before are protected.
fn picked(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
    let Some(current) = cpu.current.some() else { return };
    cpu.charged = now;
    // A group that is put back waits before the next one is protected (`put_prev_entity`).
    for id in groups::all(cpu) {
        let around = groups::chain(tasks, cpu, current).any(|around| around == id);
        tasks[id].history.chosen &= around;
    }
    tasks[current].history.protection = slices::protection(params, tasks, cpu, current);
    let mut inside = current;
    while let Some(group) = groups::parent(tasks, cpu, inside) {
        if !tasks[group].history.chosen {
            tasks[group].history.protection = slices::protection(params, tasks, cpu, group);
            tasks[group].history.chosen = true;
        }
        inside = group;
    }
}

/// A task is about to leave its cpu but is still linked: it takes its lag along. A task that sleeps while it
/// is ahead of the average stays as a delayed task instead.
fn leave(
    params: &EevdfParams,
    tasks: &mut Tasks,
    cpu: &mut Cpu,
    id: TaskId,
    (reason, now): (LeaveReason, Time),
) {
    if cpu.rare.group_count > 0 && tasks[id].priority == THROTTLED {
        // It has left already; where it comes to, a new request begins.
        bandwidth::end_throttling(tasks, cpu, id);
        tasks[id].history.vdeadline = weighted(slices::of(params.slice, &tasks[id]), tasks[id].weight);
        return;
    }
    let average = average_of(tasks, cpu, id);
    if reason == LeaveReason::Slept && params.delayed_dequeue && !average.allows(tasks[id].vruntime) {
        cpu.current = TaskId::NONE;
        delay(tasks, cpu, id);
        return;
    }
    tasks[id].history.vlag = lag_in(params, &average, &tasks[id]);
    if reason == LeaveReason::Moved {
        tasks[id].history.vdeadline -= tasks[id].vruntime;
    }
    groups::count(tasks, cpu, id, false, now);
    leave_groups(params, tasks, cpu, id, now);
    if cpu.rare.group_count > 0 && reason == LeaveReason::Exited {
        group_loads::ends(tasks, cpu, id, now);
    }
}

/// The groups around a task or group that has left: one in which nothing is queued any more leaves as well,
/// as if it slept; it stays as a delayed one while it is ahead of the average (`dequeue_entities`).
fn leave_groups(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
    let mut inside = id;
    while let Some(entity) = groups::parent(tasks, cpu, inside) {
        if tasks[entity].history.load > 0 {
            slices::follow(params.slice, tasks, cpu, inside, false);
            return reweigh_around(params, tasks, cpu, inside, now);
        }
        bandwidth::give_back(tasks, cpu, entity);
        let average = average_of(tasks, cpu, entity);
        if params.delayed_dequeue && !average.allows(tasks[entity].vruntime) {
            tasks[entity].history.delayed = true;
            return;
        }
        let before = lag_in(params, &average, &tasks[entity]);
        dequeue_group(tasks, cpu, entity, before, now);
        inside = entity;
    }
}

/// A group is no longer queued on a cpu.
fn dequeue_group(tasks: &mut Tasks, cpu: &Cpu, entity: TaskId, lag: i64, now: Time) {
    let history = &mut tasks[entity].history;
    (history.vlag, history.queued, history.chosen) = (lag, false, false);
    tasks[entity].history.delayed = false;
    groups::count(tasks, cpu, entity, false, now);
}

/// A delayed task or group leaves its cpu: what it has fallen behind while it slept does not count
/// (`DELAY_ZERO`).
fn drop_delayed(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
    let lag = lag(params, tasks, cpu, id).min(0);
    if groups::number(cpu, id) > 0 {
        dequeue_group(tasks, cpu, id, lag, now);
    } else {
        tasks[id].history.vlag = lag;
        unlink(tasks, cpu, id);
        groups::count(tasks, cpu, id, false, now);
    }
    leave_groups(params, tasks, cpu, id, now);
}

/// All delayed tasks and groups leave a cpu that has no other task, in the order of their deadlines.
fn drop_all(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
    if cpu.rare.group_count > 0 {
        let level = Level { priority: tasks[cpu.rare.first_group].priority, group: 0 };
        while let Some(next) = pick_within(tasks, cpu, level) {
            drop_delayed(params, tasks, cpu, next, now);
        }
        return;
    }
    while let Some(first) = cpu.rare.delayed.some() {
        let level = Level::of(tasks, cpu, first);
        let average = average(tasks, cpu, level, TaskId::NONE);
        // Tasks that a policy has throttled wait in the same level and stay.
        let delayed = list(tasks, cpu.rare.delayed).filter(|id| Level::of(tasks, cpu, *id) == level);
        let mut pick = Pick::new(&average, None);
        for id in delayed {
            pick.consider(id, Contender::of(&tasks[id]));
        }
        let next = pick.result().unwrap_or(first);
        drop_delayed(params, tasks, cpu, next, now);
    }
}

/// Places a task that enters, and the groups around it that are not queued (`enqueue_task_fair`). A delayed
/// one wakes in its place unless it has fallen behind there (`requeue_delayed_entity`). The timer starts for
/// the current task unless it runs already (`hrtick_update`).
fn place(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, now: Time) {
    if cpu.rare.group_count > 0 {
        group_loads::arrive(tasks, cpu, id, now);
    }
    slices::follow(params.slice, tasks, cpu, id, true);
    let begins_anew = entry == Entry::Move && !params.rel_deadline;
    let (mut next, mut entry) = (Some(id), if begins_anew { Entry::Wake } else { entry });
    while let Some(inside) = next {
        let group = groups::number(cpu, inside) > 0;
        if tasks[inside].history.delayed {
            requeue(params, tasks, cpu, inside);
            break;
        }
        if tasks[inside].history.queued {
            break;
        }
        if group {
            reweigh(params, tasks, cpu, inside, now);
        }
        seat(params, tasks, cpu, inside, entry);
        if group {
            tasks[inside].history.queued = true;
        }
        groups::count(tasks, cpu, inside, true, now);
        next = groups::parent(tasks, cpu, inside);
        entry = Entry::Wake;
    }
    reweigh_around(params, tasks, cpu, id, now);
    if params.hrtick && cpu.current.some().is_some_and(|current| current != id) {
        cpu.rare.timed = true;
    }
}

/// A delayed task or group competes again; one that has fallen behind the average is placed there.
fn requeue(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let lag = lag(params, tasks, cpu, id);
    if groups::number(cpu, id) > 0 {
        tasks[id].history.delayed = false;
    } else {
        unlink(tasks, cpu, id);
    }
    if lag > 0 {
        tasks[id].history.vlag = 0;
        seat(params, tasks, cpu, id, Entry::Wake);
    }
}

/// A task of a cpu leaves its queue, changes and enters again with its lag and what is left of its request
/// (`sched_change_begin`, `sched_change_end`): a current one, and the groups around it, are protected anew, a
/// delayed one stays delayed.
fn anew(
    params: &EevdfParams,
    tasks: &mut Tasks,
    cpu: &mut Cpu,
    (id, change): (TaskId, Change<'_>),
    now: Time,
) {
    let (runs, delayed) = (cpu.current == id, tasks[id].history.delayed);
    if runs {
        groups::all(cpu).for_each(|group| tasks[group].history.chosen = false);
    }
    if delayed {
        let lag = lag(params, tasks, cpu, id);
        unlink(tasks, cpu, id);
        let task = &mut tasks[id];
        task.history.vlag = lag;
        task.history.vdeadline -= task.vruntime;
        groups::count(tasks, cpu, id, false, now);
        leave_groups(params, tasks, cpu, id, now);
    } else {
        leave(params, tasks, cpu, id, (LeaveReason::Moved, now));
        if !runs {
            remove(tasks, cpu, id);
        }
    }
    change(tasks, cpu);
    place(params, tasks, cpu, id, Entry::Move, now);
    if runs {
        picked(params, tasks, cpu, now);
    } else if delayed {
        delay(tasks, cpu, id);
    } else {
        insert_by(params, tasks, cpu, id);
    }
}

/// A task of a cpu changes its priority, with its lag, its deadline and its protection as they are relative
/// to itself. It must not be linked unless it is the current one.
fn change_priority(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, priority: u8) {
    tasks[id].history.vlag = lag(params, tasks, cpu, id);
    let task = &mut tasks[id];
    task.history.vdeadline -= task.vruntime;
    task.history.protection -= task.vruntime;
    task.priority = priority;
    seat(params, tasks, cpu, id, Entry::Move);
    tasks[id].history.protection += tasks[id].vruntime;
}

impl Rules for EevdfParams {
    fn check(&self, tick: Span) -> Result<(), String> {
        at_least_1us("slice", self.slice)?;
        if self.tick_jitter >= tick {
            return Err("ticks must be late by less than their period".into());
        }
        Ok(())
    }

    /// A task takes its lag along instead.
    fn has_relative_keys(&self) -> bool {
        false
    }

    fn reweighs(&self) -> bool {
        true
    }

    fn ticks(&self) -> Option<Ticks> {
        Some(Ticks { late: self.tick_jitter })
    }

    /// `entity_tick`: the groups around the current task get their weights, too.
    fn tick(&self, tasks: &mut Tasks, cpu: &mut Cpu, at: Time) {
        charge(self, tasks, cpu, at);
        if cpu.rare.group_count > 0
            && let Some(current) = cpu.current.some()
        {
            let mut next = groups::parent(tasks, cpu, current);
            while let Some(entity) = next {
                group_loads::tick(tasks, cpu, entity, at);
                reweigh(self, tasks, cpu, entity, at);
                next = groups::parent(tasks, cpu, entity);
            }
        }
    }

    #[inline]
    fn key(&self, task: &Task) -> i64 {
        task.history.vdeadline
    }

    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, now: Time) {
        place(self, tasks, cpu, id, entry, now);
    }

    fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        charge(self, tasks, cpu, now);
    }

    fn picked(&self, tasks: &mut Tasks, cpu: &mut Cpu, how: Picked) {
        if let Picked::Anew(now) = how {
            picked(self, tasks, cpu, now);
            if self.hrtick {
                // `set_next_task_fair`; one that is picked again goes on without it.
                cpu.rare.timed = contested(tasks, cpu);
            }
        }
    }

    /// With task groups each tick is processed in its time: it reads what is queued on other cpus. The timer
    /// of a request comes even if the rivals for which it was started have left.
    fn contested(&self, tasks: &Tasks, cpu: &Cpu) -> bool {
        cpu.rare.group_count > 0 || cpu.rare.timed || contested(tasks, cpu)
    }

    fn slice_end(&self, tasks: &Tasks, cpu: &Cpu, now: Time, _: impl Fn(Time) -> Time) -> Time {
        let tick = cpu.rare.next_tick;
        if !cpu.rare.timed {
            return tick;
        }
        let end = slices::request_end(tasks, cpu, Ticks { late: self.tick_jitter });
        tick.min(end.max(now + Span::from_ns(1)))
    }

    fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, _: Time) -> bool {
        preempts(self, tasks, cpu, id)
    }

    /// Where the timer that ends requests does not run, the cpu is interrupted to start it (`hrtick_update`).
    fn is_lazy(&self, _: &Tasks, cpu: &Cpu) -> bool {
        self.preemption == Preemption::Lazy && (!self.hrtick || cpu.rare.timed)
    }

    fn choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, _: Option<TaskId>, now: Time) -> Option<TaskId> {
        choose(self, tasks, cpu, now)
    }

    fn prefers(&self, tasks: &Tasks, cpu: &Cpu, target: TaskId, _: i64) -> bool {
        average_of(tasks, cpu, target).allows(tasks[target].vruntime)
    }

    fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, _: TaskId, now: Time) {
        yields(self, tasks, cpu, now);
    }

    fn leave(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, reason: LeaveReason, now: Time) {
        leave(self, tasks, cpu, id, (reason, now));
    }

    fn groups(&self) -> Option<&dyn Grouped> {
        Some(self)
    }

    fn requests(&self) -> Option<&dyn Requested> {
        Some(self)
    }
}

impl FastForward for EevdfParams {
    fn picks(&self) -> Picks {
        Picks::ByDeadline(Requests::of(self))
    }

    #[inline]
    fn move_origin(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        eevdf_polls::move_origin(self, tasks, cpu, id);
    }
}

impl Grouped for EevdfParams {
    fn end_delay(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        drop_delayed(self, tasks, cpu, id, now);
    }

    fn emptied(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
        drop_all(self, tasks, cpu, now);
    }

    fn change_priority(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, priority: u8) {
        change_priority(self, tasks, cpu, id, priority);
    }

    fn anew(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, change: Change<'_>, now: Time) {
        anew(self, tasks, cpu, (id, change), now);
    }

    /// `sched_group_set_shares`: the groups around it follow in turn.
    fn reshare(&self, tasks: &mut Tasks, cpu: &mut Cpu, group: u16, now: Time) {
        let entity = groups::on(cpu, group);
        reweigh(self, tasks, cpu, entity, now);
        reweigh_around(self, tasks, cpu, entity, now);
    }

    fn throttle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        throttle(self, tasks, cpu, id, now);
    }

    fn unthrottle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) {
        unthrottle(self, tasks, cpu, id, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_tasks_are_listed_by_deadline() {
        use crate::engine::state::ProcessId;
        use crate::ids::{AppId, CpuId};
        let (mut tasks, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
        for (id, deadline) in (0..).map(TaskId).zip([5, 3, 9]) {
            let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
            task.history.vdeadline = deadline;
            tasks.push(task);
            insert_by(&EevdfParams::scaled(1), &mut tasks, &mut cpu, id);
        }
        assert!(list(&tasks, cpu.head).eq([1, 0, 2].map(TaskId)));
    }
}
