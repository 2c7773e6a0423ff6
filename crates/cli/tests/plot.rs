//! `oversim plot`: files, bytes, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::path::Path;

use support::oversim;

const SCENARIO: &str = "\
name: small
machine: \"core:2\"
apps:
  fine: { workload: { spmd: { work: 20ms, intervals: 20, spread: 20% } } }
  coarse: { workload: { spmd: { work: 30ms, intervals: 2 } } }
policies: [LOAD, PIN]
sweep: { threads_per_core: [1, 2] }
repeat: 2
";

/// Names and bytes of the files in a directory, in order.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_scenario_and_its_result_give_the_same_figures_with_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (code, said, errors) = oversim(&["plot", "-", "-o", &at("a"), "--jobs", "1"], SCENARIO);
    assert_eq!((code, errors.as_str()), (0, ""), "{said}");
    let (code, result, _) = oversim(&["run", "-", "--format", "json"], SCENARIO);
    assert_eq!(code, 0);
    fs::write(at("r.json"), result).unwrap();
    assert_eq!(oversim(&["plot", &at("r.json"), "-o", &at("b")], "").0, 0);
    let all = files(&folder.path().join("a"));
    assert_eq!(all, files(&folder.path().join("b")));
    let last = format!("8 figures in {}: each as SVG, its numbers as CSV.", at("a"));
    assert_eq!(said.lines().last().unwrap(), last);
    assert_eq!(all.len(), 2 * said.lines().filter(|line| line.contains(".svg: ")).count());
    for (name, bytes) in &all {
        let (stem, ending) = name.split_once('.').unwrap();
        let other = if ending == "svg" { "csv" } else { "svg" };
        assert!(all.iter().any(|(twin, _)| *twin == format!("{stem}.{other}")), "{name} is alone");
        assert!(bytes.len() > 100, "{name}");
    }
    let numbers = fs::read_to_string(at("a/slowdown.csv")).unwrap();
    assert!(numbers.starts_with("configuration,policy,app,metric,unit,mean,"), "{numbers}");
}

#[test]
fn png_is_the_same_picture_in_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let args = ["plot", "-", "--format", "png", "--figure", "slowdown,breakdown", "-o"];
    for name in ["a", "b"] {
        let (code, _, errors) = oversim(&[&args[..], &[&at(name)]].concat(), SCENARIO);
        assert_eq!((code, errors.as_str()), (0, ""));
    }
    let all = files(&folder.path().join("a"));
    assert_eq!(all, files(&folder.path().join("b")));
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["breakdown.csv", "breakdown.png", "slowdown.csv", "slowdown.png"]);
    assert!(all[1].1.starts_with(b"\x89PNG"));
}

#[test]
fn figures_without_data_are_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("f").to_string_lossy().into_owned();
    let lone = SCENARIO.replace("sweep: { threads_per_core: [1, 2] }\n", "");
    let (code, said, _) =
        oversim(&["plot", "-", "-o", &out, "--figure", "sweep,heatmap,speedup", "--policy", "PIN"], &lone);
    assert_eq!(code, 0, "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "speedup skipped: needs two policies",
            "sweep skipped: needs a sweep",
            "heatmap skipped: needs two policies and a sweep",
            "No figure was drawn."
        ]
    );
    assert!(!Path::new(&out).exists(), "nothing to write, no directory");
}

#[test]
fn what_cannot_be_drawn_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let refused = |args: &[&str], stdin: &str, why: &str| {
        let (code, said, errors) = oversim(args, stdin);
        assert_eq!(code, 2, "{args:?}: {said}{errors}");
        assert!(said.is_empty() && errors.contains(why), "{args:?}: {errors}");
    };
    fs::write(at("x.json"), "name: x\n").unwrap();
    refused(&["plot", &at("x.json"), "-o", &at("o")], "", "x.json:1:");
    fs::write(at("old.json"), "{\"schema\": \"oversim.result/1\"}").unwrap();
    refused(&["plot", &at("old.json"), "-o", &at("o")], "", "run its scenario again");
    refused(&["plot", &at("none.yaml"), "-o", &at("o")], "", "cannot read");
    refused(&["plot", "-", "-o", &at("x.json")], SCENARIO, "x.json is not a directory");
    refused(&["plot", "-", "-o", &at("x.json/deeper")], SCENARIO, "x.json is not a directory");
    refused(
        &["plot", "-", "--figure", "pie", "-o", &at("o")],
        SCENARIO,
        "no figure is called `pie`. Valid: slowdown,",
    );
    refused(&["plot", "-", "-o", &at("o")], &SCENARIO.replace("PIN", "PNI"), "did you mean `PIN`?");
    let (_, result, _) = oversim(&["run", "-", "--format", "json"], SCENARIO);
    fs::write(at("r.json"), result).unwrap();
    refused(&["plot", &at("r.json"), "--repeat", "9", "-o", &at("o")], "", "applies to scenarios only");
    assert!(!Path::new(&at("o")).exists());
    assert_eq!(oversim(&["plot", &at("r.json"), "-o", &at("o")], "").0, 0);
    let before = files(Path::new(&at("o")));
    refused(&["plot", &at("r.json"), "-o", &at("o")], "", "--force replaces it");
    assert_eq!(oversim(&["plot", &at("r.json"), "-o", &at("o"), "--force"], "").0, 0);
    assert_eq!(before, files(Path::new(&at("o"))));
}
