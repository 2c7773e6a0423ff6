//! What records keep small: parts that few runs write, and ids that may be missing.

use crate::ids::{NodeId, TaskId};
use crate::limits::MAX_LOOP_DEPTH;
use crate::program::Scheduling;
use crate::run_queue::by_policy::PolicyEntry;
use crate::run_queue::cbs::Cbs;
use crate::run_queue::cfs::Waker;
use crate::run_queue::cfs_groups::Queue;
use crate::run_queue::group_loads::Loads;
use crate::run_queue::multilevel::Share;
use crate::time::{Span, Time};
use crate::wait::Scope;

/// What a few disciplines, programs and runtimes know of a task besides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct History {
    /// Its slice and history, where the discipline has priorities.
    pub(crate) share: Share,
    /// The task that forked it, if one did, where parent and child share.
    pub(crate) parent: TaskId,
    /// EEVDF: how far it was behind (positive) or ahead of the average when it left its queue.
    pub(crate) vlag: i64,
    /// EEVDF: end of its present request in virtual time; relative to its virtual runtime while it is between
    /// two queues.
    pub(crate) vdeadline: i64,
    /// EEVDF: it sleeps and still competes on its cpu.
    pub(crate) delayed: bool,
    /// EEVDF: as long as its virtual runtime is below this, no task but an ineligible current task gives way.
    pub(crate) protection: i64,
    /// It goes to sleep as soon as it has a cpu and computes ([`crate::command::Act::Pause`]).
    pub(crate) pauses: bool,
    /// How often it wakes others (2.6.30).
    pub(crate) waker: Waker,
    /// Its slice, and its level while it is held, under a policy that orders the queues.
    pub(crate) policy_entry: PolicyEntry,
    /// EEVDF: its scheduling policy.
    pub(crate) scheduling: Scheduling,
    /// EEVDF: its own slice; 0: that of the kernel. Of a group: the shortest of what is queued in it.
    pub(crate) slice: Span,
    /// `SCHED_DEADLINE`: what it has left.
    pub(crate) cbs: Cbs,
    /// Its task group, from 1; 0: it is in none. That of a group is the group around it.
    pub(crate) group: u16,
    /// Of a group on a cpu: one of its tasks is queued there, or it is delayed itself.
    pub(crate) queued: bool,
    /// Of a group on a cpu: it was picked last in its queue.
    pub(crate) chosen: bool,
    /// Of a group on a cpu: sum of the weights that are queued in it.
    pub(crate) load: u64,
    /// CFS with task groups: the queue of a group on a cpu, and when it was picked.
    pub(crate) queue: Queue,
    /// Its load averages, where there are task groups.
    pub(crate) loads: Loads,
    /// Of a group: its cpu time is limited ([`crate::run_queue::bandwidth`]).
    pub(crate) limited: bool,
    /// What a limited group has left, on a cpu or in its pool, ns; below zero its overrun.
    pub(crate) runtime: i64,
    /// Of a group on a cpu: since when it is throttled; `NEVER` if it is not.
    pub(crate) throttled_at: Time,
    /// When its present request came: when it last woke from sleep for a time, the instant of a clock, or
    /// that of a unit of an event. `NEVER` if it has none.
    pub(crate) woken: Time,
    /// At a barrier: what is left of an interrupted cache refill ([`crate::engine::state::Task::arrive`]).
    pub(crate) refill: Span,
    /// How often the work that it has asked for has exceeded 64 bits.
    pub(crate) asked_carried: u32,
    /// Who meets at the barrier it is at or was at last, and its episodes of the other barriers.
    pub(crate) scope: Scope,
    pub(crate) elsewhere: [u32; Scope::COUNT],
    /// Passes left of the loops around the innermost one.
    pub(crate) outer: [u32; MAX_LOOP_DEPTH - 1],
    /// Blocks read of the present transfer.
    pub(crate) block: u32,
    /// Where the policy wants the pages that the task touches first.
    pub(crate) assigned_node: MaybeNode,
    /// Of a task that waits for a lock.
    pub(crate) lock: LockWaiter,
    /// Whether it has begun to wait for an event before it comes to do so.
    pub(crate) armed: Armed,
}

/// How far a wait is that began before the operation that waits ([`crate::program::Op::Arm`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Armed {
    /// There is none.
    No,
    /// It is in the queue of the event.
    Queued,
    /// It has got its unit.
    Granted,
}

/// A task that waits for a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LockWaiter {
    /// Since when it waits.
    pub(crate) since: Time,
    /// When it stops polling in order to sleep.
    pub(crate) deadline: Time,
    /// It has announced that it sleeps.
    pub(crate) announced: bool,
    /// It is among the pollers of the lock.
    pub(crate) listed: bool,
    /// It has been in the kernel to sleep, and has not polled since.
    pub(crate) slept: bool,
}

impl LockWaiter {
    const NONE: Self =
        Self { since: Time::ZERO, deadline: Time::NEVER, announced: false, listed: false, slept: false };
}

impl History {
    pub(crate) const fn is_throttled(&self) -> bool {
        !self.throttled_at.is_never()
    }
}

impl Unwritten for History {
    const NOTHING: &'static Self = &Self {
        share: Share::NONE,
        parent: TaskId::NONE,
        vlag: 0,
        vdeadline: 0,
        delayed: false,
        pauses: false,
        protection: 0,
        waker: Waker::NONE,
        policy_entry: PolicyEntry::NOTHING,
        scheduling: Scheduling::Other,
        slice: Span::ZERO,
        cbs: Cbs::NEW,
        group: 0,
        queued: false,
        chosen: false,
        load: 0,
        queue: Queue::EMPTY,
        loads: Loads::NONE,
        limited: false,
        runtime: 0,
        throttled_at: Time::NEVER,
        woken: Time::NEVER,
        refill: Span::ZERO,
        asked_carried: 0,
        scope: Scope::All,
        elsewhere: [0; Scope::COUNT],
        outer: [0; MAX_LOOP_DEPTH - 1],
        block: 0,
        assigned_node: MaybeNode::NONE,
        lock: LockWaiter::NONE,
        armed: Armed::No,
    };
}

/// A value that reads as a constant until it is written.
pub(crate) trait Unwritten: Copy + 'static {
    const NOTHING: &'static Self;
}

/// A part of a record that most runs never write, kept apart from it.
#[derive(Clone, Debug)]
pub(crate) struct Boxed<T>(Option<Box<T>>);

impl<T: Unwritten> Boxed<T> {
    pub(crate) const NONE: Self = Self(None);

    /// One that is going to be written.
    pub(crate) fn ready() -> Self {
        Self(Some(Box::new(*T::NOTHING)))
    }

    /// The value, if it has been written.
    #[inline]
    pub(crate) fn written(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Unwritten> std::ops::Deref for Boxed<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::NOTHING)
    }
}

impl<T: Unwritten> std::ops::DerefMut for Boxed<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_with(|| Box::new(*T::NOTHING))
    }
}

/// A node of the machine, or none, in four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MaybeNode(u32);

impl MaybeNode {
    pub(crate) const NONE: Self = Self(u32::MAX);

    #[inline]
    pub(crate) const fn at(node: NodeId) -> Self {
        Self(node.0)
    }

    #[inline]
    pub(crate) const fn node(self) -> Option<NodeId> {
        if self.0 == u32::MAX { None } else { Some(NodeId(self.0)) }
    }
}
