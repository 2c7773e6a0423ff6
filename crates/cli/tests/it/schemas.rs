//! Real output is what the published schemas say, and the schemas know every field of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::oversim;
use notation::yaml::{Content, Node, tree};
use serde_json::Value;

const TINY: &str = "\
name: tiny
machine: 'package:2 numa:1 core:2'
apps:
  a: { workload: { spmd: { work: 40ms, intervals: 10, spread: 10% } }, runtime: upc }
  b: { workload: { spmd: { work: 80ms, intervals: 5, spread: 10% } }, runtime: upc }
policies: [LOAD, PIN]
sweep: { threads_per_core: [1, 2] }
best_partition: true
repeat: 2
";

fn schema(of: &str) -> Value {
    let (code, text, err) = oversim(&["schema", of], "");
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&text).unwrap()
}

fn complaints(schema: &Value, instance: &Value) -> Vec<String> {
    let validator = jsonschema::draft7::new(schema).unwrap();
    validator.iter_errors(instance).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// The scenario's result, with partitions, notes and replays in it.
fn results() -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let schedule = folder.path().join("schedule.ndjson");
    let schedule = schedule.to_str().unwrap();
    let whole = TINY.replace("best_partition: true\n", "");
    let parse = |(code, out, err): (i32, String, String)| -> Value {
        assert!(code < 2, "{err}");
        serde_json::from_str(&out).unwrap()
    };
    let run = ["run", "-", "--format", "json"];
    vec![
        parse(oversim(&run, TINY)),
        parse(oversim(&run, &format!("{whole}horizon: 1ms\n"))),
        parse(oversim(&[&run[..], &["--record-schedule", schedule]].concat(), &whole)),
        parse(oversim(&[&run[..], &["--replay-schedule", schedule]].concat(), &whole)),
    ]
}

#[test]
fn results_are_as_their_schema_says() {
    let schema = schema("result");
    let results = results();
    for result in &results {
        assert_eq!(complaints(&schema, result), Vec::<String>::new());
    }
    assert!(!results[0]["best_partitions"].as_array().unwrap().is_empty());
    assert!(!results[1]["notes"].as_array().unwrap().is_empty());
    assert!(!results[3]["replays"].as_array().unwrap().is_empty());
    // The schema is no rubber stamp.
    for (path, wrong) in
        [("/schema", "oversim.result/1"), ("/cells/0/mean", "x"), ("/comparisons/0/verdict", "x")]
    {
        let mut broken = results[0].clone();
        *broken.pointer_mut(path).unwrap() = wrong.into();
        assert!(!complaints(&schema, &broken).is_empty(), "{path}");
    }
    let mut broken = results[0].clone();
    broken.as_object_mut().unwrap().remove("cells");
    assert!(!complaints(&schema, &broken).is_empty());
}

#[test]
fn every_field_is_described() {
    let schema = schema("result");
    for result in results() {
        for (list, definition) in [
            ("provenance", "Provenance"),
            ("cells", "Cell"),
            ("comparisons", "Comparison"),
            ("notes", "Note"),
            ("replays", "Replay"),
            ("best_partitions", "BestPartition"),
        ] {
            let first =
                if list == "provenance" { result.get(list) } else { result.pointer(&format!("/{list}/0")) };
            for field in first.into_iter().flat_map(|item| item.as_object().unwrap().keys()) {
                let described = &schema["definitions"][definition]["properties"][field];
                assert!(described.is_object(), "{definition}.{field} is not in the schema");
            }
        }
    }
}

#[test]
fn lines_and_comparisons_are_as_their_schemas_say() {
    let (lines, compare) = (schema("result-line"), schema("compare"));
    let (code, text, err) = oversim(&["run", "-", "--format", "ndjson"], TINY);
    assert_eq!(code, 0, "{err}");
    let mut kinds = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        kinds.push(line["kind"].as_str().unwrap().to_owned());
        // One cell is like another.
        if line["kind"] != "cell" || line["metric"] == "run_time" {
            assert_eq!(complaints(&lines, &line), Vec::<String>::new(), "{line}");
        }
    }
    kinds.dedup();
    assert_eq!(kinds, ["provenance", "cell", "comparison", "best_partition"]);
    let mut wrong: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    wrong["kind"] = "x".into();
    assert!(!complaints(&lines, &wrong).is_empty());
    let (_, text, err) = oversim(&["compare", "-", "--format", "json"], TINY);
    let contrasts: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{err}"));
    assert_eq!(complaints(&compare, &contrasts), Vec::<String>::new());
}

/// A document as JSON, with numbers and flags where a plain scalar is one.
fn json(node: &Node) -> Value {
    match &node.content {
        Content::Null => Value::Null,
        Content::Scalar(text) => match text.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            text => text.parse::<f64>().map_or_else(|_| text.into(), Value::from),
        },
        Content::List(items) => items.iter().map(json).collect(),
        Content::Map(entries) => entries.iter().map(|e| (e.key.clone(), json(&e.value))).collect(),
    }
}

#[test]
fn machine_files_are_as_their_schema_says() {
    let schema = schema("machine");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines/data");
    let mut checked = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let root = json(&tree(0, &text).unwrap());
        // A text of digits is a number for this test, and one that a scenario may write as a text.
        let wrong: Vec<String> = complaints(&schema, &root);
        assert_eq!(wrong, Vec::<String>::new(), "{}", file.display());
        let mut other = root;
        other["values"]["core_sped"] = other["values"]["core_speed"].clone();
        assert_eq!(complaints(&schema, &other).len(), 1, "{}", file.display());
        checked += 1;
    }
    assert!(checked > 5, "{checked}");
}
