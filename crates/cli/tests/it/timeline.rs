//! `oversim timeline` as a user sees it: text, pictures, remarks, refusals.

use std::fs;

use crate::support::oversim;

const ODD: &str = "\
name: odd
machine: 'package:1 numa:2 core:2'
apps:
  job: { workload: { spmd: { work: 2s, intervals: 4 } }, runtime: upc, tasks: 5 }
policies: [SPEED, PIN, LOAD]
sweep: { machine.migration: [1us, 20us] }
repeat: 2
";

fn timeline(args: &[&str]) -> (i32, String, String) {
    oversim(&[&["timeline", "-"], args].concat(), ODD)
}

#[test]
fn text_has_a_row_per_cpu_and_fits_the_window() {
    let (code, out, err) = timeline(&[]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out.lines().filter(|line| line.starts_with("node ")).count(), 4, "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert!(!out.contains('\u{1b}'), "colours in a pipe: {out}");
    // The worst policy above the best one.
    let shown: Vec<&str> = ["PIN", "SPEED", "LOAD"]
        .into_iter()
        .filter(|name| out.contains(&format!("{name}: computing")))
        .collect();
    assert!(shown.len() == 2 && shown[0] == "PIN", "{out}");
    let first = out.lines().next().unwrap();
    assert!(first.contains(" under PIN, ") && first.contains(&format!(" % under {}.", shown[1])), "{first}");
    // Standard error names the choices that the command made.
    assert!(err.contains("machine.migration=") && err.contains("--policy A,B"), "{err}");
    let (_, _, err) = timeline(&["--quiet"]);
    assert_eq!(err, "");
}

#[test]
fn set_chooses_the_configuration_of_the_sweep_or_another() {
    for value in ["20us", "7us"] {
        let (code, out, err) =
            timeline(&["--set", &format!("machine.migration={value}"), "--policy", "PIN", "--quiet"]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains(&format!("odd under PIN, migration={value}, seed 1: ")), "{out}");
    }
}

#[test]
fn pictures_are_written_whole_in_the_form_of_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (svg, again, png) = (path("a.svg"), path("b.svg"), path("a.PNG"));
    for file in [&svg, &again, &png] {
        let (code, out, err) = timeline(&["--policy", "SPEED,PIN", "-o", file]);
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
        assert!(err.contains("the whole run"), "{err}");
    }
    let text = fs::read_to_string(&svg).unwrap();
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    assert_eq!(text, fs::read_to_string(&again).unwrap());
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    // It is not overwritten by accident.
    let (code, _, err) = timeline(&["-o", &svg]);
    assert!(code == 2 && err.contains("--force"), "{code} {err}");
    let (code, _, err) = timeline(&["-o", &svg, "--force", "--policy", "LOAD"]);
    assert_eq!(code, 0, "{err}");
    assert_ne!(text, fs::read_to_string(&svg).unwrap());
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("none/a.svg");
    let wrong: [(&[&str], &str); 22] = [
        (&["--from", "2s", "--to", "1s"], "before it begins"),
        (&["--from", "100s"], "the longest run ends at"),
        (&["--from", "3"], "a duration needs a unit"),
        (&["--to", "soon"], "--to"),
        (&["--cpus", "4"], "the cpus of package:1 numa:2 core:2 are numbered 0 to 3"),
        (&["--cpus", "x"], "is not a cpu or a range of cpus"),
        (&["--policy", "SPED"], "did you mean `SPEED`"),
        (&["--policy", "SPEED,PIN,LOAD,ULE,gang"], "at most 4"),
        (&["--set", "machine.migration=1"], "a duration needs a unit"),
        (&["--vary", "apps.job.runtime=spin,yield", "--policy", "SPEED,PIN"], "--vary shows one policy"),
        (&["--vary", "apps.job.runtime"], "write `--vary apps.job.runtime=a,b`"),
        (&["--vary", "machine.migraton"], "did you mean `machine.migration`"),
        (&["--vary", "apps.job.runtme=spin,yield"], "did you mean `apps.job.runtime`"),
        (&["--vary", "apps.job.runtime=spin,yeld"], "did you mean `yield`"),
        (&["--vary", "apps.job.runtime=spin"], "use `--set apps.job.runtime=spin`"),
        (&["--vary", "apps.job.tasks=1,2,3,4,5"], "at most 4 fit"),
        (&["--vary", "machine.migration", "--set", "machine.migration=1us"], "given twice"),
        (&["--vary", "policy=SPEED,PIN"], "`--policy A,B` chooses policies"),
        (&["--sweep", "machine.migration=1us,2us"], "write `--vary machine.migration=1us,2us`"),
        (&["--sweep", "machine.migration=1us"], "write `--set machine.migration=1us`"),
        (&["-o", "a.gif"], ".svg, .png or .pdf"),
        (&["-o", nowhere.to_str().unwrap()], "there is no directory"),
    ];
    for (args, why) in wrong {
        let (code, out, err) = timeline(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A path of a `zip` is stacked with the paths that change together with it.
#[test]
fn the_rows_of_a_zip_are_stacked() {
    let zip = "sweep: { zip: { apps.job.tasks: [2, 5], machine.migration: [1us, 20us] } }";
    let text = ODD.replace("sweep: { machine.migration: [1us, 20us] }", zip);
    let vary = |path: &str| oversim(&["timeline", "-", "--vary", path], &text);
    for (path, labels) in [
        ("apps.job.tasks", ["tasks=2, migration=1us: ", "tasks=5, migration=20us: "]),
        ("machine.migration", ["migration=1us, tasks=2: ", "migration=20us, tasks=5: "]),
    ] {
        let (code, out, err) = vary(path);
        assert_eq!(code, 0, "{err}");
        let headings: Vec<&str> = out.lines().filter(|line| line.contains(": computing ")).collect();
        assert_eq!(headings.len(), 2, "{out}");
        assert!(headings.iter().zip(labels).all(|(heading, label)| heading.starts_with(label)), "{out}");
        assert!(!err.contains("another configuration of the sweep"), "{err}");
    }
    let (code, _, err) = vary("machine.line_far");
    assert!(code == 2 && err.contains("the scenario sweeps apps.job.tasks, machine.migration"), "{err}");
}

#[test]
fn a_setting_is_varied_under_one_policy() {
    let vary = ["--vary", "apps.job.runtime=spin,yield,block"];
    let (code, out, err) = timeline(&vary);
    assert_eq!(code, 0, "{err}");
    let headings: Vec<&str> = out.lines().filter(|line| line.starts_with("runtime=")).collect();
    assert_eq!(headings.len(), 3, "{out}");
    for (heading, way) in headings.iter().zip(["spin", "yield", "block"]) {
        assert!(heading.starts_with(&format!("runtime={way}: computing ")), "{heading}");
    }
    let message = out.lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(message.contains("with runtime=spin, ") && message.contains(" with block."), "{message}");
    assert!(out.contains("odd under SPEED, migration=1us, seed 1: "), "{out}");
    assert!(err.contains("--policy NAME chooses PIN or LOAD") && !err.contains("runtime"), "{err}");
    // Of another policy, as a picture, and the same bytes again.
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for file in [path("a.svg"), path("b.svg"), path("a.png")] {
        let (code, _, err) = timeline(&[&vary[..], &["--policy", "PIN", "-o", &file, "--quiet"]].concat());
        assert_eq!((code, err.as_str()), (0, ""));
    }
    let svg = fs::read_to_string(path("a.svg")).unwrap();
    assert!(svg.contains(">runtime=block<") && svg.contains("odd under PIN"));
    assert_eq!(svg, fs::read_to_string(path("b.svg")).unwrap());
}

#[test]
fn a_swept_path_gives_its_own_values_and_says_which_are_left_out() {
    let (code, out, err) = timeline(&["--vary", "machine.migration", "--policy", "SPEED"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\nmigration=1us: ") && out.contains("\nmigration=20us: "), "{out}");
    assert!(!err.contains("left out") && !err.contains("--set"), "{err}");
    let six = ODD.replace("[1us, 20us]", "[1us, 2us, 3us, 4us, 5us, 6us]");
    let (code, out, err) =
        oversim(&["timeline", "-", "--vary", "machine.migration", "--policy", "SPEED"], &six);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("migration=4us: ") && !out.contains("migration=5us: "), "{out}");
    assert!(err.contains("left out: machine.migration=5us, 6us"), "{err}");
}

#[test]
fn values_without_effect_are_reported() {
    // PIN never migrates; SPEED is not shown.
    let (code, _, err) = timeline(&["--vary", "machine.migration=1us,2us", "--policy", "PIN"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("--vary machine.migration changes nothing under PIN"), "{err}");
    let (_, _, err) = timeline(&["--vary", "policies.SPEED.interval=50ms,200ms", "--policy", "SPEED"]);
    assert!(!err.contains("changes nothing"), "{err}");
    let (_, _, err) = timeline(&["--vary", "policies.LOAD.interval=50ms,200ms"]);
    assert!(err.contains("error"), "{err}");
}

#[test]
fn settings_of_what_is_not_shown_are_reported() {
    let warned = |args: &[&str]| {
        let (code, _, err) = timeline(args);
        assert_eq!(code, 0, "{err}");
        err.contains("has no effect on the runs that are shown")
    };
    assert!(warned(&["--set", "policies.SPEED.interval=70ms", "--policy", "PIN"]));
    assert!(!warned(&["--set", "policies.SPEED.interval=70ms", "--policy", "SPEED,PIN"]));
    // The first value of a swept path is chosen all the same.
    assert!(!warned(&["--set", "machine.migration=1us"]));
    assert!(warned(&["--set", "repeat=7"]) && !warned(&["--set", "name=x"]));
}

#[test]
fn one_policy_is_shown_for_a_few_barriers() {
    let many = ODD.replace("intervals: 4", "intervals: 400");
    let run = |args: &[&str]| oversim(&[&["timeline", "-", "--quiet"], args].concat(), &many).1;
    let out = run(&["--policy", "PIN"]);
    assert!(out.contains("a few barriers"), "{out}");
    let heading = out.lines().find(|line| line.starts_with("PIN: ")).unwrap();
    let (_, count) = heading.split(" barriers").next().unwrap().rsplit_once(' ').unwrap();
    assert!((3..=9).contains(&count.parse::<u32>().unwrap()), "{heading}");
}

#[test]
fn waits_for_locks_have_a_lane_and_nobody_disappears() {
    let text = |lock: &str| {
        format!(
            "name: x\nmachine: core:4\nkernel: linux-6.18\npolicies: [LOAD]\nbaseline: none\napps: {{ queue: {{ tasks: 4, \
             workload: {{ critical-section: {{ count: 20, outside: 100us, inside: 200us, lock: {lock} }} }} }} }}\n"
        )
    };
    let lane = |lock: &str| -> String {
        let (code, out, err) = oversim(&["timeline", "-", "--quiet"], &text(lock));
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("tasks that wait for a lock, asleep or polling"), "{out}");
        let lane = out.lines().find(|line| line.contains("queue lock")).unwrap_or_else(|| panic!("{out}"));
        lane.split_once("lock").unwrap().1.trim().to_owned()
    };
    // One task of four holds the lock, and one works outside it at most: two or three wait, however they do.
    for lock in ["mutex", "ticket"] {
        let lane = lane(lock);
        let most = lane.chars().filter(|sign| ['2', '3'].contains(sign)).count();
        assert!(most * 2 > lane.chars().count(), "{lock}: {lane}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.svg").to_str().unwrap().to_owned();
    let (code, _, err) = oversim(&["timeline", "-", "--quiet", "-o", &file], &text("mutex"));
    let svg = fs::read_to_string(&file).unwrap();
    assert!(code == 0 && svg.contains(">queue lock waits<") && svg.contains(" tasks of queue wait"), "{err}");
    assert!(
        svg.contains("Lock waits: height = tasks that wait for a lock, asleep or polling; full height: ")
    );
    // A daemon that never has most of a character is named.
    let beside = "name: x\nmachine: core:1\npolicies: [LOAD]\nbaseline: none\napps:\n  hog: { tasks: 1, workload: \
                  { hog: { work: 2s } } }\n  tiny: { tasks: 1, background: true, workload: { daemon: { burst: \
                  2ms, pause: 60ms } } }\n";
    let (code, out, err) = oversim(&["timeline", "-", "--quiet", "--from", "0s", "--to", "2s"], beside);
    assert!(code == 0 && out.contains("In no character, but there: tiny ("), "{err}{out}");
}

const LOCKED: &str = "\
name: locked
machine: core:1
kernel: linux-6.18
apps:
  pair:
    program:
      kinds:
        owner: { code: \"repeat 4 { lock door; run 3ms; unlock door; sleep 5ms }\" }
        guest: { code: \"repeat 4 { run 1ms; lock door; run 1ms; unlock door }\" }
policies: [LOAD, PIN]
baseline: none
";

#[test]
fn rows_of_threads_show_who_waits_for_what() {
    let run = |args: &[&str]| oversim(&[&["timeline", "-", "--policy", "LOAD"], args].concat(), LOCKED);
    let (code, out, err) = run(&["--rows", "threads", "--quiet"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    // What all names begin with is left out.
    let is_row = |line: &&str, name: &str| line.starts_with(name) && line.contains("   ");
    let row = |name: &str| out.lines().find(|line| is_row(line, name)).unwrap_or_else(|| panic!("{out}"));
    assert!(row("pair-guest").contains("x") && row("pair-guest").contains('-'), "{out}");
    assert!(row("pair-owner").contains('·') && row("pair-owner").contains('>'), "{out}");
    for text in ["0 computes on this cpu", "-- queued for a cpu", "xx blocked on a lock", "> is woken"] {
        assert!(out.contains(text), "{text}: {out}");
    }
    let (code, out, err) = run(&["--queues", "--quiet"]);
    assert_eq!(code, 0, "{err}");
    let lane = out.lines().find(|line| line.trim_start().starts_with("queued ")).unwrap();
    assert!(lane.contains('1') && out.contains("threads queued for the cpu"), "{out}");
    let wrong: [(&[&str], &str); 6] = [
        (&["--rows", "threads", "--cpus", "0"], "write --threads"),
        (&["--threads", "0"], "write `--rows threads` with it"),
        (&["--rows", "threads", "--queues"], "--queues belongs to rows of cpus"),
        (&["--rows", "threads", "--threads", "0-1"], "write `pair-owner.0-1`"),
        (&["--rows", "threads", "--threads", "pair-owner.3"], "has the threads 0 to 0"),
        (&["--rows", "task"], "invalid value 'task'"),
    ];
    for (args, why) in wrong {
        let (code, out, err) = run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
}

#[test]
fn steps_are_printed_where_nobody_asks_for_them() {
    let run = |args: &[&str]| oversim(&[&["timeline", "-", "--step"], args].concat(), LOCKED);
    let (code, out, err) = run(&["--to", "9ms"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("shown under LOAD; --policy NAME chooses PIN") && !err.contains("further"), "{err}");
    let first = out.lines().next().unwrap();
    assert!(first.starts_with("locked under LOAD, seed 1: ") && first.contains(" steps from "), "{first}");
    for text in [
        "pair-guest.0 finds door taken",
        "falls asleep and waits for door",
        "pair-guest.0 is woken by pair-owner.0",
        " is picked: earliest deadline among the eligible tasks",
        "  runs   pair-owner.0: vruntime ",
        "  queue  pair-guest.0: vruntime ",
        "  queue  empty",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&out).contains(&words(text)), "{text}: {out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert_eq!(run(&["--to", "9ms"]).1, out);
    let wrong: [(&[&str], &str); 5] = [
        (&["--policy", "LOAD,PIN"], "--step shows one run"),
        (&["--cpus", "1"], "numbered 0 to 0"),
        (&["--from", "1000s"], "but the run ends at"),
        (&["--rows", "threads"], "cannot be used with"),
        (&["-o", "x.svg"], "cannot be used with"),
    ];
    for (args, why) in wrong {
        let (code, out, err) = run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(why), "{args:?}: {err}");
    }
    // Many steps are cut, and it is said how to go on.
    let many = LOCKED.replace("repeat 4 {", "repeat 400 {");
    let (code, out, err) = oversim(&["timeline", "-", "--step", "--policy", "PIN"], &many);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("further steps of the window are not shown; --from "), "{err}");
    assert_eq!(out.lines().filter(|line| line.starts_with("0.")).count(), 200, "{out}");
}

#[test]
fn the_default_is_the_worst_value_above_the_best_where_policies_are_level() {
    let text = "\
name: swept
machine: core:4
apps: { job: { workload: { spmd: { work: 100ms, intervals: 2 } }, tasks: 4 } }
policies: [PIN]
sweep: { apps.job.workload.work: [100ms, 300ms, 200ms] }
baseline: none
";
    let (code, out, err) = oversim(&["timeline", "-"], text);
    assert_eq!(code, 0, "{err}");
    let headings: Vec<&str> = out.lines().filter(|line| line.starts_with("work=")).collect();
    assert!(headings.len() == 2, "{out}");
    assert!(headings[0].starts_with("work=300ms: ") && headings[1].starts_with("work=100ms: "), "{out}");
    assert!(err.contains("the worst and the best"), "{err}");
}
