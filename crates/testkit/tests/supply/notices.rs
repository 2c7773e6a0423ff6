//! The notices of a product: the licence texts of all crates that it contains.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use testkit::house::root;

use crate::product::{Part, Product};

/// How names of files with licences and notices begin, in capitals.
const NAMES: [&str; 5] = ["LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// The texts of the files with licences and notices in a folder.
fn texts(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let named = entries.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().to_uppercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    });
    named.map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).replace("\r\n", "\n")).collect()
}

/// The texts of a crate; of a crate of this repository, those of data from elsewhere.
fn texts_of(part: &Part) -> BTreeSet<String> {
    let mut found = texts(&part.folder.join("data"));
    if part.checksum.is_some() {
        found.extend(texts(&part.folder));
        if found.is_empty() {
            let (name, licence) = (&part.name, &part.licence);
            assert!(licence.contains("Apache-2.0"), "{name} has no file with its licence, {licence}");
            found.insert(fs::read_to_string(root().join("LICENSE-APACHE")).unwrap());
        }
    }
    found
}

/// The notices of a product: the list of its crates, then each text with the crates that it belongs to.
pub(crate) fn notices(product: &Product, contained: &BTreeMap<String, Part>) -> String {
    // By the words of the text: the same licence is often wrapped differently.
    let mut licences: BTreeMap<String, (String, BTreeSet<&str>)> = BTreeMap::new();
    for (key, part) in contained {
        for text in texts_of(part) {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            licences.entry(words).or_insert_with(|| (text, BTreeSet::new())).1.insert(key);
        }
    }
    let mut sorted: Vec<_> = licences.into_values().map(|(text, crates)| (crates, text)).collect();
    sorted.sort();
    let mut notices = format!(
        "Third-party notices of {}\n\noversim is distributed under MIT or Apache-2.0. It contains the crates of \
         this list, and\nthe standard library of Rust, Copyright The Rust Project Contributors, under Apache-2.0 \
         or MIT.\nThe texts of all licences and notices follow, each with the crates that it belongs to.\n\n",
        product.name
    );
    for (key, part) in contained.iter().filter(|(_, part)| part.checksum.is_some()) {
        let _ = writeln!(notices, "{key}: {}", part.licence);
    }
    for (crates, text) in sorted {
        let crates = crates.into_iter().collect::<Vec<_>>().join(", ");
        let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
        let _ = write!(notices, "\n{}\n{crates}\n\n{}\n", "=".repeat(80), lines.join("\n"));
    }
    notices
}
