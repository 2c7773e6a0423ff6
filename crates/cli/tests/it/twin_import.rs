//! `oversim twin import` and `twin check` as a user sees them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use crate::support::oversim;
use crate::twin_reports::RECORDING;

/// Text of tracefs: `make` starts `cc`, which takes 3.82 ms of cpu time, and waits for its end.
const FORKED: &str = "\
            make-811   [000] .....     7.001000: sched_process_exec: filename=/usr/bin/make pid=811 old_pid=811
            make-811   [000] .....     7.001100: sched_process_fork: comm=make pid=811 child_comm=make child_pid=812
            make-811   [000] d..3.     7.001110: sched_wakeup_new: comm=make pid=812 prio=120 target_cpu=001
          <idle>-0     [001] d..2.     7.001200: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 \
    prev_state=R ==> next_comm=make next_pid=812 next_prio=120
              cc-812   [001] .....     7.001300: sched_process_exec: filename=/usr/bin/cc pid=812 old_pid=812
            make-811   [000] d..2.     7.001400: sched_switch: prev_comm=make prev_pid=811 prev_prio=120 \
    prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
              cc-812   [001] d..3.     7.005010: sched_waking: comm=make pid=811 prio=120 target_cpu=000
              cc-812   [001] d..2.     7.005020: sched_switch: prev_comm=cc prev_pid=812 prev_prio=120 \
    prev_state=Z ==> next_comm=swapper/1 next_pid=0 next_prio=120
          <idle>-0     [000] d..2.     7.005030: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 \
    prev_state=R ==> next_comm=make next_pid=811 next_prio=120
            make-811   [000] d..2.     7.006000: sched_switch: prev_comm=make prev_pid=811 prev_prio=120 \
    prev_state=Z ==> next_comm=swapper/0 next_pid=0 next_prio=120
";

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What a command prints, which goes well.
fn fine(args: &[&str], stdin: &str) -> (String, String) {
    let (code, out, err) = oversim(&[&["twin"], args].concat(), stdin);
    assert!(code == 0, "{args:?}: {code} {err}");
    (out, err)
}

/// What a command says that refuses its input.
fn wrong(args: &[&str], stdin: &str) -> String {
    let (code, out, err) = oversim(&[&["twin"], args].concat(), stdin);
    assert!(code == 2 && out.is_empty(), "{args:?}: {code} {out} {err}");
    err
}

#[test]
fn a_recording_becomes_a_scenario_that_runs_and_is_as_long() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), "run.txt", FORKED);
    let twin = folder.path().join("twin.yaml").to_str().unwrap().to_owned();
    let (out, err) = fine(&["import", &file, "-o", &twin], "");
    assert!(out.is_empty() && err.contains("the program: 2 threads") && err.contains("oversim run"), "{err}");
    let text = fs::read_to_string(&twin).unwrap();
    for part in ["name: twin\n", "about: \"A twin of a recording: ", "fork make_2", "machine: { \"core:2\": "]
    {
        let part = part.replace("make_2", "cc");
        assert!(text.contains(&part), "{part}\n{text}");
    }
    let (out, _) = fine(&["check", &twin, &file], "");
    let row = out.lines().find(|line| line.starts_with("from first to last instant")).unwrap();
    assert!(row.contains(" 5.000 "), "{out}");
    let (code, _, err) = oversim(&["run", &twin], "");
    assert_eq!(code, 0, "{err}");
    // It is not replaced unasked.
    assert!(wrong(&["import", &file, "-o", &twin], "").contains("twin.yaml"));
    fine(&["import", &file, "-o", &twin, "--force"], "");
}

#[test]
fn a_recording_comes_from_standard_input_and_the_scenario_goes_to_standard_output() {
    let (out, _) = fine(&["import", "-"], RECORDING);
    assert!(
        out.starts_with("# Made by `oversim twin import`.\n") && out.contains("acquire make-to-cc1"),
        "{out}"
    );
    let (out, _) =
        fine(&["import", "-", "--edges", "--machine", "core:4", "--kernel", "linux-6.6"], RECORDING);
    assert!(out.contains("machine: core:4\nkernel: linux-6.6\n"), "{out}");
}

#[test]
fn a_part_of_a_recording_is_chosen_by_name_number_and_time() {
    let (out, _) = fine(&["import", "-", "--task", "hog"], RECORDING);
    assert!(out.contains("apps:\n  hog:") && out.contains("other-make-811"), "{out}");
    let (number, _) = fine(&["import", "-", "--task", "813"], RECORDING);
    assert_eq!(number, out);
    let (all, _) = fine(&["import", "-", "--all"], RECORDING);
    assert!(all.contains("the program: 3 threads") && !all.contains("other-"), "{all}");
    let (some, _) = fine(&["import", "-", "--to", "12ms"], RECORDING);
    assert!(some.contains("6 events"), "{some}");
    let said = wrong(&["import", "-", "--task", "nobody"], RECORDING);
    assert!(
        said.contains("no thread of that name or number ran; there are: ") && said.contains("make"),
        "{said}"
    );
    assert!(wrong(&["import", "-", "--from", "1h"], RECORDING).contains("no event is in this part"));
}

#[test]
fn bad_recordings_are_refused_with_their_file_and_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let twin = folder.path().join("twin.yaml");
    let broken = RECORDING.replace("prev_state=S ==>", "prev_state=S ===");
    for (name, text, says) in [
        ("empty.txt", "", "empty.txt"),
        ("prose.txt", "Call me Ishmael.\n", "prose.txt"),
        ("broken.txt", &broken, "broken.txt:4"),
        ("switches.txt", &RECORDING.replace("sched_waking", "sched_blinking"), "switches.txt"),
    ] {
        let file = written(folder.path(), name, text);
        let said = wrong(&["import", &file, "-o", twin.to_str().unwrap()], "");
        assert!(said.contains(says), "{name}: {said}");
        assert!(!twin.exists(), "{name}");
    }
    let missing = folder.path().join("missing.txt");
    assert!(wrong(&["import", missing.to_str().unwrap()], "").contains("missing.txt: No such file"));
    let file = written(folder.path(), "run.txt", RECORDING);
    let said = wrong(&["import", &file, "--machine", "no-such-machine"], "");
    assert!(said.contains("no-such-machine"), "{said}");
    assert!(wrong(&["import", &file, "--quota", "nonsense: ["], "").contains("the twin:"));
    assert!(wrong(&["import", &file, "-o", &file, "--force"], "").contains("run.txt"));
    assert_eq!(fs::read_to_string(&file).unwrap(), RECORDING);
}

#[test]
fn a_run_that_is_far_off_is_said_and_ends_with_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), "run.txt", FORKED);
    let twin = folder.path().join("twin.yaml").to_str().unwrap().to_owned();
    fine(&["import", &file, "-o", &twin], "");
    let text = fs::read_to_string(&twin).unwrap().replace("fork cc", "run 100ms\n            fork cc");
    let slow = written(folder.path(), "slow.yaml", &text);
    let (code, out, err) = oversim(&["twin", "check", &slow, &file], "");
    assert!(
        code == 1 && out.contains("cpu time of make") && err.contains("not to be trusted"),
        "{code} {out} {err}"
    );
}
