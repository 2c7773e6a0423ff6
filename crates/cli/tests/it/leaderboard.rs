//! `oversim leaderboard` and `oversim tune`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{flat, oversim};

/// Threads that sleep at barriers, beside hogs.
const TEAM: &str = "name: team\nmachine: core:2\nkernel: linux-6.18\npolicies: [LOAD]\nbaseline: none\n\
    objective: makespan\napps:\n  team: { workload: { spmd: { work: 40ms, intervals: 20, spread: 10% } }, \
    runtime: block, tasks: 2 }\n  hogs: { workload: hog, tasks: 2 }\n";
/// Groups, which policies that order queues refuse.
const GROUPS: &str = "name: groups\nmachine: core:2\nkernel: linux-6.18\npolicies: [LOAD]\nbaseline: none\n\
    objective: makespan\napps:\n  a: { workload: { hog: { work: 20ms } }, session: s }\n  \
    b: { workload: { hog: { work: 30ms } }, tasks: 3 }\n";

fn suite() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("suite");
    std::fs::create_dir_all(path.join("holdout")).unwrap();
    std::fs::write(path.join("team.yaml"), TEAM).unwrap();
    std::fs::write(path.join("groups.yaml"), GROUPS).unwrap();
    std::fs::write(path.join("holdout/other.yaml"), TEAM.replace("tasks: 2 }\n  hogs", "tasks: 4 }\n  hogs"))
        .unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

#[test]
fn a_board_ranks_policies_and_shows_refusals_whatever_the_threads() {
    let (_folder, suite) = suite();
    let args = [
        "leaderboard",
        "--scenarios",
        &suite,
        "--policy",
        "LOAD,PIN,VTIME,{ VTIME: { slice: 2ms }, as: fast }",
    ];
    let (code, text, err) = oversim(&[&args[..], &["--jobs", "1"]].concat(), "");
    assert!(code == 0 && err.is_empty(), "{err}");
    assert!(text.lines().count() <= 30 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(flat(&text).contains("3 scenarios, 4 policies, 5 seeds each"), "{text}");
    assert!(text.contains("VTIME refused in groups") && text.contains("     - fast "), "{text}");
    assert_eq!(text, oversim(&[&args[..], &["--jobs", "2"]].concat(), "").1);
    let (_, json, _) = oversim(&[&args[..], &["--format", "json"]].concat(), "");
    let board: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((board["reference"].as_str(), board["runs"].as_u64()), (Some("LOAD"), Some(50)));
    let states = board["scenarios"][0]["entries"].as_array().unwrap().iter();
    let states: Vec<&str> = states.map(|entry| entry["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["completed", "completed", "refused", "refused"]);
}

#[test]
fn a_board_is_a_page_a_picture_and_numbers() {
    let (folder, suite) = suite();
    let out = folder.path().join("board");
    let args = [
        "leaderboard",
        "--scenarios",
        &suite,
        "--policy",
        "LOAD,VTIME",
        "--repeat",
        "2",
        "-o",
        out.to_str().unwrap(),
    ];
    let (code, _, err) = oversim(&args, "");
    assert!(code == 0 && err.is_empty(), "{err}");
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert!(read("board.svg").starts_with("<svg") && read("board.svg").contains("empty: refused"));
    assert!(read("board.md").starts_with("# Leader board\n") && read("board.md").contains("](board.svg)"));
    let csv = read("board.csv");
    assert!(csv.starts_with("scenario,policy,state,metric,mean,ratio,low,high,longest_wait\n"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 3 * 2);
    assert!(read("board.json").contains("\"oversim.leaderboard/1\""));
    assert_eq!(oversim(&args, "").0, 2, "the files exist");
}

#[test]
fn a_search_ends_with_what_to_type_and_a_file() {
    let (folder, suite) = suite();
    let file = folder.path().join("best.yaml");
    let args = ["tune", "VTIME.slice", "--scenarios", &suite, "--budget", "40", "--repeat", "2"];
    let (code, text, err) = oversim(&[&args[..], &["-o", file.to_str().unwrap()]].concat(), "");
    assert!(code == 0 && err.is_empty(), "{err}");
    assert!(text.starts_with("Type      policies: ["), "{text}");
    // The default is refused there, too.
    assert!(text.contains("Without   the default does not complete groups"), "{text}");
    let yaml = std::fs::read_to_string(&file).unwrap();
    assert!(yaml.starts_with("# Type: ") && yaml.contains("\npolicies:\n  - VTIME\n"), "{yaml}");
    let json = |jobs: &str| oversim(&[&args[..], &["--format", "json", "--jobs", jobs]].concat(), "").1;
    assert_eq!(json("1"), json("2"));
    let tuned: serde_json::Value = serde_json::from_str(&json("2")).unwrap();
    assert_eq!((tuned["schema"].as_str(), tuned["policy"].as_str()), (Some("oversim.tune/1"), Some("VTIME")));
}

#[test]
fn wrong_suites_policies_and_parameters_end_with_status_2() {
    let (folder, suite) = suite();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for (args, said) in [
        (vec!["leaderboard", "--scenarios", "odd_tread"], "odd_thread"),
        (vec!["leaderboard", "--scenarios", empty.to_str().unwrap()], "has no scenario"),
        (vec!["leaderboard", "--scenarios", &suite, "--policy", "LOAD,LAOD"], "LOAD"),
        (vec!["leaderboard", "--scenarios", &suite, "--policy", "./none.wasm"], "./none.wasm"),
        (
            vec!["leaderboard", "--scenarios", &suite, "--policy", "LOAD,LOAD"],
            "two policies are called `LOAD`",
        ),
        (vec!["tune", "SPEDE"], "did you mean `SPEED`"),
        (vec!["tune", "SPEED.intervall"], "did you mean `interval`"),
        (vec!["tune", "./none.wasm"], "./none.wasm"),
        (vec!["tune", "PARTITION.cores"], "cannot be tuned"),
        (vec!["tune", "SPEED", "--longest-wait", "1"], "--longest-wait"),
    ] {
        let (code, out, err) = oversim(&args, "");
        assert!(code == 2 && out.is_empty() && err.contains(said), "{args:?}: {code} {err}");
    }
}

#[test]
fn formulas_of_an_order_are_searched_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("team.yaml"), TEAM).unwrap();
    std::fs::write(path("mine.order"), "key: created\nslice: 40ms\n").unwrap();
    let (order, scenario, output) = (path("mine.order"), path("team.yaml"), path("better.order"));
    let asked =
        ["tune", &order, "--expressions", "--scenarios", &scenario, "--budget", "200", "--repeat", "12"];
    let run = |more: &[&str]| oversim(&[&asked[..], more].concat(), "");
    let (code, text, err) = run(&["--jobs", "1", "-o", &output]);
    assert_eq!(code, 0, "{err}");
    assert!(text.contains("Answer    The hold-out shows a gain.") && text.contains("Order "), "{text}");
    assert_eq!(flat(&run(&["--jobs", "2"]).1), flat(&text.replace(&output, "./tuned.order")));
    // What is written is what was found.
    let found: serde_json::Value = serde_json::from_str(&run(&["--format", "json"]).1).unwrap();
    let written = std::fs::read_to_string(&output).unwrap();
    assert!(written.ends_with(found["order"].as_str().unwrap()), "{written}");
    let (code, _, err) = oversim(&["run", &scenario, "--policy", &output, "--repeat", "1"], "");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn formulas_are_searched_in_orders_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("mine.order"), "key: vtime\nslice: 40ms\n").unwrap();
    std::fs::write(path("bad.order"), "key: vtime +\nslice: 40ms\n").unwrap();
    for (policy, more, why) in [
        ("SPEED".to_owned(), vec![], "SPEED has no formulas"),
        (path("mine.order"), vec!["-o", "best.yaml"], "ends in .order"),
        (path("bad.order"), vec![], "bad.order:1:13"),
        (path("none.order"), vec![], "No such file"),
    ] {
        let asked = ["tune", &policy, "--expressions", "--scenarios", "two_hogs_one_core"];
        let (code, _, err) = oversim(&[&asked[..], &more].concat(), "");
        assert!(code == 2 && err.contains(why), "{code} {err}");
    }
}
