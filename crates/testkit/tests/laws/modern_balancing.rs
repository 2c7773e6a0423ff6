//! What the balancer of Linux 6.18 does with hogs that stay, with masks and with memory nodes.

use sim_core::ids::CpuId;
use sim_core::machine::CpuSet;
use sim_core::observe::Observation;
use sim_core::program::Op;
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{Log, Trial, app, compute, hogs};

/// A trial of 6.18 whose tasks begin on these cpus.
fn on(machine: &str, placed: &[u32]) -> Trial {
    Trial::on(machine).under("linux-6.18", &[]).placed(placed.iter().copied())
}

/// Tasks that compute for ever.
fn endless(tasks: u32) -> sim_core::program::AppSpec {
    app(tasks, vec![Op::Repeat(0), compute(Span::from_ms(1_000)), Op::End], WaitMode::Spin)
}

/// Moves between groups of so many cpus.
fn across(log: &Log, span: u32) -> usize {
    log.moves().filter(|(_, from, to)| from.0 / span != to.0 / span).count()
}

#[test]
fn tasks_of_one_parent_end_one_per_cache() {
    // Nodes per socket, caches per node, sockets: the lowest NUMA level allows as many tasks as a node has
    // caches, a higher one as many more as it is wider (`imb_numa_nr`).
    for (nodes, caches, sockets) in [(1, 2, 2), (1, 4, 2), (2, 2, 2), (2, 4, 2), (4, 2, 2)] {
        let machine = format!("package:{sockets} numa:{nodes} cache:{caches} core:4");
        let tasks = nodes * caches * sockets;
        let trial = Trial::on(&machine).under("linux-6.18", &[]).app(endless(tasks)).until(50);
        let (_, log) = trial.log();
        let mut caches = vec![0; tasks as usize];
        for (_, what) in &log.0 {
            if let Observation::Runnable { cpu, .. } = what {
                caches[(cpu.0 / 4) as usize] += 1;
            }
        }
        assert!(caches.iter().all(|tasks| *tasks == 1), "{machine}: {caches:?}");
    }
}

/// Four hogs on one of two clusters of four cores: the level of the cache, whose groups are clusters since
/// 5.16, evens them out, two and two. Before, its groups are cores, of which none has two tasks.
#[test]
fn hogs_are_spread_over_the_clusters_of_a_cache() {
    for (kernel, settings, expected) in [
        ("linux-6.18", ("clusters", 1), 2),
        ("linux-6.1", ("clusters", 1), 2),
        ("linux-6.18", ("clusters", 0), 0),
        ("linux-5.15", ("clusters", 0), 0),
    ] {
        let trial = Trial::on("package:1 cache:1 cluster:2 core:4").under(kernel, &[settings]);
        let (_, log) = trial.placed([0, 1, 2, 3]).app(endless(4)).until(3_000).log();
        assert_eq!(across(&log, 4), expected, "{kernel} {settings:?}");
    }
}

#[test]
fn of_five_hogs_on_a_node_two_leave() {
    // 32 cpus: up to four tasks may stay together where the difference is two at most. Five against none,
    // then four against one are more; three against two are not.
    let trial = on("numa:2 core:32", &[0, 1, 2, 3, 4]).app(endless(5)).until(5_000);
    let (_, log) = trial.log();
    assert_eq!(across(&log, 32), 2);
}

#[test]
fn a_pull_that_masks_defeat_brings_help_from_the_other_package() {
    // Three tasks share cpus 4 and 5 of one package and cpus 0 to 3 of the other one, where one cpu is idle.
    let allowed = CpuSet::of((0..6).map(CpuId));
    let mut team = endless(6);
    team.allowed = Some(allowed);
    let (_, log) = on("package:2 core:4", &[0, 1, 2, 4, 4, 5]).app(team).until(2_000).log();
    let moves: Vec<_> = log.moves().collect();
    assert_eq!(moves.len(), 1, "{moves:?}");
    let (at, from, to) = moves[0];
    assert_eq!((from, to), (CpuId(4), CpuId(3)));
    assert!(at.ns() < 200_000_000, "{at:?}");
}

#[test]
fn a_pull_goes_on_for_another_cpu_of_the_group() {
    // The first idle cpu of the second package balances for it; the waiting tasks may only use the others.
    let allowed = CpuSet::of([0, 6, 7].map(CpuId));
    let mut team = endless(3);
    team.allowed = Some(allowed);
    let (_, log) = on("package:2 core:4", &[0, 0, 0]).app(team).until(2_000).log();
    let mut to: Vec<u32> = log.moves().map(|(_, _, to)| to.0).collect();
    to.sort_unstable();
    to.dedup();
    assert_eq!(to, [6, 7]);
}

#[test]
fn an_idle_cpu_evens_out_packages_by_pushing_running_tasks() {
    // No task waits: the stopper moves running ones after cache_nice_tries + 3 attempts, until they are even.
    let (_, log) = on("package:2 core:4", &[0, 1, 2, 3]).app(hogs(4, 3_000)).until(2_900).log();
    assert_eq!(across(&log, 4), 2);
}

#[test]
fn running_tasks_on_one_core_leave_no_mark() {
    // Six tasks in each of two caches, two cores of the second one have two each. Idle cores of that cache
    // take one of two, if the mask allows them; if not, no waiting task is looked at, and nothing tells the
    // first cache, in which two allowed cores are idle.
    let moves = |allowed: u32| {
        let mut team = endless(12);
        team.allowed = Some(CpuSet::of((0..allowed).map(CpuId)));
        let placed = [0, 2, 4, 6, 8, 10, 16, 17, 18, 19, 20, 22];
        let (_, log) = on("cache:2 core:8 pu:2", &placed).app(team).until(3_000).log();
        log.moves().count()
    };
    assert_eq!((moves(24), moves(32)), (0, 2));
}
