//! A watchdog: who has work does not wait in a queue for ever, and a barrier at which all have arrived lets
//! everybody go.

use std::collections::{BTreeMap, BTreeSet};

use sim_core::ids::TaskId;
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::program::AppSpec;
use sim_core::time::{Span, Time};
use sim_core::wait::Scope;

use crate::invariants::Scopes;

/// Rounds of signals that a barrier of up to 16 tasks takes (dissemination): in each, who is to signal may
/// have to queue first.
const ROUNDS: u64 = 4;

/// Measures how long tasks with work wait for a cpu, and how long tasks stay at a barrier after the last one
/// has arrived. A task that polls shows itself only when it goes on, so of its waits only those at barriers
/// are seen.
#[derive(Default)]
pub struct Watchdog {
    scopes: Scopes,
    /// Tasks that wait for a cpu with work to do, since when.
    waiting: BTreeMap<TaskId, Time>,
    /// Tasks that only poll.
    polling: BTreeSet<TaskId>,
    /// The last arrival, by scope, first task of those who meet, and episode.
    arrivals: BTreeMap<(Scope, u32, u32), Time>,
    /// The longest wait in a queue.
    queue: (Span, Option<TaskId>),
    /// The longest stay at a complete barrier.
    barrier: (Span, Option<TaskId>),
}

impl Watchdog {
    /// A watchdog over the tasks of these applications.
    #[must_use]
    pub fn new(apps: &[AppSpec]) -> Self {
        Self { scopes: Scopes::new(apps), ..Self::default() }
    }

    fn served(&mut self, at: Time, task: TaskId) {
        if let Some(since) = self.waiting.remove(&task) {
            self.queue = self.queue.max((at - since, Some(task)));
        }
    }

    /// Who waited for a cpu for longer than `limit`, or at a complete barrier for that long in each of its
    /// rounds, in words; waits for a cpu that still last at `end` count.
    #[must_use]
    pub fn over(mut self, limit: Span, end: Time) -> Option<String> {
        for task in self.waiting.keys().copied().collect::<Vec<_>>() {
            self.served(end, task);
        }
        let ((queue, waiter), (barrier, meeter)) = (self.queue, self.barrier);
        if queue > limit {
            Some(format!("{waiter:?} waits for a cpu for {queue:?}"))
        } else if barrier > Span::from_ns(limit.ns().saturating_mul(ROUNDS)) {
            Some(format!("{meeter:?} stays at a complete barrier for {barrier:?}"))
        } else {
            None
        }
    }
}

impl Observer for Watchdog {
    fn observe(&mut self, at: Time, what: &Observation) {
        match *what {
            Observation::Runnable { task, .. } if !self.polling.contains(&task) => {
                self.waiting.entry(task).or_insert(at);
            }
            Observation::Running { task, .. } => {
                self.polling.remove(&task);
                self.served(at, task);
            }
            Observation::Stopping { task, reason, .. } => {
                self.polling.remove(&task);
                match reason {
                    LeaveReason::Preempted => drop(self.waiting.insert(task, at)),
                    LeaveReason::Waits => drop(self.polling.insert(task)),
                    LeaveReason::Slept | LeaveReason::Exited | LeaveReason::Moved => {}
                }
            }
            Observation::Arrived { task, scope, episode } => {
                let (first, _) = self.scopes.of(task, scope);
                self.arrivals.insert((scope, first, episode), at);
            }
            Observation::Released { task, scope, episode } => {
                let (first, _) = self.scopes.of(task, scope);
                let last = self.arrivals.get(&(scope, first, episode)).copied().unwrap_or(at);
                self.barrier = self.barrier.max((at - last, Some(task)));
            }
            _ => {}
        }
    }
}
