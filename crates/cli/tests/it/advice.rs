//! Mistyped words: the error names the nearest valid one, and lists are part of it where they are short.

use crate::support::oversim;

/// The error, with the exit code of wrong usage.
fn said(args: &[&str]) -> String {
    let (code, out, err) =
        oversim(args, "name: x\nmachine: 'core:1'\napps: { a: { workload: hog } }\npolicies: [LOAD]\n");
    assert!(code == 2 && out.is_empty(), "{args:?}: {code} {out}{err}");
    err
}

#[test]
fn subcommands_flags_and_values() {
    for (args, advice) in [
        (&["rn", "x"][..], "did you mean `run`?"),
        (&["timelin", "x"], "did you mean `timeline`?"),
        (&["machine", "shw"], "did you mean `show`?"),
        (&["run", "--polcy", "LOAD", "x"], "did you mean `--policy`?"),
        (&["compare", "x", "--treshold", "2"], "did you mean `--threshold`?"),
        (&["run", "x", "--format", "jsn"], "did you mean `json`?"),
        (&["list", "polices"], "did you mean `policies`?"),
        (&["completions", "bsh"], "did you mean `bash`?"),
    ] {
        let said = said(args);
        assert!(said.contains(advice) && said.matches("tip:").count() == 1, "{args:?}: {said}");
    }
    let said = said(&["frobnicate"]);
    assert!(!said.contains("tip:") && said.contains("unrecognized subcommand 'frobnicate'"), "{said}");
}

#[test]
fn names_with_the_valid_ones() {
    for (args, advice, valid) in [
        (&["list", "policies", "SPED"][..], "did you mean `SPEED`?", "Valid: LOAD, ULE"),
        (&["list", "machines", "cray"], "no machine is called `cray`.", "Valid: barcelona"),
        (&["run", "-", "--policy", "SPED"], "did you mean `SPEED`?", "LOAD, ULE"),
        (&["plot", "-", "--figure", "slowdwn"], "did you mean `slowdown`?", "Valid: slowdown"),
        (&["compare", "-", "--metric", "run_tme"], "did you mean `run_time`?", "Valid: run_time"),
        (&["man", "rn"], "did you mean `run`?", "Valid: run, compare"),
        (&["machine", "show", "barcelno"], "did you mean `barcelona`?", ""),
        (
            &["machine", "show", "epyc", "--kernel", "linux-2.6.82"],
            "did you mean `linux-2.6.28`?",
            "linux-6.18",
        ),
        (&["explain", "oversubscripton"], "did you mean `oversubscription`?", ""),
        (&["reproduce", "--group", "imbalancd"], "did you mean `imbalanced`?", "Valid: "),
    ] {
        let said = said(args);
        assert!(said.contains(advice) && said.contains(valid), "{args:?}: {said}");
    }
}

/// The mistakes that newcomers made, and the words that lead on.
#[test]
fn typical_mistakes_are_answered_with_the_way_on() {
    let hogs = |rest: &[&'static str]| [&["run", "two_hogs_one_core"], rest].concat();
    for (args, advice) in [
        (vec!["run", "two_hogs"], &["did you mean the built-in scenario `two_hogs_one_core`?"][..]),
        (vec!["run", "hogs"], &["`interactive_beside_hogs`, `two_hogs_one_core`"]),
        (hogs(&["--set", "apps.hogs.workload.work=2"]), &["a duration needs a unit: write `2ms`"]),
        (hogs(&["--set", "tasks=3"]), &["did you mean `apps.hogs.tasks`?"]),
        (hogs(&["--cores", "4"]), &["`--set machine=core:4`"]),
        (hogs(&["--threads", "4"]), &["`--set apps.NAME.tasks=4`"]),
        (hogs(&["--seed", "-1"]), &["a seed is a whole number from 0 on"]),
        (hogs(&["--seed=-1"]), &["a seed is a whole number from 0 on"]),
        (hogs(&["--policy", "SRPT"]), &["unknown policy `SRPT`", "`SRTF`"]),
        (hogs(&["--policy", "RR"]), &["`FIFO` with a short `slice`"]),
        (hogs(&["--set", "apps.hogs.scheduling=fifo"]), &["real-time policy", "write `{ fifo: 50 }`"]),
        (hogs(&["--set", "apps.hogs.scheduling=SCHED_RR"]), &["write `{ rr: 50 }`"]),
        (vec!["lesson", "two"], &["`oversim lesson 2`"]),
    ] {
        let said = said(&args);
        assert!(advice.iter().all(|part| said.contains(part)), "{args:?}: {said}");
        assert!(!said.contains("foreground") && said.matches("error:").count() == 1, "{args:?}: {said}");
    }
}

#[test]
fn flags_have_the_same_letter_and_words_may_look_like_flags() {
    let folder = tempfile::tempdir().unwrap();
    let crate_folder = folder.path().join("mine");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let written = crate_folder.to_str().unwrap();
    let (code, _, errors) = oversim(&["new", "policy", "MINE", "-o", written, "--path", root], "");
    assert!(code == 0 && crate_folder.join("Cargo.toml").is_file(), "{errors}");
    let (code, page, errors) = oversim(&["explain", "--cpu-bind"], "");
    assert!(code == 0 && page.starts_with("srun (term)"), "{page}{errors}");
}

#[test]
fn files_of_other_programs_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, format) in [
        ("a.swf", "1 0 10 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1\n", "Standard Workload Format"),
        ("rt.json", "{\"tasks\": {\"t\": {\"loop\": -1, \"run\": 20000, \"sleep\": 80000}}}\n", "rt-app"),
        ("perf.txt", " a 1 [001] 12.3: sched:sched_switch: a:1 [120] R ==> b:2 [120]\n", "perf script"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let said = said(&["run", path.to_str().unwrap()]);
        let way = if name == "perf.txt" { "oversim explain" } else { "oversim import" };
        assert!(said.contains(format) && said.contains(way), "{said}");
        assert!(!said.contains("mapping"), "{said}");
    }
}

#[test]
fn a_long_line_is_not_underlined_from_end_to_end() {
    let list: String = (0..60).map(|n| format!("name{n} ")).collect();
    let text = format!("{list}\n");
    let (code, _, errors) = oversim(&["check", "-"], &text);
    let longest = errors.split(|c| c != '^').map(str::len).max().unwrap_or(0);
    assert!(code == 2 && (1..=60).contains(&longest), "{errors}");
}
