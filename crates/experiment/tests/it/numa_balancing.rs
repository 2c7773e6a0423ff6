//! Automatic NUMA balancing: where it helps, and where it costs.

use scenario::{Overrides, load};

use experiment::run::run;

/// Run time with automatic NUMA balancing over that without it, under PIN.
fn ratio(name: &str, app: &str, set: &[&str]) -> f64 {
    let path = format!("{}/../../scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    let overrides = Overrides { set, repeat: Some(1), ..Overrides::default() };
    let experiment = load(name, &text, &overrides).unwrap_or_else(|said| panic!("{said}"));
    let results = run(&experiment, 1, &|_, _| {}).unwrap_or_else(|said| panic!("{said}"));
    let time = |on: bool| {
        let at = format!("kernel.numa_balancing={on}");
        results.get(&at, "PIN", app, "run_time").unwrap_or_else(|| panic!("no {at}")).mean
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
