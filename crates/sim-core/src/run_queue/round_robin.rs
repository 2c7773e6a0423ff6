//! Round robin: whoever enters, yields or has used its quantum goes behind everybody else of its band.

use crate::ids::TaskId;
use crate::kernel::state::Cpu;
use crate::run_queue::{Tasks, last_of_band};

/// A key behind every waiting task of the band.
pub(crate) fn behind_all(tasks: &Tasks, cpu: &Cpu, id: TaskId) -> i64 {
    last_of_band(tasks, cpu, tasks[id].band).map_or(0, |last| tasks[last].vruntime + 1)
}
