//! Scenarios from the files of other programs: workloads of schedulers and simulators, job logs, limits of
//! containers; and the reverse for those that can state what a scenario has.
//!
//! An import never guesses in silence. Its result is the text of a scenario in which each number has its
//! origin as a comment, and a list of [`Note`]s: what was left out, what behaves differently, what was
//! assumed.

mod batsim;
mod cgroups;
mod containers;
mod docker;
pub mod export;
mod form;
mod json;
mod kubernetes;
mod note;
mod ostep;
mod page;
mod rt_app;
mod swf;
mod units;

use notation::diagnostics::{Diagnostic, Place, Sources};

pub use cgroups::read_directory;
pub use containers::Formula;
pub use form::{FORMS, Form};
pub use note::{Kind, Note};
pub use page::word;

/// Most bytes of a file: the largest public job logs have some tens of megabytes.
pub const MAX_BYTES: u64 = 64 << 20;
/// Most bytes of the scenario that is written: what the reader of scenarios accepts.
const MAX_SCENARIO: usize = 1 << 20;

/// What the file does not say.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the scenario.
    pub name: String,
    /// The form of the file; otherwise it is recognised.
    pub form: Option<Form>,
    /// The machine, as a scenario names it.
    pub machine: Option<String>,
    /// Cores of the machine where none is named; of one node in a job log.
    pub cores: Option<u32>,
    /// The workload of what a container runs, as a scenario writes it (`hog`, `{ spmd: { work: 1s } }`).
    pub workload: Option<String>,
    /// Most jobs of a log.
    pub jobs: Option<usize>,
    /// The first job of a log that is taken, counted from 1.
    pub from: usize,
    /// Operations per second of a core, for jobs whose work is counted in operations.
    pub flops: Option<f64>,
    /// How shares of cpu time become weights of cgroup v2.
    pub formula: Formula,
    /// The kubelet gives whole cpus to some containers (its cpu manager policy `static`).
    pub exclusive: bool,
}

impl Options {
    /// Nothing is given but the name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: word(name, "imported"),
            form: None,
            machine: None,
            cores: None,
            workload: None,
            jobs: None,
            from: 1,
            flops: None,
            formula: Formula::Quadratic,
            exclusive: false,
        }
    }
}

/// An imported scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    /// The form of the file.
    pub form: Form,
    /// The text of the scenario.
    pub text: String,
    /// What differs between the file and the scenario, in the order of the file.
    pub notes: Vec<Note>,
}

impl Imported {
    /// True when nothing of the file that could act on a schedule was left out.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.notes.iter().all(|note| note.kind != Kind::LeftOut)
    }
}

/// Why nothing was imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A sentence without full stop.
    Sentence(String),
    /// Rendered, with file and line.
    Rendered(String),
}

/// A file with its name.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// For messages and comments.
    pub name: &'a str,
    /// What it holds.
    pub text: &'a str,
}

impl Source<'_> {
    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        bytes[..at.min(bytes.len())].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// What is wrong at a byte.
    fn wrong(&self, at: usize, message: impl Into<String>) -> Refused {
        let at = at.min(self.text.len());
        let problem = Diagnostic::new(Place::range(0, at..at), message);
        Refused::Rendered(Sources::new(self.name, self.text).render(&[problem]))
    }

    /// What is wrong with the file as a whole.
    fn refused(&self, message: &str) -> Refused {
        Refused::Sentence(format!("{}: {message}", self.name))
    }
}

/// Imports a file. Several files are parts of one, where the form has parts (rt-app).
///
/// # Errors
/// The form is not known, the file is wrong, or no scenario can hold it.
pub fn import(sources: &[Source<'_>], options: &Options) -> Result<Imported, Refused> {
    let Some(first) = sources.first() else {
        return Err(Refused::Sentence("there is no file to import".into()));
    };
    for source in sources {
        if source.text.len() as u64 > MAX_BYTES {
            return Err(source.refused(&format!("more than {} MiB", MAX_BYTES >> 20)));
        }
        if let Some(at) = source.text.find('\0') {
            return Err(source.wrong(at, "a zero byte: this is not a text file"));
        }
    }
    let Some(form) = options.form.or_else(|| sources.iter().find_map(|source| Form::of(source.text))) else {
        return Err(first.refused(&form::unknown()));
    };
    if sources.len() > 1 && form != Form::RtApp {
        let only = "only rt-app's files have parts: import one file at a time";
        return Err(Refused::Sentence(only.into()));
    }
    let imported = match form {
        Form::RtApp => rt_app::import(sources, options),
        Form::Swf => swf::import(*first, options),
        Form::Batsim => batsim::import(*first, options),
        Form::Kubernetes => kubernetes::import(*first, options),
        Form::Docker => docker::import(*first, options),
        Form::Cgroup => cgroups::import(*first, options),
        Form::Ostep => ostep::import(*first, options),
    }?;
    if imported.text.len() > MAX_SCENARIO {
        let most =
            "the scenario would have more than 1 MiB, the most that is read; take fewer jobs (`--jobs`)";
        return Err(first.refused(most));
    }
    Ok(imported)
}
