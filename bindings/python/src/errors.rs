//! What can go wrong, and the exception that each becomes.

use decide::trial::Failed;
use experiment::neutral;
use experiment::run::RunError;
use import::Refused;
use notation::diagnostics::Problems;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use scenario::subject::Unfound;
use sweep::store::StoreError;

/// Why there is no result.
pub(crate) enum Failure {
    /// Diagnostics of a scenario.
    Problems(Box<Problems>),
    /// The scenario is refused as a whole, or a value that was given is wrong: a sentence.
    Refused(String),
    /// A file cannot be read or written: a sentence.
    File(String),
    /// The caller does not wait any more.
    Stopped,
}

impl From<Unfound> for Failure {
    fn from(why: Unfound) -> Self {
        Self::Refused(why.to_string())
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(Box::new(problems))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Stopped => Self::Stopped,
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(why) => Self::Refused(why),
            Failed::Stopped => Self::Stopped,
        }
    }
}

impl From<Refused> for Failure {
    fn from(why: Refused) -> Self {
        match why {
            Refused::Sentence(why) | Refused::Rendered(why) => Self::Refused(why),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(why) => Self::Refused(why),
            StoreError::Failed(why) => Self::File(why),
        }
    }
}

impl Failure {
    /// A sentence as a refusal, for `map_err`.
    pub(crate) fn refused(why: impl ToString) -> Self {
        Self::Refused(why.to_string())
    }

    /// The exception.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Problems(problems) => {
                let all = problems.located().into_iter().map(|one| {
                    let places = (one.start.0, one.start.1, one.end.0, one.end.1);
                    (one.source, one.in_file, places, one.message, one.hint)
                });
                scenario_error(py, &problems.to_string(), all.collect::<Vec<_>>())
            }
            Self::Refused(why) => scenario_error(py, &why, Vec::new()),
            Self::File(why) => PyOSError::new_err(neutral::lines(&why).into_owned()),
            Self::Stopped => PyRuntimeError::new_err("the simulation was stopped"),
        }
    }
}

/// Name of the source, whether it is the scenario, line and column of begin and end, message, help.
type Diagnostic = (String, bool, (usize, usize, usize, usize), String, String);

/// An `oversim.ScenarioError`, which Python defines.
fn scenario_error(py: Python<'_>, text: &str, diagnostics: Vec<Diagnostic>) -> PyErr {
    let text = neutral::lines(text.trim_end()).into_owned();
    let made = py
        .import("oversim._errors")
        .and_then(|module| module.getattr("ScenarioError"))
        .and_then(|class| class.call_method1("_of", (text, diagnostics)));
    made.map_or_else(|error| error, PyErr::from_value)
}
