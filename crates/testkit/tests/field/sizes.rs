//! How many threads, workers and jobs at once: questions of 2017 to 2024 whose reporters measured several
//! numbers (docs/validation-advice.md).

use crate::support::{mean, results};

/// Run times of one application by the label of the configuration.
fn times<const N: usize>(file: &str, app: &str, labels: [&str; N]) -> [f64; N] {
    let found = results(file, &["repeat=1"]);
    labels.map(|label| mean(&found, label, "LOAD", app, "run_time"))
}

#[test]
fn a_fifth_thread_on_four_cores_gains_nothing_and_eight_gain_little() {
    let labels = ["tasks=1", "tasks=2", "tasks=4", "tasks=5", "tasks=8"];
    let [one, two, four, five, eight] = times("n1-gradient-boosting.yaml", "job", labels);
    let near = |ratio: f64, published: f64| (ratio / published - 1.0).abs() < 0.25;
    assert!(near(two / one, 154.0 / 270.0) && near(five / four, 1.03), "{two} {one} {five} {four}");
    assert!(five > four && eight < four && near(eight / four, 0.88), "{four} {five} {eight}");
}

#[test]
fn two_workers_with_a_thread_for_each_cpu_hold_each_other_up() {
    let with = |threads: &str| {
        mean(&results("n2-workers-with-teams.yaml", &["repeat=1", threads]), "", "LOAD", "worker", "run_time")
    };
    let (two, all) = (with("apps.worker.tasks=2"), with("apps.worker.tasks=24"));
    // 108 times there, where a part of the time is outside of the regions.
    assert!(all > 20.0 * two, "{all} s, {two} s with two threads each");
}

#[test]
fn one_thread_more_than_cpus_costs_dozens_of_times() {
    let of = |settings: &[&str]| {
        let settings: Vec<&str> = settings.iter().copied().chain(["repeat=3"]).collect();
        mean(&results("n3-mask-set-later.yaml", &settings), "", "LOAD", "job", "run_time")
    };
    let (masked, fewer, all) = (of(&[]), of(&["apps.job.tasks=15"]), of(&["apps.job.cpus=0-15"]));
    assert!(masked > 10.0 * fewer && (fewer / all - 1.0).abs() < 0.15, "{masked} {fewer} {all}");
}

#[test]
fn a_build_takes_as_long_as_its_chain_whatever_the_jobs_at_once() {
    let labels = ["count=1", "count=2", "count=4", "count=8"];
    let [one, two, four, many] = times("n4-build-with-a-chain.yaml", "build", labels);
    for (ratio, published) in [(two / one, 0.545), (four / one, 0.428), (many / one, 0.382)] {
        assert!((ratio / published - 1.0).abs() < 0.25, "{ratio}, {published} there");
    }
}
