//! Where created and woken threads go.

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{View, Why};

use super::Dwrr;
use crate::spread::first_allowed;

impl Dwrr {
    /// Where a created thread goes: the shortest queue, the next one by number among equals.
    pub(super) fn shortest(&self, view: &dyn View, task: TaskId, from: CpuId) -> CpuId {
        let cpus = view.machine().cpus();
        let all = (0..cpus).map(|i| CpuId((from.0 + i) % cpus)).filter(|cpu| view.allowed(task, *cpu));
        let cpu = all.min_by_key(|cpu| view.nr_running(*cpu)).unwrap_or_else(|| first_allowed(view, task));
        let why = Why::rule("placed: shortest queue").with("tasks there", view.nr_running(cpu).into());
        view.because(why.with("tasks on the cpu it comes from", view.nr_running(from).into()));
        cpu
    }

    /// Where a woken thread goes: its last cpu if that is idle, an idle one near it, any idle one, its last one.
    pub(super) fn woken(&self, view: &dyn View, task: TaskId, previous: CpuId) -> CpuId {
        let length = view.nr_running(previous).into();
        let cpus = view.machine().cpus();
        if self.queues.idle() > 0 {
            let first = self.queues.group(previous) * self.queues.span();
            let size = self.queues.span().min(cpus - first);
            let near = (0..size).map(|i| CpuId(first + (previous.0 - first + i) % size));
            let far = (0..cpus).map(|i| CpuId((previous.0 + i) % cpus));
            let free = |cpu: &CpuId| view.nr_running(*cpu) == 0 && view.allowed(task, *cpu);
            if let Some(cpu) = near.chain(far).find(free) {
                let rule =
                    if cpu == previous { "woken: its last cpu is idle" } else { "woken: to an idle cpu" };
                view.because(Why::rule(rule).with("tasks on its last cpu", length));
                return cpu;
            }
        }
        if view.allowed(task, previous) {
            view.because(Why::rule("woken: no idle cpu, back to its last one").with("tasks there", length));
            return previous;
        }
        self.shortest(view, task, previous)
    }
}
