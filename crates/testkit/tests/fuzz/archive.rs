//! Several files in one input: each begins with a line `== path`.

use std::fs;
use std::path::{Component, Path};

/// Most files of an archive.
const MOST: usize = 300;
/// Most names in a path.
const DEEPEST: usize = 10;

/// The files with their paths, which stay below the folder in which they are written.
pub(crate) fn files(text: &str) -> Vec<(&str, &str)> {
    let mut files = Vec::new();
    for part in text.split("\n== ").take(MOST) {
        let part = part.strip_prefix("== ").unwrap_or(part);
        let (path, body) = part.split_once('\n').unwrap_or((part, ""));
        let path = path.trim();
        let plain = |one: Component<'_>| matches!(one, Component::Normal(_));
        let names = Path::new(path).components();
        if !path.is_empty() && !path.contains('\0') && names.clone().all(plain) && names.count() <= DEEPEST {
            files.push((path, body));
        }
    }
    files
}

/// Writes files below a folder. What cannot be written is left out: a path may also be that of a folder.
pub(crate) fn write<'a>(folder: &Path, files: impl Iterator<Item = (&'a str, Vec<u8>)>) {
    for (path, body) in files {
        let path = folder.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        if made.is_ok() {
            let _ = fs::write(&path, body);
        }
    }
}
