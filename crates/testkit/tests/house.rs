//! The rules of the house: captions, file sizes, the file map of ARCHITECTURE.md, arrows between crates, who prints.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of a file.
const MOST_LINES: usize = 700;
const START: &str = "<!-- files -->\n";
const END: &str = "<!-- /files -->";
/// Crates by floor; arrows point to lower floors only. Nothing that ships depends on the test kit.
const FLOORS: &[(&str, u32)] = &[
    ("oversim", 7),
    ("reproduction", 5),
    ("figures", 6),
    ("timeline", 5),
    ("explain", 5),
    ("experiment", 4),
    ("scenario", 3),
    ("calibration", 3),
    ("policies", 2),
    ("workloads", 2),
    ("machines", 2),
    ("testkit", 2),
    ("drawing", 2),
    ("sim-core", 1),
    ("notation", 1),
];
/// Folders of the crates in the order of the map.
const ORDER: [&str; 15] = [
    "sim-core",
    "notation",
    "drawing",
    "policies",
    "workloads",
    "machines",
    "scenario",
    "experiment",
    "explain",
    "calibration",
    "reproduction",
    "timeline",
    "figures",
    "cli",
    "testkit",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Links lead to files of other crates, which packages contain.
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every Rust file below `folder` of the repository, with its text, in order of path.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    collect(&root().join(folder), &mut paths);
    paths.sort();
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The first sentence of a file's `//!` lines.
fn caption(text: &str) -> Option<String> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let sentence = paragraph.split_inclusive(". ").next()?.trim_end();
    Some(sentence.trim_end_matches('.').to_owned())
}

/// The captions of all files that ship, crate by crate.
fn file_map() -> String {
    let mut map = String::new();
    for folder in ORDER {
        let within = format!("crates/{folder}/src/");
        map.push_str(&format!("\n`{within}`\n"));
        for (path, text) in sources(&within) {
            let name = path.strip_prefix(&within).unwrap();
            map.push_str(&format!("- `{name}`: {}\n", caption(&text).unwrap_or_default()));
        }
    }
    map.push('\n');
    map
}

#[test]
fn every_file_opens_with_a_caption_and_is_not_too_long() {
    let mut broken = Vec::new();
    for (path, text) in sources("crates") {
        if caption(&text).is_none() {
            broken.push(format!("{path} does not open with a `//!` caption"));
        }
        let lines = text.lines().count();
        if lines > MOST_LINES {
            broken.push(format!("{path} has {lines} lines, {MOST_LINES} are allowed"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn captions_end_with_their_first_sentence() {
    let text = "//! One thing. And\n//! more.\n//!\n//! Other.\nuse x;\n";
    assert_eq!(caption(text).as_deref(), Some("One thing"));
    assert_eq!(caption("//! Two\n//! lines.\n").as_deref(), Some("Two lines"));
    assert_eq!(caption("use x;\n//! Late.\n"), None);
}

#[test]
fn the_file_map_is_current() {
    let path = root().join("ARCHITECTURE.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let map = file_map();
    if shown == map {
        return;
    }
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&path, format!("{before}{START}{map}{END}{after}")).unwrap();
        return;
    }
    let missing = map.lines().filter(|line| !shown.lines().any(|other| other == *line));
    let stale = shown.lines().filter(|line| !map.lines().any(|other| other == *line));
    let listed: Vec<String> =
        missing.map(|line| format!("+ {line}")).chain(stale.map(|line| format!("- {line}"))).collect();
    panic!(
        "the file map of ARCHITECTURE.md has drifted; rewrite it with\n  OVERSIM_UPDATE=1 cargo test -p testkit --test house\n{}",
        listed.join("\n")
    );
}

/// Dependencies of each crate of the workspace on other crates of it, those for tests left out.
fn arrows() -> BTreeMap<String, Vec<String>> {
    let mut arrows = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
        let (mut section, mut name, mut uses) = ("", String::new(), Vec::new());
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line;
            } else if let Some((key, value)) = line.split_once('=') {
                let key = key.trim();
                if section == "[package]" && key == "name" {
                    let package = value.trim().trim_matches('"');
                    package.strip_prefix("oversim-").unwrap_or(package).clone_into(&mut name);
                }
                let plain = section.ends_with("dependencies]") && !section.contains("dev-");
                let used = key.split('.').next().unwrap_or(key);
                if plain && FLOORS.iter().any(|(known, _)| *known == used) {
                    uses.push(used.to_owned());
                }
            }
        }
        arrows.insert(name, uses);
    }
    arrows
}

#[test]
fn arrows_between_crates_point_down() {
    let floors: BTreeMap<&str, u32> = FLOORS.iter().copied().collect();
    let arrows = arrows();
    assert_eq!(arrows.len(), floors.len(), "a crate without a floor: {:?}", arrows.keys());
    for (from, uses) in &arrows {
        for to in uses {
            assert!(floors[from.as_str()] > floors[to.as_str()], "{from} must not depend on {to}");
            assert_ne!(to, "testkit", "{from}: the test kit is for tests only");
        }
    }
    assert_eq!(
        arrows["oversim"],
        [
            "scenario",
            "experiment",
            "explain",
            "calibration",
            "reproduction",
            "timeline",
            "figures",
            "drawing"
        ],
        "the command line uses nothing of what lies below these"
    );
    assert_eq!(arrows["testkit"], ["sim-core"]);
    assert!(arrows["sim-core"].is_empty() && arrows["notation"].is_empty());
}

#[test]
fn only_the_command_line_prints_and_nothing_depends_on_hash_order() {
    let mut broken = Vec::new();
    for (path, text) in sources("crates") {
        let ships = path.contains("/src/") && !path.starts_with("crates/testkit/");
        for (number, line) in text.lines().enumerate().filter(|_| ships) {
            let code = line.split("//").next().unwrap_or_default();
            let prints = ["println!", "print!", "dbg!", "io::stdout", "io::stderr"];
            if !path.starts_with("crates/cli/") && prints.iter().any(|word| code.contains(word)) {
                broken.push(format!("{path}:{}: prints", number + 1));
            }
            if code.contains("HashMap") || code.contains("HashSet") {
                broken.push(format!("{path}:{}: hash order", number + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_physics_knows_no_policy_workload_or_machine_and_no_outside_world() {
    let words = ["std::fs", "std::env", "std::thread", "Instant::now", "SystemTime", "std::net"];
    for (path, text) in sources("crates/sim-core/src") {
        for word in words {
            assert!(!text.contains(word), "{path} uses {word}");
        }
    }
}

#[test]
fn the_engine_names_no_release_of_an_operating_system() {
    // Releases are parameters of an operating system; rules that differ between them have names or are data.
    for (path, text) in sources("crates/sim-core/src/engine") {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for word in ["linux_", "solaris_", "freebsd_", "2_6_", "6_18"] {
                assert!(!code.to_lowercase().contains(word), "{path}:{} names a release: {word}", number + 1);
            }
        }
    }
}
