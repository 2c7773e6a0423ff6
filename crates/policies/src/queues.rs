//! Counts of idle and crowded cpus by group, kept up to date from the hooks, so that a search is made only where it can succeed.

use sim_core::ids::CpuId;
use sim_core::machine::PerCpu;
use sim_core::policy::View;

/// Idle and crowded cpus of groups of `span` cpus.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    span: u32,
    counts: PerCpu<u32>,
    /// Cpus without a task, by group.
    idle: Vec<u32>,
    /// Cpus with two tasks or more, by group.
    crowded: Vec<u32>,
    all_idle: u32,
    all_crowded: u32,
}

impl Queues {
    pub(crate) fn new(cpus: u32, span: u32) -> Self {
        let groups = cpus.div_ceil(span.max(1)) as usize;
        let size = |group: usize| span.min(cpus - group as u32 * span);
        Self {
            span: span.max(1),
            counts: PerCpu::filled(cpus as usize, 0),
            idle: (0..groups).map(size).collect(),
            crowded: vec![0; groups],
            all_idle: cpus,
            all_crowded: 0,
        }
    }

    /// The queue of `cpu` has changed.
    pub(crate) fn note(&mut self, view: &dyn View, cpu: CpuId) {
        let after = view.nr_running(cpu);
        let before = std::mem::replace(&mut self.counts[cpu], after);
        let group = (cpu.0 / self.span) as usize;
        let change = |count: &mut u32, was: bool, is: bool| {
            *count = (*count + u32::from(is)).saturating_sub(u32::from(was));
        };
        change(&mut self.idle[group], before == 0, after == 0);
        change(&mut self.all_idle, before == 0, after == 0);
        change(&mut self.crowded[group], before >= 2, after >= 2);
        change(&mut self.all_crowded, before >= 2, after >= 2);
    }

    /// The group of a cpu.
    pub(crate) const fn group(&self, cpu: CpuId) -> u32 {
        cpu.0 / self.span
    }

    /// Cpus per group; the last group may have fewer.
    pub(crate) const fn span(&self) -> u32 {
        self.span
    }

    /// Idle cpus of a group.
    pub(crate) fn idle_in(&self, group: u32) -> u32 {
        self.idle.get(group as usize).copied().unwrap_or(0)
    }

    /// Idle cpus of the machine.
    pub(crate) const fn idle(&self) -> u32 {
        self.all_idle
    }

    /// Crowded cpus of a group.
    pub(crate) fn crowded_in(&self, group: u32) -> u32 {
        self.crowded.get(group as usize).copied().unwrap_or(0)
    }

    /// Crowded cpus of the machine.
    pub(crate) const fn crowded(&self) -> u32 {
        self.all_crowded
    }
}
