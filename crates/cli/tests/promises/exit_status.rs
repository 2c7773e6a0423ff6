//! The exit statuses of `docs/command-line.md`, each provoked.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{child, oversim, source};

const SHORT: &str = "name: short\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\npolicies: [LOAD]\n\
    apps: { a: { workload: { hog: { work: 20ms } }, tasks: 3 } }\n";
/// Thousands of runs: it lasts minutes.
const LONG: &str = "name: long\nmachine: core:4\nkernel: linux-6.18\nbaseline: none\npolicies: [LOAD]\n\
    repeat: 10000\n\
    apps: { a: { workload: { spmd: { work: 20s, intervals: 2000, spread: 10% } }, tasks: 6,\n    \
    runtime: yield } }\n";
/// A file of rt-app with a key that scenarios do not have.
const PART: &str = "{ \"tasks\": { \"t\": { \"loop\": 2, \"run\": 2000, \"util_max\": 9 } } }";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("short.yaml", SHORT), ("long.yaml", LONG), ("part.json", PART)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The exit status of a command that gets this signal once `begun` holds.
fn signalled(folder: &Path, args: &[&str], signal: Signal, begun: impl FnMut() -> bool) -> i32 {
    let mut child = child(folder, args);
    eventually("the work begins", begun);
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait().unwrap().code().unwrap()
}

/// Whether this process, and so its children, ignore a signal.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

/// The statuses in the first column of the page's table.
fn of_the_page() -> BTreeSet<i32> {
    let page = source("docs/command-line.md");
    let table = page.split("## Exit status").nth(1).unwrap().split("\n## ").next().unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let numbers = cells.flat_map(|cell| cell.split(", ")).filter_map(|number| number.parse().ok());
    numbers.collect()
}

#[test]
fn every_exit_status_of_the_page_is_provoked() {
    let folder = folder();
    let folder = folder.path();
    let mut provoked = BTreeSet::new();
    for (wanted, args) in [
        (0, &["run", "short.yaml"][..]),
        (1, &["run", "short.yaml", "--set", "horizon=1ms"]),
        (2, &["run", "nowhere.yaml"]),
        (2, &["run", "short.yaml", "--sets", "a=1"]),
        (2, &["list", "nothing"]),
        (3, &["import", "part.json"]),
    ] {
        let (code, _, err) = oversim(folder, args);
        assert_eq!(code, wanted, "{args:?}: {err}");
        provoked.insert(code);
    }
    let part = folder.join("s/parts/0-of-1.open");
    let begun = || fs::metadata(&part).is_ok_and(|about| about.len() > 0);
    let sweep = ["sweep", "long.yaml", "-o", "s", "--jobs", "1"];
    provoked.insert(signalled(folder, &sweep, Signal::TERM, begun));
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        let wanted = 128 + signal.as_raw();
        if is_ignored(signal) {
            // A shell starts programs in the background with SIGINT ignored, `nohup` with SIGHUP.
            provoked.insert(wanted);
            continue;
        }
        let making = || {
            let mut names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            names.any(|name| name.to_string_lossy().starts_with(".oversim-"))
        };
        let run = ["run", "long.yaml", "--explain-decisions", "d.ndjson"];
        assert_eq!(signalled(folder, &run, signal, making), wanted);
        provoked.insert(wanted);
    }
    assert_eq!(provoked, of_the_page());
}
