//! `SPEED` against queues whose cpu time is shared equally: measurement, choice of victim, rest, rotation.

use super::*;
use crate::fake::FakeSystem;
use notation::parameter::Values;
use sim_core::ids::Id;
use sim_core::machine::Level as Tree;

const MS: u64 = 1_000_000;

fn policy(changes: &[(&str, u64)]) -> Box<dyn Policy> {
    let mut values = Values::defaults(PARAMETERS);
    for (name, value) in changes {
        values.set(name, *value).unwrap();
    }
    let system = FakeSystem::new(&[(Tree::Core, 1)]);
    build(&values, &Setting { machine: &system.machine, kernel: &system.kernel, apps: &[] })
}

/// Lets `span` pass: each task gets an equal share of its cpu.
fn pass(system: &mut FakeSystem, span: Span) {
    let on = |system: &FakeSystem, cpu| system.tasks.iter().filter(|t| t.view.cpu == cpu).count() as u64;
    let shares: Vec<u64> = system.machine.cpu_ids().map(|cpu| on(system, cpu)).collect();
    for task in &mut system.tasks {
        task.cpu_time += Span::from_ns(span.ns() / shares[task.view.cpu.index()]);
    }
    system.now += span;
}

/// Runs timers in order until `end`.
fn run(system: &mut FakeSystem, policy: &mut dyn Policy, end: Time) {
    loop {
        let Some(i) = (0..system.timers.len()).min_by_key(|i| system.timers[*i]) else {
            return;
        };
        let (at, token) = system.timers[i];
        if at > end {
            return;
        }
        system.timers.swap_remove(i);
        let wait = at.since(system.now);
        pass(system, wait);
        policy.timer(system, token);
    }
}

fn start(levels: &[(Tree, u32)], threads: u32, policy: &mut dyn Policy) -> FakeSystem {
    let mut system = FakeSystem::new(levels);
    let app = system.add_app(threads, false);
    policy.init(&mut system);
    policy.app_started(&mut system, app);
    for task in &mut system.tasks {
        task.view.state = TaskState::Running;
    }
    policy.app_ready(&mut system, app);
    system
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
