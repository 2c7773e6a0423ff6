//! Scheduling domains of Linux 2.6.28, derived from the machine's tree: templates, groups, group powers.
//!
//! Values of the templates: include/linux/topology.h and arch/x86/include/asm/topology.h of 2.6.28; construction:
//! `__build_sched_domains` and `init_sched_groups_power` of kernel/sched.c.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::machine::{Level, Topology};

/// Power of a group that can run one task at full speed (`SCHED_LOAD_SCALE`).
pub(super) const UNIT: u64 = 1024;
/// Nodes that one NODE domain spans at most (`SD_NODES_PER_DOMAIN`).
const NODES_PER_DOMAIN: u32 = 16;

/// What the balancer does at a level (the SD_INIT macros). Intervals in milliseconds, `*_index` select a load average.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Template {
    pub(super) name: &'static str,
    pub(super) min_ms: u64,
    pub(super) max_ms: u64,
    pub(super) busy_factor: u64,
    pub(super) imbalance_pct: u64,
    pub(super) cache_nice_tries: u32,
    pub(super) busy_index: usize,
    pub(super) idle_index: usize,
    pub(super) newidle_index: usize,
    pub(super) wake_index: usize,
    pub(super) fork_index: usize,
    pub(super) newidle: bool,
    pub(super) fork: bool,
    pub(super) wake_affine: bool,
    pub(super) wake_balance: bool,
    pub(super) share_cpu_power: bool,
}

const SMT: Template = Template {
    name: "SMT",
    min_ms: 1,
    max_ms: 2,
    busy_factor: 64,
    imbalance_pct: 110,
    cache_nice_tries: 0,
    busy_index: 0,
    idle_index: 0,
    newidle_index: 0,
    wake_index: 0,
    fork_index: 0,
    newidle: true,
    fork: true,
    wake_affine: true,
    wake_balance: true,
    share_cpu_power: true,
};
const MC: Template = Template {
    name: "MC",
    max_ms: 4,
    imbalance_pct: 125,
    cache_nice_tries: 1,
    busy_index: 2,
    wake_index: 1,
    fork_index: 1,
    newidle: false,
    share_cpu_power: false,
    ..SMT
};
const CPU: Template = Template { name: "CPU", idle_index: 1, newidle_index: 2, ..MC };
const NODE: Template = Template {
    name: "NODE",
    min_ms: 8,
    max_ms: 32,
    busy_factor: 32,
    cache_nice_tries: 2,
    busy_index: 3,
    idle_index: 2,
    ..CPU
};
const ALLNODES: Template = Template {
    name: "ALLNODES",
    min_ms: 64,
    max_ms: 64,
    busy_factor: 128,
    imbalance_pct: 133,
    cache_nice_tries: 1,
    busy_index: 3,
    idle_index: 3,
    newidle_index: 0,
    wake_index: 0,
    fork_index: 0,
    newidle: true,
    fork: false,
    wake_affine: true,
    wake_balance: false,
    share_cpu_power: false,
};

/// A level of the domain hierarchy; every cpu has one domain of each. Uniform, because machines are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Domain {
    pub(super) template: Template,
    /// Cpus of one domain (the last one may be smaller).
    pub(super) span: u32,
    /// Cpus of one of its groups.
    pub(super) group: u32,
    /// Power of one of its groups; 1,024 = one task.
    pub(super) power: u64,
    /// Cpus of the machine.
    cpus: u32,
}

impl Domain {
    /// The cpus of the domain that holds `cpu`.
    pub(super) const fn members(&self, cpu: CpuId) -> Range<u32> {
        let start = cpu.0 / self.span * self.span;
        let end = start + self.span;
        start..if end < self.cpus { end } else { self.cpus }
    }

    /// True when both cpus are in one domain of this level.
    pub(super) const fn shared(&self, a: CpuId, b: CpuId) -> bool {
        a.0 / self.span == b.0 / self.span
    }

    /// The cpus of the group that holds `cpu`.
    pub(super) const fn local(&self, cpu: CpuId) -> Range<u32> {
        let start = cpu.0 / self.group * self.group;
        start..start + self.group
    }

    /// The other groups of the domain of `cpu`, in the kernel's circular order after its own.
    pub(super) fn remote(&self, cpu: CpuId) -> impl Iterator<Item = Range<u32>> + use<> {
        let members = self.members(cpu);
        let (first, size) = (members.start, self.group);
        let groups = (members.end - members.start) / size;
        let own = (cpu.0 - first) / size;
        (1..groups).map(move |i| {
            let start = first + (own + i) % groups * size;
            start..start + size
        })
    }

    /// Which domain of this level holds `cpu`.
    pub(super) const fn instance(&self, cpu: CpuId) -> usize {
        (cpu.0 / self.span) as usize
    }

    /// The number of domains of this level.
    pub(super) const fn instances(&self) -> usize {
        self.cpus.div_ceil(self.span) as usize
    }
}

/// The domains above each cpu, lowest first; levels with fewer than two groups are left out (the kernel removes
/// them, or keeps them without effect).
///
/// SMT: threads of a core. MC: cores that share a cache the kernel knows of (the machine's `cache` level). CPU: such
/// groups within a NUMA node. NODE: nodes, up to 16. ALLNODES: all nodes of a larger machine. A group whose cpus
/// share a cache or a core counts as one unit of power, so on pairs that share an L2 two tasks already crowd a group.
/// Simplification: NODE domains are fixed blocks of 16 nodes, where the kernel takes the 16 nearest nodes of each.
pub(super) fn build(topology: &Topology) -> Vec<Domain> {
    let cpus = topology.cpus();
    let (core, cache, node) =
        (topology.span(Level::Core), topology.span(Level::Cache), topology.span(Level::Node));
    let nodes_power = UNIT * u64::from((node / cache).max(1));
    let block = node.saturating_mul(NODES_PER_DOMAIN).min(cpus);
    let all_span = if cpus > block { cpus } else { node };
    let levels = [
        (SMT, core, 1, UNIT),
        (MC, cache, core, UNIT),
        (CPU, node, cache, UNIT),
        (NODE, block, node, nodes_power),
        (ALLNODES, all_span, node, nodes_power),
    ];
    let useful = levels.into_iter().filter(|(_, span, group, _)| span > group);
    useful.map(|(template, span, group, power)| Domain { template, span, group, power, cpus }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(levels: &[(Level, u32)]) -> Vec<(&'static str, u32, u32, u64)> {
        let domains = build(&Topology::new(levels).unwrap());
        domains.iter().map(|d| (d.template.name, d.span, d.group, d.power)).collect()
    }

    #[test]
    fn machines_of_the_literature() {
        let tigerton = shape(&[(Level::Package, 4), (Level::Cache, 2), (Level::Core, 2)]);
        assert_eq!(tigerton, [("MC", 2, 1, 1024), ("CPU", 16, 2, 1024)]);
        let barcelona = shape(&[(Level::Package, 4), (Level::Node, 1), (Level::Core, 4)]);
        assert_eq!(barcelona, [("CPU", 4, 1, 1024), ("NODE", 16, 4, 4096)]);
        let nehalem = shape(&[
            (Level::Package, 2),
            (Level::Node, 1),
            (Level::Cache, 1),
            (Level::Core, 4),
            (Level::Thread, 2),
        ]);
        assert_eq!(nehalem, [("SMT", 2, 1, 1024), ("MC", 8, 2, 1024), ("NODE", 16, 8, 1024)]);
    }

    #[test]
    fn large_and_tiny_machines() {
        assert_eq!(shape(&[(Level::Core, 1)]), []);
        let starcat = shape(&[(Level::Node, 18), (Level::Package, 4), (Level::Core, 2)]);
        assert_eq!(starcat, [("CPU", 8, 1, 1024), ("NODE", 128, 8, 8192), ("ALLNODES", 144, 8, 8192)]);
        let domains = build(&Topology::new(&[(Level::Node, 18), (Level::Core, 8)]).unwrap());
        assert_eq!(domains[1].members(CpuId(143)), 128..144);
        assert!(domains[1].remote(CpuId(143)).eq([128..136, 0..0].into_iter().take(1)));
    }

    #[test]
    fn groups_go_round_from_the_own_one() {
        let domains = build(&Topology::new(&[(Level::Node, 4), (Level::Core, 4)]).unwrap());
        assert_eq!(domains[1].remote(CpuId(5)).collect::<Vec<_>>(), [8..12, 12..16, 0..4]);
        assert_eq!(domains[1].local(CpuId(5)), 4..8);
    }
}
