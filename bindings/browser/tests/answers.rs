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
    let request = json!({"repeat": 1, "timeline": true, "show": "policies", "set": ["apps.ep.tasks=17"]});
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
fn the_timeline_shows_what_the_answer_compares() {
    let set = json!(["threads_per_core=2"]);
    let request = json!({"policies": ["PIN"], "set": set, "repeat": 1, "timeline": true});
    let answer = run(text("spin_yield_block"), &request);
    let runs = answer["timeline"]["runs"].as_array().unwrap();
    let labels: Vec<&str> = runs.iter().map(|run| run["label"].as_str().unwrap()).collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    let said = |label: &str| {
        let all = answer["said"].as_array().unwrap().iter();
        all.filter(|said| said[0] == label).map(|said| said[1].as_str().unwrap()).collect::<String>()
    };
    // The worse one is above.
    assert!(labels[0].ends_with("runtime=spin") && said("Avoid").contains(labels[0]), "{labels:?} {answer}");
    assert!(said("Best").contains(labels[1]), "{labels:?} {answer}");
    assert!(said("Why").contains("waiting"), "{answer}");
    assert_eq!(answer["goal"], "run_time");
    let values = json!({"policies": ["PIN"], "set": set, "repeat": 1, "timeline": true, "show": "values"});
    let runs = run(text("spin_yield_block"), &values)["timeline"]["runs"].as_array().unwrap().len();
    assert_eq!(runs, 4);
}

#[test]
fn the_decisions_of_a_run_can_be_asked_for() {
    let steps = |request: Value| -> Value {
        serde_json::from_str(&answer::steps(text("two_hogs_one_core"), &request.to_string())).unwrap()
    };
    let answer = steps(json!({"run": [1, 0], "window": [0, 100_000_000]}));
    let all = answer["steps"]["steps"].as_array().unwrap();
    let waits = all.iter().filter(|step| step["queue"].as_array().unwrap().len() == 1);
    assert!(waits.count() > 3, "{answer}");
    assert!(all.iter().any(|step| !step["reason"].as_str().unwrap().is_empty()), "{answer}");
    for wrong in [json!({"run": [9, 0]}), json!({"run": [0, 0], "window": [5, 1]}), json!({"set": ["a=1"]})] {
        let answer = steps(wrong);
        assert!(answer["ok"] == false && answer["why"].as_str().unwrap().len() > 10, "{answer}");
    }
}

#[test]
fn sentences_have_no_flags() {
    for name in ["spin_yield_block", "seventeen_on_sixteen", "two_hogs_one_core"] {
        let answer = run(text(name), &json!({"repeat": 2, "timeline": true}));
        let said = answer["said"].to_string() + &answer["timeline"]["message"].to_string();
        assert!(!said.contains("--"), "{said}");
        assert!(!said.contains("[]"), "{said}");
    }
    let answer = run("", &json!({}));
    assert!(!answer["errors"].to_string().contains("oversim init"), "{answer}");
}

#[test]
fn names_are_explained() {
    let names: Value = serde_json::from_str(&answer::names()).unwrap();
    for (kind, name) in
        [("policy", "PIN"), ("kernel", "linux-6.18"), ("metric", "slowdown"), ("reference", "fair-share")]
    {
        let all = names[kind].as_array().unwrap();
        let line = all.iter().find(|entry| entry[0] == name).unwrap_or_else(|| panic!("{kind} {name}"));
        assert!(line[1].as_str().unwrap().len() > 10, "{line}");
        let page: Value = serde_json::from_str(&answer::explained(&format!("{kind}:{name}"))).unwrap();
        assert_eq!((&page["ok"], &page["pages"][0]["name"]), (&json!(true), &json!(name)), "{page}");
    }
    let wrong: Value = serde_json::from_str(&answer::explained("policy:PINN")).unwrap();
    assert!(wrong["why"].as_str().unwrap().contains("PIN"), "{wrong}");
}

#[test]
fn a_result_can_be_saved() {
    let answer = run(text("two_hogs_one_core"), &json!({}));
    let table = answer["csv"].as_str().unwrap();
    assert!(table.lines().next().unwrap().contains("policy") && table.lines().count() > 3, "{table}");
    let drawn = answer::picture(text("two_hogs_one_core"), "");
    assert!(drawn.starts_with("<svg") || drawn.starts_with("<?xml"), "{drawn}");
    assert_eq!(answer::picture("machine: nothing", ""), "");
}

#[test]
fn the_slice_of_each_kernel_can_be_set() {
    for (kernel, path) in [
        ("linux-6.18", "kernel.slice"),
        ("linux-2.6.18", "kernel.timeslice"),
        ("linux-2.6.28", "kernel.latency"),
    ] {
        let request = json!({"set": [format!("kernel={kernel}")]}).to_string();
        let described: Value =
            serde_json::from_str(&answer::describe(text("two_hogs_one_core"), &request)).unwrap();
        assert_eq!(described["slice"], path);
        let set = json!({"set": [format!("kernel={kernel}"), format!("{path}=1ms")]});
        assert_eq!(run(text("two_hogs_one_core"), &set)["ok"], true);
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
