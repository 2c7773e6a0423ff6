//! Where created and woken threads go.

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, View, Why};

use super::Dwrr;
use crate::spread::first_allowed;

impl Dwrr {
    /// Where a created thread goes: the shortest queue, the next one by number among equals.
    pub(super) fn shortest(&self, view: &dyn View, task: TaskId, from: CpuId) -> CpuChoice {
        let cpus = view.machine().cpus();
        let fewest = self.queues.extremes().0;
        let next = self.queues.first_at_most(from.0..cpus, fewest);
        let next = next.or_else(|| self.queues.first_at_most(0..from.0, fewest));
        let among_allowed = || {
            let all = (0..cpus).map(|i| CpuId((from.0 + i) % cpus)).filter(|cpu| view.allowed(task, *cpu));
            all.min_by_key(|cpu| view.nr_running(*cpu)).unwrap_or_else(|| first_allowed(view, task))
        };
        let cpu = next.filter(|cpu| view.allowed(task, *cpu)).unwrap_or_else(among_allowed);
        let why = Why::rule("placed: shortest queue").with("tasks there", view.nr_running(cpu).into());
        CpuChoice::new(cpu, why.with("tasks on the cpu it comes from", view.nr_running(from).into()))
    }

    /// Where a woken thread goes: its last cpu if that is idle, an idle one near it, any idle one, its last
    /// one.
    pub(super) fn woken(&self, view: &dyn View, task: TaskId, previous: CpuId) -> CpuChoice {
        let length = view.nr_running(previous).into();
        let cpus = view.machine().cpus();
        if self.queues.idle() > 0 {
            let near = self.queues.near(previous);
            let fits = |cpu: CpuId| view.allowed(task, cpu);
            let found = self.queues.idle_from(near, previous.0, fits);
            let found = found.or_else(|| self.queues.idle_from(0..cpus, previous.0, fits));
            if let Some(cpu) = found {
                let rule = if cpu == previous {
                    "woken: its last cpu is idle"
                } else {
                    "woken: goes to an idle cpu"
                };
                return CpuChoice::new(cpu, Why::rule(rule).with("tasks on its last cpu", length));
            }
        }
        if view.allowed(task, previous) {
            let why = Why::rule("woken: no idle cpu, back to its last one");
            return CpuChoice::new(previous, why.with("tasks there", length));
        }
        self.shortest(view, task, previous)
    }
}
