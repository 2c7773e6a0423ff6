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
use crate::os::Limit;
use crate::policy::THROTTLED;
use crate::run_queue::real_time::is_of_class;
use crate::run_queue::{Rules, Tasks, groups, insert_by, list, remove};
use crate::time::{Span, Time};

/// The rules of limits that differ between releases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bandwidth {
    /// What a cpu keeps is lost when the next period begins (512ac999d275, Linux 4.18, to de53fd7aedb1, 5.4).
    /// Linux notices it at the next account on that cpu, up to a tick later.
    pub expires: bool,
    /// Pools may fill up beyond the quota ([`crate::os::Limit::burst`]; f4183717b370, Linux 5.14).
    pub burst: bool,
    /// All tasks of a group that is throttled leave the cpu at once (`throttle_cfs_rq`, to Linux 6.17),
    /// instead of each when it is picked and on its way to user mode (e1fad12dcb66, 6.18).
    pub at_once: bool,
}

impl Bandwidth {
    /// Those of today: no expiry, bursts, each task stops by itself.
    pub const ON_RETURN: Self = Self { expires: false, burst: true, at_once: false };

    /// Those of Linux 3.2: no expiry that takes effect, no bursts, the whole group stops.
    pub const FIRST: Self = Self { expires: false, burst: false, at_once: true };
}

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

/// A task of a throttled group no longer counts: it goes to the end of the list, unless it runs.
pub(super) fn set_aside(rules: &impl Rules, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let waits = cpu.current != id;
    if waits {
        remove(tasks, cpu, id);
    }
    tasks[id].priority = THROTTLED;
    if waits {
        insert_by(rules, tasks, cpu, id);
    }
    cpu.running -= 1;
    cpu.load -= u64::from(tasks[id].weight);
}

/// A throttled task counts again and may run; it is still to be placed.
pub(super) fn end_throttling(tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    // That of the groups around it.
    tasks[id].priority = tasks[cpu.rare.first_group].priority;
    cpu.running += 1;
    cpu.load += u64::from(tasks[id].weight);
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

/// A period begins: the pool of a group is full again, with what was left of it up to its burst.
pub(crate) fn fill(tasks: &mut Tasks, pool: TaskId, limit: Limit) {
    let left = &mut tasks[pool].history.runtime;
    *left = (*left + limit.quota.ns() as i64).min((limit.quota + limit.burst).ns() as i64);
}

/// What a group has left on a cpu is lost; true if there was something.
pub(crate) fn expire(tasks: &mut Tasks, entity: TaskId) -> bool {
    let left = &mut tasks[entity].history.runtime;
    let lost = *left > 0;
    *left = (*left).min(0);
    lost
}

/// The tasks of a cpu that are in a group, or in one inside it, and not throttled, in the order of the list.
pub(crate) fn members(tasks: &Tasks, cpu: &Cpu, entity: TaskId) -> Vec<TaskId> {
    let inside = |id: &TaskId| {
        tasks[*id].priority != THROTTLED && groups::chain(tasks, cpu, *id).any(|around| around == entity)
    };
    list(tasks, cpu.head).filter(inside).collect()
}

/// The outermost throttled group around a task.
pub(crate) fn throttled_around(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> Option<TaskId> {
    groups::chain(tasks, cpu, id).skip(1).filter(|group| tasks[*group].history.is_throttled()).last()
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
            && !is_of_class(&tasks[*id])
            && !groups::chain(tasks, cpu, *id).any(|around| tasks[around].history.is_throttled())
    };
    list(tasks, cpu.head).filter(may_run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::{Boxed, ProcessId, Task};
    use crate::ids::{AppId, CpuId};
    use crate::machine::PerCpu;
    use crate::os::TaskGroup;
    use crate::run_queue::eevdf_params::EevdfParams;

    #[test]
    fn the_tasks_of_the_outermost_throttled_group_are_found() {
        let (mut tasks, mut cpus) = (Tasks::default(), PerCpu::default());
        cpus.push(Cpu::new(CpuId(0)));
        for group in [0, 1, 2, 2] {
            let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
            task.history = Boxed::ready();
            task.history.group = group;
            tasks.push(task);
        }
        let group = |parent| TaskGroup { name: "group".into(), parent, weight: 1024, limit: None };
        groups::add(&mut tasks, &mut cpus, &[group(None), group(Some(0))]);
        let cpu = &mut cpus[CpuId(0)];
        (0..4).for_each(|id| insert_by(&EevdfParams::scaled(1), &mut tasks, cpu, TaskId(id)));
        let (outer, inner) = (groups::on(cpu, 0), groups::on(cpu, 1));
        assert_eq!(throttled_around(&tasks, cpu, TaskId(2)), None);
        tasks[inner].history.throttled_at = Time::ZERO;
        assert_eq!(throttled_around(&tasks, cpu, TaskId(2)), Some(inner));
        assert_eq!(members(&tasks, cpu, inner), [2, 3].map(TaskId));
        tasks[outer].history.throttled_at = Time::ZERO;
        assert_eq!(throttled_around(&tasks, cpu, TaskId(2)), Some(outer));
        assert_eq!(members(&tasks, cpu, outer), [1, 2, 3].map(TaskId));
        tasks[outer].history.runtime = 7;
        assert!(expire(&mut tasks, outer) && !expire(&mut tasks, outer));
    }
}
