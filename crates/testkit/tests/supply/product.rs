//! What is distributed, and the crates that it contains, from `cargo tree`, `cargo metadata` and the lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::house::root;

/// What is distributed.
pub(crate) struct Product {
    /// How people name it.
    pub(crate) name: &'static str,
    /// Its package.
    pub(crate) package: &'static str,
    /// The folder of its workspace, below the root of the repository.
    pub(crate) folder: &'static str,
    /// The target that it is built for.
    pub(crate) target: &'static str,
    /// The features that it is built with.
    pub(crate) features: &'static str,
}

/// A crate that is compiled into a product.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The licence as its manifest states it.
    pub(crate) licence: String,
    /// Where its files are.
    pub(crate) folder: PathBuf,
    /// The SHA-256 checksum of its package; crates of this repository have none.
    pub(crate) checksum: Option<String>,
    /// The crates that it uses, by their keys, among those that the product contains.
    pub(crate) uses: Vec<String>,
}

/// The output of a cargo command in the folder of a product.
fn cargo(product: &Product, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root().join(product.folder)).args(arguments).arg("--locked");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The packages of a lock file: their lines without `[[package]]`.
pub(crate) fn locked(folder: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(folder).join("Cargo.lock")).unwrap();
    text.split("[[package]]\n").skip(1).map(str::to_owned).collect()
}

/// The checksum of a package in a lock file.
fn checksum(locked: &[String], name: &str, version: &str) -> Option<String> {
    let start = format!("name = \"{name}\"\nversion = \"{version}\"\n");
    let (_, rest) = locked.iter().find(|package| package.starts_with(&start))?.split_once("checksum = \"")?;
    Some(rest.split('"').next()?.to_owned())
}

/// The arguments of `cargo tree` that choose the product.
fn of(product: &Product) -> [&'static str; 6] {
    ["-p", product.package, "--target", product.target, "--features", product.features]
}

/// How many packages a build of the product compiles: with procedural macros and build scripts, and with the crates of
/// this repository.
pub(crate) fn compiled(product: &Product) -> usize {
    let arguments = ["tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
    let tree = cargo(product, &[&arguments[..], &of(product)].concat());
    let packages = tree.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>());
    packages.filter(|package| package.len() == 2).collect::<BTreeSet<_>>().len()
}

/// The keys of the crates that are compiled into a product: `name vVERSION`. Build scripts, procedural macros and
/// tests are not part of it. `cargo metadata` does not have this list: it joins the features that tests need.
fn keys(product: &Product) -> Vec<String> {
    let arguments = ["tree", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"];
    let tree = cargo(product, &[&arguments[..], &of(product)].concat());
    tree.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

/// The crates that are compiled into a product, by their keys.
pub(crate) fn contained(product: &Product) -> BTreeMap<String, Part> {
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", product.target];
    let features = ["--features", product.features];
    let metadata: Value =
        serde_json::from_str(&cargo(product, &[&arguments[..], &features[..]].concat())).unwrap();
    let keys = keys(product);
    let locked = locked(product.folder);
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let key = |package: &Value| format!("{} v{}", text(package, "name"), text(package, "version"));
    let by_id: BTreeMap<String, String> =
        packages.iter().map(|package| (text(package, "id"), key(package))).collect();
    let mut parts = BTreeMap::new();
    for package in packages.iter().filter(|package| keys.contains(&key(package))) {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let folder = Path::new(&text(package, "manifest_path")).parent().unwrap().to_owned();
        let checksum = checksum(&locked, &name, &version);
        let licence = text(package, "license");
        let part = Part { name, version, licence, folder, checksum, uses: Vec::new() };
        parts.insert(key(package), part);
    }
    for node in metadata["resolve"]["nodes"].as_array().unwrap() {
        let Some(part) = parts.get_mut(&by_id[&text(node, "id")]) else { continue };
        let is_compiled_in =
            |used: &Value| used["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null());
        let used = node["deps"].as_array().unwrap().iter().filter(|used| is_compiled_in(used));
        part.uses =
            used.map(|used| by_id[&text(used, "pkg")].clone()).filter(|key| keys.contains(key)).collect();
        part.uses.sort();
    }
    parts
}
