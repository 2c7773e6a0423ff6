//! The policy through the command line: it is in every list, and scenarios can name it.

use std::process::Command;

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let program = Command::new(env!("CARGO_BIN_EXE_my-oversim")).args(arguments).output().expect("it starts");
    let text = [program.stdout, program.stderr].concat();
    (program.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn the_command_line_knows_all_policies_and_this_one() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenario.yaml");
    let knows = |arguments: &[&str], words: &[&str]| {
        let (code, said) = run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    };
    knows(&["list", "policies"], &["LOAD", "PIN", "SPEED", "STEAL"]);
    knows(&["list", "policies", "steal"], &["Victims that an idle cpu draws", "tries: 4 (1 to 1000)"]);
    knows(&["schema"], &["\"STEAL\"", "\"tries\""]);
    knows(&["check", scenario], &["3 policies"]);
    knows(&["run", scenario, "--repeat", "2", "--policy", "LOAD", "--policy", "STEAL"], &["STEAL", "LOAD"]);
    let (code, said) = run(&["run", scenario, "--set", "policies.STEAL.tris=1"]);
    assert!(code == Some(2) && said.contains("did you mean `tries`?"), "{said}");
}
