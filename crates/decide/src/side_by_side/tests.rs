//! Comparisons of small scenarios.

use std::sync::atomic::AtomicBool;

use policies::PolicyRegistry;
use scenario::Overrides;

use super::answer::{Answer, Compared, Row, Where};
use super::measure::compare;
use super::report::{csv, json, markdown, text};
use super::runs::watched;
use crate::trial::{Failed, Means, Subject};

/// Five tasks of equal length on two cpus.
const HOGS: &str = "name: hogs\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\n\
    apps: { job: { workload: { hog: { work: 40ms } }, tasks: 5 } }\n";

/// A server that computes beside hogs, and waits between.
const SERVER: &str = "name: server\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\napps:\n  \
    server: { workload: { interactive: { think: 4ms, burst: 1ms, requests: 20 } }, tasks: 2 }\n  \
    hogs: { workload: { hog: { work: 60ms } }, tasks: 3 }\n";

/// Tasks that poll for each other.
const POLLS: &str = "name: polls\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\n\
    apps: { team: { workload: { spmd: { work: 20ms, intervals: 10, spread: 20% } }, runtime: yield, \
    tasks: 3 } }\n";

fn compared(texts: &[&str], policies: [&str; 2]) -> Result<Answer, Failed> {
    let registry = PolicyRegistry::default();
    let subject = |text: &&'static str| {
        let subject = Subject { policies: &registry, name: "s.yaml", text, base: Overrides::default() };
        let name = text.lines().next().and_then(|line| line.strip_prefix("name: ")).unwrap();
        (name.to_owned(), subject)
    };
    let texts: Vec<&'static str> = texts.iter().map(|text| &*String::leak((*text).to_owned())).collect();
    let subjects: Vec<(String, Subject<'_>)> = texts.iter().map(subject).collect();
    let stop = AtomicBool::new(false);
    compare(&subjects, policies, 3, Means { jobs: 2, progress: &|| (), stop: &stop })
}

fn parts(row: &Row) -> f64 {
    row.parts.iter().map(|part| part.time.difference).sum()
}

fn part(row: &Row, place: Where) -> &Compared {
    &row.parts.iter().find(|part| part.place == place).unwrap().time
}

#[test]
fn the_parts_sum_to_the_difference_and_the_total_to_the_scenarios() {
    let answer = compared(&[HOGS, SERVER, POLLS], ["LOAD", "PIN"]).unwrap();
    assert_eq!((answer.scenarios.len(), answer.left_out.len()), (3, 0));
    for row in answer.scenarios.iter().chain(&answer.total) {
        assert!((parts(row) - row.time.difference).abs() < 1e-8, "{row:?}");
        let sides = [0, 1].map(|side| row.parts.iter().map(|part| part.time.values[side]).sum::<f64>());
        for (sum, time) in sides.into_iter().zip(row.time.values) {
            assert!((sum - time).abs() < 1e-8, "{row:?}");
        }
    }
    let total = answer.total.as_ref().unwrap();
    let sum: f64 = answer.scenarios.iter().map(|row| row.time.difference).sum();
    assert!((total.time.difference - sum).abs() < 1e-9);
    // Pinned, three of the five share one cpu while the other one has no more work.
    let hogs = &answer.scenarios[0];
    assert!(hogs.time.difference > 0.015 && hogs.time.is_shown(), "{hogs:?}");
    let lost = part(hogs, Where::IdleWhileRunnable);
    assert!((lost.difference - hogs.time.difference).abs() < 0.002, "{lost:?}");
    assert!(part(hogs, Where::Compute).difference.abs() < 0.001);
}

#[test]
fn the_waits_of_tasks_are_those_that_the_run_reports() {
    // No task sleeps or polls: what the observer has seen is what the counters of the run say, but for what
    // a task pays before it continues, which these count as waiting.
    let named = format!("{HOGS}policies: [LOAD, VTIME]\n");
    let experiment = scenario::load("s", &named, &Overrides::default()).unwrap();
    for plan in &experiment.runs {
        let (report, seen) = watched(plan, None, &mut ()).unwrap();
        let counters = report.apps[0].counters;
        let reported = (counters.runnable_ns - counters.cpu_ns) as f64;
        let watched: f64 = seen.tasks.iter().map(|task| task.waited.ns() as f64).sum();
        assert!(watched > 0.0 && watched <= reported && watched > 0.98 * reported, "{watched} {reported}");
    }
    let answer = compared(&[HOGS], ["LOAD", "VTIME"]).unwrap();
    let worst = answer.worst.as_ref().unwrap();
    let [a, b] = worst.longest_s;
    assert!((a - b).abs() > 0.0 && worst.under == usize::from(b > a));
    let [from, to] = worst.moment_ns;
    assert!(((to - from) as f64 / 1e9 - worst.longest_s[worst.under]).abs() < 1e-9);
    // The middle half of its timeline is the wait.
    let shown = &worst.timelines[worst.under];
    assert_eq!(shown.chars().count(), 64);
    assert!(shown.chars().skip(17).take(30).all(|letter| letter == 'w'), "{shown}");
}

#[test]
fn a_policy_beside_itself_has_the_same_runs() {
    let answer = compared(&[SERVER], ["LOAD", "LOAD"]).unwrap();
    assert!(answer.scenarios[0].same && answer.worst.is_none());
    assert_eq!(answer.policies, ["LOAD (A)", "LOAD (B)"]);
    let text = text(&answer, 100);
    assert!(text.contains("Both policies have the same runs: equal digests in all 3 seeds."), "{text}");
}

#[test]
fn the_text_has_at_most_25_lines_that_fit() {
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let mut texts: Vec<String> =
        names.iter().map(|name| SERVER.replace("name: server", &format!("name: {name}"))).collect();
    texts.extend(["x", "y", "z"].map(|name| {
        let limit = HOGS.replace("workload:", "cgroup: g, workload:");
        limit.replace("name: hogs", &format!("name: {name}")) + "cgroups: { g: { quota: 50% } }\n"
    }));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let answer = compared(&texts, ["LOAD", "VTIME"]).unwrap();
    assert_eq!((answer.scenarios.len(), answer.left_out.len()), (7, 3), "{:?}", answer.left_out);
    let shown = text(&answer, 100);
    assert!(shown.lines().count() <= 25, "{} lines: {shown}", shown.lines().count());
    assert!(shown.contains("scenarios with smaller differences, in --format markdown: 3"), "{shown}");
    assert!(shown.contains("3 scenarios are not compared (--format markdown); the first: "), "{shown}");
    for width in [60, 100] {
        let text = text(&answer, width);
        let long = text.lines().filter(|line| line.chars().count() > width.max(90));
        assert_eq!(long.count(), 0, "{text}");
    }
    // Every form has every scenario.
    let value: serde_json::Value = serde_json::from_str(&json(&answer)).unwrap();
    assert_eq!(value["scenarios"].as_array().unwrap().len(), 7);
    assert!(value["sentences"].as_array().unwrap().len() > 2);
    let table = csv(&answer);
    assert!(table.lines().all(|line| line.split(',').count() == 9), "{table}");
    assert!(names.iter().all(|name| table.contains(&format!("\n{name},time,,s,"))));
    assert!(
        markdown(&answer).matches("\n| x |").count() == 0 && markdown(&answer).contains("Not compared: ")
    );
}

#[test]
fn what_cannot_be_compared_says_why() {
    let Err(Failed::Refused(why)) = compared(&[HOGS], ["LOAD", "NOBODY"]) else { panic!() };
    assert!(why.contains("NOBODY"), "{why}");
    let short = HOGS.to_owned() + "horizon: 1ms\n";
    let Err(Failed::Refused(why)) = compared(&[&short], ["LOAD", "PIN"]) else { panic!() };
    assert!(why.contains("no scenario can be compared: under LOAD: cut off at the horizon"), "{why}");
}
