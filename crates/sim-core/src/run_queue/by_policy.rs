//! Run queues in the order of a policy: key and slice of each task are those of its [`QueueEntry`].
//!
//! The engine asks the policy for the entry before a task goes into a queue (`engine::ordering`).

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::policy::{QueueEntry, THROTTLED};
use crate::run_queue::{Entry, FastForward, Picks, Rules, Tasks, best};
use crate::time::{Span, Time};

/// The policy orders the run queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ByPolicy;

/// What is kept of the last answer of the policy about a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PolicyEntry {
    slice: Span,
    preempts: bool,
    /// The priority level of a task that the policy holds; it is throttled for so long.
    held: Option<u8>,
}

impl PolicyEntry {
    /// Nothing yet.
    pub(crate) const NOTHING: Self = Self { slice: Span::MAX, preempts: false, held: None };
}

impl Task {
    /// The policy holds it.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.history.policy_entry.held.is_some()
    }

    /// The priority level that it has or, if the policy holds it, will have.
    #[inline]
    pub(crate) fn level(&self) -> u8 {
        self.history.policy_entry.held.unwrap_or(self.priority)
    }

    /// The policy lets it preempt, and it is not throttled.
    pub(crate) fn may_preempt(&self) -> bool {
        self.history.policy_entry.preempts && self.priority < THROTTLED
    }

    /// Changes the level that it will have once the policy no longer holds it.
    pub(crate) fn set_held_level(&mut self, level: u8) {
        debug_assert!(self.is_held(), "a task of level {} is not held", self.priority);
        self.history.policy_entry.held = Some(level);
    }

    /// Changes for how long it may run from the moment at which it was picked.
    pub(crate) fn set_entry_slice(&mut self, slice: Span) {
        self.history.policy_entry.slice = slice;
    }

    /// Takes over the answer of the policy. The task must not be queued; it may be running.
    pub(crate) fn set_entry(&mut self, entry: Option<QueueEntry>) {
        let level = self.level();
        let stored = &mut self.history.policy_entry;
        match entry {
            Some(QueueEntry { key, slice, preempts }) => {
                *stored = PolicyEntry { slice, preempts, held: None };
                self.vruntime = key;
                self.priority = level;
            }
            None => {
                stored.held = Some(level);
                self.vruntime = 0;
                self.priority = THROTTLED;
            }
        }
    }
}

impl Rules for ByPolicy {
    fn asks_policy(&self) -> bool {
        true
    }

    /// The key is that of the entry, and one that is moved keeps it.
    fn place(&self, _: &mut Tasks, _: &mut Cpu, _: TaskId, _: Entry, _: Time) {}

    /// Tasks may compete that the policy holds.
    fn contested(&self, _: &Tasks, _: &Cpu) -> bool {
        true
    }

    fn slice_end(&self, tasks: &Tasks, cpu: &Cpu, now: Time, next_tick: impl Fn(Time) -> Time) -> Time {
        let end = cpu.picked.saturating_add(tasks[cpu.current].history.policy_entry.slice);
        if end.is_never() { end } else { next_tick(end.max(now + Span::from_ns(1))) }
    }

    fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, _: Time) -> bool {
        tasks[id].history.policy_entry.preempts && tasks[id].vruntime < tasks[cpu.current].vruntime
    }

    /// The current task has come last of all with its key.
    fn choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, current: Option<TaskId>, _: Time) -> Option<TaskId> {
        best(tasks, cpu, current, |mine, theirs| mine.vruntime < theirs.vruntime)
    }

    fn prefers(&self, _: &Tasks, _: &Cpu, _: TaskId, _: i64) -> bool {
        true
    }

    /// The policy is asked for a new entry.
    fn yield_key(&self, _: &mut Tasks, _: &mut Cpu, _: TaskId, _: Time) {}
}

impl FastForward for ByPolicy {
    fn picks(&self) -> Picks {
        Picks::EachCycle
    }
}
