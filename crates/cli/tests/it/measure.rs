//! Measurements on this host: structure, refusals, and that no process is left. No test depends on times.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::oversim;
use serde_json::Value;

fn cpus() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

/// A machine of this host's size and a scenario for it, in a folder.
fn folder(intervals: u32) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let machine = folder.path().join("here.yaml");
    let text = format!(
        "name: here\nsummary: this host\nkernel: {{ value: linux-6.18, source: test }}\ntopology: {{ value: \
            'core:{}', source: test }}\n",
        cpus()
    );
    fs::write(&machine, text).unwrap();
    let scenario = folder.path().join("small.yaml");
    let text = format!(
        "name: small\nmachine: here.yaml\nkernel: linux-6.18\napps:\n  p: {{ workload: {{ spmd: {{ grain: \
            100us, intervals: {intervals} }} }}, runtime: block, tasks: 2 }}\n  h: {{ workload: hog, cpus: \
            [0] }}\npolicies: [PIN, LOAD]\n"
    );
    fs::write(&scenario, text).unwrap();
    (folder, machine, scenario)
}

/// True where the kernel has the scheduler of the model.
fn can_measure() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 6)
}

#[test]
fn a_measurement_has_its_form() {
    if !can_measure() {
        return;
    }
    let (folder, _, scenario) = folder(20);
    let file = folder.path().join("out.json");
    let args = ["measure", scenario.to_str().unwrap(), "--repeat", "1", "-o", file.to_str().unwrap()];
    let (code, out, err) = oversim(&[&args[..], &["--force", "--wait", "0"]].concat(), "");
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("small PIN p") && out.contains("small LOAD p") && out.contains("fair share"),
        "{out}"
    );
    let (_, schema, _) = oversim(&["schema", "measurement"], "");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let result: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert!(jsonschema::is_valid(&schema, &result));
    assert_eq!(result["schema"], "oversim.measurement/1");
    assert_eq!(result["cells"].as_array().unwrap().len(), 2, "the hog is no cell");
    // A second time the file is refused.
    let (code, _, err) = oversim(&args, "");
    assert!(code == 2 && err.contains("exists"), "{err}");
}

#[test]
fn a_busy_host_is_not_measured() {
    if !can_measure() {
        return;
    }
    let (folder, _, scenario) = folder(20);
    let file = folder.path().join("out");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..cpus() {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let wait = ["--wait", "0", "-o", file.to_str().unwrap()];
        for args in [&["calibrate", "host", "--quick"][..], &["measure", scenario.to_str().unwrap()][..]] {
            let (code, out, err) = oversim(&[args, &wait[..]].concat(), "");
            assert_eq!((code, out.as_str()), (1, ""), "{err}");
            assert!(err.contains("the host is busy: others use ") && err.contains("--force"), "{err}");
            assert!(!file.exists());
        }
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_cannot_be_executed_is_refused_before_anything_runs() {
    let (folder, machine, scenario) = folder(20);
    let scenario = scenario.to_str().unwrap();
    let file = folder.path().join("none.json");
    let cases: [(&[&str], &str); 6] = [
        (&["measure", "cg_ft_share"], "calibrate host -o mine.yaml"),
        (&["measure", scenario, "--policy", "SPEED"], "`SPEED` is not executed"),
        (&["measure", scenario, "--set", "kernel=linux-2.6.28"], "kernel: linux-6.18"),
        (&["measure", scenario, "--set", "apps.p.runtime=upc"], "barrier: central"),
        (&["measure", scenario, "--repeat", "0"], "--repeat is a number"),
        (&["measure", "--suite"], "--machine"),
    ];
    for (args, said) in cases {
        let mut all = args.to_vec();
        all.extend(["-o", file.to_str().unwrap()]);
        let (code, out, err) = oversim(&all, "");
        assert!(code == 2 && out.is_empty() && err.contains(said), "{args:?}: {err}");
        assert!(!file.exists());
    }
    let (code, _, err) = oversim(&["calibrate", "host", "--check", scenario], "");
    assert!(code == 2 && err.contains("small.yaml"), "{err}");
    let (code, _, err) = oversim(&["calibrate", "host", "--name", "a b"], "");
    assert!(code == 2 && err.contains("valid machine name"), "{err}");
    drop((folder, machine));
}

#[test]
fn predictions_can_be_published_before_they_are_measured() {
    if !can_measure() {
        return;
    }
    let (folder, _, scenario) = folder(20);
    let scenario = scenario.to_str().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, measured) = (path("predictions.json"), path("measured.json"));
    let force = ["--repeat", "1", "--policy", "PIN", "--force", "--wait", "0"];
    let only = [&["measure", scenario, "--predict-only", "-o", &file][..], &force].concat();
    let (code, out, err) = oversim(&only, "");
    assert!(code == 0 && out.contains("small PIN p: "), "{out}{err}");
    let hash = out.trim_end().rsplit(' ').next().unwrap().to_owned();
    let given = |hash: &str, set: &[&str]| {
        let from = ["measure", scenario, "--predicted", &file, "--hash", hash, "-o", &measured];
        oversim(&[&from[..], &force, set].concat(), "")
    };
    for (hash, set, said) in [
        ("00ff", &[][..], "has the SHA-256"),
        (hash.as_str(), &["--set", "apps.p.workload.grain=200us"], "nothing was measured"),
    ] {
        let (code, out, err) = given(hash, set);
        assert!(code == 2 && out.is_empty() && err.contains(said), "{err}");
        assert!(!PathBuf::from(&measured).exists());
    }
    let (code, _, err) = given(&hash, &[]);
    assert_eq!(code, 0, "{err}");
    let result: Value = serde_json::from_str(&fs::read_to_string(&measured).unwrap()).unwrap();
    assert_eq!(result["predictions"], hash.as_str());
    // What other tasks do was looked at on each cpu.
    assert_eq!(result["host"]["others"].as_array().unwrap().len(), cpus());
}

#[test]
fn the_hidden_process_refuses_what_is_no_order() {
    let (code, out, _) = oversim(&["host-process"], "{}\n");
    assert!(code == 1 && out.contains("no order"), "{out}");
}

/// Processes with this mark in their environment, which processes inherit.
fn marked(mark: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let has = |path: PathBuf| {
        fs::read(path.join("environ")).is_ok_and(|text| {
            text.split(|byte| *byte == 0).any(|line| line == format!("OVERSIM_TEST={mark}").as_bytes())
        })
    };
    entries.filter(|entry| has(entry.path())).count()
}

fn eventually(what: &str, done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn no_process_is_left_when_the_parent_is_killed() {
    if !can_measure() {
        return;
    }
    let (_folder, _, scenario) = folder(200_000);
    for signal in ["KILL", "TERM"] {
        let mark = format!("{}-{signal}", std::process::id());
        let mut child = Command::new(env!("CARGO_BIN_EXE_oversim"))
            .args(["measure", scenario.to_str().unwrap(), "--repeat", "1", "--policy", "PIN", "--force"])
            .env("OVERSIM_TEST", &mark)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        eventually("the processes of both programs", || marked(&mark) == 3);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
        child.wait().unwrap();
        eventually("no process", || marked(&mark) == 0);
    }
}
