//! `oversim import` and `oversim export`: exit codes, streams, and what `run` says of files of other
//! programs.

use std::fs;

use crate::support::oversim;

const WHOLE: &str = "{ \"tasks\": { \"decoder\": { \"loop\": 2, \"run\": 2000, \"sleep\": 8000 } } }";
const PART: &str = "{ \"tasks\": { \"t\": { \"loop\": 2, \"run\": 2000, \"util_max\": 9 } } }";

#[test]
fn the_exit_code_tells_whether_all_was_taken() {
    let (code, out, err) = oversim(&["import", "-"], WHOLE);
    assert!(code == 0 && out.contains("run 2ms") && err.contains("assumed"), "{code} {err}");
    let (code, out, err) = oversim(&["import", "-"], PART);
    assert!(code == 3 && out.contains("run 2ms"), "{code} {err}");
    assert!(err.contains("left out: line 1: tasks.t.util_max"), "{err}");
    for (form, text) in [("swf", "1 2\n"), ("rt-app", "{\n\"tasks\": ")] {
        let (code, out, err) = oversim(&["import", "-", "--form", form], text);
        assert!(code == 2 && out.is_empty() && err.contains("<stdin>:"), "{code} {err}");
    }
    let (code, out, err) = oversim(&["import", "-"], "hello\n");
    assert!(code == 2 && out.is_empty() && err.contains("`rt-app`") && err.contains("`ostep`"), "{err}");
}

#[test]
fn an_imported_scenario_is_valid_and_is_named_after_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, scenario) = (folder.path().join("a.json"), folder.path().join("mine.yaml"));
    fs::write(&file, WHOLE).unwrap();
    let (file, scenario) = (file.to_str().unwrap(), scenario.to_str().unwrap());
    assert_eq!(oversim(&["import", file, "-o", scenario, "--machine", "barcelona"], "").0, 0);
    assert!(fs::read_to_string(scenario).unwrap().contains("name: mine\nmachine: \"barcelona\""));
    assert_eq!(oversim(&["check", scenario], "").0, 0);
    let (code, _, err) = oversim(&["import", file, "-o", scenario], "");
    assert!(code == 2 && err.contains("--force"), "{err}");
    let (code, out, err) = oversim(&["export", scenario, "--form", "rt-app"], "");
    assert!(code == 0 && out.contains("\"run0\": 2000"), "{code} {out} {err}");
    let (code, _, err) = oversim(&["run", file], "");
    assert!(code == 2 && err.contains("rt-app") && err.contains("oversim import"), "{err}");
}
