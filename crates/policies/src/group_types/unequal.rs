//! Cores of different speeds: which of the two rules of the kernel holds on a machine, and what it compares.
//!
//! Source: `SD_ASYM_CPUCAPACITY` and `SD_ASYM_PACKING` of kernel/sched/fair.c and topology.c, Linux 6.12 to
//! 6.18. Arm has capacities. x86 has them since 6.12 where no core has two hardware threads
//! (`hybrid_init_cpu_capacity_scaling` of drivers/cpufreq/intel_pstate.c); otherwise it has priorities
//! (arch/x86/kernel/itmt.c).

use std::ops::Range;

use notation::choices;
use sim_core::ids::CpuId;
use sim_core::machine::{Division, Level, Machine, PerCpu};
use sim_core::policy::View;

use super::domains::{Domain, Kind, UNIT};

choices! {
    /// How cores of different speeds are told apart.
    pub(crate) enum UnequalCores {
        Machine = "machine",
        Off = "off",
        Capacity = "capacity",
        Packing = "packing",
    }
}

/// The rule of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// All cores count as equal.
    Equal,
    /// Tasks that use more than a core has go to a larger one.
    Capacity,
    /// Idle cores of higher priority take the tasks of lower ones.
    Packing,
}

/// The cores of a machine, as far as they differ.
#[derive(Debug)]
pub(super) struct Unequal {
    pub(super) rule: Rule,
    /// Of each cpu, 1,024 = the fastest (`arch_scale_cpu_capacity`); the same for all without capacities.
    capacity: PerCpu<u64>,
    /// `arch_asym_cpu_priority`: by speed.
    priority: PerCpu<u64>,
    cores: Division,
    /// A look at the whole machine has seen a task that its cpu is too slow for (`SG_OVERLOADED`).
    pub(super) seen: bool,
}

/// `fits_capacity`: a fifth of the capacity stays free.
pub(super) const fn fits(utilisation: u64, capacity: u64) -> bool {
    utilisation * 1_280 < capacity * 1_024
}

/// `capacity_greater`: by a twentieth.
pub(super) const fn greater(one: u64, other: u64) -> bool {
    one * 1_024 > other * 1_078
}

impl Unequal {
    pub(super) fn new(machine: &Machine, wanted: UnequalCores) -> Self {
        let speed = |cpu| machine.speed_of(cpu).raw();
        let fastest = machine.cpu_ids().map(speed).max().unwrap_or(1).max(1);
        let differ = machine.cpu_ids().any(|cpu| speed(cpu) != fastest);
        let rule = match wanted {
            _ if !differ => Rule::Equal,
            UnequalCores::Off => Rule::Equal,
            UnequalCores::Machine if machine.topology.span(Level::Core) > 1 => Rule::Packing,
            UnequalCores::Packing => Rule::Packing,
            UnequalCores::Machine | UnequalCores::Capacity => Rule::Capacity,
        };
        let scaled = |cpu| (u128::from(speed(cpu)) * u128::from(UNIT) / u128::from(fastest)) as u64;
        let capacity = |cpu| if rule == Rule::Capacity { scaled(cpu).max(1) } else { UNIT };
        Self {
            rule,
            capacity: machine.cpu_ids().map(capacity).collect(),
            priority: machine.cpu_ids().map(speed).collect(),
            cores: machine.topology.division(Level::Core),
            seen: false,
        }
    }

    pub(super) fn capacity(&self, cpu: CpuId) -> u64 {
        self.capacity[cpu]
    }

    /// The priority of a cpu.
    pub(super) fn priority(&self, cpu: CpuId) -> u64 {
        self.priority[cpu]
    }

    /// A level with what follows from unequal cores in the domain of a cpu.
    pub(super) fn domain(&self, domain: &Domain, cpu: CpuId) -> Domain {
        let mut domain = domain.clone();
        match self.rule {
            Rule::Equal => {}
            Rule::Capacity => {
                domain.asymmetric = self.differ(domain.members(cpu));
                // Nothing is spread over cpus of different capacities.
                domain.prefer_sibling &= !domain.asymmetric;
            }
            // `x86_cluster_flags`, `x86_core_flags` and `x86_die_flags` have it, threads of a core and NUMA
            // levels do not.
            Rule::Packing => domain.packs = !matches!(domain.kind, Kind::Smt | Kind::Numa),
        }
        domain
    }

    fn differ(&self, mut cpus: Range<u32>) -> bool {
        let first = self.capacity[CpuId(cpus.start)];
        cpus.any(|cpu| self.capacity[CpuId(cpu)] != first)
    }

    /// Smallest and largest capacity of a group.
    pub(super) fn capacities(&self, cpus: &Range<u32>) -> (u64, u64) {
        if self.rule != Rule::Capacity {
            return (UNIT, UNIT);
        }
        let all = || cpus.clone().map(|cpu| self.capacity[CpuId(cpu)]);
        (all().min().unwrap_or(UNIT), all().max().unwrap_or(UNIT))
    }

    /// The lowest level whose domain of a cpu has cores of all capacities (`SD_ASYM_CPUCAPACITY_FULL`).
    pub(super) fn full<'a>(&self, domains: &'a [Domain], cpu: CpuId) -> Option<&'a Domain> {
        if self.rule != Rule::Capacity {
            return None;
        }
        let everywhere = self.kinds(0..self.capacity.len() as u32);
        domains.iter().find(|domain| self.kinds(domain.members(cpu)) == everywhere)
    }

    fn kinds(&self, cpus: Range<u32>) -> usize {
        let mut kinds: Vec<u64> = cpus.map(|cpu| self.capacity[CpuId(cpu)]).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len()
    }

    /// A cpu with less than the largest capacity.
    pub(super) fn is_small(&self, cpu: CpuId) -> bool {
        self.capacity[cpu] < UNIT
    }

    /// The siblings of a cpu are idle (`is_core_idle`).
    pub(super) fn siblings_idle(&self, view: &dyn View, cpu: CpuId) -> bool {
        self.cores.around(cpu).map(CpuId).all(|other| other == cpu || view.nr_running(other) == 0)
    }

    /// Priorities count for a cpu (`sched_use_asym_prio`): between cores only where the rest of its core is
    /// idle.
    pub(super) fn by_priority(&self, view: &dyn View, domain: &Domain, cpu: CpuId) -> bool {
        domain.packs && self.siblings_idle(view, cpu)
    }

    /// A cpu may take the task of another one that is worse (`sched_asym`).
    pub(super) fn prefers(&self, view: &dyn View, domain: &Domain, to: CpuId, from: u64) -> bool {
        self.by_priority(view, domain, to) && self.priority[to] > from
    }

    /// A group may give to `me` for the sake of priorities (`sched_group_asym`).
    pub(super) fn packs(
        &self,
        view: &dyn View,
        domain: &Domain,
        group: (&Range<u32>, u64),
        me: CpuId,
    ) -> bool {
        let (cpus, idle) = group;
        let size = u64::from(cpus.end - cpus.start);
        let core = size > 1 && self.cores.around(CpuId(cpus.start)) == *cpus;
        let crowded_core = core && size - idle != 1;
        !crowded_core && self.prefers(view, domain, me, self.best(cpus))
    }

    /// The highest priority of a group (`asym_prefer_cpu`).
    pub(super) fn best(&self, cpus: &Range<u32>) -> u64 {
        let all = cpus.clone().filter(|_| self.rule == Rule::Packing);
        all.map(|cpu| self.priority[CpuId(cpu)]).max().unwrap_or(0)
    }

    /// An idle core has a higher priority than a busy one (`nohz_balancer_kick`).
    pub(super) fn idles_above(&self, view: &dyn View) -> bool {
        if self.rule != Rule::Packing {
            return false;
        }
        let all = || (0..self.priority.len() as u32).map(CpuId);
        let idle = |cpu: &CpuId| view.nr_running(*cpu) == 0;
        let free = all().filter(|cpu| idle(cpu) && self.siblings_idle(view, *cpu));
        let worst = all().filter(|cpu| !idle(cpu)).map(|cpu| self.priority[cpu]).min();
        worst.is_some_and(|worst| free.map(|cpu| self.priority[cpu]).any(|free| free > worst))
    }
}
