//! `oversim why`: two policies, two values and two files; pictures, formats, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support;

const SCENARIO: &str = "name: s
machine: \"package:2 numa:1 core:1\"
apps:
  a: { workload: { spmd: { work: 40ms, intervals: 1, demand: 2GB/s, bound: 60% } }, tasks: 1, cpus: '1' }
policies: [PIN]
baseline: none
";

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_mechanism_of_a_difference_is_named_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = file(&folder, "s.yaml", SCENARIO);
    let svg = folder.path().join("why.svg");
    let args =
        ["why", &scenario, "--vary", "apps.a.workload.pages=first-touch,node0", "-o", svg.to_str().unwrap()];
    let (code, out, err) = support::oversim(&args, "");
    assert_eq!((code, err.as_str()), (0, ""), "{err}");
    assert!(out.starts_with("The run time of `a` is "), "{out}");
    assert!(out.contains("Most of it goes away by moving `machine.remote_factor=1`"), "{out}");
    assert!(out.lines().count() <= 25 && out.lines().all(|line| line.chars().count() <= 100), "{out}");
    let csv = std::fs::read_to_string(folder.path().join("why.csv")).unwrap();
    assert!(csv.starts_with("moved,about,part,ci95_lo,ci95_hi,shown\n"), "{csv}");
    assert!(csv.contains("machine.remote_factor=1") && svg.exists());
    // Files are not replaced unless that is wanted.
    let (code, _, err) = support::oversim(&args, "");
    assert!(code == 2 && err.contains("--force"), "{err}");
}

#[test]
fn json_has_all_mechanisms_and_the_same_bytes_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = file(&folder, "s.yaml", SCENARIO);
    let of = |jobs: &str| {
        let vary = "apps.a.workload.pages=first-touch,node0";
        support::oversim(&["why", &scenario, "--vary", vary, "--format", "json", "-j", jobs, "-r", "2"], "")
    };
    let (code, out, _) = of("1");
    assert_eq!((code, &out), (0, &of("3").1));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["mechanisms"][0]["name"], "machine.remote_factor=1");
    assert_eq!((json["shown"].as_bool(), json["replicates"].as_u64()), (Some(true), Some(2)));
    assert_eq!(json["sentences"].as_array().unwrap().len(), 3);
}

#[test]
fn of_two_files_each_setting_that_differs_is_moved() {
    let folder = tempfile::tempdir().unwrap();
    let one = file(&folder, "one.yaml", SCENARIO);
    let two = SCENARIO.replace("bound: 60% }", "bound: 60%, pages: node0 }").replace("[PIN]", "[LOAD]");
    let two = file(&folder, "two.yaml", &two);
    let (code, out, err) = support::oversim(&["why", &one, &two, "--format", "markdown"], "");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("`apps.a.workload.pages: first-touch -> node0`"), "{out}");
    assert!(out.contains("two.yaml") || out.contains(" in two"), "{out}");
}

#[test]
fn what_has_no_two_sides_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = file(&folder, "s.yaml", SCENARIO);
    let s = scenario.as_str();
    for (args, why) in [
        (vec!["why", s], "a difference has two sides"),
        (vec!["why", s, "--policy", "LOAD,PIN,SPEED"], "a difference has two sides"),
        (vec!["why", s, "--vary", "seed"], "the values are missing"),
        (vec!["why", s, "--vary", "apps.a.tasks=1,2,3"], "3 values"),
        (vec!["why", s, "--vary", "apps.b.tasks=1,2"], "apps.b"),
        (vec!["why", s, "--policy", "LOAD,NOPE"], "NOPE"),
        (vec!["why", s, "--policy", "LOAD,PIN", "--repeat", "1"], "at least 2"),
        (vec!["why", s, "--policy", "LOAD,PIN", "--sweep", "seed=1,2"], "--sweep"),
        (vec!["why", s, "--policy", "LOAD,PIN", "-o", "why.txt"], ".svg, .png or .pdf"),
        (vec!["why", s, s, "--policy", "LOAD,PIN"], "one of them"),
    ] {
        let (code, out, err) = support::oversim(&args, "");
        assert!(code == 2 && out.is_empty() && err.contains(why), "{args:?}: {code} {err}");
    }
}
