//! Levels of EEVDF: those that compete with each other on a cpu, and their average.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::run_queue::eligibility::Average;
use crate::run_queue::{Tasks, groups};

/// Those that compete with each other on a cpu: tasks of a priority, or what is in a task group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Level {
    pub(crate) priority: u8,
    pub(crate) group: u16,
}

impl Level {
    #[inline]
    pub(crate) fn of(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> Self {
        Self { priority: tasks[id].priority, group: groups::of(tasks, cpu, id) }
    }
}

/// Calls `found` for the tasks and groups of a level that wait on a cpu, the delayed tasks and then the
/// groups last. Two loops: chained iterators take more instructions (docs/performance/history.md).
#[inline]
pub(crate) fn each_waiting(tasks: &Tasks, cpu: &Cpu, level: Level, mut found: impl FnMut(TaskId, &Task)) {
    for first in [cpu.head, cpu.rare.delayed] {
        let mut next = first;
        while let Some(id) = next.some() {
            let task = &tasks[id];
            if Level::of(tasks, cpu, id) == level {
                found(id, task);
            }
            next = task.next;
        }
    }
    for id in groups::all(cpu) {
        let task = &tasks[id];
        if task.history.queued && !task.history.chosen && Level::of(tasks, cpu, id) == level {
            found(id, task);
        }
    }
}

/// As [`each_waiting`] for a search: the list is in the order of deadlines, and its part of the level ends
/// where
/// `found` returns true. Delayed tasks and groups have no order, so all of them follow.
#[inline]
pub(crate) fn earliest_waiting(
    tasks: &Tasks,
    cpu: &Cpu,
    level: Level,
    mut found: impl FnMut(TaskId, &Task) -> bool,
) {
    let mut next = cpu.head;
    while let Some(id) = next.some().filter(|id| tasks[*id].priority <= level.priority) {
        let task = &tasks[id];
        if Level::of(tasks, cpu, id) == level && found(id, task) {
            break;
        }
        next = task.next;
    }
    let mut next = cpu.rare.delayed;
    while let Some(id) = next.some() {
        if Level::of(tasks, cpu, id) == level {
            found(id, &tasks[id]);
        }
        next = tasks[id].next;
    }
    for id in groups::all(cpu) {
        let task = &tasks[id];
        if task.history.queued && !task.history.chosen && Level::of(tasks, cpu, id) == level {
            found(id, task);
        }
    }
}

/// What was picked last in a level of a cpu: the current task, or a group in which it is or was.
pub(crate) fn current(tasks: &Tasks, cpu: &Cpu, level: Level) -> Option<TaskId> {
    let here = |id: &TaskId| Level::of(tasks, cpu, *id) == level;
    let chosen = |id: &TaskId| tasks[*id].history.queued && tasks[*id].history.chosen;
    cpu.current.some().filter(here).or_else(|| groups::all(cpu).find(|id| chosen(id) && here(id)))
}

/// The average of a level of a cpu without one task or group.
pub(crate) fn average(tasks: &Tasks, cpu: &Cpu, level: Level, without: TaskId) -> Average {
    let mut average = Average::default();
    each_waiting(tasks, cpu, level, |id, task| {
        if id != without {
            average.add_task(task);
        }
    });
    if let Some(current) = current(tasks, cpu, level).filter(|id| *id != without) {
        average.add_task(&tasks[current]);
    }
    average
}

/// The average of the level of a task or group.
pub(crate) fn average_of(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> Average {
    average(tasks, cpu, Level::of(tasks, cpu, id), TaskId::NONE)
}

/// True when another one competes in the level of a task or group.
pub(crate) fn has_rivals(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> bool {
    let mut rivals = false;
    earliest_waiting(tasks, cpu, Level::of(tasks, cpu, id), |_, _| {
        rivals = true;
        true
    });
    rivals
}
