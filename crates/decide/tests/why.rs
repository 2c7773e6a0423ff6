//! Differences that are made by one mechanism by construction: the answer has to name it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::atomic::AtomicBool;

use decide::trial::{Means, Subject};
use decide::why::{
    Answer, Kind, Pair, Row, explain, markdown, of_files, of_policies, of_values, sentences, text,
};
use policies::PolicyRegistry;
use scenario::Overrides;

fn subject<'a>(policies: &'a PolicyRegistry, text: &'a str) -> Subject<'a> {
    Subject { policies, name: "test.yaml", text, base: Overrides::default() }
}

fn explained(pair: &Pair<'_>, replicates: u32) -> Answer {
    let stop = AtomicBool::new(false);
    let means = Means { jobs: 2, progress: &|| {}, stop: &stop };
    explain(pair, replicates, means).unwrap()
}

fn varied(scenario: &str, vary: &str) -> Answer {
    let policies = PolicyRegistry::default();
    explained(&of_values(&subject(&policies, scenario), None, vary).unwrap(), 3)
}

fn row<'a>(answer: &'a Answer, name: &str) -> &'a Row {
    let names: Vec<&str> = answer.mechanisms.iter().map(|row| row.name.as_str()).collect();
    answer.mechanisms.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name} in {names:?}"))
}

fn part(answer: &Answer, name: &str) -> f64 {
    row(answer, name).shown().unwrap().mean
}

/// The mechanism with the largest part, settings in which the sides differ left out.
fn first(answer: &Answer) -> &Row {
    answer.mechanisms.iter().find(|row| row.kind != Kind::Difference).unwrap()
}

#[test]
fn remote_memory_is_the_difference_between_pages_here_and_pages_there() {
    let scenario = "name: numa
machine: \"package:2 numa:1 core:1\"
apps:
  a: { workload: { spmd: { work: 200ms, intervals: 1, demand: 2GB/s, bound: 60% } }, tasks: 1, cpus: '1' }
policies: [PIN]
baseline: none
";
    let answer = varied(scenario, "apps.a.workload.pages=first-touch,node0");
    assert!(answer.shown && answer.difference.mean > 0.0, "{answer:#?}");
    assert_eq!(first(&answer).name, "machine.remote_factor=1", "{}", text(&answer, 100));
    assert!((part(&answer, "machine.remote_factor=1") - 1.0).abs() < 0.05, "{}", text(&answer, 100));
    let said = sentences(&answer);
    assert!(
        said.len() == 3
            && said[1]
                .contains("`machine.remote_factor=1` (remote memory is as near as local memory): 100 %"),
        "{said:?}"
    );
}

#[test]
fn the_way_to_wait_is_the_difference_between_spinning_and_blocking() {
    let scenario = "name: waiting
machine: \"core:2\"
kernel: linux-6.18
apps:
  code: { workload: { spmd: { work: 200ms, intervals: 50 } }, runtime: block, tasks: 4 }
policies: [PIN]
baseline: none
";
    let answer = varied(scenario, "apps.code.runtime=block,spin");
    assert!(answer.difference.mean > 0.0);
    let waiting = first(&answer);
    assert_eq!(waiting.kind, Kind::Waiting, "{}", text(&answer, 100));
    assert!((waiting.part.unwrap().mean - 1.0).abs() < 1e-9, "{}", text(&answer, 100));
    // Both ways to wait are equal for both sides: each of them is all of it, and counts once.
    assert!((part(&answer, "apps.code.runtime.wait=spin") - 1.0).abs() < 1e-9);
    assert!(answer.sum.is_none_or(|sum| sum < 3.0), "{}", text(&answer, 100));
}

#[test]
fn switches_are_the_difference_between_short_and_long_slices_of_two_hogs() {
    let scenario = "name: hogs
machine: \"core:1\"
kernel: round-robin
apps:
  a: { workload: { hog: { work: 500ms } } }
  b: { workload: { hog: { work: 500ms } } }
policies: [PIN]
objective: makespan
baseline: none
start_jitter: 0s
";
    let answer = varied(scenario, "kernel.quantum=10ms,1ms");
    assert_eq!(first(&answer).name, "machine.switch_process=0s", "{}", text(&answer, 100));
    assert!((part(&answer, "machine.switch_process=0s") - 1.0).abs() < 0.05, "{}", text(&answer, 100));
}

#[test]
fn of_several_settings_that_differ_the_rule_that_matters_is_found() {
    let scenario = |kernel: &str, tick: &str| {
        format!(
            "name: rules\nmachine: {{ \"core:1\": {{ tick: {tick} }} }}\nkernel: {{ linux-2.6.28: {{ \
             {kernel} }} }}\n\
             apps:\n  a: {{ workload: {{ spmd: {{ work: 400ms, intervals: 200, spread: 10% }} }}, runtime: \
             yield, tasks: 2 }}\npolicies: [PIN]\nbaseline: none\n"
        )
    };
    let policies = PolicyRegistry::default();
    let (one, other) = (scenario("yield: skip", "2us"), scenario("yield: posix", "2.001us"));
    let (one, other) = (subject(&policies, &one), subject(&policies, &other));
    let answer = explained(&of_files(&one, &other), 3);
    let rule = answer.mechanisms.iter().find(|row| row.name.starts_with("kernel.yield:")).unwrap();
    assert!((rule.part.unwrap().mean - 1.0).abs() < 0.02, "{}", text(&answer, 100));
    assert!((rule.alone.unwrap().mean - 1.0).abs() < 0.02, "{}", text(&answer, 100));
    let tick = answer.mechanisms.iter().find(|row| row.name.starts_with("machine.tick:"));
    assert!(tick.is_none_or(|row| row.part.unwrap().mean.abs() < 0.01), "{}", text(&answer, 100));
}

#[test]
fn two_equal_sides_have_no_difference_and_nothing_is_moved() {
    let scenario = "name: same
machine: \"core:2\"
apps:
  a: { workload: { spmd: { work: 20ms, intervals: 2 } }, tasks: 2 }
policies: [PIN]
baseline: none
";
    let policies = PolicyRegistry::default();
    let one = subject(&policies, scenario);
    let answer = explained(&of_files(&one, &one), 2);
    assert!(!answer.shown && answer.mechanisms.is_empty());
    assert!(sentences(&answer)[0].starts_with("There is no difference"), "{:?}", sentences(&answer));
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let scenario = "name: jobs
machine: \"core:2\"
apps:
  a: { workload: { spmd: { work: 60ms, intervals: 20, spread: 20% } }, tasks: 3 }
  hogs: { workload: hog, tasks: 1 }
policies: [LOAD, PIN]
baseline: none
";
    let policies = PolicyRegistry::default();
    let one = subject(&policies, scenario);
    let pair = of_policies(&one, ["LOAD", "PIN"]);
    let stop = AtomicBool::new(false);
    let run = |jobs| markdown(&explain(&pair, 3, Means { jobs, progress: &|| {}, stop: &stop }).unwrap());
    let answer = run(1);
    assert_eq!(answer, run(3));
    assert!(answer.contains("hogs left out") || answer.contains("No difference"), "{answer}");
}
