//! EEVDF where tasks poll and yield: virtual times that yields move on without bound.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::eevdf_params::EevdfParams;
use crate::run_queue::level::{Level, current, each_waiting};
use crate::run_queue::{FAR_KEY, Tasks, insert_by, list, remove};

/// Each yield may move the virtual runtime of its caller on by a request. Before the numbers exceed 64 bits,
/// the same one is subtracted from all virtual times of the caller's level. Linux lets them wrap around.
#[inline]
pub(crate) fn move_origin(params: &EevdfParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    if tasks[id].vruntime >= FAR_KEY {
        subtract_origin(params, tasks, cpu, id);
    }
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
