//! `oversim machine show`, and scenarios that name a machine file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn oversim(args: &[&str]) -> (i32, String, String) {
    support::oversim(args, "")
}

const MINE: &str = "\
name: mine
summary: two nodes
topology: { value: 'package:2 numa:1 core:2', source: lscpu }
values: { core_speed: { value: 2, source: clock } }
lists: { turbo: { value: [1.2, 1.1], source: data sheet } }
";

const SCENARIO: &str = "\
name: by_file
machine: machines/mine.yaml
apps: { a: { workload: { spmd: { work: 40ms, intervals: 2 } } } }
policies: [PIN]
";

/// A folder with a scenario and, below it, its machine.
fn folder(machine: &str, scenario: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("machines")).unwrap();
    fs::write(folder.path().join("machines/mine.yaml"), machine).unwrap();
    fs::write(folder.path().join("s.yaml"), scenario).unwrap();
    let path = folder.path().join("s.yaml").to_string_lossy().into_owned();
    (folder, path)
}

/// OVERSIM_UPDATE=1 rewrites the expected text; read the difference before it is kept.
#[test]
fn barcelona_is_shown_as_before() {
    let (code, shown, err) = oversim(&["machine", "show", "barcelona", "--kernel", "linux-2.6.28"]);
    assert!(code == 0 && err.is_empty(), "{err}");
    let golden: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/machine_show_barcelona.txt");
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&golden, &shown).unwrap();
    }
    assert_eq!(shown, fs::read_to_string(&golden).unwrap());
}

#[test]
fn a_thousand_cores_are_drawn_once() {
    let (code, shown, _) = oversim(&["machine", "show", "package:8 numa:4 cache:4 core:8"]);
    let tree: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("Tree")).take(6).collect();
    assert_eq!(code, 0);
    assert!(tree[5].contains("8 x core: 1 cpu (0, 1, ..., 1023)"), "{tree:?}");
    assert!(shown.lines().count() < 100, "{shown}");
}

#[test]
fn json_holds_the_same() {
    let (code, shown, _) = oversim(&["machine", "show", "nehalem", "--format", "json"]);
    let view: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((code, view["cpus"].as_u64(), view["cores"].as_u64()), (0, Some(16), Some(8)));
    assert_eq!(view["turbo"], serde_json::json!([["1.111", "1.111", "1.056", "1.056"]]));
    let smt = &view["domains"][0];
    assert_eq!((smt["name"].as_str(), smt["cpus"].as_u64()), (Some("SMT"), Some(2)));
    let values = view["values"].as_array().unwrap();
    assert!(values.iter().all(|row| !row["source"].as_str().unwrap().is_empty()));
}

#[test]
fn unknown_machines_and_kernels_are_refused() {
    let (code, out, err) = oversim(&["machine", "show", "barcelna"]);
    assert!(code == 2 && out.is_empty() && err.contains("did you mean `barcelona`?"), "{err}");
    let (code, _, err) = oversim(&["machine", "show", "barcelona", "--kernel", "linux-2.6.82"]);
    assert!(code == 2 && err.contains("did you mean `linux-2.6.28`?"), "{err}");
    let (code, _, err) = oversim(&["machine", "show", "nowhere/m.yaml"]);
    assert!(code == 2 && err.contains("cannot read the machine file nowhere/m.yaml"), "{err}");
    assert_eq!(oversim(&["machine"]).0, 2);
}

#[test]
fn a_machine_of_a_file_is_shown_and_simulated() {
    let (folder, scenario) = folder(MINE, SCENARIO);
    let file = folder.path().join("machines/mine.yaml");
    let (code, shown, err) = oversim(&["machine", "show", file.to_str().unwrap()]);
    assert!(
        code == 0 && shown.starts_with("mine: two nodes") && shown.contains("cores 0-3: 2"),
        "{shown}{err}"
    );
    let run = |more: &[&str]| {
        let (code, out, err) = oversim(&[&["run", &scenario, "--quiet", "--format", "json"], more].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let result = run(&[]);
    assert_eq!(result["provenance"]["machines"][0]["name"], "mine");
    // The file is part of what the result was made from.
    fs::write(&file, MINE.replace("two nodes", "two  nodes")).unwrap();
    let other = run(&[]);
    assert_ne!(result["provenance"]["scenario_sha256"], other["provenance"]["scenario_sha256"]);
    let slower = run(&["--set", "machine.core_speed=1"]);
    let time = |result: &Value| {
        let cells = result["cells"].as_array().unwrap();
        cells.iter().find(|c| c["metric"] == "run_time").unwrap()["mean"].as_f64().unwrap()
    };
    // Starting the tasks does not depend on the speed of the cores.
    assert!((time(&slower) / time(&result) - 2.0).abs() < 0.05, "{} {}", time(&slower), time(&result));
}

#[test]
fn broken_machine_files_are_shown_with_file_and_line() {
    for (machine, said) in [
        (MINE.replace("core_speed", "core_sped"), "mine.yaml:4:11"),
        (MINE.replace("value: 2, source: clock", "value: 2GHz, source: clock"), "mine.yaml:4:32"),
        (MINE.replace("[1.2, 1.1]", "[1.2, 1.1, 1]"), "there are 2 cores in a package"),
        (MINE.replace("name: mine", "name: barcelona"), "is the name of a built-in machine"),
        (String::new(), "the machine file is empty"),
        ("\0".to_owned(), "zero byte"),
        (MINE.replace("core:2", "core:4000000"), "more than"),
    ] {
        let (folder, scenario) = folder(&machine, SCENARIO);
        let (code, _, err) = oversim(&["check", &scenario]);
        assert!(code == 2 && err.contains(said) && err.contains("mine.yaml"), "{said}: {err}");
        let file = folder.path().join("machines/mine.yaml");
        let (code, _, err) = oversim(&["machine", "show", file.to_str().unwrap()]);
        assert!(code == 2 && err.contains(said), "{said}: {err}");
    }
    let (_folder, scenario) = folder(MINE, &SCENARIO.replace("mine.yaml", "yours.yaml"));
    let (code, _, err) = oversim(&["check", &scenario]);
    assert!(code == 2 && err.contains("s.yaml:2:10") && err.contains("cannot read"), "{err}");
}

#[test]
fn more_slow_cores_than_a_package_has_are_refused() {
    let (_folder, scenario) = folder(MINE, SCENARIO);
    let (code, _, err) = oversim(&["check", &scenario, "--set", "machine.slow_cores=3"]);
    assert!(code == 2 && err.contains("a package has 2 cores"), "{err}");
    assert_eq!(oversim(&["check", &scenario, "--set", "machine.slow_cores=2"]).0, 0);
    assert_eq!(oversim(&["check", &scenario, "--set", "machine.turbo=false"]).0, 0);
}

#[test]
fn an_imported_machine_is_shown_checked_and_simulated() {
    let (folder, scenario) = folder(MINE, SCENARIO);
    let file = folder.path().join("machines/mine.yaml");
    let file = file.to_str().unwrap();
    let text = "pack:2 [numa] l3:1(size=32MB) core:4 pu:2(indexes=2*8:1*2)";
    let import = ["machine", "import", "--synthetic", text, "-o", file];
    let (code, out, err) = oversim(&import);
    assert!(code == 2 && out.is_empty() && err.contains("exists; --force replaces it"), "{err}");
    let (code, out, err) = oversim(&[&import[..], &["--force"]].concat());
    assert!(code == 0 && out.is_empty() && err.contains("package:2 numa:1 cache:1 core:4 pu:2"), "{err}");
    let (code, shown, err) = oversim(&["machine", "show", file]);
    assert!(code == 0 && err.is_empty() && shown.starts_with("mine: 2 packages"), "{shown}{err}");
    assert!(shown.contains("cpus 0-15: 0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15"), "{shown}");
    let (_, shown, _) = oversim(&["machine", "show", file, "--format", "json"]);
    let view: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((view["cpu_numbers"][1].as_u64(), view["cpus"].as_u64()), (Some(8), Some(16)));
    let (code, _, err) = oversim(&["check", &scenario]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = oversim(&["run", &scenario, "--quiet"]);
    assert_eq!(code, 0, "{err}");
    let (code, line, _) = oversim(&["machine", "export", file, "--synthetic"]);
    assert!(code == 0 && line.starts_with("Package:2 [NUMANode] L3Cache:1(size=32000000)"), "{line}");
    assert!(line.trim_end().ends_with("PU:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)"), "{line}");
}

#[test]
fn what_cannot_be_imported_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (new, bad) = (path("new.yaml"), path("bad.xml"));
    fs::write(&bad, "<topology>\n</topology>\n").unwrap();
    fs::write(path("bytes.xml"), [0xff, 0x00, 0x80]).unwrap();
    let sys = path("empty");
    fs::create_dir(&sys).unwrap();
    for (from, said) in [
        (vec![bad.as_str()], "bad.xml:1:1"),
        (vec![path("bytes.xml").as_str()], "bytes.xml"),
        (vec![path("none.xml").as_str()], "No such file"),
        (vec!["--synthetic", "pack:2 coer:2 pu:1"], "--synthetic:1:8"),
        (vec!["--synthetic", "pack:1000000 core:1000000 pu:1"], "more than 1048576 cpus"),
        (vec!["--host", "--root", sys.as_str()], "sys/devices/system/cpu/online"),
        (vec!["--host", "--synthetic", "pu:1"], "cannot be used with"),
        (vec![], "required"),
        (vec!["--synthetic", "pu:1", "--root", "x"], "cannot be used with"),
    ] {
        let (code, out, err) = oversim(&[&["machine", "import", "-o", &new][..], &from].concat());
        assert!(code == 2 && out.is_empty() && err.contains(said), "{from:?}: {err}");
        assert!(!Path::new(&new).exists(), "{from:?}");
    }
    let (code, _, err) = oversim(&["machine", "import", &bad, "-o", &bad, "--force"]);
    assert!(code == 2 && err.contains("also read by this command"), "{err}");
    let (code, out, _) = support::oversim(&["machine", "import", "-"], "<html/>");
    assert!(code == 2 && out.is_empty());
    assert_eq!(oversim(&["machine", "export", "epyc"]).0, 2);
    assert_eq!(oversim(&["machine", "export", "epic", "--synthetic"]).0, 2);
}
