//! Placement, steals and passes of the balancer by hand, under both kernels.

use super::*;
use crate::fake::FakeSystem;
use notation::parameter::Values;
use sim_core::policy::{Affinity, TaskState, Timer};
use sim_core::time::Time;

const SOCKETS: [(Tree, u32); 3] = [(Tree::Package, 2), (Tree::Cache, 1), (Tree::Core, 4)];

fn steady(counts: &[u32]) -> (FakeSystem, Ule) {
    on(&SOCKETS, "freebsd-14", counts)
}

/// A machine with these numbers of threads on its cpus, under the rules of a kernel.
fn on(levels: &[(Tree, u32)], kernel: &str, counts: &[u32]) -> (FakeSystem, Ule) {
    let mut system = FakeSystem::new(levels);
    let entry = kernels::KERNELS.resolve(kernel).unwrap();
    system.kernel = kernels::build(entry, &Values::defaults(entry.parameters), system.machine.cpus());
    let setting = Setting { entry: &ENTRY, machine: &system.machine, kernel: &system.kernel, apps: &[] };
    let values = Values::defaults(Parameters::TABLE);
    let mut policy = Ule::new(&Parameters::from(&values), &setting);
    system.fill(&mut policy, counts);
    system.now = Time::from_ns(10_000_000_000);
    (system, policy)
}

#[test]
fn the_long_term_balancer_comes_every_half_to_one_and_a_half_seconds() {
    let (mut system, mut policy) = steady(&[0; 8]);
    policy.init(&mut system);
    for i in 0..200 {
        system.now = system.timers[i].0;
        policy.timer(&mut system, Timer::Token(0));
    }
    let gaps: Vec<u64> = system.timers.windows(2).map(|w| w[1].0.since(w[0].0).ns() / 1_000_000).collect();
    assert!(gaps.iter().all(|gap| (500..1_500).contains(gap)), "{gaps:?}");
    assert!(gaps.iter().any(|gap| *gap < 600) && gaps.iter().any(|gap| *gap > 1_400));
}

#[test]
fn a_pass_moves_one_thread_per_long_queue_and_even_an_odd_one() {
    let (mut system, mut policy) = steady(&[1, 1, 1, 2, 1, 1, 1, 1]);
    policy.timer(&mut system, Timer::Token(0));
    assert_eq!(system.moves.len(), 1, "the odd thread moves");
    let (mut system, mut policy) = steady(&[5, 1, 1, 3, 1, 1, 1, 1]);
    policy.timer(&mut system, Timer::Token(0));
    assert_eq!(system.moves.len(), 2, "one thread from each");
    assert_eq!(&system.counts()[..1], [4]);
    let (mut system, mut policy) = steady(&[1; 8]);
    policy.timer(&mut system, Timer::Token(0));
    assert!(system.moves.is_empty());
}

#[test]
fn an_idle_cpu_steals_from_the_nearest_queue_of_two() {
    let (mut system, mut policy) = steady(&[1, 2, 1, 1, 6, 1, 1, 1]);
    system.leave(&mut policy, TaskId(0), TaskState::Exited);
    policy.idle(&mut system, CpuId(0));
    assert_eq!(system.counts(), [1, 1, 1, 1, 6, 1, 1, 1]);
    let (mut system, mut policy) = steady(&[1, 1, 1, 1, 3, 2, 1, 1]);
    system.leave(&mut policy, TaskId(0), TaskState::Exited);
    policy.idle(&mut system, CpuId(0));
    assert_eq!(system.counts(), [1, 1, 1, 1, 2, 2, 1, 1], "the most loaded one further away");
}

#[test]
fn threads_go_to_idle_cpus_near_first_and_may_be_pinned() {
    let wake = |counts: &[u32], ran_ms_ago: u64| {
        let (mut system, mut policy) = steady(counts);
        let task = TaskId(system.tasks.len() as u32);
        system.add_app(1, false);
        system.tasks[task.0 as usize].view.last_ran = Time::from_ns(system.now.ns() - ran_ms_ago * 1_000_000);
        policy.pick_nearest(&system, task, CpuId(1), Some(CpuId(5))).cpu.0
    };
    assert_eq!(wake(&[1, 0, 0, 0, 0, 0, 0, 0], 1), 1);
    assert_eq!(wake(&[1, 1, 1, 0, 0, 0, 0, 0], 1), 3, "its cache is warm: stays in the group");
    assert_eq!(wake(&[1, 1, 1, 1, 1, 1, 1, 0], 1), 7);
    assert_eq!(wake(&[1, 1, 1, 1, 1, 1, 1, 1], 1), 5, "nothing is idle: the waker's");
    assert_eq!(wake(&[1, 1, 1, 1, 1, 4, 1, 1], 1), 1, "unless it is longer by more than one");
    let (mut system, mut policy) = steady(&[0; 8]);
    system.add_app(1, false);
    system.tasks[0].affinity = Affinity::One(CpuId(6));
    assert_eq!(policy.select_cpu(&system, TaskId(0), Placement::Fork { parent: CpuId(0) }).cpu, CpuId(6));
}

#[test]
fn the_older_moves_half_of_the_largest_difference_and_even_an_odd_thread() {
    let after = |counts: &[u32]| {
        let (mut system, mut policy) = on(&SOCKETS, "freebsd-7", counts);
        policy.timer(&mut system, Timer::Token(ALL));
        let mut counts = system.counts();
        counts.sort_unstable();
        (counts, system.moves.len())
    };
    assert_eq!(after(&[1, 1, 1, 2, 1, 1, 1, 1]), (vec![1, 1, 1, 1, 1, 1, 1, 2], 1));
    assert_eq!(after(&[6, 1, 1, 3, 1, 1, 1, 1]), (vec![1, 1, 1, 1, 1, 3, 3, 4], 3), "one pair per pass");
    assert_eq!(after(&[2; 8]).1, 0);
    // Queues of two siblings each: 4 threads on one core, 2 on the other three; one of them goes over.
    let cores = [(Tree::Core, 4), (Tree::Thread, 2)];
    let (mut system, mut policy) = on(&cores, "freebsd-7", &[3, 1, 1, 1, 1, 1, 1, 1]);
    policy.timer(&mut system, Timer::Token(ALL));
    assert_eq!((system.moves.len(), system.counts()[0]), (1, 2));
    // And within the core.
    let (mut system, mut policy) = on(&cores, "freebsd-7", &[3, 0, 1, 1, 1, 1, 1, 1]);
    policy.timer(&mut system, Timer::Token(SIBLINGS));
    assert_eq!(system.counts(), [1, 2, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn the_older_steals_from_three_on_large_machines_and_from_two_on_small_ones() {
    let after = |levels: &[(Tree, u32)], counts: &[u32]| {
        let (mut system, mut policy) = on(levels, "freebsd-7", counts);
        system.leave(&mut policy, TaskId(0), TaskState::Exited);
        policy.idle(&mut system, CpuId(0));
        system.counts()
    };
    assert_eq!(after(&SOCKETS, &[1, 2, 1, 1, 2, 1, 1, 1]), [0, 2, 1, 1, 2, 1, 1, 1]);
    assert_eq!(after(&SOCKETS, &[1, 2, 1, 3, 3, 1, 1, 1]), [1, 2, 1, 3, 2, 1, 1, 1]);
    assert_eq!(after(&[(Tree::Core, 4)], &[1, 2, 1, 1]), [1, 1, 1, 1]);
    // A sibling's waiting thread is taken in any case.
    let cores = [(Tree::Core, 4), (Tree::Thread, 2)];
    assert_eq!(after(&cores, &[1, 2, 1, 1, 2, 1, 1, 1]), [1, 1, 1, 1, 2, 1, 1, 1]);
}

#[test]
fn the_older_places_on_the_last_cpu_the_first_idle_one_and_the_shortest_queue() {
    let wake = |counts: &[u32]| {
        let (mut system, mut policy) = on(&SOCKETS, "freebsd-7", counts);
        let task = TaskId(system.tasks.len() as u32);
        system.add_app(1, false);
        policy.select_cpu(&system, task, Placement::Wake { waker: CpuId(5), previous: CpuId(6) }).cpu.0
    };
    assert_eq!(wake(&[0, 1, 1, 1, 1, 1, 0, 1]), 6);
    assert_eq!(wake(&[1, 1, 0, 1, 1, 0, 1, 1]), 2);
    assert_eq!(wake(&[1, 2, 1, 1, 1, 1, 2, 2]), 5, "the last of equals");
}

#[test]
fn the_second_in_the_queue_is_taken_and_every_decision_has_a_reason() {
    let (mut system, mut policy) = steady(&[0, 4, 1, 1, 1, 1, 1, 1]);
    policy.idle(&mut system, CpuId(0));
    // Task 0 runs, task 1 is first in the queue.
    assert_eq!(system.moves, [(TaskId(2), CpuId(0))]);
    let reasons = &system.reasons;
    assert!(reasons.len() == 1 && reasons[0].facts[1] == ("threads there", 4), "{reasons:?}");
}

#[test]
fn an_idle_cpu_of_the_older_looks_again_at_its_ticks() {
    // Two threads are bound to their cpu when the other one goes idle; then they may leave it.
    let two = [(Tree::Package, 1), (Tree::Core, 2)];
    for (kernel, stolen) in [("freebsd-7", 1), ("freebsd-14", 0)] {
        let (mut system, mut policy) = on(&two, kernel, &[1, 2]);
        for task in &mut system.tasks {
            task.affinity = Affinity::One(CpuId(1));
        }
        system.leave(&mut policy, TaskId(0), TaskState::Exited);
        policy.idle(&mut system, CpuId(0));
        assert!(system.moves.is_empty());
        for task in &mut system.tasks {
            task.affinity = Affinity::All;
        }
        for (cpu, _) in std::mem::take(&mut system.ticks) {
            policy.timer(&mut system, Timer::Tick(cpu));
        }
        assert_eq!(system.moves.len(), stolen, "{kernel}");
    }
}
