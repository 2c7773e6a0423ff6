//! The references of a scenario do not depend on the order in which it lists its policies, and bound them all.

use std::collections::BTreeMap;

use experiment::references::{LOWER_BOUND, REFERENCES};
use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};

/// The cells of references and dedicated runs: everything but how much of the gap to the first policy is
/// recovered.
fn references(results: &Results) -> BTreeMap<[&str; 4], String> {
    let labels: Vec<&str> = REFERENCES.iter().map(|reference| reference.label).chain(["dedicated"]).collect();
    let cells =
        results.cells.iter().filter(|c| labels.contains(&c.policy.as_str()) && c.metric != "recovered");
    cells
        .map(|c| {
            let value = format!("{:?} {:?}", c.summary, c.values);
            ([c.configuration.as_str(), &c.policy, &c.app, &c.metric], value)
        })
        .collect()
}

/// Runs a scenario with its policies in both orders; all references must be equal to the last bit.
fn same_both_ways(text: &str, set: &[&str]) {
    let overrides = |policies| Overrides {
        set: set.iter().map(|pair| (*pair).to_owned()).collect(),
        policies,
        repeat: Some(2),
        ..Overrides::default()
    };
    let run = |policies| {
        let experiment =
            load("order.yaml", text, &overrides(policies)).unwrap_or_else(|said| panic!("{text}\n{said}"));
        (run(&experiment, 2, &|_, _| ()).expect("it runs"), experiment.policies)
    };
    let (forward, labels) = run(Vec::new());
    let (backward, _) = run(labels.into_iter().rev().collect());
    let (forward, backward) = (references(&forward), references(&backward));
    assert!(!forward.is_empty());
    for (place, value) in &forward {
        assert_eq!(Some(value), backward.get(place), "{place:?} of\n{text}");
    }
    assert_eq!(forward.len(), backward.len());
}

#[test]
fn references_of_shipped_scenarios_ignore_the_order_of_policies() {
    for name in
        ["two_hogs_one_core", "work_stealing", "make_competitor", "services_on_one_core", "big_little"]
    {
        let scenario = scenario::built_in::find(name).unwrap_or_else(|| panic!("{name} is built in"));
        same_both_ways(scenario.text, &[]);
    }
}

#[test]
fn references_of_random_scenarios_ignore_the_order_of_policies() {
    let mut state = 7_u64;
    let mut pick = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for _ in 0..24 {
        let (tasks, other) = (1 + pick(7), 1 + pick(5));
        let first = match pick(4) {
            0 => format!("{{ pool: {{ work: {}ms }} }}", 20 + pick(40)),
            1 => format!("{{ make: {{}} }}, start: {}ms", pick(9)),
            2 => format!("{{ hog: {{ work: {}us }} }}, background: false", 1_000 + pick(9_000)),
            _ => format!(
                "{{ spmd: {{ work: {}ms, intervals: 7, spread: 13%, variation: exponential }} }}",
                20 + pick(90)
            ),
        };
        let text = format!(
            "name: order\nmachine: package:1 numa:1 core:{}\napps:\n  a: {{ workload: {first}, tasks: \
                {tasks} }}\n  \
             b: {{ workload: {{ spmd: {{ work: {}ms, intervals: 5, spread: 9% }} }}, tasks: {other}, nice: \
             {} }}\n\
             policies: [LOAD, DWRR, {{ PIN: {{}}, as: bound }}, SPEED, gang]\nhorizon: 20s\n",
            2 + pick(3),
            10 + pick(60),
            pick(5)
        );
        same_both_ways(&text, &[]);
    }
}

#[test]
fn no_policy_beats_the_lower_bound_of_random_work_that_tasks_share() {
    // The task that takes a job draws its work, so that policies differ in it.
    let text = "name: bound\nmachine: core:1\npolicies: [SWOMPS, MLFQ, LOAD]\nrepeat: 20\nhorizon: 1s\n\
        apps:\n  a: { workload: barriers, copies: 3 }\n  \
        b: { workload: { make: { compute: 3450us, parts: 1, jobs: 2 } } }\n";
    let experiment = load("bound.yaml", text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
    let results = run(&experiment, 2, &|_, _| ()).expect("it runs");
    let makespans = |policy: &str| -> Vec<f64> {
        let cell = results.cells.iter().find(|cell| cell.metric == "makespan" && cell.policy == policy);
        cell.expect("a makespan").values.iter().map(|value| value.expect("it ended")).collect()
    };
    let bounds = makespans(LOWER_BOUND.label);
    for policy in &experiment.policies {
        for (replicate, (makespan, bound)) in makespans(policy).into_iter().zip(&bounds).enumerate() {
            assert!(
                makespan >= bound * (1.0 - 1e-9),
                "{policy}, replicate {replicate}: {makespan} < {bound}"
            );
        }
    }
}
