//! Ordinary answers carry no caution, and estimates are named only where they act. Which answers carry one is
//! in `references`.

use experiment::compare::contrast::{self, Named, Wanted};
use experiment::result::Results;
use experiment::run::run;
use experiment::statements::{Extremes, Table, cautions, doubts};
use scenario::{Overrides, load};

/// The results of a scenario with this machine, these applications, and other keys.
fn results(machine: &str, apps: &str, keys: &str) -> Results {
    let policies = if keys.contains("policies:") { "" } else { "policies: [LOAD]\n" };
    let text =
        format!("name: x\nmachine: '{machine}'\nkernel: linux-6.18\napps: {{ {apps} }}\n{policies}{keys}\n");
    let experiment = load("x.yaml", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    run(&experiment, 1, &|_, _| {}).unwrap()
}

/// The cautions of the best standing.
fn cautions(results: &Results) -> Vec<String> {
    let table = Table::of(results);
    let extremes = Extremes::of(&table).unwrap();
    cautions::all(&table, &extremes.best, extremes.worst.as_ref())
}

const FULL_TEAM: &str = "team: { workload: { spmd: { work: 100ms, intervals: 50 } }, runtime: spin }";

#[test]
fn ordinary_answers_carry_no_caution() {
    let hogs = |tasks: u32| format!("h: {{ workload: {{ hog: {{ work: 50ms }} }}, tasks: {tasks} }}");
    let team = |tasks: u32, runtime: &str| {
        format!(
            "t: {{ workload: {{ spmd: {{ work: 50ms, intervals: 20 }} }}, runtime: {runtime}, tasks: {tasks} }}"
        )
    };
    let cases = [
        ("core:1", hogs(2), ""),
        ("core:4", hogs(6), "policies: [LOAD, PIN]"),
        ("core:4", hogs(3), "policies: [LOAD, PIN]"),
        ("core:8", team(8, "block"), ""),
        ("core:8", team(8, "libgomp"), "sweep: { apps.t.tasks: [4, 6] }"),
        ("core:4", team(8, "{ upc: { wait: yield } }"), "policies: [LOAD, PIN]"),
        ("core:4 pu:2", team(4, "block"), "policies: [PIN]"),
        ("core:2", "u: { workload: { interactive: { requests: 5 } }, tasks: 3 }".to_owned(), ""),
        ("core:4", "l: { workload: { critical-section: { count: 20 } }, tasks: 8 }".to_owned(), ""),
        (
            "core:2",
            "a: { workload: { hog: { work: 50ms } }, tasks: 2, cgroup: x, cpus: [0] }, \
             b: { workload: { hog: { work: 50ms } }, tasks: 2, cgroup: y, cpus: [1] }"
                .to_owned(),
            "cgroups: { x: { weight: 200 }, y: { weight: 100 } }",
        ),
    ];
    for (machine, apps, keys) in cases {
        let found = cautions(&results(machine, &apps, keys));
        assert!(found.is_empty(), "{apps}: {found:?}");
    }
}

#[test]
fn an_estimate_is_named_only_where_it_acts() {
    // Two hardware threads that compute: what they do when they wait for memory is no part of the answer.
    let results = results("core:4 pu:2", "h: { workload: { hog: { work: 50ms } }, tasks: 8 }", "");
    let named = doubts::of_result(&results).join(" ");
    assert!(named.contains("smt_compute") && !named.contains("smt_memory"), "{named}");
    assert!(!named.contains("smt_poll"), "{named}");
}

#[test]
fn comparisons_carry_the_cautions_of_the_answer() {
    let results = results("core:8", FULL_TEAM, "policies: [LOAD, PIN]");
    let named = Named { file: "x.yaml", results: &results };
    let compared = contrast::policies(named, &Wanted::default()).unwrap();
    let of_answer = doubts::of_result(&results);
    assert!(of_answer.iter().any(|doubt| doubt.starts_with("team polls with 8 tasks")));
    assert!(of_answer.iter().all(|doubt| compared.remarks.contains(doubt)), "{:?}", compared.remarks);
}
