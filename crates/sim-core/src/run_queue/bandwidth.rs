//! Limits of the cpu time of task groups (`cpu.max`; CFS bandwidth control, kernel/sched/fair.c of Linux
//! 6.18).
//!
//! A limited group has a pool that each period fills up to the quota. On each cpu the group takes cpu time
//! out of the pool in parts of 5 ms and uses it up; it may overrun them by up to a tick.
//! Where the pool is empty it is throttled: each of its tasks leaves the queue as soon as it is picked, and
//! enters again, as if it woke, when a period has given the group time on this cpu. The record of a throttled
//! task stays at the end of the list, where it does not count.
//!
//! Deviations: what a cpu gives back to the pool reaches throttled cpus at the next period (Linux looks after
//! 5 ms); a throttled task leaves without the switch to it that lets it return to user mode.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::policy::THROTTLED;
use crate::run_queue::{Tasks, groups, list};
use crate::time::{Span, Time};

/// What a cpu takes out of the pool at a time (`sched_cfs_bandwidth_slice_us`).
const PART_NS: i64 = 5_000_000;
/// What a cpu without tasks of the group keeps (`min_cfs_rq_runtime`).
const KEPT_NS: i64 = 1_000_000;

/// A group has run on a cpu: true when it is throttled, or nothing is left for it there or in the pool.
pub(super) fn use_up(tasks: &mut Tasks, cpu: &Cpu, entity: TaskId, span: Span) -> bool {
    if !tasks[entity].history.limited {
        return false;
    }
    tasks[entity].history.runtime -= span.ns() as i64;
    tasks[entity].history.is_throttled() || !has_time(tasks, cpu, entity, PART_NS)
}

/// True when a group has time on a cpu, or takes it out of the pool up to `target`.
fn has_time(tasks: &mut Tasks, cpu: &Cpu, entity: TaskId, target: i64) -> bool {
    tasks[entity].history.runtime > 0 || take(tasks, (groups::whole(cpu, entity), entity), target)
}

/// A cpu takes time out of a pool, up to `target`; true when it has some then.
fn take(tasks: &mut Tasks, (pool, entity): (TaskId, TaskId), target: i64) -> bool {
    let there = tasks[pool].history.runtime;
    let part = (target - tasks[entity].history.runtime).min(there.max(0));
    tasks[pool].history.runtime -= part;
    tasks[entity].history.runtime += part;
    tasks[entity].history.runtime > 0
}

/// A group has no task on a cpu any more: what it does not need there goes back into the pool.
pub(super) fn give_back(tasks: &mut Tasks, cpu: &Cpu, entity: TaskId) {
    let spare = tasks[entity].history.runtime - KEPT_NS;
    if tasks[entity].history.limited && spare > 0 {
        tasks[entity].history.runtime -= spare;
        tasks[groups::whole(cpu, entity)].history.runtime += spare;
    }
}

/// True when a task that is picked must not run: a group around it is throttled, or has no time and is
/// throttled now.
pub(crate) fn stops(tasks: &mut Tasks, cpu: &Cpu, id: TaskId, now: Time) -> bool {
    let mut stopped = false;
    let mut next = groups::parent(tasks, cpu, id);
    while let Some(entity) = next {
        let history = &tasks[entity].history;
        if history.limited && !history.is_throttled() && !has_time(tasks, cpu, entity, 1) {
            tasks[entity].history.throttled_at = now;
        }
        stopped |= tasks[entity].history.is_throttled();
        next = groups::parent(tasks, cpu, entity);
    }
    stopped
}

/// A period begins: the pool of a group is full again.
pub(crate) fn fill(tasks: &mut Tasks, pool: TaskId, quota: Span) {
    let left = &mut tasks[pool].history.runtime;
    *left = (*left + quota.ns() as i64).min(quota.ns() as i64);
}

/// A throttled group gets its overrun on a cpu and 1 ns: true when it may run there again.
pub(crate) fn pay(tasks: &mut Tasks, pool: TaskId, entity: TaskId) -> bool {
    let may_run = take(tasks, (pool, entity), 1);
    if may_run {
        tasks[entity].history.throttled_at = Time::NEVER;
    }
    may_run
}

/// The throttled tasks of a cpu around which no group is throttled any more, in the order of the list.
pub(crate) fn released(tasks: &Tasks, cpu: &Cpu) -> Vec<TaskId> {
    let may_run = |id: &TaskId| {
        tasks[*id].priority == THROTTLED
            && !groups::chain(tasks, cpu, *id).any(|around| tasks[around].history.is_throttled())
    };
    list(tasks, cpu.head).filter(may_run).collect()
}
