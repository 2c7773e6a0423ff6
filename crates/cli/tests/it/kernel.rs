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

/// The picture has a file of its numbers beside it; files that exist stay, and other endings are refused.
#[test]
fn the_effects_of_rules_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let (file, picture) = (folder.path().join("s.yaml"), folder.path().join("effects.svg"));
    let scenario = "name: s\nmachine: core:2\napps: { a: { workload: { spmd: { work: 40ms, intervals: 4 } }, \
                    runtime: yield, tasks: 2 }, h: { workload: hog, tasks: 1 } }\npolicies: [PIN]\nrepeat: 1\n";
    std::fs::write(&file, scenario).unwrap();
    let draw = |to: &std::path::Path, more: &[&str]| {
        let diff = ["kernel", "diff", "linux-6.12.0", "linux-6.18", "--on", file.to_str().unwrap()];
        oversim(&[&diff[..], &["--output", to.to_str().unwrap()], more].concat())
    };
    let (code, _, err) = draw(&folder.path().join("effects.gif"), &[]);
    assert!(code == 2 && err.contains("must end in .svg, .png or .pdf"), "{err}");
    let (code, text, err) = draw(&picture, &[]);
    assert!(code == 0 && text.contains("all rules"), "{err}");
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("From linux-6.12.0 to linux-6.18"));
    let numbers = std::fs::read_to_string(folder.path().join("effects.csv")).unwrap();
    assert!(numbers.starts_with("program,changed,mean_ratio,least_ratio,largest_ratio\n"), "{numbers}");
    assert!(numbers.contains(",all,") && numbers.contains(",yield,"), "{numbers}");
    let (code, ..) = draw(&picture, &[]);
    assert_eq!(code, 2, "the file exists");
    assert_eq!(draw(&picture, &["--force"]).0, 0);
}

/// Each kernel balances by its own policy, also one of another system.
#[test]
fn kernels_of_two_systems_are_compared_under_their_own_balancers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    let scenario = "name: s\nmachine: core:2\napps: { a: { workload: { spmd: { work: 12s, intervals: 1 } }, \
                    tasks: 3 } }\nrepeat: 1\nbaseline: none\n";
    std::fs::write(&file, scenario).unwrap();
    let name = file.to_str().unwrap();
    let diff = ["kernel", "diff", "linux-2.6.28", "freebsd-7", "--format", "csv", "--on", name];
    let (code, csv, err) = oversim(&diff);
    assert_eq!(code, 0, "{err}");
    let all: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    for (kernel, policy, found) in [("linux-2.6.28", "LOAD", all[4]), ("freebsd-7", "ULE", all[5])] {
        let kernel = format!("kernel={kernel}");
        let run = ["run", name, "--set", &kernel, "--policy", policy, "--format", "csv"];
        let (_, cells, err) = oversim(&run);
        let makespan = cells.lines().find(|line| line.contains("makespan")).expect(&err);
        assert!(makespan.contains(found), "{kernel} {policy}: {found}, {makespan}");
    }
}
