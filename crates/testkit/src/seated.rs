//! A policy whose tasks begin evenly spread, whatever its own rule for new tasks: what its balancing costs, apart from what its placement does.

use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::policy::{Awaited, CpuChoice, Placement, Policy, Preemption, System, View};

/// Rank r starts on cpu r modulo the number of cpus; everything else is up to the policy inside.
pub struct Seated(pub Box<dyn Policy>);

impl Policy for Seated {
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        match placement {
            Placement::Fork { .. } => CpuId(view.task(task).rank % view.machine().cpus()).into(),
            Placement::Wake { .. } => self.0.select_cpu(view, task, placement),
        }
    }
    fn init(&mut self, system: &mut dyn System) {
        self.0.init(system);
    }
    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        self.0.app_started(system, app);
    }
    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        self.0.app_ready(system, app);
    }
    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        self.0.app_exited(system, app);
    }
    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.0.idle(system, cpu);
    }
    fn emptied(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.0.emptied(system, cpu);
    }
    fn tick(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.0.tick(system, cpu);
    }
    fn timer(&mut self, system: &mut dyn System, token: u64) {
        self.0.timer(system, token);
    }
    fn slot(&mut self, system: &mut dyn System) {
        self.0.slot(system);
    }
    fn watches_waits(&self) -> bool {
        self.0.watches_waits()
    }
    fn watches_preemptions(&self) -> bool {
        self.0.watches_preemptions()
    }
    fn preempted(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId, why: Preemption) {
        self.0.preempted(system, task, cpu, why);
    }
    fn waits(&mut self, system: &mut dyn System, task: TaskId, what: Awaited) {
        self.0.waits(system, task, what);
    }
    fn proceeds(&mut self, system: &mut dyn System, task: TaskId) {
        self.0.proceeds(system, task);
    }
    fn runnable(&mut self, view: &dyn View, task: TaskId, cpu: CpuId) {
        self.0.runnable(view, task, cpu);
    }
    fn enqueued(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.0.enqueued(system, task, cpu);
    }
    fn quiescent(&mut self, view: &dyn View, task: TaskId, cpu: CpuId) {
        self.0.quiescent(view, task, cpu);
    }
}
