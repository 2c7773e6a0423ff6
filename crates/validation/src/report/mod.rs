//! Reports of a reproduction, one form per file.

mod cells;
mod csv;
mod json;
mod markdown;
mod numbers;
pub mod page;
mod text;

pub use cells::write as cells;
pub use numbers::{short, simulated};

use std::io::{self, Write};

use crate::reproduce::Reproduction;

/// A form of the report.
pub struct Form {
    /// Its name on the command line.
    pub name: &'static str,
    /// Writes it.
    pub write: fn(&Reproduction, &mut dyn Write) -> io::Result<()>,
}

/// All forms.
pub const FORMS: &[Form] = &[
    Form { name: "text", write: text::write },
    Form { name: "json", write: json::write },
    Form { name: "csv", write: csv::write },
    Form { name: "markdown", write: markdown::write },
];

/// The form of this name.
#[must_use]
pub fn form(name: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.name == name)
}
