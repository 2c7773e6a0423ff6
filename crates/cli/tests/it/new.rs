//! `oversim new policy`: the crate builds, passes its tests and runs as it is written, or nothing is written.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

/// The file of the example that is not part of new crates: tests of oversim itself.
const NOT_COPIED: &str = "tests/program.rs";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Exit code, standard output and standard error.
fn new(directory: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(cargo_bin("oversim"));
    let done = command.current_dir(directory).arg("new").args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

/// All files below a directory by their paths in it.
fn files(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                found.insert(path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

fn is_empty(directory: &TempDir) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

/// Runs cargo in a new crate with the dependencies that the workspace has compiled for this test: under the
/// profile of the workspace. Its own crates are compiled once more, because they are no members of the new
/// workspace: without optimisation, so that this takes seconds.
fn cargo(package: &Path, words: &[&str], program: &[&str]) -> Output {
    let target = cargo_bin("oversim").ancestors().nth(2).unwrap().to_owned();
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(package).env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "0");
    command.args(words).args(["--quiet", "--offline"]);
    let mut set = |setting: &str| {
        command.args(["--config", &format!("profile.dev.{setting}")]);
    };
    set("opt-level=1");
    set("debug='line-tables-only'");
    for folder in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name()) {
        let name = match folder.to_str().unwrap() {
            "cli" => "oversim".to_owned(),
            // Cargo warns of packages that the new crate does not use.
            "testkit" => continue,
            folder => format!("oversim-{folder}"),
        };
        set(&format!("package.{name}.opt-level=0"));
        set(&format!("package.{name}.debug=0"));
    }
    command.arg("--").args(program).output().unwrap()
}

fn passed(done: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
    out.into_owned()
}

#[test]
#[ignore = "it compiles every crate once more, which .ci/nightly does"]
fn a_new_crate_builds_runs_and_passes_its_tests_as_it_is() {
    let outer = tempfile::tempdir().unwrap();
    // A workspace around the new crate does not concern it.
    fs::write(outer.path().join("Cargo.toml"), "[workspace]\nmembers = []\n").unwrap();
    let package = outer.path().join("policies/my-rule");
    let directory = package.to_str().unwrap();
    let (code, out, err) = new(&root().join("crates/cli"), &["policy", "MY_RULE", "--directory", directory]);
    assert!(code == 0 && err.is_empty(), "{err}");
    assert!(
        out.contains(&format!("cd {directory}\n  cargo test\n  cargo run -- run scenario.yaml")),
        "{out}"
    );

    let mut expected = files(&root().join("examples/out-of-tree-policy"));
    assert!(expected.remove(NOT_COPIED) && expected.insert(".gitignore".into()));
    assert_eq!(files(&package), expected);
    for file in &expected {
        let text = fs::read_to_string(package.join(file)).unwrap();
        let left = ["STEAL", "Steal ", "Steal}", "out-of-tree", "out_of_tree", "../../"];
        assert!(left.iter().all(|old| !text.contains(old)), "{file} has a name of the template: {text}");
    }
    assert!(fs::read_to_string(package.join("src/lib.rs")).unwrap().contains("impl Policy for MyRule"));

    // The versions that are compiled already.
    fs::copy(root().join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let tested = passed(&cargo(&package, &["test", "--test", "policy"], &[]));
    assert!(tested.contains("2 passed"), "{tested}");
    let listed = passed(&cargo(&package, &["run"], &["list", "policies"]));
    assert!(listed.contains("\nMY_RULE ") && listed.contains("\nSPEED "), "{listed}");
    let ran = passed(&cargo(&package, &["run"], &["run", "scenario.yaml", "--repeat", "1"]));
    assert!(ran.contains("MY_RULE"), "{ran}");
    let again = cargo(&package, &["run"], &["new", "policy", "my_rule", "--directory", "other"]);
    assert_eq!(again.status.code(), Some(2), "the program has this policy: {again:?}");
    assert!(!package.join("other").exists());
}

#[test]
fn what_cannot_be_written_is_exit_2_and_nothing_is_written() {
    let empty = tempfile::tempdir().unwrap();
    let root = root();
    let checkout = root.to_str().unwrap();
    for (words, why) in [
        (&["policy", "", "--path", checkout][..], "not a valid policy name"),
        (&["policy", "a/b", "--path", checkout], "not a valid policy name"),
        (&["policy", "2ND", "--path", checkout], "begin with a letter"),
        (&["policy", "speed", "--path", checkout], "already a policy named SPEED"),
        (&["policy", "CRATE", "--path", checkout], "choose another name"),
        (&["policy", "dedicated", "--path", checkout], "choose another name"),
        (&["policy", "MINE"], "--path CHECKOUT"),
        (&["policy", "MINE", "--path", "."], "is not the root of a checkout of oversim"),
        (&["policy", "MINE", "--path", "nowhere"], "cannot read nowhere"),
        (&["policy", "MINE", "--path", checkout, "--directory", "/dev/null/x"], "is not a directory"),
        (&["policy", "MINE", "--path", checkout, "--directory", "/proc/x/y"], "cannot write to /proc/x/y"),
        (&["policy", "MINE", "--path", checkout, "--directory", ".."], "is not the name of a directory"),
        (&["policy"], "NAME"),
        (&["polcy", "MINE"], "did you mean `policy`?"),
        (&["workload", "MINE"], "unrecognized subcommand"),
    ] {
        let (code, out, err) = new(empty.path(), words);
        assert!(code == 2 && out.is_empty() && err.contains(why), "{words:?}: {code} {out}{err}");
        assert!(is_empty(&empty), "{words:?}");
    }
}

#[test]
fn what_exists_stays() {
    let place = tempfile::tempdir().unwrap();
    let root = root();
    let checkout = root.to_str().unwrap();
    fs::create_dir(place.path().join("mine")).unwrap();
    fs::write(place.path().join("file"), "mine").unwrap();
    std::os::unix::fs::symlink("nowhere", place.path().join("link")).unwrap();
    for directory in [&[][..], &["--directory", "mine"], &["--directory", "file"], &["--directory", "link"]] {
        let (code, _, err) =
            new(place.path(), &[&["policy", "MINE", "--path", checkout], directory].concat());
        assert!(code == 2 && err.contains("exists"), "{directory:?}: {err}");
    }
    assert_eq!(files(place.path()), ["file", "link"].map(str::to_owned).into());
    assert!(fs::read_dir(place.path().join("mine")).unwrap().next().is_none());
}

#[test]
fn no_crate_becomes_part_of_the_workspace_of_the_checkout() {
    let root = root();
    for directory in ["crates/mine", "examples/mine"] {
        let (code, _, err) = new(&root, &["policy", "MINE", "--directory", directory]);
        assert!(code == 2 && err.contains("part of oversim's workspace"), "{err}");
        assert!(!root.join(directory).exists());
    }
}
