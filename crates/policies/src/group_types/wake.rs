//! Where woken tasks go: `wake_wide`, `wake_affine` and `select_idle_sibling` of Linux 5.5 and later.

use std::cmp::Reverse;
use std::ops::Range;

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{View, Why};
use sim_core::program::WEIGHT_IDLE;
use sim_core::time::{Span, Time};

use super::average::FINE;
use super::domains::{Domain, UNIT};
use super::unequal::{Rule, fits};
use super::{GroupTypes, rules};
use kernels::{IdleClass, Scan};

/// Whom a task wakes (`record_wakee`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wakes {
    /// The task it woke last.
    last: Option<TaskId>,
    /// How often that was another one than before; halved once if it is older than a second.
    flips: u32,
    /// When that was last done.
    halved: Time,
}

#[cfg(test)]
impl Wakes {
    /// With so many flips.
    pub(super) const fn flipped(now: Time, flips: u32) -> Self {
        Self { last: None, flips, halved: now }
    }

    /// Its flips.
    pub(super) const fn count(&self) -> u32 {
        self.flips
    }
}

/// A task that wakes.
#[derive(Clone, Copy, Debug)]
struct Woken {
    task: TaskId,
    /// What it uses of a cpu, 1,024 = all.
    used: u64,
    waker: CpuId,
    previous: CpuId,
    target: CpuId,
    recent: Option<CpuId>,
}

impl Woken {
    fn said(&self, view: &dyn View, cpu: CpuId, rule: &'static str) -> (CpuId, Why) {
        let why = Why::rule(rule).with("target cpu", u64::from(self.target.0));
        (cpu, why.with("tasks on the target", u64::from(view.nr_running(self.target))))
    }
}

/// How many of so many cpus a woken task looks at, by the sum of their utilisations
/// (`update_idle_cpu_scan`): the part 1 - (utilisation x pct)^2 of them.
pub(super) const fn scanned(utilisation: u64, cpus: u64, pct: u64) -> u64 {
    let mean = utilisation / cpus;
    let busy = mean * mean * pct * pct / (10_000 * UNIT);
    UNIT.saturating_sub(busy) * cpus / UNIT
}

impl GroupTypes {
    pub(super) fn wake(
        &mut self,
        view: &dyn View,
        task: TaskId,
        waker: CpuId,
        previous: CpuId,
    ) -> (CpuId, Why) {
        let by = view.next_task(waker);
        let wide =
            self.rules.wake_wide && by.is_some_and(|by| self.wakes_widely(view.now(), by, task, waker));
        let follows = self.options.affine_wakeups && !wide && view.allowed(task, waker);
        let affine = follows && waker != previous;
        let target = if affine { self.affine(view, task, waker, previous) } else { previous };
        let (now, unequal) = (view.now(), self.unequal.rule == Rule::Capacity);
        let as_previous = self.rules.previous_is_recent;
        let remembers = self.rules.recent_cpu;
        let record = self.task(task);
        let recent = record.recent.filter(|_| remembers);
        if as_previous {
            record.recent = Some(previous);
        }
        let used = if unequal { record.utilisation.asleep(now) } else { 0 };
        let used = used.max(record.utilisation.expected()) >> FINE;
        let woken = Woken { task, used, waker, previous, target, recent };
        let (cpu, why) = self.idle_sibling(view, &woken);
        if !as_previous {
            if Some(cpu) == recent && cpu != previous && cpu != target {
                self.task(task).recent = Some(previous);
            }
            if let Some(by) = by.filter(|_| follows) {
                self.task(by).recent = Some(waker);
            }
        }
        (cpu, why)
    }

    /// Notes that a task wakes another one, and whether both do so with many (`record_wakee`, `wake_wide`).
    /// Timers that fire on an idle cpu do not count.
    fn wakes_widely(&mut self, now: Time, by: TaskId, task: TaskId, waker: CpuId) -> bool {
        let wakes = &mut self.task(by).wakes;
        if now.since(wakes.halved) > Span::from_ms(1_000) {
            wakes.flips /= 2;
            wakes.halved = now;
        }
        if wakes.last.replace(task) != Some(task) {
            wakes.flips += 1;
        }
        let flips = [by, task].map(|task| u64::from(self.task(task).wakes.flips));
        let cpus = self.caches.members(self.caches.part(waker)).len() as u64;
        if self.rules.wide_by_wakee {
            return flips[1] > cpus && flips[0] > cpus * flips[1];
        }
        let (fewer, more) = (flips[0].min(flips[1]), flips[0].max(flips[1]));
        fewer >= cpus && more >= fewer * cpus
    }

    /// The waker's cpu or the previous one (`wake_affine`): an idle one, else the one with less load.
    fn affine(&mut self, view: &dyn View, task: TaskId, waker: CpuId, previous: CpuId) -> CpuId {
        let idle = |cpu: CpuId| view.nr_running(cpu) == 0;
        if self.rules.idle_waker_wins && idle(waker) && self.share_cache(waker, previous) {
            return if idle(previous) { previous } else { waker };
        }
        if self.rules.idle_previous_wins && idle(previous) {
            return previous;
        }
        let Some(domain) = self.domains.iter().find(|domain| domain.members(waker).contains(&previous.0))
        else {
            return previous;
        };
        let margin = 100 + (domain.imbalance_pct() - 100) / 2;
        let own = view.task_load_average(task);
        let own = own.unwrap_or_else(|| self.task(task).average.get(view.now()));
        let (here, there) = (self.load(view, waker), self.load(view, previous));
        let follows = if self.rules.idle_waker_wins {
            100 * (here + own) < margin * there.saturating_sub(own)
        } else {
            here == 0 || 100 * (here + own) <= margin * there
        };
        if follows { waker } else { previous }
    }

    fn share_cache(&self, a: CpuId, b: CpuId) -> bool {
        self.caches.part(a) == self.caches.part(b)
    }

    /// The cluster of a cpu, if it has one: of several cores.
    fn cluster(&self, cpu: CpuId) -> Option<Range<u32>> {
        let members = self.clusters.as_ref()?.around(cpu);
        (members != self.cores.around(cpu)).then_some(members)
    }

    /// They share what is nearest to them, a cluster or else a cache (`cpus_share_resources`, which compares
    /// the first cpus).
    fn share_resources(&self, a: CpuId, b: CpuId) -> bool {
        let shared = |cpu| self.cluster(cpu).unwrap_or_else(|| self.caches.around(cpu)).start;
        self.clusters.is_none() || shared(a) == shared(b)
    }

    /// The other cpus of a target's cache in the order of a scan: its cluster, and the others, each from the
    /// target on.
    fn around(&self, target: CpuId) -> impl Iterator<Item = CpuId> + use<> {
        let round = |of: Range<u32>| (target.0 + 1..of.end).chain(of.start..target.0.min(of.end));
        let cluster = self.cluster(target).unwrap_or(target.0..target.0 + 1);
        let first = round(cluster.clone());
        let others = round(self.caches.around(target)).filter(move |cpu| !cluster.contains(cpu));
        first.chain(others).map(CpuId)
    }

    /// Idle, or by the rule with tasks of `SCHED_IDLE` only (`sched_idle_cpu`): these have the least weight,
    /// and no other task has it.
    fn is_free(&self, view: &dyn View, task: TaskId, cpu: CpuId) -> bool {
        let tasks = u64::from(view.nr_running(cpu));
        if tasks == 0 || !self.idle_class {
            return tasks == 0;
        }
        let counts = match self.rules.idle_class {
            IdleClass::Busy => false,
            IdleClass::Idle => true,
            IdleClass::IdleForOthers => view.task(task).weight != WEIGHT_IDLE,
        };
        counts && view.load(cpu) == tasks * u64::from(WEIGHT_IDLE)
    }

    /// An idle cpu near the target (`select_idle_sibling`): the target, the previous or the one before when
    /// they share its cache, else one of the cache. By the rule those two come last if they are of another
    /// cluster.
    fn idle_sibling(&mut self, view: &dyn View, woken: &Woken) -> (CpuId, Why) {
        let Woken { task, target, .. } = *woken;
        let idle = |cpu: CpuId| self.is_free(view, task, cpu) && view.allowed(task, cpu);
        let equal = self.unequal.rule != Rule::Capacity;
        let large = |cpu: CpuId| equal || fits(woken.used, self.unequal.capacity(cpu));
        let near = [Some(target), Some(woken.previous), woken.recent].into_iter().flatten();
        let known = |cpu: &CpuId| self.share_cache(*cpu, target) && idle(*cpu) && large(*cpu);
        let mut known = near.filter(known);
        let apart = known.clone().find(|cpu| !self.share_resources(*cpu, target));
        if let Some(cpu) = known.find(|cpu| self.share_resources(*cpu, target)) {
            let rule = if cpu == target { rules::WAKE_TARGET } else { rules::WAKE_KNOWN };
            return woken.said(view, cpu, rule);
        }
        if let Some(domain) = self.unequal.full(&self.domains, target) {
            // `select_idle_capacity`: the first that is large enough, else the largest, the first of equals.
            let all = domain.members(target);
            let round = || (target.0..all.end).chain(all.start..target.0).map(CpuId).filter(|cpu| idle(*cpu));
            if let Some(cpu) = round().find(|cpu| large(*cpu)) {
                return woken.said(view, cpu, rules::WAKE_FITS);
            }
            let largest = round().min_by_key(|cpu| Reverse(self.unequal.capacity(*cpu)));
            let (cpu, rule) = largest.map_or((target, rules::WAKE_NONE), |cpu| (cpu, rules::WAKE_LARGEST));
            return woken.said(view, cpu, rule);
        }
        let limit = self.scan_limit(woken.waker, target);
        let found = self.scan(view, woken, limit);
        apart.filter(|_| found.0 == target).map_or(found, |cpu| woken.said(view, cpu, rules::WAKE_KNOWN))
    }

    /// An idle cpu of the target's cache: an idle core, then by the rule a thread of the previous core, as
    /// many cpus as the limit allows, and a thread of the target's core.
    fn scan(&self, view: &dyn View, woken: &Woken, limit: usize) -> (CpuId, Why) {
        let Woken { task, previous, target, .. } = *woken;
        let idle = |cpu: CpuId| self.is_free(view, task, cpu) && view.allowed(task, cpu);
        let group = self.caches.part(target);
        if self.idle_in_cache[group as usize] == 0 && !self.idle_class {
            return woken.said(view, target, rules::WAKE_NONE);
        }
        let near = self.caches.members(group);
        let around = || self.around(target);
        let core_idle = |cpu: &CpuId| self.cores.around(*cpu).all(|cpu| view.nr_running(CpuId(cpu)) == 0);
        if self.rules.scan == Scan::Cores {
            // Of an idle core the first cpu that the mask allows.
            let core = around().find(|cpu| core_idle(cpu) && idle(*cpu));
            let first = core.map(|core| self.cores.around(core).map(CpuId).find(|cpu| idle(*cpu)));
            let thread = || self.cores.around(target).map(CpuId).find(|cpu| idle(*cpu));
            return match (first.flatten(), thread()) {
                (Some(cpu), _) => woken.said(view, cpu, rules::WAKE_CORE),
                (None, Some(cpu)) => woken.said(view, cpu, rules::WAKE_TARGETS_THREAD),
                (None, None) => woken.said(view, target, rules::WAKE_NONE),
            };
        }
        let threaded = self.cores.largest() > 1;
        if let Some(cpu) = around().find(|cpu| threaded && limit > 0 && core_idle(cpu) && idle(*cpu)) {
            return woken.said(view, cpu, rules::WAKE_CORE);
        }
        let thread = |core: CpuId| self.cores.around(core).map(CpuId).find(|cpu| *cpu != core && idle(*cpu));
        let previous_first = self.rules.previous_core_first && self.share_cache(previous, target);
        // Where an idle core is known of, only the search that the limit forbids would find it.
        if previous_first
            && !(threaded && limit == 0 && around().any(|cpu| core_idle(&cpu)))
            && let Some(cpu) = thread(previous)
        {
            return woken.said(view, cpu, rules::WAKE_THREAD);
        }
        let mut scanned = around().filter(|cpu| view.allowed(task, *cpu)).take(limit);
        if let Some(cpu) = scanned.find(|cpu| self.is_free(view, task, *cpu)) {
            return woken.said(view, cpu, rules::WAKE_CPU);
        }
        if !self.rules.previous_core_first
            && let Some(cpu) = thread(target)
        {
            return woken.said(view, cpu, rules::WAKE_TARGETS_THREAD);
        }
        if limit >= near.len() {
            return woken.said(view, target, rules::WAKE_NONE);
        }
        let (cpu, why) = woken.said(view, target, rules::WAKE_LIMIT);
        (cpu, why.with("cpus looked at", limit as u64))
    }

    /// How many cpus of the target's cache a scan looks at.
    fn scan_limit(&mut self, waker: CpuId, target: CpuId) -> usize {
        let group = self.caches.part(target);
        match self.rules.scan {
            Scan::All | Scan::Cores => usize::MAX,
            Scan::Utilisation => self.scanned[group as usize] as usize,
            Scan::Proportional => {
                let cpus = self.caches.members(group).len() as u64;
                let record = &mut self.cpus[waker];
                let affordable = cpus * (record.avg_idle / 512) / (record.scan_cost + 1);
                let limit = affordable.max(4) - 1;
                let cost = self.options.scan_cost.ns() * limit.min(cpus);
                record.scan_cost = record.scan_cost - record.scan_cost / 8 + cost / 8;
                limit as usize
            }
        }
    }

    /// A periodic look at the domain of a cache has found this utilisation (`update_idle_cpu_scan`).
    pub(super) fn limit_scans(&mut self, domain: &Domain, me: CpuId, utilisation: u64) {
        let group = self.caches.part(me);
        let cpus = self.caches.members(group);
        if domain.members(me) == cpus {
            let limit = scanned(utilisation, cpus.len() as u64, domain.imbalance_pct());
            self.scanned[group as usize] = limit as u32;
        }
    }
}
