//! Fast-forward of polling: what happens on a cpu between two events while its current task polls and yields.
//!
//! A task that waits for a barrier without sleeping repeats a cycle: one poll of a flag, then `sched_yield`.
//! A poll may consist of many ([`crate::wait::PollsPerYield`]): a task that observes the flag at the end of
//! one of them does not yield. The discipline of the run queue decides whether the caller keeps the cpu or
//! the next task takes it. As long as only such tasks run, nothing on the cpu reaches another cpu, and no
//! event is needed per poll. [`Engine::predict`] computes when this ends: a task observes the end of its
//! wait, or a task that does not poll is picked. [`Engine::settle`] computes the state at an instant before
//! that. Both agree to the nanosecond with the simulation of each poll
//! ([`crate::outcome::Options::stepwise`]).
//!
//! A yield that puts its caller behind all others makes a round-robin cycle (`rotation`), whose state after
//! any number of dispatches follows from two passes over the queue. Everywhere else the tasks are read into
//! compact records, and the rules of the discipline act on these, dispatch by dispatch (`members`). Yields
//! after which the caller keeps the cpu are done at once. When the state recurs, whole periods are skipped. A
//! prediction is kept until it comes true (`prediction`), so that it is computed once.
//!
//! A cycle that neither covers is an event, as when each poll is simulated.

pub(crate) mod members;
pub(crate) mod prediction;
pub(crate) mod rotation;

use crate::engine::Engine;
use crate::engine::polling::members::READ_FIRST;
use crate::engine::state::{Activity, Task};
use crate::ids::{CpuId, TaskId};
use crate::policy::THROTTLED;
use crate::run_queue::{Picks, Tasks, groups};
use crate::time::{Span, Time};

pub(crate) use crate::engine::state::Look;

/// When a task will observe the end of its wait or of its spin limit.
#[inline]
pub(crate) fn visible_at(task: &Task) -> Time {
    task.visible
}

/// A task that polls and yields.
#[inline]
pub(crate) fn polls(task: &Task) -> bool {
    task.polls != 0
}

/// Whole cycles in a row that end strictly before `limit` when the first ends at `first`.
#[inline]
pub(crate) fn cycles_before(limit: Time, first: Time, cycle: Span) -> u64 {
    if limit.is_never() {
        u64::MAX
    } else if first >= limit {
        0
    } else {
        1 + (limit - first - Span::from_ns(1)).ns() / cycle.ns()
    }
}

/// Cycles in a row without success: polls before the visibility time when the first ends at `poll`.
#[inline]
pub(crate) fn polls_before(visible: Time, poll: Time, cycle: Span) -> u64 {
    if visible.is_never() { u64::MAX } else { visible.since(poll).ns().div_ceil(cycle.ns()) }
}

/// The current task of a cpu and those that wait for its priority level or a better one poll, and nothing
/// that they wait for is known to come. At most this number of tasks is read: false where they are more.
pub(crate) fn all_unaware(tasks: &Tasks, (current, head): (TaskId, TaskId), most: usize) -> bool {
    let unaware = |task: &Task| polls(task) && visible_at(task).is_never();
    let level = tasks[current].priority;
    if !unaware(&tasks[current]) {
        return false;
    }
    let mut at = head;
    for _ in 0..most {
        match at.some().map(|id| &tasks[id]).filter(|task| task.priority <= level) {
            None => return true,
            Some(task) if unaware(task) => at = task.next,
            Some(_) => return false,
        }
    }
    false
}

impl Engine<'_> {
    /// Brings a cpu whose current task polls up to date: every cycle that ended before now has happened, and
    /// one that ends now if the cpu has already decided at this instant.
    #[inline]
    pub(crate) fn settle(&mut self, cpu: CpuId) {
        let (shared, record) = (&mut self.shared, &mut self.cpus[cpu]);
        if record.activity != Activity::Poll || shared.stepwise {
            return;
        }
        let cycle = shared.cycle(&shared.tasks[record.current]);
        let first_end = record.since + record.overhead.total() + cycle;
        let limit = if shared.rounds.is_over(cpu) { shared.now + Span::from_ns(1) } else { shared.now };
        if first_end >= limit {
            return;
        }
        // It has yielded since.
        record.returns(false);
        if shared.in_rotation(record) {
            shared.rotate(record, limit);
        } else {
            self.predictions.settle(shared, record, limit);
        }
    }

    /// When polling on a cpu next causes something: a task observes the end of its wait, or one that does not
    /// poll is picked.
    #[inline]
    pub(crate) fn predict(&mut self, cpu: CpuId) -> Time {
        let (shared, record) = (&self.shared, &self.cpus[cpu]);
        let task = &shared.tasks[record.current];
        let (start, look) = (record.since + record.overhead.total(), shared.look(task));
        let poll = start + look.poll;
        if visible_at(task) <= poll {
            let due = look.sees(start, visible_at(task));
            self.predictions.of(cpu).forget();
            due
        } else if shared.stepwise {
            poll + shared.machine.costs.yield_call
        } else if shared.in_rotation(record) {
            shared.predict_rotation(record)
        } else {
            self.predict_copy(cpu)
        }
    }

    #[inline(never)]
    fn predict_copy(&mut self, cpu: CpuId) -> Time {
        let (shared, record) = (&self.shared, &self.cpus[cpu]);
        let prediction = self.predictions.of(cpu);
        prediction.forget();
        let level = shared.tasks[record.current].priority;
        let in_turns = matches!(shared.picks, Picks::InTurns(_) | Picks::EachCycle);
        if in_turns || level == THROTTLED || groups::delays(&shared.tasks, record, level) {
            // Members do not run in turns (`in_rotation` is false at the very start of a run and beside a
            // task of better priority), a pick may find no task, or drop delayed ones: each cycle is an
            // event.
            return record.since + record.overhead.total() + shared.cycle(&shared.tasks[record.current]);
        }
        let most = if matches!(shared.picks, Picks::ByKey(_)) { READ_FIRST } else { usize::MAX };
        if all_unaware(&shared.tasks, (record.current, record.head), most) {
            // What a group of limited cpu time has left comes to an end.
            let limited = groups::all(record).any(|id| shared.tasks[id].history.limited);
            if !limited {
                return Time::NEVER;
            }
        }
        prediction.predict(shared, record)
    }
}
