//! Sweeps, whole or in shards: `oversim sweep` as functions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::sweep::merge::{Merged, merge};
use ::sweep::plan::{Plan, Shard, Until};
use ::sweep::read::results;
use ::sweep::request::Request as Work;
use ::sweep::store::Store;
use ::sweep::work::{Worked, work};
use pyo3::prelude::*;
use scenario::Grid;

use crate::errors::Failure;
use crate::patience;
use crate::result::Outcome;
use crate::source::{Asked, Request, available};

/// Half-width of intervals as a share of the mean, and most replicates.
type Narrow = Option<(f64, u32)>;

/// The lines of some runs and the plan to which they belong.
type Lines = (String, Vec<String>);

fn planned(asked: &Asked, narrow: Narrow) -> Result<(Grid, Plan), Failure> {
    let (name, text) = asked.read()?;
    let grid = Grid::examine(asked.session.registry(), &name, &text, &asked.overrides)?;
    let until = narrow.map(|(half_width, most)| Until { half_width, most });
    let plan = Plan::new(&grid, until).map_err(Failure::Refused)?;
    Ok((grid, plan))
}

fn worked(
    asked: &Asked,
    (grid, plan, store): (&Grid, &Plan, &Store),
    shard: Shard,
    stop: &AtomicBool,
) -> Result<Worked, Failure> {
    let request = Work {
        shard,
        jobs: asked.jobs.unwrap_or_else(available).max(1),
        stop,
        limit: asked.overrides.limit.as_ref(),
        begin: &|_, _| (),
        progress: &|| (),
        waits: &|| (),
        unlocked: &|| (),
    };
    let worked = work(grid, plan, store, request)?;
    if worked.stopped { Err(Failure::Stopped) } else { Ok(worked) }
}

/// In how many parts a sweep can be divided: its configurations times replicates.
#[pyfunction]
#[pyo3(signature = (request, narrow))]
pub(crate) fn parts(py: Python<'_>, request: Request<'_>, narrow: Narrow) -> PyResult<u64> {
    let asked = request.asked()?;
    patience::wait(py, &Arc::clone(&asked.session), move |_| {
        let (_, plan) = planned(&asked, narrow)?;
        let replicates = if plan.until.is_some() { 1 } else { plan.most_replicates() };
        Ok(plan.configurations * u64::from(replicates))
    })
}

/// Simulates one shard of a sweep in an empty directory: its runs, one line of JSON each.
#[pyfunction]
#[pyo3(signature = (request, narrow, directory, index, of))]
pub(crate) fn shard(
    py: Python<'_>,
    request: Request<'_>,
    narrow: Narrow,
    directory: PathBuf,
    index: u32,
    of: u32,
) -> PyResult<Lines> {
    let asked = request.asked()?;
    patience::wait(py, &Arc::clone(&asked.session), move |stop| {
        if index >= of {
            return Err(Failure::Refused(format!("shard {index} of {of}: count from 0")));
        }
        let (grid, plan) = planned(&asked, narrow)?;
        let store = Store::create(&directory, &plan)?;
        worked(&asked, (&grid, &plan, &store), Shard { index, of }, stop)?;
        Ok((plan.plan, store.lines()?))
    })
}

/// A whole sweep in a directory: takes the runs that others have simulated, simulates the rest.
#[pyfunction]
#[pyo3(signature = (request, narrow, directory, others, merged))]
pub(crate) fn sweep(
    py: Python<'_>,
    request: Request<'_>,
    narrow: Narrow,
    directory: PathBuf,
    others: Vec<Lines>,
    merged: bool,
) -> PyResult<Outcome> {
    let asked = request.asked()?;
    patience::wait(py, &Arc::clone(&asked.session), move |stop| {
        let (grid, plan) = planned(&asked, narrow)?;
        let store = Store::create(&directory, &plan)?;
        for (of, lines) in &others {
            if *of != plan.plan {
                return Err(Failure::refused(
                    "a worker has another plan: its version of oversim or its files differ",
                ));
            }
            store.add(lines)?;
        }
        worked(&asked, (&grid, &plan, &store), Shard::WHOLE, stop)?;
        if merged && let Merged::Missing(status) = merge(&store, &plan)? {
            return Err(Failure::File(format!("{} runs are missing", status.missing)));
        }
        let results = results(&store, &plan, None)?;
        let mut warnings = Vec::new();
        if grid.searches_partitions() {
            warnings.push("`best_partition` has no effect in a sweep".to_owned());
        }
        Ok(Outcome::new(results, asked.subject, warnings, None))
    })
}
