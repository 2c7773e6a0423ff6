//! `oversim duel`: the scenario it finds runs, with a picture of both policies; what is refused.

use crate::support::oversim;

#[test]
fn the_scenario_that_is_found_runs_and_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (yaml, svg) = (path("lost.yaml"), path("lost.svg"));
    let args = ["duel", "PIN", "LOAD", "--runs", "100", "-o", &yaml, "--timeline", &svg];
    let (code, out, err) = oversim(&args, "");
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("PIN takes ") && out.contains("What makes it: "), "{out}");
    assert!(out.contains(&format!("oversim timeline {yaml} --policy PIN,LOAD")), "{out}");
    assert!(out.lines().count() <= 25, "{out}");
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    let (code, run, err) = oversim(&["run", &yaml, "--repeat", "1"], "");
    assert!(code == 0 && run.contains("PIN"), "{err}");
    let (code, _, err) = oversim(&["timeline", &yaml, "--policy", "PIN,LOAD"], "");
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = oversim(&args, "");
    assert!(code == 2 && err.contains("--force"), "{err}");
}

#[test]
fn the_same_flags_give_the_same_answer_for_any_number_of_threads() {
    let of = |jobs: &str| {
        let args = ["duel", "SPEED", "LOAD", "--runs", "60", "--no-reason", "--format", "json", "-j", jobs];
        oversim(&args, "")
    };
    let (code, out, _) = of("1");
    assert_eq!((code, &out), (0, &of("4").1));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(json["ratio"].as_f64().is_none_or(|ratio| ratio > 1.0), "{out}");
}

#[test]
fn what_no_scenario_could_have_is_refused() {
    for (args, why) in [
        (vec!["duel", "LAOD", "PIN"], "LAOD"),
        (vec!["duel", "LOAD", "PIN", "--kernel", "linus-6.18"], "linus-6.18"),
        (vec!["duel", "LOAD", "PIN", "--timeline", "x.txt"], ".svg, .png or .pdf"),
        (vec!["duel", "LOAD", "PIN", "--runs", "1"], "--runs"),
        (vec!["duel", "LOAD", "PIN", "--objective", "throughput"], "throughput"),
        (vec!["duel", "LOAD", "{ PIN: { nope: 1 } }"], "nope"),
    ] {
        let (code, out, err) = oversim(&args, "");
        assert!(code == 2 && out.is_empty() && err.contains(why), "{args:?}: {code} {err}");
    }
}
