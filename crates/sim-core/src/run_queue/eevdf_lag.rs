//! The lag of a task or group under EEVDF, and its place by it.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::run_queue::cfs::weighted;
use crate::run_queue::eevdf_params::EevdfParams;
use crate::run_queue::eligibility::{Average, Contender};
use crate::run_queue::level::{Level, average, scaled};
use crate::run_queue::{Entry, Tasks, slices};

/// How far a task or group of a cpu, linked there or not, lies behind the average, within bounds
/// (`entity_lag`).
pub(super) fn lag(params: &EevdfParams, tasks: &Tasks, cpu: &Cpu, id: TaskId) -> i64 {
    let others = average(tasks, cpu, Level::of(tasks, cpu, id), id);
    lag_in(params, &others.with(Contender::of(&tasks[id])), &tasks[id])
}

/// How far a task or group lies behind the average of its level, itself included.
pub(super) fn lag_in(params: &EevdfParams, average: &Average, task: &Task) -> i64 {
    let limit = weighted((slices::of(params.slice, task) * 2).max(params.tick), task.weight);
    (average.value() - task.vruntime).clamp(-limit, limit)
}

/// Places a task or group (`place_entity`): by its lag around the average of the others, scaled so that it
/// has that lag once it is in.
pub(super) fn seat(params: &EevdfParams, tasks: &mut Tasks, cpu: &Cpu, id: TaskId, entry: Entry) {
    let others = average(tasks, cpu, Level::of(tasks, cpu, id), id);
    seat_among(params, &others, &mut tasks[id], entry);
}

/// The same; `others`: the average of the level without it.
pub(super) fn seat_among(params: &EevdfParams, others: &Average, task: &mut Task, entry: Entry) {
    let lag = if params.place_lag && others.load > 0 {
        scaled(task.history.vlag, others.load + i64::from(task.weight), others.load)
    } else {
        0
    };
    task.vruntime = others.value() - lag;
    let slice = weighted(slices::of(params.slice, task), task.weight);
    task.history.vdeadline = match entry {
        Entry::Fork if params.half_first_request => task.vruntime + slice / 2,
        Entry::Fork | Entry::Wake => task.vruntime + slice,
        Entry::Move => task.vruntime + task.history.vdeadline,
    };
}
