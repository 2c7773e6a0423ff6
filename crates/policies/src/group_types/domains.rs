//! Scheduling domains of Linux 6.x: threads, clusters, shared cache, package, NUMA distance.
//!
//! Source: `sd_init` and `default_topology` of kernel/sched/topology.c, 6.x.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::machine::{Division, Level, Machine};

use crate::domain_level::DomainLevel;
use kernels::TypeRules as Rules;

/// Capacity of a cpu (`SCHED_CAPACITY_SCALE`).
pub(super) const UNIT: u64 = 1024;

/// What a level shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Smt,
    Cls,
    Mc,
    Pkg,
    Numa,
}

/// A level. Where parts of a machine differ, the domain of a cpu may have one group only; the kernel has no
/// such domain, and nothing looks at it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Domain {
    pub(super) kind: Kind,
    /// Its number, the lowest is 0.
    pub(super) level: usize,
    /// The domains.
    pub(super) domains: Division,
    /// Their groups.
    pub(super) groups: Division,
    /// The level below spreads over its groups (`SD_PREFER_SIBLING` of the child, all but NUMA).
    pub(super) prefer_sibling: bool,
    /// Tasks up to which a NUMA level may stay uneven (`imb_numa_nr`).
    pub(super) numa_slack: u64,
    /// The domain has cores of different capacities (`SD_ASYM_CPUCAPACITY`).
    pub(super) asymmetric: bool,
    /// Tasks are packed on the cores of the highest priority (`SD_ASYM_PACKING`).
    pub(super) packs: bool,
    pub(super) rules: Rules,
}

impl Domain {
    pub(super) const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Smt => "SMT",
            Kind::Cls => "CLS",
            Kind::Mc => "MC",
            Kind::Pkg => "PKG",
            Kind::Numa => "NUMA",
        }
    }

    pub(super) fn imbalance_pct(&self) -> u64 {
        match self.kind {
            Kind::Smt => 110,
            Kind::Cls | Kind::Mc => 117,
            Kind::Pkg | Kind::Numa => 100 + self.rules.tolerance.hundredths() / 100,
        }
    }

    pub(super) const fn cache_nice_tries(&self) -> u32 {
        match self.kind {
            Kind::Smt => 0,
            Kind::Cls | Kind::Mc | Kind::Pkg => 1,
            Kind::Numa => 2,
        }
    }

    /// The cpus share a cache (`SD_SHARE_LLC`).
    pub(super) const fn shares_cache(&self) -> bool {
        matches!(self.kind, Kind::Smt | Kind::Cls | Kind::Mc)
    }

    pub(super) fn members(&self, cpu: CpuId) -> Range<u32> {
        self.domains.around(cpu)
    }

    /// Cpus of the domain of `cpu`.
    pub(super) fn span(&self, cpu: CpuId) -> u32 {
        let members = self.members(cpu);
        members.end - members.start
    }

    pub(super) fn local(&self, cpu: CpuId) -> Range<u32> {
        self.groups.around(cpu)
    }

    /// The domain of `cpu` has several groups.
    pub(super) fn divides(&self, cpu: CpuId) -> bool {
        (self.domains.is_equal() && self.groups.is_equal()) || self.members(cpu) != self.local(cpu)
    }

    /// The other groups of the domain of `cpu`, in circular order after its own.
    pub(super) fn remote(&self, cpu: CpuId) -> impl Iterator<Item = Range<u32>> + use<> {
        let members = self.members(cpu);
        let groups = self.groups.clone();
        let (first, own) = (groups.part(CpuId(members.start)), groups.part(cpu));
        let last = groups.part(CpuId(members.end - 1));
        (own + 1..last + 1).chain(first..own).map(move |group| groups.members(group))
    }

    fn level(&self) -> DomainLevel {
        let mut flags = vec!["BALANCE_NEWIDLE", "BALANCE_EXEC", "BALANCE_FORK", "WAKE_AFFINE"];
        if self.kind == Kind::Smt {
            flags.push("SHARE_CPUCAPACITY");
        }
        if self.kind == Kind::Cls {
            flags.push("CLUSTER");
        }
        if self.shares_cache() {
            flags.push("SHARE_LLC");
        }
        flags.push(if self.kind == Kind::Numa { "NUMA" } else { "PREFER_SIBLING" });
        let span = self.domains.largest();
        DomainLevel {
            name: self.name(),
            span,
            groups: 1 + self.remote(CpuId(0)).count() as u32,
            group_cpus: self.groups.largest(),
            power: UNIT * u64::from(self.groups.largest()),
            min_interval_ms: u64::from(span),
            max_interval_ms: 2 * u64::from(span),
            busy_factor: self.rules.busy_factor,
            imbalance_pct: self.imbalance_pct(),
            flags,
        }
    }
}

/// The domains above each cpu, lowest first, without levels of one group. PKG spans a NUMA node, whatever
/// packages it holds (`cpu_cpu_mask`); a package that holds several nodes is a NUMA level.
pub(super) fn build(machine: &Machine, rules: &Rules) -> Vec<Domain> {
    let topology = &machine.topology;
    let node = topology.span(Level::Node);
    let cache = machine.topology.last_caches(machine.memory.shared_cache > 0);
    let in_node = cache.count() / topology.count(Level::Node);
    let cluster = if rules.clusters { Level::Cluster } else { Level::Core };
    let divisions = [
        (Kind::Smt, topology.division(Level::Core)),
        (Kind::Cls, topology.division(cluster)),
        (Kind::Mc, cache),
        (Kind::Pkg, topology.division(Level::Node)),
        (Kind::Numa, topology.division(Level::Package)),
        (Kind::Numa, Division::equal(topology.cpus(), topology.cpus())),
    ];
    let mut domains: Vec<Domain> = Vec::new();
    let mut below = Division::equal(topology.cpus(), 1);
    let mut lowest_numa = None;
    for (kind, division) in divisions {
        let span = division.largest();
        if division.count() < below.count() {
            let child = domains.last().map(|child| child.kind);
            // A level that is left out hands it down (`sd_parent_degenerate`).
            let spreads = rules.caches_spread || below.largest() == node;
            let mut numa_slack = 0;
            if kind == Kind::Numa {
                numa_slack = slack(rules, node, in_node) * u64::from(span / *lowest_numa.get_or_insert(span));
            }
            domains.push(Domain {
                kind,
                level: domains.len(),
                domains: division.clone(),
                groups: below,
                prefer_sibling: spreads && child.is_some_and(|child| child != Kind::Numa),
                numa_slack,
                asymmetric: false,
                packs: false,
                rules: *rules,
            });
            below = division;
        }
    }
    domains
}

/// `imb_numa_nr` of the lowest NUMA level: a part of a node with one last-level cache, else the number of its
/// caches, at least one. Higher levels have it times their span over that of the lowest NUMA level
/// (`build_sched_domains`).
fn slack(rules: &Rules, node: u32, caches: u32) -> u64 {
    u64::from(if caches <= 1 { node / rules.numa_divisor } else { caches }.max(1))
}

/// The levels as data for people.
pub(crate) fn levels(machine: &Machine, rules: &Rules) -> Vec<DomainLevel> {
    build(machine, rules).iter().map(Domain::level).collect()
}
