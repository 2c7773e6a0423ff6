//! Scenarios that do not fit into memory are refused before anything is done, with the estimate, the limit
//! and what fits.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::process::Command;

use crate::support::oversim;

const TEXT: &str = "\
name: big
machine: core:4
apps:
  a: { workload: { spmd: { intervals: 1, grain: 1ms } }, tasks: 4 }
policies: [LOAD]
baseline: none
horizon: 1us
repeat: 1
";

/// Kibibytes of address space that these tests allow: enough for a few hundred thousand tasks.
const KIBIBYTES: u64 = 400_000;

/// Runs the program on [`TEXT`] under a limit of its address space; its exit code and standard error.
fn limited(args: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("big.yaml"), TEXT).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("oversim");
    let line = format!("ulimit -v {KIBIBYTES} && exec {} {args}", program.display());
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "nothing is written");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The number before these words of a message.
fn number_before(said: &str, words: &str) -> u64 {
    let before = said.split(words).next().unwrap().trim_end();
    before.rsplit(' ').next().unwrap().parse().unwrap_or_else(|e| panic!("{e}: {said}"))
}

#[test]
fn what_exceeds_the_address_space_is_refused_and_what_is_said_to_fit_runs() {
    let cases = [
        ("apps.a.tasks=16777216", "tasks in a run fit", "apps.a.tasks="),
        ("machine=core:4194304", "cpus fits", "machine=core:"),
    ];
    for (set, words, path) in cases {
        let (code, said) = limited(&format!("run big.yaml -o out --set {set}"));
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("the scenario needs about") && said.contains("(ulimit -v) is 391 MiB"),
            "{said}"
        );
        let fits = number_before(&said, words);
        assert!(fits > 50_000, "{said}");
        let (code, said) = limited(&format!("check big.yaml --set {path}{fits}"));
        assert_eq!(code, 0, "{said}");
        let (code, said) = limited(&format!("run big.yaml --set {path}{fits}"));
        // It is cut off at its horizon, which is the result that was asked for.
        assert!(code == 1 && said.contains("cut off at the horizon"), "{path}{fits}: {code} {said}");
        let (code, said) = limited(&format!("check big.yaml --set {path}{}", fits * 11 / 10));
        assert_eq!(code, 2, "{said}");
    }
}

#[test]
fn the_limit_of_the_user_counts_for_every_command_that_runs_scenarios() {
    for command in ["run", "check", "compare", "plot", "report", "timeline"] {
        let (code, out, said) = oversim(&[command, "cg_ft_share", "--memory", "1MiB"], "");
        assert_eq!((code, out.as_str()), (2, ""), "{command}: {said}");
        assert!(
            said.contains("the limit of --memory is 1024 KiB") || said.contains("is 1.0 MiB"),
            "{command}: {said}"
        );
    }
    let (code, _, said) = oversim(&["check", "cg_ft_share", "--memory", "16GiB"], "");
    assert_eq!(code, 0, "{said}");
    let (code, _, said) = oversim(&["check", "cg_ft_share", "--memory", "plenty"], "");
    assert!(code == 2 && said.contains("write a size with its unit"), "{said}");
}

#[test]
fn more_jobs_than_fit_are_refused_and_fewer_are_named() {
    let set = ["-", "--set", "apps.a.tasks=200000", "--memory", "400MiB", "--repeat", "8"];
    let run = |more: &[&str]| oversim(&[&["run"], &set[..], more].concat(), TEXT);
    let (code, _, said) = run(&["--jobs", "8"]);
    assert!(code == 2 && said.contains("with 8 runs at the same time"), "{said}");
    let fits =
        said.split("`--jobs ").nth(1).and_then(|rest| rest.split('`').next()).unwrap_or_default().to_owned();
    assert_eq!(run(&["--jobs", &fits]).0, 1, "{said}");
    // Without --jobs as many are used as fit.
    assert_eq!(run(&[]).0, 1);
}

#[test]
fn plans_that_do_not_fit_are_not_made() {
    let text = TEXT
        .replace("tasks: 4 }", "tasks: 4, copies: 4000, cpus: 0-3 }")
        .replace("repeat: 1", "repeat: 9999");
    let (code, _, said) = oversim(&["check", "-", "--memory", "1GiB"], &text);
    assert!(code == 2 && said.contains("the plan of all runs needs about"), "{said}");
    let values: Vec<String> = (1..=2_000).map(|value| format!("{value}us")).collect();
    let text = format!("{TEXT}sweep: {{ horizon: [{}] }}\n", values.join(", "));
    let (code, _, said) = oversim(&["check", "-", "--memory", "50MiB"], &text);
    assert!(code == 2 && said.contains("a sweep of") && said.contains("configurations fits"), "{said}");
}

#[test]
fn the_estimate_is_reported_on_request() {
    let (code, out, said) = oversim(&["check", "-v", "-"], TEXT);
    assert_eq!((code, out.lines().count()), (0, 1));
    assert!(said.contains("of memory for one run at a time"), "{said}");
}
