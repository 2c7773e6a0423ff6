//! The files that a scenario names: where they are, and what they held when they were read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notation::encoding::{Unreadable, decode};
use notation::yaml::MAX_BYTES;

/// Why there is no text of a file.
pub enum Refused {
    /// The file cannot be read: a half-sentence.
    Absent(String),
    /// It is no text, or longer than any machine needs.
    Unreadable(Box<Unreadable>),
}

/// The text of a file, up to the size that no machine needs.
///
/// # Errors
/// Why there is none.
pub fn text_of(path: &Path) -> Result<String, Refused> {
    let mut bytes = Vec::new();
    let absent = |e: io::Error| Refused::Absent(e.to_string());
    let file = File::open(path).map_err(absent)?;
    let size = file.metadata().ok().map(|about| about.len());
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(absent)?;
    if bytes.len() > MAX_BYTES {
        let refused = Unreadable::too_long("machine file", size, MAX_BYTES as u64);
        return Err(Refused::Unreadable(Box::new(refused)));
    }
    decode(bytes).map_err(Refused::Unreadable)
}

/// A file that a scenario names: a machine, a program, a graph or a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Included {
    /// Its name as the scenario or the command line writes it.
    pub name: String,
    /// What it held: text as UTF-8.
    pub bytes: Arc<[u8]>,
}

/// Where the files are that a scenario names, and what was read of them.
pub(crate) struct NamedFiles<'a> {
    folder: PathBuf,
    stored: Option<&'a BTreeMap<String, PathBuf>>,
    /// Each file once, in the order read.
    pub(crate) read: Vec<Included>,
}

impl<'a> NamedFiles<'a> {
    /// Those relative to a scenario of this name; `stored` replaces them ([`crate::Overrides::files`]).
    pub(crate) fn new(scenario: &str, stored: Option<&'a BTreeMap<String, PathBuf>>) -> Self {
        let folder = Path::new(scenario).parent().map(PathBuf::from).unwrap_or_default();
        Self { folder, stored, read: Vec::new() }
    }

    /// Where a file is.
    ///
    /// # Errors
    /// It is not among the stored ones: a half-sentence.
    pub(crate) fn path(&self, name: &str) -> Result<PathBuf, String> {
        match self.stored {
            None => Ok(self.folder.join(name)),
            Some(stored) => {
                stored.get(name).cloned().ok_or_else(|| "it is not among the stored files".to_owned())
            }
        }
    }

    /// Its path for messages, and its text.
    pub(crate) fn text(&mut self, name: &str) -> (PathBuf, Result<String, Refused>) {
        let path = match self.path(name) {
            Ok(path) => path,
            Err(why) => return (PathBuf::from(name), Err(Refused::Absent(why))),
        };
        let text = text_of(&path);
        if let Ok(text) = &text {
            self.keep(name, text.as_bytes());
        }
        (path, text)
    }

    /// Keeps what a file holds that another reader has accepted. One that has vanished since is not kept.
    pub(crate) fn keep_file(&mut self, name: &str, path: &Path) {
        if let Ok(bytes) = fs::read(path) {
            self.keep(name, &bytes);
        }
    }

    fn keep(&mut self, name: &str, bytes: &[u8]) {
        if self.read.iter().all(|file| file.name != name) {
            self.read.push(Included { name: name.to_owned(), bytes: bytes.into() });
        }
    }
}
