//! Scheduling domains of Linux 6.x: threads, shared cache, package, NUMA distance.
//!
//! Source: `sd_init` and `default_topology` of kernel/sched/topology.c, 6.x.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::machine::{Level, Machine};

use crate::domain_level::DomainLevel;

/// Capacity of a cpu (`SCHED_CAPACITY_SCALE`).
pub(super) const UNIT: u64 = 1024;
/// Intervals of busy cpus are this much longer (16 since 5.10).
pub(super) const BUSY_FACTOR: u64 = 16;

/// What a level shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Smt,
    Mc,
    Pkg,
    Numa,
}

/// A level; uniform, because machines are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Domain {
    pub(super) kind: Kind,
    /// Its number, the lowest is 0.
    pub(super) level: usize,
    /// Cpus of one domain.
    pub(super) span: u32,
    /// Cpus of one group.
    pub(super) group: u32,
    /// The level below spreads over its groups (`SD_PREFER_SIBLING` of the child, all but NUMA).
    pub(super) prefer_sibling: bool,
    /// The groups are the threads of a core.
    pub(super) smt_groups: bool,
    /// Tasks up to which a NUMA level may stay uneven (`imb_numa_nr`).
    pub(super) numa_slack: u64,
}

impl Domain {
    pub(super) const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Smt => "SMT",
            Kind::Mc => "MC",
            Kind::Pkg => "PKG",
            Kind::Numa => "NUMA",
        }
    }

    pub(super) const fn imbalance_pct(&self) -> u64 {
        if matches!(self.kind, Kind::Smt) { 110 } else { 117 }
    }

    pub(super) const fn cache_nice_tries(&self) -> u32 {
        match self.kind {
            Kind::Smt => 0,
            Kind::Mc | Kind::Pkg => 1,
            Kind::Numa => 2,
        }
    }

    /// The cpus share a cache (`SD_SHARE_LLC`).
    pub(super) const fn shares_cache(&self) -> bool {
        matches!(self.kind, Kind::Smt | Kind::Mc)
    }

    /// Capacity of a group.
    pub(super) const fn capacity(&self) -> u64 {
        UNIT * self.group as u64
    }

    pub(super) const fn members(&self, cpu: CpuId) -> Range<u32> {
        let start = cpu.0 / self.span * self.span;
        start..start + self.span
    }

    pub(super) const fn local(&self, cpu: CpuId) -> Range<u32> {
        let start = cpu.0 / self.group * self.group;
        start..start + self.group
    }

    /// The other groups of the domain of `cpu`, in circular order after its own.
    pub(super) fn remote(&self, cpu: CpuId) -> impl Iterator<Item = Range<u32>> + use<> {
        let (first, size) = (self.members(cpu).start, self.group);
        let groups = self.span / size;
        let own = (cpu.0 - first) / size;
        (1..groups).map(move |i| {
            let start = first + (own + i) % groups * size;
            start..start + size
        })
    }

    fn level(&self) -> DomainLevel {
        let mut flags = vec!["BALANCE_NEWIDLE", "BALANCE_EXEC", "BALANCE_FORK", "WAKE_AFFINE"];
        if self.kind == Kind::Smt {
            flags.push("SHARE_CPUCAPACITY");
        }
        if self.shares_cache() {
            flags.push("SHARE_LLC");
        }
        flags.push(if self.kind == Kind::Numa { "NUMA" } else { "PREFER_SIBLING" });
        DomainLevel {
            name: self.name(),
            span: self.span,
            groups: self.span / self.group,
            group_cpus: self.group,
            power: self.capacity(),
            min_interval_ms: u64::from(self.span),
            max_interval_ms: 2 * u64::from(self.span),
            busy_factor: BUSY_FACTOR,
            imbalance_pct: self.imbalance_pct(),
            flags,
        }
    }
}

/// Cpus that share the last-level cache: the innermost `cache` level of the tree; without one the package or
/// node when it has a shared cache, else the core.
pub(crate) fn cache_span(machine: &Machine) -> u32 {
    let topology = &machine.topology;
    let named = topology.levels().iter().any(|(level, _)| *level == Level::Cache);
    if named || machine.memory.shared_cache == 0 {
        topology.span(Level::Cache)
    } else {
        topology.span(Level::Package).min(topology.span(Level::Node))
    }
}

/// The domains above each cpu, lowest first, without levels of one group. PKG spans a NUMA node, whatever
/// packages it holds (`cpu_cpu_mask`); a package that holds several nodes is a NUMA level.
pub(super) fn build(machine: &Machine) -> Vec<Domain> {
    let topology = &machine.topology;
    let (package, node) = (topology.span(Level::Package), topology.span(Level::Node));
    let cache = cache_span(machine);
    let spans = [
        (Kind::Smt, topology.span(Level::Core)),
        (Kind::Mc, cache),
        (Kind::Pkg, node),
        (Kind::Numa, package),
        (Kind::Numa, topology.cpus()),
    ];
    let mut domains: Vec<Domain> = Vec::new();
    let mut below = 1;
    let mut lowest_numa = None;
    for (kind, span) in spans {
        if span > below {
            let child = domains.last().map(|child| child.kind);
            let mut numa_slack = 0;
            if kind == Kind::Numa {
                numa_slack = slack(node, cache) * u64::from(span / *lowest_numa.get_or_insert(span));
            }
            domains.push(Domain {
                kind,
                level: domains.len(),
                span,
                group: below,
                prefer_sibling: child.is_some_and(|child| child != Kind::Numa),
                smt_groups: child == Some(Kind::Smt),
                numa_slack,
            });
            below = span;
        }
    }
    domains
}

/// `imb_numa_nr` of the lowest NUMA level: an eighth of a node with one last-level cache, else the number of
/// its caches, at least one. Higher levels have it times their span over that of the lowest NUMA level
/// (`build_sched_domains`).
fn slack(node: u32, cache: u32) -> u64 {
    let caches = (node / cache).max(1);
    u64::from(if caches == 1 { node / 8 } else { caches }.max(1))
}

/// The levels as data for people.
pub(crate) fn levels(machine: &Machine) -> Vec<DomainLevel> {
    build(machine).iter().map(Domain::level).collect()
}
