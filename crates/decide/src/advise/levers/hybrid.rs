//! Processes with threads: how many of both are worth a trial, and the layout that gives each process a block
//! of the machine.

use std::collections::BTreeSet;

use sim_core::ids::CpuId;
use sim_core::machine::Machine;
use sim_core::topology::Level;

use super::{Layout, Program, one_per_core};

/// The layout of processes with threads: each process has a block of neighbouring cores, and each of its
/// threads is bound to one of them. With the words of `PIN`.
pub(super) const BLOCKS: (Layout, &str, &str) = (Layout::Blocks, "blocks", "by: core");

/// Whether a program is of processes with threads, perhaps one in each.
pub(super) const fn is_hybrid(program: &Program) -> bool {
    program.processes && program.team > 0
}

/// Numbers of processes, each with a number of threads: all products that are the cores, the cpus, twice the
/// cpus, or the tasks that there are now; and one process for each package, NUMA node and cache, with a
/// thread for each of its cores, each of its cpus, and half and a quarter of its cores, as fewer threads may
/// already draw all bandwidth of its memory.
pub(super) fn shapes(machine: &Machine, program: &Program) -> BTreeSet<(u32, u32)> {
    let cpus = program.cpus.len() as u32;
    let firsts = one_per_core(machine, &program.cpus);
    let cores = firsts.len() as u32;
    let whole = [cores, cpus, cpus.saturating_mul(2), program.tasks].into_iter();
    let products = whole.flat_map(|count| {
        (1..=count).filter(move |team| count.is_multiple_of(*team)).map(move |team| (count / team, team))
    });
    let each = [Level::Package, Level::Node, Level::Cache].into_iter().flat_map(|level| {
        let part = |cpu: &u32| machine.topology.group(level, CpuId(*cpu));
        let count = firsts.iter().map(part).collect::<BTreeSet<u32>>().len() as u32;
        let (cores, cpus) = (cores / count.max(1), cpus / count.max(1));
        [cores, cpus, cores / 2, cores / 4].map(|team| (count, team))
    });
    products.chain(each).filter(|(count, team)| *count > 0 && *team > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::{Lists, build, generic_values, parse_topology};

    #[test]
    fn there_is_a_shape_with_one_process_for_each_cache_node_and_package() {
        let shape = parse_topology("package:2 numa:2 l3:2 core:4 pu:2").unwrap();
        let machine = build("mine", &shape, &generic_values(&shape), &Lists::default());
        let program = Program {
            name: "cg".into(),
            tasks: 6,
            team: 3,
            runtimes: Vec::new(),
            cpus: (0..machine.cpus()).collect(),
            processes: true,
            plain: true,
        };
        assert!(is_hybrid(&program));
        let found = shapes(&machine, &program);
        for shape in [(8, 4), (8, 8), (8, 2), (8, 1), (4, 8), (4, 4), (2, 16), (2, 4), (2, 3), (1, 32)] {
            assert!(found.contains(&shape), "{shape:?} in {found:?}");
        }
        // Only one package of what it may use.
        let half = Program { cpus: (0..32).collect(), ..program };
        let found = shapes(&machine, &half);
        assert!(found.contains(&(4, 2)) && found.contains(&(4, 1)), "{found:?}");
    }
}
