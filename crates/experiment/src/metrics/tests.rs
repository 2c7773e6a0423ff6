//! Tests of the metrics.

use super::Scope::All;
use super::*;
use sim_core::account::{Account, Category};
use sim_core::outcome::{Counters, Outcome, PoolReport};
use sim_core::time::Time;

/// A run of two cpus and one application of two tasks that ends after `ns`.
pub(crate) fn run_of(ns: u64) -> RunReport {
    let mut cpu = Account::default();
    cpu.add(Category::Compute, Span::from_ns(ns / 2));
    cpu.add(Category::Idle, Span::from_ns(ns - ns / 2));
    let counters = Counters {
        barriers: 20,
        barrier_wait_ns: ns / 2,
        migrations: 3,
        work_done_ns: ns,
        bytes_fetched: 64 * ns / 100,
        ..Counters::default()
    };
    let app = AppReport {
        name: "cg".into(),
        background: false,
        arrived: Time::ZERO,
        start: Time::ZERO,
        first_run: Some(Time::ZERO),
        program_start: Time::from_ns(ns / 4),
        end: Some(Time::from_ns(ns)),
        counters,
        task_cpu: vec![Span::from_ns(ns / 2); 2],
        requests: false,
        deadline: None,
        responses: None,
        waits: None,
        first_late: None,
        skips: false,
        latencies: None,
    };
    RunReport {
        outcome: Outcome::Completed,
        makespan: Time::from_ns(ns),
        extrapolated: Span::ZERO,
        error: Span::ZERO,
        apps: vec![app],
        sources: Vec::new(),
        devices: Vec::new(),
        pools: Vec::new(),
        cpus: vec![cpu; 2],
        corrections: 0,
        policy_counters: Vec::new(),
        events: 1,
        digest: ns,
    }
}

fn value(name: &str, scope: Scope, run: &RunReport) -> Option<f64> {
    let sample = Sample {
        alone_mean: Some(0.5),
        alone_paired: Some(0.4),
        sequence: Some(0.8),
        ..Sample::of(run, 0, &[0])
    };
    let metric = METRICS.iter().find(|m| m.name == name && m.scope == scope).unwrap();
    (metric.measure)(&sample)
}

#[test]
fn metrics_of_a_known_run() {
    let run = run_of(1_000_000_000);
    let near = |name, scope, want: f64| {
        let got = value(name, scope, &run).unwrap();
        assert!((got - want).abs() < 1e-9, "{name}: {got} instead of {want}");
    };
    near("run_time", App, 1.0);
    near("timed_run_time", App, 0.75);
    near("slowdown", App, 2.0);
    near("slowdown_paired", App, 2.5);
    near("barrier_interval", App, 0.1);
    near("barrier_wait", App, 0.25);
    near("migrations", All, 3.0);
    // A line per 100 ns, that is per 200 instructions.
    near("misses_per_1000_instructions", App, 5.0);
    near("throughput", All, 0.8);
    near("breakdown_compute", All, 0.5);
    near("breakdown_idle", All, 0.5);
}

#[test]
fn an_application_that_was_cut_off_has_no_run_time() {
    let mut run = run_of(1_000);
    run.apps[0].end = None;
    assert_eq!(value("run_time", App, &run), None);
    assert_eq!(value("slowdown", App, &run), None);
    assert_eq!(value("migrations", App, &run), Some(3.0));
    run.apps[0].counters.work_done_ns = 0;
    assert_eq!(value("misses_per_1000_instructions", App, &run), None);
}

#[test]
fn user_time_is_computing_and_polling() {
    let mut run = run_of(1_000);
    run.cpus[1].add(Category::Spin, Span::from_ns(300));
    run.cpus[1].add(Category::Yield, Span::from_ns(10_000));
    let balance = value("user_time_balance", All, &run).unwrap();
    assert!((balance - 500.0 / 800.0).abs() < 1e-12, "{balance}");
}

#[test]
fn breakdown_metrics_are_the_categories_in_order() {
    let names: Vec<_> = METRICS.iter().filter_map(|m| m.name.strip_prefix("breakdown_")).collect();
    let categories: Vec<_> = Category::ALL.iter().map(|c| c.name()).collect();
    assert_eq!(names, categories);
    let run = run_of(1_000_000);
    for (at, category) in Category::ALL.iter().enumerate() {
        let share = value(&format!("breakdown_{}", category.name()), All, &run).unwrap();
        let want = seconds(run.account().get(*category)) / seconds(run.account().total());
        assert!((share - want).abs() < 1e-12, "{at}");
    }
}

#[test]
fn names_are_unique_within_their_scope() {
    for (i, a) in METRICS.iter().enumerate() {
        assert!(METRICS[..i].iter().all(|b| a.name != b.name || a.scope != b.scope), "{}", a.name);
    }
}

#[test]
fn what_was_late_before_the_window_is_no_first_miss_of_it() {
    let first_miss = |late_before, late| {
        let mut run = run_of(4_000_000_000);
        run.apps[0].start = Time::from_ns(500_000_000);
        run.apps[0].first_late = Some(Time::from_ns(2_000_000_000));
        run.apps[0].counters.late_responses = late;
        let mut before = run_of(3_000_000_000);
        before.apps[0].counters = Counters { late_responses: late_before, ..Counters::default() };
        run.subtract(&before);
        value("first_miss", App, &run)
    };
    assert_eq!([first_miss(0, 1), first_miss(1, 2), first_miss(2, 2)], [Some(1.5), Some(1.5), None]);
}

#[test]
fn programs_that_leave_out_instants_have_a_number_of_them() {
    let skipped = |skips, skipped| {
        let mut run = run_of(1_000);
        run.apps[0].skips = skips;
        run.apps[0].counters.skipped = skipped;
        value("skipped_instants", App, &run)
    };
    assert_eq!([skipped(true, 0), skipped(true, 3), skipped(false, 0)], [Some(0.0), Some(3.0), None]);
}

#[test]
fn jobs_of_all_pools_are_counted() {
    let mut run = run_of(1_000);
    let all = |run: &RunReport| ["jobs", "jobs_stolen", "job_waits"].map(|name| value(name, All, run));
    assert_eq!(all(&run), [None; 3]);
    let pool = |jobs: &[u64], steals, waits| PoolReport {
        name: "p".into(),
        passes: 1,
        jobs: jobs.to_vec(),
        steals,
        waits,
    };
    run.pools = vec![pool(&[40, 24], 10, 3), pool(&[24], 1, 2)];
    assert_eq!(all(&run), [Some(88.0), Some(0.125), Some(5.0)]);
    // Nobody has done a job: there is no share.
    run.pools = vec![pool(&[0, 0], 0, 2)];
    assert_eq!(all(&run), [Some(0.0), None, Some(2.0)]);
}
