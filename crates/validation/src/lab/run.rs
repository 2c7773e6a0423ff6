//! Runs cells: each is read as a scenario, planned and simulated, several at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use experiment::run::simulate_one;
use experiment::snapshots::watch;
use rayon::prelude::*;
use scenario::{Overrides, load};

use super::cell::Cell;
use super::sample::RunSample;
use super::store::Store;
use super::study::{self, Study};

/// How a campaign is run.
#[derive(Clone, Copy)]
pub struct Campaign<'a> {
    /// Threads; 0 = as many as this process may use.
    pub jobs: usize,
    /// Few replicates and short programs.
    pub quick: bool,
    /// What is set otherwise than stated in a cell, as `path=value`; [`super::as_stated`] for nothing.
    pub adjusted: &'a (dyn Fn(&Study, &Cell) -> Vec<String> + Sync),
    /// Called after each cell with the number of finished and of all cells.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// What earlier campaigns left.
    pub store: &'a Store,
}

/// Simulates the cells that the store does not have; the answers by key. A cell that cannot be read or
/// simulated says so in its samples.
///
/// # Errors
/// The threads cannot be started.
pub fn simulate(
    cells: &[Cell],
    campaign: &Campaign<'_>,
) -> Result<BTreeMap<String, Arc<Vec<RunSample>>>, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(campaign.jobs).build();
    let pool = pool.map_err(|e| format!("cannot start {} threads: {e}", campaign.jobs))?;
    let done = AtomicUsize::new(0);
    let one = |cell: &Cell| {
        let key = cell.key();
        let runs = match campaign.store.found.get(&key) {
            Some(runs) => runs.clone(),
            None => {
                let runs = runs(cell, campaign);
                campaign.store.keep(&key, &runs);
                Arc::new(runs)
            }
        };
        (campaign.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, cells.len());
        (key, runs)
    };
    Ok(pool.install(|| cells.par_iter().with_max_len(1).map(one).collect()))
}

/// All replicates of a cell.
fn runs(cell: &Cell, campaign: &Campaign<'_>) -> Vec<RunSample> {
    let study = match study_of(cell) {
        Ok(study) => study,
        Err(problem) => return vec![RunSample::refused(problem)],
    };
    let experiment = match load(&study.name, &study.text, &overrides(study, cell, campaign)) {
        Ok(experiment) => experiment,
        Err(problem) => return vec![RunSample::refused(problem)],
    };
    let one = |plan: &scenario::plan::RunPlan| {
        let sample = match study.snapshots {
            Some(every) => watch(plan, every).map(|(report, seen)| RunSample::watched(&report, &seen)),
            None if study.measured => simulate_one(plan, &mut ()).map(|report| RunSample::measured(&report)),
            None => simulate_one(plan, &mut ()).map(|report| RunSample::of(&report)),
        };
        sample.unwrap_or_else(RunSample::refused)
    };
    experiment.runs.iter().map(one).collect()
}

fn study_of(cell: &Cell) -> Result<&Study, String> {
    let found = cell.own().or_else(|| study::find(cell.study()));
    found.ok_or_else(|| format!("there is no study {}", cell.study()))
}

/// The names of the applications of a cell.
///
/// # Errors
/// Its study does not exist, or its scenario cannot be read: the rendered message.
pub fn apps(cell: &Cell) -> Result<Vec<String>, String> {
    let study = study_of(cell)?;
    let changes = Overrides {
        set: stated(cell),
        policies: vec![cell.policy().to_owned()],
        without_sweep: true,
        repeat: Some(1),
        ..Overrides::default()
    };
    Ok(load(&study.name, &study.text, &changes)?.apps)
}

/// What a cell sets, as `path=value`.
fn stated(cell: &Cell) -> Vec<String> {
    let settings = cell.settings().iter().map(|(path, value)| format!("{path}={value}"));
    std::iter::once("baseline=none".to_owned()).chain(settings).collect()
}

/// What the cell changes in its study's scenario.
fn overrides(study: &Study, cell: &Cell, campaign: &Campaign<'_>) -> Overrides {
    let mut set = stated(cell);
    if campaign.quick {
        // Last: a cell may set whole workloads.
        set.extend(study.quick.iter().map(ToString::to_string));
    }
    set.extend((campaign.adjusted)(study, cell));
    Overrides { set, policies: vec![cell.policy().to_owned()], without_sweep: true, ..Overrides::default() }
}
