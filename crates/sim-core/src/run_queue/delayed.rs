//! The list of the tasks of a cpu that sleep and still compete there (`DELAY_DEQUEUE` of EEVDF), first come
//! first.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::{Tasks, list};

/// A task that is in no list becomes the last one of those whose dequeue is delayed.
pub(crate) fn delay(tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    tasks[id].history.delayed = true;
    let last = list(tasks, cpu.rare.delayed).last();
    tasks[id].next = TaskId::NONE;
    match last {
        Some(last) => tasks[last].next = id,
        None => cpu.rare.delayed = id,
    }
}

/// A delayed task leaves the list, and is not delayed any more.
pub(crate) fn unlink(tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let next = tasks[id].next;
    let before = list(tasks, cpu.rare.delayed).find(|before| tasks[*before].next == id);
    match before {
        Some(before) => tasks[before].next = next,
        None => cpu.rare.delayed = next,
    }
    tasks[id].next = TaskId::NONE;
    tasks[id].history.delayed = false;
}
