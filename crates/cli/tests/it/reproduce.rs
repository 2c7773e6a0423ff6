//! `oversim reproduce` as a user meets it: claims of one's own, interruptions, wrong input.

use std::fs;
use std::path::Path;

use crate::support::oversim;
use serde_json::Value;

/// A claim about one core: a computing task and a thread bound beside it have half of the core each. It names no
/// cells: they are those of the shipped claim at the same conditions.
const CLAIM: &str = "
documents: { D9: a document }
metrics: { cpu-share: { definition: share of a core, unit: fraction, better: none } }
needs_vocabulary: { cpu-hog: an unrelated task }
claims:
- id: an-input
  kind: calibration
  value: [whatever, this, is]
- id: half
  kind: prediction
  group: hog
  source: a document
  machine: tigerton
  workload: EP + hog
  class: not applicable
  model: upc
  threads: 1 per core
  policy: PIN
  baseline: none
  yield: posix
  wait: poll+yield
  environment: with cpu-hog on core 0
  metric: cpu-share
  unit: fraction
  form: exact
  value: 0.5
  tolerance: { type: abs, value: 0.02 }
  needs: [cpu-hog]
  uncertain: false
- id: nobody-knows
  kind: prediction
  group: no-such-group
  machine: tigerton
  workload: EP
  class: A
  model: upc
  threads: 1 per core
  policy: PIN
  baseline: none
  yield: posix
  environment: dedicated
  metric: cpu-share
  form: exact
  value: 0.5
  tolerance: { type: abs, value: 0.02 }
";

fn claims(directory: &Path, text: &str) -> String {
    let path = directory.join("claims.yaml");
    fs::write(&path, text).expect("the directory is writable");
    path.display().to_string()
}

#[test]
fn a_file_of_claims_is_set_beside_the_simulation() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, cache) = (claims(directory.path(), CLAIM), directory.path().join("cache"));
    let cache = cache.display().to_string();
    let run = |extra: &[&str]| {
        let mut args = vec!["reproduce", "--quick", "--claims", &file, "--cache", &cache, "--format", "json"];
        args.extend(extra);
        oversim(&args, "")
    };
    let (code, first, errors) = run(&["--jobs", "1"]);
    assert_eq!(code, 0, "{errors}");
    let report: Value = serde_json::from_str(&first).expect("it is JSON");
    assert_eq!(report["schema"], "oversim.reproduce/1");
    let claims = report["claims"].as_array().expect("a list");
    assert_eq!(claims.len(), 2, "inputs are left out");
    assert_eq!(claims[0]["verdict"], "pass", "{}", claims[0]);
    assert!((claims[0]["simulated"].as_f64().expect("a number") - 0.5).abs() < 0.02);
    assert_eq!(claims[1]["verdict"], "uncovered");
    assert!(claims[1]["reason"].as_str().expect("a text").contains("names no cells"));
    assert_eq!(report["groups"][0]["passed"], 1);
    // From what is kept, and from nothing, on more threads: the same bytes.
    assert_eq!(run(&[]).1, first);
    assert_eq!(run(&["--fresh", "--jobs", "2"]).1, first);
}

#[test]
fn a_claim_names_its_cells_or_is_not_tested() {
    let directory = tempfile::tempdir().expect("a directory");
    let cache = directory.path().display().to_string();
    let verdict = |text: &str| {
        let file = claims(directory.path(), text);
        let args = ["reproduce", "--quick", "--claims", &file, "--cache", &cache, "--group", "hog"];
        let (code, out, errors) = oversim(&[&args[..], &["--format", "json"]].concat(), "");
        assert_eq!(code, 0, "{errors}");
        let report: Value = serde_json::from_str(&out).expect("it is JSON");
        let claim = &report["claims"][0];
        (claim["verdict"].as_str().expect("a name").to_owned(), claim["reason"].to_string())
    };
    // The published value is that of the file.
    assert_eq!(verdict(&CLAIM.replacen("value: 0.5", "value: 0.9", 1)).0, "fail");
    // At other conditions the shipped cells say nothing.
    let other = CLAIM.replacen("threads: 1 per core", "threads: 3 per core", 1);
    let (name, reason) = verdict(&other);
    assert!(name == "uncovered" && reason.contains("docs/claims.md"), "{reason}");
    // Cells of its own: with three threads the hog has a quarter.
    let own = other.replacen("value: 0.5", "value: 0.25", 1).replacen(
        "  needs: [cpu-hog]\n",
        "  cells:\n  - { at: 'one core, three', value: cpu_per_time }\n",
        1,
    );
    let names = "names:\n  one core: { study: speed_hog, policy: PIN, app: hog, machine: tigerton, apps.a.cpus: 0 }\n  \
        three: { apps.a.tasks: 3 }\nclaims:";
    let own = own.replacen("claims:", names, 1);
    let (name, reason) = verdict(&own);
    assert_eq!(name, "pass", "{reason}");
    // What is wrong with them is said with its place.
    let file = claims(directory.path(), &own.replacen("one core, three", "one core, there", 1));
    let (code, _, errors) = oversim(&["reproduce", "--claims", &file], "");
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("did you mean `three`") && errors.contains("claims.yaml:"), "{errors}");
}

#[test]
fn held_out_claims_are_hidden_and_counted() {
    // FNV-1a-64 modulo 3 is 2 for `half` and 0 for `third`.
    let third = CLAIM
        [CLAIM.find("- id: half").expect("it is there")..CLAIM.find("- id: nobody").expect("it is there")]
        .replace("id: half", "id: third")
        .replace("value: 0.5", "value: 0.9");
    let directory = tempfile::tempdir().expect("a directory");
    let file = claims(directory.path(), &format!("{CLAIM}{third}"));
    let cache = directory.path().display().to_string();
    let shown = |what: &str, format: &str| {
        let args = ["reproduce", "--quick", "--claims", &file, "--cache", &cache, "--group", "hog"];
        let (code, text, errors) =
            oversim(&[&args[..], &["--held-out", what, "--format", format]].concat(), "");
        assert_eq!(code, 0, "{errors}");
        text
    };
    for (what, ids) in [("show", vec!["half", "third"]), ("hide", vec!["half"]), ("only", vec!["third"])] {
        let report: Value = serde_json::from_str(&shown(what, "json")).expect("it is JSON");
        let claims = report["claims"].as_array().expect("a list");
        assert_eq!(claims.iter().map(|claim| claim["id"].as_str().expect("a name")).collect::<Vec<_>>(), ids);
        // One of two is reproduced, the one that is looked at.
        assert_eq!(
            (&report["score"], &report["score_visible"]),
            (&Value::from(0.5), &Value::from(1.0)),
            "{what}"
        );
        assert_eq!(report["score_held_out"], 0.0, "{what}");
    }
    let report: Value = serde_json::from_str(&shown("show", "json")).expect("it is JSON");
    // Half a core, within 0.02; and 0.9 within 0.02, which is 0.38 away.
    let margin = |at: usize| report["claims"][at]["margin"].as_f64().expect("a number");
    assert!((0.0..=0.02).contains(&margin(0)) && (-0.40..-0.36).contains(&margin(1)), "{report}");
    assert_eq!(report["claims"][1]["held_out"], true);
    let table = shown("hide", "csv");
    assert!(
        table.contains("\nscore,") && table.contains("\nscore-held-out,") && !table.contains("third"),
        "{table}"
    );
    for format in ["text", "markdown"] {
        let text = shown("hide", format);
        assert!(
            text.contains("50.0 % (visible: 100.0 %, held out: 0.0 %)") && text.contains("margin"),
            "{text}"
        );
    }
}

#[test]
fn every_form_tells_the_verdicts() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, cache) = (claims(directory.path(), CLAIM), directory.path().display().to_string());
    for format in ["text", "csv", "markdown", "json"] {
        let args = [
            "reproduce",
            "--quick",
            "--claims",
            &file,
            "--cache",
            &cache,
            "--format",
            format,
            "--group",
            "hog",
        ];
        let (code, text, errors) = oversim(&args, "");
        assert_eq!(code, 0, "{errors}");
        assert!(
            text.contains("half") && text.contains("pass") && !text.contains("nobody-knows"),
            "{format}: {text}"
        );
    }
}

#[test]
fn wrong_input_is_refused_with_its_place() {
    let directory = tempfile::tempdir().expect("a directory");
    let changes = [
        ("form: exact", "form: exakt", "did you mean `exact`"),
        ("kind: prediction", "kind: rumour", "unknown kind `rumour`"),
        ("value: 0.5", "value: half", "this must be a number"),
        ("  machine: tigerton\n", "", "no `machine`"),
        ("type: abs", "type: about", "unknown type of tolerance"),
    ];
    for (old, new, message) in changes {
        let file = claims(directory.path(), &CLAIM.replacen(old, new, 1));
        let (code, out, errors) = oversim(&["reproduce", "--claims", &file], "");
        assert_eq!((code, out.as_str()), (2, ""), "{new}: {errors}");
        assert!(errors.contains(message) && errors.contains("claims.yaml:"), "{new}: {errors}");
    }
    let refused = [
        (vec!["reproduce", "--group", "yeild"], "did you mean `yield`? Valid: affinity"),
        (vec!["reproduce", "--machine", "cray"], "no machine is called `cray`. Valid: barcelona"),
        (vec!["reproduce", "--claims", "/no/such/file"], "cannot read"),
        (vec!["reproduce", "--write", "/no/such/directory"], "root directory of the sources"),
        (vec!["reproduce", "--sensitivity", "--quick"], "cannot be used with"),
    ];
    for (args, message) in refused {
        let (code, _, errors) = oversim(&args, "");
        assert_eq!(code, 2, "{args:?}: {errors}");
        assert!(errors.contains(message), "{args:?}: {errors}");
    }
    let empty = claims(directory.path(), "");
    let (code, _, errors) = oversim(&["reproduce", "--claims", &empty], "");
    assert_eq!(code, 2, "{errors}");
}
