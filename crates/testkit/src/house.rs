//! The files of the repository: their texts, captions, and the map of all crates.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder of the repository that have one of these endings: path and text, in order of
/// path. Symbolic links are left out: they lead to files of other folders, which a package contains.
///
/// # Errors
/// A file cannot be read.
pub fn files(folder: &str, endings: &[&str]) -> io::Result<Vec<(String, String)>> {
    let mut paths = Vec::new();
    collect(&root().join(folder), endings, &mut paths)?;
    paths.sort();
    let name = |path: &Path| path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned();
    paths.iter().map(|path| Ok((name(path), fs::read_to_string(path)?))).collect()
}

fn collect(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, endings, found)?;
        } else if path
            .extension()
            .and_then(|ending| ending.to_str())
            .is_some_and(|ending| endings.contains(&ending))
        {
            found.push(path);
        }
    }
    Ok(())
}

/// The first sentence of a file's `//!` lines.
#[must_use]
pub fn caption(text: &str) -> Option<String> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let sentence = paragraph.split_inclusive(". ").next()?.trim_end();
    Some(sentence.trim_end_matches('.').to_owned())
}

/// The captions of all files of the crates whose folder contains `part`, crate by crate.
///
/// # Errors
/// A file cannot be read.
pub fn map(part: &str) -> io::Result<String> {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in files("crates", &["rs"])? {
        let Some((folder, name)) = path.split_once("/src/") else { continue };
        if folder.contains(part) {
            let line = format!("  {name}: {}", caption(&text).unwrap_or_default());
            crates.entry(folder.to_owned()).or_default().push(line);
        }
    }
    let mut map = String::new();
    for (folder, lines) in crates {
        // Writing to a string does not fail.
        let _ = writeln!(map, "{folder}/src\n{}\n", lines.join("\n"));
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_end_with_their_first_sentence() {
        let text = "//! One thing. And\n//! more.\n//!\n//! Other.\nuse x;\n";
        assert_eq!(caption(text).as_deref(), Some("One thing"));
        assert_eq!(caption("//! Two\n//! lines.\n").as_deref(), Some("Two lines"));
        assert_eq!(caption("use x;\n//! Late.\n"), None);
    }

    #[test]
    fn the_map_lists_each_file_with_its_caption() {
        let map = map("crates/testkit").unwrap();
        assert!(map.starts_with("crates/testkit/src\n  "), "{map}");
        let line =
            "\n  house.rs: The files of the repository: their texts, captions, and the map of all crates\n";
        assert!(map.contains(line), "{map}");
    }
}
