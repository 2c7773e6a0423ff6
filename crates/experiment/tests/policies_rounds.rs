//! DWRR, ULE and LGROUP through whole scenarios: who wins and loses where, and by how much.

use experiment::result::Results;
use experiment::run::run;
use experiment::scenario::{Overrides, load};

fn results(name: &str, set: &[&str]) -> Results {
    let path = format!("{}/../../scenarios/policies/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    let experiment = load(name, &text, &Overrides { set, ..Overrides::default() });
    run(&experiment.unwrap_or_else(|said| panic!("{said}")), 1, &|_, _| {})
        .unwrap_or_else(|said| panic!("{said}"))
}

/// Mean of a metric.
fn mean(results: &Results, point: &str, policy: &str, app: &str, metric: &str) -> f64 {
    let cell = results.get(point, policy, app, metric);
    cell.unwrap_or_else(|| panic!("no {metric} of {app} under {policy} at {point}")).mean
}

#[test]
fn the_showcases_show_what_they_say() {
    for entry in policies::ALL.iter().filter(|entry| ["DWRR", "ULE", "LGROUP"].contains(&entry.name)) {
        for (case, wins) in [(entry.wins, true), (entry.loses, false)] {
            let results = results(case.scenario, &[]);
            let time = |policy| mean(&results, case.point, policy, case.app, "run_time");
            let (mine, other) = (time(case.label), time(case.against));
            let (faster, slower) = if wins { (mine, other) } else { (other, mine) };
            assert!(
                1.05 * faster < slower,
                "{} in {}: {mine} s, {} {other} s",
                entry.name,
                case.scenario,
                case.against
            );
        }
    }
}

#[test]
fn one_thread_too_many_costs_a_sixteenth_under_rounds_and_a_cpu_without_balancing() {
    let results = results("odd_thread", &[]);
    for kernel in ["linux-2.6.28", "freebsd-7", "solaris-9"] {
        let time = |policy| mean(&results, &format!("kernel={kernel}"), policy, "ep", "run_time");
        // 2 s x 17/16 = 2.125 s, and no more than a slice and a half later; never before.
        assert!((2.125..2.35).contains(&time("DWRR")), "{kernel}: {} s", time("DWRR"));
        // Two threads on one cpu to the end: 4 s.
        assert!((4.0..4.3).contains(&time("LGROUP")), "{kernel}: {} s", time("LGROUP"));
        assert!(
            time("ULE") < 0.9 * time("LGROUP") && time("ULE") > 1.2 * time("DWRR"),
            "{kernel}: {} s",
            time("ULE")
        );
    }
}

#[test]
fn shorter_slices_come_nearer_to_equal_shares_and_move_more() {
    let pick = |base: &str| {
        let results = results("odd_thread", &[&format!("policies.DWRR.base={base}")]);
        let at = |metric| mean(&results, "kernel=linux-2.6.28", "DWRR", "ep", metric);
        (at("run_time"), at("migrations"))
    };
    let (short, long) = (pick("40ms"), pick("400ms"));
    assert!(short.0 < 0.95 * long.0 && (2.125..2.3).contains(&short.0), "{short:?} {long:?}");
    assert!(short.1 > 2.0 * long.1, "{short:?} {long:?}");
}

#[test]
fn memory_that_stays_behind_costs_more_than_equal_shares_give() {
    let results = results("moved_memory", &[]);
    let remote = |policy| mean(&results, "kernel=solaris-9", policy, "all", "account_remote");
    assert!(remote("DWRR") > 0.05 && remote("LGROUP") < 0.001, "{} {}", remote("DWRR"), remote("LGROUP"));
}
