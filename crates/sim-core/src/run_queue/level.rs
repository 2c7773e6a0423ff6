//! Levels of EEVDF: those that compete with each other on a cpu, and their average.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::run_queue::eligibility::Average;
use crate::run_queue::{Tasks, groups};

/// The entities that compete with each other on a cpu: tasks of a priority level, or members of a task group.
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
/// groups last.
#[inline]
pub(crate) fn each_waiting(tasks: &Tasks, cpu: &Cpu, level: Level, mut found: impl FnMut(TaskId, &Task)) {
    each_listed(tasks, cpu, level, cpu.head, &mut found);
    each_unordered(tasks, cpu, level, found);
}

/// Calls `found` for the delayed tasks and the groups of a level that wait.
#[inline]
fn each_unordered(tasks: &Tasks, cpu: &Cpu, level: Level, mut found: impl FnMut(TaskId, &Task)) {
    each_listed(tasks, cpu, level, cpu.rare.delayed, &mut found);
    for id in groups::all(cpu) {
        let task = &tasks[id];
        if task.history.queued && !task.history.chosen && Level::of(tasks, cpu, id) == level {
            found(id, task);
        }
    }
}

/// Calls `found` for the tasks of a list in a level. No chained iterators: they take more instructions
/// (docs/performance.md).
#[inline(always)]
fn each_listed(tasks: &Tasks, cpu: &Cpu, level: Level, first: TaskId, found: &mut impl FnMut(TaskId, &Task)) {
    let mut next = first;
    while let Some(id) = next.some() {
        let task = &tasks[id];
        if Level::of(tasks, cpu, id) == level {
            found(id, task);
        }
        next = task.next;
    }
}

/// As [`each_waiting`] for a search: the list is in the order of deadlines, and its part of the level ends
/// where `found` returns true. Delayed tasks and groups have no order, so all of them follow.
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
    each_unordered(tasks, cpu, level, |id, task| {
        found(id, task);
    });
}

/// What was picked last in a level of a cpu: the current task, or a group in which it is or was.
pub(crate) fn current(tasks: &Tasks, cpu: &Cpu, level: Level) -> Option<TaskId> {
    let here = |id: &TaskId| Level::of(tasks, cpu, *id) == level;
    let chosen = |id: &TaskId| tasks[*id].history.queued && tasks[*id].history.chosen;
    cpu.current.some().filter(here).or_else(|| groups::all(cpu).find(|id| chosen(id) && here(id)))
}

/// The average of a level of a cpu without one task or group, which must not be in the list.
pub(crate) fn average(tasks: &Tasks, cpu: &Cpu, level: Level, without: TaskId) -> Average {
    let kept = listed(tasks, cpu, level);
    let mut average = kept.unwrap_or_default();
    let mut add = |id: TaskId, task: &Task| {
        if id != without {
            average.add(task);
        }
    };
    if kept.is_none() {
        each_listed(tasks, cpu, level, cpu.head, &mut add);
    }
    each_unordered(tasks, cpu, level, add);
    if let Some(current) = current(tasks, cpu, level).filter(|id| *id != without) {
        average.add(&tasks[current]);
    }
    average
}

/// The sums of the waiting tasks, where they are kept and all tasks of the list are in this level.
#[inline]
fn listed(tasks: &Tasks, cpu: &Cpu, level: Level) -> Option<Average> {
    let here = |id: TaskId| id.is_none() || tasks[id].priority == level.priority;
    let kept = cpu.rare.waiting.filter(|_| here(cpu.head) && here(cpu.tail));
    if cfg!(debug_assertions)
        && let Some(kept) = kept
    {
        let mut sums = Average::default();
        each_listed(tasks, cpu, level, cpu.head, &mut |_, task| sums.add(task));
        assert_eq!(kept, sums, "the sums of the tasks that wait on {}", cpu.id);
    }
    kept
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

/// `value` x `by` / `over`, rounded towards 0.
pub(crate) fn scaled(value: i64, by: i64, over: i64) -> i64 {
    match value.checked_mul(by) {
        // 64-bit division is faster.
        Some(product) => product / over,
        None => (i128::from(value) * i128::from(by) / i128::from(over)) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::ProcessId;
    use crate::ids::{AppId, CpuId};
    use crate::rng;
    use crate::run_queue::eevdf_params::EevdfParams;
    use crate::run_queue::{insert_by, remove, sum_waiting};

    #[test]
    fn the_sums_follow_what_enters_leaves_and_changes() {
        let (mut tasks, mut cpu, params) = (Tasks::default(), Cpu::new(CpuId(0)), EevdfParams::scaled(1));
        cpu.rare.waiting = Some(Average::default());
        let (mut state, mut inside) = (1, [false; 9]);
        let mut draw = |bound: u64| (u64::from(rng::next(&mut state)) * bound) >> 32;
        for _ in 0..9 {
            let mut task = Task::new(AppId(0), [15, 1_024, 3_121][draw(3) as usize], ProcessId::NONE, 0);
            task.priority = draw(2) as u8;
            tasks.push(task);
        }
        for _ in 0..2_000 {
            let id = TaskId(draw(9) as u32);
            let queued = &mut inside[id.0 as usize];
            if std::mem::replace(queued, !*queued) {
                remove(&mut tasks, &mut cpu, id);
            } else {
                (tasks[id].vruntime, tasks[id].history.vdeadline) = (draw(99) as i64 - 50, draw(99) as i64);
                insert_by(&params, &mut tasks, &mut cpu, id);
            }
            if let Some(head) = cpu.head.some().filter(|_| draw(5) == 0) {
                tasks[head].vruntime += 7;
                sum_waiting(&tasks, &mut cpu);
            }
            for priority in [0, 1] {
                let level = Level { priority, group: 0 };
                let mut sums = Average::default();
                each_waiting(&tasks, &cpu, level, |_, task| sums.add(task));
                assert_eq!(average(&tasks, &cpu, level, TaskId::NONE), sums);
            }
        }
    }
}
