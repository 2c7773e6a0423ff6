//! The longest time for which a task with work to do waited for a cpu, in a run.

use sim_core::ids::TaskId;
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::time::{Span, Time};

/// What a task does, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Doing {
    /// It runs, sleeps, or has ended.
    #[default]
    Other,
    /// It waits for a cpu with work to do, since then.
    Waiting(Time),
    /// It only polls: its waits are not reported.
    Polling,
}

/// An observer that keeps the longest wait.
#[derive(Default)]
pub(crate) struct LongestWait {
    /// By task.
    tasks: Vec<Doing>,
    longest: Span,
}

impl LongestWait {
    /// The longest wait of a run that ended then; waits that still last count up to the end.
    pub(crate) fn at(&self, end: Time) -> Span {
        let lasting = self.tasks.iter().filter_map(|doing| match doing {
            Doing::Waiting(since) if *since < end => Some(end - *since),
            _ => None,
        });
        lasting.fold(self.longest, Span::max)
    }

    fn task(&mut self, task: TaskId) -> &mut Doing {
        let at = task.0 as usize;
        if self.tasks.len() <= at {
            self.tasks.resize(at + 1, Doing::Other);
        }
        &mut self.tasks[at]
    }
}

impl Observer for LongestWait {
    fn observe(&mut self, at: Time, what: &Observation) {
        match *what {
            Observation::Runnable { task, .. } => {
                let doing = self.task(task);
                if *doing == Doing::Other {
                    *doing = Doing::Waiting(at);
                }
            }
            Observation::Running { task, .. } => {
                let before = std::mem::take(self.task(task));
                if let Doing::Waiting(since) = before {
                    self.longest = self.longest.max(at - since);
                }
            }
            Observation::Stopping { task, reason, .. } => {
                *self.task(task) = match reason {
                    LeaveReason::Preempted => Doing::Waiting(at),
                    LeaveReason::Waits => Doing::Polling,
                    LeaveReason::Slept | LeaveReason::Exited | LeaveReason::Moved => Doing::Other,
                };
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use sim_core::ids::CpuId;

    use super::*;

    #[test]
    fn waits_with_work_count_and_polls_do_not() {
        let (at, cpu) = (|ms: u64| Time::from_ns(ms * 1_000_000), CpuId(0));
        let (one, other) = (TaskId(0), TaskId(3));
        let mut longest = LongestWait::default();
        longest.observe(at(0), &Observation::Runnable { task: one, cpu });
        longest.observe(at(2), &Observation::Running { task: one, cpu });
        longest.observe(at(3), &Observation::Stopping { task: one, cpu, reason: LeaveReason::Preempted });
        longest.observe(at(10), &Observation::Running { task: one, cpu });
        longest.observe(at(11), &Observation::Stopping { task: one, cpu, reason: LeaveReason::Waits });
        longest.observe(at(12), &Observation::Runnable { task: one, cpu });
        assert_eq!(longest.at(at(500)), Span::from_ns(7_000_000));
        longest.observe(at(490), &Observation::Runnable { task: other, cpu });
        assert_eq!(longest.at(at(500)), Span::from_ns(10_000_000));
    }
}
