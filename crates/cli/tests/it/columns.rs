//! Texts for terminals keep to their columns; those of lessons, which take long, where they run (`lesson`).

use assert_cmd::Command;

/// The columns of the smallest terminal that everything is made for.
pub(crate) const COLUMNS: usize = 80;

/// Lines of the output of a command that are longer.
fn long(args: &[&str]) -> Vec<String> {
    let mut program = Command::cargo_bin("oversim").expect("the program is built");
    let done = program.args(args).env("COLUMNS", COLUMNS.to_string()).output().expect("it starts");
    let code = done.status.code();
    // `compare` reports a slowdown with exit status 1.
    assert!(code == Some(0) || args[0] == "compare" && code == Some(1), "{args:?}: {done:?}");
    let text = String::from_utf8(done.stdout).expect("it writes UTF-8");
    assert!(!text.is_empty(), "{args:?} prints nothing");
    too_long(&text)
}

/// Lines of a text that are longer, but for commands that cannot be broken and lines of files.
pub(crate) fn too_long(text: &str) -> Vec<String> {
    let whole = |line: &str| {
        let line = line.trim_start();
        // A command, a line of YAML, or a word that is longer than the line.
        line.starts_with("$ oversim") || line.contains(": {") || line.split(' ').count() == 1
    };
    text.lines().filter(|line| line.chars().count() > COLUMNS && !whole(line)).map(str::to_owned).collect()
}

#[test]
fn lists_and_pages_fit() {
    for what in ["policies", "kernels", "runtimes", "workloads", "machines", "metrics", "scenarios"] {
        assert_eq!(long(&["list", what]), [""; 0], "list {what}");
    }
    for args in [
        &["list", "scenarios", "cg_ft_share"][..],
        &["list", "policies", "SPEED"],
        &["explain"],
        &["explain", "gang"],
        &["explain", "sched_ext"],
        &["docs"],
        &["docs", "lock"],
        &["docs", "idle", "cpu", "mask"],
        &["machine", "show", "barcelona"],
        &["machine", "show", "core:4", "--kernel", "linux-6.18"],
        &["check", "spin_yield_block"],
        &["lesson"],
    ] {
        assert_eq!(long(args), [""; 0], "{args:?}");
    }
}

#[test]
fn answers_fit() {
    for args in [
        &["run", "two_hogs_one_core"][..],
        &["run", "spin_yield_block", "--repeat", "2"],
        &["run", "two_spinning_programs", "--repeat", "2"],
        &["run", "two_spinning_programs", "--repeat", "2", "--table", "full"],
        &["run", "interactive_beside_hogs", "--repeat", "1"],
        &["timeline", "odd_thread", "--policy", "LOAD,DWRR"],
        &["compare", "spin_yield_block", "--policy", "PIN,LOAD", "--set", "threads_per_core=2"],
    ] {
        assert_eq!(long(&[args, &["--quiet"]].concat()), [""; 0], "{args:?}");
    }
}
