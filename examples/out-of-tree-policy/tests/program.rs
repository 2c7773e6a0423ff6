//! What oversim promises to programs with additional policies. `oversim new policy` copies the rest of this
//! crate, not this file.

use std::process::Command;

use policies::PolicyRegistry;
use scenario::{Overrides, load_with};

const PROGRAM: &str = env!("CARGO_BIN_EXE_out-of-tree-policy");
const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenario.yaml");

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let program = Command::new(PROGRAM).args(arguments).output().expect("it starts");
    let text = [program.stdout, program.stderr].concat();
    (program.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn the_command_line_knows_all_policies_and_this_one() {
    let knows = |arguments: &[&str], words: &[&str]| {
        let (code, said) = run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    };
    knows(&["list", "policies"], &["LOAD", "PIN", "SPEED", "STEAL"]);
    knows(&["list", "policies", "steal"], &["Tasks that wait in a queue", "min_waiting: 1 (1 to 1000)"]);
    knows(&["schema"], &["\"STEAL\"", "\"min_waiting\""]);
    knows(&["check", SCENARIO], &["2 policies"]);
    knows(&["run", SCENARIO, "--repeat", "2", "--policy", "LOAD", "--policy", "STEAL"], &["STEAL", "LOAD"]);
    let (code, said) = run(&["run", SCENARIO, "--set", "policies.STEAL.min_wating=1"]);
    assert!(code == Some(2) && said.contains("did you mean `min_waiting`?"), "{said}");
}

#[test]
fn shells_complete_the_name() {
    let complete = |words: &[&str]| {
        let index = words.len() - 1;
        let program = Command::new(PROGRAM)
            .arg("--")
            .args(words)
            .envs([("COMPLETE", "bash"), ("_CLAP_IFS", "\n"), ("_CLAP_COMPLETE_INDEX", &index.to_string())])
            .output()
            .expect("it starts");
        String::from_utf8_lossy(&program.stdout).into_owned()
    };
    assert_eq!(complete(&["out-of-tree-policy", "run", "x", "--policy", "LOAD,ste"]), "LOAD,STEAL");
    assert!(
        complete(&["out-of-tree-policy", "explain", "STEAL.m"]).is_empty(),
        "parameters are not pages of the list"
    );
    assert_eq!(complete(&["out-of-tree-policy", "explain", "STE"]), "STEAL");
    let (code, script) = run(&["completions", "bash"]);
    assert!(
        code == Some(0) && script.contains("-F _clap_complete_out_of_tree_policy out-of-tree-policy"),
        "{script}"
    );
}

#[test]
fn user_level_policies_are_stacked_on_it_and_it_can_be_disturbed() {
    let registry = PolicyRegistry::with(&[&out_of_tree_policy::ENTRY]).expect("the name is free");
    let set = ["policies.PIN.over=STEAL", "policies.STEAL.perturb.veto=50%", "repeat=2"].map(str::to_owned);
    let overrides = Overrides { set: set.into(), ..Overrides::default() };
    let text = std::fs::read_to_string(SCENARIO).expect("the scenario exists");
    let loaded = load_with(&registry, "scenario.yaml", &text, &overrides);
    let experiment = loaded.unwrap_or_else(|errors| panic!("{errors}"));
    let results = || experiment::run::run(&experiment, 1, &|_, _| ()).expect("the scenario runs");
    let once = results();
    assert_eq!(once.provenance.stacks, ["PIN over STEAL", "STEAL (perturbed)"]);
    assert!(once == results());
}
