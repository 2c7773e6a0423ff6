//! What is promised about files, pipes and signals: `docs/reliability/promises.md` names these tests.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A run of a few milliseconds.
const SHORT: &str = "name: short\nmachine: core:2\nkernel: linux-2.6.28\nbaseline: none\n\
    policies: [LOAD, PIN]\n\
apps: { a: { workload: { hog: { work: 20ms } }, tasks: 3 } }\n";

/// Thousands of runs: it lasts minutes.
const LONG: &str = "name: long\nmachine: core:4\nkernel: linux-2.6.28\nbaseline: none\n\
    policies: [LOAD, PIN]\nrepeat: 10000\n\
apps: { a: { workload: { spmd: { work: 20s, intervals: 2000, spread: 10% } }, tasks: 6, runtime: yield } }\n";

/// A run that is cut off.
const CUT: &str = "name: cut\nmachine: core:2\nkernel: linux-2.6.28\nbaseline: none\n\
    policies: [LOAD]\nhorizon: 1ms\n\
apps: { a: { workload: { hog: { work: 20ms } }, tasks: 3 } }\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("short.yaml", SHORT), ("long.yaml", LONG), ("cut.yaml", CUT)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("oversim").unwrap();
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

/// Exit code and standard error.
fn run(folder: &Path, args: &[&str]) -> (i32, String) {
    let done = command(folder, args).output().unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
}

/// The commands that write a file, with the name of the file last.
const WRITERS: [&[&str]; 7] = [
    &["run", "short.yaml", "--record-schedule"],
    &["run", "short.yaml", "--explain-decisions"],
    &["run", "short.yaml", "--policy", "PIN", "--repeat", "1", "--trace"],
    &["report", "short.yaml", "-o"],
    &["timeline", "short.yaml", "-o"],
    &["init", "-o"],
    &["reproduce", "--quick", "--quiet", "--group", "hog", "--cells"],
];

/// A name that the command accepts.
fn name(writer: &[&str], stem: &str) -> String {
    let ending = match writer {
        [.., "--trace"] => "ftrace",
        ["timeline", ..] => "svg",
        ["init", ..] => "yaml",
        _ => "out",
    };
    format!("{stem}.{ending}")
}

fn with<'a>(writer: &[&'a str], file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    writer.iter().copied().chain([file]).chain(more.iter().copied()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_that_exists_is_replaced_only_with_force_and_keeps_its_link_and_mode() {
    let folder = folder();
    let folder = folder.path();
    for writer in WRITERS {
        let (file, link) = (name(writer, "mine"), name(writer, "link"));
        let path = folder.join(&file);
        fs::write(&path, "mine").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&file, folder.join(&link)).unwrap();
        for target in [&file, &link] {
            let (code, said) = run(folder, &with(writer, target, &[]));
            assert!(code == 2 && said.contains("exists; --force replaces it"), "{writer:?}: {code} {said}");
            assert_eq!(fs::read(&path).unwrap(), b"mine", "{writer:?}");
        }
        let (code, said) = run(folder, &with(writer, &link, &["--force"]));
        assert_eq!(code, 0, "{writer:?}: {said}");
        assert!(fs::symlink_metadata(folder.join(&link)).unwrap().is_symlink(), "{writer:?}");
        assert!(fs::read(&path).unwrap().len() > 40, "{writer:?}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{writer:?}");
        for used in [&file, &link] {
            fs::remove_file(folder.join(used)).unwrap();
        }
        assert_eq!(names(folder), ["cut.yaml", "long.yaml", "short.yaml"], "{writer:?}");
    }
}

#[test]
fn devices_and_pipes_are_written_through_and_stay() {
    let folder = folder();
    let folder = folder.path();
    for writer in WRITERS {
        let null = name(writer, "null");
        symlink("/dev/null", folder.join(&null)).unwrap();
        for force in [&[][..], &["--force"]] {
            let (code, said) = run(folder, &with(writer, &null, force));
            assert_eq!(code, 0, "{writer:?}: {said}");
            assert!(fs::symlink_metadata(folder.join(&null)).unwrap().is_symlink(), "{writer:?}");
        }
        fs::remove_file(folder.join(&null)).unwrap();
        let pipe = name(writer, "pipe");
        assert!(Command::new("mkfifo").arg(folder.join(&pipe)).status().unwrap().success());
        let reader = Command::new("cat").arg(folder.join(&pipe)).stdout(Stdio::piped()).spawn().unwrap();
        let (code, said) = run(folder, &with(writer, &pipe, &[]));
        assert_eq!(code, 0, "{writer:?}: {said}");
        assert!(reader.wait_with_output().unwrap().stdout.len() > 40, "{writer:?}");
        assert!(fs::metadata(folder.join(&pipe)).unwrap().file_type().is_fifo(), "{writer:?}");
        fs::remove_file(folder.join(&pipe)).unwrap();
    }
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn outputs_that_cannot_be_written_are_found_before_the_simulation() {
    let folder = folder();
    let folder = folder.path();
    symlink("nowhere", folder.join("dangling.out")).unwrap();
    // The scenario would run for minutes.
    for (args, wanted) in [
        (&["run", "long.yaml", "--record-schedule", "no/s"][..], "there is no directory no"),
        (&["run", "long.yaml", "--trace", "no/t.ftrace"], "there is no directory no"),
        (&["run", "long.yaml", "--explain-decisions", "no/d"], "there is no directory no"),
        (&["report", "long.yaml", "-o", "no/r.html"], "there is no directory no"),
        (&["run", "long.yaml", "--record-schedule", "dangling.out"], "link to a file that does not exist"),
        (&["run", "long.yaml", "--record-schedule", "."], "is not the name of a file"),
        (&["run", "long.yaml", "--record-schedule", "-"], "`-` is not the name of a file"),
        (&["run", "long.yaml", "--record-schedule", "short.yaml/x"], "cannot write short.yaml/x"),
        (&["run", "long.yaml", "-o", "short.yaml"], "is not a directory"),
        (&["run", "long.yaml", "-o", "short.yaml/deeper"], "is not a directory"),
        (&["run", "long.yaml", "-o", "/proc/deeper"], "cannot write to /proc/deeper"),
        (&["run", "long.yaml", "-o", ".", "--record-schedule", "./result.json"], "two outputs"),
        (&["run", "long.yaml", "--record-schedule", "s", "--explain-decisions", "s"], "cannot be used with"),
        (&["run", "long.yaml", "--record-schedule", "long.yaml", "--force"], "is also read by this command"),
        (&["report", "long.yaml", "-o", "long.yaml", "--force"], "is also read by this command"),
    ] {
        let (code, said) = run(folder, args);
        assert!(code == 2 && said.contains(wanted), "{args:?}: {code} {said}");
        assert_eq!(names(folder), ["cut.yaml", "dangling.out", "long.yaml", "short.yaml"], "{args:?}");
    }
}

#[test]
fn a_full_device_is_named_and_is_exit_1() {
    let folder = folder();
    for args in [
        &["run", "short.yaml", "--record-schedule", "/dev/full"][..],
        &["run", "short.yaml", "--explain-decisions", "/dev/full"],
        &["report", "short.yaml", "-o", "/dev/full"],
    ] {
        let (code, said) = run(folder.path(), args);
        assert!(
            code == 1 && said.contains("cannot write") && !said.contains(".oversim-"),
            "{args:?}: {said}"
        );
    }
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for args in [&["--help"][..], &["--version"], &["run", "short.yaml"], &["list", "policies"]] {
        let done = command(folder.path(), args).stdout(full()).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{args:?}");
    }
}

#[test]
fn a_reader_that_goes_away_changes_neither_the_exit_code_nor_other_outputs() {
    let folder = folder();
    let folder = folder.path();
    let closed = |args: &[&str]| {
        let mut child = command(folder, args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        child.wait().unwrap().code().unwrap()
    };
    assert_eq!(closed(&["run", "cut.yaml"]), 1);
    assert_eq!(
        closed(&["compare", "seventeen_on_sixteen", "--policy", "LOAD,PIN", "--set", "apps.ep.tasks=17"]),
        1
    );
    assert_eq!(closed(&["list", "metrics"]), 0);
    let written = ["--record-schedule", "s.ndjson", "-o", "D", "--trace", "t.ftrace"];
    let args: Vec<&str> =
        ["run", "short.yaml", "--policy", "PIN", "--repeat", "1"].into_iter().chain(written).collect();
    assert_eq!(closed(&args), 0);
    assert_eq!(closed(&["run", "short.yaml", "--explain-decisions", "-", "-o", "E"]), 0);
    assert_eq!(closed(&["run", "cut.yaml", "--explain-decisions", "-"]), 1);
    for file in ["s.ndjson", "t.ftrace", "D/result.json", "E/report.txt"] {
        assert!(fs::metadata(folder.join(file)).unwrap().len() > 40, "{file}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_closed_output_is_a_warning_and_one_that_goes_to_the_null_device_is_none() {
    let warned = |redirection: &str| {
        let line = format!("exec {} list policies {redirection}", env!("CARGO_BIN_EXE_oversim"));
        let done = Command::new("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{redirection}");
        String::from_utf8(done.stderr).unwrap().contains("standard output is closed")
    };
    assert!(warned(">&-"));
    assert!(!warned("> /dev/null") && !warned("| cat") && !warned("-q >&-"));
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Linux lists the ignored signals in `/proc/self/status`, one bit each.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn a_signal_leaves_no_file_and_is_the_exit_code() {
    let folder = folder();
    let folder = folder.path();
    let hidden = || names(folder).iter().any(|name| name.starts_with(".oversim-"));
    // A process in the background of a shell ignores SIGINT, one under nohup SIGHUP, and so do those that it
    // starts.
    let all = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];
    for (sent, code) in all.into_iter().filter(|(signal, _)| !is_ignored(*signal)) {
        let mut child = command(folder, &["run", "long.yaml", "--explain-decisions", "d.ndjson"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        eventually("a file in the making", hidden);
        signal(&child, sent);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(names(folder), ["cut.yaml", "long.yaml", "short.yaml"]);
    }
}

#[test]
fn a_signal_that_the_parent_ignores_is_ignored() {
    let folder = folder();
    let program = assert_cmd::cargo::cargo_bin("oversim");
    let line = "trap '' HUP; exec \"$0\" run long.yaml --explain-decisions d.ndjson";
    let mut child = Command::new("sh")
        .args(["-c", line])
        .arg(program)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let hidden = || names(folder.path()).iter().any(|name| name.starts_with(".oversim-"));
    eventually("a file in the making", hidden);
    signal(&child, Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "the signal ended it");
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn finished_seeds_are_kept_where_asked() {
    let folder = folder();
    let folder = folder.path();
    let child = command(folder, &["run", "long.yaml", "-o", "D", "--keep-finished", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    signal(&child, Signal::TERM);
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(143), "{said}");
    let kept: Value = serde_json::from_slice(&fs::read(folder.join("D/result.json")).unwrap()).unwrap();
    let repeat = kept["provenance"]["repeat"].as_u64().unwrap();
    assert!(repeat > 0 && repeat < 10_000, "{repeat}");
    let again = command(
        folder,
        &["run", "long.yaml", "--repeat", &repeat.to_string(), "--format", "json", "--quiet"],
    );
    let again: Value = serde_json::from_slice(&{ again }.output().unwrap().stdout).unwrap();
    assert_eq!(kept["cells"], again["cells"]);
    assert_eq!(kept["provenance"]["digest"], again["provenance"]["digest"]);
    // Without the flag nothing is written.
    let child = command(folder, &["run", "long.yaml", "-o", "E"]).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, Signal::TERM);
    assert_eq!({ child }.wait().unwrap().code(), Some(143));
    assert!(!folder.join("E").exists());
}

#[test]
fn the_room_that_results_need_is_estimated() {
    let folder = folder();
    for name in ["two_spinning_programs", "spin_yield_block", "lgroup_homes"] {
        let text = scenario::built_in::find(name).unwrap().text;
        let policies = experiment::PolicyRegistry::with(&[]).unwrap();
        let overrides = scenario::Overrides { repeat: Some(2), ..Default::default() };
        let plan = scenario::load_with(&policies, name, text, &overrides).unwrap();
        let (code, said) = run(folder.path(), &["run", name, "--repeat", "2", "-o", name, "--quiet"]);
        assert_eq!(code, 0, "{said}");
        let files = fs::read_dir(folder.path().join(name)).unwrap();
        let real: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
        let ratio = experiment::size::on_disk(&plan) as f64 / real as f64;
        assert!((0.3..1.1).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn two_writers_into_one_directory_do_not_mix() {
    let folder = folder();
    let folder = folder.path();
    for round in 0..8_u32 {
        let writers: Vec<Child> = ["1", "2", "3"]
            .into_iter()
            .map(|seed| {
                command(folder, &["run", "short.yaml", "--seed", seed, "-o", "D", "--force", "--quiet"])
                    .stdout(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        let text = |name: &str| fs::read_to_string(folder.join("D").join(name)).unwrap();
        let json: Value = serde_json::from_str(&text("result.json")).unwrap();
        let digest = &json["provenance"]["digest"].as_str().unwrap()[..16];
        for name in ["report.txt", "report.md"] {
            assert!(text(name).contains(digest), "round {round}: {name} is of another run");
        }
        assert_eq!(names(&folder.join("D")).len(), 7);
    }
}

#[test]
fn a_cache_directory_keeps_the_files_of_others() {
    let folder = folder();
    let cache = folder.path().join("cache");
    fs::create_dir(&cache).unwrap();
    let mine = cache.join("hogs.ndjson");
    fs::write(&mine, "mine").unwrap();
    let old = std::time::SystemTime::now() - Duration::from_secs(30 * 24 * 3600);
    fs::File::options().write(true).open(&mine).unwrap().set_modified(old).unwrap();
    let args = ["reproduce", "--quick", "--quiet", "--group", "hog", "--cache", "cache", "--format", "csv"];
    let first = command(folder.path(), &args).output().unwrap();
    assert!(first.status.success());
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    // A damaged entry is computed again, and said.
    let file =
        names(&cache).into_iter().find(|name| name.ends_with(".ndjson") && name != "hogs.ndjson").unwrap();
    let path = cache.join(file);
    let text = fs::read_to_string(&path).unwrap();
    let at = text.rfind("\"makespan\":").unwrap() + 11;
    let digit = if text.as_bytes()[at] == b'1' { "2" } else { "1" };
    fs::write(&path, format!("{}{digit}{}", &text[..at], &text[at + 1..])).unwrap();
    let args: Vec<&str> = args.into_iter().filter(|arg| *arg != "--quiet").chain(["--verbose"]).collect();
    let again = command(folder.path(), &args).output().unwrap();
    assert_eq!(first.stdout, again.stdout);
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("1 entry is damaged, computed again"), "{said}");
}

#[test]
fn an_interrupted_reproduction_continues_and_says_the_same() {
    let folder = folder();
    let reproduce = |cache| {
        let args =
            ["reproduce", "--quick", "--quiet", "--group", "counters", "--format", "json", "--jobs", "1"];
        command(folder.path(), &[&args[..], &["--cache", cache]].concat())
    };
    let lines = |cache: &str| {
        let files = fs::read_dir(folder.path().join(cache)).into_iter().flatten();
        files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap().lines().count()).sum::<usize>()
    };
    let child = reproduce("c").stdout(Stdio::null()).spawn().unwrap();
    eventually("finished cells", || lines("c") > 3);
    signal(&child, Signal::TERM);
    assert_eq!({ child }.wait().unwrap().code(), Some(143));
    let before = lines("c");
    let (resumed, whole) = (reproduce("c").output().unwrap(), reproduce("fresh").output().unwrap());
    assert!(resumed.status.success() && before < lines("fresh"), "{before} of {}", lines("fresh"));
    assert_eq!(resumed.stdout, whole.stdout);
}

#[test]
fn every_test_that_the_document_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = |name: &str| fs::read_to_string(root.join("docs/reliability").join(name)).unwrap();
    let pages = page("promises.md") + &page("findings.md");
    let mut tests = String::new();
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                tests += &fs::read_to_string(path).unwrap();
            }
        }
    }
    let mut named = 0;
    for row in pages.lines().filter(|line| line.starts_with('|')) {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        for name in last.split('`').skip(1).step_by(2) {
            assert!(tests.contains(&format!("fn {name}(")), "no test {name}");
            named += 1;
        }
    }
    assert!(named > 50, "{named}");
}

/// The limit is that of `ulimit -f`, in blocks of 512 or 1,024 bytes, as batch systems set it.
#[test]
fn a_limit_of_file_sizes_is_an_error_and_leaves_nothing() {
    let folder = folder();
    let folder = folder.path();
    let swept = "short.yaml --sweep apps.a.tasks=1..12";
    for (number, command) in [
        "run short.yaml --set repeat=40 -o d".to_owned(),
        "run short.yaml --set repeat=40 --record-schedule s".to_owned(),
        "report short.yaml -o r.html".to_owned(),
        format!("sweep {swept} -o w"),
    ]
    .into_iter()
    .enumerate()
    {
        let program = Command::cargo_bin("oversim").unwrap();
        let script = format!("ulimit -f 4; exec '{}' {command} -q", program.get_program().to_str().unwrap());
        let done = Command::new("sh").current_dir(folder).args(["-c", &script]).output().unwrap();
        let err = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{number}: {command}: {err}");
        assert!(err.contains("File too large"), "{command}: {err}");
    }
    let hidden = |entry: &Path| entry.file_name().unwrap().to_str().unwrap().starts_with(".oversim-");
    let here = fs::read_dir(folder).unwrap().chain(fs::read_dir(folder.join("w")).unwrap());
    for entry in here.chain(fs::read_dir(folder.join("w/parts")).unwrap()) {
        let path = entry.unwrap().path();
        assert!(!hidden(&path), "{}", path.display());
    }
}

#[test]
fn variables_of_libraries_do_not_decide_on_threads() {
    let folder = folder();
    let folder = folder.path();
    for (name, value) in [("RAYON_NUM_THREADS", "5000"), ("RUST_MIN_STACK", "1")] {
        let mut command = command(folder, &["run", "short.yaml"]);
        let done = command.env(name, value).output().unwrap();
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    }
}
