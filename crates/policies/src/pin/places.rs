//! The cpus on which `PIN` puts the tasks of a program, in the order in which tasks get them.

use std::collections::BTreeSet;
use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::machine::{Level, Topology};

use crate::spread::{far_apart, threads_last};

/// The order in which tasks get cpus: the words of `layout` that draw nothing at random.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Order {
    /// By number, the first hardware threads of all cores before the second ones (`even`).
    Even,
    /// Neighbouring tasks far apart (`scatter`).
    Scatter,
    /// Neighbouring tasks close together (`gather`).
    Gather,
    /// As the cpus are listed (`list`).
    List,
    /// Each process in a block of the machine of its own, its threads close together in it (`blocks`).
    Blocks,
}

/// The tasks of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tasks {
    /// All of them.
    pub number: usize,
    /// Those of each process, at least 1; the last process may have fewer.
    pub process: usize,
}

/// The cpus in the order in which tasks get them: task r gets number r, and after the last one they go on
/// with the first. `cpus`: those that may be used; only a list may name one twice. With `by` a task is bound
/// to all cpus of that part of the machine around its cpus; `even` and `scatter` then have one cpu of each
/// part. Empty without cpus.
#[must_use]
pub fn places(topology: &Topology, cpus: &[CpuId], order: Order, by: Level, tasks: Tasks) -> Vec<CpuId> {
    if order == Order::List {
        return cpus.to_vec();
    }
    // A set: only a listed order may give a cpu to several tasks.
    let distinct: BTreeSet<CpuId> = cpus.iter().copied().collect();
    let mut cpus: Vec<CpuId> = distinct.into_iter().collect();
    match order {
        Order::Blocks => return blocks(topology, &cpus, tasks),
        Order::List | Order::Gather => return cpus,
        Order::Even => threads_last(topology, &mut cpus),
        Order::Scatter => far_apart(topology, &mut cpus),
    }
    once_in_each(topology, by, &mut cpus);
    cpus
}

/// Keeps the first cpu of each part of the machine.
pub(super) fn once_in_each(topology: &Topology, by: Level, cpus: &mut Vec<CpuId>) {
    let mut seen = vec![false; topology.count(by) as usize];
    cpus.retain(|cpu| {
        let seen = &mut seen[topology.group(by, *cpu) as usize];
        !std::mem::replace(seen, true)
    });
}

/// The `at`-th of so many equal shares of things, one of them at least: several shares have the same one if
/// there are fewer things than shares.
fn share(things: usize, shares: usize, at: usize) -> Range<usize> {
    let begin = at * things / shares;
    begin..((at + 1) * things / shares).max(begin + 1)
}

/// The cpu of each task where every process has a block of neighbouring cores. The cpus must rise.
fn blocks(topology: &Topology, cpus: &[CpuId], tasks: Tasks) -> Vec<CpuId> {
    let same =
        |level: Level| move |a: &CpuId, b: &CpuId| topology.group(level, *a) == topology.group(level, *b);
    let cores: Vec<&[CpuId]> = cpus.chunk_by(same(Level::Core)).collect();
    if cores.is_empty() {
        return Vec::new();
    }
    let process = tasks.process.clamp(1, tasks.number.max(1));
    let blocks = cut(topology, &cores, tasks.number.div_ceil(process), process);
    let cpu = |task: usize| {
        let (block, rank) = (&blocks[task / process], task % process);
        let team = process.min(tasks.number - (task - rank));
        if team <= block.len() {
            return cores[block.start + rank][0];
        }
        // Neighbours share a core, each on a hardware thread of its own while there are some.
        let core = rank * block.len() / team;
        let first = (core * team).div_ceil(block.len());
        let threads = cores[block.start + core];
        threads[(rank - first) % threads.len()]
    };
    (0..tasks.number).map(cpu).collect()
}

/// The cores of each process: whole packages, NUMA nodes or caches if there is one for each process, and as
/// many of its threads have a core of their own in it as with equal numbers of cores, which each process has
/// otherwise. Of several such levels that with the fewest parts.
fn cut(topology: &Topology, cores: &[&[CpuId]], processes: usize, team: usize) -> Vec<Range<usize>> {
    let parts = |level: Level| -> Vec<Range<usize>> {
        let mut end = 0;
        let each =
            cores.chunk_by(|a, b| topology.group(level, a[0]) == topology.group(level, b[0])).map(|own| {
                end += own.len();
                end - own.len()..end
            });
        each.collect()
    };
    let mut levels = [Level::Package, Level::Node, Level::Cache, Level::Cluster].map(parts);
    levels.sort_by_key(Vec::len);
    let needed = team.min(cores.len() / processes);
    let whole = levels.into_iter().filter(|parts| parts.len() >= processes).find_map(|parts| {
        let own = (0..processes).map(|process| {
            let of = share(parts.len(), processes, process);
            parts[of.start].start..parts[of.end - 1].end
        });
        let own: Vec<Range<usize>> = own.collect();
        own.iter().all(|cores| cores.len() >= needed).then_some(own)
    });
    whole.unwrap_or_else(|| (0..processes).map(|process| share(cores.len(), processes, process)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(levels: &[(Level, u32)], number: usize, process: usize) -> Vec<u32> {
        let topology = Topology::new(levels).unwrap();
        let cpus: Vec<CpuId> = (0..topology.cpus()).map(CpuId).collect();
        let tasks = Tasks { number, process };
        let all = places(&topology, &cpus, Order::Blocks, Level::Thread, tasks);
        all.into_iter().map(|cpu| cpu.0).collect()
    }

    /// Two packages of two caches of three cores.
    const CACHES: [(Level, u32); 4] =
        [(Level::Package, 2), (Level::Node, 1), (Level::Cache, 2), (Level::Core, 3)];
    /// Two packages of two cores of two hardware threads.
    const THREADS: [(Level, u32); 3] = [(Level::Package, 2), (Level::Core, 2), (Level::Thread, 2)];

    #[test]
    fn each_process_has_a_package_or_a_cache_and_its_threads_are_close() {
        assert_eq!(numbers(&CACHES, 6, 3), [0, 1, 2, 6, 7, 8]);
        assert_eq!(numbers(&CACHES, 8, 2), [0, 1, 3, 4, 6, 7, 9, 10]);
        assert_eq!(numbers(&CACHES, 12, 3), (0..12).collect::<Vec<u32>>());
        // Three processes on four caches: the last one has two of them.
        assert_eq!(numbers(&CACHES, 6, 2), [0, 1, 3, 4, 6, 7]);
        // One process has the whole machine, and the last one may have fewer threads.
        assert_eq!(numbers(&CACHES, 4, 4), [0, 1, 2, 3]);
        assert_eq!(numbers(&CACHES, 5, 3), [0, 1, 2, 6, 7]);
    }

    #[test]
    fn processes_that_caches_do_not_hold_have_equal_numbers_of_cores() {
        // Three processes of four threads would not have a core each in one cache of three.
        assert_eq!(numbers(&CACHES, 12, 4), (0..12).collect::<Vec<u32>>());
        // More processes than caches, and than cores.
        assert_eq!(numbers(&CACHES, 6, 1), [0, 2, 4, 6, 8, 10]);
        assert_eq!(numbers(&CACHES, 24, 1)[..6], [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn threads_share_cores_when_there_are_more_of_them() {
        assert_eq!(numbers(&THREADS, 4, 2), [0, 2, 4, 6]);
        assert_eq!(numbers(&THREADS, 8, 4), [0, 1, 2, 3, 4, 5, 6, 7]);
        // Three threads on two cores: the first core has two.
        assert_eq!(numbers(&THREADS, 6, 3), [0, 1, 2, 4, 5, 6]);
        // Twice as many as hardware threads.
        assert_eq!(numbers(&THREADS, 16, 8)[..8], [0, 1, 0, 1, 2, 3, 2, 3]);
    }

    #[test]
    fn only_cpus_that_may_be_used_are_given() {
        let topology = Topology::new(&THREADS).unwrap();
        let cpus = [6, 1, 3, 1].map(CpuId);
        let tasks = Tasks { number: 3, process: 1 };
        let of = |order| places(&topology, &cpus, order, Level::Thread, tasks);
        assert_eq!(of(Order::Blocks), [1, 3, 6].map(CpuId));
        assert_eq!(of(Order::List), cpus);
        assert_eq!(of(Order::Even), [6, 1, 3].map(CpuId));
        assert!(places(&topology, &[], Order::Blocks, Level::Core, tasks).is_empty());
    }
}
