//! What idle cpus and the long-term balancer of ULE find in queues that stay as they are.

use std::ops::Range;

use sim_core::ids::TaskId;
use sim_core::time::Span;

use super::{Kernel, Report};

impl Report {
    fn core(&self, cpu: u32) -> Range<u32> {
        let siblings = if self.siblings > 1 { self.siblings } else { 1 };
        cpu / siblings * siblings..(cpu / siblings + 1) * siblings
    }

    fn queue_of(&self, cpu: u32) -> &[TaskId] {
        &self.stretch.tasks[cpu as usize]
    }

    /// Of these tasks one that waits may run there, whichever has the cpu.
    fn gives(&self, cpu: u32, to: u32) -> bool {
        self.queue_of(cpu).iter().filter(|task| self.allows(**task, to)).count() > 1
    }

    /// An idle cpu would have stolen a thread at its next tick (`tdq_idled` of FreeBSD 7): one of its core's,
    /// else one of the longest queue with at least `steal_thresh` threads, the last by number.
    pub(super) fn steals(&self, kernel: Kernel, tick: Span) -> bool {
        if kernel.name != "freebsd-7" || self.stretch.still <= tick * 2 {
            return false;
        }
        let (me, cpus) = (self.stretch.cpu.0, self.stretch.tasks.len() as u32);
        if let Some(victim) = self.core(me).find(|cpu| *cpu != me && self.queue_of(*cpu).len() > 1) {
            return self.gives(victim, me);
        }
        let threshold = cpus.ilog2().clamp(2, 3) as usize;
        let victim = (0..cpus).max_by_key(|cpu| (self.queue_of(*cpu).len(), *cpu));
        victim.is_some_and(|cpu| self.queue_of(cpu).len() >= threshold && self.gives(cpu, me))
    }

    /// Each pass of the long-term balancer moves a thread: whichever longest and shortest queue it finds.
    pub(super) fn every_pass_moves(&self, kernel: Kernel) -> bool {
        let cpus = self.stretch.tasks.len() as u32;
        if kernel.name != "freebsd-7" {
            // `sched_balance_group` tries all of them.
            return (0..cpus).any(|cpu| self.gives(cpu, self.stretch.cpu.0));
        }
        let cores: Vec<Range<u32>> =
            (0..cpus).step_by(self.siblings as usize).map(|cpu| self.core(cpu)).collect();
        let load = |core: &Range<u32>| core.clone().map(|cpu| self.queue_of(cpu).len()).sum::<usize>();
        let last_crowded = |core: &Range<u32>| core.clone().rev().find(|cpu| self.queue_of(*cpu).len() > 1);
        let most = cores.iter().filter(|core| last_crowded(core).is_some()).map(load).max().unwrap_or(0);
        let least = cores.iter().map(load).min().unwrap_or(0);
        let longest = || cores.iter().filter(|core| load(core) == most).filter_map(last_crowded);
        let mut shortest = cores.iter().filter(|core| load(core) == least).map(|core| core.end - 1);
        most > least && shortest.all(|low| longest().all(|high| self.gives(high, low)))
    }
}
