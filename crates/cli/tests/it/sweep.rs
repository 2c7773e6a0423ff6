//! `oversim sweep`: the merged bytes are a function of the plan, whatever happens to the workers.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::flat;
use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;
use tempfile::TempDir;

/// 2 x 3 x 2 - 2 configurations, 3 replicates, 2 policies and a dedicated run: 90 runs of a few milliseconds.
const SMALL: &str = "name: small\nmachine: core:4\nkernel: linux-2.6.28\npolicies: [LOAD, PIN]\nrepeat: 3\n\
    apps: { job: { workload: { spmd: { work: 40ms, intervals: 40, spread: 10% } } } }\n\
    sweep: { threads_per_core: [1, 3], kernel.tick: 1ms..4ms:*2,\n\
    \x20 apps.job.workload.intervals: [40, 80], when: threads_per_core < 3 or kernel.tick != 4ms }\n";

/// Hundreds of runs of some hundredths of a second in a debug build.
const LONG: &str = "name: long\nmachine: core:4\nkernel: linux-2.6.28\npolicies: [LOAD, PIN]\nrepeat: 12\n\
    apps: { job: { workload: { spmd: { work: 400ms, intervals: 300, spread: 10% } } } }\n\
    sweep: { threads_per_core: [1, 2, 3], kernel.tick: 1ms..4ms:*2 }\n";

pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("small.yaml", SMALL), ("long.yaml", LONG)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("oversim").unwrap();
    command.current_dir(folder).args(args).env_remove("SLURM_ARRAY_TASK_ID");
    command
}

/// The exit code, standard output and standard error of a command.
pub(crate) fn oversim(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = command(folder, args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

pub(crate) fn merged(folder: &Path, directory: &str) -> String {
    fs::read_to_string(folder.join(directory).join("runs.ndjson")).unwrap()
}

pub(crate) fn parts(folder: &Path, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.join(directory).join("parts")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// One process, and shards in another order, merged.
#[test]
fn any_division_gives_the_same_bytes() {
    let folder = folder();
    let folder = folder.path();
    let (code, out, err) = oversim(folder, &["sweep", "small.yaml", "-o", "one", "--jobs", "1"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(out, "one/runs.ndjson: 90 runs\n");
    let one = merged(folder, "one");
    for of in [3_usize, 17] {
        let directory = format!("by{of}");
        for at in 0..of {
            // 5 has no common divisor with 3 or 17.
            let shard = format!("{}/{of}", (at * 5 + 2) % of);
            let (code, ..) = oversim(folder, &["sweep", "small.yaml", "-o", &directory, "--shard", &shard]);
            assert_eq!(code, 0);
            if at + 1 < of {
                let (code, out, err) = oversim(folder, &["sweep", "merge", &directory]);
                assert_eq!((code, out.as_str()), (1, ""), "{shard}");
                assert!(err.contains("are missing") || err.contains("is missing"), "{err}");
            }
        }
        assert_eq!(oversim(folder, &["sweep", "merge", &directory]).0, 0);
        assert!(merged(folder, &directory) == one, "{of} shards");
        assert_eq!(oversim(folder, &["sweep", "status", &directory]).0, 0);
    }
}

#[test]
fn a_finished_sweep_does_not_change_when_it_is_run_again() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "s"]).0, 0);
    let before = (parts(folder, "s"), merged(folder, "s"));
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "s", "--shard", "1/2"]).0, 0);
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "s"]).0, 0);
    assert_eq!((parts(folder, "s"), merged(folder, "s")), before);
}

/// Two copies of a program with dedicated runs that depend on the machine only, and a program beside them.
const COPIES: &str = "name: copies\nmachine: core:4\nkernel: linux-2.6.28\npolicies: [LOAD, PIN]\nrepeat: 2\n\
    apps: { twin: { workload: { spmd: { work: 20ms, intervals: 5 } }, copies: 2, tasks: 2 },\n\
    \x20 job: { workload: { spmd: { work: 40ms, intervals: 10, spread: 10% } } } }\n\
    sweep: { machine.core_speed: [1, 0.5, 0.25] }\n";

/// What each line of the merged file has, against the results of `oversim run`.
#[test]
fn the_values_are_those_of_a_run() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("copies.yaml"), COPIES).unwrap();
    for (name, runs) in [("small", 90), ("copies", 24)] {
        let scenario = format!("{name}.yaml");
        assert_eq!(oversim(folder, &["sweep", &scenario, "-o", name]).0, 0);
        let (code, json, _) = oversim(folder, &["run", &scenario, "--format", "json"]);
        assert_eq!(code, 0);
        let result: Value = serde_json::from_str(&json).unwrap();
        let text = merged(folder, name);
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let plan = lines.next().unwrap();
        assert_eq!(plan["provenance"]["scenario_sha256"], result["provenance"]["scenario_sha256"]);
        let rows: Vec<Value> = lines.collect();
        assert_eq!(rows.len(), runs);
        let compared = compared(&rows, result["cells"].as_array().unwrap());
        assert!(compared > 40 * runs / 2, "{compared}");
    }
}

/// Compares all values of cells with those of rows; how many there were.
fn compared(rows: &[Value], cells: &[Value]) -> usize {
    let mut compared = 0;
    for cell in cells {
        for (replicate, value) in cell["values"].as_array().unwrap().iter().enumerate() {
            let row = rows.iter().find(|row| {
                row["settings"] == cell["settings"]
                    && row["policy"] == cell["policy"]
                    && row["replicate"] == replicate
                    && row.get("app").is_none_or(|app| *app == cell["app"])
            });
            // The bounds that references are have no runs.
            let Some(row) = row else { continue };
            let found = &row["values"][cell["app"].as_str().unwrap()][cell["metric"].as_str().unwrap()];
            let (found, value) = (found.as_f64().unwrap(), value.as_f64().unwrap());
            assert!((found - value).abs() <= 1e-9 * value.abs(), "{cell}: {found}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn another_plan_is_refused() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "s", "--shard", "0/2"]).0, 0);
    let before = parts(folder, "s");
    for (args, what) in [
        (&["--seed", "9"][..], "the seed"),
        (&["--repeat", "4"], "the number of replicates"),
        (&["--policy", "PIN,LOAD"], "the policies"),
        (&["--sweep", "kernel.tick=1ms,2ms"], "the settings of the command line"),
        (&["--until-ci", "1%"], "the rule for more replicates"),
    ] {
        let all = [&["sweep", "small.yaml", "-o", "s"], args].concat();
        let (code, out, err) = oversim(folder, &all);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains("another plan") && err.contains(what), "{err}");
    }
    fs::write(folder.join("small.yaml"), SMALL.replace("40ms", "41ms")).unwrap();
    let (code, _, err) = oversim(folder, &["sweep", "small.yaml", "-o", "s"]);
    assert!(code == 2 && err.contains("the scenario, its machine files or its policy files"), "{err}");
    assert_eq!(parts(folder, "s"), before);
    // A copied part of another plan.
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "other"]).0, 0);
    let foreign = parts(folder, "other").remove(0);
    fs::copy(folder.join("other/parts").join(&foreign), folder.join("s/parts").join(&foreign)).unwrap();
    let (code, _, err) = oversim(folder, &["sweep", "merge", "s"]);
    assert!(code == 2 && err.contains("belongs to another plan") && err.contains(&foreign), "{err}");
    // A directory with other files.
    fs::create_dir(folder.join("mine")).unwrap();
    fs::write(folder.join("mine/thesis.tex"), "x").unwrap();
    let (code, _, err) = oversim(folder, &["sweep", "small.yaml", "-o", "mine"]);
    assert!(code == 2 && err.contains("not empty"), "{err}");
    assert_eq!(fs::read_dir(folder.join("mine")).unwrap().count(), 1);
}

#[test]
fn a_damaged_part_is_named_and_a_torn_journal_is_used_up_to_its_last_whole_line() {
    let folder = folder();
    let folder = folder.path();
    let run = ["sweep", "small.yaml", "-o", "s"];
    assert_eq!(oversim(folder, &run).0, 0);
    let whole = merged(folder, "s");
    let part = folder.join("s/parts").join(parts(folder, "s").remove(0));
    let text = fs::read_to_string(&part).unwrap();
    fs::write(&part, text.replacen("\"completed\"", "\"horizon\"", 1)).unwrap();
    for args in [&["sweep", "merge", "s"][..], &["sweep", "status", "s"], &run] {
        let (code, _, err) = oversim(folder, args);
        assert!(code == 1 && err.contains("is damaged") && err.contains("remove it"), "{code} {err}");
    }
    fs::remove_file(&part).unwrap();
    // A worker that died while it wrote its third run.
    let check = |line: &str| format!("{} {line}\n", crc32(line));
    let lines: Vec<&str> = text.lines().skip(1).take(3).collect();
    let damaged = check(lines[2]).replacen("\"completed\"", "\"horizon\"", 1);
    let journal = [check(lines[0]), damaged, check(lines[1]), check(lines[2])[..60].to_owned()].concat();
    fs::write(folder.join("s/parts/5-of-9.open"), journal).unwrap();
    let (code, status, _) = oversim(folder, &["sweep", "status", "s"]);
    assert!(code == 1 && status.contains("there: 2 runs"), "{status}");
    assert_eq!(oversim(folder, &run).0, 0);
    assert!(merged(folder, "s") == whole);
    assert!(!folder.join("s/parts/5-of-9.open").exists());
}

/// The checksum of a line in a journal: CRC-32, bit by bit.
fn crc32(line: &str) -> String {
    let mut crc = !0_u32;
    for byte in line.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    format!("{:08x}", !crc)
}

/// Runs that end badly, and configurations that are not valid, are rows.
#[test]
fn runs_that_fail_are_rows_and_the_sweep_goes_on() {
    let folder = folder();
    let folder = folder.path();
    let text = "name: bad\nmachine: core:2\nkernel: linux-2.6.28\npolicies: [LOAD]\nbaseline: none\n\
        apps: { job: { workload: { spmd: { work: 20ms, intervals: 2 } }, tasks: 2, cpus: 0-1 } }\n\
        sweep: { horizon: [1ms, 1s], machine: ['core:1 pu:2', 'core:2'], apps.job.cpus: ['0', '0-1'] }\n";
    fs::write(folder.join("bad.yaml"), text).unwrap();
    let (code, _, err) = oversim(folder, &["sweep", "bad.yaml", "-o", "s"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("4 of 8 runs did not complete"), "{err}");
    let all = merged(folder, "s");
    let rows: Vec<Value> = all.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    for row in &rows {
        let cut = row["settings"]["horizon"] == 0.001;
        assert_eq!(row["outcome"], if cut { "horizon" } else { "completed" }, "{row}");
        assert_eq!(row["values"].as_object().unwrap().is_empty(), cut);
        assert_eq!(row["text"].as_str().is_some_and(|text| text.contains("cut off at")), cut);
    }
    // Each value is valid with the first one of the other axes, and one combination is not.
    let text =
        text.replace("horizon: [1ms, 1s], ", "").replace("'core:1 pu:2', 'core:2'", "'core:2', 'core:1'");
    fs::write(folder.join("bad.yaml"), text).unwrap();
    let (code, _, err) = oversim(folder, &["sweep", "bad.yaml", "-o", "invalid"]);
    assert_eq!(code, 0, "{err}");
    let all = merged(folder, "invalid");
    let invalid: Vec<Value> = all
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| row["outcome"] == "invalid")
        .collect();
    assert_eq!(invalid.len(), 1);
    assert!(invalid[0]["text"].as_str().unwrap().contains("cpu"), "{}", invalid[0]);
    let (code, status, _) = oversim(folder, &["sweep", "status", "invalid"]);
    assert!(code == 0 && status.contains("not completed: 1 (invalid)"), "{status}");
}

/// More replicates until intervals are narrow, for any division of the work.
#[test]
fn replicates_are_added_until_intervals_are_narrow() {
    let folder = folder();
    let folder = folder.path();
    let until = ["--until-ci", "0.5%", "--most", "12"];
    let run = |directory: &str, more: &[&str]| {
        let all = [&["sweep", "small.yaml", "-o", directory, "--repeat", "1"], &until[..], more].concat();
        assert_eq!(oversim(folder, &all).0, 0, "{more:?}");
    };
    run("one", &["--jobs", "1"]);
    for shard in ["2/3", "0/3", "1/3"] {
        run("three", &["--shard", shard, "--jobs", "3"]);
    }
    assert_eq!(oversim(folder, &["sweep", "merge", "three"]).0, 0);
    assert!(merged(folder, "one") == merged(folder, "three"));
    let all = merged(folder, "one");
    let rows: Vec<Value> = all.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |configuration: u64| {
        let here = rows.iter().filter(|row| row["configuration"] == configuration && row["policy"] == "LOAD");
        here.count()
    };
    let counts: Vec<usize> = (0..10).map(count).collect();
    assert!(counts.iter().all(|count| (3..=12).contains(count)), "{counts:?}");
    assert!(counts.iter().min() < counts.iter().max(), "{counts:?}");
    // Whether the first so many replicates of a configuration have narrow intervals under both policies.
    let narrow = |configuration: u64, replicates: usize| {
        ["LOAD", "PIN"].iter().all(|policy| {
            let here =
                rows.iter().filter(|row| row["configuration"] == configuration && row["policy"] == *policy);
            let times: Vec<f64> =
                here.take(replicates).map(|row| row["values"]["job"]["run_time"].as_f64().unwrap()).collect();
            let summary = experiment::statistics::summarise(&times).unwrap();
            summary.half_width().unwrap() <= 0.005 * summary.mean
        })
    };
    for (configuration, count) in (0..).zip(counts) {
        assert!(count == 12 || narrow(configuration, count), "{configuration}");
        assert!(count == 3 || !narrow(configuration, count - 1), "{configuration}");
    }
}

#[test]
fn a_directory_is_read_like_the_result_of_a_run() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "s"]).0, 0);
    let (code, json, _) = oversim(folder, &["run", "small.yaml", "--format", "json"]);
    assert_eq!(code, 0);
    fs::write(folder.join("run.json"), json).unwrap();
    let both = |args: &[&str], from: &str, to: &str| {
        let put = |subject: &str| -> Vec<String> {
            args.iter().map(|word| word.replace("SUBJECT", subject)).collect()
        };
        let of = |subject: &str| {
            let words = put(subject);
            let (code, out, err) = oversim(folder, &words.iter().map(String::as_str).collect::<Vec<_>>());
            (code, out.replace(from, to), err)
        };
        assert_eq!(of("s"), of("run.json"), "{args:?}");
    };
    both(&["compare", "SUBJECT"], "policies of run.json compared", "policies of s compared");
    both(&["sweep", "phase-diagram", "SUBJECT", "-o", "p.svg", "--force"], "", "");
    both(&["plot", "SUBJECT", "--figure", "phase,slowdown,effects", "--force"], "", "");
    let (code, _, err) = oversim(folder, &["report", "s", "-o", "s.html"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let page = fs::read_to_string(folder.join("s.html")).unwrap();
    let (_, sentences, _) = oversim(folder, &["sweep", "phase-diagram", "s", "-o", "q.svg"]);
    let first = sentences.lines().next().unwrap().replace('<', "&lt;").replace('>', "&gt;");
    assert!(page.contains(&first) && page.matches("<svg").count() == 2, "{first}");
    // A sweep that is not complete is read as far as it is.
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "half", "--shard", "0/2"]).0, 0);
    let (code, _, err) = oversim(folder, &["compare", "half"]);
    assert!(code <= 1 && err.contains("45 of 90 runs are missing"), "{code} {err}");
}

#[test]
fn what_is_no_sweep_is_refused_and_nothing_is_written() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("empty.yaml"), "").unwrap();
    fs::create_dir(folder.join("other")).unwrap();
    fs::write(folder.join("other/plan.json"), "{\"a\": 1}").unwrap();
    for (args, why) in [
        (&["sweep", "empty.yaml", "-o", "s"][..], "the scenario is empty"),
        (&["sweep", "small.yaml", "-o", "s", "--sweep", "kernel.tick=1..4"], "needs a unit"),
        (&["sweep", "small.yaml", "-o", "s", "--sweep", "nope=1..4"], "unknown path"),
        (&["sweep", "small.yaml", "-o", "s", "--sweep", "seed=1..4"], "`--repeat 4` runs each configuration"),
        (&["sweep", "small.yaml", "-o", "s", "--shard", "3/3"], "from 0 to 2"),
        (&["sweep", "small.yaml", "-o", "s", "--until-ci", "0%"], "above 0"),
        (&["sweep", "small.yaml", "-o", "small.yaml"], "cannot make the directory"),
        (&["sweep", "small.yaml", "-o", "other"], "is not the plan of a sweep"),
        (&["sweep", "status", "nowhere"], "is no directory"),
        (&["sweep", "merge", "."], "has no plan.json"),
        (&["plot", "other"], "is not the plan of a sweep"),
        (&["sweep", "script", "-", "-o", "s", "--engine", "slurm"], "name a file"),
    ] {
        let (code, out, err) = oversim(folder, args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?} {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
    assert!(!folder.join("s").exists());
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = folder();
    let folder = folder.path();
    let (code, out, err) = oversim(folder, &["sweep", "small.yaml", "--dry-run", "-o", "s"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let head =
        "90 runs: 10 configurations x 3 replicates x (2 policies and 1 dedicated run)\nsample: 30 runs, ";
    assert!(out.starts_with(head), "{out}");
    for word in ["time: ", "cpu hours", "disk: "] {
        assert!(out.contains(word), "{out}");
    }
    assert!(!folder.join("s").exists());
}

#[test]
fn the_task_of_a_job_array_is_its_shard() {
    let folder = folder();
    let folder = folder.path();
    let array = |id: &str| {
        let mut command = command(folder, &["sweep", "small.yaml", "-o", "s"]);
        let variables = [("ID", id), ("MIN", "1"), ("MAX", "2"), ("COUNT", "2"), ("STEP", "1")];
        for (name, value) in variables {
            command.env(format!("SLURM_ARRAY_TASK_{name}"), value);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(array("1").0, Some(0));
    assert!(array("2").1.starts_with("shard 1 of 2: all runs are there"));
    assert_eq!(oversim(folder, &["sweep", "merge", "s"]).0, 0);
    assert_eq!(array("3").0, Some(2));
}

/// Workers whose disks are their own: a directory for each, merged together or copied into one.
#[test]
fn directories_of_several_workers_are_merged_to_the_same_bytes() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "one"]).0, 0);
    let one = merged(folder, "one");
    let run = |directory: &str, shard: &str| {
        assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", directory, "--shard", shard]).0, 0);
    };
    // Shard 1 was executed twice.
    for (directory, shard) in [("a", "0/3"), ("b", "1/3"), ("c", "1/3")] {
        run(directory, shard);
    }
    let completes = "shard 2 of 3 lacks 30 runs: `oversim sweep SCENARIO -o b --shard 2/3`";
    let (code, _, err) = oversim(folder, &["sweep", "merge", "b", "a", "c"]);
    assert!(code == 1 && err.contains("30 runs of the sweep in b are missing"), "{err}");
    assert!(flat(&err).contains(completes), "{err}");
    let (code, out, _) = oversim(folder, &["sweep", "status", "b", "a", "c"]);
    assert!(code == 1 && out.contains("there: 60 runs;") && flat(&out).contains(completes), "{out}");
    run("b", "2/3");
    assert_eq!(oversim(folder, &["sweep", "merge", "b", "a", "c"]).1, "b/runs.ndjson: 90 runs\n");
    assert!(merged(folder, "b") == one && !folder.join("a/runs.ndjson").exists());
    // As an object store brings them together.
    run("d", "0/3");
    for directory in ["b", "c"] {
        for name in parts(folder, directory) {
            let from = folder.join(directory).join("parts").join(&name);
            fs::copy(from, folder.join("d/parts").join(name)).unwrap();
        }
    }
    assert_eq!(oversim(folder, &["sweep", "merge", "d"]).0, 0);
    assert!(merged(folder, "d") == one);
    // Another sweep, and no sweep.
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "e", "--seed", "9"]).0, 0);
    for (other, why) in [("e", "the seed"), ("nowhere", "is no directory")] {
        let (code, _, err) = oversim(folder, &["sweep", "merge", "a", other]);
        assert!(code == 2 && flat(&err).contains(why), "{err}");
    }
}

#[test]
fn a_part_that_is_no_file_is_refused_by_every_reader() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "d"]).0, 0);
    let part = folder.join("d/parts/0000000099-00000000.part");
    let commands: [&[&str]; 5] = [
        &["sweep", "small.yaml", "-o", "d"],
        &["sweep", "status", "d"],
        &["sweep", "merge", "d"],
        &["plot", "d", "-o", "figures"],
        &["compare", "d"],
    ];
    let refused = || {
        for args in commands {
            let (code, _, err) = oversim(folder, args);
            assert!(code == 1 && err.contains("0000000099-00000000.part"), "{args:?}: {code} {err}");
            assert!(err.contains("it is no regular file"), "{args:?}: {err}");
        }
    };
    let made = Command::new("mkfifo").arg(&part).status().unwrap();
    assert!(made.success());
    refused();
    fs::remove_file(&part).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &part).unwrap();
    refused();
    // A journal is read as well.
    fs::remove_file(&part).unwrap();
    let journal = folder.join("d/parts/9-of-9.open");
    assert!(Command::new("mkfifo").arg(&journal).status().unwrap().success());
    let (code, _, err) = oversim(folder, &["sweep", "small.yaml", "-o", "d"]);
    assert!(code == 1 && err.contains("9-of-9.open: it is no regular file"), "{code} {err}");
}

#[test]
fn a_sweep_whose_parts_are_gone_begins_again() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "d"]).0, 0);
    let whole = merged(folder, "d");
    fs::remove_dir_all(folder.join("d/parts")).unwrap();
    fs::remove_file(folder.join("d/runs.ndjson")).unwrap();
    assert_eq!(oversim(folder, &["sweep", "status", "d"]).0, 1);
    assert_eq!(oversim(folder, &["sweep", "small.yaml", "-o", "d"]).0, 0);
    assert_eq!(merged(folder, "d"), whole);
}

#[test]
fn the_name_of_a_directory_brings_no_control_characters_to_the_terminal() {
    let folder = folder();
    let folder = folder.path();
    let (code, out, err) = oversim(folder, &["sweep", "small.yaml", "-o", "d\u{1b}]0;x\u{7}\n2"]);
    let text = format!("{out}{err}");
    assert_eq!((code, out.lines().count()), (0, 1), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
}

/// A table of all values: what a configuration leaves to a default has the value of the default.
#[test]
fn an_export_has_a_row_for_each_value_and_defaults() {
    let folder = folder();
    let folder = folder.path();
    let text = "name: yields\nmachine: core:2\npolicies: [LOAD, PIN]\nbaseline: none\n\
        apps: { job: { workload: { spmd: { work: 4ms, intervals: 4 } } } }\n\
        sweep: { kernel: [linux-2.6.28, { linux-2.6.28: { yield: posix } }], threads_per_core: [1, 2] }\n";
    fs::write(folder.join("yields.yaml"), text).unwrap();
    assert_eq!(oversim(folder, &["sweep", "yields.yaml", "-o", "d"]).0, 0);
    let (code, said, errors) = oversim(folder, &["sweep", "export", "d", "-o", "t.csv"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{said}");
    let mut values = 0;
    for line in merged(folder, "d").lines().skip(1) {
        let run: Value = serde_json::from_str(line).unwrap();
        values += run["values"]
            .as_object()
            .unwrap()
            .values()
            .map(|app| app.as_object().unwrap().len())
            .sum::<usize>();
    }
    assert_eq!(said, format!("t.csv: {values} rows\n"));
    let mut table = csv::Reader::from_path(folder.join("t.csv")).unwrap();
    let head: Vec<String> = table.headers().unwrap().iter().map(str::to_owned).collect();
    let settings = ["kernel", "kernel.yield", "threads_per_core"];
    let all = [&["run", "configuration", "replicate", "seed"][..], &settings];
    let all = [&all.concat()[..], &["policy", "app", "metric", "unit", "outcome", "value"]].concat();
    assert_eq!(head, all);
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), values);
    assert!(rows.iter().all(|row| row.iter().all(|field| !field.is_empty())), "{:?}", rows[0]);
    let yields: std::collections::BTreeSet<&str> = rows.iter().map(|row| &row[5]).collect();
    assert_eq!(yields.into_iter().collect::<Vec<_>>(), ["default", "posix"]);
    let again = oversim(folder, &["sweep", "export", "d", "-o", "t.csv"]);
    assert!(again.0 == 2 && again.2.contains("--force replaces it"), "{}", again.2);
    assert_eq!(oversim(folder, &["sweep", "export", "d", "-o", "t.csv", "--force"]).0, 0);
    let part = ["sweep", "yields.yaml", "-o", "half", "--shard", "0/2"];
    assert_eq!(oversim(folder, &part).0, 0);
    let (code, _, errors) = oversim(folder, &["sweep", "export", "half", "-o", "h.csv"]);
    assert!(code == 1 && errors.contains("nothing was written"), "{errors}");
    assert!(!folder.join("h.csv").exists());
    if cfg!(not(feature = "parquet")) {
        let (code, _, errors) =
            oversim(folder, &["sweep", "export", "d", "-o", "t.pq", "--format", "parquet"]);
        assert!(code == 2 && errors.contains("--features parquet"), "{errors}");
    }
}
