//! Round robin: whoever enters, yields or has used its quantum goes behind every task else of its priority.

use crate::engine::state::Cpu;
use crate::ids::TaskId;
use crate::run_queue::{Tasks, last_of_priority};

/// A key behind every waiting task of the priority.
pub(crate) fn behind_all(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> i64 {
    last_of_priority(tasks, cpu, tasks[id].priority).map_or(0, |last| tasks[last].vruntime + 1)
}
