//! `oversim twin record`. A host that does not let this user record skips what needs a recording; what it
//! says then is looked at.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A recording in a folder of its own.
struct Recorder {
    folder: tempfile::TempDir,
    child: Child,
}

impl Recorder {
    /// Starts one of a shell script, in which `$F` is the folder.
    fn start(flags: &[&str], script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("oversim"));
        command.args(["twin", "record", "-o", "out.gz"]).args(flags).args(["--", "sh", "-c", script]);
        command.current_dir(folder.path()).env("F", folder.path()).env("OMP_NUM_THREADS", "2");
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Self { folder, child: child.unwrap() }
    }

    /// Waits for a file that the script writes, and reads a number in it; none if the recorder has ended.
    fn number(&mut self, name: &str) -> Option<u32> {
        let path = self.folder.path().join(name);
        loop {
            if let Some(number) = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()) {
                return Some(number);
            }
            if self.child.try_wait().unwrap().is_some() {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap(), signal).unwrap();
    }

    /// Its end; none where this host cannot record.
    fn end(self) -> Option<(Output, tempfile::TempDir)> {
        let output = self.child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("cannot record") {
            let ways = ["sudo", "CONFIG_", "mount -t tracefs"];
            assert!(output.status.code() == Some(2) && ways.iter().any(|way| said.contains(way)), "{said}");
            return None;
        }
        Some((output, self.folder))
    }
}

/// The text of a recording.
fn text(folder: &Path) -> String {
    let output = Command::new("gzip").arg("-dc").arg(folder.join("out.gz")).output().unwrap();
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A value of the head.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(": "))
}

/// True while there is a process that has not ended.
fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Waits until something has happened.
fn soon(what: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !what() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    what()
}

/// The instance of a recorder, where tracefs is mounted.
fn instance(pid: u32) -> PathBuf {
    Path::new("/sys/kernel/tracing/instances").join(format!("oversim-{pid}"))
}

#[test]
fn a_recording_has_events_and_what_surrounds_the_command() {
    let script = "sleep 0.01 & wait; echo said; exit 3";
    let recorder = Recorder::start(&["--cpus", "0", "--nice", "3"], script);
    let pid = recorder.child.id();
    let Some((output, folder)) = recorder.end() else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == b"said\n", "{said}");
    assert!(said.contains("exit status: 3") && said.contains("oversim twin import out.gz"), "{said}");
    let text = text(folder.path());
    assert!(text.starts_with("# oversim twin record\n"));
    let expected =
        [("status", "exit 3"), ("mask", "0"), ("nice", "3"), ("clock", "mono"), ("class", "other")];
    assert!(expected.iter().all(|(key, known)| value(&text, key) == Some(known)), "{text}");
    assert_eq!(value(&text, "command"), Some(format!("sh -c '{script}'").as_str()));
    assert!(text.lines().any(|line| line == "# env: OMP_NUM_THREADS=2"));
    let number = |key| value(&text, key).and_then(|number| number.parse::<u64>().ok()).unwrap();
    assert!(
        number("wall_ns") >= 10_000_000 && number("events") > 10 && number("end_ns") > number("start_ns")
    );
    let first = format!("next_comm=sh next_pid={}", number("pid"));
    let events = ["sched_process_fork: ", "sched_process_exec: ", "sched_waking: ", &first];
    assert!(events.iter().all(|event| text.contains(event)), "{text}");
    assert!(!instance(pid).exists());
}

#[test]
fn a_command_that_does_not_exist_leaves_no_recording() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("oversim"));
    let output =
        command.args(["twin", "record", "/no/such/program"]).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("cannot record") || said.contains("there is no command /no/such/program"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_signal_ends_the_command_and_what_it_started_and_keeps_the_recording() {
    let mut recorder = Recorder::start(&[], "sleep 600 & echo $! > $F/pid; wait");
    let sleeper = recorder.number("pid");
    if sleeper.is_some() {
        recorder.send(Signal::TERM);
    }
    let Some((output, folder)) = recorder.end() else { return };
    assert!(output.status.success());
    assert_eq!(value(&text(folder.path()), "status"), Some("signal 15"));
    assert!(!lives(sleeper.unwrap()));
}

#[test]
fn a_recorder_that_is_killed_leaves_nothing() {
    let mut recorder = Recorder::start(&[], "trap '' TERM; sleep 600 & echo $! > $F/pid; wait");
    let Some(sleeper) = recorder.number("pid") else {
        assert!(recorder.end().is_none());
        return;
    };
    let pid = recorder.child.id();
    recorder.send(Signal::KILL);
    assert!(soon(|| !lives(sleeper) && !instance(pid).exists()));
    // The command's ends of the pipes are closed, so this ends.
    let Some((_, folder)) = recorder.end() else { return };
    assert!(!folder.path().join("out.gz").exists());
}

#[test]
fn a_recording_ends_before_its_command() {
    let Some((_, folder)) = Recorder::start(&["--for", "50ms"], "sleep 0.3; echo > $F/after").end() else {
        return;
    };
    let text = text(folder.path());
    let number = |key| value(&text, key).and_then(|number| number.parse::<u64>().ok()).unwrap();
    assert!(number("end_ns") - number("start_ns") < number("wall_ns"));
    assert!(value(&text, "status") == Some("exit 0") && folder.path().join("after").exists());
}

#[test]
fn two_recordings_at_the_same_time_hold_their_own_commands() {
    let both = ["true one", "true two"].map(|script| Recorder::start(&[], script));
    for (recorder, script) in both.into_iter().zip(["true one", "true two"]) {
        let Some((output, folder)) = recorder.end() else { return };
        assert!(output.status.success());
        assert_eq!(value(&text(folder.path()), "command"), Some(format!("sh -c '{script}'").as_str()));
    }
}

#[test]
fn marks_are_set_at_outlined_functions_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("p.c"), folder.path().join("a program"));
    let code = "__attribute__((noinline)) void work(void) __asm__(\"main._omp_fn.0\");\nvolatile int n;\n\
        void work(void) { n++; }\nint main(void) { work(); work(); return 0; }\n";
    fs::write(&source, code).unwrap();
    let compiled = Command::new("gcc").args(["-O1", "-o"]).arg(&program).arg(&source).output();
    if !compiled.is_ok_and(|done| done.status.success()) {
        return;
    }
    let out = folder.path().join("out.gz");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("oversim"));
    command.args(["twin", "record", "--marks", "-o"]).arg(&out).arg("--").arg("env").arg(&program);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // Not permitted, or a kernel without uprobes.
    if said.contains("cannot record") || said.contains("CONFIG_UPROBE_EVENTS") {
        return;
    }
    let text = text(folder.path());
    assert_eq!(value(&text, "mark"), Some("w_main__omp_fn_0 main._omp_fn.0"), "{said}");
    let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!((count(" w_main__omp_fn_0: "), count(" w_main__omp_fn_0__return: ")), (2, 2));
    let probes = fs::read_to_string("/sys/kernel/tracing/uprobe_events").unwrap_or_default();
    assert!(!probes.contains(&*folder.path().to_string_lossy()));
}
