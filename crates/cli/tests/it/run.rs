//! `oversim run` as a user sees it: streams, exit codes, files, bytes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use crate::support::oversim;
use assert_cmd::Command;
use serde_json::Value;

const TINY: &str = "\
name: tiny
about: Two small jobs share four cores.
machine: 'package:2 numa:1 core:2'
apps:
  a: { workload: { spmd: { work: 40ms, intervals: 10, spread: 10% } }, runtime: upc }
  b: { workload: { spmd: { work: 80ms, intervals: 5, spread: 10% } }, runtime: upc }
policies: [LOAD, PIN]
sweep: { threads_per_core: [1, 2] }
baseline: dedicated
repeat: 3
seed: 1
";

fn json(args: &[&str]) -> Value {
    let (code, out, err) = oversim(&[&["run", "-", "--format", "json"], args].concat(), TINY);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// The cells of one place, as metric and mean.
fn cells<'a>(result: &'a Value, configuration: &str, policy: &str, app: &str) -> Vec<(&'a str, f64)> {
    let all = result["cells"].as_array().unwrap().iter();
    let here =
        all.filter(|c| c["configuration"] == configuration && c["policy"] == policy && c["app"] == app);
    here.map(|c| (c["metric"].as_str().unwrap(), c["mean"].as_f64().unwrap())).collect()
}

fn metric(result: &Value, configuration: &str, policy: &str, app: &str, name: &str) -> f64 {
    let cells = cells(result, configuration, policy, app);
    cells.iter().find(|(metric, _)| *metric == name).unwrap_or_else(|| panic!("{name}: {cells:?}")).1
}

#[test]
fn json_has_the_documented_shape() {
    let result = json(&[]);
    assert_eq!(keys(&result), words("schema provenance cells comparisons notes answer"));
    assert_eq!(result["schema"], "oversim.result/3");
    assert_eq!(
        keys(&result["provenance"]),
        words(
            "tool version model generator scenario about scenario_sha256 overrides machines kernels sweep \
                configurations \
             policies stacks apps background programs requests objective setups seed repeat runs outcomes \
                digest"
        )
    );
    assert_eq!(
        keys(&result["cells"][0]),
        words("scenario configuration settings policy app metric unit mean median ci95 min max n values")
    );
    assert_eq!(
        keys(&result["comparisons"][0]),
        words("configuration app metric baseline policy ratio ci95 p pairs verdict")
    );
    // 2 policies x 2 configurations x 3 replicates, and 2 applications x 3 replicates alone.
    assert_eq!(result["provenance"]["runs"], 18);
    assert_eq!(result["provenance"]["outcomes"]["completed"], 18);
    assert_eq!(result["notes"].as_array().unwrap().len(), 0);
    let verdicts = ["faster", "slower", "no difference", "undecided"];
    let comparisons = result["comparisons"].as_array().unwrap();
    // 2 configurations x (2 applications + all) x 1 policy against the first.
    assert_eq!(comparisons.len(), 6);
    assert!(comparisons.iter().all(|c| verdicts.contains(&c["verdict"].as_str().unwrap())));
}

/// Metrics of a window.
const WINDOW: [&str; 3] = ["work_rate", "barrier_rate", "time_per_work"];

#[test]
fn every_documented_metric_is_measured_and_every_measured_one_documented() {
    let page = include_str!("../../../../docs/reference/metrics.md");
    let documented = |of: &str| -> Vec<&str> {
        let sections = page.split("\n## ").skip(1).filter(|section| section.contains(of));
        // No task answers requests, takes a lock or has a deadline here, and no program of its own has clocks,
        // sources, devices or graphs. Applications without copies have no percentiles of their times. The
        // first policy is the reference of `recovered`.
        let lacks = |name: &str| {
            let copies = ["queue_time_", "turnaround_"].iter().any(|start| name.starts_with(start));
            let alone = ["lock_wait", "lock_wait_share", "recovered"].contains(&name);
            let late = ["lateness", "tardiness", "missed_deadlines", "deadline_misses"];
            let late = late.iter().any(|start| name.starts_with(start));
            let own = ["request_", "first_miss", "skipped_", "lost_requests", "busy_servers", "device_wait"];
            own.into_iter().chain(["job"]).any(|start| name.starts_with(start))
                || name.starts_with("response_time")
                || copies && of.contains("each")
                || alone
                || late
        };
        let names = sections.filter_map(|section| section.lines().next());
        names.filter(|name| !lacks(name) && !WINDOW.contains(name)).collect()
    };
    let result = json(&["--set", "latencies=true"]);
    let measured = |app| -> Vec<&str> {
        cells(&result, "threads_per_core=1", "LOAD", app).iter().map(|(metric, _)| *metric).collect()
    };
    assert_eq!(measured("a"), documented(", of each application)"));
    assert_eq!(measured("all"), documented(", of the whole run)"));
    let long = TINY.replace("40ms, intervals: 10", "40s, intervals: 10000").replace("80ms", "80s");
    let (code, out, err) = oversim(&["run", "-", "--format", "json", "--set", "window=300ms"], &long);
    assert_eq!(code, 0, "{err}");
    let windowed: Value = serde_json::from_str(&out).unwrap();
    let cells = |app| cells(&windowed, "threads_per_core=1", "LOAD", app);
    let has = |app, metric: &str| cells(app).iter().any(|(name, _)| *name == metric);
    assert!(WINDOW.iter().all(|metric| has("a", metric)) && has("all", "time_per_work"));
    assert!(!has("a", "run_time") && !has("all", "makespan"));
}

#[test]
fn numbers_hang_together() {
    let result = json(&[]);
    for configuration in ["threads_per_core=1", "threads_per_core=2"] {
        for policy in ["LOAD", "PIN"] {
            let parts = cells(&result, configuration, policy, "all");
            let sum: f64 = parts.iter().filter(|(m, _)| m.starts_with("breakdown_")).map(|(_, v)| v).sum();
            assert!((sum - 1.0).abs() < 1e-8, "{configuration} {policy}: {sum}");
            let time = metric(&result, configuration, policy, "a", "run_time");
            let alone = metric(&result, configuration, "dedicated", "a", "run_time");
            let slowdown = metric(&result, configuration, policy, "a", "slowdown");
            // The one that starts first on a cpu may be through before the other one has its first slice.
            assert!((slowdown - time / alone).abs() < 1e-6 && slowdown > 0.999, "{slowdown} {time} {alone}");
        }
    }
}

#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    for format in ["json", "ndjson", "csv", "tidy", "text", "markdown"] {
        let run = |jobs| oversim(&["run", "-", "--format", format, "--jobs", jobs], TINY);
        let one = run("1");
        assert_eq!(one.0, 0, "{}", one.2);
        assert!(!one.1.is_empty());
        assert_eq!(one, run("8"), "{format}");
    }
}

#[test]
fn the_seed_matters_and_is_recorded() {
    let (one, two) = (json(&["--seed", "1"]), json(&["--seed", "2"]));
    assert_eq!(two["provenance"]["seed"], 2);
    assert_ne!(one["provenance"]["digest"], two["provenance"]["digest"]);
    assert_eq!(one["provenance"]["digest"], json(&[])["provenance"]["digest"]);
}

#[test]
fn one_policy_and_one_replicate() {
    let result = json(&["--policy", "PIN", "--repeat", "1"]);
    assert_eq!(result["provenance"]["policies"], serde_json::json!(["PIN"]));
    assert_eq!(result["comparisons"].as_array().unwrap().len(), 0);
    assert!(result["cells"].as_array().unwrap().iter().all(|c| c["n"] == 1 && c["ci95"].is_null()));
}

#[test]
fn a_horizon_that_cuts_runs_off_is_exit_1_and_noted() {
    let cut = format!("{TINY}horizon: 1ms\n");
    let (code, out, err) = oversim(&["run", "-", "--format", "json"], &cut);
    assert_eq!(code, 1, "{err}");
    let result: Value = serde_json::from_str(&out).unwrap();
    let notes = result["notes"].as_array().unwrap();
    assert_eq!((notes.len(), result["cells"].as_array().unwrap().len()), (18, 0));
    assert!(notes.iter().all(|n| n["outcome"] == "horizon"));
    assert!(err.contains("18 of 18 runs did not complete"), "{err}");
    let (code, out, _) = oversim(&["run", "-", "-q"], &cut);
    assert!(code == 1 && out.contains("18 of 18 runs did not complete"), "{out}");
}

#[test]
fn bad_input_is_exit_2_with_nothing_on_standard_output() {
    let directory = tempfile::tempdir().unwrap();
    let out_dir = directory.path().join("out");
    let out = out_dir.to_str().unwrap();
    let wrong = TINY.replace("machine: 'package:2 numa:1 core:2'", "machine: barcelonna");
    for (args, stdin) in [
        (vec!["run", "-", "-o", out], wrong.as_str()),
        (vec!["run", "-", "-o", out], ""),
        (vec!["run", "-", "-o", out, "--policy", "NOPE"], TINY),
        (vec!["run", "-", "-o", out, "--set", "nonsense"], TINY),
        (vec!["run", "-", "-o", out, "--set", "kernel.nope=1"], TINY),
        (vec!["run", "/nowhere/at/all.yaml", "-o", out], ""),
        (vec!["run", "-", "-o", out, "--repeat", "0"], TINY),
        (vec!["run", "-", "-o", out, "--jobs", "0"], TINY),
        (vec!["run", "-", "-o", out, "--format", "xml"], TINY),
        (vec!["run", "-", "--force"], TINY),
        (vec!["run", "-", "--replay-schedule", "/nowhere/at/all"], TINY),
        (vec!["run", "-", "--replay-schedule", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], TINY),
        (vec!["run", "-", "--replay-schedule", "a", "--record-schedule", "b"], TINY),
        (vec!["run", "-", "--policy", "LOAD/PIN"], TINY),
        (vec!["run"], TINY),
        (vec!["frobnicate"], ""),
        (vec!["list", "policies", "NOPE"], ""),
        (vec!["check", "-"], wrong.as_str()),
    ] {
        let (code, stdout, stderr) = oversim(&args, stdin);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stdout.is_empty() && !stderr.is_empty(), "{args:?}: {stdout}");
        assert!(!out_dir.exists(), "{args:?} left something behind");
    }
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let output = Command::cargo_bin("oversim")
        .unwrap()
        .args(["run", "-"])
        .write_stdin(vec![0xff, 0xfe])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not UTF-8"));
}

fn listing(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_directory_receives_every_form_and_is_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join("deep/results");
    let out = path.to_str().unwrap();
    let (code, stdout, err) = oversim(&["run", "-", "-o", out, "--format", "json"], TINY);
    assert_eq!(code, 0, "{err}");
    let mut all =
        vec!["cells.csv", "inputs", "jobs.ndjson", "report.md", "report.txt", "result.json", "samples.csv"];
    all.extend(cfg!(feature = "parquet").then_some("samples.parquet"));
    assert_eq!(listing(&path), all);
    assert_eq!(std::fs::read_to_string(path.join("result.json")).unwrap(), stdout);
    let (code, _, err) = oversim(&["run", "-", "-o", out, "--seed", "9"], TINY);
    assert!(code == 2 && err.contains("--force"), "{err}");
    assert_eq!(std::fs::read_to_string(path.join("result.json")).unwrap(), stdout);
    let (code, _, err) = oversim(&["run", "-", "-o", out, "--seed", "9", "--force"], TINY);
    assert_eq!(code, 0, "{err}");
    assert_ne!(std::fs::read_to_string(path.join("result.json")).unwrap(), stdout);
    assert_eq!(listing(&path).len(), all.len(), "no temporary file stays");
}

#[test]
fn text_compares_the_policies_in_every_configuration_without_colour_in_a_pipe() {
    let (code, answer, err) = oversim(&["run", "-"], TINY);
    assert_eq!(code, 0, "{err}");
    for part in ["tiny: Two small jobs", "\nSlowdown", "threads_per_core", "\nLOAD ", "\nPIN ", "\nNext "] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let (code, out, err) = oversim(&["run", "-", "--table", "full"], TINY);
    assert_eq!(code, 0, "{err}");
    assert!(err.is_empty(), "no progress bar where there is no terminal: {err}");
    for start in ["dedicated", "LOAD", "PIN"] {
        assert_eq!(
            out.lines().filter(|l| l.starts_with(&format!("{start} ")) && l.contains('±')).count(),
            2,
            "{start}: {out}"
        );
    }
    for part in ["threads_per_core=1", "threads_per_core=2", "slowdown", "throughput", "stalls", "digest"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!(answer + &out).contains('\u{1b}'));
    assert!(out.lines().all(|line| line.chars().count() <= 110), "{out}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command as Process, Stdio};
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), TINY).unwrap();
    let mut child = Process::new(assert_cmd::cargo::cargo_bin!("oversim"))
        .args(["run", file.path().to_str().unwrap(), "--format", "ndjson"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_recorded_schedule_replays_to_the_same_digest_and_reports_what_did_not_apply_elsewhere() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("schedule.ndjson");
    let file = path.to_str().unwrap();
    let run = |args: &[&str]| {
        let (code, out, err) = oversim(&[&["run", "-", "--format", "json"], args].concat(), TINY);
        assert_eq!(code, 0, "{args:?}: {err}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let plain = run(&[]);
    assert_eq!(run(&["--record-schedule", file]), plain, "recording changes nothing");
    let (code, _, err) = oversim(&["run", "-", "--record-schedule", file], TINY);
    assert!(code == 2 && err.contains("--force"), "{err}");
    let replayed = run(&["--replay-schedule", file]);
    assert_eq!(replayed["provenance"]["digest"], plain["provenance"]["digest"]);
    assert_eq!(replayed["provenance"]["replayed"].as_str().unwrap().len(), 64);
    assert_eq!(replayed["replays"].as_array().unwrap().len(), 18);
    assert!(replayed["replays"].as_array().unwrap().iter().all(|run| run["same"] == true));
    let args = ["run", "-", "--replay-schedule", file, "--set", "machine.core_speed=0.5"];
    let (code, text, err) = oversim(&args, TINY);
    assert!(
        code == 0 && text.contains("A replayed schedule decided in place of the policies"),
        "{err}{text}"
    );
    let (code, _, err) = oversim(&["run", "-", "--replay-schedule", file, "--repeat", "9"], TINY);
    assert!(code == 2 && err.contains("the schedule does not fit this scenario: it has no run"), "{err}");
    std::fs::write(&path, "{}\n").unwrap();
    let (code, _, err) = oversim(&["run", "-", "--replay-schedule", file], TINY);
    assert!(code == 2 && err.contains(", line 1: the file is not a schedule of oversim"), "{err}");
}

/// A scenario whose result hardly depends on the seed says nothing of chance, and one that does says what
/// another seed does.
#[test]
fn chance_is_a_doubt_only_where_another_seed_moves_the_result() {
    let run = |name: &str| oversim(&["run", name], "").1.split_whitespace().collect::<Vec<_>>().join(" ");
    let steady = run("job_lengths");
    assert!(steady.contains("SRTF") && !steady.contains("may be chance"), "{steady}");
    let random = run("below_the_quota");
    assert!(random.contains("may be chance (with seed 2 it is "), "{random}");
    assert!(random.contains("try --repeat 5"), "{random}");
}

/// A window in which nothing happens is no run that did not complete; tables say what `-` stands for.
#[test]
fn what_is_missing_has_its_reason() {
    let run = |set: &[&str]| oversim(&[&["run", "endless_fifo"], set].concat(), "").1;
    let short = run(&["--set", "window=1ns"]);
    assert!(short.contains("Nothing was measured: no run has a value"), "{short}");
    let ended = run(&["--set", "apps.shell.program.code=run 1ms"]);
    assert!(ended.contains("Cpu share of each program in %; -: did not complete"), "{ended}");
    assert!(ended.contains(" no work"), "{ended}");
    assert!(ended.contains("by time per work: "), "{ended}");
}

/// Names of programs are wider than the columns of their numbers.
#[test]
fn tables_of_programs_with_long_names_fit() {
    let mut program = Command::cargo_bin("oversim").unwrap();
    let done = program.args(["run", "dining_philosophers"]).env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("table-first") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
