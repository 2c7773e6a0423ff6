//! `oversim profile` as a user sees it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use crate::support::oversim;

/// `/usr/bin/time -v` of an OpenMP program with two threads.
const TIME: &str = "\tCommand being timed: \"./bsp 2 1000 500\"\n\tUser time (seconds): 3.62\n\
    \tSystem time (seconds): 0.00\n\
    \tElapsed (wall clock) time (h:mm:ss or m:ss): 0:01.82\n\
    \tVoluntary context switches: 9\n\tInvoluntary context switches: 6\n";
/// `perf stat -x,` of the same.
const PERF: &str = "3600.10,msec,task-clock,1754569850,100.00,1.999,CPUs utilized\n\
    15,,context-switches,1754569850,100.00,257.613,/sec\n\
    27400000,,LLC-load-misses:u,1754569850,100.00,,\n";

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What a command prints, which goes well.
fn fine(args: &[&str]) -> (String, String) {
    let (code, out, err) = oversim(&[&["profile"], args].concat(), "");
    assert!(code == 0, "{args:?}: {code} {err}");
    (out, err)
}

/// What a command says that refuses its input.
fn wrong(args: &[&str], stdin: &str) -> String {
    let (code, out, err) = oversim(&[&["profile"], args].concat(), stdin);
    assert!(code == 2 && out.is_empty(), "{args:?}: {code} {out} {err}");
    err
}

#[test]
fn files_of_a_job_become_a_scenario_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let time = written(folder.path(), "time.txt", TIME);
    let perf = written(folder.path(), "perf.csv", PERF);
    let job = folder.path().join("job.yaml").to_str().unwrap().to_owned();
    let (out, err) = fine(&[&time, &perf, "--threads", "2", "-o", &job]);
    assert!(out.is_empty() && err.contains("next: oversim run"), "{out} {err}");
    let text = fs::read_to_string(&job).unwrap();
    assert!(
        text.contains("perf.csv:3 LLC-load-misses x 64 B / task-clock") && text.contains("\nuncertain:\n")
    );
    let (code, out, err) = oversim(&["run", &job], "");
    // 3.62 s of work on two cpus, and what the later one of two takes longer by a spread of 15 %.
    assert!(code == 0 && out.contains("LOAD: 1.90 s"), "{out} {err}");
    let again = wrong(&[&time, "-o", &job], "");
    assert!(again.contains("--force"), "{again}");
}

#[test]
fn what_is_missing_is_asked_for_in_the_order_of_its_effect() {
    let args = ["--threads", "4", "--work", "8s"];
    let (_, err) = fine(&args);
    let factors: Vec<f64> = err
        .lines()
        .filter_map(|line| line.split("by a factor of ").nth(1))
        .map(|rest| rest.trim_start_matches("more than ").split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(factors.len() > 1 && factors.is_sorted_by(|a, b| a >= b), "{err}");
    assert!(err.contains("(apps.job.workload.intervals, 20..100000: run time moves by a factor of"), "{err}");
    // Threads that poll at each barrier beside another program.
    assert!(err.starts_with("asked: work between two barriers") && err.contains("beside a copy of itself"));
    let jobs = |jobs| fine(&["--threads", "4", "--work", "8s", "--format", "json", "--jobs", jobs]);
    assert_eq!(jobs("1"), jobs("3"));
    let (_, plain) = fine(&["--threads", "4", "--work", "8s", "--no-trials"]);
    assert!(!plain.contains("factor") && plain.starts_with("asked: work between two barriers"), "{plain}");
}

#[test]
fn numbers_that_are_typed_in_count_and_forms_are_chosen() {
    let typed = [
        "--threads",
        "8",
        "--interval",
        "200us",
        "--bandwidth",
        "3GB/s",
        "--wait",
        "libgomp",
        "--name",
        "cg",
    ];
    let (out, err) = fine(&typed);
    assert!(
        out.contains("  cg:\n") && out.contains("intervals: 50000  # work of a task / --interval"),
        "{out}"
    );
    assert_eq!(err.lines().count(), 1, "{err}");
    let (json, _) = fine(&[&typed[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["numbers"][2]["path"], "apps.cg.workload.demand");
    assert_eq!(json["scenario"].as_str().unwrap(), out);
    let (table, _) = fine(&[&typed[..], &["--format", "markdown"]].concat());
    assert!(table.contains("| `apps.cg.workload.spread` | 15% | 0% to 30% |"), "{table}");
}

#[test]
fn wrong_files_flags_and_processes_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("job.yaml");
    let output = ["-o", target.to_str().unwrap()];
    for (stdin, flags, says) in [
        (PERF.replace("3600.10", "-3"), &["-"][..], "<stdin>:1:1"),
        (TIME.replace("3.62", "NaN"), &["-"], "`NaN` is no number from 0 on for User time"),
        (TIME.split("Elapsed").next().unwrap().to_owned(), &["-"], "the report is cut off"),
        ("a\u{1b}[31mb\n".to_owned(), &["-"], "`--form` states one"),
        ("JobID|Elapsed\n1|x\n".to_owned(), &["-"], "<stdin>:2:1"),
        (TIME.to_owned(), &["-", "--form", "sacct"], "no header with `|`"),
        (TIME.to_owned(), &["-", "--machine", "nope"], "nope"),
        (String::new(), &["--threads", "0"], "--threads"),
        (String::new(), &["--threads", "2", "--interval", "200"], "needs a unit"),
        (String::new(), &["--threads", "2", "--interval", "0s"], "a time from 1ns"),
        (String::new(), &["--threads", "2", "--bandwidth", "3GB"], "--bandwidth"),
        (String::new(), &["--threads", "2", "--wait", "nope"], "--wait:1:"),
        (String::new(), &["--pid", "4194999", "--for", "1s"], "cannot read /proc/4194999/stat"),
        (String::new(), &["--pid", "x"], "--pid"),
        (String::new(), &["--pid", "1", "--for", "1ns"], "from 100ms to 1h"),
        (String::new(), &[], "nothing describes the job"),
    ] {
        let err = wrong(&[flags, &output].concat(), &stdin);
        assert!(err.contains(says) && !err.contains('\u{1b}'), "{says}: {err}");
    }
    assert!(!target.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_runs_is_described_by_a_look_at_it() {
    let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let pid = child.id().to_string();
    let (code, out, err) = oversim(&["profile", "--pid", &pid, "--for", "300ms", "--no-trials"], "");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(code == 0, "{err}");
    assert!(out.contains(&format!("# /proc/{pid} task/*/schedstat")) && out.contains("tasks: 1"), "{out}");
}
