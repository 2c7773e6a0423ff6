//! EEVDF where tasks poll and yield: virtual times that yields move on without bound, and many yields at once
//! of a task that is alone.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::cfs::weighted;
use crate::run_queue::eevdf::EevdfParams;
use crate::run_queue::eligibility::Contender;
use crate::run_queue::level::{Level, current, each_waiting};
use crate::run_queue::{FAR_KEY, Tasks, groups, insert_by, list, remove};
use crate::time::Span;

/// Each yield may move the virtual runtime of its caller on by a request. Before the numbers exceed 64 bits,
/// the same one is subtracted from all virtual times of the caller's level: true when it was. Linux lets them
/// wrap around.
#[inline]
pub(crate) fn move_origin(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) -> bool {
    let far = tasks[id].vruntime >= FAR_KEY;
    if far {
        subtract_origin(params, tasks, cpu, id);
    }
    far
}

#[cold]
#[inline(never)]
fn subtract_origin(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let (level, origin) = (Level::of(tasks, cpu, id), tasks[id].vruntime);
    let queued: Vec<TaskId> =
        list(tasks, cpu.head).filter(|id| Level::of(tasks, cpu, *id) == level).collect();
    let mut all = Vec::new();
    each_waiting(tasks, cpu, level, |id, _| all.push(id));
    all.extend(current(tasks, cpu, level));
    // The list has one order for all levels.
    queued.iter().for_each(|id| remove(tasks, cpu, *id));
    for id in all {
        let task = &mut tasks[id];
        // How long ago its protection ended does not matter.
        task.history.protection = task.history.protection.max(task.vruntime) - origin;
        task.history.vdeadline -= origin;
        task.vruntime -= origin;
    }
    queued.iter().for_each(|id| insert_by(params, tasks, cpu, *id));
}

/// The current task has yielded and does so `more` times, every `cycle`. No task waits, so no request is
/// forfeited.
pub(crate) fn yield_again(slice: Span, tasks: &mut Tasks, cpu: &Cpu, cycle: Span, more: u64) {
    let mut next = cpu.current.some();
    while let Some(id) = next {
        let task = &mut tasks[id];
        let mut one = Contender::of(task);
        one.age_often(weighted(cycle, task.weight), more as i64, slice);
        (task.vruntime, task.history.vdeadline) = (one.vruntime, one.vdeadline);
        next = groups::parent(tasks, cpu, id);
    }
}
