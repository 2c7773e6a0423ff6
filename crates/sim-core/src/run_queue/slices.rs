//! How long the requests of tasks and groups are: the slice of the kernel, or one of their own
//! (`sched_setattr`, 857b158dc5e8, Linux 6.12).

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::run_queue::cfs::weighted;
use crate::run_queue::eevdf_params::{EevdfParams, Protection};
use crate::run_queue::level::{Level, current, each_waiting};
use crate::run_queue::{Tasks, Ticks, groups};
use crate::time::{Span, Time};

/// The slice of a task or group; `base`: that of the kernel.
#[inline]
pub(crate) fn of(base: Span, task: &Task) -> Span {
    let own = task.history.slice;
    if own == Span::ZERO { base } else { own }
}

/// The shortest slice of those that compete in a level, the current one and delayed ones included
/// (`cfs_rq_min_slice`).
pub(crate) fn least(base: Span, tasks: &Tasks, cpu: &Cpu, level: Level, without: TaskId) -> Span {
    if !cpu.rare.own_slices {
        return base;
    }
    let mut least = Span::MAX;
    let mut consider = |id: TaskId, task: &Task| {
        if id != without {
            least = least.min(of(base, task));
        }
    };
    each_waiting(tasks, cpu, level, &mut consider);
    if let Some(current) = current(tasks, cpu, level) {
        consider(current, &tasks[current]);
    }
    least
}

/// A task or group enters or has left, perhaps still linked: the groups around it get the shortest slice of
/// what is queued in them.
pub(crate) fn follow(base: Span, tasks: &mut Tasks, cpu: &Cpu, id: TaskId, enters: bool) {
    if !cpu.rare.own_slices {
        return;
    }
    let (mut inside, mut entering, mut without) = (id, enters, id);
    while let Some(group) = groups::parent(tasks, cpu, inside) {
        let level = Level { priority: tasks[group].priority, group: groups::number(cpu, group) };
        let mut slice = least(base, tasks, cpu, level, without);
        if entering {
            slice = slice.min(of(base, &tasks[inside]));
        }
        if slice < Span::MAX {
            tasks[group].history.slice = slice;
        }
        (inside, entering, without) = (group, enters, TaskId::NONE);
    }
}

/// Up to what virtual runtime a task or group that is picked is protected (`set_protect_slice`).
pub(crate) fn protection(params: &EevdfParams, tasks: &Tasks, cpu: &Cpu, id: TaskId) -> i64 {
    let task = &tasks[id];
    let own = of(params.slice, task);
    let protected = match (params.protected, params.protection) {
        (Some(protected), _) => protected,
        (None, Protection::Deadline) => own,
        (None, Protection::MinSlice) => {
            least(params.slice, tasks, cpu, Level::of(tasks, cpu, id), TaskId::NONE)
        }
    };
    let deadline = task.history.vdeadline;
    if protected < own { deadline.min(task.vruntime + weighted(protected, task.weight)) } else { deadline }
}

/// When the timer comes that ends the request of the current task, as it was last charged
/// (`hrtick_start_fair`): as late as a tick.
pub(crate) fn request_end(tasks: &Tasks, cpu: &Cpu, ticks: Ticks) -> Time {
    let Some(task) = cpu.current.some().map(|id| &tasks[id]) else { return Time::NEVER };
    let left = task.history.vdeadline.saturating_sub(task.vruntime).max(0) as u128;
    // The inverse of `weighted`.
    let ns = (left * u128::from(task.weight)).div_ceil(1_024);
    let end = cpu.charged.saturating_add(Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX)));
    end.saturating_add(ticks.lateness(cpu.rare.tick_key, end.ns()))
}
