//! The crates that the program, the Python package and the page contain: their licences, versions and sources are
//! those of `deny.toml`, and the files with their licence texts are current.
//! `OVERSIM_UPDATE=1 cargo test -p testkit --test notices -- --include-ignored` renews these files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use spdx::{Expression, Licensee, ParseMode};
use testkit::house::root;

/// Where the notices are, below the folder of the manifest.
const FILE: &str = "THIRD-PARTY-NOTICES.txt";
/// How names of files with licences and notices begin, in capitals.
const NAMES: [&str; 5] = ["LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// What is distributed: its name, its package, the folder of its workspace, and the target.
struct Product {
    name: &'static str,
    package: &'static str,
    folder: &'static str,
    target: &'static str,
}

/// The output of a cargo command in the folder of a product.
fn cargo(product: &Product, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root().join(product.folder)).args(arguments).arg("--locked");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The crates that are compiled into a product, as `name vVERSION` with the licence. Build scripts, procedural
/// macros and tests are not part of it.
fn contained(product: &Product) -> BTreeMap<String, String> {
    let arguments = ["tree", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}|{l}"];
    let tree =
        cargo(product, &[&arguments[..], &["-p", product.package, "--target", product.target]].concat());
    let crates = tree.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|'));
    crates.map(|(package, licence)| (package.to_owned(), licence.to_owned())).collect()
}

/// The folder of every package that a product may need, by `name vVERSION`, as `cargo tree` names it.
fn folders(product: &Product) -> BTreeMap<String, PathBuf> {
    let text = cargo(product, &["metadata", "--format-version", "1", "--filter-platform", product.target]);
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut folders = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let text = |key: &str| package[key].as_str().unwrap();
        let folder = Path::new(text("manifest_path")).parent().unwrap();
        folders.insert(format!("{} v{}", text("name"), text("version")), folder.to_owned());
    }
    folders
}

/// The texts of the files with licences and notices in a folder.
fn texts(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let named = entries.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().to_uppercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    });
    named.map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).replace("\r\n", "\n")).collect()
}

/// The notices of a product: the list of its crates, then each text with the crates that it belongs to.
fn notices(product: &Product) -> String {
    let folders = folders(product);
    // By the words of the text: the same licence is often wrapped differently.
    let mut licences: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    let mut list = String::new();
    for (package, licence) in contained(product) {
        let key = package.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let folder = &folders[&key];
        let is_ours = folder.starts_with(root().canonicalize().unwrap());
        let mut found = texts(&folder.join("data"));
        if !is_ours {
            let _ = writeln!(list, "{key}: {licence}");
            found.extend(texts(folder));
            if found.is_empty() {
                assert!(licence.contains("Apache-2.0"), "{key} has no file with its licence, {licence}");
                found.insert(fs::read_to_string(root().join("LICENSE-APACHE")).unwrap());
            }
        }
        for text in found {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            licences.entry(words).or_insert_with(|| (text, BTreeSet::new())).1.insert(key.clone());
        }
    }
    let mut sorted: Vec<_> = licences.into_values().map(|(text, crates)| (crates, text)).collect();
    sorted.sort();
    let mut notices = format!(
        "Third-party notices of {}\n\noversim is distributed under MIT or Apache-2.0. It contains the crates of \
         this list, and\nthe standard library of Rust, Copyright The Rust Project Contributors, under Apache-2.0 \
         or MIT.\nThe texts of all licences and notices follow, each with the crates that it belongs to.\n\n{list}",
        product.name
    );
    for (crates, text) in sorted {
        let crates = crates.into_iter().collect::<Vec<_>>().join(", ");
        let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
        let _ = write!(notices, "\n{}\n{crates}\n\n{}\n", "=".repeat(80), lines.join("\n"));
    }
    notices
}

/// The texts between quotation marks in a list of `deny.toml`, such as `allow`: the first one of each line.
fn listed(name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("deny.toml")).unwrap();
    let (_, list) = text.split_once(&format!("\n{name} = [\n")).unwrap();
    let (list, _) = list.split_once("\n]").unwrap();
    list.lines().map(|line| line.split('"').nth(1).unwrap().to_owned()).collect()
}

/// Whether a crate may be used under licences that are allowed alone.
fn is_allowed(licence: &str, allowed: &BTreeSet<String>) -> bool {
    let allowed: Vec<Licensee> = allowed.iter().map(|name| Licensee::parse(name).unwrap()).collect();
    Expression::parse_mode(licence, ParseMode::LAX)
        .is_ok_and(|offered| offered.evaluate(|needed| allowed.iter().any(|one| one.satisfies(needed))))
}

/// What `deny.toml` does not allow about the crates of a product. `cargo deny` also checks the crates that only
/// builds, tests and other systems need; it takes minutes to install (`.ci/supply`).
fn not_allowed(contained: &BTreeMap<String, String>) -> Vec<String> {
    let (allowed, skipped) = (listed("allow"), listed("skip"));
    let mut wrong = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (package, licence) in contained {
        if !is_allowed(licence, &allowed) {
            wrong.push(format!("{package} has a licence that deny.toml does not list: {licence}"));
        }
        let (name, version) = package.split_once(" v").unwrap();
        let is_skipped = |(of, start): (&str, &str)| of == name && version.starts_with(&format!("{start}."));
        if !skipped.iter().filter_map(|entry| entry.split_once('@')).any(is_skipped) {
            versions.entry(name).or_default().push(version);
        }
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    wrong.extend(several.map(|(name, versions)| {
        format!("{name} has the versions {}: deny.toml lists one with the reason", versions.join(" and "))
    }));
    wrong
}

fn is_current(product: &Product) {
    let wrong = not_allowed(&contained(product));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let path = root().join(product.folder).join(FILE);
    let now = notices(product);
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    let differs = now.lines().find(|line| !before.lines().any(|old| old == *line));
    assert!(now == before, "{} is not current; the first line that differs: {differs:?}", path.display());
}

#[test]
fn the_notices_of_the_program_are_current() {
    let target = "x86_64-unknown-linux-gnu";
    is_current(&Product { name: "the program oversim for Linux", package: "oversim", folder: ".", target });
}

#[test]
#[ignore = "downloads crates that the workspace does not need; .ci/supply runs it"]
fn the_notices_of_the_bindings_are_current() {
    is_current(&Product {
        name: "the Python package oversim for Linux",
        package: "oversim-python",
        folder: "bindings/python",
        target: "x86_64-unknown-linux-gnu",
    });
    is_current(&Product {
        name: "the page of oversim, in WebAssembly",
        package: "oversim-browser",
        folder: "bindings/browser",
        target: "wasm32-unknown-unknown",
    });
}

#[test]
fn other_licences_and_second_versions_are_not_allowed() {
    let crates = |list: &[(&str, &str)]| {
        list.iter().map(|(name, licence)| ((*name).to_owned(), (*licence).to_owned())).collect()
    };
    let fine = [
        ("a v1.0.0", "MIT/Apache-2.0"),
        ("b v2.0.0", "GPL-3.0 OR MIT"),
        ("c v1.0.0", "(GPL-3.0 OR ISC) AND Zlib"),
    ];
    assert_eq!(not_allowed(&crates(&fine)), [""; 0]);
    let skipped = [("miniz_oxide v0.8.9", "MIT"), ("miniz_oxide v0.9.1", "MIT")];
    assert_eq!(not_allowed(&crates(&skipped)), [""; 0]);
    assert_eq!(not_allowed(&crates(&[("a v1.0.0", "MIT AND GPL-3.0")])).len(), 1);
    assert_eq!(not_allowed(&crates(&[("a v1.0.0", "GPL-3.0 AND (MIT OR ISC)")])).len(), 1);
    assert_eq!(not_allowed(&crates(&[("a v1.0.0", "")])).len(), 1);
    assert_eq!(not_allowed(&crates(&[("a v1.0.0", "MIT"), ("a v1.2.0", "MIT")])).len(), 1);
}

#[test]
fn every_dependency_comes_from_the_registry_with_a_checksum() {
    for folder in [".", "bindings/python", "bindings/browser"] {
        let text = fs::read_to_string(root().join(folder).join("Cargo.lock")).unwrap();
        for package in text.split("\n[[package]]\n").skip(1) {
            let Some((_, source)) = package.split_once("\nsource = ") else { continue };
            let is_registry =
                source.starts_with("\"registry+https://github.com/rust-lang/crates.io-index\"\n");
            assert!(is_registry && source.contains("\nchecksum = \""), "{folder}/Cargo.lock: {package}");
        }
    }
}
