//! The record of an application, and the ranks of its tasks at their barriers.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::state::{MaybeNode, Waiting};
use crate::histogram::Histogram;
use crate::ids::{AppId, NodeId, TaskId};
use crate::outcome::Counters;
use crate::policy::Affinity;
use crate::program::{Program, Runtime};
use crate::sync::{Barrier, Exchanges, Locks, SharedLoops};
use crate::time::{Span, Time};
use crate::wait::Scope;

/// A task's rank at one of the barriers of its application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BarrierRank {
    /// The index of the barrier.
    pub(crate) barrier: usize,
    /// Its rank there.
    pub(crate) number: u32,
    /// The task with rank 0, and the distance from each rank to the next.
    first: u32,
    step: u32,
}

impl BarrierRank {
    /// The task that has a rank.
    #[inline]
    pub(crate) const fn task(&self, number: u32) -> TaskId {
        TaskId(self.first + number * self.step)
    }
}

/// An application.
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) background: bool,
    /// Times to answer requests, if it answers any.
    pub(crate) responses: Option<Box<Histogram>>,
    pub(crate) runtime: Runtime,
    pub(crate) program: Arc<Program>,
    pub(crate) first: TaskId,
    pub(crate) tasks: u32,
    pub(crate) rank_scale: Vec<u32>,
    /// First index of its profiles in the run's table; the entry before it is its transfer profile.
    pub(crate) profiles: u32,
    /// From time zero or the end of `after` to its arrival.
    pub(crate) delay: Span,
    pub(crate) after: Option<AppId>,
    /// When it came, and when it was admitted.
    pub(crate) arrived: Time,
    pub(crate) begun: Time,
    /// When one of its tasks first had a cpu.
    pub(crate) first_run: Option<Time>,
    /// When the first task was past the start-up barrier.
    pub(crate) met: Option<Time>,
    /// When the program started its own clock.
    pub(crate) clock: Option<Time>,
    pub(crate) started: bool,
    /// Changes of the affinity masks: how long after the start, and to what.
    pub(crate) rebinds: Vec<(Span, Affinity)>,
    /// Key of its stream of fork costs.
    pub(crate) fork_noise: u64,
    /// Where its tasks' homes are ([`Pages::Team`](crate::program::Pages::Team)); none when that has changed.
    pub(crate) team_pages: MaybeNode,
    /// Pages that each rank has touched as it starts, by node, and until when page faults have the lock of
    /// each process; as long as needed.
    pub(crate) touched: Vec<BTreeMap<NodeId, u64>>,
    pub(crate) faults_until: Vec<Time>,
    pub(crate) forked: u32,
    pub(crate) exited: u32,
    /// Tasks in run queues and on cpus, and since when it is this number.
    pub(crate) runnable: (u32, Time),
    pub(crate) end: Option<Time>,
    pub(crate) counters: Counters,
    /// How its tasks poll before each yield ([`Task::polls`](super::Task::polls)): at barriers and locks, and
    /// for messages.
    pub(crate) looks: (u8, u8),
    /// Its waiters yield: always, never, or as the clock of its runtime has it now.
    pub(crate) yields: bool,
    /// Passes of outermost loops that rank 0 has ended.
    pub(crate) passes: u64,
    /// The barrier of all tasks; if the program has barriers of teams, also that of the leaders and of each
    /// team.
    pub(crate) barriers: Vec<Barrier>,
    /// Tasks of a process, at least 1.
    pub(crate) process: u32,
    /// Tasks of a team, at least 1.
    pub(crate) team: u32,
    pub(crate) loops: SharedLoops,
    pub(crate) exchanges: Exchanges,
    pub(crate) locks: Locks,
}

impl App {
    /// Its time in run queues and on cpus up to now that its counters do not contain yet, ns.
    #[inline]
    pub(crate) fn runnable_since(&self, now: Time) -> u64 {
        u64::from(self.runnable.0) * now.since(self.runnable.1).ns()
    }

    /// A task of it becomes runnable.
    #[inline]
    pub(crate) fn task_enters(&mut self, now: Time) {
        self.counters.runnable_ns += self.runnable_since(now);
        self.runnable = (self.runnable.0 + 1, now);
    }

    /// A task of it goes to sleep or ends.
    #[inline]
    pub(crate) fn task_leaves(&mut self, now: Time) {
        debug_assert!(self.runnable.0 > 0, "a task of {} leaves, and none is runnable", self.name);
        self.counters.runnable_ns += self.runnable_since(now);
        self.runnable = (self.runnable.0 - 1, now);
    }

    pub(crate) const fn task(&self, rank: u32) -> TaskId {
        TaskId(self.first.0 + rank)
    }

    /// How a task of it polls that waits for this ([`Task::polls`](super::Task::polls)).
    #[inline]
    pub(crate) fn polls(&self, waiting: Waiting) -> u8 {
        if !self.yields {
            0
        } else if waiting == Waiting::Exchange {
            self.looks.1
        } else {
            self.looks.0
        }
    }

    /// The rank of one of its tasks.
    #[inline]
    pub(crate) const fn rank(&self, task: TaskId) -> u32 {
        task.0 - self.first.0
    }

    /// The rank at the barrier of a scope of the task with this rank in the application.
    #[inline]
    pub(crate) const fn barrier_rank(&self, scope: Scope, rank: u32) -> BarrierRank {
        let (first, team) = (self.first.0, self.team);
        match scope {
            Scope::All => BarrierRank { barrier: 0, number: rank, first, step: 1 },
            Scope::Leaders => BarrierRank { barrier: 1, number: rank / team, first, step: team },
            Scope::Team => {
                let barrier = 2 + (rank / team) as usize;
                BarrierRank { barrier, number: rank % team, first: first + rank / team * team, step: 1 }
            }
        }
    }
}
