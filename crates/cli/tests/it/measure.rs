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
    marked_as(mark, "")
}

/// Those of them whose command has this text.
fn marked_as(mark: &str, command: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let has = |path: PathBuf| {
        let named = fs::read(path.join("cmdline"));
        named.is_ok_and(|text| String::from_utf8_lossy(&text).contains(command))
            && fs::read(path.join("environ")).is_ok_and(|text| {
                text.split(|byte| *byte == 0).any(|line| line == format!("OVERSIM_TEST={mark}").as_bytes())
            })
    };
    entries.filter(|entry| has(entry.path())).count()
}

fn eventually(what: &str, mut done: impl FnMut() -> bool) {
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

/// A scenario with a real runtime for the machine of a folder; true if this host has the commands for it.
fn real(folder: &std::path::Path, runtime: &str, intervals: u32, commands: &[&str]) -> Option<PathBuf> {
    let here = |command: &&str| Command::new(command).arg("--version").output().is_ok();
    if !commands.iter().all(here) {
        return None;
    }
    let code = format!("repeat {intervals} {{ run 100us uniform 10%; barrier }}");
    let text = format!(
        "name: real\nmachine: here.yaml\nkernel: linux-6.18\napps:\n  p: {{ runtime: {runtime}, program: {{ \
            count: 2, code: '{code}' }} }}\n  h: {{ workload: hog, cpus: [0] }}\npolicies: [PIN]\n"
    );
    let scenario = folder.join("real.yaml");
    fs::write(&scenario, text).unwrap();
    Some(scenario)
}

const RUNTIMES: [(&str, &[&str]); 3] =
    [("libgomp", &["gcc"]), ("libomp", &["clang"]), ("openmpi", &["mpicc", "mpirun"])];

#[test]
fn real_runtimes_are_measured_beside_our_own_processes() {
    if !can_measure() {
        return;
    }
    let (folder, ..) = folder(20);
    for (runtime, commands) in RUNTIMES {
        let Some(scenario) = real(folder.path(), runtime, 20, commands) else { continue };
        let args = ["measure", scenario.to_str().unwrap(), "--real", "--repeat", "1", "--format", "json"];
        let (code, out, err) = oversim(&[&args[..], &["--force", "--wait", "0"]].concat(), "");
        if code == 2 && err.contains("on Debian it is in") {
            continue;
        }
        assert_eq!(code, 0, "{runtime}: {err}");
        let result: Value = serde_json::from_str(&out).unwrap();
        let measured = result["cells"][0]["measured"]["median"].as_f64().unwrap();
        // 20 pieces of at least 90 us. A loop that is not optimised here is up to five times as fast there.
        assert!(measured > 300_000.0, "{runtime}: {measured} ns");
        let protocol = result["protocol"].as_array().unwrap();
        assert!(protocol.iter().any(|sentence| sentence.as_str().unwrap().contains("a program in C")));
    }
}

#[test]
fn no_process_and_no_file_of_a_real_runtime_is_left_when_the_parent_is_killed() {
    if !can_measure() {
        return;
    }
    let (folder, ..) = folder(20);
    for (runtime, commands) in RUNTIMES {
        let Some(scenario) = real(folder.path(), runtime, 100_000, commands) else { continue };
        let mark = format!("{}-real-{runtime}", std::process::id());
        let files = folder.path().join(runtime);
        fs::create_dir(&files).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_oversim"))
            .args([
                "measure",
                scenario.to_str().unwrap(),
                "--real",
                "--repeat",
                "1",
                "--force",
                "--wait",
                "0",
            ])
            .env("OVERSIM_TEST", &mark)
            .env("TMPDIR", &files)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The process of the program appears in the order of the applications, that of the hog behind it.
        eventually("both programs, or the end", || {
            marked_as(&mark, "host-process") == 1 || child.try_wait().unwrap().is_some()
        });
        if child.try_wait().unwrap().is_some() {
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        eventually("no process", || marked(&mark) == 0);
        let left: Vec<_> = fs::read_dir(&files).unwrap().flatten().collect();
        assert!(left.is_empty(), "{runtime}: {left:?}");
    }
}

#[test]
fn what_a_real_runtime_cannot_do_is_refused_by_name() {
    let (folder, _, scenario) = folder(20);
    let scenario = scenario.to_str().unwrap();
    let tree = "apps.p.runtime={ libgomp: { barrier: tree } }";
    let cases: [(&[&str], &str); 6] = [
        (&["measure", scenario, "--real"], "write `runtime: libgomp`"),
        (&["measure", scenario, "--real", "--set", tree], "`barrier` of `libgomp` is no setting"),
        (&["measure", scenario, "--real", "--suite"], "cannot be used with"),
        (&["measure", "--suite", "real"], "--machine"),
        (&["measure", "--suite", "other", "--machine", "here.yaml"], "possible values: own, real"),
        (&["measure", scenario, "--kind", "x"], "--suite"),
    ];
    for (args, said) in cases {
        let (code, out, err) = oversim(args, "");
        assert!(code == 2 && out.is_empty() && err.contains(said), "{args:?}: {err}");
    }
    drop(folder);
}

#[test]
fn a_measurement_of_another_host_gets_a_column() {
    let archive = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/validation-host");
    let read = |name: &str| fs::read_to_string(archive.join(name)).unwrap();
    // One scenario of the archived suite, for a short prediction.
    let mut small: Value = serde_json::from_str(&read("epyc-2vcpu.json")).unwrap();
    let (cells, all) = (small["cells"].as_array().unwrap()[..1].to_vec(), small["scenarios"].clone());
    let key = format!("{} / {}", cells[0]["kind"].as_str().unwrap(), cells[0]["scenario"].as_str().unwrap());
    small["scenarios"] = serde_json::json!({ key.as_str(): all[key.as_str()] });
    small["cells"] = Value::Array(cells);
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inside = root.path().join("docs/validation-host");
    fs::create_dir_all(&inside).unwrap();
    fs::write(inside.join("epyc-2vcpu.json"), small.to_string()).unwrap();
    fs::write(inside.join("epyc-2vcpu.yaml"), read("epyc-2vcpu.yaml")).unwrap();
    let (file, machine) = (outside.path().join("new.json"), outside.path().join("other.yaml"));
    fs::write(&file, small.to_string()).unwrap();
    fs::write(&machine, read("epyc-2vcpu.yaml").replace("name: mine", "name: other")).unwrap();
    let [root, file, machine] = [root.path(), &file, &machine].map(|path| path.to_str().unwrap().to_owned());
    let add = ["measure", "--write", &root, "--add", &file, "--machine", &machine];
    let (code, _, err) = oversim(&add, "");
    assert_eq!(code, 0, "{err}");
    let page = fs::read_to_string(format!("{root}/docs/validation-host.md")).unwrap();
    assert!(
        page.contains("On 2 hosts") && page.contains("| compute-bound programs | 100 % of 1 | 100 % of 1 |"),
        "{page}"
    );
    assert!(inside.join("new.json").exists() && inside.join("other.yaml").exists());
    // The archive alone gives the same page; another machine of that name replaces none.
    assert_eq!(oversim(&["measure", "--write", &root], "").0, 0);
    assert_eq!(fs::read_to_string(format!("{root}/docs/validation-host.md")).unwrap(), page);
    fs::write(&machine, read("epyc-2vcpu.yaml").replace("name: mine", "name: another")).unwrap();
    let (code, _, err) = oversim(&add, "");
    assert!(code == 2 && err.contains("exists: --force replaces it"), "{err}");
    let (code, _, err) = oversim(&["measure", "--write", &root, "--machine", &machine], "");
    assert!(code == 2 && err.contains("leave out --machine"), "{err}");
}
