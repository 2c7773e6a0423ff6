//! What a directory holds, to compare it with what it held before.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How the names of files in the making begin.
pub(crate) const HIDDEN: &str = ".oversim-";

/// Files with their bytes, and directories (`None`), by their path below a directory.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Tree(pub(crate) BTreeMap<String, Option<Vec<u8>>>);

impl Tree {
    /// All that is below a directory; nothing if it is not there.
    pub(crate) fn of(directory: &Path) -> Self {
        let mut tree = Self::default();
        tree.add(directory, "");
        tree
    }

    fn add(&mut self, directory: &Path, above: &str) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), format!("{above}{}", entry.file_name().to_string_lossy()));
            if path.is_dir() {
                self.add(&path, &format!("{name}/"));
                self.0.insert(name, None);
            } else {
                // A process that was not waited for may remove a file meanwhile.
                self.0.insert(name, Some(fs::read(&path).unwrap_or_default()));
            }
        }
    }

    /// Without the files in the making.
    pub(crate) fn visible(&self) -> Self {
        self.keeping(|name| !is_hidden(name))
    }

    /// Only what has such names.
    pub(crate) fn keeping(&self, kept: impl Fn(&str) -> bool) -> Self {
        let entries = self.0.iter().filter(|(name, _)| kept(name));
        Self(entries.map(|(name, held)| (name.clone(), held.clone())).collect())
    }

    /// The bytes of a file.
    pub(crate) fn file(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name)?.as_deref()
    }

    /// The names of its files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, held)| held.is_some()).map(|(name, _)| name.as_str())
    }

    /// The first difference from another tree, in words.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let names = self.0.keys().chain(other.0.keys());
        let mut differing = names.filter(|name| self.0.get(*name) != other.0.get(*name));
        let name = differing.next()?;
        let size = |tree: &Self| match tree.0.get(name) {
            None => "nothing".to_owned(),
            Some(None) => "a directory".to_owned(),
            Some(Some(bytes)) => format!("{} bytes", bytes.len()),
        };
        Some(format!("{name}: {} in place of {}", size(self), size(other)))
    }

    /// The directories in which nothing is.
    pub(crate) fn empty_directories(&self) -> impl Iterator<Item = &str> {
        let directories = self.0.iter().filter(|(_, held)| held.is_none()).map(|(name, _)| name.as_str());
        directories.filter(|name| !self.0.keys().any(|other| other.starts_with(&format!("{name}/"))))
    }
}

/// Whether a path is that of a file in the making, or of something in a directory in the making.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with(HIDDEN))
}

/// Copies what is below a directory into another one, which is made.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &place);
        } else {
            fs::copy(&path, &place).unwrap();
        }
    }
}
