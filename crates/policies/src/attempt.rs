//! An attempt of a cpu to balance, as every balancer of Linux makes it.

use sim_core::ids::CpuId;

/// A domain whose tasks are all pinned balances ever more rarely, down to this interval in milliseconds
/// (`MAX_PINNED_INTERVAL` of kernel/sched.c, later kernel/sched/fair.c).
pub(crate) const MAX_PINNED_MS: u64 = 512;

/// In which situation a cpu balances (`enum cpu_idle_type`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Situation {
    Busy,
    Idle,
    NewlyIdle,
}

/// The end of an attempt at one level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    Balanced,
    NotDesignated,
    /// Every queue that could have helped holds only tasks that may not come.
    Pinned,
    /// A queue was found but nothing could be pulled; the queue.
    Failed(CpuId),
    Moved,
}
