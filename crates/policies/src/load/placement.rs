//! Where new and woken tasks go: `sched_balance_self`, `select_task_rq_fair` and `wake_affine` of Linux 2.6.18 to 2.6.30.

use std::ops::Range;

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{Placement, View};

use super::Load;
use super::domains::UNIT;
use crate::spread::first_allowed;

impl Load {
    /// The cpu of a created or woken task; the first allowed one where the kernel's choice is forbidden.
    pub(super) fn place(&mut self, view: &dyn View, task: TaskId, why: Placement) -> CpuId {
        let cpu = match why {
            Placement::Fork { parent } => self.idlest(view, task, parent),
            Placement::Wake { waker, previous } => {
                let cpu = self.wake(view, task, waker, previous);
                self.idle_near(view, task, cpu)
            }
        };
        if view.allowed(task, cpu) { cpu } else { first_allowed(view, task) }
    }

    /// Descends from the highest level into the idlest group. The averages are those of the last tick, so the local group
    /// looks empty to a parent that forks many tasks within one: they pile up there once no remote group is empty.
    fn idlest(&mut self, view: &dyn View, task: TaskId, parent: CpuId) -> CpuId {
        let mut cpu = parent;
        for level in (0..self.domains.len()).rev() {
            if !self.domains[level].template.fork {
                continue;
            }
            let Some(group) = self.idlest_group(view, level, task, cpu) else {
                continue;
            };
            let allowed = group.map(CpuId).filter(|cpu| view.allowed(task, *cpu));
            cpu = allowed.min_by_key(|cpu| view.load(*cpu)).unwrap_or(cpu);
        }
        cpu
    }

    /// The remote group with the least load, if it is clearly less than the local one's (`find_idlest_group`).
    fn idlest_group(
        &mut self,
        view: &dyn View,
        level: usize,
        task: TaskId,
        cpu: CpuId,
    ) -> Option<Range<u32>> {
        let domain = self.domains[level].clone();
        let index = domain.template.fork_index;
        let usable = |group: &Range<u32>| group.clone().any(|cpu| view.allowed(task, CpuId(cpu)));
        let local = domain.local(cpu);
        let mut this = 0;
        if usable(&local) {
            this = local.map(|cpu| self.loads.source(view, CpuId(cpu), index)).sum::<u64>() * UNIT
                / domain.power;
        }
        let mut best: Option<(u64, Range<u32>)> = None;
        for group in domain.remote(cpu).filter(usable) {
            let load = group.clone().map(|cpu| self.loads.target(view, CpuId(cpu), index)).sum::<u64>();
            let load = load * UNIT / domain.power;
            if best.as_ref().is_none_or(|(least, _)| load < *least) {
                best = Some((load, group));
            }
        }
        let margin = 100 + (domain.template.imbalance_pct - 100) / 2;
        best.filter(|(least, _)| 100 * this >= margin * least).map(|(_, group)| group)
    }

    /// An idle cpu of the levels that look for one (`wake_idle`: threads of the core in 2.6.18, none since 2.6.27), else `cpu`.
    fn idle_near(&self, view: &dyn View, task: TaskId, cpu: CpuId) -> CpuId {
        if view.nr_running(cpu) == 0 {
            return cpu;
        }
        let levels = self.domains.iter().take_while(|domain| domain.template.wake_idle);
        let idle = |other: &CpuId| view.nr_running(*other) == 0 && view.allowed(task, *other);
        levels.flat_map(|domain| domain.members(cpu)).map(CpuId).find(idle).unwrap_or(cpu)
    }

    /// The waker's cpu when that keeps the balance, else the previous one.
    fn wake(&mut self, view: &dyn View, task: TaskId, waker: CpuId, previous: CpuId) -> CpuId {
        if waker == previous || !self.options.affine_wakeups || !view.allowed(task, waker) {
            return previous;
        }
        let Some(domain) = self.domains.iter().find(|domain| domain.shared(waker, previous)) else {
            return previous;
        };
        let template = domain.template;
        let margin = 100 + (template.imbalance_pct - 100) / 2;
        let load = self.loads.source(view, previous, template.wake_index);
        let here = self.loads.target(view, waker, template.wake_index);
        let weight = u64::from(view.task(task).weight);
        let per_task = view.load(waker).checked_div(u64::from(view.nr_running(waker))).unwrap_or(0);
        let balanced = 100 * (here + weight) <= margin * load;
        let light = here <= load && here + self.loads.target(view, previous, template.wake_index) <= per_task;
        let affine = template.wake_affine && (balanced || light);
        let passive = template.wake_balance && margin * here <= 100 * load;
        if affine || passive { waker } else { previous }
    }
}
