//! The committed page is the one that the archived measurements give.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;

use host::page::{ARCHIVE, PATH, page};
use host::result::Measurement;

#[test]
fn the_page_is_made_from_the_archive() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = fs::read_dir(root.join(ARCHIVE)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let read = Measurement::read(&name, &fs::read_to_string(path).unwrap()).unwrap();
        (name, read)
    };
    let archived: Vec<_> = files.iter().map(read).collect();
    assert!(!archived.is_empty());
    let committed = fs::read_to_string(root.join(PATH)).unwrap();
    assert!(committed == page(&archived), "run `oversim measure --write .`");
}
