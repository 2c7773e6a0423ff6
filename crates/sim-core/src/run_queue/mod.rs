//! The run queue of a cpu: an ordered list of waiting tasks threaded through the task records, and the disciplines
//! that decide its order.
//!
//! Order: priority, then virtual runtime (under EEVDF: virtual deadline), then first come. Round robin is the same list with
//! arrival numbers for keys; the disciplines with priorities ([`multilevel`]) have keys of their own.

pub(crate) mod cfs;
pub(crate) mod eevdf;
pub(crate) mod multilevel;
pub(crate) mod o1;
pub(crate) mod round_robin;
pub(crate) mod ts;
pub(crate) mod ule;

use crate::engine::state::{Cpu, Task};
use crate::ids::{IdVec, TaskId};
use crate::observe::LeaveReason;
use crate::os::{CfsRelease, Discipline, YieldMode};
use crate::policy::THROTTLED;
use crate::time::{Span, Time};
use multilevel::{Multilevel, Setting};

pub(crate) type Tasks = IdVec<TaskId, Task>;

/// How a task comes into a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    Fork,
    Wake,
    Move,
}

/// Inserts a task behind all with the same key, or before them when it was pre-empted in its slice.
#[inline]
pub(crate) fn insert(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
    let by_deadline = matches!(discipline, Discipline::Eevdf(_));
    let key = |t: &Task| (t.priority, if by_deadline { t.vdeadline } else { t.vruntime });
    let mine = key(&tasks[id]);
    let front = tasks[id].history.written().is_some_and(|history| std::mem::take(&mut history.share.front));
    let goes_before = |other: &Task| key(other) > mine || (front && key(other) == mine);
    let after = place_between(tasks, cpu.head, cpu.tail, goes_before);
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

/// The last task of a list that does not go before a new one (`goes_before` tells which do); without any, what stands before
/// the list. Looks from both ends, because new tasks mostly come near one of them.
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

/// Takes a task out of the list.
#[inline]
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
        advance_minimum(discipline, tasks, cpu);
    } else if let Some(multilevel) = Multilevel::of(discipline) {
        let setting = setting(&multilevel, tasks, cpu);
        let Task { history, vruntime, weight, .. } = &mut tasks[current];
        multilevel.run(&setting, *weight, vruntime, &mut history.share, now.since(cpu.charged));
    }
    cpu.charged = cpu.charged.max(now);
}

/// Where the current task of a cpu runs.
pub(crate) fn setting(multilevel: &Multilevel, tasks: &Tasks, cpu: &Cpu) -> Setting {
    Setting {
        base: cpu.min_vruntime,
        running: cpu.running,
        contested: contested(tasks, cpu),
        from: cpu.charged,
        starving: match multilevel {
            Multilevel::O1(params) => o1::starving(params, cpu),
            Multilevel::Ule(_) | Multilevel::Ts(_) => Time::NEVER,
        },
    }
}

/// The queue's minimum after a change, where there is one.
#[inline]
pub(crate) fn advance_minimum(discipline: &Discipline, tasks: &Tasks, cpu: &mut Cpu) {
    if let Discipline::Cfs(params) = discipline {
        cfs::advance_minimum(params, tasks, cpu);
    }
}

/// A task has been picked. O(1): when it stood in the expired array, the arrays change places. CFS of 2.6.27: the
/// minimum follows the leftmost of those that wait now.
#[inline]
pub(crate) fn note_pick(discipline: &Discipline, tasks: &Tasks, cpu: &mut Cpu) {
    match discipline {
        Discipline::O1(_) => {
            let array = o1::array_of(tasks[cpu.current].vruntime);
            if array > cpu.min_vruntime {
                cpu.min_vruntime = array;
                cpu.expired_since = Time::NEVER;
            }
        }
        Discipline::Cfs(params) if params.release == CfsRelease::V27 => {
            cfs::advance_minimum(params, tasks, cpu);
        }
        _ => {}
    }
}

/// The kernel is about to pick again while the current task could continue: after its slice (`over`) or because of another.
pub(crate) fn interrupted(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu, now: Time, over: bool) {
    let Some(current) = cpu.current.some() else { return };
    if let Discipline::Cfs(params) = discipline {
        if over && params.release == CfsRelease::V30 {
            cfs::forget(cpu, current);
        }
    } else if Multilevel::of(discipline).is_some() {
        let task = &mut tasks[current];
        let expired = std::mem::replace(&mut task.history.share.expired, false);
        task.history.share.front = !expired;
        if expired && task.vruntime >= cpu.min_vruntime + o1::ARRAY && matches!(discipline, Discipline::O1(_))
        {
            cpu.expired_since = cpu.expired_since.min(now);
        }
    }
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
        Discipline::O1(_) | Discipline::Ule(_) | Discipline::Ts(_) => {
            let task = &tasks[current];
            let room =
                Multilevel::of(discipline).filter(|_| !task.history.share.expired).map_or(0, |multilevel| {
                    multilevel.room(&task.history.share, task.vruntime, task.weight, cpu.running)
                });
            next_tick((cpu.charged + Span::from_ns(room)).max(soonest))
        }
    }
}

/// Sets the key of a task that enters the queue. Its vruntime must already be relative to this queue.
pub(crate) fn place(
    discipline: &Discipline,
    tasks: &mut Tasks,
    cpu: &mut Cpu,
    id: TaskId,
    how: (Entry, Time),
) {
    match discipline {
        Discipline::Cfs(params) => cfs::place(params, tasks, cpu, id, how.0),
        Discipline::RoundRobin { .. } => tasks[id].vruntime = round_robin::behind_all(tasks, cpu, id),
        Discipline::Eevdf(params) => eevdf::place(params, tasks, cpu, id, how.0),
        Discipline::O1(_) | Discipline::Ule(_) | Discipline::Ts(_) => {
            multilevel::place(discipline, tasks, cpu, id, how);
        }
    }
}

/// True when a task that has just entered takes the cpu from the current one.
pub(crate) fn preempts(discipline: &Discipline, tasks: &Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool {
    if tasks[id].priority == THROTTLED {
        return false;
    }
    let Some(current) = cpu.current.some() else { return true };
    let (mine, theirs) = (tasks[id].priority, tasks[current].priority);
    if mine != theirs {
        return mine < theirs;
    }
    match discipline {
        Discipline::Cfs(params) => cfs::preempts(params, tasks, cpu, id, now),
        Discipline::RoundRobin { .. } => false,
        Discipline::Eevdf(_) => eevdf::preempts(tasks, cpu, id),
        Discipline::O1(_) | Discipline::Ts(_) => tasks[id].vruntime < tasks[current].vruntime,
        Discipline::Ule(_) => !ule::is_batch(tasks[id].vruntime) && ule::is_batch(tasks[current].vruntime),
    }
}

/// Who runs next: the current task when it may stay (`stays`) and wins, else the best waiting one. No task who is throttled.
pub(crate) fn choose(
    discipline: &Discipline,
    tasks: &mut Tasks,
    cpu: &mut Cpu,
    stays: bool,
    now: Time,
) -> Option<TaskId> {
    if let Discipline::Eevdf(params) = discipline {
        return eevdf::choose(params, tasks, cpu);
    }
    let current = cpu.current.some().filter(|id| stays && tasks[*id].priority < THROTTLED);
    let Some(head) = cpu.head.some().filter(|id| tasks[*id].priority < THROTTLED) else { return current };
    let mut best = head;
    if let Some(current) = current {
        // Put back, the current task goes behind its equals; under round robin behind every task.
        let key = |id: TaskId| (tasks[id].priority, tasks[id].vruntime);
        let wins = match discipline {
            Discipline::RoundRobin { .. } => tasks[current].priority < tasks[head].priority,
            _ => {
                key(current) < key(head) || (tasks[current].history.share.front && key(current) == key(head))
            }
        };
        if wins {
            best = current;
        }
    }
    if let Discipline::Cfs(params) = discipline {
        best = cfs::buddy(params, tasks, cpu, (current, best), now).unwrap_or(best);
    }
    Some(best)
}

/// True when a waiting task that another task yielded to is picked instead of the best one: as the next buddy of CFS and EEVDF
/// is; elsewhere it stands first among its equals.
pub(crate) fn prefers(
    discipline: &Discipline,
    tasks: &Tasks,
    cpu: &Cpu,
    yield_target: TaskId,
    stays: bool,
) -> bool {
    let Some(head) = cpu.head.some() else { return false };
    let current = cpu.current.some().filter(|_| stays);
    let priority =
        current.map_or(tasks[head].priority, |current| tasks[current].priority.min(tasks[head].priority));
    if tasks[yield_target].priority != priority || priority == THROTTLED {
        return false;
    }
    let rival = current.filter(|current| tasks[*current].priority == priority);
    let best = [rival, Some(head).filter(|head| tasks[*head].priority == priority)];
    let least = best.into_iter().flatten().map(|id| tasks[id].vruntime).min();
    let gap = tasks[yield_target].vruntime - least.unwrap_or(tasks[yield_target].vruntime);
    match discipline {
        // `wakeup_preempt_entity`.
        Discipline::Cfs(params) => gap <= params.wakeup_granularity.ns() as i64,
        Discipline::Eevdf(_) => eevdf::eligible(tasks, cpu, yield_target),
        Discipline::RoundRobin { .. } => true,
        Discipline::O1(_) | Discipline::Ule(_) | Discipline::Ts(_) => gap == 0,
    }
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
                && let Some(last) = last_of_priority(tasks, cpu, tasks[current].priority)
            {
                tasks[current].vruntime = tasks[current].vruntime.max(tasks[last].vruntime + 1);
            }
            charge(discipline, tasks, cpu, now);
            if params.release == CfsRelease::V27 && cpu.head.is_none() {
                cpu.min_vruntime = cpu.min_vruntime.max(tasks[current].vruntime);
            }
        }
        Discipline::RoundRobin { .. } => {
            tasks[current].vruntime = round_robin::behind_all(tasks, cpu, current);
        }
        Discipline::Eevdf(params) => eevdf::yields(params, tasks, cpu, now),
        Discipline::O1(_) | Discipline::Ule(_) | Discipline::Ts(_) => {
            charge(discipline, tasks, cpu, now);
            let task = &mut tasks[current];
            if let Some(multilevel) = Multilevel::of(discipline) {
                task.vruntime = multilevel.yielded(cpu.min_vruntime, task.vruntime, 1);
            }
            task.history.share.expired = false;
            task.history.share.front = false;
        }
    }
}

/// The current task of a cpu has been picked in place of another one.
#[inline]
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
#[inline]
pub(crate) fn picks_at_tick(discipline: &Discipline) -> bool {
    !matches!(discipline, Discipline::Eevdf(_))
}

/// A task that is not in a list, but may be the current one, changes its priority.
pub(crate) fn change_band(
    discipline: &Discipline,
    tasks: &mut Tasks,
    cpu: &mut Cpu,
    id: TaskId,
    priority: u8,
) {
    match discipline {
        Discipline::Eevdf(params) => eevdf::change_band(params, tasks, cpu, id, priority),
        _ => tasks[id].priority = priority,
    }
}

/// A cpu has no runnable task any more: nothing competes with no task.
pub(crate) fn emptied(discipline: &Discipline, tasks: &mut Tasks, cpu: &mut Cpu) {
    if let Discipline::Eevdf(params) = discipline {
        eevdf::drop_all(params, tasks, cpu);
    }
}
