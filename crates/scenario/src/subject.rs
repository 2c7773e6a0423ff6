//! Resolves the subject of a command: a file, standard input or a built-in scenario, of limited size.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use notation::encoding::{Unreadable, decode};
use notation::suggest::nearest;

use crate::{built_in, foreign};

/// Why there is no text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfound {
    /// A sentence.
    Sentence(String),
    /// A diagnostic that is rendered already.
    Rendered(String),
}

impl std::fmt::Display for Unfound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Sentence(text) | Self::Rendered(text)) = self;
        f.write_str(text)
    }
}

/// Most bytes of a scenario: the reader of scenarios refuses more; without the limit a wrong file (a disk
/// image, a device) would fill the memory first.
const MAX_BYTES: u64 = 1 << 20;

/// Most bytes of a result: some million cells.
const MAX_RESULT_BYTES: u64 = 1 << 30;

/// Most files of a directory that are compared with a mistyped name.
const MAX_COMPARED: usize = 10_000;

/// Most built-in scenarios that an error names.
const MOST_NAMED: usize = 5;

/// Endings of the files that commands read.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// The name for messages and the text of a scenario: of a file, of standard input (`-`), or a built-in one.
///
/// # Errors
/// There is none of this name, or its text cannot be read.
pub fn scenario(subject: &Path) -> Result<(String, String), Unfound> {
    resolve(subject, MAX_BYTES, "scenario")
}

/// As [`scenario`], and the file may hold a result.
///
/// # Errors
/// As [`scenario`].
pub fn result_or_scenario(subject: &Path) -> Result<(String, String), Unfound> {
    resolve(subject, MAX_RESULT_BYTES, "result or scenario")
}

/// An existing file first, then a built-in scenario of this name, else an error with the nearest names.
fn resolve(subject: &Path, most: u64, what: &str) -> Result<(String, String), Unfound> {
    let missing = subject.as_os_str() != "-"
        && fs::metadata(subject).map_or_else(|e| e.kind() == ErrorKind::NotFound, |m| m.is_dir());
    if !missing {
        let (name, text) = file(subject, most, what)?;
        return match foreign::recognised(&text) {
            Some(format) => Err(Unfound::Sentence(format!("{name} is no {what}: {format}"))),
            None => Ok((name, text)),
        };
    }
    match subject.to_str().and_then(built_in::find) {
        Some(found) => Ok((found.title(), found.text.to_owned())),
        None => Err(Unfound::Sentence(absent(subject))),
    }
}

/// The error about a file that is not there: with the built-in scenario and the file of the nearest names.
fn absent(subject: &Path) -> String {
    let name = subject.display();
    if subject.is_dir() {
        return format!("cannot read {name}: it is a directory, and no built-in scenario has this name");
    }
    let last = subject.file_name().map(|last| last.to_string_lossy().into_owned()).unwrap_or_default();
    let similar = built_in::similar(&last).map(|near| format!("the built-in scenario `{near}`"));
    let built_in = similar.or_else(|| beginning(&last));
    let file = similar_file(subject, &last).map(|near| format!("the file `{near}`"));
    let near: Vec<String> = [built_in, file].into_iter().flatten().collect();
    if near.is_empty() {
        return format!(
            "cannot read {name}: no such file, and no built-in scenario has this name (`oversim list \
                scenarios`)"
        );
    }
    format!("cannot read {name}: no such file; did you mean {}?", near.join(" or "))
}

/// The built-in scenarios whose names begin with a word, or contain it.
fn beginning(word: &str) -> Option<String> {
    let names: Vec<String> =
        built_in::beginning(word).take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => None,
        [one] => Some(format!("the built-in scenario {one}")),
        several => Some(format!("one of the built-in scenarios {}", several.join(", "))),
    }
}

/// The file beside the missing one whose name is nearest.
fn similar_file(subject: &Path, name: &str) -> Option<String> {
    let folder = subject.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let files = entries.take(MAX_COMPARED).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let readable = |file: &String| {
        Path::new(file)
            .extension()
            .is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
    };
    let mut files: Vec<String> = files.filter(readable).collect();
    files.sort_unstable();
    // An ending that is left out is no mistake of typing.
    let stem = |file: &str| file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
    let near = match files.iter().find(|file| stem(file) == name) {
        Some(same) => same.clone(),
        None => nearest(name, files.iter().map(String::as_str))?.to_owned(),
    };
    Some(folder.map_or(near.clone(), |folder| folder.join(&near).display().to_string()))
}

/// The name for messages and the text of a file of at most so many bytes; `-` is standard input.
///
/// # Errors
/// The file cannot be read, is longer, or is no text; `what` is what it should hold.
pub fn file(path: &Path, most: u64, what: &str) -> Result<(String, String), Unfound> {
    let standard = path.as_os_str() == "-";
    let name = if standard { "<stdin>".to_owned() } else { path.display().to_string() };
    let source: io::Result<Box<dyn Read>> = if standard {
        Ok(Box::new(io::stdin()))
    } else {
        File::open(path).map(|f| Box::new(f) as Box<dyn Read>)
    };
    let mut bytes = Vec::new();
    source
        .and_then(|s| s.take(most + 1).read_to_end(&mut bytes))
        .map_err(|e| Unfound::Sentence(format!("cannot read {name}: {e}")))?;
    if bytes.len() as u64 > most {
        let size = fs::metadata(path).ok().filter(|_| !standard).map(|about| about.len());
        return Err(Unfound::Rendered(Unreadable::too_long(what, size, most).render(&name)));
    }
    let text = decode(bytes).map_err(|refused| Unfound::Rendered(refused.render(&name)))?;
    Ok((name, text))
}
