//! Failures outside the simulation, and the exit code of each.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Style};
use experiment::neutral;
use import::Refused;
use sweep::store::StoreError;

/// As the parser of the command line shows it.
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// A run ended badly, or the result could not be delivered.
pub(crate) const BAD_END: u8 = 1;
/// Wrong usage or an invalid scenario.
pub(crate) const BAD_INPUT: u8 = 2;

/// The output was written and lacks something that the input has.
pub(crate) const LEFT_OUT: u8 = 3;

/// Why the program stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong usage, scenario, file or name: a sentence.
    Input(String),
    /// Diagnostics that are rendered already.
    Rendered(String),
    /// The result could not be delivered: a sentence.
    Output(String),
    /// A signal ended the work: a sentence and the exit code.
    Stopped(String, u8),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Sentence(text) => Self::Input(text),
            Refused::Rendered(text) => Self::Rendered(text),
        }
    }
}

impl Failure {
    /// Prints the failure on standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let error = format!("{ERROR}error:{ERROR:#}");
        // Sentences name files and words of the user.
        let (text, code) = match self {
            Self::Input(text) => (format!("{error} {}", neutral::lines(text)), BAD_INPUT),
            Self::Rendered(text) => (neutral::lines(text.trim_end()).into_owned(), BAD_INPUT),
            Self::Output(text) => (format!("{error} {}", neutral::lines(text)), BAD_END),
            Self::Stopped(text, code) => (format!("{error} {}", neutral::lines(text)), *code),
        };
        // Colour goes to terminals only, and not where NO_COLOR is set. If standard error is closed, the exit
        // code still reports.
        let _ = writeln!(anstream::stderr(), "{text}");
        ExitCode::from(code)
    }

    /// The directory of a sweep that cannot be used.
    pub(crate) fn sweep(error: StoreError) -> Self {
        match error {
            StoreError::Refused(why) => Self::Input(why),
            StoreError::Failed(why) => Self::Output(why),
        }
    }

    /// A failure to write to standard output.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        Self::Output(format!("cannot write to standard output: {error}"))
    }
}
