//! The forms of files that describe jobs, and how each is recognised.

use notation::number::listed;

use crate::read::{mpip, perf, regions, sacct, time};
use crate::twin;

/// A form of file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Form {
    /// `perf stat -x,` or its text.
    Perf,
    /// `/usr/bin/time -v`.
    Time,
    /// `sacct -P`.
    Sacct,
    /// A report of mpiP.
    Mpip,
    /// Parallel regions: CSV, `ompP` or `likwid-perfctr -O -m`.
    Regions,
    /// A scenario of `oversim twin import`.
    Twin,
}

/// All forms, in the order of recognition.
pub const FORMS: [Form; 6] = [Form::Twin, Form::Mpip, Form::Time, Form::Sacct, Form::Regions, Form::Perf];

impl Form {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Perf => "perf",
            Self::Time => "time",
            Self::Sacct => "sacct",
            Self::Mpip => "mpip",
            Self::Regions => "regions",
            Self::Twin => "twin",
        }
    }

    /// What it is, in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Perf => "perf stat, with `-x,` or its text",
            Self::Time => "/usr/bin/time -v",
            Self::Sacct => "sacct -P",
            Self::Mpip => "a report of mpiP",
            Self::Regions => "parallel regions as CSV, of ompP or of likwid-perfctr -O -m",
            Self::Twin => "a scenario of oversim twin import",
        }
    }

    /// The form of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        FORMS.into_iter().find(|form| form.name() == name)
    }

    /// The form of a text, by its content.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        FORMS.into_iter().find(|form| match form {
            Self::Perf => perf::fits(text),
            Self::Time => time::fits(text),
            Self::Sacct => sacct::fits(text),
            Self::Mpip => mpip::fits(text),
            Self::Regions => regions::fits(text),
            Self::Twin => twin::fits(text),
        })
    }
}

/// What is said of a file in none of the forms.
pub(crate) fn unknown() -> String {
    let names: Vec<String> =
        FORMS.iter().map(|form| format!("`{}` ({})", form.name(), form.title())).collect();
    format!("the forms are {}; `--form` states one", listed(&names))
}
