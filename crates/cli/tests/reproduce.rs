//! `oversim reproduce` as a user meets it: claims of one's own, interruptions, wrong input.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::oversim;

/// A claim about one core: a computing task and a thread bound beside it have half of the core each.
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
    assert!(claims[1]["reason"].as_str().expect("a text").contains("no-such-group"));
    assert_eq!(report["groups"][0]["passed"], 1);
    // From what is kept, and from nothing, on more threads: the same bytes.
    assert_eq!(run(&[]).1, first);
    assert_eq!(run(&["--fresh", "--jobs", "2"]).1, first);
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
