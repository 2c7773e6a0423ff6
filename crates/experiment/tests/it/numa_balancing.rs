//! Automatic NUMA balancing: where it helps, and where it costs.

use scenario::{Overrides, load};

use experiment::run::run;

/// Run time with automatic NUMA balancing over that without it, under PIN.
fn ratio(name: &str, app: &str, set: &[&str]) -> f64 {
    with_over_without((name, "kernel.numa_balancing"), ("PIN", app), set)
}

/// Run time of a program with a rule that a scenario sweeps over that without it.
fn with_over_without((name, rule): (&str, &str), (policy, app): (&str, &str), set: &[&str]) -> f64 {
    let path = format!("{}/../../scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    let overrides = Overrides { set, repeat: Some(1), ..Overrides::default() };
    let experiment = load(name, &text, &overrides).unwrap_or_else(|said| panic!("{said}"));
    let results = run(&experiment, 1, &|_, _| {}).unwrap_or_else(|said| panic!("{said}"));
    let time = |on: bool| {
        let at = format!("{rule}={on}");
        results.get(&at, policy, app, "run_time").unwrap_or_else(|| panic!("no {at}")).mean
    };
    time(true) / time(false)
}

#[test]
fn it_heals_a_first_touch_by_one_thread() {
    let ratio = ratio("numa_balancing_heals", "stencil", &[]);
    assert!(ratio < 0.8, "{ratio}");
}

#[test]
fn it_costs_where_every_page_is_at_home() {
    let small = ratio("numa_balancing_hurts", "code", &[]);
    assert!(small > 1.05, "{small}");
    // A fault for 2 MiB instead of 512 for 4 KiB each.
    let huge = ratio("numa_balancing_hurts", "code", &["kernel.numa_huge_pages=true"]);
    assert!((1.0..1.01).contains(&huge), "{huge}");
}

#[test]
fn threads_that_share_pages_come_together() {
    for app in ["left", "right"] {
        let of = ("numa_balancing_gathers", "kernel.numa_moves_tasks");
        let ratio = with_over_without(of, ("LOAD", app), &[]);
        assert!(ratio < 0.95, "{app}: {ratio}");
    }
}
