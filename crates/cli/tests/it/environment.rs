//! Variables of the environment: all that the program reads are in a table, and no value of one does harm.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

const SCENARIO: &str = "name: short\nmachine: core:2\nkernel: linux-2.6.28\npolicies: [PIN]\n\
    apps: { a: { workload: { spmd: { work: 4ms, intervals: 5 } }, tasks: 3 } }\n";

/// Values that no variable expects: ends of ranges, control characters, devices, and bytes that are no UTF-8.
const VALUES: [&[u8]; 7] =
    [b"", b"-1", b"18446744073709551615", b"x\x1b]0;pwn\x07\n", b"/dev/zero", b"\xff\xfe", b"/none/x"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The variables of the table of the document: the first cell of each row, which may name several.
fn listed() -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs/reliability/environment.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let names = rows.flat_map(|cell| cell.split('`')).filter(|name| !name.trim().is_empty());
    names
        .filter(|name| name.chars().all(|c| c.is_ascii_uppercase() || "_0123456789".contains(c)))
        .map(str::to_owned)
        .collect()
}

#[test]
#[cfg(unix)]
fn no_value_of_a_variable_does_harm() {
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("short.yaml"), SCENARIO).unwrap();
    let names = listed();
    assert!(names.len() > 15, "{names:?}");
    let commands: [&[&str]; 3] =
        [&["run", "short.yaml"], &["sweep", "short.yaml", "-o", "s"], &["explain", "SPEED"]];
    for name in &names {
        for value in VALUES {
            let value = std::ffi::OsStr::from_bytes(value);
            for args in commands {
                let mut command = Command::cargo_bin("oversim").unwrap();
                command.args(args).current_dir(folder.path()).env(name, value);
                let done = command.output().unwrap();
                let shown = format!("{name}={value:?} {args:?}: {done:?}");
                assert!(matches!(done.status.code(), Some(0..=2)), "{shown}");
                let both = [&done.stdout[..], &done.stderr].concat();
                assert!(!String::from_utf8_lossy(&both).contains("panicked"), "{shown}");
                let control = both.iter().any(|byte| *byte < 0x20 && *byte != b'\n' || *byte == 0x7f);
                assert!(!control || name == "CLICOLOR_FORCE", "{shown}");
                // A refusal names it.
                let err = String::from_utf8_lossy(&done.stderr);
                let named = err.contains(name.as_str()) || name == "COMPLETE" && err.contains("shell");
                assert!(done.status.success() || named, "{shown}");
                let _ = fs::remove_dir_all(folder.path().join("s"));
            }
        }
    }
}

/// The names in calls that read a variable.
fn read_by(text: &str) -> Vec<String> {
    let code = text.split("\n#[cfg(test)]\nmod tests").next().unwrap();
    let mut names = Vec::new();
    for call in ["env::var(\"", "env::var_os(\"", "absolute(\""] {
        let found = code.split(call).skip(1).filter_map(|rest| rest.split('"').next());
        names.extend(found.map(str::to_owned));
    }
    names
}

#[test]
fn every_variable_that_is_read_is_in_the_table() {
    let listed = listed();
    let mut folders = vec![root().join("crates")];
    let mut all = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !matches!(name.as_str(), "tests" | "testkit" | "examples" | "benches") {
                folders.push(path);
            } else if name.ends_with(".rs") && !path.starts_with(root().join("crates/cli/build")) {
                all.extend(read_by(&fs::read_to_string(path).unwrap()));
            }
        }
    }
    let source = |path: &str| fs::read_to_string(root().join("crates/cli/src").join(path)).unwrap();
    let sources = [source("engines.rs"), source("commands/sweep/shard.rs")];
    let code: String = sources.iter().filter_map(|text| text.split("#[cfg(test)]").next()).collect();
    let named = code
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|word| word.len() > 4 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
    all.extend(named.map(str::to_owned));
    assert!(all.len() > 8, "{all:?}");
    let missing: Vec<&String> = all.difference(&listed).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
