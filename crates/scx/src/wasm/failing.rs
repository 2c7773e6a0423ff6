//! The policy of a file that cannot be started: it ends the run with the reason.

use sim_core::ids::TaskId;
use sim_core::policy::{CpuChoice, Order, Placement, Policy, System, View};

/// Ends the run when it begins.
pub(super) struct Failing(pub(super) String);

impl Policy for Failing {
    fn init(&mut self, system: &mut dyn System) {
        system.fail(self.0.clone());
    }

    fn select_cpu(&mut self, _: &dyn View, _: TaskId, placement: Placement) -> CpuChoice {
        match placement {
            Placement::Fork { parent } => parent.into(),
            Placement::Wake { previous, .. } => previous.into(),
        }
    }

    fn order(&self) -> Order {
        Order::Policy
    }
}
