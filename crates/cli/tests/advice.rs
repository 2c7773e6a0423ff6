//! Mistyped words: the error names the nearest valid one, and lists are part of it where they are short.

mod support;

use support::oversim;

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
