//! One contract for the forms in which results, comparisons and reports of claims are written.

use std::fmt::Debug;
use std::io::{self, Write};

/// Columns of a text report that does not go to a terminal.
pub const DEFAULT_WIDTH: usize = 110;

/// How a text report is viewed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View<'a> {
    /// Columns of a line.
    pub width: usize,
    /// Whether to colour words, with the codes of ANSI terminals.
    pub colour: bool,
    /// All tables in place of the answer.
    pub full: bool,
    /// How the user named the scenario, for the commands that are recommended; none when they could not run
    /// again.
    pub subject: Option<&'a str>,
}

impl View<'_> {
    /// All tables, without colours, for files.
    pub const FILE: Self = Self { width: DEFAULT_WIDTH, colour: false, full: true, subject: None };
}

/// What a form is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Its name on the command line.
    pub name: &'static str,
    /// Name of the file in a directory of outputs; none if directories do not receive it.
    pub file: Option<&'static str>,
    /// What it is, as the help of the command line says it.
    pub about: &'static str,
}

/// Writes a `T` in one form. A new form is an implementation in a file, and its line in the registry:
/// [`crate::report::FORMATS`], [`crate::compare::report::FORMS`] or that of the claims.
pub trait Exporter<T>: Debug + Sync {
    /// What it is called.
    fn form(&self) -> Form;

    /// Writes it; how it is viewed matters to text only.
    ///
    /// # Errors
    /// What `out` says.
    fn write(&self, what: &T, out: &mut dyn Write, view: &View<'_>) -> io::Result<()>;
}

/// A form of the registries.
pub type Exported<T> = &'static dyn Exporter<T>;

/// The form of this name.
#[must_use]
pub fn find<T>(all: &[Exported<T>], name: &str) -> Option<Exported<T>> {
    all.iter().copied().find(|exporter| exporter.form().name == name)
}
