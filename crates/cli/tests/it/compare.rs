//! `oversim compare` as continuous integration sees it: exit codes, streams, forms, refusals.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use crate::support::oversim;
use serde_json::Value;

const TINY: &str = "\
name: tiny
about: Two small jobs share four cores.
machine: 'package:2 numa:1 core:2'
kernel: linux-2.6.28
apps:
  a: { workload: { spmd: { work: 40ms, intervals: 10, spread: 10% } }, runtime: upc }
  b: { workload: { spmd: { work: 80ms, intervals: 5, spread: 10% } }, runtime: upc }
policies: [LOAD, PIN]
threads_per_core: 2
repeat: 4
seed: 1
";

/// Runs the scenario into a file.
fn result(folder: &Path, name: &str, args: &[&str]) -> String {
    let (code, out, err) = oversim(&[&["run", "-", "--format", "json"], args].concat(), TINY);
    assert_eq!(code, 0, "{err}");
    let path = folder.join(name);
    fs::write(&path, out).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_exit_code_reports_slowdowns_beyond_the_threshold() {
    let folder = tempfile::tempdir().unwrap();
    let fast = result(folder.path(), "fast.json", &[]);
    let slow = result(folder.path(), "slow.json", &["--set", "machine.core_speed=0.5"]);
    let (code, text, err) = oversim(&["compare", &fast, &slow], "");
    assert!(
        code == 1
            && err.is_empty()
            && text.contains("slow takes 1.")
            && text.contains(" times as long as fast"),
        "{text}{err}"
    );
    let (code, text, _) = oversim(&["compare", &slow, &fast], "");
    assert!(code == 0 && text.contains("fast is 1.") && text.contains(" times as fast as slow"), "{text}");
    assert_eq!(oversim(&["compare", &fast, &slow, "--threshold", "10"], "").0, 1);
    assert_eq!(oversim(&["compare", &fast, &slow, "--threshold", "150%"], "").0, 0);
    let (code, text, _) = oversim(&["compare", &fast, &fast], "");
    assert!(code == 0 && text.contains("exactly the same values") && text.contains("4 pairs"), "{text}");
}

#[test]
fn a_slowdown_below_one_per_cent_does_not_fail_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let old = result(folder.path(), "old.json", &[]);
    let new = result(folder.path(), "new.json", &["--set", "machine.core_speed=0.99"]);
    let (code, text, _) = oversim(&["compare", &old, &new, "--policy", "PIN"], "");
    assert!(code == 0 && text.contains("new takes 1.00") && !text.contains("\n! "), "{text}");
    let (code, text, _) = oversim(&["compare", &old, &new, "--policy", "PIN", "--threshold", "0"], "");
    assert!(code == 1 && text.contains("\n! ") && text.contains("3 slower (marked with !)"), "{text}");
    let much = result(folder.path(), "much.json", &["--set", "machine.core_speed=90%"]);
    assert_eq!(oversim(&["compare", &old, &much, "--policy", "PIN"], "").0, 1);
}

#[test]
fn a_scenario_a_result_of_it_and_two_results_of_one_policy_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let all = result(folder.path(), "all.json", &[]);
    let load = result(folder.path(), "load.json", &["--policy", "LOAD"]);
    let pin = result(folder.path(), "pin.json", &["--policy", "PIN"]);
    let scenario = folder.path().join("tiny.yaml");
    fs::write(&scenario, TINY).unwrap();
    let said = |args: &[&str]| -> Value {
        let (code, out, err) = oversim(&[&["compare"], args, &["--format", "json"]].concat(), TINY);
        assert!(code < 2, "{args:?}: {err}");
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["schema"], "oversim.compare/1");
        value["contrasts"].clone()
    };
    let of_scenario = said(&[scenario.to_str().unwrap(), "--policy", "LOAD,PIN"]);
    assert_eq!(of_scenario.as_array().unwrap().len(), 3, "two applications and the makespan");
    assert!(of_scenario[0]["policy_a"] == "LOAD" && of_scenario[0]["policy_b"] == "PIN");
    assert_eq!(of_scenario, said(&["-"]), "from standard input");
    assert_eq!(of_scenario, said(&[&all, "--policy", "load,pin"]));
    assert_eq!(of_scenario, said(&[&load, &pin]));
    // What the run itself says of its policies.
    let result: Value = serde_json::from_str(&fs::read_to_string(&all).unwrap()).unwrap();
    let (own, here) = (&result["comparisons"][0], &of_scenario[0]);
    assert!(
        own["ratio"] == here["speedup"]["mean"] && own["p"] == here["p"] && own["verdict"] == here["verdict"]
    );
    let turned = said(&[&pin, &load]);
    let product = turned[0]["speedup"]["mean"].as_f64().unwrap() * here["speedup"]["mean"].as_f64().unwrap();
    assert!((product - 1.0).abs() < 1e-8, "{product}");
}

#[test]
fn every_form_is_written() {
    let (code, csv, _) = oversim(&["compare", "-", "--format", "csv"], TINY);
    assert!(
        code < 2
            && csv.starts_with("configuration,app,metric,unit,policy_a,policy_b,")
            && csv.lines().count() == 4,
        "{csv}"
    );
    let (_, page, _) = oversim(&["compare", "-", "--format", "markdown"], TINY);
    assert!(page.starts_with("# tiny") && page.contains("| a | "), "{page}");
    let (code, text, _) = oversim(&["compare", "-", "--repeat", "1"], TINY);
    assert!(
        code == 0
            && text.contains("without an interval")
            && text.contains("3 undecided with one pair (`--repeat 5`"),
        "{text}"
    );
}

#[test]
fn bad_arguments_are_exit_2_with_a_sentence_and_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let good = result(folder.path(), "good.json", &[]);
    let other_seed = result(folder.path(), "other.json", &["--seed", "50"]);
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let old =
        file("old.json", &fs::read_to_string(&good).unwrap().replace("oversim.result/3", "oversim.result/1"));
    let cut = file("cut.json", &fs::read_to_string(&good).unwrap()[..500]);
    let empty = file("empty.json", "");
    for (args, says) in [
        (vec!["/nowhere/a.json", &good], "cannot read /nowhere/a.json"),
        (vec![&old, &good], "run its scenario again"),
        (vec![&good, &cut], "cut.json:"),
        (vec![&good, &empty], "is not a JSON object"),
        (vec![&good, &other_seed], "no seed in common"),
        (vec![&good, "--policy", "LOAD,NOPE"], "no policy `NOPE`. Valid: LOAD, PIN"),
        (vec![&good, "--policy", "LOAD"], "a comparison needs two"),
        (vec![&good, &good, "--metric", "nope"], "no metric is called `nope`"),
        (vec![&good, &good, "--seed", "3"], "applies to scenarios only"),
        (vec![&good, &good, "--threshold", "x"], "write a percentage"),
        (vec!["-", "--policy", "LOAD,NOPE"], "NOPE"),
        (vec!["-", "--set", "kernel.nope=1"], "nope"),
    ] {
        let args = [vec!["compare"], args].concat();
        let (code, out, err) = oversim(&args, TINY);
        assert!(code == 2 && out.is_empty() && err.contains(says), "{args:?}: {code} {err}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};
    for args in [&["list", "policies"][..], &["man"], &["completions", "bash"], &["schema"], &["explain"]] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("oversim"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.is_empty() && output.status.code() == Some(0), "{args:?}: {said}");
    }
}
