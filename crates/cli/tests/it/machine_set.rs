//! `oversim machine set`: files that are written are shown and simulated, and the measured rates come back.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::oversim;

const MACHINE: &str = "package:2 numa:1 core:8 pu:2";

fn log(name: &str) -> String {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines/tests/logs");
    logs.join(name).to_str().unwrap().to_owned()
}

/// The mean time of tasks that only read, so many of them on the first NUMA node.
fn time(folder: &Path, tasks: u32) -> f64 {
    let scenario = format!(
        "name: reading\nmachine: ./box.yaml\napps:\n  a:\n    tasks: {tasks}\n    cpus: 0-15:2\n    workload: \
         {{ spmd: {{ grain: 100ms, intervals: 20, spread: 0%, demand: 900GB/s, bound: 100% }} }}\n\
         policies: [PIN]\n"
    );
    let path = folder.join("s.yaml");
    fs::write(&path, scenario).unwrap();
    let (code, out, err) = oversim(&["run", path.to_str().unwrap(), "--quiet", "--format", "json"], "");
    assert_eq!(code, 0, "{err}");
    let result: Value = serde_json::from_str(&out).unwrap();
    let cells = result["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["metric"] == "run_time").unwrap()["mean"].as_f64().unwrap()
}

#[test]
fn a_measured_machine_is_shown_and_gives_its_rates_back() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("box.yaml");
    let file = file.to_str().unwrap();
    let from = log("likwid-load.txt");
    let (code, out, err) = oversim(&["machine", "set", MACHINE, "--from", &from, "-o", file], "");
    assert!(code == 0 && out.is_empty() && err.contains("box.yaml: core_bandwidth 14."), "{err}");
    let (code, shown, err) = oversim(&["machine", "show", file], "");
    assert!(code == 0 && err.is_empty() && shown.starts_with("box: "), "{shown}{err}");
    assert!(shown.contains("likwid-bench, load with 1 thread: 14,479 MB/s"), "{shown}");
    // Eight cores read 51,210.62 MB/s together, one 14,479.33 MB/s.
    let slower = time(folder.path(), 8) / time(folder.path(), 1);
    let wanted = 8.0 * 14_479.33 / 51_210.62;
    assert!((slower / wanted - 1.0).abs() < 0.002, "{slower} is not {wanted}");
    // A second one adds to the first.
    let more = folder.path().join("more.yaml");
    let more = more.to_str().unwrap();
    let (code, _, err) = oversim(&["machine", "set", file, "--from", &log("mlc.txt"), "-o", more], "");
    assert!(
        code == 0 && err.contains("warning: not taken: Memory Latency Checker, loaded latencies"),
        "{err}"
    );
    let text = fs::read_to_string(more).unwrap();
    assert!(text.contains("name: \"more\"") && text.contains("core_bandwidth: { value: 14."), "{text}");
    assert!(text.contains("distances: { value: [[1, 1.64], [1.6, 1]]"), "{text}");
}

#[test]
fn what_cannot_be_set_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (new, text, cut) = (path("new.yaml"), path("notes.txt"), path("cut.txt"));
    fs::write(&text, "hello\n").unwrap();
    let whole = fs::read_to_string(log("stream-16.txt")).unwrap();
    fs::write(&cut, whole.split_once("Add:").unwrap().0).unwrap();
    let (stream, given) = (log("stream-16.txt"), "poll=80ns");
    for (from, said) in [
        (vec![MACHINE, "--from", text.as_str()], "notes.txt:1:1"),
        (vec![MACHINE, "--from", text.as_str()], "these are read: STREAM"),
        (vec![MACHINE, "--from", cut.as_str()], "the rate of Add is missing"),
        (vec!["core:4", "--from", stream.as_str()], "stream-16.txt:14:1"),
        (vec!["nowhere", "--from", stream.as_str()], "unknown machine `nowhere`"),
        (vec![MACHINE, "--from", "none.txt"], "cannot read none.txt"),
        (vec![MACHINE], "required"),
        (vec![MACHINE, "--value", given], "--source"),
        (vec![MACHINE, "--value", "poll", "--source", "x"], "write `--value core_bandwidth=12GB/s`"),
        (vec![MACHINE, "--value", given, "--source", "x", "--source", "y"], "1 --value and 2 --source"),
        (vec![MACHINE, "--value", "pol=1ns", "--source", "x"], "did you mean `poll`?"),
    ] {
        let (code, out, err) = oversim(&[&["machine", "set"][..], &from, &["-o", &new]].concat(), "");
        assert!(code == 2 && out.is_empty() && err.contains(said), "{from:?}: {err}");
        assert!(!Path::new(&new).exists(), "{from:?}");
    }
    let (code, _, err) = oversim(&["machine", "set", MACHINE, "--from", &cut, "-o", &cut, "--force"], "");
    assert!(code == 2 && err.contains("also read by this command"), "{err}");
    let (code, out, _) = oversim(&["machine", "set", MACHINE, "--from", "-"], &whole);
    assert!(code == 0 && out.contains("in <stdin> line 30"), "{out}");
}
