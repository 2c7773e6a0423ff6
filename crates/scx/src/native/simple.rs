//! One queue for the whole machine, first come first served or by weighted virtual time.

use sim_core::ids::{CpuId, TaskId};

use crate::ext::abi::{DSQ_LOCAL, SLICE_DFL, WEIGHT_DFL};
use crate::ext::{Given, Kernel, Scheduler};

/// The id of the queue.
const SHARED: u64 = 0;

/// One queue for the whole machine. An idle cpu takes a woken task at once; all others take the first task of
/// the queue when they need one.
#[derive(Clone, Debug)]
pub struct Simple {
    fifo: bool,
    /// The largest virtual time with which a task has begun to run.
    now: u64,
    /// Tasks that went to an idle cpu, and to the queue.
    placed: (u64, u64),
}

impl Simple {
    /// First come first served, or by virtual time.
    #[must_use]
    pub const fn new(fifo: bool) -> Self {
        Self { fifo, now: 0, placed: (0, 0) }
    }
}

/// Whether one virtual time is before another one; they wrap around.
pub(super) const fn before(one: u64, other: u64) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}

impl Scheduler for Simple {
    fn name(&self) -> &str {
        "simple"
    }

    fn given(&self) -> Given {
        Given {
            select_cpu: true,
            enqueue: true,
            dispatch: true,
            running: true,
            stopping: true,
            enable: true,
            ..Given::default()
        }
    }

    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        kernel.create_dsq(SHARED, -1)
    }

    fn enable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        kernel.set_vtime(task, self.now);
    }

    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        let (cpu, idle) = kernel.select_cpu_dfl(task, prev, wake_flags);
        if idle {
            self.placed.0 += 1;
            kernel.dsq_insert(task, DSQ_LOCAL, SLICE_DFL, 0);
        }
        cpu
    }

    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        self.placed.1 += 1;
        if self.fifo {
            kernel.dsq_insert(task, SHARED, SLICE_DFL, enq_flags);
            return;
        }
        // A task that slept has saved one slice at most.
        let (vtime, least) = (kernel.vtime(task), self.now.wrapping_sub(SLICE_DFL));
        let vtime = if before(vtime, least) { least } else { vtime };
        kernel.dsq_insert_vtime(task, SHARED, SLICE_DFL, vtime, enq_flags);
    }

    fn dispatch(&mut self, kernel: &mut Kernel<'_>, _: CpuId, _: Option<TaskId>) {
        kernel.dsq_move_to_local(SHARED);
    }

    fn running(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        if !self.fifo && before(self.now, kernel.vtime(task)) {
            self.now = kernel.vtime(task);
        }
    }

    fn stopping(&mut self, kernel: &mut Kernel<'_>, task: TaskId, _: bool) {
        if !self.fifo {
            // What it has used of its slice, by its weight: a task that yields has used all of it.
            let used = SLICE_DFL.wrapping_sub(kernel.slice(task));
            let charged = used.wrapping_mul(u64::from(WEIGHT_DFL)) / u64::from(kernel.weight(task));
            kernel.set_vtime(task, kernel.vtime(task).wrapping_add(charged));
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("local".into(), self.placed.0), ("global".into(), self.placed.1)]
    }
}
