//! `oversim matrix` and `oversim advise share`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::oversim;

/// Two programs on one core, of which one computes and the other sleeps half of its time.
const SCENARIO: &str = "name: two\nmachine: core:1\nkernel: linux-6.18\npolicies: [LOAD]\napps:\n  \
    long: { workload: { spmd: { work: 200ms, intervals: 4 } }, runtime: block, tasks: 1 }\n  \
    short: { workload: { spmd: { work: 60ms, intervals: 4 } }, runtime: block, tasks: 1 }\n";

fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.yaml");
    std::fs::write(&file, SCENARIO).unwrap();
    (folder, file.to_str().unwrap().to_owned())
}

#[test]
fn a_matrix_is_a_page_and_a_table_and_does_not_depend_on_threads() {
    let (_folder, file) = folder();
    let (code, text, err) = oversim(&["matrix", &file], "");
    assert!(code == 0 && err.is_empty(), "{err}");
    assert!(text.lines().count() <= 30 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("Matching") && text.contains("Avoid"), "{text}");
    let (_, csv, _) = oversim(&["matrix", &file, "--format", "csv", "--jobs", "1"], "");
    assert_eq!(csv, oversim(&["matrix", &file, "--format", "csv", "--jobs", "2"], "").1);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "program,beside,slowdown,low,high,replicates");
    assert_eq!(rows.len(), 1 + 4);
    assert!(rows[2].starts_with("long,short,"), "{csv}");
}

#[test]
fn a_matrix_is_drawn_with_its_numbers_beside_it() {
    let (folder, file) = folder();
    let figures = folder.path().join("figures");
    let out = figures.to_str().unwrap();
    let (code, _, err) = oversim(&["matrix", &file, "--repeat", "1", "-o", out], "");
    assert!(code == 0 && err.is_empty(), "{err}");
    let picture = std::fs::read_to_string(figures.join("matrix.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("beside"));
    let numbers = std::fs::read_to_string(figures.join("matrix.csv")).unwrap();
    assert!(numbers.starts_with("program,beside,slowdown,low,high,replicates\nlong,long,"), "{numbers}");
    assert_eq!(oversim(&["matrix", &file, "--repeat", "1", "-o", out], "").0, 2, "the files exist");
}

#[test]
fn job_simulators_get_profiles_with_slowdowns() {
    let (_folder, file) = folder();
    let (code, json, _) = oversim(&["matrix", &file, "--repeat", "1", "--format", "batsim"], "");
    let workload: serde_json::Value = serde_json::from_str(&json).unwrap();
    let long = &workload["profiles"]["long"];
    assert_eq!((code, long["type"].as_str()), (0, Some("delay")));
    assert!(long["slowdown_beside"]["short"].as_f64().unwrap() > 1.5, "{json}");
}

#[test]
fn wrong_files_and_flags_end_with_a_place_and_status_2() {
    let (folder, file) = folder();
    let wrong = |args: &[&str], said: &str| {
        let (code, out, err) = oversim(args, "");
        assert!(code == 2 && out.is_empty() && err.contains(said), "{args:?}: {code} {out} {err}");
    };
    wrong(&["matrix", "no-such-scenario.yaml"], "no-such-scenario.yaml");
    wrong(&["matrix", &file, &file], "`long` is also an application of");
    wrong(&["matrix", &file, "-k", "5"], "5");
    wrong(&["matrix", &file, "--set", "apps.none.tasks=2"], "no application is called `none`");
    wrong(&["matrix", &file, "--policy", "NONE"], "NONE");
    wrong(&["matrix", &file, "--machine", "core:0"], "core");
    wrong(&["matrix", "periodic_tasks"], "`window` cuts runs off");
    let broken = folder.path().join("broken.yaml");
    std::fs::write(&broken, "name: x\napps: { a: [\n").unwrap();
    wrong(&["matrix", broken.to_str().unwrap()], "broken.yaml:");
    wrong(&["advise", "share", &file, "--mix", "long=0"], "must be above 0");
    wrong(&["advise", "share", &file, "--mix", "none=1"], "`none` is no foreground application");
    let log = folder.path().join("jobs.txt");
    std::fs::write(&log, "JobID|JobName\n1|long\n2\n").unwrap();
    wrong(&["advise", "share", &file, log.to_str().unwrap()], "jobs.txt:3: 1 field");
    std::fs::write(&log, "JobID|JobName\n1|long\n").unwrap();
    wrong(&["advise", "share", log.to_str().unwrap()], "a scenario must describe them");
}

#[test]
fn a_committee_gets_one_page_with_what_to_type() {
    let (folder, file) = folder();
    let log = folder.path().join("jobs.txt");
    std::fs::write(&log, "JobID|JobName\n1|long\n1.0|long\n2|short\n3|short\n4|other\n").unwrap();
    let (code, text, err) = oversim(&["advise", "share", &file, log.to_str().unwrap()], "");
    assert!(code == 0 && err.is_empty(), "{err}");
    assert!(text.lines().count() <= 25 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("short 67 %, long 33 %") && words.contains("25 % of the 4 jobs"), "{text}");
    // One core for programs that only compute: nothing is gained.
    assert!(text.contains("one job at a time") && text.contains("OverSubscribe=EXCLUSIVE"), "{text}");
    let args = ["advise", "share", &file, "--machine", "core:2"];
    let (_, text, _) = oversim(&args, "");
    assert!(text.contains("OverSubscribe=FORCE:2") && text.contains("PreemptMode=OFF"), "{text}");
    let (_, json, _) = oversim(&[&args[..], &["--format", "json"]].concat(), "");
    let advice: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(advice["factor"], 2);
    let work = advice["factors"][1]["throughput"]["mean"].as_f64().unwrap();
    assert!((work - 2.0).abs() < 0.02, "{work}");
}
