//! The list of waiting tasks of a cpu, threaded through the task records.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::policy::THROTTLED;
use crate::run_queue::{Average, Rules, Tasks};

/// Inserts a task behind all with the same key, or before them when it was pre-empted in its slice.
#[inline(always)]
pub(crate) fn insert_by(rules: &impl Rules, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let key = |task: &Task| (task.priority, rules.key(task));
    let mine = key(&tasks[id]);
    let front = tasks[id].history.written().is_some_and(|history| std::mem::take(&mut history.share.front));
    let goes_before = |other: &Task| key(other) > mine || (front && key(other) == mine);
    let after = place_between(tasks, cpu.head, cpu.tail, goes_before);
    let before = if after.is_none() { cpu.head } else { tasks[after].next };
    link(tasks, cpu, after, id);
    link(tasks, cpu, id, before);
    if let Some(sums) = sums(cpu) {
        sums.add(&tasks[id]);
    }
}

/// The sums of the waiting tasks of a cpu, where they are kept.
#[inline(always)]
fn sums(cpu: &mut Cpu) -> Option<&mut Average> {
    cpu.rare.written()?.waiting.as_mut()
}

/// The virtual runtimes of tasks in the list have changed.
pub(crate) fn sum_waiting(tasks: &Tasks, cpu: &mut Cpu) {
    let head = cpu.head;
    if let Some(sums) = sums(cpu) {
        *sums = Average::default();
        list(tasks, head).for_each(|id| sums.add(&tasks[id]));
    }
}

/// The last task of a list that does not go before a new one (`goes_before` tells which do); without any,
/// what stands before the list. PollsPerYield from both ends, because new tasks mostly come near one of them.
#[inline]
pub(crate) fn place_between(
    tasks: &Tasks,
    head: TaskId,
    tail: TaskId,
    goes_before: impl Fn(&Task) -> bool,
) -> TaskId {
    let (mut front, mut back) = (head, tail);
    while let Some(last) = back.some() {
        let task = &tasks[last];
        if !goes_before(task) {
            break;
        }
        let first = &tasks[front];
        if goes_before(first) {
            return first.previous;
        }
        (front, back) = (first.next, task.previous);
    }
    back
}

/// Lets one task follow another in the queue of a cpu; without a former it is the first, without a latter
/// that was the last.
#[inline]
pub(crate) fn link(tasks: &mut Tasks, cpu: &mut Cpu, former: TaskId, latter: TaskId) {
    match former.some() {
        Some(former) => tasks[former].next = latter,
        None => cpu.head = latter,
    }
    match latter.some() {
        Some(latter) => tasks[latter].previous = former,
        None => cpu.tail = former,
    }
}

/// Takes a task out of the list.
#[inline]
pub(crate) fn remove(tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let (previous, next) = (tasks[id].previous, tasks[id].next);
    link(tasks, cpu, previous, next);
    tasks[id].previous = TaskId::NONE;
    tasks[id].next = TaskId::NONE;
    if let Some(sums) = sums(cpu) {
        sums.subtract(&tasks[id]);
    }
}

/// The last task of a priority, if any.
#[inline]
pub(crate) fn last_of_priority(tasks: &Tasks, cpu: &Cpu, priority: u8) -> Option<TaskId> {
    let mut at = cpu.tail;
    while let Some(id) = at.some() {
        if tasks[id].priority <= priority {
            return (tasks[id].priority == priority).then_some(id);
        }
        at = tasks[id].previous;
    }
    None
}

/// True when a task waits that may run: the list has the throttled ones last.
#[inline]
pub(crate) fn anyone_waits(tasks: &Tasks, cpu: &Cpu) -> bool {
    cpu.head.some().is_some_and(|head| tasks[head].priority < THROTTLED)
}

/// True when a waiting task competes with the current one: it stands in the same or a lower priority.
#[inline]
pub(crate) fn contested(tasks: &Tasks, cpu: &Cpu) -> bool {
    match (cpu.head.some(), cpu.current.some()) {
        (Some(head), Some(current)) => tasks[head].priority <= tasks[current].priority,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// True when tasks that sleep compete in a priority level (EEVDF).
pub(crate) fn delayed_in(tasks: &Tasks, cpu: &Cpu, priority: u8) -> bool {
    list(tasks, cpu.rare.delayed).any(|id| tasks[id].priority == priority)
}

/// The tasks of a list linked by `next`.
pub(crate) fn list(tasks: &Tasks, first: TaskId) -> impl Iterator<Item = TaskId> {
    std::iter::successors(first.some(), |id| tasks[*id].next.some())
}
