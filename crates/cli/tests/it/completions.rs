//! Completions: the program answers as a shell asks it, and the scripts of all shells ask it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use crate::support::oversim;
use assert_cmd::Command;

/// What the program offers for the last of these words, as the script of a shell asks.
fn offered_by(shell: &str, folder: &Path, words: &[&str]) -> Vec<String> {
    let index = words.len().to_string();
    let variables = [("COMPLETE", shell), ("_CLAP_IFS", "\n"), ("_CLAP_COMPLETE_INDEX", &index)];
    let mut command = Command::cargo_bin("oversim").unwrap();
    let asked =
        command.current_dir(folder).envs(variables).args(["--", "oversim"]).args(words).output().unwrap();
    assert!(asked.status.success() && asked.stderr.is_empty(), "{words:?}: {asked:?}");
    String::from_utf8(asked.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn offered(words: &[&str]) -> Vec<String> {
    offered_by("bash", Path::new(env!("CARGO_MANIFEST_DIR")), words)
}

#[test]
fn commands_flags_and_words_are_completed() {
    assert_eq!(offered(&["r"]), ["run", "report", "reproduce"]);
    assert_eq!(offered(&["run", "x", "--pol"]), ["--policy"]);
    assert_eq!(offered(&["run", "x", "--format", "js"]), ["json"]);
    assert_eq!(offered(&["machine", "s"]), ["show", "set"]);
    assert_eq!(offered(&["new", "p"]), ["policy"]);
    assert_eq!(offered(&["new", "policy", "MINE", "--d"]), ["--directory"]);
    assert_eq!(offered(&["completions", "z"]), ["zsh"]);
    assert_eq!(offered(&["twin", "ti"]), ["timehist"]);
    assert_eq!(offered(&["twin", "split", "x", "--by", "th"]), ["thread"]);
}

#[test]
fn names_come_from_the_registries() {
    for (words, wanted) in [
        (&["run", "cg_f"][..], &["cg_ft_share"][..]),
        (&["check", "a.yaml", "cg_f"], &["cg_ft_share"]),
        (&["init", "odd"], &["odd_thread"]),
        (&["run", "x", "--policy", "sw"], &["SWOMPS"]),
        (&["run", "x", "--policy", "LOAD,PIN,sp"], &["LOAD,PIN,SPEED"]),
        (&["run", "x", "--policy=LOAD,ul"], &["--policy=LOAD,ULE"]),
        (&["run", "x", "--policy", "SPEED/U"], &["SPEED/ULE"]),
        (&["plot", "x", "--figure", "slowdown,thr"], &["slowdown,throughput"]),
        (&["compare", "x", "--metric", "run_t"], &["run_time"]),
        (&["machine", "show", "barc"], &["barcelona"]),
        (&["machine", "show", "x", "--kernel", "linux-7"], &["linux-7.0", "linux-7.1"]),
        (&["list", "sce"], &["scenarios"]),
        (&["list", "policies", "PAR"], &["PARTITION"]),
        (&["list", "scenarios", "two_h"], &["two_hogs_one_core"]),
        (&["explain", "oversub"], &["oversubscription"]),
        (&["explain", "policy:SW"], &["policy:SWOMPS"]),
        (&["explain", "block_"], &["block_time"]),
        (&["docs", "model/mem"], &["model/memory"]),
        (&["plot", "x", "--figure", "pha"], &["phase"]),
        (&["sweep", "phase-diagram", "spin_yield_block", "--x", "thr"], &["threads_per_core"]),
        (
            &["sweep", "phase-diagram", "spin_yield_block", "--at", "threads_per_core="],
            &["threads_per_core=1", "threads_per_core=2"],
        ),
        (&["man", "comp"], &["compare", "completions"]),
    ] {
        assert_eq!(offered(words), wanted, "{words:?}");
    }
}

#[test]
fn paths_follow_the_scenario_on_the_command_line() {
    assert_eq!(offered(&["run", "cg_ft_share", "--set", "apps.ft.task"]), ["apps.ft.tasks="]);
    assert_eq!(offered(&["run", "cg_ft_share", "--set", "policies.SPEED.int"]), ["policies.SPEED.interval="]);
    assert_eq!(offered(&["run", "cg_ft_share", "--set", "kernel.yield=p"]), ["kernel.yield=posix"]);
    assert_eq!(offered(&["run", "x", "--sweep", "threads"]), ["threads_per_core="]);
    assert_eq!(offered(&["run", "x", "--sweep", "see"]), Vec::<String>::new(), "seeds cannot be swept");
    assert!(offered(&["run", "x", "--set", "apps."]).is_empty());
}

#[test]
fn files_are_offered_after_the_built_in_scenarios() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["cg_mine.yaml", "cg_old.json", "cg_notes.txt"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    assert_eq!(offered_by("bash", folder.path(), &["run", "cg"]), ["cg_ft_share", "cg_mine.yaml"]);
    assert_eq!(
        offered_by("bash", folder.path(), &["plot", "cg"]),
        ["cg_ft_share", "cg_mine.yaml", "cg_old.json"]
    );
}

#[test]
fn shells_that_show_help_get_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [scenario] = &offered_by("fish", folder, &["run", "cg_ft"])[..] else { panic!("one scenario") };
    assert!(scenario.starts_with("cg_ft_share\tCG and FT share 16 cores."), "{scenario}");
    let [policy] = &offered_by("zsh", folder, &["run", "x", "--policy", "SWO"])[..] else {
        panic!("one policy")
    };
    assert!(policy.starts_with("SWOMPS:"), "{policy}");
}

#[test]
fn the_script_of_every_shell_asks_this_program() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (code, script, err) = oversim(&["completions", shell], "");
        assert!(code == 0 && err.is_empty(), "{shell}: {err}");
        assert!(script.contains("COMPLETE") && script.contains(shell), "{shell}: {script}");
        let program = assert_cmd::cargo::cargo_bin!("oversim");
        assert!(script.contains(program.to_str().unwrap()), "{shell}: {script}");
    }
    let (code, out, err) = oversim(&["completions", "tcsh"], "");
    assert!(code == 2 && out.is_empty() && err.contains("bash, elvish, fish"), "{err}");
}

#[cfg(unix)]
#[test]
fn bash_itself_completes_with_the_script() {
    let Ok(bash) = std::process::Command::new("bash").arg("--version").output() else { return };
    assert!(bash.status.success());
    let program = assert_cmd::cargo::cargo_bin!("oversim");
    let ask = format!(
        "eval \"$('{0}' completions bash)\"; COMP_WORDS=(oversim run two_h); COMP_CWORD=2; \
         _clap_complete_oversim oversim two_h run; echo \"${{COMPREPLY[@]}}\"",
        program.display()
    );
    let asked = std::process::Command::new("bash").args(["-c", &ask]).output().unwrap();
    let said = String::from_utf8_lossy(&asked.stderr);
    assert_eq!(String::from_utf8_lossy(&asked.stdout).trim(), "two_hogs_one_core", "{said}");
}
