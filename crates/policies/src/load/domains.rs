//! Scheduling domains of Linux 2.6.18 to 2.6.30, derived from the machine's tree: levels, groups, group
//! powers.
//!
//! Construction: `__build_sched_domains`, `sd_degenerate` and `init_sched_groups_power` of kernel/sched.c.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::machine::{Division, Level, Topology};

use crate::domain_level::DomainLevel;

use super::releases::{Template, Templates};

/// Power of a group that can run one task at full speed (`SCHED_LOAD_SCALE`).
pub(super) const UNIT: u64 = 1024;
/// Nodes that one NODE domain spans at most (`SD_NODES_PER_DOMAIN`).
const NODES_PER_DOMAIN: u32 = 16;

/// A level of the domain hierarchy; every cpu has one domain of each. Where parts of a machine differ, the
/// domain of a cpu may have one group only, in which nothing happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Domain {
    pub(super) template: Template,
    /// The domains (the last one may be smaller).
    pub(super) domains: Division,
    /// Their groups.
    pub(super) groups: Division,
    /// Power of one of its groups; 1,024 = one task.
    pub(super) power: u64,
}

impl Domain {
    /// The cpus of the domain that holds `cpu`.
    pub(super) fn members(&self, cpu: CpuId) -> Range<u32> {
        self.domains.around(cpu)
    }

    /// True when both cpus are in one domain of this level.
    pub(super) fn shared(&self, a: CpuId, b: CpuId) -> bool {
        self.domains.part(a) == self.domains.part(b)
    }

    /// The cpus of the group that holds `cpu`.
    pub(super) fn local(&self, cpu: CpuId) -> Range<u32> {
        self.groups.around(cpu)
    }

    /// The groups of the domain of `cpu` by number.
    fn numbers(&self, cpu: CpuId) -> Range<u32> {
        let members = self.members(cpu);
        self.groups.part(CpuId(members.start))..self.groups.part(CpuId(members.end - 1)) + 1
    }

    /// The other groups of the domain of `cpu`, in the kernel's circular order after its own.
    pub(super) fn remote(&self, cpu: CpuId) -> impl Iterator<Item = Range<u32>> + use<'_> {
        let (numbers, own) = (self.numbers(cpu), self.groups.part(cpu));
        (own + 1..numbers.end).chain(numbers.start..own).map(|group| self.groups.members(group))
    }

    /// The cpus of the other groups in the same order, as two ranges.
    pub(super) fn others(&self, cpu: CpuId) -> [Range<u32>; 2] {
        let (members, local) = (self.members(cpu), self.local(cpu));
        [local.end..members.end, members.start..local.start]
    }

    /// The number of groups of the domain of `cpu`.
    pub(super) fn count(&self, cpu: CpuId) -> u64 {
        self.numbers(cpu).len() as u64
    }

    /// Which domain of this level holds `cpu`.
    pub(super) fn instance(&self, cpu: CpuId) -> usize {
        self.domains.part(cpu) as usize
    }

    /// The level as data for people.
    pub(super) fn level(&self) -> DomainLevel {
        let t = &self.template;
        DomainLevel {
            name: t.name,
            span: self.domains.largest(),
            groups: self.count(CpuId(0)) as u32,
            group_cpus: self.groups.largest(),
            power: self.power,
            min_interval_ms: t.min_ms,
            max_interval_ms: t.max_ms,
            busy_factor: t.busy_factor,
            imbalance_pct: t.imbalance_pct,
            flags: t.flags(),
        }
    }

    /// The number of domains of this level.
    pub(super) fn instances(&self) -> usize {
        self.domains.count() as usize
    }
}

/// The domains above each cpu, lowest first; levels with fewer than two groups are left out (the kernel
/// removes them, or keeps them without effect).
///
/// SMT: threads of a core. MC: `cache` cpus that share a cache the kernel knows of. CPU: such groups within a
/// NUMA node. NODE: nodes, up to 16. ALLNODES: all nodes of a larger machine. A group whose cpus share a
/// cache or a core counts as one unit of power, so on pairs that share an L2 two tasks already crowd a group.
/// Simplification: NODE domains are fixed blocks of 16 nodes, where the kernel takes the 16 nearest nodes of
/// each.
pub(super) fn build(topology: &Topology, templates: &Templates, cache: &Division) -> Vec<Domain> {
    let cpus = topology.cpus();
    let [core, node] = [Level::Core, Level::Node].map(|level| topology.division(level));
    let cache = if cache.largest() > node.largest() { &node } else { cache };
    let nodes_power = UNIT * u64::from((cache.count() / node.count()).max(1));
    let block = Division::equal(cpus, node.largest().saturating_mul(NODES_PER_DOMAIN).min(cpus));
    let all = if cpus > block.largest() { Division::equal(cpus, cpus) } else { node.clone() };
    let single = Division::equal(cpus, 1);
    let levels = [
        (templates.smt, core.clone(), single, UNIT),
        (templates.mc, cache.clone(), core, UNIT),
        (templates.cpu, node.clone(), cache.clone(), UNIT),
        (templates.node, block, node.clone(), nodes_power),
        (templates.all_nodes, all, node, nodes_power),
    ];
    let useful = levels.into_iter().filter(|(_, domains, groups, _)| domains.count() < groups.count());
    useful.map(|(template, domains, groups, power)| Domain { template, domains, groups, power }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::balancer;
    use crate::load::CacheLevel;
    use crate::load::releases::{caches, templates};
    use kernels::{Balance, LoadRules};

    fn rules(kernel: &str) -> LoadRules {
        match Balance::of(&balancer(kernel)) {
            Some(Balance::Loads(rules)) => rules,
            other => panic!("{other:?}"),
        }
    }

    fn built(kernel: &str, levels: &[(Level, u32)]) -> Vec<Domain> {
        let (topology, rules) = (Topology::new(levels).unwrap(), rules(kernel));
        build(&topology, templates(&rules), &caches(&rules, &topology, CacheLevel::Auto))
    }

    fn shape(levels: &[(Level, u32)]) -> Vec<(&'static str, u32, u32, u64)> {
        shape_of("linux-2.6.28", levels)
    }

    fn shape_of(kernel: &str, levels: &[(Level, u32)]) -> Vec<(&'static str, u32, u32, u64)> {
        built(kernel, levels)
            .iter()
            .map(|d| (d.template.name, d.domains.largest(), d.groups.largest(), d.power))
            .collect()
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
    fn a_shared_cache_is_a_level_only_where_the_release_knows_of_it() {
        let opteron = [(Level::Package, 4), (Level::Node, 1), (Level::Cache, 1), (Level::Core, 4)];
        let xeon = [(Level::Package, 4), (Level::Cache, 2), (Level::Core, 2)];
        let [old, r27, r28] = ["linux-2.6.18", "linux-2.6.27", "linux-2.6.28"];
        assert_eq!(shape_of(r27, &opteron), [("CPU", 4, 1, 1024), ("NODE", 16, 4, 4096)]);
        assert_eq!(shape_of(r28, &opteron), [("MC", 4, 1, 1024), ("NODE", 16, 4, 1024)]);
        assert_eq!(shape_of(r27, &xeon), shape_of(r28, &xeon));
        assert_eq!(shape_of(old, &xeon), [("CPU", 16, 1, 1024)]);
    }

    #[test]
    fn a_package_is_one_unit_when_its_cores_are_said_to_share_a_cache() {
        let topology = Topology::new(&[(Level::Package, 4), (Level::Node, 1), (Level::Core, 6)]).unwrap();
        let old = rules("linux-2.6.18");
        let domains = build(&topology, templates(&old), &caches(&old, &topology, CacheLevel::On));
        let shape: Vec<_> = domains
            .iter()
            .map(|d| (d.template.name, d.domains.largest(), d.groups.largest(), d.power))
            .collect();
        assert_eq!(shape, [("MC", 6, 1, 1024), ("NODE", 24, 6, 1024)]);
    }

    #[test]
    fn large_and_tiny_machines() {
        assert_eq!(shape(&[(Level::Core, 1)]), []);
        let starcat = shape(&[(Level::Node, 18), (Level::Package, 4), (Level::Core, 2)]);
        assert_eq!(starcat, [("CPU", 8, 1, 1024), ("NODE", 128, 8, 8192), ("ALLNODES", 144, 8, 8192)]);
        let domains = built("linux-2.6.28", &[(Level::Node, 18), (Level::Core, 8)]);
        assert_eq!(domains[1].members(CpuId(143)), 128..144);
        assert!(domains[1].remote(CpuId(143)).eq([128..136, 0..0].into_iter().take(1)));
    }

    #[test]
    fn groups_go_round_from_the_own_one() {
        let domains = built("linux-2.6.28", &[(Level::Node, 4), (Level::Core, 4)]);
        assert_eq!(domains[1].remote(CpuId(5)).collect::<Vec<_>>(), [8..12, 12..16, 0..4]);
        assert_eq!(domains[1].local(CpuId(5)), 4..8);
    }
}
