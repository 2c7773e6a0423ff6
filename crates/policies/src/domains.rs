//! The hierarchy of cpu groups that a kernel's balancer sees on a machine, as plain data for listings.

use sim_core::machine::Machine;
use sim_core::os::OsModel;

use crate::domain_level::DomainLevel;
use crate::entry::Entry;

/// The levels that the kernel's own policy balances on this machine, lowest first; levels with one group are
/// left out, as the kernels remove them. Empty on a machine of one cpu.
#[must_use]
pub fn domains(machine: &Machine, kernel: &OsModel) -> Vec<DomainLevel> {
    let own = LEVELS.iter().find(|(entry, _)| entry.name == kernel.balancer.policy);
    own.map_or_else(Vec::new, |(_, levels)| levels(machine, kernel))
}

/// The levels of a policy on a machine under a kernel.
type Levels = fn(&Machine, &OsModel) -> Vec<DomainLevel>;

/// The policies that balance levels.
const LEVELS: [(&Entry, Levels); 3] = [
    (&crate::load::ENTRY, crate::load::levels),
    (&crate::ule::ENTRY, |machine, _| crate::ule::levels(machine)),
    (&crate::lgroup::ENTRY, |machine, _| crate::lgroup::levels(machine)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{balancer, kernel, machine};
    use sim_core::machine::Level;

    fn shape(levels: &[(Level, u32)], name: &'static str) -> Vec<(&'static str, u32, u32, u64)> {
        let mut model = kernel(16);
        model.balancer = balancer(name);
        let levels = domains(&machine(levels), &model);
        levels.iter().map(|l| (l.name, l.span, l.groups, l.power)).collect()
    }

    const TIGERTON: [(Level, u32); 3] = [(Level::Package, 4), (Level::Cache, 2), (Level::Core, 2)];
    const NEHALEM: [(Level, u32); 5] =
        [(Level::Package, 2), (Level::Node, 1), (Level::Cache, 1), (Level::Core, 4), (Level::Thread, 2)];

    #[test]
    fn machines_of_the_literature_under_their_kernels() {
        assert_eq!(shape(&TIGERTON, "linux-2.6.28"), [("MC", 2, 2, 1024), ("CPU", 16, 8, 1024)]);
        let barcelona = [(Level::Package, 4), (Level::Node, 1), (Level::Core, 4)];
        assert_eq!(shape(&barcelona, "linux-2.6.27"), [("CPU", 4, 4, 1024), ("NODE", 16, 4, 4096)]);
        let nehalem = shape(&NEHALEM, "linux-2.6.30");
        assert_eq!(nehalem, [("SMT", 2, 2, 1024), ("MC", 8, 4, 1024), ("NODE", 16, 2, 1024)]);
        assert_eq!(shape(&TIGERTON, "round-robin"), shape(&TIGERTON, "linux-2.6.28"));
    }

    #[test]
    fn today_the_levels_are_smt_mc_pkg_and_numa() {
        let modern = shape(&NEHALEM, "linux-6.18");
        assert_eq!(modern, [("SMT", 2, 2, 1024), ("MC", 8, 4, 2048), ("NUMA", 16, 2, 8192)]);
        // Two sockets of two sub-NUMA clusters of 8 cores: nodes of a package first, then packages.
        let clusters = [(Level::Package, 2), (Level::Node, 2), (Level::Cache, 1), (Level::Core, 8)];
        let modern = shape(&clusters, "linux-6.18");
        assert_eq!(modern, [("MC", 8, 8, 1024), ("NUMA", 16, 2, 8192), ("NUMA", 32, 2, 16_384)]);
        let board = [(Level::Node, 18), (Level::Package, 4), (Level::Core, 2)];
        assert_eq!(shape(&board, "solaris-9"), [("LGROUP", 8, 8, 1024), ("ROOT", 144, 18, 8192)]);
        assert_eq!(shape(&TIGERTON, "freebsd-7").last(), Some(&("TOP", 16, 4, 4096)));
        let epyc = [(Level::Package, 2), (Level::Node, 1), (Level::Cache, 8), (Level::Core, 8)];
        let modern = shape(&epyc, "linux-6.18");
        assert_eq!(modern, [("MC", 8, 8, 1024), ("PKG", 64, 8, 8192), ("NUMA", 128, 2, 65_536)]);
    }
}
