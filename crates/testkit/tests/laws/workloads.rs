//! Workloads that are no catalogued benchmarks, against what queueing theory and arithmetic say about them.

use sim_core::account::Category;
use sim_core::program::Op;
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{MS, Trial, app, compute, hogs, on_cpu, registry};

/// Share of cpu 0 that is busy while `services` of 55 % sit on it, over 200 s; nothing else runs.
fn busy(services: u32) -> f64 {
    let services = on_cpu(0, registry("services", &[], "block", services));
    let report = Trial::on("package:1 core:2").free().app(on_cpu(1, hogs(1, 200_000))).app(services).run();
    let cpu = &report.cpus[0];
    1.0 - cpu.get(Category::Idle).ns() as f64 / cpu.total().ns() as f64
}

#[test]
fn services_on_one_core_fill_it_as_the_machine_repairman_model_says() {
    // N customers with exponential times, rho = 0.55 / 0.45: idle with probability 1 / sum of N! / (N - k)!
    // rho^k, 0.45, 0.1555 and 0.0013 for one, two and five of them.
    for (services, expected) in [(1, 0.55), (2, 0.8445), (5, 0.9987)] {
        let share = busy(services);
        assert!((share - expected).abs() < 0.02, "{services}: busy {share}, expected {expected}");
    }
}

#[test]
fn users_alone_on_the_machine_wait_for_their_own_work_only() {
    let users = registry("interactive", &[("requests", 400), ("think", 20 * MS)], "block", 4);
    let report = Trial::on("package:1 core:4").free().app(users).run();
    let counters = report.apps[0].counters;
    assert_eq!(counters.responses, 4 * 400);
    let mean = counters.response_ns as f64 / counters.responses as f64;
    // 10 ms of mean work; the standard error of 1,600 exponential values is 2.5 %.
    assert!((mean / 1e7 - 1.0).abs() < 0.1, "{mean} ns");
}

#[test]
fn a_pool_loses_half_a_core_to_a_hog_where_equal_shares_lose_half_the_speed() {
    let time = |workload, settings: &[_], hog: bool| {
        let app = registry(workload, settings, "block", 16);
        let trial = Trial::on("package:1 core:16").policy("PIN", &[]).app(app);
        if hog { trial.app(on_cpu(0, registry("hog", &[], "block", 1))).seconds() } else { trial.seconds() }
    };
    let chunks = [("work", 16_000 * MS), ("chunks", 16_000), ("steal", 0)];
    let equal = [("work", 16_000 * MS), ("intervals", 1)];
    for (workload, settings, alone, shared) in
        [("pool", &chunks[..], 1.0, 16.0 / 15.5), ("spmd", &equal[..], 1.0, 2.0)]
    {
        let ratio = time(workload, settings, false) / alone;
        assert!((ratio - 1.0).abs() < 0.01, "{workload} alone: {ratio}");
        // A time slice of 16 tasks' worth of kernel, 100 ms, is the grain of sharing with the hog.
        let with_hog = time(workload, settings, true);
        assert!((with_hog - shared).abs() < 0.11, "{workload} with a hog: {with_hog} s, expected {shared}");
    }
}

#[test]
fn make_does_all_its_jobs_once() {
    // 400 jobs of 10 ms in 8 slots on 4 cores: 4 s of work.
    let settings = [("jobs", 400), ("compute", 10 * MS), ("io", 0)];
    let report = Trial::on("package:1 core:4").app(registry("make", &settings, "block", 8)).run();
    let work = report.apps[0].counters.work_done_ns as f64;
    // Each job is the sum of four exponential parts: the standard error of 1,600 values is 2.5 %.
    assert!((work / 4e9 - 1.0).abs() < 0.1, "{work} ns of work");
    // Each of the 400 processes ends, and so do the 8 that find nothing left.
    assert!(report.apps[0].counters.voluntary_switches >= 408);
    let elapsed = report.makespan.ns() as f64;
    assert!((1.0..1.1).contains(&(elapsed * 4.0 / work)), "cores stand idle: {elapsed} ns");
}

#[test]
fn a_new_process_costs_a_fork_and_a_switch_between_processes() {
    let ops = vec![Op::Repeat(1_000), compute(Span::from_us(10)), Op::Respawn, Op::End];
    let trial = Trial::on("barcelona").app(on_cpu(3, app(1, ops, WaitMode::Block)));
    let costs = trial.machine.costs.clone();
    let report = trial.run();
    let cpu = &report.cpus[3];
    // The first switch finds no process before it and counts as one between threads; the last process has
    // nothing left to do and ends before its switch is paid.
    assert_eq!(cpu.get(Category::Switch), costs.switch_thread + costs.switch_process * 999);
    assert!(cpu.get(Category::Kernel) >= costs.fork * 1_000);
}

#[test]
fn passes_of_a_shared_loop_go_to_whoever_has_time() {
    // Two tasks on cpu 0 and one on cpu 1: half the passes each cpu, so a quarter, a quarter and a half.
    let ops = vec![Op::RepeatShared(4_000), compute(Span::from_ms(1)), Op::End];
    let trial = Trial::on("package:1 core:2").free().policy("PIN", &[]).placed([0, 1, 0]);
    let report = trial.app(app(3, ops, WaitMode::Block)).run();
    let mut times: Vec<f64> = report.apps[0].task_cpu.iter().map(|span| span.ns() as f64 / 1e9).collect();
    times.sort_by(f64::total_cmp);
    for (time, expected) in times.iter().zip([1.0, 1.0, 2.0]) {
        assert!((time - expected).abs() < 0.05, "{times:?}");
    }
}

/// Mean price of a switch, in nanoseconds, between two tasks of one cpu that yield to each other.
fn switch_price(team: u32) -> f64 {
    let ops = vec![Op::Repeat(2_000), Op::Yield, Op::End];
    let mut pair = on_cpu(0, app(2, ops, WaitMode::Yield));
    pair.team = team;
    pair.runtime.processes = true;
    let report = Trial::on("barcelona").kernel(&[("yield", 1)]).app(pair).run();
    let switches = report.apps[0].counters.voluntary_switches + report.apps[0].counters.involuntary_switches;
    report.cpus[0].get(Category::Switch).ns() as f64 / switches as f64
}

#[test]
fn threads_of_a_team_switch_as_threads_and_teams_as_processes() {
    let (team, processes) = (switch_price(2), switch_price(1));
    assert!(
        (team / 800.0 - 1.0).abs() < 0.01 && (processes / 1_600.0 - 1.0).abs() < 0.01,
        "{team}, {processes}"
    );
}

#[test]
fn teams_wait_for_their_own_and_leaders_for_each_other() {
    // Four teams of two; rank 7 alone has 100 ms of work, the others next to none, before each of two
    // barriers.
    let run = |barrier| {
        let ops = vec![Op::Repeat(2), compute(Span::from_ms(100)), barrier, Op::End];
        let mut app = app(8, ops, WaitMode::Block);
        app.team = 2;
        app.rank_scale = vec![1, 1, 1, 1, 1, 1, 1, 1_000];
        let report = Trial::on("package:1 core:8").free().policy("PIN", &[]).app(app).run();
        report.apps[0].counters.barrier_wait_ns as f64 / 1e6
    };
    let near =
        |got: f64, want: f64| assert!((got - want).abs() < want * 0.02 + 2.0, "{got} ms instead of {want}");
    near(run(Op::Barrier), 7.0 * 200.0);
    near(run(Op::TeamBarrier), 200.0);
    // Rank 7 leads no team: nobody waits for it.
    near(run(Op::LeadersBarrier), 0.0);
}
