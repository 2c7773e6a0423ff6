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

#[test]
fn shells_complete_its_name() {
    let complete = |words: &[&str]| {
        let index = words.len() - 1;
        let program = Command::new(env!("CARGO_BIN_EXE_my-oversim"))
            .arg("--")
            .args(words)
            .envs([("COMPLETE", "bash"), ("_CLAP_IFS", "\n"), ("_CLAP_COMPLETE_INDEX", &index.to_string())])
            .output()
            .expect("it starts");
        String::from_utf8_lossy(&program.stdout).into_owned()
    };
    assert_eq!(complete(&["my-oversim", "run", "x", "--policy", "LOAD,ste"]), "LOAD,STEAL");
    assert!(
        complete(&["my-oversim", "explain", "STEAL.t"]).is_empty(),
        "parameters are not pages of the list"
    );
    assert_eq!(complete(&["my-oversim", "explain", "STE"]), "STEAL");
    let (code, script) = run(&["completions", "bash"]);
    assert!(code == Some(0) && script.contains("-F _clap_complete_my_oversim my-oversim"), "{script}");
}
