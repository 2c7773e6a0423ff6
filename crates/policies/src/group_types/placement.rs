//! Where new tasks go: `sched_balance_find_dst_cpu` of Linux 5.5 and later.

use std::cmp::Reverse;
use std::ops::Range;

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Placement, View, Why};

use super::domains::{Domain, Kind, UNIT};
use super::group::{State, Stats};
use super::{GroupTypes, rules};
use crate::spread::unless_masked;
use kernels::{Fork, ForkNuma};

/// A new task stays in its own memory node, which has idle cpus (`find_idlest_group`); `allowed`: how many of
/// its cpus the task may use.
fn fork_stays(
    domain: &Domain,
    cpu: CpuId,
    (local, best): (&Stats, &Stats),
    allowed: impl Fn() -> u64,
) -> bool {
    let few = || local.tasks < domain.numa_slack.min(allowed());
    match domain.rules.fork_numa {
        ForkNuma::Idle => local.idle > 0,
        ForkNuma::Quarter => local.tasks < u64::from(domain.span(cpu)) / 4,
        ForkNuma::Tasks => few(),
        ForkNuma::TasksAndGap => few() && local.idle.abs_diff(best.idle) <= 2,
    }
}

impl GroupTypes {
    /// The cpu of a created or woken task; the first allowed one where the kernel's choice is forbidden.
    pub(super) fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let choice = match placement {
            Placement::Fork { parent } => self.idlest(view, task, parent),
            Placement::Wake { waker, previous } => self.wake(view, task, waker, previous),
        };
        unless_masked(view, task, choice)
    }

    /// Descends from the highest level into the idlest group; queues are seen as they are now.
    fn idlest(&mut self, view: &dyn View, task: TaskId, parent: CpuId) -> (CpuId, Why) {
        let (mut cpu, mut why) = (parent, Why::rule(rules::FORK_STAYS));
        for level in (0..self.domains.len()).rev() {
            let domain = self.unequal.domain(&self.domains[level], cpu);
            if let Some((group, compared)) = self.idlest_group(view, &domain, task, cpu) {
                why = compared;
                cpu = self.idlest_cpu(view, task, group).unwrap_or(cpu);
            }
        }
        (cpu, why)
    }

    /// The cpu that went idle last, else the one with the least load; ties go to the first.
    fn idlest_cpu(&mut self, view: &dyn View, task: TaskId, group: Range<u32>) -> Option<CpuId> {
        let allowed = || group.clone().map(CpuId).filter(|cpu| view.allowed(task, *cpu));
        let idle = allowed().filter(|cpu| view.nr_running(*cpu) == 0);
        let latest = idle.min_by_key(|cpu| Reverse(self.cpus[*cpu].idle_since));
        latest.or_else(|| allowed().min_by_key(|cpu| self.load(view, *cpu)))
    }

    /// A remote group clearly better than the local one (`sched_balance_find_dst_group`).
    fn idlest_group(
        &mut self,
        view: &dyn View,
        domain: &Domain,
        task: TaskId,
        cpu: CpuId,
    ) -> Option<(Range<u32>, Why)> {
        if self.rules.fork != Fork::Types {
            return self.idlest_by_load(view, domain, task, cpu);
        }
        let usable = |group: &Range<u32>| group.clone().any(|cpu| view.allowed(task, CpuId(cpu)));
        self.excluded.clone_from(&sim_core::machine::CpuSet::default());
        let mut best: Option<Stats> = None;
        for group in domain.remote(cpu).filter(usable) {
            let stats = self.sum(view, domain, group);
            if best.as_ref().is_none_or(|best| stats.idler_than(best)) {
                best = Some(stats);
            }
        }
        let best = best?;
        let here = domain.local(cpu);
        if !usable(&here) {
            return Some((best.cpus, Why::rule(rules::FORK_FORCED)));
        }
        let local = self.sum(view, domain, here);
        let better = match local.state {
            state if state != best.state => state > best.state,
            State::HasSpare => {
                let allowed =
                    || domain.local(cpu).filter(|cpu| view.allowed(task, CpuId(*cpu))).count() as u64;
                let stays = domain.kind == Kind::Numa && fork_stays(domain, cpu, (&local, &best), allowed);
                !stays && local.idle < best.idle
            }
            State::Misfit | State::SmtBalance | State::Packing | State::Imbalanced => false,
            State::FullyBusy | State::Overloaded => {
                let margin = UNIT * (domain.imbalance_pct() - 100) / 100;
                let (this, least) = (local.average(), best.average());
                let far = domain.kind == Kind::Numa && least + margin >= this;
                !far && this > least + margin && 100 * this > domain.imbalance_pct() * least
            }
        };
        better.then(|| (best.cpus.clone(), rules::fork(&best, &local)))
    }

    /// The same by loads (`find_idlest_group` to 5.4).
    fn idlest_by_load(
        &mut self,
        view: &dyn View,
        domain: &Domain,
        task: TaskId,
        cpu: CpuId,
    ) -> Option<(Range<u32>, Why)> {
        let usable = |group: &Range<u32>| group.clone().any(|cpu| view.allowed(task, CpuId(cpu)));
        let here = domain.local(cpu);
        let this = if usable(&here) { Some(self.loads_of(view, here)) } else { None };
        let near = UNIT * (domain.imbalance_pct() - 100) / 100;
        let margin = 100 + (domain.imbalance_pct() - 100) / 2;
        let averages = self.rules.fork == Fork::Averages;
        let mut best: Option<((u64, u64), Range<u32>)> = None;
        for group in domain.remote(cpu).filter(usable) {
            let loads = self.loads_of(view, group.clone());
            best = match best {
                Some((least, _)) if averages && least.0 > loads.0 + near => Some((loads, group)),
                // The loads are close: those of sleepers decide, the lower limit stays.
                Some((least, _))
                    if averages && loads.0 < least.0 + near && 100 * least.1 > margin * loads.1 =>
                {
                    Some(((least.0, loads.1), group))
                }
                Some((least, _)) if !averages && loads.0 < least.0 => Some((loads, group)),
                Some(best) => Some(best),
                None => Some((loads, group)),
            };
        }
        let (least, group) = best?;
        // Where its mask forbids the local group, 5.4 and earlier compare with no load at all or the highest.
        let this = match this {
            Some(this) => this,
            None if averages => return Some((group, Why::rule(rules::FORK_FORCED))),
            None => (0, 0),
        };
        let stays = if averages {
            let far = domain.kind == Kind::Numa && least.0 + near >= this.0;
            let close = this.0 < least.0 + near && 100 * this.1 < margin * least.1;
            far || least.0 > this.0 + near || close
        } else {
            100 * this.0 < margin * least.0
        };
        let why = Why::rule(rules::FORK_LOAD).with("load there", least.0).with("load here", this.0);
        (!stays).then_some((group, why))
    }

    /// The load of a group of cpus per full capacity: that of runnable tasks, and that of all.
    fn loads_of(&mut self, view: &dyn View, cpus: Range<u32>) -> (u64, u64) {
        let now = view.now();
        let (mut runnable, mut all, mut capacity) = (0, 0, 0);
        for cpu in cpus.map(CpuId) {
            runnable += self.load(view, cpu);
            all += self.cpus[cpu].load.get(now);
            capacity += self.capacity(cpu);
        }
        (runnable * UNIT / capacity, all * UNIT / capacity)
    }
}
