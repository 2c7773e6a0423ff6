//! Tasks that look for a place near their pages, and what the balancer knows of that, against queues set by
//! hand.

use super::tests::{SOCKETS, rules, steady_under};
use super::*;
use crate::fake::FakeSystem;
use sim_core::ids::NodeId;
use sim_core::policy::Locality;

/// Queues of two nodes of eight cores under a kernel that balances memory.
fn queues(release: &str, counts: &[u32]) -> (FakeSystem, GroupTypes) {
    let (system, mut policy) = steady_under(rules(release), &SOCKETS, counts);
    policy.balances_memory = true;
    (system, policy)
}

/// A task prefers a node; its faults by node, in thousandths.
fn prefers(system: &mut FakeSystem, task: u32, node: u32, shares: [u64; 2]) {
    let seen = Locality { preferred: NodeId(node), group: None };
    system.localities.push((TaskId(task), seen, shares.to_vec()));
}

/// So many tasks on each node, one for each cpu.
fn tasks(here: usize, there: usize) -> Vec<u32> {
    (0..16).map(|cpu| u32::from(if cpu < 8 { cpu < here } else { cpu < 8 + there })).collect()
}

/// The moves of task 0, which has these faults and prefers node 1.
fn moves(release: &str, counts: &[u32], shares: [u64; 2]) -> Vec<(u32, u32)> {
    let (mut system, mut policy) = queues(release, counts);
    prefers(&mut system, 0, 1, shares);
    policy.goes_home(&mut system, TaskId(0));
    system.moves.iter().map(|(task, cpu)| (task.0, cpu.0)).collect()
}

const FORMS: [&str; 4] = ["3.16", "5.5", "5.15", "6.18"];

#[test]
fn a_task_goes_to_an_idle_cpu_of_its_node() {
    // The search by load looks at all idle cpus, and the last one is as good as the first.
    let found = FORMS.map(|release| moves(release, &tasks(1, 0), [0, 1_000]));
    assert_eq!(found, [8, 15, 8, 8].map(|cpu| [(0, cpu)]));
    // To 4.18 an exchange that comes first stays better than a move that gains no more.
    let found = FORMS.map(|release| moves(release, &tasks(8, 2), [200, 800]));
    assert_eq!(found, [vec![(8, 0), (0, 8)], vec![(0, 15)], vec![(0, 10)], vec![(0, 10)]]);
}

#[test]
fn exchanges_gain_thirty_thousandths_at_least() {
    let full = tasks(8, 8);
    for release in FORMS {
        // Task 8 is the first on node 1, and nothing is known of its pages.
        assert_eq!(moves(release, &full, [485, 515]), [(8, 0), (0, 8)], "{release}");
    }
    assert_eq!(moves("3.16", &full, [486, 514]), [(8, 0), (0, 8)]);
    assert_eq!(moves("5.5", &full, [486, 514]), []);
    assert_eq!(moves("6.18", &full, [486, 514]), []);
    // One whose pages are here is better, and ends the search.
    let best = |release| {
        let (mut system, mut policy) = queues(release, &full);
        prefers(&mut system, 0, 1, [0, 1_000]);
        prefers(&mut system, 10, 0, [900, 100]);
        prefers(&mut system, 12, 0, [1_000, 0]);
        policy.goes_home(&mut system, TaskId(0));
        system.moves.first().map(|(task, _)| task.0)
    };
    assert_eq!(["5.5", "6.18"].map(best), [Some(12), Some(10)]);
    // One whose pages are there too has nothing to gain.
    let (mut system, mut policy) = queues("6.18", &full);
    prefers(&mut system, 0, 1, [0, 1_000]);
    (8..16).for_each(|task| prefers(&mut system, task, 1, [0, 1_000]));
    policy.goes_home(&mut system, TaskId(0));
    assert_eq!(system.moves, []);
}

#[test]
fn a_node_with_spare_cpus_exchanges_no_tasks_since_6_0() {
    // With one more it would run as many as are left here, more than its allowance.
    let counts = tasks(8, 7);
    assert_eq!(moves("6.18", &counts, [0, 1_000]), []);
    assert_eq!(moves("5.15", &counts, [0, 1_000]), [(8, 0), (0, 8)]);
}

#[test]
fn the_balancer_leaves_tasks_on_their_node() {
    let mut counts = tasks(1, 0);
    counts[8] = 2;
    let (mut system, policy) = queues("6.18", &counts);
    let degrades =
        |system: &FakeSystem, to: u32| policy.degrades(system, TaskId(1), (CpuId(8), CpuId(to)), false);
    // Without faults heat decides; within the node, too.
    assert_eq!(degrades(&system, 0), None);
    prefers(&mut system, 1, 1, [100, 900]);
    assert_eq!((degrades(&system, 0), degrades(&system, 9)), (Some(true), None));
    // All of the queue are at home: one of them has to go.
    prefers(&mut system, 2, 1, [100, 900]);
    assert_eq!(degrades(&system, 0), None);
    system.localities[0].1.preferred = NodeId(0);
    assert_eq!(degrades(&system, 0), Some(false));
}

#[test]
fn queues_with_tasks_away_from_home_come_first() {
    let mut counts = tasks(0, 3);
    counts[8] = 2;
    let (mut system, policy) = queues("6.18", &counts);
    let numa = policy.domains.iter().find(|domain| domain.kind == domains::Kind::Numa).unwrap();
    let left = |system: &FakeSystem| {
        let all = (8..11).map(CpuId).collect();
        policy.least_at_home(system, numa, all).iter().map(|cpu| cpu.0).collect::<Vec<_>>()
    };
    // Two tasks on cpu 8, one on 9 and on 10.
    [0, 1].into_iter().for_each(|task| prefers(&mut system, task, 1, [0, 1_000]));
    assert_eq!(left(&system), [9, 10]);
    prefers(&mut system, 2, 0, [1_000, 0]);
    assert_eq!(left(&system), [10]);
    prefers(&mut system, 3, 1, [0, 1_000]);
    assert_eq!(left(&system), [9]);
    system.localities[2].1.preferred = NodeId(1);
    assert_eq!(left(&system), [8, 9, 10]);
}
