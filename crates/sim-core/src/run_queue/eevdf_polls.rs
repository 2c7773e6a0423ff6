//! EEVDF where tasks poll and yield on the copy of a queue (`engine/polling`): a yield and the pick after it
//! in one pass, many yields at once, and how long a task group stays the pick. In a copy nothing is delayed.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::cfs::weighted;
use crate::run_queue::eligibility::{Average, Contender};
use crate::run_queue::level::{Level, average};
use crate::run_queue::{Tasks, groups};
use crate::time::{Span, Time};

/// The current task yields and the best one is picked, where there are no task groups. One pass over the
/// level is enough, because its average changes only by what the current task forfeits. The waiting tasks are
/// in the order of their deadlines, so that the first eligible one is the best. None, with nothing changed,
/// when a task of a better priority waits.
pub(crate) fn yield_and_pick(slice: Span, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) -> Option<TaskId> {
    debug_assert!(
        cpu.rare.group_count == 0 && cpu.rare.delayed.is_none(),
        "{} has task groups or delayed tasks",
        cpu.id
    );
    let current = cpu.current;
    let (priority, head) = (tasks[current].priority, cpu.head);
    let waiting = |tasks: &Tasks, id: TaskId| id.some().filter(|id| tasks[*id].priority == priority);
    if head.some().is_some_and(|head| tasks[head].priority < priority) {
        return None;
    }
    let mut average = Average::default();
    let mut next = head;
    while let Some(id) = waiting(tasks, next) {
        average.add(Contender::of(&tasks[id]));
        next = tasks[id].next;
    }
    let task = &mut tasks[current];
    let mut one = Contender::of(task);
    if now > cpu.charged {
        one.age(weighted(now - cpu.charged, task.weight), slice);
        cpu.charged = now;
    }
    let alone = average.load == 0;
    let before = average.with(one);
    if !alone && before.allows(one.vruntime) {
        one.forfeit(slice);
    }
    (task.vruntime, task.history.vdeadline) = (one.vruntime, one.vdeadline);
    let average = average.with(one);
    let eligible = average.allows(one.vruntime);
    if alone || (eligible && one.vruntime < task.history.protection) {
        return Some(current);
    }
    let mut next = head;
    while let Some(id) = waiting(tasks, next) {
        let task = &tasks[id];
        if average.allows(task.vruntime) {
            return Some(if eligible && one.vdeadline < task.history.vdeadline { current } else { id });
        }
        next = task.next;
    }
    Some(current)
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

/// For how many periods, in each of which its virtual runtime grows by `growth`, the group that was picked
/// last in its level stays the pick: as long as it is eligible and protected, and its request is not used up.
pub(crate) fn periods_kept(tasks: &Tasks, cpu: &Cpu, id: TaskId, growth: i64) -> u64 {
    let others = average(tasks, cpu, Level::of(tasks, cpu, id), id);
    let (one, protection) = (Contender::of(&tasks[id]), tasks[id].history.protection);
    let mut last = one.vdeadline - 1;
    if others.load > 0 {
        // It is not ahead of the mean of all as long as it is not ahead of that of the others.
        last = last.min(protection - 1).min(others.value());
    }
    (last - one.vruntime).max(0) as u64 / growth.max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::state::{ProcessId, Task};
    use crate::ids::{AppId, CpuId};

    #[test]
    fn the_pick_stays_while_it_is_protected_eligible_and_in_its_request() {
        let (mut tasks, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
        for (vruntime, vdeadline) in [(0, 100), (50, 200)] {
            let mut task = Task::new(AppId(0), 1024, ProcessId::NONE, 0);
            (task.vruntime, task.history.vdeadline) = (vruntime, vdeadline);
            tasks.push(task);
        }
        cpu.current = TaskId(0);
        tasks[cpu.current].history.protection = 31;
        let kept = |tasks: &Tasks, cpu: &Cpu| periods_kept(tasks, cpu, TaskId(0), 10);
        assert_eq!(kept(&tasks, &cpu), 9, "alone, the end of its request counts");
        cpu.head = TaskId(1);
        assert_eq!(kept(&tasks, &cpu), 3, "the protection ends first");
        tasks[cpu.current].history.protection = 100;
        assert_eq!(kept(&tasks, &cpu), 5, "the mean of the others comes first");
    }
}
