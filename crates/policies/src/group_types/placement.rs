//! Where new and woken tasks go: `sched_balance_find_dst_cpu`, `wake_affine` and `select_idle_sibling` of
//! Linux 6.x.

use std::cmp::Reverse;
use std::ops::Range;

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Placement, View, Why};

use super::average::FINE;
use super::busiest::numa_imbalance;
use super::domains::{Domain, Kind, UNIT};
use super::group::{State, Stats};
use super::unequal::{Rule, fits};
use super::{GroupTypes, rules};
use crate::spread::unless_masked;

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
        latest.or_else(|| allowed().min_by_key(|cpu| self.cpus[*cpu].load.get(view.now())))
    }

    /// A remote group clearly better than the local one (`sched_balance_find_dst_group`).
    fn idlest_group(
        &mut self,
        view: &dyn View,
        domain: &Domain,
        task: TaskId,
        cpu: CpuId,
    ) -> Option<(Range<u32>, Why)> {
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
                let gap = local.idle.abs_diff(best.idle);
                let allowed =
                    || domain.local(cpu).filter(|cpu| view.allowed(task, CpuId(*cpu))).count() as u64;
                let tolerated = domain.kind == Kind::Numa
                    && numa_imbalance(gap, local.tasks + 1, domain.numa_slack.min(allowed())) == 0;
                !tolerated && local.idle < best.idle
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

    fn wake(&mut self, view: &dyn View, task: TaskId, waker: CpuId, previous: CpuId) -> (CpuId, Why) {
        let affine = self.options.affine_wakeups && waker != previous && view.allowed(task, waker);
        let target = if affine { self.affine(view, task, waker, previous) } else { previous };
        let (now, unequal) = (view.now(), self.unequal.rule == Rule::Capacity);
        let record = self.task(task);
        let recent = record.recent.replace(previous);
        let used = if unequal { record.utilisation.asleep(now) } else { 0 };
        let used = used.max(record.utilisation.expected()) >> FINE;
        self.idle_sibling(view, (task, used), previous, target, recent)
    }

    /// The waker's cpu or the previous one (`wake_affine`): an idle one, else the one with less load.
    fn affine(&mut self, view: &dyn View, task: TaskId, waker: CpuId, previous: CpuId) -> CpuId {
        let idle = |cpu: CpuId| view.nr_running(cpu) == 0;
        if idle(waker) && self.share_cache(waker, previous) {
            return if idle(previous) { previous } else { waker };
        }
        if idle(previous) {
            return previous;
        }
        let Some(domain) = self.domains.iter().find(|domain| domain.members(waker).contains(&previous.0))
        else {
            return previous;
        };
        let margin = 100 + (domain.imbalance_pct() - 100) / 2;
        let now = view.now();
        let own = self.task(task).average.get(now);
        let here = self.cpus[waker].load.get(now) + own;
        let there = self.cpus[previous].load.get(now).saturating_sub(own);
        if 100 * here < margin * there { waker } else { previous }
    }

    fn share_cache(&self, a: CpuId, b: CpuId) -> bool {
        self.caches.part(a) == self.caches.part(b)
    }

    /// An idle cpu near `target` (`select_idle_sibling`): the target, the previous or the one before when
    /// they share its cache, then an idle core, a thread of the previous core (`select_idle_smt`), and any
    /// idle cpu of the cache.
    fn idle_sibling(
        &self,
        view: &dyn View,
        (task, used): (TaskId, u64),
        previous: CpuId,
        target: CpuId,
        recent: Option<CpuId>,
    ) -> (CpuId, Why) {
        let said = |cpu: CpuId, rule: &'static str| {
            let why = Why::rule(rule).with("target cpu", u64::from(target.0));
            (cpu, why.with("tasks on the target", u64::from(view.nr_running(target))))
        };
        let idle = |cpu: CpuId| view.nr_running(cpu) == 0 && view.allowed(task, cpu);
        let equal = self.unequal.rule != Rule::Capacity;
        let large = |cpu: CpuId| equal || fits(used, self.unequal.capacity(cpu));
        let near = [Some(target), Some(previous), recent].into_iter().flatten();
        let known = |cpu: &CpuId| self.share_cache(*cpu, target) && idle(*cpu) && large(*cpu);
        if let Some(cpu) = near.into_iter().find(known) {
            return said(cpu, if cpu == target { rules::WAKE_TARGET } else { rules::WAKE_KNOWN });
        }
        if let Some(domain) = self.unequal.full(&self.domains, target) {
            // `select_idle_capacity`: the first that is large enough, else the largest, the first of equals.
            let all = domain.members(target);
            let round = || (target.0..all.end).chain(all.start..target.0).map(CpuId).filter(|cpu| idle(*cpu));
            if let Some(cpu) = round().find(|cpu| large(*cpu)) {
                return said(cpu, rules::WAKE_FITS);
            }
            let largest = round().min_by_key(|cpu| Reverse(self.unequal.capacity(*cpu)));
            return largest.map_or(said(target, rules::WAKE_NONE), |cpu| said(cpu, rules::WAKE_LARGEST));
        }
        let group = self.caches.part(target);
        if self.idle_in_cache[group as usize] == 0 {
            return said(target, rules::WAKE_NONE);
        }
        let near = self.caches.members(group);
        let around = || (target.0 + 1..near.end).chain(near.start..target.0).map(CpuId);
        let core_idle = |cpu: &CpuId| self.cores.around(*cpu).all(|cpu| view.nr_running(CpuId(cpu)) == 0);
        let core = around().find(|cpu| self.cores.largest() > 1 && core_idle(cpu) && idle(*cpu));
        if let Some(cpu) = core {
            return said(cpu, rules::WAKE_CORE);
        }
        if self.share_cache(previous, target) {
            let mut threads = self.cores.around(previous).map(CpuId).filter(|cpu| *cpu != previous);
            if let Some(cpu) = threads.find(|cpu| idle(*cpu)) {
                return said(cpu, rules::WAKE_THREAD);
            }
        }
        around()
            .find(|cpu| idle(*cpu))
            .map_or(said(target, rules::WAKE_NONE), |cpu| said(cpu, rules::WAKE_CPU))
    }
}
