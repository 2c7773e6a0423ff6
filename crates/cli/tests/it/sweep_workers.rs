//! Workers of a sweep that are killed, stopped, told to end, or start at the same time: no run is lost.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::sweep::{command, folder, merged, oversim, parts};
use rustix::process::{Pid, Signal, kill_process};

fn started(folder: &Path, args: &[&str]) -> Child {
    command(folder, args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many bytes the journal of all runs has.
fn journal(folder: &Path, directory: &str) -> u64 {
    fs::metadata(folder.join(directory).join("parts/0-of-1.open")).map_or(0, |about| about.len())
}

#[test]
fn twenty_kills_lose_only_the_runs_in_hand() {
    let folder = folder();
    let folder = folder.path();
    let run = ["sweep", "long.yaml", "-o", "killed", "--jobs", "2"];
    let mut there = 0;
    for kill in 0..20_u64 {
        let before = if kill == 0 { 0 } else { parts(folder, "killed").len() };
        // The next worker empties the journal after it has made a part of it.
        let old = journal(folder, "killed");
        let mut child = started(folder, &run);
        // The journal of the killed worker becomes a part; a few runs, then some time within the next ones.
        let ready = |child: &mut Child| kill == 0 || child.try_wait().unwrap().is_some();
        eventually("a part", || ready(&mut child) || parts(folder, "killed").len() > before);
        let grown = |size: u64| size > 2_000 && size != old;
        eventually("runs end", || grown(journal(folder, "killed")) || child.try_wait().unwrap().is_some());
        std::thread::sleep(Duration::from_millis(kill * 7 % 29));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        let (_, status, _) = oversim(folder, &["sweep", "status", "killed"]);
        let count = |line: &str| line.strip_prefix("there: ")?.split(' ').next()?.parse::<u64>().ok();
        let now = status.lines().find_map(count).unwrap();
        assert!(now > there || ended, "{now} runs after {there}");
        there = now;
    }
    // What a worker leaves that is killed between a file and its name; another owner's file stays.
    let left = folder.join("killed/parts");
    fs::write(left.join(".oversim-0-of-1-left"), "half").unwrap();
    fs::write(left.join(".oversim-1-of-2-theirs"), "half").unwrap();
    assert_eq!(oversim(folder, &run).0, 0);
    assert_eq!(oversim(folder, &["sweep", "long.yaml", "-o", "whole", "--jobs", "1"]).0, 0);
    assert!(merged(folder, "killed") == merged(folder, "whole"));
    fs::remove_file(left.join(".oversim-1-of-2-theirs")).unwrap();
    let rest = parts(folder, "killed");
    assert!(rest.iter().all(|name| name.ends_with(".part")), "{rest:?}");
}

/// Whether this process, and so its children, ignore SIGINT: the second bit of the mask in /proc.
fn ignores_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
}

#[test]
fn a_signal_finishes_the_runs_in_hand_and_asks_for_more() {
    let folder = folder();
    let folder = folder.path();
    // One thread, so that a loaded host has seconds for each signal.
    let run = ["sweep", "long.yaml", "-o", "s", "--jobs", "1"];
    // A shell starts programs in the background with SIGINT ignored, and they keep that.
    let sent = [(Signal::TERM, 75), (Signal::INT, 130)];
    for (sent, code) in sent.into_iter().filter(|(signal, _)| *signal != Signal::INT || !ignores_interrupts())
    {
        let mut child = started(folder, &run);
        eventually("runs end", || journal(folder, "s") > 1_000);
        kill_process(Pid::from_child(&child), sent).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let left = parts(folder, "s");
        assert!(left.iter().all(|name| name.ends_with(".part")), "{left:?}");
        assert_eq!(oversim(folder, &["sweep", "status", "s"]).0, 1);
    }
    assert_eq!(oversim(folder, &run).0, 0);
    assert_eq!(oversim(folder, &["sweep", "long.yaml", "-o", "whole"]).0, 0);
    assert!(merged(folder, "s") == merged(folder, "whole"));
}

/// An engine that has lost a worker starts its shard again while the old process may still work on it.
#[test]
fn a_worker_waits_for_another_one_of_its_shard() {
    let folder = folder();
    let folder = folder.path();
    let run = ["sweep", "long.yaml", "-o", "s", "--shard", "0/2", "--jobs", "1"];
    let mut first = started(folder, &run);
    let own = folder.join("s/parts/0-of-2.open");
    eventually("runs end", || fs::metadata(&own).is_ok_and(|about| about.len() > 0));
    kill_process(Pid::from_child(&first), Signal::STOP).unwrap();
    // One is asked to stop while it waits, the other one waits to the end.
    let waiting = || {
        let mut child = command(folder, &run).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("another process works on this shard"), "{line}");
        child
    };
    let (mut second, mut third) = (waiting(), waiting());
    kill_process(Pid::from_child(&second), Signal::TERM).unwrap();
    assert_eq!(second.wait().unwrap().code(), Some(75));
    assert_eq!(oversim(folder, &["sweep", "long.yaml", "-o", "s", "--shard", "1/2"]).0, 0);
    kill_process(Pid::from_child(&first), Signal::CONT).unwrap();
    assert!(first.wait().unwrap().success());
    let mut before = parts(folder, "s");
    // The third one may have opened the shard by now; it closes it when it ends.
    before.retain(|name| !name.ends_with(".open"));
    assert!(third.wait().unwrap().success());
    assert_eq!(parts(folder, "s"), before);
    assert_eq!(oversim(folder, &["sweep", "merge", "s"]).0, 0);
}

/// Slurm sends SIGTERM to a worker and to the shell that started it, which sends it again.
#[test]
fn a_second_sigterm_does_not_interrupt_the_runs_in_hand() {
    let folder = folder();
    let folder = folder.path();
    let mut child = started(folder, &["sweep", "long.yaml", "-o", "s", "--jobs", "2"]);
    eventually("runs end", || journal(folder, "s") > 1_000);
    for _ in 0..2 {
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(child.wait().unwrap().code(), Some(75));
}

/// All tasks of a job array find no directory, or only that of the messages of their engine.
#[test]
fn the_first_workers_may_start_at_the_same_time() {
    let folder = folder();
    let folder = folder.path();
    for attempt in 0..10 {
        let directory = format!("s{attempt}");
        fs::create_dir_all(folder.join(&directory).join("logs")).unwrap();
        let shard = |index: u32| format!("{index}/8");
        let start =
            |index| started(folder, &["sweep", "small.yaml", "-o", &directory, "--shard", &shard(index)]);
        let children: Vec<Child> = (0..8).map(start).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success(), "{attempt}");
        }
        assert_eq!(oversim(folder, &["sweep", "merge", &directory]).0, 0);
        assert!(merged(folder, &directory) == merged(folder, "s0"));
    }
}
