//! Public names as they are recorded: the Rust contract of policies, the Python package, the command line.
//! `OVERSIM_UPDATE=1` records them anew, and the changelog has the checksum of each record.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use experiment::provenance::sha256;

use crate::{oversim, root, scan, source};

/// The files with the contract between policies and the engine, and the items of each; without any: all.
const CONTRACT: [(&str, &[&str]); 12] = [
    ("crates/sim-core/src/policy.rs", &[]),
    ("crates/sim-core/src/policy/values.rs", &[]),
    ("crates/sim-core/src/ids.rs", &[]),
    ("crates/sim-core/src/time.rs", &[]),
    ("crates/sim-core/src/affinity.rs", &[]),
    ("crates/sim-core/src/machine.rs", &["impl Machine", "impl CpuSet"]),
    ("crates/sim-core/src/topology.rs", &["pub enum Level", "pub enum Distance", "impl Topology"]),
    ("crates/policies/src/entry.rs", &[]),
    ("crates/policies/src/registry.rs", &[]),
    ("crates/notation/src/parameter.rs", &[]),
    ("crates/scx/src/ext/scheduler.rs", &[]),
    ("crates/cli/src/lib.rs", &[]),
];
/// The modules with the names of the Python package, and the items of each; without any: all. Not
/// `scenario.py`, which has the keys of scenarios.
const PYTHON: [(&str, &[&str]); 9] = [
    ("__init__.py", &[]),
    ("_calls.py", &[]),
    ("_decisions.py", &[]),
    ("_errors.py", &[]),
    ("_result.py", &[]),
    ("_shapes.py", &[]),
    (
        "_native.pyi",
        &[
            "class App",
            "class Choice",
            "class Figure",
            "class Machine",
            "class Placement",
            "class QueueEntry",
            "class System",
            "class Table",
            "class Task",
            "class Timer",
        ],
    ),
    ("policy.py", &[]),
    ("gym.py", &[]),
];
/// What a record says of itself.
const HEAD: &str =
    "# A change of a line belongs in CHANGELOG.md. OVERSIM_UPDATE=1 cargo test -p oversim --test promises";

/// Compares names with their record, and the checksum of the record with that of the changelog.
fn recorded(file: &str, called: &str, names: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promises").join(file);
    let text = format!("{HEAD}\n{names}");
    let sum = &sha256(text.as_bytes())[..8];
    let sentence = format!("{called} `{sum}`");
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let was = fs::read_to_string(&path).unwrap();
    let differs = |a: &str, b: &str, sign: char| -> String {
        let gone = a.lines().filter(|line| !b.lines().any(|other| other == *line));
        gone.map(|line| format!("{sign} {line}\n")).collect()
    };
    assert!(
        was == text,
        "public names have changed (docs/promises.md says which may):\n{}{}",
        differs(&was, &text, '-'),
        differs(&text, &was, '+')
    );
    assert!(
        source("CHANGELOG.md").contains(&sentence),
        "CHANGELOG.md describes the change of {file} and has its checksum: {sentence}"
    );
}

#[test]
fn the_rust_contract_is_as_recorded() {
    let mut names = String::new();
    for (file, items) in CONTRACT {
        writeln!(names, "\n## {file}").unwrap();
        let lines = scan::only(scan::rust(&source(file)), items);
        assert!(!lines.is_empty(), "{file}");
        lines.iter().for_each(|line| writeln!(names, "{line}").unwrap());
    }
    for part in ["fn select_cpu(&mut self, view: &dyn View", "pub fn main_with", "fn migrate(&mut self"] {
        assert!(names.contains(part), "no {part}");
    }
    recorded("rust-contract.txt", "Rust contract", &names);
}

#[test]
fn the_python_names_are_as_recorded() {
    let mut names = String::new();
    for (file, items) in PYTHON {
        writeln!(names, "\n## oversim/{file}").unwrap();
        let lines = scan::only(scan::python(&source(&format!("bindings/python/oversim/{file}"))), items);
        assert!(!lines.is_empty(), "{file}");
        lines.iter().for_each(|line| writeln!(names, "{line}").unwrap());
    }
    assert!(names.contains("def run(") && names.contains("class Policy"), "{names}");
    recorded("python-names.txt", "Python package", &names);
}

/// The flags in a command's help, and its commands.
fn of_help(help: &str) -> (Vec<String>, Vec<String>) {
    let (mut flags, mut commands) = (Vec::new(), Vec::new());
    let mut in_commands = false;
    for line in help.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if indent == 0 && line.ends_with(':') {
            in_commands = line == "Commands:";
        } else if in_commands && indent == 2 {
            commands.extend(code.split(' ').next().filter(|name| *name != "help").map(str::to_owned));
        } else if !in_commands && indent <= 6 && code.starts_with('-') {
            let names = code.split(' ').take_while(|word| word.starts_with('-'));
            flags
                .extend(names.map(|name| name.trim_end_matches(',')).filter(|name| name.len() > 1).map(flag));
        }
    }
    (flags, commands)
}

/// A flag without the sign of its value: `--uncertainty[=<DRAWS>]`.
fn flag(name: &str) -> String {
    name.split(['[', '=', '<', '.']).next().unwrap_or(name).to_owned()
}

/// What a version had stays; what is new needs no record before the next version.
#[test]
fn commands_and_flags_stay() {
    let mut now = Vec::new();
    let mut left: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(command) = left.pop() {
        let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
        args.push("-h");
        let (code, help, err) = oversim(&root(), &args);
        assert_eq!(code, 0, "{args:?}: {err}");
        let (flags, commands) = of_help(&help);
        let name = [&["oversim".to_owned()], &*command].concat().join(" ");
        assert!(flags.contains(&"--help".to_owned()), "{name}: {help}");
        now.extend(flags.iter().map(|flag| format!("{name} {flag}")));
        let more = commands.into_iter().rev();
        left.extend(more.map(|name| command.iter().cloned().chain([name]).collect()));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promises/command-line.txt");
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&path, format!("{HEAD}\n{}\n", now.join("\n"))).unwrap();
    }
    let recorded = fs::read_to_string(&path).unwrap();
    let recorded: Vec<&str> = recorded.lines().skip(1).collect();
    assert!(recorded.len() > 300, "{} commands and flags", recorded.len());
    let gone: Vec<&&str> = recorded.iter().filter(|line| !now.iter().any(|other| other == *line)).collect();
    assert!(gone.is_empty(), "docs/promises.md says how a flag gets another name; gone: {gone:#?}");
}
