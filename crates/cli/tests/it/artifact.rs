//! `oversim artifact`: a study packed, its originals deleted, and verified elsewhere.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assert_cmd::cargo::CommandCargoExt;
use tempfile::TempDir;

/// A scenario that names a machine file outside of its directory and a policy file beside it.
const STUDY: &str = "name: study\nmachine: ../machines/box.yaml\nkernel: linux-2.6.28\nrepeat: 2\n\
    policies: [LOAD, ./short.order, PIN]\n\
    apps: { job: { workload: { spmd: { work: 4ms, intervals: 4, spread: 10% } }, tasks: 3 } }\n";

/// 12 configurations, 2 seeds, 2 policies and a dedicated run: 72 runs.
const GRID: &str = "name: grid\nmachine: core:2\nkernel: linux-2.6.28\npolicies: [LOAD, PIN]\nrepeat: 2\n\
    apps: { job: { workload: { spmd: { work: 2ms, intervals: 4, spread: 10% } } } }\n\
    sweep: { threads_per_core: [1, 2, 3], apps.job.workload.intervals: [2, 4, 6, 8] }\n";

const CLAIMS: &str = "claims:\n- id: one\n  kind: prediction\n  group: mine\n  source: notes\n  machine: a box\n\
    \x20 workload: hogs\n  threads: 2\n  study: own/hogs.yaml\n  app: hogs\n  set: { apps.hogs.tasks: 2 }\n\
    \x20 over: { apps.hogs.tasks: 1 }\n  metric: run_time\n  form: exact\n  value: 2.0\n\
    \x20 tolerance: { type: rel, value: 0.1 }\n";

const HOGS: &str = "name: hogs\nmachine: core:1\nkernel: linux-2.6.28\nbaseline: none\npolicies: [LOAD]\n\
    apps: { hogs: { workload: { hog: { work: 5ms } }, tasks: 1 } }\n";

fn oversim(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("oversim").unwrap();
    let command = command.current_dir(folder).args(args).stdin(Stdio::null());
    let output = command.env("TMPDIR", folder).env_remove("SLURM_ARRAY_TASK_ID").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn fine(folder: &Path, args: &[&str]) -> String {
    let (code, out, err) = oversim(folder, args);
    assert!(code == 0, "{args:?}: {code} {out}{err}");
    out
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources of a study.
fn sources() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for directory in ["scenarios", "machines", "own"] {
        fs::create_dir(at(directory)).unwrap();
    }
    let machine = fs::read_to_string(root().join("crates/machines/data/tigerton.yaml")).unwrap();
    let machine = machine.replacen("name: tigerton", "name: box", 1);
    fs::write(at("machines/box.yaml"), machine).unwrap();
    fs::copy(root().join("examples/scx/short_bursts.order"), at("scenarios/short.order")).unwrap();
    let texts = [
        ("scenarios/study.yaml", STUDY),
        ("grid.yaml", GRID),
        ("claims.yaml", CLAIMS),
        ("own/hogs.yaml", HOGS),
        ("notes.txt", "what I thought\n"),
    ];
    texts.into_iter().for_each(|(name, text)| fs::write(at(name), text).unwrap());
    folder
}

/// A study with every kind of part, calculated and packed as `study.tar.gz`.
fn study() -> TempDir {
    let folder = sources();
    let here = folder.path();
    fine(here, &["run", "scenarios/study.yaml", "--set", "apps.job.tasks=4", "-o", "base"]);
    fine(here, &["sweep", "grid.yaml", "--seed", "3", "-o", "grid", "-q"]);
    fine(here, &["plot", "base/result.json", "-o", "figures"]);
    fine(here, &["plot", "grid", "--figure", "phase", "--for", "paper", "--width", "100", "-o", "paper"]);
    let regions = ["sweep", "phase-diagram", "grid", "-o", "figures/regions.svg"];
    let axes = ["--x", "threads_per_core", "--y", "apps.job.workload.intervals"];
    fine(here, &[&regions[..], &axes].concat());
    fs::write(here.join("figures/photo.png"), "no picture").unwrap();
    fine(here, &pack("study.tar.gz"));
    folder
}

fn pack(archive: &str) -> Vec<&str> {
    let paths = ["base", "grid", "figures", "paper", "claims.yaml", "notes.txt"];
    [&["artifact", "pack"][..], &paths, &["-q", "-o", archive]].concat()
}

/// An archive alone in an empty directory.
fn elsewhere(archive: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(archive, folder.path().join("study.tar.gz")).unwrap();
    folder
}

#[test]
fn a_study_is_packed_moved_and_verified_without_its_originals() {
    let folder = study();
    let here = folder.path();
    fine(here, &pack("again.tar.gz"));
    let bytes = fs::read(here.join("study.tar.gz")).unwrap();
    assert!(bytes == fs::read(here.join("again.tar.gz")).unwrap(), "the same files, the same bytes");
    // The same runs, divided otherwise, are the same parts.
    fs::remove_dir_all(here.join("grid")).unwrap();
    for shard in ["1/3", "0/3", "2/3"] {
        fine(here, &["sweep", "grid.yaml", "--seed", "3", "-o", "grid", "--shard", shard, "-q"]);
    }
    fine(here, &pack("third.tar.gz"));
    assert!(bytes == fs::read(here.join("third.tar.gz")).unwrap());
    let there = elsewhere(&here.join("study.tar.gz"));
    drop(folder);
    let there = there.path();
    let out = fine(there, &["artifact", "verify", "study.tar.gz"]);
    for line in [
        "equal    results/base: 8 runs and 6 files again",
        "equal    sweeps/grid: 12 of 12 configurations again, 72 runs",
        "equal    files/paper: 3 files drawn again",
        "equal    claims/claims.yaml: 2 runs again",
        "only the checksum of photo.png",
        "Everything that was calculated or drawn again is equal, byte for byte.",
        "2 files are as packed (checksum)",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    // Nothing stays.
    assert_eq!(fs::read_dir(there).unwrap().count(), 1);
    let out = fine(there, &["artifact", "show", "study.tar.gz"]);
    assert!(out.contains("  oversim sweep sweeps/grid/inputs/scenario.yaml --seed 3 -o again\n"), "{out}");
    let out = fine(there, &["artifact", "verify", "study.tar.gz", "--checksums", "--into", "kept"]);
    assert!(out.contains("Nothing was calculated"), "{out}");
    // What was unpacked are directories like those that were packed.
    let kept = there.join("kept");
    assert!(fs::read_to_string(kept.join("README.md")).unwrap().contains("oversim artifact verify"));
    fine(&kept, &["sweep", "sweeps/grid/inputs/scenario.yaml", "--seed", "3", "-o", "again", "-q"]);
    let runs = |name: &str| fs::read(kept.join(name).join("runs.ndjson")).unwrap();
    assert!(runs("again") == runs("sweeps/grid"));
    fine(&kept, &["plot", "sweeps/grid", "-o", "figures"]);
    let (code, _, err) = oversim(there, &["artifact", "verify", "study.tar.gz", "--into", "kept"]);
    assert!(code == 2 && err.contains("kept exists"), "{err}");
}

/// Packs the files of an unpacked archive with one of them changed, as somebody would who wants to be
/// believed: with the right checksums. `change` returns the old and the new name of a file that it renamed.
fn forged(kept: &Path, change: &dyn Fn(&Path) -> [String; 2]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    copied(kept, &copy);
    let [old, new] = change(&copy);
    let manifest = fs::read_to_string(copy.join("manifest.json")).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let mut files = Vec::new();
    for file in json["files"].as_array_mut().unwrap() {
        let path = file["path"].as_str().unwrap().replace(&old, &new);
        file["path"] = path.clone().into();
        let bytes = fs::read(copy.join(&path)).unwrap();
        file["bytes"] = (bytes.len() as u64).into();
        file["sha256"] = artifact_sha256(&bytes).into();
        files.push((path, bytes));
    }
    let text = serde_json::to_string_pretty(&json).unwrap() + "\n";
    files.insert(0, ("manifest.json".into(), text.into_bytes()));
    let path = folder.path().join("study.tar.gz");
    let gzip = flate2::write::GzEncoder::new(fs::File::create(path).unwrap(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    for (path, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_path(format!("oversim-artifact/{path}")).unwrap();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, bytes.as_slice()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
    folder
}

fn artifact_sha256(bytes: &[u8]) -> String {
    experiment::provenance::sha256(bytes)
}

/// As parts of a sweep have it.
fn crc32(bytes: &[u8]) -> String {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    format!("{:08x}", sum.sum())
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Changes a file of the same length, so that only what is calculated can tell.
fn replaced<'a>(file: &'a str, from: &'a str, to: &'a str) -> impl Fn(&Path) -> [String; 2] + 'a {
    move |copy| {
        let text = fs::read_to_string(copy.join(file)).unwrap();
        assert!(text.contains(from), "{file}: {from}\n{text}");
        fs::write(copy.join(file), text.replacen(from, to, 1)).unwrap();
        [file.to_owned(), file.to_owned()]
    }
}

#[test]
fn a_forged_number_in_any_part_is_found() {
    let folder = study();
    let kept = folder.path().join("kept");
    fine(folder.path(), &["artifact", "verify", "study.tar.gz", "--checksums", "--into", "kept"]);
    let cells = fs::read_to_string(kept.join("results/base/cells.csv")).unwrap();
    let line = cells.lines().nth(3).unwrap();
    let other = line.replacen("completed", "x", 1) + "1";
    let cases: [(&str, &str, &str, i32, &str); 10] = [
        ("results/base/cells.csv", line, &other, 1, "cells.csv differs in line 4"),
        ("results/base/result.json", "\"mean\": 0.0", "\"mean\": 0.1", 1, "result.json differs in line"),
        ("results/base/inputs/scenario.yaml", "work: 4ms", "work: 5ms", 2, "the scenario or a file"),
        ("results/base/inputs/inputs.json", "tasks=4", "tasks=5", 2, "the changes of the command line"),
        ("sweeps/grid/runs.ndjson", "\"run_time\":0.0", "\"run_time\":0.1", 1, "run_time of"),
        ("sweeps/grid/inputs/scenario.yaml", "work: 2ms", "work: 3ms", 2, "the scenario, its machine"),
        ("claims/claims.yaml/report.json", "\"verdict\": \"", "\"verdict\": \"x", 1, "report.json differs"),
        ("files/figures/regions.csv", "PIN", "PON", 1, "regions.csv differs"),
        ("README.md", "## Verify", "## Trust", 2, "README.md is not as it should be"),
        ("files/paper/phase.tex", "\\caption{", "\\caption{Not ", 1, "phase.tex differs"),
    ];
    for (file, from, to, code, why) in cases {
        let there = forged(&kept, &replaced(file, from, to));
        let (found, out, err) = oversim(there.path(), &["artifact", "verify", "study.tar.gz"]);
        assert!(found == code && (out + &err).contains(why), "{file}: {found} {err}");
    }
}

#[test]
fn a_sample_finds_a_changed_row_with_the_seeds_that_draw_it() {
    let folder = study();
    let kept = folder.path().join("kept");
    fine(folder.path(), &["artifact", "verify", "study.tar.gz", "--checksums", "--into", "kept"]);
    // A row of configuration 5, in its part and in the merged file, with the checksums of both.
    let change = |copy: &Path| {
        let grid = copy.join("sweeps/grid");
        let other = |text: &str| {
            let row = text.lines().find(|line| line.contains("\"configuration\":5,")).unwrap();
            text.replace(row, &row.replacen("\"digest\":\"", "\"digest\":\"0", 1))
        };
        let merged = fs::read_to_string(grid.join("runs.ndjson")).unwrap();
        fs::write(grid.join("runs.ndjson"), other(&merged)).unwrap();
        let part = fs::read_dir(grid.join("parts")).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&part).unwrap();
        let (head, body) = text.split_once('\n').unwrap();
        let body = other(body);
        let sum = crc32(body.as_bytes());
        let old =
            serde_json::from_str::<serde_json::Value>(head).unwrap()["crc32"].as_str().unwrap().to_owned();
        let name = part.file_name().unwrap().to_str().unwrap().replace(&old[..8], &sum[..8]);
        fs::write(grid.join("parts").join(&name), format!("{}\n{body}", head.replace(&old, &sum))).unwrap();
        fs::remove_file(&part).unwrap();
        [old[..8].to_owned(), sum[..8].to_owned()]
    };
    let there = forged(&kept, &change);
    let mut found = 0;
    for seed in 0..8 {
        let seed = seed.to_string();
        let args = ["artifact", "verify", "study.tar.gz", "--sample", "6", "--seed", &seed];
        let (code, out, err) = oversim(there.path(), &args);
        assert!(out.contains("6 of 12 configurations again, 36 runs"), "{out}{err}");
        // Figures state the digest of all runs, so those of the forged sweep differ with every seed.
        assert!(code == 1 && out.contains("differs  files/"), "{out}{err}");
        let differs = out.contains("differs  sweeps/grid");
        assert_eq!(differs, out.contains("(configuration 5, "), "{out}{err}");
        found += u32::from(differs);
    }
    assert!((1..8).contains(&found), "half of the samples have the configuration: {found}");
    let (code, out, _) = oversim(there.path(), &["artifact", "verify", "study.tar.gz"]);
    assert!(code == 1 && out.contains("its digest is 0"), "{out}");
    let (code, out, _) = oversim(folder.path(), &["artifact", "verify", "study.tar.gz", "--sample", "3"]);
    assert!(code == 0 && out.contains("would show it in 95 of 100"), "{out}");
}

#[test]
fn what_cannot_be_calculated_again_is_not_packed() {
    let folder = sources();
    let here = folder.path();
    fine(here, &["run", "grid.yaml", "--repeat", "1", "-o", "base"]);
    let refused = |path: &str, why: &str| {
        let (code, _, err) = oversim(here, &["artifact", "pack", path, "-o", "a.tar.gz"]);
        assert!(code == 2 && err.contains(why), "{path}: {code} {err}");
        assert!(!here.join("a.tar.gz").exists());
        let left = fs::read_dir(here).unwrap().flatten();
        assert!(
            left.map(|entry| entry.file_name()).all(|name| !name.to_string_lossy().starts_with(".oversim"))
        );
    };
    refused("base/result.json", "is a result without its scenario");
    refused("nothing", "cannot read nothing");
    let changed = |file: &str, from: &str, to: &str, why: &str| {
        let path = here.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        refused(file.split('/').next().unwrap(), why);
        fs::write(&path, text).unwrap();
    };
    changed("base/result.json", "\"oversim-model/", "\"oversim-model/9", "pack it with that program");
    changed("base/inputs/scenario.yaml", "work: 2ms", "work: 3ms", "Run it again");
    fs::remove_dir_all(here.join("base/inputs")).unwrap();
    refused("base", "`oversim run SCENARIO -o base` writes it");
    fine(here, &["sweep", "grid.yaml", "--shard", "0/2", "-o", "half", "-q"]);
    refused("half", "of the sweep in half are missing");
    symlink("/etc/passwd", here.join("own/link")).unwrap();
    refused("own", "is a symbolic link");
    fs::write(here.join("claims.yaml"), CLAIMS.replace("own/hogs", "../hogs")).unwrap();
    refused("claims.yaml", "hogs");
    // A sweep of an older version has no inputs: the same command adds them and repeats no run.
    fine(here, &["sweep", "grid.yaml", "-o", "half", "-q"]);
    fs::remove_dir_all(here.join("half/inputs")).unwrap();
    refused("half", "and repeats no run");
    fine(here, &["sweep", "grid.yaml", "-o", "half", "-q"]);
    fine(here, &["artifact", "pack", "half", "-o", "a.tar.gz"]);
    let (code, _, err) = oversim(here, &["artifact", "pack", "half", "-o", "a.tar.gz"]);
    assert!(code == 2 && err.contains("--force"), "{err}");
}
