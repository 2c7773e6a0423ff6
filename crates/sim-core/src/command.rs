//! Commands: what somebody outside of all programs does to tasks at stated instants, as a shell does with
//! `kill -STOP`, `taskset` and `renice`, or a driver that steps a kernel tick by tick.

use crate::ids::AppId;
use crate::machine::CpuSet;
use crate::time::Time;

/// A command to an application ([`crate::program::AppSpec::commands`]). It acts when nothing else happens at
/// its instant any more: ticks, wake-ups and decisions of cpus are over. Then the cpus decide again before
/// the next command acts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// When.
    pub at: Time,
    /// Of commands at one instant, those of all applications, the smallest acts first; among equals that of
    /// the first application, and there in the order written.
    pub order: u32,
    /// What.
    pub act: Act,
}

/// What a command does to the tasks of an application. Tasks that it cannot act on are left alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// The application arrives. One that a command starts has no start of its own.
    Start,
    /// The application arrives, created from where the first task of this one, an earlier one, is or was.
    Fork(AppId),
    /// Tasks that compute and have a cpu go to sleep at once (`SIGSTOP`).
    Stop,
    /// Tasks that were stopped wake up, as by a timer of the cpu where they stopped (`SIGCONT`).
    Continue,
    /// Tasks may run on these cpus only (`sched_setaffinity`).
    Bind(CpuSet),
    /// Tasks get this load weight (`set_user_nice`; nice 0 is 1,024). Under CFS without task groups, and
    /// under EEVDF without limits of theirs.
    Weight(u32),
    /// Tasks move to this task group, an index into [`crate::os::OsModel::groups`], or out of all
    /// (`sched_move_task`). Under EEVDF, without limits of task groups.
    Group(Option<u16>),
    /// A task group gets this weight over all cpus, 2 to 262,144 (`sched_group_set_shares`), whichever
    /// application the command belongs to. Under EEVDF, without limits of task groups.
    Shares(u16, u32),
    /// Tasks that compute go to sleep as soon as they have a cpu, at once if they have one, as a task that
    /// looks for a request to sleep whenever it runs. One that is stopped meanwhile has done so.
    Pause,
}

impl Act {
    /// The application comes by this command.
    #[must_use]
    pub const fn starts(&self) -> bool {
        matches!(self, Self::Start | Self::Fork(_))
    }
}
