//! What a task changes of itself.

use crate::machine::CpuSet;
use crate::program::Scheduling;

/// A change that a task makes to itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// It gets this load weight (`setpriority`; nice 0 is 1,024), where commands can change weights
    /// ([`crate::command::Act::Weight`]). Tasks of [`Scheduling::Idle`] and real-time tasks keep theirs
    /// (`set_load_weight`); where classes change, it counts once they are of another class.
    Weight(u32),
    /// It may run on these cpus only (`sched_setaffinity`).
    Cpus(CpuSet),
    /// It gets another scheduling class or priority (`sched_setscheduler`), where the kernel has it and
    /// weights can change ([`Change::Weight`]); no task of a task group does.
    Class(Scheduling),
}
