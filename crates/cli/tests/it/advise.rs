//! `oversim advise SCENARIO`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use serde_json::Value;

use crate::support::oversim;

/// A team that fills its cpus and polls, beside a task that computes.
const TEAM: &str = "name: full_team\nmachine: { \"core:8\": {} }\nkernel: linux-6.18\napps:\n  team: { \
                    workload: { spmd: { work: 320ms, intervals: 320 } }, runtime: libgomp, tasks: 8 }\n  other: { \
                    workload: hog, background: true }\npolicies: [LOAD]\n";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Exit code, standard output and standard error of `oversim advise` in a folder.
fn advise(folder: &tempfile::TempDir, args: &[&str]) -> (i32, String, String) {
    let path = |arg: &&str| match arg.strip_suffix(".yaml") {
        Some(_) => folder.path().join(arg).to_str().unwrap().to_owned(),
        None => (*arg).to_owned(),
    };
    let args: Vec<String> = args.iter().map(path).collect();
    let args: Vec<&str> = ["advise"].into_iter().chain(args.iter().map(String::as_str)).collect();
    oversim(&args, "")
}

#[test]
fn a_full_team_beside_a_busy_task_is_advised_otherwise() {
    let folder = folder(&[("team.yaml", TEAM)]);
    let (code, out, err) = advise(&folder, &["team.yaml", "--jobs", "1", "--draws", "4"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.lines().count() <= 25, "{out}");
    assert!(!out.starts_with("Advice    leave it as it is"), "{out}");
    assert!(out.contains("\nType      OMP_"), "{out}");
    assert!(out.contains("programs under libgomp"), "{out}");
    let (_, json, _) = advise(&folder, &["team.yaml", "--draws", "4", "--format", "json"]);
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["schema"], "oversim.advice/1");
    let (advised, now) = (answer["advised"]["mean"].as_f64().unwrap(), answer["as_it_is"]["mean"].as_f64());
    assert!(now.unwrap() > 1.3 * advised, "{json}");
    // What it says to try gives what it says.
    let flags = answer["advised"]["flags"].as_str().unwrap();
    let file = folder.path().join("team.yaml");
    let mut run = vec!["run", file.to_str().unwrap(), "--format", "csv", "--repeat", "40"];
    for part in flags.split(" --").skip(1) {
        let (name, value) = part.split_once(' ').unwrap();
        run.extend([if name == "set" { "--set" } else { "--policy" }, value.trim_matches('\'')]);
    }
    let (code, csv, err) = oversim(&run, "");
    assert_eq!(code, 0, "{err}");
    let row = csv.lines().find(|line| line.contains(",team,run_time,") && !line.contains("dedicated"));
    let row = row.unwrap();
    // Settings that are close have more seeds than these.
    let near = |field: &str| field.parse::<f64>().is_ok_and(|mean| (mean / advised - 1.0).abs() < 0.01);
    assert!(row.split(',').any(near), "{row} {advised}");
}

/// Throughput refers to dedicated runs, of as many seeds as the settings that are shown have.
#[test]
fn several_programs_are_judged_by_their_dedicated_runs() {
    let both = TEAM.replace("{ workload: hog, background: true }", "{ workload: { hog: { work: 100ms } } }");
    let folder = folder(&[("both.yaml", &both)]);
    let args = ["both.yaml", "--allow", "threads", "--draws", "0", "--format", "json"];
    for objective in ["throughput", "worst_slowdown"] {
        let (code, json, err) = advise(&folder, &[&args[..], &["--objective", objective]].concat());
        assert_eq!((code, err.as_str()), (0, ""), "{json}");
        let answer: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(answer["metric"], objective);
        assert!(answer["advised"]["mean"].as_f64().unwrap() > 0.0, "{json}");
        assert!(answer["as_it_is"]["mean"].as_f64().unwrap() > 0.0, "{json}");
    }
}

#[test]
fn programs_of_several_files_share_the_machine_of_the_first() {
    let two = "name: two\nmachine: core:2\nkernel: linux-6.18\napps:\n  late: { workload: { spmd: { work: 20ms, \
               intervals: 4 } }, tasks: 2, runtime: libgomp }\npolicies: [LOAD]\n";
    let one = two.replace("late", "early");
    let folder = folder(&[("one.yaml", &one), ("two.yaml", two)]);
    let args = ["one.yaml", "two.yaml", "--draws", "0", "--runs", "60", "--format", "markdown"];
    let (code, out, err) = advise(&folder, &args);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("## Advice for two\n") && !out.contains("**Try**"), "{out}");
    // Any number of threads gives the same bytes.
    for jobs in ["1", "2"] {
        assert_eq!(advise(&folder, &[&args[..], &["--jobs", jobs]].concat()).1, out);
    }
    let (code, _, err) = advise(&folder, &["one.yaml", "one.yaml"]);
    assert!(code == 2 && err.contains("`apps` has `early`, and"), "{err}");
}

#[test]
fn what_cannot_be_advised_is_refused() {
    let background = TEAM.replace("tasks: 8 }", "tasks: 8, background: true }");
    let short = TEAM.replace("apps:", "horizon: 1ms\napps:");
    let folder = folder(&[("team.yaml", TEAM), ("background.yaml", &background), ("short.yaml", &short)]);
    for (args, said) in [
        (&["none.yaml"][..], "none.yaml"),
        (&["background.yaml"], "no foreground application"),
        (&["team.yaml", "--program", "tam"], "there is no application `tam`"),
        (&["team.yaml", "--allow", "thread"], "threads"),
        (&["team.yaml", "--allow", "order"], "nothing that may be set has another value"),
        (&["team.yaml", "--vary", "apps.team.taks=1,2"], "taks"),
        (&["team.yaml", "--vary", "apps.team.nice"], "apps.team.nice"),
        (&["team.yaml", "--vary", "seed=[1"], "seed=[1"),
        (&["team.yaml", "--objective", "response"], "response"),
        (&["short.yaml"], "does not complete"),
    ] {
        let (code, out, err) = advise(&folder, args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}
