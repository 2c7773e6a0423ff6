//! The laboratory: cells of studies, their runs, and what was measured in them.

mod cell;
mod grid;
mod run;
mod sample;
mod setting;
mod store;
mod study;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use cell::Cell;
pub use grid::{as_stated, grid};
pub use run::{Campaign, apps, simulate};
pub use sample::{AppSample, RunSample};
pub use setting::Setting;
pub use store::Store;
pub use study::{STUDIES, Study, find};

use crate::answer::{Series, Trouble};

/// What the studies ask: first which cells there are, then what was measured in them. In the planning pass
/// every cell answers with the same dummy, so which cells are asked for must not depend on values.
#[derive(Debug, Default)]
pub struct Lab {
    wanted: BTreeMap<String, Cell>,
    measured: BTreeMap<String, Arc<Vec<RunSample>>>,
    planning: bool,
    quick: bool,
}

impl Lab {
    /// A lab that only notes what it is asked for.
    #[must_use]
    pub fn planning() -> Self {
        Self { planning: true, ..Self::default() }
    }

    /// The same for a quick look: studies of many alike places may ask for some of them only.
    #[must_use]
    pub const fn quickly(mut self, quick: bool) -> Self {
        self.quick = quick;
        self
    }

    /// True for a quick look.
    #[must_use]
    pub const fn is_quick(&self) -> bool {
        self.quick
    }

    /// True while cells are only noted: values mean nothing.
    #[must_use]
    pub const fn is_planning(&self) -> bool {
        self.planning
    }

    /// A lab in which these cells have been measured.
    #[must_use]
    pub fn measured(samples: BTreeMap<String, Arc<Vec<RunSample>>>) -> Self {
        Self { measured: samples, ..Self::default() }
    }

    /// The cells noted.
    #[must_use]
    pub fn into_wanted(self) -> Vec<Cell> {
        self.wanted.into_values().collect()
    }

    /// The runs of a cell, one per replicate.
    ///
    /// # Errors
    /// A run did not complete, or the cell was not measured.
    pub fn runs(&mut self, cell: &Cell) -> Result<Arc<Vec<RunSample>>, Trouble> {
        let key = cell.key();
        if self.planning {
            self.wanted.entry(key).or_insert_with(|| cell.clone());
            return Ok(Arc::new(vec![RunSample::dummy()]));
        }
        let Some(runs) = self.measured.get(&key) else {
            return Err(Trouble::Failed(format!("not measured: {cell}")));
        };
        match runs.iter().find_map(|run| Some((run.refused, run.trouble.as_ref()?))) {
            Some((true, reason)) => Err(Trouble::Uncovered(sentence(reason))),
            Some((false, trouble)) => Err(Trouble::Failed(format!("{cell}: {trouble}"))),
            None => Ok(runs.clone()),
        }
    }

    /// The run times of an application in a cell by replicate, in seconds: of the part that the program times
    /// itself (for NPB from behind the start barrier).
    ///
    /// # Errors
    /// As [`Lab::runs`].
    pub fn times(&mut self, cell: &Cell, app: &str) -> Result<Series, Trouble> {
        self.of_app(cell, app, |sample| sample.timed)
    }

    /// Something of an application in a cell by replicate.
    ///
    /// # Errors
    /// As [`Lab::runs`].
    pub fn of_app(
        &mut self,
        cell: &Cell,
        app: &str,
        what: impl Fn(&AppSample) -> f64,
    ) -> Result<Series, Trouble> {
        let runs = self.runs(cell)?;
        if self.planning {
            return Ok(Series::from(1.0));
        }
        let one = |run: &RunSample| run.apps.iter().find(|a| a.name == app).map(&what);
        match runs.iter().map(one).collect() {
            Some(values) => Ok(Series(values)),
            None => Err(Trouble::Failed(format!("{cell}: there is no application {app}"))),
        }
    }

    /// Something of the whole run by replicate.
    ///
    /// # Errors
    /// As [`Lab::runs`].
    pub fn of_run(&mut self, cell: &Cell, what: impl Fn(&RunSample) -> f64) -> Result<Series, Trouble> {
        Ok(Series(self.runs(cell)?.iter().map(what).collect()))
    }
}

/// The first sentence of a diagnostic.
fn sentence(reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}
