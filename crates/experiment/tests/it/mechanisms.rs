//! Scenarios that show one mechanism each: the account names it, and switched off it is gone.

use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};

/// The results of a scenario with some settings changed.
fn results(name: &str, set: &[&str]) -> Results {
    let path = format!("{}/../../scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    let overrides = Overrides { set, repeat: Some(1), ..Overrides::default() };
    let experiment = load(name, &text, &overrides).unwrap_or_else(|said| panic!("{said}"));
    run(&experiment, 1, &|_, _| {}).unwrap_or_else(|said| panic!("{said}"))
}

/// Share of all cpu time in a category at the last configuration of the sweep, under the first policy.
fn share(results: &Results, category: &str) -> f64 {
    let provenance = &results.provenance;
    let (configuration, policy) =
        (&provenance.configurations[provenance.configurations.len() - 1], &provenance.policies[0]);
    let cell = results.get(&configuration.label, policy, "all", &format!("breakdown_{category}"));
    cell.unwrap_or_else(|| panic!("no {category}")).mean
}

#[test]
fn the_breakdown_names_each_mechanism_and_switched_off_it_is_gone() {
    // Scenario, category, its share at the last configuration at least, settings that switch it off.
    let table: [(&str, &str, f64, &[&str]); 4] = [
        (
            "bandwidth_sharing",
            "memory_stall",
            0.1,
            &["machine.node_bandwidth=0B/s", "machine.core_bandwidth=100GB/s"],
        ),
        ("remote_memory", "remote", 0.1, &["machine.distances=false", "machine.remote_factor=1"]),
        ("cache_refill", "refill", 0.001, &["machine.private_cache=0B", "machine.shared_cache=0B"]),
        (
            "all_to_all_lockstep",
            "memory_stall",
            0.1,
            &["machine.node_bandwidth=0B/s", "machine.link_bandwidth=0B/s"],
        ),
    ];
    for (name, category, least, off) in table {
        let (with, without) = (share(&results(name, &[]), category), share(&results(name, off), category));
        assert!(with > least, "{name}: {category} {with}");
        assert!(without < 1e-5, "{name} switched off: {category} {without}");
    }
}

/// A mean at a configuration of a sweep.
fn at(results: &Results, configuration: &str, app: &str, metric: &str) -> f64 {
    results
        .get(configuration, "PIN", app, metric)
        .unwrap_or_else(|| panic!("no {metric} at {configuration}"))
        .mean
}

#[test]
fn caches_are_shared_by_the_square_root_rule_when_it_is_on() {
    let results = results("shared_cache", &[]);
    let stall = |exponent: &str| {
        at(&results, &format!("machine.cache_exponent={exponent}"), "all", "breakdown_memory_stall")
    };
    let misses = |exponent: &str| {
        at(&results, &format!("machine.cache_exponent={exponent}"), "a", "misses_per_1000_instructions")
    };
    // Both pull less than the bus gives: without the rule there is next to no contention.
    assert!(stall("0") < 0.002 && stall("0.5") > 0.01, "{} {}", stall("0"), stall("0.5"));
    // 3 MiB of working sets in 2 MiB: demand grows by (3 / 2)^0.5.
    let growth = misses("0.5") / misses("0");
    assert!((growth / 1.5f64.sqrt() - 1.0).abs() < 0.01, "{growth}");
}

#[test]
fn siblings_cost_the_stated_factor_and_turbo_the_stated_steps() {
    let pairs = results("smt_pairs", &[]);
    let time = |factor: &str| {
        at(&pairs, &format!("machine.smt_compute={factor}, apps.code.cpus=0-7"), "code", "run_time")
    };
    assert!((time("0.62") / time("1") * 0.62 - 1.0).abs() < 0.02, "{} {}", time("0.62"), time("1"));
    let steps = results("turbo_steps", &[]);
    let time = |on: &str, tasks: u32| {
        at(&steps, &format!("machine.turbo={on}, apps.code.tasks={tasks}"), "code", "run_time")
    };
    // One busy core: two steps of 133 MHz over 2.4 GHz.
    assert!((time("false", 1) / time("true", 1) / 1.111 - 1.0).abs() < 0.01);
    // Eight busy cores, four to a package: one step.
    assert!((time("false", 8) / time("true", 8) / 1.056 - 1.0).abs() < 0.01);
}

#[test]
fn stated_work_takes_as_long_as_it_says_in_the_own_unit_and_measured_work_as_before() {
    let times = |unit: &str, workload: &str| -> (f64, f64) {
        let text = format!(
            "name: t\nmachine: {{ epyc: {{ work_unit: {unit} }} }}\npolicies: [PIN]\nbaseline: none\n\
             apps: {{ a: {{ workload: {workload}, tasks: 1, cpus: [0] }} }}\n"
        );
        let experiment = load("t.yaml", &text, &Overrides { repeat: Some(1), ..Overrides::default() });
        let experiment = experiment.unwrap_or_else(|said| panic!("{said}"));
        let results = run(&experiment, 1, &|_, _| {}).unwrap_or_else(|said| panic!("{said}"));
        let get = |metric| results.get("", "PIN", "a", metric).unwrap_or_else(|| panic!("no {metric}")).mean;
        (get("run_time"), get("work"))
    };
    // The catalogue: memory-bound work in seconds of the nominal core.
    let npb = "{ npb: { benchmark: cg, class: A } }";
    let (nominal, own) = (times("nominal", npb), times("own", npb));
    assert!((own.0 / nominal.0 - 1.0).abs() < 1e-3, "{nominal:?} {own:?}");
    // 2.7 times the nominal core, and 1.429 times that at its highest clock.
    assert!((nominal.1 / own.1 / (2.7 * 1.429) - 1.0).abs() < 1e-3, "{nominal:?} {own:?}");
    let stated = "{ spmd: { grain: 100us, intervals: 1000 } }";
    let (nominal, own) = (times("nominal", stated), times("own", stated));
    assert!((0.1..0.11).contains(&own.0), "{own:?}");
    assert!(nominal.0 < 0.5 * own.0, "{nominal:?} {own:?}");
}
