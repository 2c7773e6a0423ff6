//! The rules of the house: captions, sizes of files and functions, line widths, arrows between crates, who
//! prints.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;

use testkit::house::{caption, files, root};

/// The most lines of a file.
const MOST_LINES: usize = 700;
/// The most lines of a function.
const MOST_LINES_OF_A_FUNCTION: usize = 70;
/// The widest line of a source file, in characters: code, comments and strings.
const WIDEST_LINE: usize = 110;
/// Crates by floor; arrows point to lower floors only. Nothing that ships depends on the test kit.
const FLOORS: &[(&str, u32)] = &[
    ("oversim", 10),
    ("artifact", 9),
    ("validation", 8),
    ("host", 6),
    ("sweep", 6),
    ("pictures", 7),
    ("explain", 6),
    ("trace", 6),
    ("twin", 7),
    ("decide", 7),
    ("profile", 6),
    ("scx", 4),
    ("import", 5),
    ("experiment", 5),
    ("scenario", 4),
    ("kernels", 2),
    ("policies", 3),
    ("workloads", 2),
    ("machines", 3),
    ("testkit", 6),
    ("sim-core", 1),
    ("notation", 1),
];
/// Where the Rust files of the repository are; what else is below `bindings` is built or generated.
const SOURCES: [&str; 4] =
    ["crates", "bindings/browser/src", "bindings/browser/tests", "bindings/python/src"];

/// Every Rust file of the repository, with its text, in order of path.
fn sources() -> Vec<(String, String)> {
    SOURCES.into_iter().flat_map(|folder| files(folder, &["rs"]).unwrap()).collect()
}

#[test]
fn every_file_opens_with_a_caption_and_is_not_too_long() {
    let mut broken = Vec::new();
    for (path, text) in sources() {
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

/// The functions of a file, from the line of their name to the brace that ends them: name and lines.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let head = line.trim_start().split("fn ").next().unwrap_or_default();
        let qualifies = head
            .split_whitespace()
            .all(|word| word.starts_with("pub") || ["const", "async", "extern", "default"].contains(&word));
        let Some(name) = line.trim_start()[head.len()..].strip_prefix("fn ").filter(|_| qualifies) else {
            continue;
        };
        let Some(open) = lines[at..].iter().position(|line| line.ends_with(['{', ';', '}'])) else {
            continue;
        };
        if !lines[at + open].ends_with('{') {
            continue;
        }
        let end = format!("{indent}}}");
        let length = lines[at..].iter().position(|line| *line == end).map_or(1, |close| close + 1);
        let name = name.split(['(', '<']).next().unwrap_or_default();
        found.push((name.to_owned(), length));
    }
    found
}

#[test]
fn functions_are_measured_from_their_name_to_their_end() {
    let text = "    pub(crate) const fn one(\n        a: u32,\n    ) -> u32 {\n        a\n    }\n\
        trait T {\n    fn none(&self);\n}\nfn two() {\n    if true {\n    }\n}\n// fn three() {\n";
    assert_eq!(functions(text), [("one".to_owned(), 5), ("two".to_owned(), 4)]);
}

#[test]
fn no_function_is_too_long() {
    let mut broken = Vec::new();
    for (path, text) in sources() {
        for (name, lines) in functions(&text) {
            if lines > MOST_LINES_OF_A_FUNCTION {
                broken.push(format!(
                    "{path}: `{name}` has {lines} lines, {MOST_LINES_OF_A_FUNCTION} are allowed"
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_line_is_too_wide() {
    let mut broken = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| path.contains("/src/")) {
        for (number, line) in text.lines().enumerate() {
            let width = line.chars().count();
            if width > WIDEST_LINE {
                broken.push(format!("{path}:{}: {width} columns, {WIDEST_LINE} are allowed", number + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
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
            "import",
            "trace",
            "twin",
            "decide",
            "profile",
            "pictures",
            "sweep",
            "scx",
            "validation",
            "artifact",
            "host"
        ],
        "the command line uses nothing of what lies below these"
    );
    assert!(arrows["sim-core"].is_empty() && arrows["notation"].is_empty());
}

#[test]
fn only_the_command_line_prints_and_nothing_depends_on_hash_order() {
    let mut broken = Vec::new();
    for (path, text) in sources() {
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

/// Words of a line like `V27`: a release with another name.
fn short_release(code: &str) -> impl Iterator<Item = &str> {
    let short = |word: &&str| {
        let number = word.strip_prefix(['v', 'V']).map(str::parse::<u32>);
        number.is_some_and(|number| number.is_ok_and(|number| number > 1))
    };
    code.split(|c: char| !c.is_alphanumeric()).filter(short)
}

#[test]
fn the_engine_asks_for_rules_and_not_for_disciplines() {
    let mut broken = Vec::new();
    for (path, text) in files("crates/sim-core/src/engine", &["rs"]).unwrap() {
        let shipped = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        let code = |line: &str| line.split("//").next().is_some_and(|code| code.contains("Discipline::"));
        let shipped = shipped.lines().enumerate().filter(|_| !path.contains("/tests"));
        broken.extend(shipped.filter(|(_, line)| code(line)).map(|(at, _)| format!("{path}:{}", at + 1)));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn policies_and_workloads_ask_for_rules_and_not_for_releases_or_disciplines() {
    // Releases are rows of rules (`releases.rs`); a policy asks for a rule. It may name a kernel in the
    // scenario that shows it.
    let kernels = ["\"linux-", "\"freebsd-", "\"solaris-"];
    let mut broken = Vec::new();
    for (path, text) in files("crates", &["rs"]).unwrap() {
        let ours = ["crates/policies/src/", "crates/workloads/src/"].iter().any(|of| path.starts_with(of));
        let data = ["/releases.rs", "/tests.rs", "/fake.rs"].iter().any(|end| path.ends_with(end));
        let shipped = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (number, line) in shipped.lines().enumerate().filter(|_| ours && !data) {
            let code = line.split("//").next().unwrap_or_default();
            let names = kernels.iter().chain(&["Discipline::"]).filter(|word| code.contains(**word));
            let words = names.copied().chain(short_release(code));
            broken.extend(words.map(|word| format!("{path}:{}: {word}", number + 1)));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_physics_uses_nothing_outside_and_names_no_release_of_an_operating_system() {
    // Releases are parameters of an operating system; rules that differ between them have names or are data.
    let outside = ["std::fs", "std::env", "std::thread", "Instant::now", "SystemTime", "std::net"];
    let releases = ["linux_", "solaris_", "freebsd_", "2_6_", "6_18"];
    let mut broken = Vec::new();
    for (path, text) in files("crates/sim-core/src", &["rs"]).unwrap() {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default().to_lowercase();
            let names = releases.iter().filter(|word| code.contains(**word));
            for word in names.chain(outside.iter().filter(|word| line.contains(**word))) {
                broken.push(format!("{path}:{}: {word}", number + 1));
            }
            broken.extend(short_release(&code).map(|word| format!("{path}:{}: {word}", number + 1)));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
