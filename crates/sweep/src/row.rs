//! A run of a sweep as a line of JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use experiment::measured::Values;
use notation::neutral::first_invisible;
use scenario::configuration::Settings;
use serde::{Deserialize, Serialize};

/// The outcome of a run whose configuration is not valid: its text says why.
pub const INVALID: &str = "invalid";
/// The outcome of a run of which every foreground application ended.
pub const COMPLETED: &str = "completed";

/// A run: where it belongs, how it ended, what it measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// `run`.
    pub kind: String,
    /// Its number in the plan.
    pub run: u64,
    /// Its configuration, from 0.
    pub configuration: u64,
    /// The values of the configuration.
    pub settings: Settings,
    /// For each axis the position of its value.
    pub places: Vec<usize>,
    /// Label of its policy, or `dedicated`.
    pub policy: String,
    /// The application of a dedicated run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// Its replicate, from 0.
    pub replicate: u32,
    /// Its seed.
    pub seed: u64,
    /// `completed`, `horizon`, `deadlock`, `livelock` or [`INVALID`].
    pub outcome: String,
    /// What happened, if it did not complete.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Digest of all facts of the run, hex; empty for an invalid one.
    pub digest: String,
    /// Relative error by extrapolation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub error: f64,
    /// How many copies of an application there are, where not one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub copies: BTreeMap<String, usize>,
    /// Values by application (`all` for the whole machine) and metric; empty if it did not complete.
    pub values: Values,
}

/// Leaves the field out where it has nothing to say.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(error: &f64) -> bool {
    *error <= 0.0
}

/// How each line of a run begins: its number follows.
const HEAD: &str = "{\"kind\":\"run\",\"run\":";

impl Row {
    /// The line, without its end.
    ///
    /// # Panics
    /// Never: a row has only texts as keys.
    #[must_use]
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("a row is JSON: {error}"))
    }

    /// The row of a line.
    ///
    /// # Errors
    /// A sentence.
    pub fn read(line: &str) -> Result<Self, String> {
        visible(line)?;
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// The number of the run of a line, without reading the rest.
    #[must_use]
    pub fn number(line: &str) -> Option<u64> {
        let digits = line.strip_prefix(HEAD)?;
        digits.split(',').next()?.parse().ok()
    }
}

/// What a line says without its values: enough to count and to order runs, in a quarter of the time.
#[derive(Deserialize)]
pub(crate) struct Brief<'a> {
    pub(crate) configuration: u64,
    pub(crate) replicate: u32,
    #[serde(borrow)]
    pub(crate) outcome: Cow<'a, str>,
}

impl<'a> Brief<'a> {
    /// What a line says. The rest of the line is JSON, too.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn read(line: &'a str) -> Result<Self, String> {
        visible(line)?;
        serde_json::from_str(line).map_err(|error| error.to_string())
    }
}

/// Refuses invisible characters.
fn visible(line: &str) -> Result<(), String> {
    // Nearly all lines are plain ASCII, for which this takes a hundredth of the time of the rest.
    if line.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
        return Ok(());
    }
    match first_invisible(line) {
        Some((_, c)) => Err(format!("it contains the invisible character U+{:04X}", u32::from(c))),
        None => Ok(()),
    }
}
