//! Policies that order the run queues, in the manner of sched_ext: textbook schedulers and one with a queue
//! per cache.

mod bursts;
mod edf;
mod fifo;
mod fixed;
mod guaranteed;
mod lottery;
mod mlfq;
mod per_cpu;
mod queue;
mod rusty;
mod shortest;
mod stride;
#[cfg(test)]
mod tests;
mod vtime;

pub(crate) use edf::ENTRY as EDF;
pub(crate) use fifo::ENTRY as FIFO;
pub(crate) use fixed::ENTRY as FP;
pub(crate) use guaranteed::ENTRY as GUARANTEED;
pub(crate) use lottery::ENTRY as LOTTERY;
pub(crate) use mlfq::ENTRY as MLFQ;
pub(crate) use rusty::ENTRY as RUSTY;
pub(crate) use shortest::{SJF, SRTF};
pub(crate) use stride::ENTRY as STRIDE;
pub(crate) use vtime::ENTRY as VTIME;

use sim_core::ids::{Id, TaskId};
use sim_core::policy::System;
use sim_core::program::AppSpec;
use sim_core::time::Span;

use crate::choice::Choice;

/// The order of tasks under a policy to which the theory of real-time scheduling applies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Priorities {
    /// The earliest deadline first, as long as no job takes this much cpu time, ns: its deadline moves then.
    Deadlines(u64),
    /// Of each application a priority that does not change; the least is the best.
    Fixed(Vec<i64>),
}

/// The order of the tasks of these applications under a policy; none if it is another one.
#[must_use]
pub fn priorities(choice: &Choice, apps: &[AppSpec]) -> Option<Priorities> {
    if choice.entry.name == EDF.name {
        Some(Priorities::Deadlines(edf::budget(&choice.values)))
    } else if choice.entry.name == FP.name {
        Some(Priorities::Fixed(fixed::keys(&choice.values, apps)))
    } else {
        None
    }
}

/// `SCX_SLICE_DFL` of Linux (kernel/sched/ext.c), ns.
const SCX_SLICE: u64 = 20_000_000;

/// The shortest slice, ns: one tick at 1,000 Hz, the most of Linux. With less, tasks would mostly refill
/// caches.
const LEAST_SLICE: u64 = 1_000_000;

/// The cpu time of each task when it was last read.
#[derive(Default)]
struct Used(Vec<Span>);

impl Used {
    /// What a task has used since this was last asked.
    fn since(&mut self, system: &mut dyn System, task: TaskId) -> Span {
        let now = system.cpu_time(task);
        let before = std::mem::replace(slot(&mut self.0, task), now);
        now - before
    }
}

/// The value of a task, in a list that grows as tasks come.
fn slot<T: Default + Clone>(values: &mut Vec<T>, task: TaskId) -> &mut T {
    let at = task.index();
    if values.len() <= at {
        values.resize(at + 1, T::default());
    }
    &mut values[at]
}
