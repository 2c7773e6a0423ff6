//! One queue for the whole machine, first come first served or by weighted virtual time.

use sim_core::ids::{CpuId, TaskId};

use crate::ext::abi::SLICE_DFL;
use crate::ext::{Given, Kernel, Scheduler};
use crate::native::clock::{Clock, GIVEN, charge, select};

/// The id of the queue.
const SHARED: u64 = 0;

/// One queue for the whole machine. An idle cpu takes a woken task at once; all others take the first task of
/// the queue when they need one.
#[derive(Clone, Debug)]
pub struct Simple {
    fifo: bool,
    clock: Clock,
    /// Tasks that went to an idle cpu, and to the queue.
    placed: (u64, u64),
}

impl Simple {
    /// First come first served, or by virtual time.
    #[must_use]
    pub const fn new(fifo: bool) -> Self {
        Self { fifo, clock: Clock::new(), placed: (0, 0) }
    }
}

impl Scheduler for Simple {
    fn name(&self) -> &str {
        "simple"
    }

    fn given(&self) -> Given {
        GIVEN
    }

    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        kernel.create_dsq(SHARED, -1)
    }

    fn enable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.clock.enable(kernel, task);
    }

    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        let (cpu, idle) = select(kernel, task, prev, wake_flags);
        self.placed.0 += u64::from(idle);
        cpu
    }

    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        self.placed.1 += 1;
        if self.fifo {
            kernel.dsq_insert(task, SHARED, SLICE_DFL, enq_flags);
            return;
        }
        let vtime = self.clock.capped(kernel, task);
        kernel.dsq_insert_vtime(task, SHARED, SLICE_DFL, vtime, enq_flags);
    }

    fn dispatch(&mut self, kernel: &mut Kernel<'_>, _: CpuId, _: Option<TaskId>) {
        kernel.dsq_move_to_local(SHARED);
    }

    fn running(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        if !self.fifo {
            self.clock.running(kernel, task);
        }
    }

    fn stopping(&mut self, kernel: &mut Kernel<'_>, task: TaskId, _: bool) {
        if !self.fifo {
            charge(kernel, task);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("local".into(), self.placed.0), ("global".into(), self.placed.1)]
    }
}
