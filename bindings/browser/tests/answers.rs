//! What pages are answered: results, errors with places, timelines without gaps; never a panic.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use oversim_browser::answer;
use serde_json::{Value, json};

fn text(name: &str) -> &'static str {
    scenario::built_in::find(name).unwrap().text
}

fn run(text: &str, request: &Value) -> Value {
    serde_json::from_str(&answer::run(text, &request.to_string(), &|_, _| ())).unwrap()
}

#[test]
fn a_run_is_answered_with_text_result_and_digest() {
    let answer = run(text("two_hogs_one_core"), &json!({"name": "two_hogs_one_core"}));
    assert_eq!(answer["ok"], true);
    assert!(answer["text"].as_str().unwrap().contains("LOAD with hogs.tasks=2: 4.01 s."), "{answer}");
    assert_eq!(answer["digest"], answer["result"]["provenance"]["digest"]);
    assert_eq!(answer["timeline"], Value::Null);
}

#[test]
fn changes_of_the_request_count() {
    let request = json!({"set": ["apps.hogs.tasks=3"], "seed": 7, "repeat": 2});
    let answer = run(text("two_hogs_one_core"), &request);
    let provenance = &answer["result"]["provenance"];
    assert_eq!(provenance["overrides"], json!(["apps.hogs.tasks=3", "seed=7", "repeat=2"]), "{provenance}");
}

#[test]
fn progress_counts_the_runs() {
    let counts = std::sync::Mutex::new(Vec::new());
    let count = |done, all| counts.lock().unwrap().push((done, all));
    let _ = answer::run(text("two_hogs_one_core"), r#"{"repeat": 1}"#, &count);
    // One task and two, and a dedicated run of each.
    assert_eq!(*counts.lock().unwrap(), [(1, 4), (2, 4), (3, 4), (4, 4)]);
}

#[test]
fn slices_of_a_row_follow_each_other_without_gap() {
    let request = json!({"repeat": 1, "timeline": true, "set": ["apps.ep.tasks=17"]});
    let answer = run(text("seventeen_on_sixteen"), &request);
    let timeline = &answer["timeline"];
    assert_eq!(timeline["runs"].as_array().unwrap().len(), 3);
    for run in timeline["runs"].as_array().unwrap() {
        let mut ends =
            vec![timeline["from_ns"].as_u64().unwrap(); timeline["rows"].as_array().unwrap().len()];
        for slice in run["slices"].as_array().unwrap() {
            let at = |place: usize| slice[place].as_u64().unwrap();
            let row = &mut ends[at(0) as usize];
            // The first slice may have begun before the window.
            assert!(
                at(1) == *row || (*row == timeline["from_ns"] && at(1) < *row),
                "{slice} begins after {row}"
            );
            assert!(at(2) > at(1));
            let parts: u64 = slice[5].as_array().unwrap().iter().map(|part| part[1].as_u64().unwrap()).sum();
            let rounded = at(2) - at(1) - parts.min(at(2) - at(1));
            assert!(rounded <= 10, "{slice}: {rounded} ns are in no part");
            *row = at(2);
        }
        assert!(ends.iter().all(|end| *end > timeline["from_ns"].as_u64().unwrap()));
    }
}

#[test]
fn errors_have_line_column_and_help() {
    let broken = text("two_hogs_one_core").replace("machine:", "machne:");
    let line = 1 + broken.lines().position(|line| line.starts_with("machne")).unwrap();
    let answer = run(&broken, &json!({}));
    let first = &answer["errors"][0];
    assert_eq!(
        (answer["ok"].as_bool(), first["line"].as_u64()),
        (Some(false), Some(line as u64)),
        "{answer}"
    );
    assert_eq!((first["column"].as_u64(), first["end_column"].as_u64()), (Some(1), Some(7)));
    assert!(first["help"].as_str().unwrap().contains("`machine`"), "{first}");
    let answer = run(text("two_hogs_one_core"), &json!({"set": ["kernel=linux-9"]}));
    assert!(answer["errors"][0]["source"].as_str().is_some(), "{answer}");
    let answer = run(text("two_hogs_one_core"), &json!({"policy": "PIN"}));
    assert!(answer["errors"][0]["message"].as_str().unwrap().contains("`policy`"), "{answer}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let set = json!({"set": ["machine=package:1024 core:1024", "apps.hogs.tasks=4000000"]});
    let answer = run(text("two_hogs_one_core"), &set);
    assert_eq!(answer["ok"], false, "{answer}");
}

#[test]
fn descriptions_name_what_can_be_set() {
    let described = answer::describe(text("spin_yield_block"), "");
    let described: Value = serde_json::from_str(&described).unwrap();
    assert_eq!(described["policies"], json!(["PIN", "LOAD"]));
    assert_eq!((&described["cpus"], &described["kernel"]), (&json!(16), &json!("linux-2.6.27")));
    let settable = described["settable"].as_array().unwrap();
    for path in ["threads_per_core", "apps.code.runtime", "apps.code.workload.spread", "kernel"] {
        assert!(settable.contains(&json!(path)), "{path} is missing in {settable:?}");
    }
}

#[test]
fn damaged_scenarios_are_answered() {
    for scenario in scenario::built_in::BUILT_IN {
        let length = scenario.text.len();
        for cut in (0..length).step_by(length / 24 + 1).filter(|cut| scenario.text.is_char_boundary(*cut)) {
            let (head, tail) = scenario.text.split_at(cut);
            for damaged in [head.to_owned(), format!("{head}\u{7}{tail}"), format!("{head}99999999999{tail}")]
            {
                let answer: Value = serde_json::from_str(&answer::describe(&damaged, "{}")).unwrap();
                assert!(
                    answer["ok"] == true || !answer["errors"].as_array().unwrap().is_empty(),
                    "{damaged}"
                );
            }
        }
    }
}
