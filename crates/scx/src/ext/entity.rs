//! What the kernel keeps of a task: `struct sched_ext_entity`.

use std::sync::Arc;

use sim_core::ids::CpuId;
use sim_core::time::{Span, Time};

use crate::ext::abi::{SLICE_DFL, WEIGHT_DFL};
use crate::ext::dsq::Key;
use crate::ext::mask::CpuMask;

/// Where a task is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// It does not exist yet, sleeps or has ended.
    Away,
    /// It has left its cpu, and the scheduler is about to be told that it is not runnable.
    Leaving,
    /// It is runnable and in no queue: the kernel is just asking where it goes.
    Entering,
    /// The scheduler has it (`SCX_OPSS_QUEUED`).
    Scheduler,
    /// In a dispatch queue that the scheduler has created.
    User(u64),
    /// In the global queue of a node.
    Global(u32),
    /// In the local queue of a cpu.
    Local(CpuId),
    /// On its way to the local queue of another cpu.
    Passing(CpuId),
    /// A cpu has it.
    Running(CpuId),
}

/// A task as the kernel's side of `sched_ext` knows it.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    /// `ops.init_task` has been called for it.
    pub(crate) known: bool,
    pub(crate) place: Place,
    /// The cpu it is on or was last (`task_cpu`).
    pub(crate) cpu: CpuId,
    /// `p->scx.slice`, ns.
    pub(crate) slice: u64,
    /// `p->scx.dsq_vtime`.
    pub(crate) vtime: u64,
    /// `p->scx.weight`.
    pub(crate) weight: u32,
    /// `p->scx.flags`.
    pub(crate) flags: u32,
    pub(crate) allowed: Arc<CpuMask>,
    pub(crate) nr_allowed: u32,
    /// Its cpu time when its slice was last brought up to date.
    pub(crate) charged: Span,
    /// Direct dispatch: the queue and the flags that the scheduler has named (`ddsp_dsq_id`).
    pub(crate) verdict: Option<(u64, u64)>,
    /// The cpu that `ops.select_cpu` chose for the wake-up that goes on.
    pub(crate) selected: Option<CpuId>,
    /// Since when it is runnable and does not run.
    pub(crate) runnable_at: Time,
    /// How often the scheduler has got it.
    pub(crate) turn: u64,
    /// Its place in the queue it is in.
    pub(crate) key: Key,
    /// The number of its entry in that queue.
    pub(crate) entry: u64,
    pub(crate) cgroup: u64,
}

impl Entity {
    /// A task that does not exist yet.
    pub(crate) fn new() -> Self {
        Self {
            known: false,
            place: Place::Away,
            cpu: CpuId(0),
            slice: SLICE_DFL,
            vtime: 0,
            weight: WEIGHT_DFL,
            flags: 0,
            allowed: Arc::default(),
            nr_allowed: 0,
            charged: Span::ZERO,
            verdict: None,
            selected: None,
            runnable_at: Time::ZERO,
            turn: 0,
            key: (0, 0),
            entry: 0,
            cgroup: crate::ext::abi::CGROUP_ROOT,
        }
    }
}

/// `sched_weight_to_cgroup`: 1,024 becomes 100.
pub(crate) fn cgroup_weight(weight: u32) -> u32 {
    let scaled = (u64::from(weight) * u64::from(WEIGHT_DFL) + 512) / 1_024;
    scaled.clamp(1, 10_000) as u32
}

/// A slice as the engine takes it.
pub(crate) const fn span(slice: u64) -> Span {
    Span::from_ns(slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_on_the_scale_of_cgroups() {
        assert_eq!([1_024, 15, 88_761, 335, 3_121].map(cgroup_weight), [100, 1, 8_668, 33, 305]);
        assert_eq!((cgroup_weight(0), cgroup_weight(u32::MAX)), (1, 10_000));
    }
}
