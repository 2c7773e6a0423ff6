//! A level of the hierarchy of cpu groups that a kernel balances, as plain data.

/// A level of the hierarchy; every cpu has one domain of each level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DomainLevel {
    /// The kernel's name of the level: SMT, MC, CPU, NODE, ALLNODES, PKG, NUMA; GROUP and TOP (FreeBSD),
    /// LGROUP and ROOT (Solaris).
    pub name: &'static str,
    /// Cpus of one domain, at least 2.
    pub span: u32,
    /// Groups of one domain, at least 2; balancing moves tasks between them.
    pub groups: u32,
    /// Cpus of one group.
    pub group_cpus: u32,
    /// Power (capacity) of one group; 1,024 = one task at full speed.
    pub power: u64,
    /// Shortest balancing interval, milliseconds; it doubles while the domain is balanced. 0: no periodic
    /// balancing by level.
    pub min_interval_ms: u64,
    /// Longest balancing interval, milliseconds.
    pub max_interval_ms: u64,
    /// Factor on the interval of a busy cpu; 1 = none.
    pub busy_factor: u64,
    /// Load of the busiest group over the local one, per cent, up to which nothing is moved (125 = 25 %
    /// more); 100 = any.
    pub imbalance_pct: u64,
    /// What the balancer does at this level, in the kernel's words without prefix.
    pub flags: Vec<&'static str>,
}
