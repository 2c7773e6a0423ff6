//! The record of a task.

use crate::contention::ClassId;
use crate::engine::state::{Apart, Cpu, History, MaybeNode, NOWHERE, ProcessId};
use crate::ids::{AppId, CpuId, TaskId};
use crate::limits::MAX_LOOP_DEPTH;
use crate::policy::TaskState;
use crate::time::{Span, Time, Work};
use crate::wait::Scope;

/// What a waiting task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    /// Nothing: it does not wait.
    No,
    /// Its children in the gather phase of a tree barrier.
    Gather,
    /// The release of a barrier.
    Release,
    /// A round of a dissemination barrier.
    Round(u8),
    /// A neighbour's signal.
    Exchange,
    /// A lock.
    Lock,
}

/// How far a task's start-up is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// It has not got beyond creating others and touching its data.
    New,
    /// It waits at the start-up barrier.
    StartBarrier,
    /// It runs its program.
    Program,
}

/// A task. The order of the fields is that of their use: what one event touches lies together in memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Task {
    // Its position: all that the run queue and polling read, one line.
    /// The key of its queue: virtual runtime, or what the discipline orders by.
    pub(crate) vruntime: i64,
    /// When what it waits for is (or will be) visible to it.
    pub(crate) ready: Time,
    /// When it stops polling and sleeps.
    pub(crate) deadline: Time,
    pub(crate) last_ran: Time,
    pub(crate) cpu_time: Span,
    pub(crate) previous: TaskId,
    pub(crate) next: TaskId,
    pub(crate) cpu: CpuId,
    pub(crate) weight: u32,
    pub(crate) app: AppId,
    pub(crate) priority: u8,
    pub(crate) state: TaskState,
    /// It waits and yields: how it polls before each yield, an index into `Shared::looks`; 0 if it does not.
    pub(crate) polls: u8,
    /// EEVDF: it sleeps and still competes on its cpu.
    pub(crate) delayed: bool,
    // What it does and how it waits: what the end of a computation and an arrival need besides.
    /// Bytes fetched from memory, times [`crate::engine::caches::NS_PER_S`].
    pub(crate) fetched: u128,
    /// Work of the present compute operation still to do, at nominal speed.
    pub(crate) remaining: Work,
    /// When it arrived at the barrier it is at.
    pub(crate) arrived: Time,
    /// What had been brought into the caches of the cpu where it last computed by then.
    pub(crate) filled: u64,
    pub(crate) process: ProcessId,
    /// Position in the program.
    pub(crate) pc: u32,
    /// Profile of the running compute operation (index into the run's table).
    pub(crate) profile: u32,
    /// Where it last computed; [`NOWHERE`] at first.
    pub(crate) warm: CpuId,
    /// Episode of the barrier it is at or was at last, and who meets there.
    pub(crate) episode: u32,
    pub(crate) waiting: Waiting,
    pub(crate) scope: Scope,
    pub(crate) stage: Stage,
    // What the beginning of a computation needs besides.
    /// Work asked for so far, in raw units.
    pub(crate) asked: u128,
    /// What is left of a cache refill that was interrupted.
    pub(crate) refill: Span,
    /// Key and position of its stream of work variation.
    pub(crate) noise: u64,
    pub(crate) draws: u32,
    /// Where its pages are, once they have been touched.
    pub(crate) home: MaybeNode,
    /// The contention class it last computed in.
    pub(crate) class: ClassId,
    /// Passes left of the loops around `pc`, and their number.
    pub(crate) loops: [u32; MAX_LOOP_DEPTH],
    pub(crate) depth: u8,
    /// The policy is notified of its wait, or will be.
    pub(crate) notified: bool,
    // What seldom matters.
    /// Barrier episodes of the scopes it is not in.
    pub(crate) elsewhere: [u32; Scope::COUNT],
    /// Blocks read of the present transfer.
    pub(crate) block: u32,
    /// Where the policy wants the pages that the task touches first.
    pub(crate) assigned_node: MaybeNode,
    pub(crate) entered: u64,
    /// When it last woke from sleep for a time, if it has worked since; else `NEVER`.
    pub(crate) woken: Time,
    /// EEVDF: end of its present request in virtual time; relative to `vruntime` while it is between two
    /// queues.
    pub(crate) vdeadline: i64,
    pub(crate) history: Apart<History>,
}

impl Task {
    /// A task that does not exist yet.
    pub(crate) const fn new(app: AppId, weight: u32, process: ProcessId, noise: u64) -> Self {
        Self {
            vruntime: 0,
            ready: Time::NEVER,
            deadline: Time::NEVER,
            last_ran: Time::ZERO,
            cpu_time: Span::ZERO,
            previous: TaskId::NONE,
            next: TaskId::NONE,
            cpu: CpuId(0),
            weight,
            process,
            priority: 0,
            state: TaskState::New,
            polls: 0,
            delayed: false,
            fetched: 0,
            remaining: Work::ZERO,
            arrived: Time::ZERO,
            filled: 0,
            app,
            pc: 0,
            profile: 0,
            warm: NOWHERE,
            episode: 0,
            waiting: Waiting::No,
            scope: Scope::All,
            stage: Stage::New,
            asked: 0,
            refill: Span::ZERO,
            noise,
            draws: 0,
            home: MaybeNode::NONE,
            class: ClassId::FREE,
            loops: [0; MAX_LOOP_DEPTH],
            depth: 0,
            notified: false,
            elsewhere: [0; Scope::COUNT],
            block: 0,
            assigned_node: MaybeNode::NONE,
            entered: 0,
            woken: Time::NEVER,
            vdeadline: 0,
            history: Apart::NONE,
        }
    }

    /// It comes to a barrier of these.
    #[inline]
    pub(crate) const fn enters(&mut self, scope: Scope) {
        if scope as u8 != self.scope as u8 {
            self.elsewhere[self.scope as usize] = self.episode;
            self.episode = self.elsewhere[scope as usize];
            self.scope = scope;
        }
    }

    /// It leaves the caches of this cpu as they are now.
    #[inline]
    pub(crate) const fn keep(&mut self, record: &Cpu) {
        self.warm = record.id;
        self.filled = record.filled;
    }

    /// Work done so far, in raw units: all that was asked for but what remains.
    #[inline]
    pub(crate) fn done(&self) -> u128 {
        self.asked - u128::from(self.remaining.raw())
    }
}
