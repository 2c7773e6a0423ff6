//! Resolves the subject of a command, see [`scenario::subject`].

use std::path::Path;

use scenario::subject::{self, Unfound};

use crate::failure::Failure;

fn failure(why: Unfound) -> Failure {
    match why {
        Unfound::Sentence(text) => Failure::Input(text),
        Unfound::Rendered(text) => Failure::Rendered(text),
    }
}

/// The name for messages and the text of a scenario.
pub(crate) fn scenario(subject: &Path) -> Result<(String, String), Failure> {
    subject::scenario(subject).map_err(failure)
}

/// As [`scenario`], and the file may hold a result.
pub(crate) fn result_or_scenario(subject: &Path) -> Result<(String, String), Failure> {
    subject::result_or_scenario(subject).map_err(failure)
}

/// The name for messages and the text of a file of at most so many bytes; `-` is standard input.
pub(crate) fn file(path: &Path, most: u64, what: &str) -> Result<(String, String), Failure> {
    subject::file(path, most, what).map_err(failure)
}
