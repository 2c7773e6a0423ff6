//! What queue-length balancing of 2.6.28 repairs and what it leaves, and what balancing of speed adds.

use std::collections::BTreeMap;

use sim_core::ids::CpuId;
use sim_core::observe::Observation;
use sim_core::outcome::RunReport;
use sim_core::program::{AppSpec, Op};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{Log, MS, SIXTEEN, Trial, WAITER, app, compute, hogs, seconds};

/// Tasks that compute for ever, as a foreground program that the horizon cuts off.
fn endless(tasks: u32) -> AppSpec {
    app(tasks, vec![Op::Repeat(0), compute(Span::from_ms(1_000)), Op::End], WaitMode::Spin)
}

/// Smallest and largest cpu time of a task, as shares of the run.
fn shares(report: &RunReport) -> (f64, f64) {
    let all = report.apps[0].task_cpu.iter().map(|cpu| cpu.ns() as f64 / report.makespan.ns() as f64);
    all.fold((1.0, 0.0), |(low, high), share| (share.min(low), share.max(high)))
}

/// Tasks per group of cpus at an instant.
fn population(log: &Log, until: Time, span: u32) -> Vec<u32> {
    let mut place = BTreeMap::new();
    for (at, what) in &log.0 {
        if let Observation::Runnable { task, cpu } = what
            && *at <= until
        {
            place.insert(*task, cpu.0 / span);
        }
    }
    let mut groups = Vec::new();
    for group in place.values() {
        groups.resize(groups.len().max(*group as usize + 1), 0);
        groups[*group as usize] += 1;
    }
    groups
}

/// Moves between groups of cpus after an instant.
fn moves_across(log: &Log, after_ms: u64, span: u32) -> usize {
    let across = |from: CpuId, to: CpuId| from.0 / span != to.0 / span;
    log.moves().filter(|(at, from, to)| at.ns() > after_ms * MS && across(*from, *to)).count()
}

#[test]
fn inside_a_socket_one_task_too_many_goes_round() {
    // Two against one, three against two: the excess moves, so that all get about the same. Pinned, it stays.
    for (cores, tasks) in [(2, 3), (4, 5), (2, 5)] {
        let machine = format!("package:1 core:{cores}");
        let placed = (0..tasks).map(move |task| task % cores);
        let trial = Trial::on(&machine).placed(placed).app(endless(tasks)).until(30_000);
        let (report, log) = trial.log();
        let (low, high) = shares(&report);
        let fair = f64::from(cores) / f64::from(tasks);
        let moves = log.moves().count();
        assert!(
            low > 0.85 * fair && high < 1.25 * fair && moves > 40,
            "{tasks} on {cores}: shares from {low:.3} to {high:.3}, fair {fair:.3}, {moves} moves"
        );
        let (low, high) = shares(&trial.policy("PIN", &[]).run());
        assert!(high / low > 1.4, "{tasks} on {cores} pinned: from {low:.3} to {high:.3}");
    }
}

#[test]
fn inside_a_socket_five_against_four_stay() {
    let placed = [0, 1, 0, 1, 0, 1, 0, 1, 0];
    let (report, log) = Trial::on("package:1 core:2").placed(placed).app(endless(9)).until(30_000).log();
    let (low, high) = shares(&report);
    assert_eq!(log.moves().count(), 0);
    assert!((high / low - 1.25).abs() < 0.05, "shares from {low:.3} to {high:.3}");
}

/// Barcelona with this many endless tasks on its nodes, in turn on the four cores of each.
fn nodes(tasks: [u32; 4]) -> Trial {
    let placed = (0u32..).zip(tasks).flat_map(|(node, count)| (0..count).map(move |i| 4 * node + i % 4));
    Trial::on("barcelona").placed(placed).app(endless(tasks.iter().sum())).until(30_000)
}

#[test]
fn across_nodes_an_excess_below_a_quarter_stays_for_ever() {
    // Within the node with five tasks the excess goes round; the other nodes never help.
    let (report, log) = nodes([5, 4, 4, 4]).log();
    assert_eq!(moves_across(&log, 0, 4), 0);
    assert!(log.moves().count() > 60, "{} moves", log.moves().count());
    let (low, high) = shares(&report);
    assert!((0.68..=0.8).contains(&low) && high > 0.99, "shares from {low:.3} to {high:.3}");
    for stuck in [[6, 4, 4, 4], [10, 8, 8, 8]] {
        let (_, log) = nodes(stuck).log();
        let crossed = moves_across(&log, 0, 4);
        assert_eq!(crossed, 0, "{stuck:?} became {:?}", population(&log, Time::NEVER, 4));
    }
}

#[test]
fn across_nodes_a_larger_excess_is_moved() {
    for (start, worst) in [([12, 4, 4, 4], 8), ([8, 0, 4, 4], 5), ([16, 0, 0, 0], 5)] {
        let (_, log) = nodes(start).log();
        let end = population(&log, Time::NEVER, 4);
        assert!(end.iter().all(|tasks| *tasks <= worst), "{start:?} became {end:?}");
        assert_eq!(moves_across(&log, 20_000, 4), 0, "{start:?} has not come to rest: {end:?}");
    }
}

/// When the first of two waiting tasks on cpu 0 is moved to cpu 1, where one computes.
fn first_move(wait_for_it: bool) -> Time {
    let mut team = app(3, vec![compute(Span::from_ms(5_000)), Op::Barrier], WaitMode::Yield);
    if wait_for_it {
        team.rank_scale = vec![WAITER, 1_000, WAITER];
    }
    let kernel = [("buddies", 0), ("start_debit", 0)];
    let trial = Trial::on("package:1 core:2").kernel(&kernel).placed([0, 1, 0]).app(team).until(4_000);
    let (_, log) = trial.log();
    log.moves().map(|(at, _, _)| at).next().unwrap()
}

#[test]
fn tasks_that_rotate_by_yielding_are_hot_and_resist() {
    let (cold, hot) = (first_move(false), first_move(true));
    // The first attempt of a busy cpu comes after 64 ms, and each further one; hot tasks go with the third.
    assert_eq!(cold.ns() / (10 * MS), 6, "waiting tasks that compute: {cold:?}");
    assert_eq!(hot.ns() / (10 * MS), 19, "tasks that poll and yield: {hot:?}");
}

/// Most tasks on one cpu when sixteen have just been forked, one every `gap`.
fn clump(gap: Span) -> u32 {
    let mut trial = Trial::on("barcelona").app(endless(16)).until(200);
    trial.machine.costs.fork = gap;
    let (_, log) = trial.log();
    let forked = log.0.iter().filter_map(|(at, what)| match what {
        Observation::Runnable { task, .. } if task.0 == 15 => Some(*at),
        _ => None,
    });
    let ready = forked.min().unwrap();
    population(&log, ready, 1).into_iter().max().unwrap()
}

#[test]
fn forks_within_a_tick_clump_and_slow_forks_spread() {
    let (fast, slow) = (clump(Span::from_us(20)), clump(Span::from_ms(5)));
    assert!(fast >= 8, "16 forks within a third of a tick: at most {fast} on one cpu");
    assert_eq!(slow, 1, "16 forks, one every 5 ms");
}

/// How long a cpu that runs out of work on a busy machine stays idle before it gets a waiting task.
fn idle_gap(machine: &str, newidle: u64) -> Span {
    // One task per cpu, one more on cpu 0, and on cpu 9 a short one that ends between two ticks. Without
    // buddies: the last task that entered a queue counts as cache-hot until it sleeps, and stays at first.
    let mut trial = Trial::on(machine).kernel(&[("buddies", 0)]).until(2_000);
    trial = trial.policy("LOAD", &[("newidle", newidle)]);
    let others = (0..16).filter(|cpu| *cpu != 9).chain([0]);
    trial = trial.placed([9].into_iter().chain(others)).app(hogs(1, 1_500));
    trial.apps[0].program = app(1, vec![compute(Span::from_us(60_300))], WaitMode::Spin).program;
    let (_, log) = trial.app(endless(16)).log();
    let end = log.0.iter().find(|(_, what)| matches!(what, Observation::AppExited(_))).unwrap().0;
    let first = log.moves().find(|(at, _, to)| *at >= end && to.0 == 9);
    first.map_or(Span::MAX, |(at, _, _)| at - end)
}

#[test]
fn a_cpu_that_runs_dry_waits_for_its_tick_in_this_kernel() {
    // 2.6.28 pulls at once only between the threads of a core and on the largest machines; elsewhere an idle
    // cpu balances at its next ticks.
    for machine in ["tigerton", SIXTEEN] {
        let (kernel, all) = (idle_gap(machine, 0), idle_gap(machine, 1));
        assert_eq!(all, Span::ZERO, "{machine}, pulling at all levels");
        assert!(
            kernel > Span::from_us(50) && kernel <= Span::from_ms(4),
            "{machine}, as in 2.6.28: {kernel:?}"
        );
    }
}

/// A program of one thread too many: each computes for 10 s and meets the others.
fn uneven(tasks: u32) -> AppSpec {
    app(tasks, vec![compute(Span::from_ms(10_000)), Op::Barrier], WaitMode::Yield)
}

#[test]
fn speed_balancing_shares_an_uneven_remainder() {
    for (machine, cores, tasks) in [(SIXTEEN, 16, 17), ("package:1 core:2", 2, 3)] {
        let trial = Trial::on(machine).app(uneven(tasks));
        let ideal = 10.0 * f64::from(tasks) / f64::from(cores);
        let pinned = trial.clone().policy("PIN", &[]).seconds();
        assert!((pinned - 20.0).abs() < 0.1, "{tasks} on {cores} pinned: {pinned} s");
        for seed in 1..=3 {
            let report = trial.clone().policy("SPEED", &[]).seed(seed).run();
            let speed = seconds(&report, 0);
            // Nobody runs faster than cores / threads on average.
            assert!(speed >= ideal, "{tasks} on {cores}: {speed} s, less than {ideal} s");
            let gain = pinned / speed;
            let possible = pinned / ideal;
            assert!(
                gain > 1.0 + 0.5 * (possible - 1.0),
                "{tasks} on {cores}, seed {seed}: gain {gain:.3} of {possible:.3}"
            );
        }
    }
}

#[test]
fn speed_balancing_gives_three_threads_on_two_cores_up_to_a_third() {
    let trial = Trial::on("package:1 core:2").app(uneven(3));
    let pinned = trial.clone().policy("PIN", &[]).seconds();
    let best = (1..=10).map(|seed| pinned / trial.clone().policy("SPEED", &[]).seed(seed).seconds());
    let best = best.fold(0.0, f64::max);
    assert!((1.25..=4.0 / 3.0 + 0.001).contains(&best), "best gain {best:.3}");
}
