//! Round robin: a task that enters, yields or has used its quantum goes behind all others of its priority
//! level.
//!
//! A key is an arrival number.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::{
    Entry, FastForward, Picks, Rules, Tasks, Turns, at_least_1us, best, last_of_priority,
};
use crate::time::{Span, Time};

/// Parameters of round robin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundRobinParams {
    /// Quantum; at least 1 us.
    pub quantum: Span,
}

/// A key behind every waiting task of the priority level.
fn behind_all(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> i64 {
    last_of_priority(tasks, cpu, tasks[id].priority).map_or(0, |last| tasks[last].vruntime + 1)
}

impl Rules for RoundRobinParams {
    fn check(&self, _: Span) -> Result<(), String> {
        at_least_1us("quantum", self.quantum)
    }

    fn keeps_history(&self) -> bool {
        false
    }

    fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, _: Entry, _: Time) {
        tasks[id].vruntime = behind_all(tasks, cpu, id);
    }

    fn slice_end(&self, _: &Tasks, cpu: &Cpu, now: Time, _: impl Fn(Time) -> Time) -> Time {
        (cpu.picked + self.quantum).max(now + Span::from_ns(1))
    }

    fn preempts(&self, _: &mut Tasks, _: &mut Cpu, _: TaskId, _: Time) -> bool {
        false
    }

    fn choose(&self, tasks: &mut Tasks, cpu: &mut Cpu, current: Option<TaskId>, _: Time) -> Option<TaskId> {
        best(tasks, cpu, current, |_, _| false)
    }

    fn prefers(&self, _: &Tasks, _: &Cpu, _: TaskId, _: i64) -> bool {
        true
    }

    fn put_back_key(&self, tasks: &mut Tasks, cpu: &Cpu, id: TaskId) {
        tasks[id].vruntime = behind_all(tasks, cpu, id);
    }

    fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, _: Time) {
        tasks[id].vruntime = behind_all(tasks, cpu, id);
    }
}

impl FastForward for RoundRobinParams {
    fn picks(&self) -> Picks {
        Picks::InTurns(Turns::Arrivals)
    }
}
