//! One queue per cpu in a given order: a task goes to its last cpu if that is idle, else to the shortest
//! queue.
//!
//! A cpu that goes idle steals.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::Machine;
use sim_core::policy::{CpuChoice, Order, Placement, Policy, System, View, Why};

use crate::queues::Queues;

/// The policy: who orders the queues, and their lengths.
pub(super) struct PerCpu {
    order: Order,
    queues: Queues,
    waiting: Vec<TaskId>,
}

impl PerCpu {
    pub(super) fn new(order: Order, machine: &Machine) -> Self {
        Self { order, queues: Queues::new(machine.cpus(), machine.cpus()), waiting: Vec::new() }
    }
}

impl Policy for PerCpu {
    fn order(&self) -> Order {
        self.order
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.queues.refresh(view);
        let (Placement::Fork { parent: near } | Placement::Wake { previous: near, .. }) = placement;
        if view.nr_running(near) == 0 && view.allowed(task, near) {
            return CpuChoice::new(near, Why::rule("placed: its last cpu is idle"));
        }
        let (shortest, _) = self.queues.extremes();
        let cpu = self.queues.first_at_most(0..view.machine().cpus(), shortest).unwrap_or(near);
        let rule = Why::rule("placed: the shortest queue");
        if view.allowed(task, cpu) {
            return CpuChoice::new(cpu, rule.with("tasks there", u64::from(shortest)));
        }
        let allowed = view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu));
        let cpu = allowed.min_by_key(|cpu| self.queues.length(*cpu)).unwrap_or(near);
        CpuChoice::new(cpu, rule.with("tasks there", u64::from(self.queues.length(cpu))))
    }

    /// It takes the task that came last to the longest queue.
    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.queues.refresh(system);
        let (_, longest) = self.queues.extremes();
        if longest < 2 {
            return;
        }
        let cpus = 0..system.machine().cpus();
        let Some(from) = self.queues.first_at_least(cpus, longest) else { return };
        system.queued(from, usize::MAX, &mut self.waiting);
        if let Some(task) = self.waiting.iter().find(|task| system.allowed(**task, cpu)) {
            let why = Why::rule("stolen: the longest queue").with("tasks there", u64::from(longest));
            system.migrate(*task, cpu, why);
        }
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
    }
}
