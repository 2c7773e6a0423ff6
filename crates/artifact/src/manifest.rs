//! The manifest: what an archive contains, who wrote it, and the checksum of each file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use experiment::PolicyRegistry;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Trouble;
pub use crate::facts::Facts;

/// Name and version of the form.
pub const SCHEMA: &str = "oversim.artifact/1";
/// The file of the manifest, the first one of an archive.
pub const MANIFEST: &str = "manifest.json";
/// The file with instructions for people.
pub const README: &str = "README.md";
/// Differences of two versions that a message lists.
const LISTED: usize = 40;
/// Most files of an archive: a sweep has one for 4,096 runs.
const MOST_FILES: usize = 100_000;
/// Longest path of a file, in bytes: with the directory above all of them it fits a header of tar (POSIX
/// `ustar`: 255).
pub(crate) const LONGEST: usize = 230;

/// What a part of an archive is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A directory that `oversim run -o` wrote.
    Result,
    /// A directory that `oversim sweep -o` wrote, with all of its runs.
    Sweep,
    /// A file of claims, and what was said of them.
    Claims,
    /// Other files. Figures among them are drawn again.
    Files,
}

impl Kind {
    /// The directory of such parts.
    pub(crate) const fn directory(self) -> &'static str {
        match self {
            Self::Result => "results",
            Self::Sweep => "sweeps",
            Self::Claims => "claims",
            Self::Files => "files",
        }
    }
}

/// Where a picture is drawn.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// As `oversim plot --for web` does.
    Web,
    /// As `--for paper` does, with this width in millimetres.
    Paper(f64),
    /// As `--for slide` does.
    Slide,
}

/// How a file of a figure is made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// The file, relative to its part.
    pub file: String,
    /// The part with the numbers, a result or a sweep.
    pub from: String,
    /// The name of the figure.
    pub figure: String,
    /// What it is drawn for.
    pub place: Place,
    /// The swept paths of columns and rows of a phase diagram, where these are not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axes: Option<[String; 2]>,
}

/// A part of an archive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What it is.
    pub kind: Kind,
    /// Its directory.
    pub directory: String,
    /// How many runs it has, 0 for files.
    pub runs: u64,
    /// The command that made it; empty for files.
    pub command: String,
    /// The files that can be drawn again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawn: Vec<Drawing>,
}

/// A file of an archive.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its path.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its contents, hex.
    pub sha256: String,
}

/// The manifest of an archive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// What the program that packed it knows.
    pub program: Facts,
    /// The parts.
    pub parts: Vec<Part>,
    /// All files but the manifest, in the order of paths.
    pub files: Vec<Member>,
}

/// Whether a path is relative, made of plain names, and short enough.
pub(crate) fn is_plain(path: &str) -> bool {
    let plain = |c: char| !c.is_control() && c != '\\' && c != ':';
    let names = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    // A name of tar is split at a slash into at most 155 and 100 bytes.
    let last = path.rsplit('/').next().unwrap_or_default();
    !path.is_empty()
        && path.len() <= LONGEST
        && last.len() <= 90
        && path.chars().all(plain)
        && names
        && !path.ends_with('/')
        && !path.contains("//")
        && path.split('/').all(|name| name != ".")
}

impl Manifest {
    /// Reads the manifest of an archive of this version of the program.
    ///
    /// # Errors
    /// Another version of the program or of the model wrote it: then all differences are listed. Or it is
    /// not right.
    pub fn read(archive: &str, bytes: &[u8], registry: &PolicyRegistry) -> Result<Self, Trouble> {
        let wrong = |why: &str| Trouble::refused(&format!("{archive}: {MANIFEST} is not right: {why}"));
        let value: Value = serde_json::from_slice(bytes).map_err(|error| wrong(&error.to_string()))?;
        let schema = value.get("schema").and_then(Value::as_str).unwrap_or_default();
        if schema != SCHEMA && !schema.starts_with("oversim.artifact/") {
            return Err(wrong("it is not that of an artifact"));
        }
        // The facts come first: other versions may have other fields.
        let facts = value.get("program").cloned().unwrap_or_default();
        let text = |name: &str| facts.get(name).and_then(Value::as_str).unwrap_or("none").to_owned();
        let (version, model) = (text("version"), text("model"));
        let known: Facts = serde_json::from_value(facts.clone()).unwrap_or_else(|_| Facts {
            tool: text("tool"),
            version: version.clone(),
            model: model.clone(),
            generator: text("generator"),
            ..Facts::default()
        });
        let mut differences = known.differences(&known.same_names(registry));
        if schema != SCHEMA {
            differences.insert(0, format!("form: {schema} in the archive, {SCHEMA} here"));
        }
        if !differences.is_empty() {
            return Err(Self::foreign(archive, (&version, &model), &differences));
        }
        let manifest: Self = serde_json::from_value(value).map_err(|error| wrong(&error.to_string()))?;
        manifest.check().map_err(|why| wrong(&why))?;
        Ok(manifest)
    }

    fn foreign(archive: &str, (version, model): (&str, &str), differences: &[String]) -> Trouble {
        let own = Facts::of_program();
        let mut lines: Vec<String> =
            differences.iter().take(LISTED).map(|line| format!("  {line}")).collect();
        if differences.len() > LISTED {
            lines.push(format!("  and {} more", differences.len() - LISTED));
        }
        Trouble::refused(&format!(
            "{archive} is of oversim {version} with {model}, and this is oversim {} with {}: its numbers \
             cannot be compared. Verify it with oversim {version}. What differs:\n{}",
            own.version,
            own.model,
            lines.join("\n")
        ))
    }

    /// Checks that all paths lead into the directory of the archive, each once, and that every file belongs
    /// to a part.
    ///
    /// # Errors
    /// A half-sentence.
    fn check(&self) -> Result<(), String> {
        if self.files.len() > MOST_FILES {
            return Err(format!("it names more than {MOST_FILES} files"));
        }
        let mut directories = BTreeSet::new();
        for part in &self.parts {
            let expected = part.directory.strip_prefix(part.kind.directory());
            let name = expected.and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
            if name.is_empty() || name.contains('/') || !is_plain(&part.directory) {
                return Err(format!("`{}` is no directory of a part", part.directory));
            }
            if !directories.insert(part.directory.as_str()) {
                return Err(format!("two parts are called {}", part.directory));
            }
        }
        let mut paths: BTreeMap<&str, &Member> = BTreeMap::new();
        for file in &self.files {
            if !is_plain(&file.path) || file.path == MANIFEST {
                return Err(format!("`{}` is no path of a file in the archive", file.path));
            }
            if paths.insert(&file.path, file).is_some() {
                return Err(format!("it names {} twice", file.path));
            }
            let above: Option<String> = {
                let parts: Vec<&str> = file.path.splitn(3, '/').collect();
                (parts.len() == 3).then(|| parts[..2].join("/"))
            };
            if file.path != README && !above.is_some_and(|above| directories.contains(above.as_str())) {
                return Err(format!("{} belongs to no part", file.path));
            }
        }
        if !paths.contains_key(README) {
            return Err(format!("it does not name {README}"));
        }
        let sorted = self.files.is_sorted_by(|a, b| a.path < b.path);
        if sorted { Ok(()) } else { Err("its files are not in the order of their paths".into()) }
    }

    /// The bytes of the manifest.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        (serde_json::to_string_pretty(self).unwrap_or_default() + "\n").into_bytes()
    }

    /// The files of a part, relative to it.
    pub(crate) fn files_of<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = &'a str> {
        let inside = |file: &'a Member| file.path.strip_prefix(&part.directory)?.strip_prefix('/');
        self.files.iter().filter_map(inside)
    }

    /// Bytes of all files.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    /// All runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_inside_are_plain() {
        for path in ["a", "results/a/result.json", "a b/ü.svg", "..a"] {
            assert!(is_plain(path), "{path}");
        }
        let long = "x".repeat(300);
        for path in
            ["", "/a", "../a", "a/../b", "a/./b", "./a", "a//b", "a/", "C:\\a", "a\\b", "a\nb", "a\0", &long]
        {
            assert!(!is_plain(path), "{path:?}");
        }
    }
}
