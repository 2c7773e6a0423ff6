//! `oversim kernel`: the list, the rules of a kernel, and two kernels compared.

use crate::support;

fn oversim(args: &[&str]) -> (i32, String, String) {
    support::oversim(args, "")
}

#[test]
fn the_list_has_a_line_for_each_kernel() {
    let (code, listed, err) = oversim(&["kernel", "list"]);
    assert!(code == 0 && err.is_empty(), "{err}");
    let (_, names, _) = oversim(&["list", "kernels", "--format", "json"]);
    let names: serde_json::Value = serde_json::from_str(&names).unwrap();
    let names = names.as_array().unwrap();
    assert_eq!(listed.lines().count(), names.len() + 1);
    assert!(listed.lines().any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        columns == ["linux-6.18", "EEVDF", "LOAD", "4ms"]
    }));
}

#[test]
fn a_kernel_shows_its_rules_with_value_releases_and_source() {
    let (code, shown, _) = oversim(&["kernel", "show", "linux-2.6.27"]);
    assert_eq!(code, 0);
    assert!(shown.contains("\n  fuzz = 2  (linux-2.6.27)\n"), "{shown}");
    assert!(shown.contains("SCHED_LOAD_SCALE_FUZZ"));
    let (code, json, _) = oversim(&["kernel", "show", "linux-2.6.27", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, json["rules"][0]["name"].as_str()), (0, Some("yield")));
}

#[test]
fn a_release_of_a_running_system_is_the_nearest_kernel() {
    let (code, shown, err) = oversim(&["kernel", "show", "2.6.29-4-generic"]);
    assert_eq!(code, 0);
    assert!(shown.starts_with("linux-2.6.28:"), "{shown}");
    assert!(err.contains("the nearest kernel of the list is linux-2.6.28"), "{err}");
    let (code, _, err) = oversim(&["kernel", "show", "linus-6.18"]);
    assert!(code == 2 && err.contains("did you mean"), "{err}");
}

/// A program on two cpus under two kernels: the rules that differ, and a line for each of them.
#[test]
fn two_kernels_are_compared_rule_by_rule() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    let scenario = "name: s\nmachine: core:2\napps: { a: { workload: { spmd: { work: 40ms, intervals: 4 } }, \
                    runtime: block, tasks: 3 } }\npolicies: [PIN]\nrepeat: 2\n";
    std::fs::write(&file, scenario).unwrap();
    let diff = ["kernel", "diff", "linux-2.6.28", "linux-2.6.30"];
    let on = file.to_str().unwrap();
    let run = |more: &[&str]| oversim(&[&diff[..], more].concat());
    let (code, text, err) = run(&["--on", on]);
    assert!(code == 0 && err.is_empty(), "{err}");
    let rules = ["all rules", "normalized_sleeper", "clear_buddies", "adaptive_gran", "newidle_walks_on"];
    for rule in rules {
        assert!(text.contains(rule), "{rule}: {text}");
    }
    let (_, csv, _) = run(&["--on", on, "--format", "csv"]);
    assert_eq!(csv.lines().count(), 1 + rules.len());
    let (_, one, _) = run(&["--on", on, "--format", "csv", "--jobs", "1"]);
    assert_eq!(csv, one, "the number of threads shows nowhere");
    let (code, only, _) = run(&["--rules-only", "--format", "csv"]);
    assert_eq!((code, only.lines().nth(1)), (0, Some("normalized_sleeper,true,false")));
    let (_, same, _) = oversim(&["kernel", "diff", "linux-6.18", "linux-6.18"]);
    assert_eq!(same, "linux-6.18 and linux-6.18 have the same rules.\n");
    let (code, _, err) = run(&["--on", "no-such-scenario.yaml"]);
    assert!(code == 2 && !err.is_empty());
}
