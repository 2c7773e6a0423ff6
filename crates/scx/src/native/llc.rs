//! A queue for each last-level cache, by weighted virtual time.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::Level;

use crate::ext::abi::{DSQ_LOCAL, KICK_IDLE, SLICE_DFL, WEIGHT_DFL};
use crate::ext::{Given, Kernel, Scheduler};
use crate::native::simple::before;

/// A queue by virtual time for each last-level cache. A cpu takes the first task of its own cache, and one of
/// the next cache that has one if there is none.
#[derive(Clone, Debug, Default)]
pub struct Llc {
    /// The largest virtual time with which a task has begun to run.
    now: u64,
    caches: u32,
    /// Tasks that were taken from another cache.
    stolen: u64,
}

impl Llc {
    /// No task has run.
    #[must_use]
    pub const fn new() -> Self {
        Self { now: 0, caches: 0, stolen: 0 }
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
        self.caches = kernel.view().machine().topology.count(Level::Cache);
        (0..self.caches).map(|cache| kernel.create_dsq(u64::from(cache), -1)).min().unwrap_or(0)
    }

    fn enable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        kernel.set_vtime(task, self.now);
    }

    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        let (cpu, idle) = kernel.select_cpu_dfl(task, prev, wake_flags);
        if idle {
            kernel.dsq_insert(task, DSQ_LOCAL, SLICE_DFL, 0);
        }
        cpu
    }

    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        let (vtime, least) = (kernel.vtime(task), self.now.wrapping_sub(SLICE_DFL));
        let vtime = if before(vtime, least) { least } else { vtime };
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
        if before(self.now, kernel.vtime(task)) {
            self.now = kernel.vtime(task);
        }
    }

    fn stopping(&mut self, kernel: &mut Kernel<'_>, task: TaskId, _: bool) {
        let used = SLICE_DFL.wrapping_sub(kernel.slice(task));
        let charged = used.wrapping_mul(u64::from(WEIGHT_DFL)) / u64::from(kernel.weight(task));
        kernel.set_vtime(task, kernel.vtime(task).wrapping_add(charged));
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("stolen".into(), self.stolen)]
    }
}
