//! Searches by levels, the rules of FreeBSD 12: the last cpu, the least loaded cpu by levels, steals from the
//! nearest queue of two, all queues balanced.

use std::ops::Range;

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::policy::{CpuChoice, System, View, Why};
use sim_core::time::Span;

use super::Ule;
use crate::spread::first_allowed;

/// Weight of a thread in the comparison of queues, of the preferred cpu, and the range of the random part
/// (`cpu_search`).
const THREAD: u64 = 256;
const PREFERRED: u64 = 64;
const NOISE: u64 = 32;

impl Ule {
    /// `sched_pickcpu`.
    pub(super) fn pick_nearest(
        &mut self,
        view: &dyn View,
        task: TaskId,
        previous: CpuId,
        waker: Option<CpuId>,
    ) -> CpuChoice {
        let idle = |cpu: CpuId| view.nr_running(cpu) == 0 && view.allowed(task, cpu);
        // A forked thread counts as having run where its parent runs.
        let away = if waker.is_none() { Span::ZERO } else { view.now().since(view.task(task).last_ran) };
        let why = |rule| Why::rule(rule).with("time since it ran, ns", away.ns());
        if away <= self.affinity * 2 && idle(previous) {
            return CpuChoice::new(previous, why("placed: its last cpu is idle and warm"));
        }
        let group = self.queues.group(previous);
        if away <= self.affinity * 3
            && self.queues.idle_in(group) > 0
            && let Some(cpu) = self.lowest(view, self.queues.near(previous), previous, idle)
        {
            return CpuChoice::new(cpu, why("placed: idle cpu that shares its warm cache"));
        }
        let all = 0..view.machine().cpus();
        let Some(lowest) = self.lowest(view, all, previous, |cpu| view.allowed(task, cpu)) else {
            return CpuChoice::new(first_allowed(view, task), why("placed: first allowed cpu"));
        };
        let load = view.nr_running(lowest);
        let why = why("placed: least loaded cpu").with("threads there", load.into());
        match waker {
            Some(waker) if load > 0 && view.allowed(task, waker) && view.nr_running(waker) <= load + 1 => {
                let why = Why::rule("placed: no idle cpu, goes to its waker's cpu")
                    .with("least threads", load.into());
                CpuChoice::new(waker, why.with("threads there", view.nr_running(waker).into()))
            }
            _ => CpuChoice::new(lowest, why),
        }
    }

    /// The least loaded cpu that will do; a thread weighs more than any preference, ties fall at random.
    fn lowest(
        &mut self,
        view: &dyn View,
        cpus: Range<u32>,
        preferred: CpuId,
        fits: impl Fn(CpuId) -> bool,
    ) -> Option<CpuId> {
        let mut best: Option<(u64, CpuId)> = None;
        for cpu in cpus.map(CpuId).filter(|cpu| fits(*cpu)) {
            let load = THREAD * (1 + u64::from(view.nr_running(cpu))) + self.draw(view, NOISE);
            let load = if cpu == preferred { load - PREFERRED } else { load };
            if best.is_none_or(|(least, _)| load < least) {
                best = Some((load, cpu));
            }
        }
        best.map(|(_, cpu)| cpu)
    }

    /// The most loaded cpu of a group with at least `least` threads, not among `done`.
    fn highest(view: &dyn View, cpus: Range<u32>, least: u32, done: &CpuSet) -> Option<CpuId> {
        let candidates = cpus.map(CpuId).filter(|cpu| view.nr_running(*cpu) >= least && !done.contains(*cpu));
        candidates.max_by_key(|cpu| (view.nr_running(*cpu), std::cmp::Reverse(cpu.0)))
    }

    /// `tdq_idled`.
    pub(super) fn steal_near(&mut self, system: &mut dyn System, cpu: CpuId) {
        let mut done = CpuSet::default();
        for level in 0..self.spans.len() {
            let group = self.spans[level].around(cpu);
            while let Some(victim) = Self::highest(system, group.clone(), self.threshold, &done) {
                let why = Why::rule("stolen: from the longest queue of the nearest level")
                    .with("cpus of the level", group.len() as u64);
                if self.take(system, victim, cpu, why) {
                    return;
                }
                done.insert(victim);
            }
        }
    }

    /// `sched_balance_group` over the machine.
    pub(super) fn balance_all(&mut self, system: &mut dyn System) {
        let all = 0..system.machine().cpus();
        let why = Why::rule("moved: the long-term balancer, from the longest queue to the shortest");
        let mut done = CpuSet::default();
        while let Some(high) = Self::highest(system, all.clone(), 2, &done) {
            done.insert(high);
            let most = system.nr_running(high);
            let mut refused = CpuSet::default();
            loop {
                let view: &dyn View = system;
                let fits = |cpu| !done.contains(cpu) && !refused.contains(cpu) && view.nr_running(cpu) < most;
                let Some(low) = self.lowest(view, all.clone(), high, fits) else {
                    if refused.is_empty() {
                        return;
                    }
                    break;
                };
                if self.take(system, high, low, why) {
                    done.insert(low);
                    break;
                }
                refused.insert(low);
            }
        }
    }
}
