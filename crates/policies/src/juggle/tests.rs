//! `JUGGLE` against queues whose cpu time is shared equally: equal progress, bounds, vacancies, domains,
//! costs.

use super::*;
use crate::fake::{self, FakeSystem, POLLS, run, start};
use sim_core::ids::CpuId;
use sim_core::machine::Level as Tree;
use sim_core::policy::TaskState;
use sim_core::time::Time;

const MS: u64 = 1_000_000;

fn policy(changes: &[(&str, u64)]) -> Box<dyn Policy> {
    fake::built(&ENTRY, changes)
}

/// Cpu times of the first `threads` tasks in milliseconds.
fn received(system: &FakeSystem, threads: usize) -> Vec<u64> {
    system.tasks[..threads].iter().map(|t| t.cpu_time.ns() / MS).collect()
}

#[test]
fn no_thread_is_ever_more_than_an_interval_ahead_whatever_the_numbers() {
    for (cores, threads) in [(2, 3), (4, 5), (4, 7), (12, 16), (15, 16), (16, 17), (16, 31), (5, 13)] {
        let mut policy = policy(&[]);
        let mut system = start(&[(Tree::Core, cores)], threads, &mut *policy);
        for round in 1..=200 {
            run(&mut system, &mut *policy, Time::from_ns(round * 100 * MS));
            let used = received(&system, threads as usize);
            let (least, most) = (*used.iter().min().unwrap(), *used.iter().max().unwrap());
            assert!(most - least <= 100, "{threads} on {cores}, round {round}: {used:?}");
            // The sum is the capacity: the slowest is at most an interval behind cores / threads of the time.
            let fair = round * 100 * u64::from(cores) / u64::from(threads);
            assert!(least + 100 >= fair, "{threads} on {cores}, round {round}: {least} of {fair}");
        }
        let counts: Vec<u32> = system.machine.cpu_ids().map(|cpu| system.nr_running(cpu)).collect();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
}

#[test]
fn threads_that_divide_the_cores_stay() {
    let mut policy = policy(&[]);
    let mut system = start(&[(Tree::Core, 4)], 8, &mut *policy);
    run(&mut system, &mut *policy, Time::from_ns(5_000 * MS));
    assert_eq!(system.homes(AppId(0)), [0, 1, 2, 3, 0, 1, 2, 3].map(Some));
}

#[test]
fn the_slowest_thread_changes_places_with_the_fastest() {
    let mut policy = policy(&[]);
    let mut system = start(&[(Tree::Core, 2)], 3, &mut *policy);
    assert_eq!(system.homes(AppId(0)), [0, 1, 0].map(Some));
    run(&mut system, &mut *policy, Time::from_ns(100 * MS));
    assert_eq!(system.homes(AppId(0)), [1, 0, 0].map(Some));
    let reasons = &system.reasons;
    assert_eq!(reasons.len(), 5);
    assert!(reasons[3].rule.contains("ahead") && reasons[4].rule.contains("behind"));
    assert_eq!(reasons[4].facts.map(|fact| fact.1), [50_000, 100_000, 500, 1_000]);
}

#[test]
fn a_stranger_is_shared_by_all_and_a_free_core_is_used() {
    // A hog on core 0. Four threads on four cores: each is to get 3.5 / 4 of the time.
    let share = |threads: u32| {
        let mut policy = policy(&[]);
        let mut system = start(&[(Tree::Core, 4)], threads, &mut *policy);
        system.add_app(1, true);
        let hog = &mut system.tasks[threads as usize].view;
        (hog.state, hog.cpu) = (TaskState::Running, CpuId(0));
        run(&mut system, &mut *policy, Time::from_ns(40_000 * MS));
        *received(&system, threads as usize).iter().min().unwrap() as f64 / 40_000.0
    };
    assert!((share(4) - 3.5 / 4.0).abs() < 0.005, "{}", share(4));
    // Three threads: the one beside the hog goes to the free core after the first interval.
    assert!(share(3) > 0.995, "{}", share(3));
}

#[test]
fn nodes_are_crossed_only_with_the_machine_as_scope() {
    let unfair = |scope| {
        let mut policy = policy(&[("scope", scope)]);
        let mut system = start(&[(Tree::Node, 2), (Tree::Core, 1)], 3, &mut *policy);
        run(&mut system, &mut *policy, Time::from_ns(30_000 * MS));
        let used = received(&system, 3);
        used.iter().max().unwrap() - used.iter().min().unwrap()
    };
    assert!(unfair(0) >= 14_900, "{}", unfair(0));
    assert!(unfair(1) <= 100, "{}", unfair(1));
}

#[test]
fn work_as_measure_sees_who_only_polls() {
    // Thread 1 polls alone on core 1. Cpu time calls it ahead, counters see that it gets nowhere.
    let behind = |measure| {
        let mut policy = policy(&[("measure", measure)]);
        let mut system = start(&[(Tree::Core, 2)], 3, &mut *policy);
        system.tasks[1].view.weight = POLLS;
        run(&mut system, &mut *policy, Time::from_ns(100 * MS));
        let up = system.reasons[4];
        up.facts.map(|fact| fact.1)
    };
    assert_eq!(behind(0), [50_000, 100_000, 500, 1_000]);
    assert_eq!(behind(1), [0, 50_000, 0, 500]);
}

#[test]
fn rounds_are_paid_on_every_core_or_by_the_coordinator() {
    let charges = |coordinator| {
        let mut policy = policy(&[("coordinator", coordinator)]);
        let mut system = start(&[(Tree::Core, 3)], 6, &mut *policy);
        run(&mut system, &mut *policy, Time::from_ns(100 * MS));
        system.charges.iter().map(|(cpu, span, _)| (cpu.0, span.ns() / 1_000)).collect::<Vec<_>>()
    };
    assert_eq!(charges(0), [(0, 10), (1, 5), (2, 5)]);
    assert_eq!(charges(1), [(0, 20)]);
}

#[test]
fn threads_that_ended_leave_room_for_others() {
    let mut policy = policy(&[]);
    let mut system = start(&[(Tree::Core, 2)], 4, &mut *policy);
    for task in [1, 3] {
        system.tasks[task].view.state = TaskState::Exited;
    }
    run(&mut system, &mut *policy, Time::from_ns(100 * MS));
    let homes = system.homes(AppId(0));
    assert_ne!(homes[0], homes[2], "{homes:?}");
}
