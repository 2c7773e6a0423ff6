//! `oversim twin latency`, `timehist`, `split` and `idle` as a user sees them: on a recording, and on a
//! simulated run with the same columns.

use std::fs;

use serde_json::Value;

use crate::support::{flat, oversim};

/// Text of `perf script`: `make` wakes `cc1`, which stays behind it for 8 ms, while cpu 1 idles for 6 ms of
/// these.
pub(crate) const RECORDING: &str = "\
 swapper    0/0    [000]     7.001000000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=make next_pid=811 next_prio=120
 swapper    0/0    [001]     7.001000000: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=hog next_pid=813 next_prio=120
    make  811/811  [000]     7.002000000: sched:sched_waking: comm=cc1 pid=812 prio=120 target_cpu=000
     hog  813/813  [001]     7.004000000: sched:sched_switch: prev_comm=hog prev_pid=813 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
 swapper    0/0    [001]     7.010000000: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=cc1 next_pid=812 next_prio=120
     cc1  811/812  [001]     7.012000000: sched:sched_switch: prev_comm=cc1 prev_pid=812 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
    make  811/811  [000]     7.020000000: sched:sched_switch: prev_comm=make prev_pid=811 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
";

const TINY: &str = "\
name: tiny
machine: 'core:2'
apps:
  a: { workload: { spmd: { work: 40ms, intervals: 10, spread: 10% } }, runtime: block, tasks: 4 }
policies: [LOAD, PIN]
repeat: 2
";

/// What a command prints, each line with single blanks.
fn lines(args: &[&str], stdin: &str) -> Vec<String> {
    let (code, out, err) = oversim(&[&["twin"], args].concat(), stdin);
    assert!(code == 0 && err.is_empty(), "{args:?}: {code} {err}");
    out.lines().map(flat).collect()
}

fn has(lines: &[String], wanted: &str) {
    assert!(lines.iter().any(|line| line == wanted), "`{wanted}` is not in {lines:#?}");
}

#[test]
fn latency_shows_the_delays_of_a_recording() {
    let told = lines(&["latency", "-"], RECORDING);
    has(&told, "cc1:812 2.000 1 8.000 8.000 8.000 8.000 7.002000 7.010000");
    has(&told, "make:811 19.000 1 - - - - - -");
    assert!(
        told[0].starts_with("<stdin>, ")
            && told[0].contains("7 events, 6 switches, 0 of them mended, 0 lost")
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.txt");
    fs::write(&file, RECORDING).unwrap();
    let of_file = lines(&["latency", file.to_str().unwrap()], "");
    assert_eq!(of_file[1..], told[1..]);
}

#[test]
fn timehist_lists_stints_of_a_recording() {
    let told = lines(&["timehist", "-", "--summary"], RECORDING);
    has(&told, "7.004000 [0001] hog[813] 0.000 - 3.000 waits S");
    has(&told, "7.012000 [0001] cc1[812/811] 1.000 8.000 2.000 waits S make[811]");
    has(&told, "cpu 1 idle for 14.000 ms (73.68 %)");
    let some = lines(&["timehist", "-", "--only", "cc"], RECORDING);
    assert_eq!(some.iter().filter(|line| line.contains(" [000")).count(), 1);
    let objects = lines(&["timehist", "-", "--only", "812", "--format", "ndjson"], RECORDING);
    let one: Value = serde_json::from_str(&objects[0]).unwrap();
    assert_eq!((objects.len(), one["delay_s"].as_f64(), one["by"].as_u64()), (1, Some(0.008), Some(811)));
}

#[test]
fn split_says_who_had_the_cpu_of_a_recording() {
    let told = lines(&["split", "-", "--by", "thread"], RECORDING);
    has(&told, "cc1[812] 1 2.000 8.000 2.000 25 % 0.000 0 % 6.000 75 % 1.000 0.000 0.000 0.000");
    let told = lines(&["split", "-"], RECORDING);
    has(&told, "make[811] 2 21.000 8.000 2.000 25 % 0.000 0 % 6.000 75 % 1.000 0.000 0.000 0.000");
}

#[test]
fn idle_lists_periods_of_a_recording() {
    let told = lines(&["idle", "-"], RECORDING);
    has(&told, "7.004000 6.000 8.000 1 cc1[812/811] 1");
    has(&told, "1 period, together 6.000 ms, 31.58 % of 19.000 ms; the longest 6.000 ms");
    assert!(
        lines(&["idle", "-", "--min", "6001us"], RECORDING).iter().any(|line| line.starts_with("0 periods"))
    );
    let (_, out, _) = oversim(&["twin", "idle", "-", "--format", "json"], RECORDING);
    let view: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(view["periods"][0]["cpus"], serde_json::json!([1]));
    assert_eq!(view["recording"]["events"], 7);
}

#[test]
fn a_simulated_run_has_the_same_columns() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tiny.yaml");
    fs::write(&file, TINY).unwrap();
    let file = file.to_str().unwrap();
    let titles = |lines: &[String]| lines.iter().find(|line| line.starts_with("thread ")).unwrap().clone();
    let recorded = lines(&["latency", "-"], RECORDING);
    let told = lines(&["latency", file, "--policy", "LOAD"], "");
    assert_eq!(titles(&told), titles(&recorded));
    assert!(told[0].contains("LOAD, replicate 0, ftrace text of oversim: "), "{}", told[0]);
    // The four tasks share 40 ms of work.
    let total = told.iter().find(|line| line.starts_with("TOTAL:(")).unwrap();
    let run: f64 = total.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((38.0..42.0).contains(&run), "{total}");
    let chosen = lines(&["timehist", file, "--trace-run", "4", "--summary"], "");
    assert!(chosen.iter().any(|line| line.contains(" a.0[1] ")), "{chosen:?}");
    // A built-in scenario, and the same run by its written trace.
    let idle = lines(&["idle", "spec_pair", "--policy", "LOAD", "--min", "0"], "");
    assert!(idle[0].contains("spec_pair"), "{idle:?}");
    let trace = folder.path().join("load.ftrace");
    let trace = trace.to_str().unwrap();
    let (code, _, err) =
        oversim(&["run", file, "--policy", "LOAD", "--trace-run", "2", "--trace", trace], "");
    assert_eq!(code, 0, "{err}");
    assert_eq!(lines(&["latency", trace], "")[1..], told[1..]);
}

#[test]
fn what_cannot_be_reported_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("tiny.yaml"), TINY).unwrap();
    fs::write(path("run.txt"), RECORDING).unwrap();
    fs::write(path("empty.txt"), "").unwrap();
    fs::write(path("other.txt"), "nothing of a scheduler\n").unwrap();
    for (args, says) in [
        (vec!["latency", "RUN.txt", "--policy", "LOAD"], "--policy applies to scenarios only"),
        (vec!["idle", "RUN.txt", "--seed", "1", "--trace-run", "0"], "--seed and --trace-run apply"),
        (vec!["latency", "TINY.yaml"], "a report shows one run and the scenario has 2"),
        (vec!["latency", "TINY.yaml", "--trace-run", "99"], "there is no run 99"),
        (vec!["latency", "TINY.yaml", "--sweep", "apps.a.tasks=1,2"], "a report shows one run"),
        (vec!["latency", "od_thread"], "did you mean the built-in scenario `odd_thread`?"),
        (vec!["timehist", "RUN.txt", "--from", "1s"], "the recording lasts 19.000 ms"),
        (vec!["timehist", "RUN.txt", "--from", "2ms", "--to", "1ms"], "--from is not before --to"),
        (vec!["idle", "RUN.txt", "--min", "1"], "a duration needs a unit"),
        (vec!["split", "EMPTY.txt"], "empty.txt"),
        (vec!["split", "OTHER.txt"], "other.txt"),
        (vec!["split", "RUN.txt", "--by", "cpu"], "process, thread, name"),
    ] {
        let word = |word: &&str| {
            if word.chars().next().unwrap().is_uppercase() && word.contains('.') {
                path(&word.to_lowercase())
            } else {
                (*word).to_owned()
            }
        };
        let words: Vec<String> = args.iter().map(word).collect();
        let words: Vec<&str> = ["twin"].into_iter().chain(words.iter().map(String::as_str)).collect();
        let (code, _, err) = oversim(&words, "");
        assert!(code == 2 && err.contains(says), "{args:?}: {code} {err}");
    }
}

#[test]
fn names_cannot_act_on_the_terminal() {
    let recording = RECORDING.replace("cc1", "c\u{1b}[2J");
    for report in [&["latency"][..], &["timehist", "--summary"], &["split", "--by", "name"], &["idle"]] {
        let (code, out, err) = oversim(&[&["twin"], report, &["-"]].concat(), &recording);
        assert!(code == 0 && !out.contains('\u{1b}') && out.contains("c␛[2J"), "{report:?}: {out}{err}");
    }
}
