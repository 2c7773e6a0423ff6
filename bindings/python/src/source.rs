//! What a call asks for: a scenario and changes of it, as plain texts and numbers.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use experiment::size::Size;
use pyo3::prelude::*;
use scenario::memory::{self, Limit};
use scenario::plan::Experiment;
use scenario::{Overrides, examine, subject};

use crate::errors::Failure;
use crate::policy::Session;

/// A scenario and changes of it, in the words of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Request<'py> {
    /// The name of a built-in scenario or the path of a file.
    subject: Option<String>,
    /// Its text, where there is no `subject`.
    text: Option<String>,
    /// Policies by name, or as a scenario writes them.
    policies: Vec<String>,
    /// The classes among the policies.
    own: Vec<Bound<'py, PyAny>>,
    /// `path=value` each.
    set: Vec<String>,
    /// `path=a,b,c` each.
    sweep: Vec<String>,
    seed: Option<u64>,
    repeat: Option<u32>,
    jobs: Option<usize>,
    best_partition: bool,
}

/// The same without what needs the interpreter.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) session: Arc<Session>,
    /// How the scenario was named, for the commands that a report recommends.
    pub(crate) subject: Option<String>,
    text: Option<String>,
    pub(crate) overrides: Overrides,
    pub(crate) jobs: Option<usize>,
}

impl Request<'_> {
    /// What the simulator is asked.
    ///
    /// # Errors
    /// A policy that is none.
    pub(crate) fn asked(self) -> PyResult<Asked> {
        Ok(Asked {
            session: Arc::new(Session::new(&self.own)?),
            subject: self.subject,
            text: self.text,
            overrides: Overrides {
                set: self.set,
                sweep: self.sweep,
                policies: self.policies,
                seed: self.seed,
                repeat: self.repeat,
                best_partition: self.best_partition,
                warn: true,
                limit: memory::limit(None),
                ..Overrides::default()
            },
            jobs: self.jobs,
        })
    }
}

impl Asked {
    /// This scenario with the session and the changes of another one.
    pub(crate) fn changed_as(self, other: &Self) -> Self {
        Self { subject: self.subject, text: self.text, ..other.clone() }
    }

    /// The name for messages and the text of the scenario.
    pub(crate) fn read(&self) -> Result<(String, String), Failure> {
        match (&self.subject, &self.text) {
            (_, Some(text)) => Ok(("scenario".into(), text.clone())),
            (Some(path), None) if path == "-" => Err(Failure::refused("`-` is no scenario")),
            (path, None) => Ok(subject::scenario(Path::new(path.as_deref().unwrap_or_default()))?),
        }
    }

    /// Reads the scenario and refuses what does not fit into memory.
    pub(crate) fn open(&self) -> Result<Experiment, Failure> {
        let (name, text) = self.read()?;
        let experiment = examine(self.session.registry(), &name, &text, &self.overrides)?;
        let check = |limit: &Limit| Size::of(&experiment).check(None, limit);
        self.overrides.limit.as_ref().map_or(Ok(()), check).map_err(Failure::Refused)?;
        Ok(experiment)
    }

    /// The number of threads to run on: as asked, else as many as the process may use and fit into memory.
    pub(crate) fn threads(&self, experiment: &Experiment) -> Result<usize, Failure> {
        let size = Size::of(experiment);
        match (self.jobs, &self.overrides.limit) {
            (Some(jobs), Some(limit)) => {
                size.check(Some(jobs), limit).map(|()| jobs).map_err(Failure::Refused)
            }
            (Some(jobs), None) => Ok(jobs),
            (None, Some(limit)) => Ok(size.jobs(available().min(experiment.runs.len()), limit).max(1)),
            (None, None) => Ok(0),
        }
    }
}

/// Threads that this process may use.
pub(crate) fn available() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
