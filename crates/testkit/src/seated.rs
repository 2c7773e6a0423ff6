//! A policy whose tasks begin evenly spread, whatever its own rule for new tasks: what its balancing costs,
//! apart from what its placement does.

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, View, Watches};
use sim_core::wrap::{Notice, Wrapper};

/// Rank r starts on cpu r modulo the number of cpus; everything else is up to the policy inside.
pub struct Seated(pub Box<dyn Policy>);

impl Wrapper for Seated {
    fn wants(&self) -> Watches {
        self.0.watches()
    }
    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        match placement {
            Placement::Fork { .. } => CpuId(view.task(task).rank % view.machine().cpus()).into(),
            Placement::Wake { .. } => self.0.select_cpu(view, task, placement),
        }
    }
    fn ordering(&self) -> Order {
        self.0.order()
    }
    fn insert(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        self.0.enqueue(system, task, cpu, why)
    }
    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        notice.deliver(&mut *self.0, system);
    }
}
