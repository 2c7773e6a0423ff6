//! The run queue of a cpu: an ordered list of waiting tasks threaded through the task records, and the disciplines
//! that decide its order.
//!
//! Order: band, then virtual runtime (under EEVDF: virtual deadline), then first come. Round robin is the same list with
//! arrival numbers for keys.

pub(crate) mod cfs;
pub(crate) mod eevdf;
pub(crate) mod round_robin;

use crate::ids::{IdVec, TaskId};
use crate::kernel::state::{Cpu, Task};
use crate::kernel_model::{Discipline, YieldMode};
use crate::observe::LeaveReason;
use crate::time::{Span, Time};

pub(crate) type Tasks = IdVec<TaskId, Task>;

/// How a task comes into a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    Fork,
    Wake,
    Move,
}

/// Inserts a task behind all with the same key.
pub(crate) fn insert(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let by_deadline = matches!(discipline, Discipline::Eevdf(_));
    let key = |t: &Task| (t.band, if by_deadline { t.vdeadline } else { t.vruntime });
    let mine = key(&tasks[id]);
    let mut after = cpu.tail;
    while !after.is_none() && key(&tasks[after]) > mine {
        after = tasks[after].previous;
    }
    let before = if after.is_none() { cpu.head } else { tasks[after].next };
    tasks[id].previous = after;
    tasks[id].next = before;
    if after.is_none() {
        cpu.head = id;
    } else {
        tasks[after].next = id;
    }
    if before.is_none() {
        cpu.tail = id;
    } else {
        tasks[before].previous = id;
    }
}

/// Takes a task out of the list.
pub(crate) fn remove(tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let (previous, next) = (tasks[id].previous, tasks[id].next);
    if previous.is_none() {
        cpu.head = next;
    } else {
        tasks[previous].next = next;
    }
    if next.is_none() {
        cpu.tail = previous;
    } else {
        tasks[next].previous = previous;
    }
    tasks[id].previous = TaskId::NONE;
    tasks[id].next = TaskId::NONE;
}

/// The last task of a band, if any.
pub(crate) fn last_of_band(tasks: &Tasks, cpu: &Cpu, band: u8) -> Option<TaskId> {
    let mut at = cpu.tail;
    while let Some(id) = at.some() {
        if tasks[id].band <= band {
            return (tasks[id].band == band).then_some(id);
        }
        at = tasks[id].previous;
    }
    None
}

/// True when a waiting task competes with the current one: it stands in the same or a lower band.
pub(crate) fn contested(tasks: &Tasks, cpu: &Cpu) -> bool {
    match (cpu.head.some(), cpu.current.some()) {
        (Some(head), Some(current)) => tasks[head].band <= tasks[current].band,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Charges the current task for the time since it was last charged, and moves the queue's minimum on.
pub(crate) fn charge(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
    let Some(current) = cpu.current.some() else { return };
    if let Discipline::Eevdf(params) = discipline {
        eevdf::charge(params, tasks, cpu, now);
    }
    if let Discipline::Cfs(_) = discipline {
        if now > cpu.charged {
            let task = &mut tasks[current];
            task.vruntime += cfs::weighted(now - cpu.charged, task.weight);
        }
        cfs::advance_minimum(tasks, cpu);
    }
    cpu.charged = cpu.charged.max(now);
}

/// When the current task's slice ends if nothing changes; never before `now` + 1 ns.
pub(crate) fn slice_end(
    discipline: &Discipline,
    tasks: &Tasks,
    cpu: &Cpu,
    now: Time,
    next_tick: impl Fn(Time) -> Time,
) -> Time {
    let Some(current) = cpu.current.some() else { return Time::NEVER };
    if let Discipline::Eevdf(_) = discipline {
        return if eevdf::contested(tasks, cpu) { cpu.next_tick } else { Time::NEVER };
    }
    if !contested(tasks, cpu) {
        return Time::NEVER;
    }
    let soonest = now + Span::from_ns(1);
    match discipline {
        Discipline::Cfs(params) => {
            let slice = cfs::slice(params, cpu.running, tasks[current].weight, cpu.load);
            next_tick((cpu.picked + slice + Span::from_ns(1)).max(soonest))
        }
        Discipline::RoundRobin { quantum } => (cpu.picked + *quantum).max(soonest),
        Discipline::Eevdf(_) => Time::NEVER,
    }
}

/// Sets the key of a task that enters the queue. Its vruntime must already be relative to this queue.
pub(crate) fn place(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry) {
    match discipline {
        Discipline::Cfs(params) => cfs::place(params, tasks, cpu, id, entry),
        Discipline::RoundRobin { .. } => tasks[id].vruntime = round_robin::behind_all(tasks, cpu, id),
        Discipline::Eevdf(params) => eevdf::place(params, tasks, cpu, id, entry),
    }
}

/// True when a task that has just entered takes the cpu from the current one.
pub(crate) fn preempts(discipline: &Discipline, tasks: &Tasks, cpu: &mut Cpu, id: TaskId) -> bool {
    let Some(current) = cpu.current.some() else { return true };
    let (mine, theirs) = (tasks[id].band, tasks[current].band);
    if mine != theirs {
        return mine < theirs;
    }
    match discipline {
        Discipline::Cfs(params) => cfs::preempts(params, tasks, cpu, id),
        Discipline::RoundRobin { .. } => false,
        Discipline::Eevdf(_) => eevdf::preempts(tasks, cpu, id),
    }
}

/// Who runs next: the current task when it may stay (`stays`) and wins, else the best waiting one.
pub(crate) fn choose(
    discipline: &Discipline,
    tasks: &mut Tasks,
    cpu: &mut Cpu,
    stays: bool,
) -> Option<TaskId> {
    if let Discipline::Eevdf(params) = discipline {
        return eevdf::choose(params, tasks, cpu);
    }
    let current = cpu.current.some().filter(|_| stays);
    let Some(head) = cpu.head.some() else { return current };
    let mut best = head;
    if let Some(current) = current {
        // Put back, the current task goes behind its equals; under round robin behind everybody.
        let key = |id: TaskId| (tasks[id].band, tasks[id].vruntime);
        let wins = match discipline {
            Discipline::Cfs(_) => key(current) < key(head),
            Discipline::RoundRobin { .. } | Discipline::Eevdf(_) => tasks[current].band < tasks[head].band,
        };
        if wins {
            best = current;
        }
    }
    if let Discipline::Cfs(params) = discipline {
        for buddy in [cpu.next_buddy, cpu.last_buddy] {
            let Some(buddy) = buddy.some() else { continue };
            let able = Some(buddy) == current || buddy != cpu.current;
            let gap = tasks[buddy].vruntime - tasks[best].vruntime;
            if able && tasks[buddy].band == tasks[best].band && gap <= params.wakeup_granularity.ns() as i64 {
                return Some(buddy);
            }
        }
    }
    Some(best)
}

/// Gives the current task its key for going back into the queue after a pre-emption.
pub(crate) fn put_back_key(discipline: &Discipline, tasks: &mut Tasks, cpu: &Cpu, id: TaskId) {
    if let Discipline::RoundRobin { .. } = discipline {
        tasks[id].vruntime = round_robin::behind_all(tasks, cpu, id);
    }
}

/// Gives the current task its key after a `sched_yield` that ends now.
pub(crate) fn yield_key(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
    let Some(current) = cpu.current.some() else { return };
    match discipline {
        Discipline::Cfs(params) => {
            if params.yield_mode == YieldMode::Posix
                && let Some(last) = last_of_band(tasks, cpu, tasks[current].band)
            {
                tasks[current].vruntime = tasks[current].vruntime.max(tasks[last].vruntime + 1);
            }
            charge(discipline, tasks, cpu, now);
        }
        Discipline::RoundRobin { .. } => {
            tasks[current].vruntime = round_robin::behind_all(tasks, cpu, current);
        }
        Discipline::Eevdf(params) => eevdf::yields(params, tasks, cpu, now),
    }
}

/// The current task of a cpu has been picked in place of another one.
pub(crate) fn picked(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {
    if let Discipline::Eevdf(params) = discipline {
        eevdf::picked(params, tasks, cpu, now);
    }
}

/// A task is about to leave the queue or the cpu it is on.
pub(crate) fn leave(
    discipline: &Discipline,
    tasks: &mut Tasks,
    cpu: &mut Cpu,
    id: TaskId,
    reason: LeaveReason,
) {
    if let Discipline::Eevdf(params) = discipline {
        eevdf::leave(params, tasks, cpu, id, reason);
    }
}

/// Whether a timer tick is a reason to pick again whatever it finds; under EEVDF it finds out itself.
pub(crate) fn picks_at_tick(discipline: &Discipline) -> bool {
    !matches!(discipline, Discipline::Eevdf(_))
}

/// A task that is not in a list, but may be the current one, changes its band.
pub(crate) fn change_band(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, band: u8) {
    match discipline {
        Discipline::Eevdf(params) => eevdf::change_band(params, tasks, cpu, id, band),
        Discipline::Cfs(_) | Discipline::RoundRobin { .. } => tasks[id].band = band,
    }
}

/// A cpu has no runnable task any more: nothing competes with nobody.
pub(crate) fn emptied(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu) {
    if let Discipline::Eevdf(params) = discipline {
        eevdf::drop_all(params, tasks, cpu);
    }
}
