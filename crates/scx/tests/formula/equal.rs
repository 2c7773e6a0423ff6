//! The exported program decides as the order does: the digests of all decisions are the same, and so are the
//! numbers of tasks that went to idle cpus and queues. Where there is no clang, a test says so and ends.

use std::fs;

use scx::formula::Formula;
use sim_core::outcome::RunReport;

use crate::draw::Draw;
use crate::lab::{built, example, runs, scenario};

/// Machines and programs: cores with one and two cpus, one and several nodes and caches, more and fewer tasks
/// than cpus, tasks that sleep, wait, yield and compute, and those of other weights.
const CASES: [&str; 4] = [
    "machine: package:1 core:4\napps: { job: { tasks: 9, runtime: block, \
     workload: { spmd: { work: 30ms, grain: 5ms, spread: 30% } } } }",
    "machine: package:2 numa:1 cache:2 core:4 pu:2\napps: { a: { tasks: 40, runtime: block, \
     workload: { spmd: { work: 20ms, grain: 2ms, spread: 50% } } }, \
     b: { tasks: 8, nice: 5, start: 7ms, workload: { spmd: { work: 40ms } } } }",
    "machine: package:1 core:8 pu:2\nhorizon: 25ms\napps: { a: { tasks: 12, runtime: yield, \
     workload: { spmd: { work: 30ms, grain: 10ms, imbalance: 20% } } }, \
     b: { tasks: 6, nice: -3, workload: { spmd: { work: 50ms } } } }",
    "machine: package:2 numa:1 core:32\napps: { a: { tasks: 100, runtime: block, \
     workload: { spmd: { work: 10ms, grain: 1ms, spread: 10% } } } }",
];

/// What the scheduler itself has counted.
fn counted(report: &RunReport) -> Vec<(String, u64)> {
    // The compiler leaves a counter out that never counts.
    let own = report.policy_counters.iter().filter(|(name, count)| name.starts_with("nr_") && *count > 0);
    let mut own: Vec<_> = own.map(|(name, count)| (name.clone(), *count)).collect();
    own.sort();
    own
}

/// Runs an order and its program; returns what was counted in each case. None where there is no clang.
fn compare(formula: &Formula, cases: &[String], set: [&str; 2]) -> Option<Vec<Vec<(String, u64)>>> {
    let built = built(formula)?;
    assert_eq!(built.warnings, "", "{formula}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("native.order"), formula.to_string()).unwrap();
    fs::write(folder.path().join("compiled.wasm"), built.bytes).unwrap();
    let mut all = Vec::new();
    for case in cases {
        let [native, compiled] = set;
        let policies =
            format!("[{{ policy: ./native.order{native} }}, {{ policy: ./compiled.wasm{compiled} }}]");
        let runs = runs(folder.path(), &scenario(&policies, case)).unwrap();
        assert_eq!(runs[0].outcome, runs[1].outcome, "{formula}\n{case}");
        assert_eq!(runs[0].digest, runs[1].digest, "{formula}\n{case}");
        let native = counted(&runs[0]);
        assert_eq!(native, counted(&runs[1]), "{formula}\n{case}");
        all.push(native);
    }
    Some(all)
}

fn cases() -> Vec<String> {
    CASES.map(str::to_owned).into()
}

#[test]
fn the_examples_decide_as_their_programs_do() {
    for name in ["short_slices", "short_bursts", "interactive"] {
        let formula = example(name);
        let Some(counted) = compare(&formula, &cases(), ["", ""]) else { return };
        let total = |of: &str| {
            counted.iter().flatten().filter(|(name, _)| name == of).map(|(_, count)| count).sum::<u64>()
        };
        assert!(total("nr_local") > 100 && total("nr_queued") > 100, "{name}: {counted:?}");
        assert_eq!(total("nr_preempted") > 10, formula.preempts.is_some(), "{name}: {counted:?}");
    }
}

#[test]
fn settings_mean_the_same_in_both() {
    let set = [", period: 5ms, least: 1ms", ", period: 5000000, least: 1000000"];
    let long = compare(&example("short_slices"), &cases(), ["", ""]);
    let short = compare(&example("short_slices"), &cases(), set);
    assert!(long.is_none() || long != short);
}

#[test]
fn orders_at_random_decide_as_their_programs_do() {
    // Each is compiled, which takes a second.
    let mut draw = Draw(7);
    let mut preempted = 0;
    for _ in 0..8 {
        let formula = draw.order();
        let cases: Vec<String> = (0..3).map(|_| draw.case()).collect();
        let Some(counted) = compare(&formula, &cases, ["", ""]) else { return };
        preempted += counted.iter().flatten().filter(|(name, _)| name == "nr_preempted").count();
    }
    assert!(preempted > 0);
}
