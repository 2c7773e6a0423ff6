//! Where new and woken tasks go: `sched_balance_self`, `select_task_rq_fair` and `wake_affine` of Linux
//! 2.6.18 to 2.6.30.

use std::ops::Range;

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Placement, View, Why};

use super::cpu_load::{load_of, weight_of};
use super::domains::UNIT;
use super::{Load, rules};
use crate::spread::unless_masked;

impl Load {
    /// The cpu of a created or woken task; the first allowed one where the kernel's choice is forbidden.
    pub(super) fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let choice = match placement {
            Placement::Fork { parent } => self.idlest(view, task, parent),
            Placement::Wake { waker, previous } => {
                let (cpu, why) = self.wake(view, task, waker, previous);
                match self.idle_near(view, task, cpu) {
                    Some(idle) => (idle, Why::rule(rules::WAKE_IDLE)),
                    None => (cpu, why),
                }
            }
        };
        unless_masked(view, task, choice)
    }

    /// Descends from the highest level into the idlest group. The averages are those of the last tick, so the
    /// local group looks empty to a parent that forks many tasks within one: they pile up there once no
    /// remote group is empty.
    fn idlest(&mut self, view: &dyn View, task: TaskId, parent: CpuId) -> (CpuId, Why) {
        let mut cpu = parent;
        let looks = self.domains.iter().any(|domain| domain.template.fork);
        let mut why = Why::rule(if looks { rules::FORK_STAYS } else { rules::FORK_ALONE });
        for level in (0..self.domains.len()).rev() {
            if !self.domains[level].template.fork {
                continue;
            }
            let Some((group, compared)) = self.idlest_group(view, level, task, cpu) else {
                continue;
            };
            why = compared;
            let allowed = group.map(CpuId).filter(|cpu| view.allowed(task, *cpu));
            cpu = allowed.min_by_key(|cpu| load_of(view, *cpu)).unwrap_or(cpu);
        }
        (cpu, why)
    }

    /// The remote group with the least load, if it is clearly less than the local one's
    /// (`find_idlest_group`).
    fn idlest_group(
        &mut self,
        view: &dyn View,
        level: usize,
        task: TaskId,
        cpu: CpuId,
    ) -> Option<(Range<u32>, Why)> {
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
        let (least, group) = best.filter(|(least, _)| 100 * this >= margin * least)?;
        let why = Why::rule(rules::FORK_IDLEST).with("least load", least).with("local load", this);
        Some((group, why.with("tolerated %", margin)))
    }

    /// An idle cpu of the levels that look for one (`wake_idle`: threads of the core in 2.6.18, none since
    /// 2.6.27), unless `cpu` is idle itself.
    fn idle_near(&self, view: &dyn View, task: TaskId, cpu: CpuId) -> Option<CpuId> {
        if view.nr_running(cpu) == 0 {
            return None;
        }
        let levels = self.domains.iter().take_while(|domain| domain.template.wake_idle);
        let idle = |other: &CpuId| view.nr_running(*other) == 0 && view.allowed(task, *other);
        levels.flat_map(|domain| domain.members(cpu)).map(CpuId).find(idle)
    }

    /// The waker's cpu when that keeps the balance, else the previous one.
    fn wake(&mut self, view: &dyn View, task: TaskId, waker: CpuId, previous: CpuId) -> (CpuId, Why) {
        if waker == previous {
            return (previous, Why::rule(rules::WAKE_SAME));
        }
        let common = self.domains.iter().find(|domain| domain.shared(waker, previous));
        let affine = self.options.affine_wakeups && view.allowed(task, waker);
        let Some(domain) = common.filter(|_| affine) else {
            return (previous, Why::rule(rules::WAKE_NOT_AFFINE));
        };
        let template = domain.template;
        let margin = 100 + (template.imbalance_pct - 100) / 2;
        let load = self.loads.source(view, previous, template.wake_index);
        let here = self.loads.target(view, waker, template.wake_index);
        let weight = weight_of(view, task);
        let per_task = load_of(view, waker).checked_div(u64::from(view.nr_running(waker))).unwrap_or(0);
        let balanced = 100 * (here + weight) <= margin * load;
        let light = here <= load && here + self.loads.target(view, previous, template.wake_index) <= per_task;
        let passive = template.wake_balance && margin * here <= 100 * load;
        let (cpu, rule) = match (template.wake_affine, balanced, light, passive) {
            (true, true, ..) => (waker, rules::WAKE_BALANCED),
            (true, _, true, _) => (waker, rules::WAKE_LIGHT),
            (.., true) => (waker, rules::WAKE_PASSIVE),
            _ => (previous, rules::WAKE_STAYS),
        };
        let why = Why::rule(rule).with("load of the waker's cpu", here).with("load of the last cpu", load);
        (cpu, why.with("tolerated %", margin).with("weight", weight))
    }
}
