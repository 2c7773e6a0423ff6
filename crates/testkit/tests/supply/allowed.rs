//! The rules of `deny.toml` for the crates of a product: licences and second versions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use spdx::{Expression, Licensee, ParseMode};
use testkit::house::root;

use crate::product::Part;

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
pub(crate) fn not_allowed(contained: &BTreeMap<String, Part>) -> Vec<String> {
    let (allowed, skipped) = (listed("allow"), listed("skip"));
    let mut wrong = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, Part { name, version, licence, .. }) in contained {
        if !is_allowed(licence, &allowed) {
            wrong.push(format!("{key} has a licence that deny.toml does not list: {licence}"));
        }
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

#[test]
fn other_licences_and_second_versions_are_not_allowed() {
    let wrong = |list: &[(&str, &str, &str)]| {
        let part = |(name, version, licence): &(&str, &str, &str)| Part {
            name: (*name).to_owned(),
            version: (*version).to_owned(),
            licence: (*licence).to_owned(),
            folder: PathBuf::new(),
            checksum: None,
            uses: Vec::new(),
        };
        not_allowed(&list.iter().map(|entry| (format!("{} v{}", entry.0, entry.1), part(entry))).collect())
            .len()
    };
    let fine = [("a", "1.0.0", "MIT/Apache-2.0"), ("b", "2.0.0", "GPL-3.0 OR MIT")];
    assert_eq!(wrong(&fine), 0);
    assert_eq!(wrong(&[("a", "1.0.0", "(GPL-3.0 OR ISC) AND Zlib")]), 0);
    assert_eq!(wrong(&[("miniz_oxide", "0.8.9", "MIT"), ("miniz_oxide", "0.9.1", "MIT")]), 0);
    assert_eq!(wrong(&[("a", "1.0.0", "MIT AND GPL-3.0")]), 1);
    assert_eq!(wrong(&[("a", "1.0.0", "GPL-3.0 AND (MIT OR ISC)")]), 1);
    assert_eq!(wrong(&[("a", "1.0.0", "")]), 1);
    assert_eq!(wrong(&[("a", "1.0.0", "MIT"), ("a", "1.2.0", "MIT")]), 1);
}
