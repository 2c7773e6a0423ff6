//! The list of all policies, and registries that hold others too: of the caller, and of policy files.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::path::Path;
use std::sync::Arc;

use crate::entry::Entry;

/// All policies, in the order of lists and reports.
pub const ALL: &[Entry] = &[
    crate::load::ENTRY,
    crate::ule::ENTRY,
    crate::lgroup::ENTRY,
    crate::dwrr::ENTRY,
    crate::pin::ENTRY,
    crate::speed::ENTRY,
    crate::juggle::ENTRY,
    crate::swomps::ENTRY,
    crate::gang::ENTRY,
    crate::partition::ENTRY,
    crate::yield_to::ENTRY,
    crate::lewi::ENTRY,
    crate::ordering::FIFO,
    crate::ordering::VTIME,
    crate::ordering::STRIDE,
    crate::ordering::LOTTERY,
    crate::ordering::MLFQ,
    crate::ordering::EDF,
    crate::ordering::FP,
    crate::ordering::SJF,
    crate::ordering::SRTF,
    crate::ordering::RUSTY,
    crate::ordering::GUARANTEED,
];

/// The policy of this name, upper or lower case.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

/// A policy that was read from a file.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    /// The policy; the same for the same contents, for as long as the program runs.
    pub entry: &'static Entry,
    /// SHA-256 of the file's contents, in hexadecimal.
    pub sha256: String,
}

/// What reads the policy file at a path; the error is a sentence about the file, without its path, and what
/// would be right, or nothing.
pub type ReadFile = dyn Fn(&Path) -> Result<PolicyFile, (String, String)> + Send + Sync;

/// The policies that scenarios can name: those of this crate and, behind them, those of somebody else; and
/// those of files, if something reads them.
#[derive(Clone)]
pub struct PolicyRegistry {
    entries: Vec<&'static Entry>,
    reader: Option<Arc<ReadFile>>,
    /// The policies of files by the path as a scenario writes it; none for a file that is not right.
    files: Arc<BTreeMap<String, Option<&'static Entry>>>,
}

impl Default for PolicyRegistry {
    fn default() -> Self {
        Self { entries: ALL.iter().collect(), reader: None, files: Arc::default() }
    }
}

impl Debug for PolicyRegistry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { entries, files, .. } = self;
        f.debug_struct("PolicyRegistry")
            .field("entries", entries)
            .field("files", files)
            .finish_non_exhaustive()
    }
}

/// True when a policy's name is the path of a policy file: it ends like one or has a slash.
#[must_use]
pub fn is_file(name: &str) -> bool {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    name.contains('/') || ["wasm", "order"].iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// The label of a policy file: its name up to the first dot.
#[must_use]
pub fn file_label(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

impl PolicyRegistry {
    /// The policies of this crate and these behind them.
    ///
    /// # Errors
    /// A sentence: a name is taken, or is none that a scenario could write.
    pub fn with(own: &[&'static Entry]) -> Result<Self, String> {
        let mut registry = Self::default();
        for entry in own {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if entry.name.is_empty() || entry.name.len() > 64 || !entry.name.chars().all(word) {
                return Err(format!(
                    "`{}` is not a valid policy name: use 1 to 64 letters, digits, `_` and `-`",
                    entry.name
                ));
            }
            if registry.find(entry.name).is_some() {
                return Err(format!("there is already a policy named {}", entry.name));
            }
            registry.entries.push(entry);
        }
        Ok(registry)
    }

    /// The same, with this to read policy files.
    #[must_use]
    pub fn reading_files(self, reader: Arc<ReadFile>) -> Self {
        Self { reader: Some(reader), ..self }
    }

    /// Reads the policy file at a path and keeps its policy under the name that a scenario gives it; returns
    /// the SHA-256 of its contents.
    ///
    /// # Errors
    /// A half-sentence about the file, and what would be right (or nothing).
    pub fn read_file(&mut self, name: &str, path: &Path) -> Result<String, (String, String)> {
        let read = match &self.reader {
            Some(reader) => reader(path),
            None => Err(("policy files are not read here".to_owned(), String::new())),
        };
        let files = Arc::make_mut(&mut self.files);
        files.insert(name.to_owned(), read.as_ref().ok().map(|file| file.entry));
        read.map(|file| file.sha256)
    }

    /// Whether the policy file of this name has been read, be it right or wrong.
    #[must_use]
    pub fn has_file(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// All of them but those of files, in the order of lists and reports.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        self.entries.iter().copied()
    }

    /// The policy of this name, upper or lower case, or of this policy file, which has been read.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        if let Some(read) = self.files.get(name) {
            return *read;
        }
        self.entries().find(|entry| entry.name.eq_ignore_ascii_case(name))
    }
}

/// The policy that is the placement and balancing of an operating system: user-level policies are stacked on
/// it.
///
/// # Panics
/// When the operating system names a policy that does not exist. A test tries all of them.
#[must_use]
#[expect(clippy::expect_used, reason = "operating systems are built in, and each names a policy of `ALL`")]
pub fn kernel_policy(policy: &str) -> &'static Entry {
    ALL.iter().find(|entry| entry.name == policy).expect("an operating system names a built-in policy")
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::parameter::Kind;

    #[test]
    fn names_are_unique_and_found_in_any_case() {
        for (i, entry) in ALL.iter().enumerate() {
            assert!(ALL[..i].iter().all(|other| !other.name.eq_ignore_ascii_case(entry.name)));
            assert_eq!(find(&entry.name.to_lowercase()).map(|found| found.name), Some(entry.name));
        }
        assert!(find("LAOD").is_none());
    }

    #[test]
    fn a_shelf_takes_policies_with_names_of_their_own() {
        const MINE: Entry = Entry { name: "MINE", ..crate::pin::ENTRY };
        let registry = PolicyRegistry::with(&[&MINE]).unwrap();
        assert_eq!(registry.entries().count(), ALL.len() + 1);
        assert_eq!(registry.find("mine").map(|entry| entry.name), Some("MINE"));
        assert!(PolicyRegistry::default().find("mine").is_none());
        const TAKEN: Entry = Entry { name: "load", ..crate::pin::ENTRY };
        assert_eq!(PolicyRegistry::with(&[&TAKEN]).unwrap_err(), "there is already a policy named load");
        assert!(PolicyRegistry::with(&[&MINE, &MINE]).is_err());
        const ODD: Entry = Entry { name: "a policy", ..crate::pin::ENTRY };
        assert!(PolicyRegistry::with(&[&ODD]).is_err());
    }

    #[test]
    fn policy_files_are_told_from_names_and_have_the_label_of_their_stem() {
        for (file, label) in [("./scx_simple.wasm", "scx_simple"), ("a/b/c.bpf.wasm", "c"), ("X.WASM", "X")] {
            assert!(is_file(file), "{file}");
            assert_eq!(file_label(file), label);
        }
        assert!(is_file("mine.order") && !is_file("LOAD") && !is_file("wasm") && !is_file("order"));
        let mut registry = PolicyRegistry::default();
        assert!(registry.read_file("./x.wasm", Path::new("x.wasm")).is_err());
        assert!(registry.has_file("./x.wasm") && registry.find("./x.wasm").is_none());
        let read = |_: &Path| Ok(PolicyFile { entry: &crate::pin::ENTRY, sha256: "00".into() });
        let mut registry = registry.reading_files(Arc::new(read));
        assert_eq!(registry.read_file("./x.wasm", Path::new("x.wasm")), Ok("00".into()));
        assert_eq!(registry.find("./x.wasm").map(|entry| entry.name), Some("PIN"));
    }

    #[test]
    fn every_entry_says_what_it_is_and_has_legal_defaults() {
        for entry in ALL {
            assert!(
                !entry.summary.is_empty() && !entry.source.is_empty() && entry.about().len() > 200,
                "{}",
                entry.name
            );
            assert!(entry.example().len() > 100, "{}: a small worked example", entry.name);
            assert!(!entry.observes().is_empty() && !entry.costs().is_empty(), "{}", entry.name);
            assert!(!entry.wins_because().is_empty() && !entry.loses_because().is_empty(), "{}", entry.name);
            assert!(entry.text.starts_with(&format!("# {}\n", entry.name)), "{}", entry.name);
            for (i, p) in entry.parameters.iter().enumerate() {
                let default_is_legal = p.min <= p.default && p.default <= p.max;
                // The default of a list is the empty one.
                assert!(default_is_legal || p.kind.is_list(), "{}.{}", entry.name, p.name);
                assert!(entry.parameters[..i].iter().all(|q| q.name != p.name), "{}.{}", entry.name, p.name);
                assert!(!p.about.is_empty());
                if let Kind::Choice(words) = p.kind.of_one() {
                    assert_eq!((p.min, p.max), (0, words.len() as u64 - 1), "{}.{}", entry.name, p.name);
                }
            }
        }
    }
}
