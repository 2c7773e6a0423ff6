//! Reads the runs of a sweep, configuration by configuration.

use experiment::measured::{self, Measured};
use experiment::provenance::{Outcomes, Provenance};
use experiment::result::{DEDICATED, Note, Results, check_places, check_texts};
use experiment::setups::Setup;
use hmac_sha256::Hash;
use scenario::configuration::{Axis, Configuration};

use crate::plan::{Plan, hex};
use crate::row::{COMPLETED, Row};
use crate::store::{Index, Store, StoreError};

/// Most configurations of which all results are held in memory.
pub const MOST_CONFIGURATIONS: u64 = 10_000;

/// Calls `each` with the runs of each configuration, in order. They have the metrics that refer to dedicated
/// runs.
pub(crate) fn configurations(
    plan: &Plan,
    index: &Index,
    each: &mut dyn FnMut(Vec<Row>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut rows: Vec<Row> = Vec::new();
    index.read(&mut |run, line| {
        let row = Row::read(line).map_err(|why| unreadable(run, &why))?;
        in_plan(plan, run, row.configuration, row.replicate)?;
        if rows.first().is_some_and(|first| first.configuration != row.configuration) {
            each(referred(plan, std::mem::take(&mut rows)))?;
        }
        rows.push(row);
        Ok(())
    })?;
    if rows.is_empty() { Ok(()) } else { each(referred(plan, rows)) }
}

/// The error of a line that is not that of a run.
pub(crate) fn unreadable(run: u64, why: &str) -> StoreError {
    StoreError::Failed(format!("run {run} cannot be read: {why}"))
}

/// Refuses a line whose configuration and replicate are not those that the plan has under its number.
pub(crate) fn in_plan(plan: &Plan, run: u64, configuration: u64, replicate: u32) -> Result<(), StoreError> {
    let place = plan.place(run);
    let there = place.configuration < plan.configurations;
    if there && (place.configuration, place.replicate) == (configuration, replicate) {
        Ok(())
    } else {
        Err(unreadable(run, "the plan has no such run"))
    }
}

/// The runs of a configuration with metrics that refer to its dedicated runs.
fn referred(plan: &Plan, mut rows: Vec<Row>) -> Vec<Row> {
    let (mut runs, mut copies) = (Vec::new(), Vec::new());
    for row in &mut rows {
        copies.push(std::mem::take(&mut row.copies));
        runs.push(measured(plan, row));
    }
    let from = &plan.provenance;
    measured::refer_to_dedicated(&mut runs, &copies, &from.background, from.window);
    for ((row, run), copies) in rows.iter_mut().zip(runs).zip(copies) {
        row.values = run.values;
        row.copies = copies;
    }
    rows
}

/// What a row measured, which the row has no more.
fn measured(plan: &Plan, row: &mut Row) -> Measured {
    Measured {
        configuration: row.configuration as usize,
        policy: plan.provenance.policies.iter().position(|policy| row.app.is_none() && *policy == row.policy),
        replicate: row.replicate,
        error: row.error,
        values: std::mem::take(&mut row.values),
    }
}

/// The results of all runs that a directory has, as those of `oversim run`. `only`: an application (or `all`)
/// and a metric, without which large sweeps are refused.
///
/// # Errors
/// There are too many configurations for memory, or the directory cannot be read.
pub fn results(store: &Store, plan: &Plan, only: Option<(&str, &str)>) -> Result<Results, StoreError> {
    if plan.configurations > MOST_CONFIGURATIONS && only.is_none() {
        return Err(StoreError::Refused(format!(
            "{} has {} configurations, and tables and figures of all of them are made for at most \
                {MOST_CONFIGURATIONS}: `oversim sweep phase-diagram` reads larger ones, and runs.ndjson has \
                all values",
            store.directory().display(),
            plan.configurations
        )));
    }
    let index = store.index(&mut |_, _| {})?;
    let mut gathered = Gathered::default();
    configurations(plan, &index, &mut |mut rows| {
        if let Some((app, metric)) = only {
            for row in &mut rows {
                row.values.retain(|name, _| name == app);
                row.values.values_mut().for_each(|metrics| metrics.retain(|name, _| name == metric));
            }
        }
        gathered.add(plan, rows);
        Ok(())
    })?;
    if gathered.count == 0 {
        let message = format!("{} has no runs yet", store.directory().display());
        return Err(StoreError::Refused(message));
    }
    let provenance = Provenance {
        setups: gathered.setups(&plan.provenance.setups),
        configurations: gathered.configurations,
        runs: gathered.count,
        repeat: gathered.replicates,
        outcomes: gathered.outcomes,
        digest: hex(&gathered.digest.finalize()),
        ..plan.provenance.clone()
    };
    let results = gathered.values.results(provenance, gathered.notes);
    check_texts(&results).and_then(|()| check_places(&results.provenance)).map_err(|wrong| {
        StoreError::Refused(format!("{} cannot be read: {wrong}", store.directory().display()))
    })?;
    Ok(results)
}

/// What has been read.
#[derive(Default)]
struct Gathered {
    configurations: Vec<Configuration>,
    /// The number of each of them in the plan.
    numbers: Vec<u64>,
    values: measured::Gathered,
    notes: Vec<Note>,
    outcomes: Outcomes,
    digest: Hash,
    replicates: u32,
    count: usize,
}

impl Gathered {
    /// The setups of the plan at the configurations that have runs.
    fn setups(&self, planned: &[Setup]) -> Vec<Setup> {
        let place = |number: &usize| self.numbers.binary_search(&(*number as u64)).ok();
        let here = |setup: &Setup| Setup {
            configurations: setup.configurations.iter().filter_map(place).collect(),
            ..setup.clone()
        };
        planned.iter().map(here).filter(|setup| !setup.configurations.is_empty()).collect()
    }

    fn add(&mut self, plan: &Plan, rows: Vec<Row>) {
        let Some(first) = rows.first() else { return };
        let (settings, places) = (first.settings.clone(), first.places.clone());
        self.numbers.push(first.configuration);
        let label = label(&plan.provenance.sweep, &places);
        for mut row in rows {
            self.count += 1;
            self.replicates = self.replicates.max(row.replicate + 1);
            self.digest.update(row.digest.as_bytes());
            self.outcomes.add(&row.outcome);
            if row.outcome != COMPLETED {
                self.notes.push(Note {
                    configuration: label.clone(),
                    policy: if row.app.is_some() { DEDICATED.into() } else { row.policy.clone() },
                    replicate: row.replicate,
                    seed: row.seed,
                    outcome: row.outcome.clone(),
                    text: row.text.clone(),
                });
            }
            // Configurations without runs are left out of the results.
            let configuration = self.configurations.len();
            let run = Measured { configuration, ..measured(plan, &mut row) };
            self.values.add(&plan.provenance.apps, &run);
        }
        self.configurations.push(Configuration { label, settings, places });
    }
}

/// The label of a configuration, as results have it.
fn label(axes: &[Axis], places: &[usize]) -> String {
    let settings = axes.iter().zip(places);
    let each =
        settings.filter_map(|(axis, place)| Some(format!("{}={}", axis.path, axis.values.get(*place)?)));
    each.collect::<Vec<_>>().join(", ")
}
