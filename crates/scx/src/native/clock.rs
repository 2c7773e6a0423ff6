//! Weighted virtual time, as the schedulers with queues by virtual time keep it.

use sim_core::ids::TaskId;

use crate::ext::abi::{DSQ_LOCAL, SLICE_DFL, WEIGHT_DFL, time_before};
use crate::ext::{Given, Kernel};

/// The operations that such a scheduler gives.
pub(super) const GIVEN: Given = Given {
    select_cpu: true,
    enqueue: true,
    dispatch: true,
    running: true,
    stopping: true,
    enable: true,
    dequeue: false,
    tick: false,
    runnable: false,
    quiescent: false,
    yields: false,
    set_weight: false,
    set_cpumask: false,
    update_idle: false,
    init_task: false,
    exit_task: false,
    disable: false,
    cgroup_init: false,
    cgroup_exit: false,
    cgroup_prep_move: false,
    cgroup_move: false,
    cgroup_cancel_move: false,
    cgroup_set_weight: false,
};

/// The largest virtual time with which a task has begun to run.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(u64);

impl Clock {
    /// No task has run.
    pub(super) const fn new() -> Self {
        Self(0)
    }

    /// A new task begins now.
    pub(super) fn enable(&self, kernel: &mut Kernel<'_>, task: TaskId) {
        kernel.set_vtime(task, self.0);
    }

    /// The virtual time of a task that goes into a queue. One that slept has saved one slice at most.
    pub(super) fn capped(&self, kernel: &Kernel<'_>, task: TaskId) -> u64 {
        let (vtime, least) = (kernel.vtime(task), self.0.wrapping_sub(SLICE_DFL));
        if time_before(vtime, least) { least } else { vtime }
    }

    /// A task begins to run.
    pub(super) fn running(&mut self, kernel: &Kernel<'_>, task: TaskId) {
        if time_before(self.0, kernel.vtime(task)) {
            self.0 = kernel.vtime(task);
        }
    }
}

/// A task stops running: it is charged what it has used of its slice, by its weight. One that yields has used
/// all of it.
pub(super) fn charge(kernel: &mut Kernel<'_>, task: TaskId) {
    let used = SLICE_DFL.wrapping_sub(kernel.slice(task));
    let charged = used.wrapping_mul(u64::from(WEIGHT_DFL)) / u64::from(kernel.weight(task));
    kernel.set_vtime(task, kernel.vtime(task).wrapping_add(charged));
}

/// The kernel's choice of a cpu; an idle one takes the task at once, and then it is true.
pub(super) fn select(kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> (i32, bool) {
    let (cpu, idle) = kernel.select_cpu_dfl(task, prev, wake_flags);
    if idle {
        kernel.dsq_insert(task, DSQ_LOCAL, SLICE_DFL, 0);
    }
    (cpu, idle)
}
