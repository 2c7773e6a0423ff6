//! A policy whose tasks begin on given cpus, whatever its own rule for new tasks: what its balancing does,
//! apart from what its placement does.

use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, View, Watches};
use sim_core::wrap::{Notice, Wrapper};

/// Each task starts on the cpu that is listed for it; everything else is up to the policy inside.
pub struct Seated {
    policy: Box<dyn Policy>,
    seats: Vec<CpuId>,
}

impl Seated {
    /// Rank r starts on cpu r modulo the number of cpus.
    #[must_use]
    pub fn evenly(policy: Box<dyn Policy>) -> Self {
        Self { policy, seats: Vec::new() }
    }

    /// Each task starts on the cpu of its number.
    #[must_use]
    pub fn at(seats: Vec<CpuId>, policy: Box<dyn Policy>) -> Self {
        Self { policy, seats }
    }
}

impl Wrapper for Seated {
    fn wants(&self) -> Watches {
        self.policy.watches()
    }
    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        match placement {
            Placement::Fork { .. } => {
                let evenly = || CpuId(view.task(task).rank % view.machine().cpus());
                self.seats.get(task.index()).copied().unwrap_or_else(evenly).into()
            }
            Placement::Wake { .. } => self.policy.select_cpu(view, task, placement),
        }
    }
    fn ordering(&self) -> Order {
        self.policy.order()
    }

    fn counted(&self) -> Vec<(String, u64)> {
        self.policy.counters()
    }
    fn insert(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        self.policy.enqueue(system, task, cpu, why)
    }
    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        notice.deliver(&mut *self.policy, system);
    }
}
