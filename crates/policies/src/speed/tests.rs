//! `SPEED` against queues whose cpu time is shared equally: measurement, choice of victim, rest, rotation.

use super::*;
use crate::fake::{self, FakeSystem, run, start};
use sim_core::ids::{CpuId, Id};
use sim_core::machine::Level as Tree;
use sim_core::policy::TaskState;

const MS: u64 = 1_000_000;

fn policy(changes: &[(&str, u64)]) -> Box<dyn Policy> {
    fake::built(&ENTRY, changes)
}

#[test]
fn even_counts_never_move() {
    let mut policy = policy(&[]);
    let mut system = start(&[(Tree::Core, 4)], 8, &mut *policy);
    run(&mut system, &mut *policy, Time::from_ns(5_000 * MS));
    assert_eq!(system.homes(AppId(0)), [0, 1, 2, 3, 0, 1, 2, 3].map(Some));
    assert!(system.charges.iter().all(|(_, span, daemon)| *span == Span::from_us(5) && *daemon));
    assert!(system.charges.len() > 100);
}

#[test]
fn three_threads_on_two_cores_rotate_to_equal_shares() {
    let mut policy = policy(&[]);
    let mut system = start(&[(Tree::Core, 2)], 3, &mut *policy);
    run(&mut system, &mut *policy, Time::from_ns(60_000 * MS));
    let used: Vec<u64> = system.tasks.iter().map(|t| t.cpu_time.ns() / MS).collect();
    let (least, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
    // The ceiling is 2/3 of the time for each; without balancing one thread has twice the others' share.
    assert!(*least * 10 > *most * 8, "{used:?}");
}

#[test]
fn cores_rest_for_two_intervals_after_a_migration() {
    let mut policy = policy(&[("jitter", 0)]);
    let mut system = start(&[(Tree::Core, 2)], 3, &mut *policy);
    let mut changes = Vec::new();
    let mut before = system.homes(AppId(0));
    for tick in 1..=40 {
        run(&mut system, &mut *policy, Time::from_ns(tick * 50 * MS));
        if system.homes(AppId(0)) != before {
            before = system.homes(AppId(0));
            changes.push(system.now);
        }
    }
    assert!(changes.len() >= 3, "{changes:?}");
    assert!(changes.windows(2).all(|w| w[1].since(w[0]) >= Span::from_ms(200)), "{changes:?}");
}

#[test]
fn nodes_are_crossed_only_when_asked() {
    let crossing = |flag| {
        let mut policy = policy(&[("cross_nodes", flag)]);
        let mut system = start(&[(Tree::Node, 2), (Tree::Core, 1)], 3, &mut *policy);
        let before = system.homes(AppId(0));
        run(&mut system, &mut *policy, Time::from_ns(3_000 * MS));
        system.homes(AppId(0)) != before || system.tasks.iter().any(|t| t.view.cpu.0 == 1 && t.view.rank != 1)
    };
    assert!(!crossing(0));
    let mut moved = policy(&[("cross_nodes", 1)]);
    let mut system = start(&[(Tree::Node, 2), (Tree::Core, 1)], 3, &mut *moved);
    run(&mut system, &mut *moved, Time::from_ns(30_000 * MS));
    let used: Vec<u64> = system.tasks.iter().map(|t| t.cpu_time.ns() / MS).collect();
    assert!(used.iter().max().unwrap() * 8 < used.iter().min().unwrap() * 10, "{used:?}");
}

#[test]
fn fewer_threads_than_cores_fill_the_nodes_evenly() {
    let mut policy = policy(&[]);
    let system = start(&[(Tree::Node, 2), (Tree::Core, 4)], 4, &mut *policy);
    assert_eq!(system.homes(AppId(0)), [0, 4, 1, 5].map(Some));
}

#[test]
fn background_applications_are_left_alone() {
    let mut policy = policy(&[]);
    let mut system = FakeSystem::new(&[(Tree::Core, 2)]);
    let hog = system.add_app(1, true);
    policy.init(&mut system);
    policy.app_started(&mut system, hog);
    policy.app_ready(&mut system, hog);
    assert!(system.timers.is_empty());
    assert_eq!(system.homes(hog), [None]);
}

/// This many looks of both balancers of two cores with three threads.
fn looks(number: u64, changes: &[(&str, u64)], prepare: impl Fn(&mut FakeSystem)) -> FakeSystem {
    let mut policy = policy(&[&[("jitter", 0)], changes].concat());
    let mut system = start(&[(Tree::Core, 2)], 3, &mut *policy);
    // Threads 0 and 2 are on core 0, thread 1 is on core 1; core 0 looks first.
    prepare(&mut system);
    run(&mut system, &mut *policy, Time::from_ns(number * 100 * MS));
    system
}

#[test]
fn every_binding_and_every_pull_has_a_reason_with_its_numbers() {
    let system = looks(1, &[], |_| {});
    let reasons = &system.reasons;
    assert!(reasons[..3].iter().all(|why| why.rule.starts_with("bound") && why.facts[1] == ("cores", 2)));
    let pull = reasons[3];
    assert!(pull.rule.starts_with("pulled"), "{pull:?}");
    assert_eq!(pull.facts.map(|fact| fact.1), [1_000, 500, 750, 0]);
    assert_eq!(reasons.len(), 4);
}

#[test]
fn the_queue_as_measure_sees_strangers_and_no_shares() {
    // A stranger waits beside the one thread of core 1: both queues are two long.
    let stranger = |system: &mut FakeSystem| {
        let app = system.add_app(1, true);
        let task = system.apps[app.index()].task_ids().next().unwrap();
        let view = &mut system.tasks[task.index()].view;
        (view.cpu, view.state) = (CpuId(1), TaskState::Queued);
    };
    let homes = |measure, prepare: &dyn Fn(&mut FakeSystem)| {
        looks(1, &[("measure", measure)], prepare).homes(AppId(0))
    };
    assert_eq!(homes(1, &stranger), [0, 1, 0].map(Some));
    assert_ne!(homes(1, &|_| {}), [0, 1, 0].map(Some));
}

#[test]
fn progress_as_measure_sees_a_thread_that_only_polls() {
    // Alone on core 1, thread 1 has the cpu and does nothing: by cpu time core 1 is fast, by progress it is
    // the slow one.
    let polls = |system: &mut FakeSystem| system.tasks[1].view.weight = fake::POLLS;
    let by_share = looks(1, &[], polls).homes(AppId(0));
    assert_eq!(by_share.iter().filter(|home| **home == Some(1)).count(), 2, "{by_share:?}");
    let by_work = looks(1, &[("measure", 2)], polls).homes(AppId(0));
    assert_eq!(by_work.iter().filter(|home| **home == Some(1)).count(), 1, "{by_work:?}");
}

#[test]
fn a_sleeper_makes_its_core_slow_unless_it_is_skipped() {
    // Thread 1 sleeps alone on core 1: counted, core 1 is the slowest; skipped, it is free and takes a
    // thread.
    let sleeps = |system: &mut FakeSystem| system.tasks[1].view.state = TaskState::Sleeping;
    let counted = looks(2, &[], sleeps).homes(AppId(0));
    let skipped = looks(2, &[("sleepers", 1)], sleeps).homes(AppId(0));
    assert_eq!(counted[1], Some(0), "{counted:?}");
    assert_eq!(skipped.iter().filter(|home| **home == Some(1)).count(), 2, "{skipped:?}");
}

#[test]
fn each_level_beyond_the_shared_cache_is_visible_half_as_often() {
    let level = |levels: &[(Tree, u32)], cpu| {
        let machine = fake::machine(levels);
        balancers::level_of(&machine, CpuId(0), CpuId(cpu))
    };
    let tigerton = [(Tree::Package, 4), (Tree::Cache, 2), (Tree::Core, 2)];
    assert_eq!([1, 2, 3, 4, 15].map(|cpu| level(&tigerton, cpu)), [0, 1, 1, 2, 2]);
    // The cores of a Barcelona socket share their third level; on Nehalem hardware threads count as cores.
    let barcelona = [(Tree::Package, 4), (Tree::Node, 1), (Tree::Core, 4)];
    assert_eq!([1, 3, 4, 15].map(|cpu| level(&barcelona, cpu)), [0, 0, 1, 1]);
    let nehalem = [(Tree::Package, 2), (Tree::Node, 1), (Tree::Cache, 1), (Tree::Core, 4), (Tree::Thread, 2)];
    assert_eq!([1, 2, 7, 8].map(|cpu| level(&nehalem, cpu)), [0, 0, 0, 2]);
}
