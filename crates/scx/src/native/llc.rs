//! A queue for each last-level cache, by weighted virtual time.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::Level;

use crate::ext::abi::{KICK_IDLE, SLICE_DFL};
use crate::ext::{Given, Kernel, Scheduler};
use crate::native::clock::{Clock, GIVEN, charge, select};

/// A queue by virtual time for each last-level cache. A cpu takes the first task of its own cache, and one of
/// the next cache that has one if there is none.
#[derive(Clone, Debug, Default)]
pub struct Llc {
    clock: Clock,
    caches: u32,
    /// Tasks that were taken from another cache.
    stolen: u64,
}

impl Llc {
    /// No task has run.
    #[must_use]
    pub const fn new() -> Self {
        Self { clock: Clock::new(), caches: 0, stolen: 0 }
    }

    /// The cache of a cpu.
    fn cache(kernel: &Kernel<'_>, cpu: u32) -> u64 {
        u64::from(kernel.view().machine().topology.group(Level::Cache, CpuId(cpu)))
    }
}

impl Scheduler for Llc {
    fn name(&self) -> &str {
        "llc"
    }

    fn given(&self) -> Given {
        GIVEN
    }

    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        self.caches = kernel.view().machine().topology.count(Level::Cache);
        (0..self.caches).map(|cache| kernel.create_dsq(u64::from(cache), -1)).min().unwrap_or(0)
    }

    fn enable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.clock.enable(kernel, task);
    }

    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        select(kernel, task, prev, wake_flags).0
    }

    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        let vtime = self.clock.capped(kernel, task);
        let cache = Self::cache(kernel, kernel.task_cpu(task) as u32);
        kernel.dsq_insert_vtime(task, cache, SLICE_DFL, vtime, enq_flags);
        // A cpu of another cache may have become idle while all of this one are busy.
        let idle = kernel.pick_idle_cpu(&kernel.cpus_allowed(task), 0);
        if idle >= 0 {
            kernel.kick_cpu(idle, KICK_IDLE);
        }
    }

    fn dispatch(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, _: Option<TaskId>) {
        let (own, caches) = (Self::cache(kernel, cpu.0), u64::from(self.caches));
        if kernel.dsq_move_to_local(own) {
            return;
        }
        let others = (1..caches).map(|step| (own + step) % caches);
        for cache in others {
            if kernel.dsq_move_to_local(cache) {
                self.stolen += 1;
                return;
            }
        }
    }

    fn running(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.clock.running(kernel, task);
    }

    fn stopping(&mut self, kernel: &mut Kernel<'_>, task: TaskId, _: bool) {
        charge(kernel, task);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("stolen".into(), self.stolen)]
    }
}
