//! The laboratory: cells of studies, their runs, and what was measured in them.

mod cell;
mod grid;
mod measure;
mod quantity;
mod run;
mod sample;
mod series;
mod setting;
mod store;
mod study;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use cell::Cell;
pub use grid::{as_stated, grid};
pub use quantity::{Function, Measure, Measured, Quantity, What, some};
pub use run::{Campaign, apps, simulate};
pub use sample::{AppSample, RunSample};
pub use series::{Series, Trouble};
pub use setting::Setting;
pub use store::Store;
pub use study::{STUDIES, Study, find};

/// What was measured in the cells.
#[derive(Debug, Default)]
pub struct Lab(BTreeMap<String, Arc<Vec<RunSample>>>);

impl Lab {
    /// A lab in which these cells have been measured.
    #[must_use]
    pub const fn new(samples: BTreeMap<String, Arc<Vec<RunSample>>>) -> Self {
        Self(samples)
    }

    /// A measure by replicate.
    ///
    /// # Errors
    /// A run did not complete or has no such value, or the cell was not measured.
    pub fn series(&self, measure: &Measure) -> Result<Series, Trouble> {
        let cell = &measure.cell;
        let runs = self.runs(cell)?;
        let values: Option<Vec<f64>> = runs.iter().map(|run| measure::value(measure, run)).collect();
        let missing = || Trouble::Failed(format!("{cell}: {} has no {}", measure.app, measure.what.name()));
        values.map(Series).ok_or_else(missing)
    }

    /// The runs of a cell, one per replicate.
    fn runs(&self, cell: &Cell) -> Result<&[RunSample], Trouble> {
        let Some(runs) = self.0.get(&cell.key()) else {
            return Err(Trouble::Failed(format!("not measured: {cell}")));
        };
        match runs.iter().find_map(|run| Some((run.refused, run.trouble.as_ref()?))) {
            Some((true, reason)) => Err(Trouble::Uncovered(sentence(reason))),
            Some((false, trouble)) => Err(Trouble::Failed(format!("{cell}: {trouble}"))),
            None => Ok(runs),
        }
    }
}

/// The first sentence of a diagnostic.
fn sentence(reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}
