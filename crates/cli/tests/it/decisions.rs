//! `oversim run --explain-decisions` as a user sees it: lines, order, files that are whole or not there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use crate::support::oversim;
use serde_json::Value;

const TINY: &str = "\
name: tiny
machine: 'package:2 numa:1 core:2'
kernel: linux-2.6.28
apps:
  a: { workload: { spmd: { work: 40ms, intervals: 10, spread: 10% } }, runtime: block }
  b: { workload: { spmd: { work: 80ms, intervals: 5, spread: 10% } }, tasks: 3, runtime: upc }
policies: [LOAD, PIN]
sweep: { threads_per_core: [1, 2] }
baseline: dedicated
repeat: 2
seed: 1
";

fn explained(args: &[&str]) -> String {
    explained_of(TINY, args)
}

fn explained_of(text: &str, args: &[&str]) -> String {
    let (code, out, err) = oversim(&[&["run", "-", "--explain-decisions", "-"], args].concat(), text);
    assert_eq!(code, 0, "{err}");
    out
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn keys(line: &Value) -> Vec<&str> {
    line.as_object().unwrap().keys().map(String::as_str).collect()
}

const ALWAYS: [&str; 6] = ["run", "configuration", "policy", "replicate", "seed", "at_s"];

#[test]
fn lines_have_the_documented_shape() {
    let lines = lines(&explained(&[]));
    let of = |action: &str, placement: Option<&str>| {
        let found = lines.iter().filter(|l| l["policy"] == "LOAD" || action == "bind");
        let mut found = found.filter(|l| l["action"] == action && l["placement"].as_str() == placement);
        found.next().unwrap_or_else(|| panic!("no {action} {placement:?}"))
    };
    let shape = |names: &[&'static str]| [&ALWAYS[..], names, &["rule", "facts", "text"]].concat();
    let fork = of("place", Some("fork"));
    assert_eq!(keys(fork), shape(&["action", "placement", "app", "rank", "parent", "to"]));
    let wake = of("place", Some("wake"));
    assert_eq!(keys(wake), shape(&["action", "placement", "app", "rank", "waker", "from", "to"]));
    let moved = of("migrate", None);
    assert_eq!(keys(moved), shape(&["action", "app", "rank", "from", "to"]));
    assert_eq!(keys(of("bind", None)), shape(&["action", "app", "rank", "cpus"]));
    // The sentence of a pull contains what was compared.
    let text = moved["text"].as_str().unwrap();
    let (from, to) = (&moved["from"], &moved["to"]);
    let start = format!("{}.{} cpu{from} -> cpu{to}: ", moved["app"].as_str().unwrap(), moved["rank"]);
    assert!(text.starts_with(&start) && text.contains(moved["rule"].as_str().unwrap()), "{text}");
    for (name, value) in moved["facts"].as_object().unwrap() {
        let name = name.trim_end_matches(" %");
        assert!(text.contains(&format!("{name} {value}")), "{name}: {text}");
    }
}

#[test]
fn a_slot_of_a_gang_changes_priority_levels() {
    let text = TINY.replace("[LOAD, PIN]", "[{ gang: { alternates: none, quantum: 1ms } }]");
    let lines = lines(&explained_of(&text, &[]));
    let changes: Vec<&Value> = lines.iter().filter(|line| line["action"] == "priority_level").collect();
    assert!(!changes.is_empty());
    for change in changes {
        let (level, text) = (change["priority_level"].as_u64().unwrap(), change["text"].as_str().unwrap());
        let words =
            if level == 255 { "throttled".to_owned() } else { format!("moved to priority level {level}") };
        assert!(text.contains(&words), "{change}");
    }
}

#[test]
fn lines_come_in_the_order_of_runs_and_of_time() {
    let lines = lines(&explained(&["--jobs", "2"]));
    let order: Vec<(u64, f64)> =
        lines.iter().map(|l| (l["run"].as_u64().unwrap(), l["at_s"].as_f64().unwrap())).collect();
    assert!(order.is_sorted_by(|a, b| a <= b));
    // Each program alone, then 2 configurations x 2 policies; 2 replicates of each.
    let runs: Vec<u64> = (0..12).collect();
    let mut met: Vec<u64> = order.iter().map(|(run, _)| *run).collect();
    met.dedup();
    assert_eq!(met, runs);
    let first = |run: u64| lines.iter().find(|l| l["run"] == run).unwrap();
    let (alone, shared) = (first(0), first(11));
    assert_eq!(
        (&alone["policy"], &alone["replicate"], &alone["seed"]),
        (&"dedicated".into(), &0.into(), &1.into())
    );
    assert_eq!(
        (&shared["policy"], &shared["replicate"], &shared["seed"]),
        (&"PIN".into(), &1.into(), &2.into())
    );
    assert_eq!(shared["configuration"], "threads_per_core=2");
}

#[test]
fn bytes_do_not_depend_on_threads_or_on_how_polls_are_simulated() {
    let one = explained(&["--jobs", "1"]);
    assert!(one.lines().count() > 200);
    // Seconds to the nanosecond, never an exponent.
    assert!(one.lines().all(|line| {
        let digits = line.split_once("\"at_s\":").unwrap().1.split_once(',').unwrap().0;
        digits.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 9)
    }));
    assert_eq!(one, explained(&["--jobs", "7"]));
    assert_eq!(one, explained(&["--jobs", "2", "--stepwise"]));
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_whole_or_not_there_and_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("deep/decisions.ndjson"), folder.path().join("deep"));
    let (file, dir) = (path.to_str().unwrap(), out.to_str().unwrap());
    let write = |args: &[&str], text: &str| {
        oversim(&[&["run", "-", "--explain-decisions", file], args].concat(), text)
    };
    assert!(write(&[], TINY).2.contains("there is no directory"));
    fs::create_dir(&out).unwrap();
    // Nothing is left behind by what cannot run.
    assert_eq!(write(&[], "name: nothing\n").0, 2);
    assert!(names(&out).is_empty());
    let (code, report, err) = write(&["--format", "json"], TINY);
    assert_eq!(code, 0, "{err}");
    assert_eq!(fs::read_to_string(&path).unwrap(), explained(&[]));
    assert!(report.contains("oversim.result/3"), "the result goes to standard output");
    let (code, report, err) = write(&[], TINY);
    assert!(code == 2 && err.contains("--force") && report.is_empty(), "{err}");
    let (code, _, err) = write(&["--force", "-o", dir, "--seed", "9"], TINY);
    assert_eq!(code, 0, "{err}");
    assert_eq!(fs::read_to_string(&path).unwrap(), explained(&["--seed", "9"]));
    let mut all = vec![
        "cells.csv",
        "decisions.ndjson",
        "inputs",
        "jobs.ndjson",
        "report.md",
        "report.txt",
        "result.json",
        "samples.csv",
    ];
    all.extend(cfg!(feature = "parquet").then_some("samples.parquet"));
    assert_eq!(names(&out), all);
}

#[test]
fn places_that_cannot_be_written_are_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("decisions.ndjson");
    for path in [folder.path().to_str().unwrap(), below.to_str().unwrap(), ""] {
        let (code, out, err) = oversim(&["run", "-", "--force", "--explain-decisions", path], TINY);
        assert!(code == 2 && out.is_empty() && !err.is_empty(), "{path}: {code} {out} {err}");
    }
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_run_that_is_cut_off_has_explained_itself_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.ndjson");
    let args = ["run", "-", "-q", "--explain-decisions", path.to_str().unwrap()];
    let (code, ..) = oversim(&args, &format!("{TINY}horizon: 5ms\n"));
    assert_eq!(code, 1);
    let last = lines(&fs::read_to_string(&path).unwrap()).pop().unwrap();
    assert!(last["at_s"].as_f64().unwrap() <= 0.005 && last["run"] == 11);
}

#[cfg(target_os = "linux")]
#[test]
fn devices_and_pipes_are_written_as_they_are_and_a_full_disk_is_an_error() {
    let explain = |path: &str| oversim(&["run", "-", "--format", "csv", "--explain-decisions", path], TINY);
    let plain = oversim(&["run", "-", "--format", "csv"], TINY);
    assert_eq!(explain("/dev/null"), plain);
    // The decisions first, then the result.
    let (code, out, _) = explain("/dev/stdout");
    assert_eq!((code, out), (0, explained(&[]) + &plain.1));
    let (code, out, err) = explain("/dev/full");
    assert!(code == 1 && out.is_empty() && err.contains("cannot write the decisions"), "{code} {err}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command as Process, Stdio};
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), TINY).unwrap();
    let mut child = Process::new(assert_cmd::cargo::cargo_bin!("oversim"))
        .args(["run", file.path().to_str().unwrap(), "--explain-decisions", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
}

const MODERN: &str = "\
name: modern
machine: 'package:1 numa:1 core:2'
kernel: linux-6.18
apps:
  a: { workload: { spmd: { work: 20ms, intervals: 20, spread: 10% } }, tasks: 4, runtime: block }
  b: { workload: { spmd: { work: 40ms, intervals: 4 } }, tasks: 2, runtime: upc }
policies: [PIN]
baseline: none
repeat: 1
";

/// What a line says of its queue holds for the numbers beside it. All tasks have the same weight.
fn check_queue(line: &Value) {
    let queue = line["queue"].as_array().unwrap();
    let v = |one: &Value| one["v"].as_i64().unwrap();
    let deadline = |one: &Value| one["deadline"].as_i64().unwrap();
    let (n, sum) = (queue.len() as i64, queue.iter().map(v).sum::<i64>());
    assert_eq!(line["mean"].as_i64().unwrap(), sum.div_euclid(n), "{line}");
    assert!(queue.iter().all(|one| one["eligible"] == (v(one) * n <= sum)), "{line}");
    let me = queue.iter().find(|one| one["app"] == line["app"] && one["rank"] == line["rank"]).unwrap();
    let protected = queue.iter().any(|one| {
        one["eligible"] == true && one["protected_until"].as_i64().is_some_and(|until| v(one) < until)
    });
    let eligible = queue.iter().filter(|one| one["eligible"] == true);
    let earliest = eligible.map(deadline).min().unwrap();
    match (line["action"].as_str().unwrap(), line["rule"].as_str().unwrap()) {
        ("wait", "it is not eligible: its virtual runtime is above the mean") => {
            assert_eq!(me["eligible"], false, "{line}");
        }
        ("wait" | "pick", "the current task is eligible and protected") => assert!(protected, "{line}"),
        ("wait", "another eligible task has an earlier deadline") => {
            assert!(!protected && deadline(me) > earliest, "{line}");
        }
        ("pick" | "preempt", "earliest deadline among the eligible tasks") => {
            assert!(!protected && me["eligible"] == true && deadline(me) == earliest, "{line}");
        }
        other => panic!("{other:?}: {line}"),
    }
}

#[test]
fn run_queues_are_explained_by_their_numbers() {
    let plain = explained_of(MODERN, &[]);
    let all = explained_of(MODERN, &["--explain-queues"]);
    let is_queue = |line: &Value| ["pick", "preempt", "wait"].iter().any(|action| line["action"] == *action);
    let (queues, decisions): (Vec<Value>, Vec<Value>) = lines(&all).into_iter().partition(is_queue);
    assert_eq!(decisions, lines(&plain));
    queues.iter().for_each(check_queue);
    for action in ["pick", "preempt", "wait"] {
        assert!(queues.iter().any(|line| line["action"] == action), "{action}");
    }
    let delayed =
        |line: &Value| line["queue"].as_array().unwrap().iter().any(|one| one["state"] == "delayed");
    assert!(queues.iter().any(delayed));
}
