//! `STEAL` runs the scenario, and the times are those that its rules give.

use experiment::result::Results;
use experiment::run::run;
use policies::PolicyRegistry;
use scenario::{Overrides, load_with};

const SCENARIO: &str = include_str!("../scenario.yaml");

/// The results of the scenario with these settings.
fn results(set: &[&str]) -> Results {
    let registry = PolicyRegistry::with(&[&out_of_tree_policy::ENTRY]).expect("the name is free");
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    let overrides = Overrides { set, ..Overrides::default() };
    let loaded = load_with(&registry, "scenario.yaml", SCENARIO, &overrides);
    let experiment = loaded.unwrap_or_else(|errors| panic!("{errors}"));
    run(&experiment, 1, &|_, _| ()).expect("the scenario runs")
}

/// The mean of a metric.
fn mean(results: &Results, policy: &str, app: &str, metric: &str) -> f64 {
    results.get("", policy, app, metric).expect("the result has this cell").mean
}

/// The expected seconds, with 1 % for timer ticks and migrations.
fn assert_seconds(measured: f64, expected: f64) {
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured} s instead of {expected} s");
}

#[test]
fn idle_cpus_take_waiting_tasks() {
    let results = results(&[]);
    assert!(results.all_completed());
    assert_seconds(mean(&results, "PIN", "six", "run_time"), 2.0);
    assert_seconds(mean(&results, "STEAL", "six", "run_time"), 1.5);
    let corrections = mean(&results, "STEAL", "all", "corrections");
    assert!(corrections < 0.5, "the engine refused or corrected {corrections} decisions");
}

#[test]
fn shorter_queues_than_min_waiting_stay_as_they_are() {
    let results = results(&["policies.STEAL.min_waiting=2"]);
    assert_seconds(mean(&results, "STEAL", "six", "run_time"), 2.0);
}
