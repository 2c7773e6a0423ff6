//! Runs an experiment: all its runs in parallel, results in run order, so that the number of threads shows
//! nowhere.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;
use scenario::plan::{Experiment, RunPlan};
use sim_core::outcome::RunReport;

use crate::references;
use crate::result::{Results, policy_name};
pub use crate::simulate::simulate_one;
pub use crate::stop::stoppable;
pub use crate::threads::{STACK, on_threads, surround_threads, thread_count};

/// Why an experiment could not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The threads could not be started.
    #[error("cannot start {jobs} threads: {reason}")]
    Threads {
        /// How many.
        jobs: usize,
        /// The message of the system.
        reason: String,
    },
    /// The simulator refuses a run.
    #[error("{run} of scenario `{scenario}` cannot be simulated: {reason}")]
    Refused {
        /// Which run.
        run: String,
        /// Which scenario.
        scenario: String,
        /// Why.
        reason: String,
    },
    /// The run was stopped before a seed was finished.
    #[error("interrupted before the first seed was finished")]
    Stopped,
    /// The decisions could not be written.
    #[error("cannot write the decisions: {0}")]
    Decisions(std::io::Error),
}

impl RunError {
    /// As which an error of so many threads is reported.
    pub(crate) fn threads(jobs: usize) -> impl Fn(rayon::ThreadPoolBuildError) -> Self {
        move |error| Self::Threads { jobs, reason: error.to_string() }
    }
}

/// Why one run failed.
pub(crate) enum Failed {
    /// The simulator refuses it.
    Refused(String),
    /// Its decisions could not be written.
    Write(std::io::Error),
}

/// Runs everything on `jobs` threads (0 = as many as this process may use) and reduces it. `progress` is
/// called after each run with the number of finished and of all runs.
///
/// # Errors
/// The first run, in run order, that the simulator refuses; or threads that cannot be started.
pub fn run(
    experiment: &Experiment,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Results, RunError> {
    let reports = simulate(experiment, jobs, progress)?;
    results(experiment, jobs, &reports)
}

/// As [`run`], but ends early when `stop` is set: runs in progress end, and no other one begins. The results
/// are then those of the seeds that every policy and configuration has finished, as with a smaller `repeat`,
/// without the best partition.
///
/// # Errors
/// As [`run`], and [`RunError::Stopped`] when not one seed is finished.
pub fn run_until(
    experiment: &Experiment,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
    stop: &AtomicBool,
) -> Result<Results, RunError> {
    let unless_stopped = |plan: &RunPlan| {
        if stop.load(Ordering::Relaxed) { Ok(None) } else { simulate_one(plan, &mut ()).map(Some) }
    };
    let reports = each(experiment, jobs, progress, &unless_stopped)?;
    let missing = reports.iter().zip(&experiment.runs).filter(|(report, _)| report.is_none());
    let Some(finished) = missing.map(|(_, plan)| plan.replicate).min() else {
        let reports: Vec<RunReport> = reports.into_iter().flatten().collect();
        return results(experiment, jobs, &reports);
    };
    if finished == 0 {
        return Err(RunError::Stopped);
    }
    let (runs, kept): (Vec<RunPlan>, Vec<RunReport>) = experiment
        .runs
        .iter()
        .zip(reports)
        .filter(|(plan, _)| plan.replicate < finished)
        .filter_map(|(plan, report)| Some((plan.clone(), report?)))
        .unzip();
    let experiment = Experiment { repeat: finished, runs, best_partition: false, ..experiment.clone() };
    Ok(Results::of(&experiment, &kept, &[]))
}

/// As [`run`], but ends within milliseconds when `stop` is set, also amid a run.
///
/// # Errors
/// As [`run`], and [`RunError::Stopped`].
pub fn run_or_stop(
    experiment: &Experiment,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
    stop: &AtomicBool,
) -> Result<Results, RunError> {
    let reports = each(experiment, jobs, progress, &|plan| stoppable(stop, |end| simulate_one(plan, end)))?;
    let reports: Option<Vec<RunReport>> = reports.into_iter().collect();
    results(experiment, jobs, &reports.ok_or(RunError::Stopped)?)
}

/// The results of all reports, with the best partition if that is asked for.
pub(crate) fn results(
    experiment: &Experiment,
    jobs: usize,
    reports: &[RunReport],
) -> Result<Results, RunError> {
    let partitions = if experiment.best_partition {
        let search = || references::search(experiment);
        let found = on_threads(experiment.runs.len(), jobs, search).map_err(RunError::threads(jobs))?;
        found.map_err(|reason| RunError::Refused {
            run: "a static partition".into(),
            scenario: experiment.name.clone(),
            reason,
        })?
    } else {
        Vec::new()
    };
    Ok(Results::of(experiment, reports, &partitions))
}

/// Runs everything: one report per run, in run order.
///
/// # Errors
/// As [`run`].
pub fn simulate(
    experiment: &Experiment,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<RunReport>, RunError> {
    each(experiment, jobs, progress, &|plan| simulate_one(plan, &mut ()))
}

/// Does something for every run on `jobs` threads; the answers in run order.
///
/// # Errors
/// As [`run`].
pub(crate) fn each<T: Send>(
    experiment: &Experiment,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
    what: &(dyn Fn(&RunPlan) -> Result<T, String> + Sync),
) -> Result<Vec<T>, RunError> {
    let done = AtomicUsize::new(0);
    let total = experiment.runs.len();
    // Seed by seed, so that an interrupted experiment has finished whole seeds.
    let mut order: Vec<usize> = (0..total).collect();
    order.sort_by_key(|run| experiment.runs[*run].replicate);
    let one = |run: usize| {
        let answer = what(&experiment.runs[run]);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        (run, answer)
    };
    // One run per piece of work: runs differ in length by orders of magnitude.
    let mut answers: Vec<(usize, Result<T, String>)> =
        on_threads(total, jobs, || order.into_par_iter().with_max_len(1).map(one).collect())
            .map_err(RunError::threads(jobs))?;
    answers.sort_by_key(|(run, _)| *run);
    let named = answers.into_iter().zip(&experiment.runs);
    named.map(|((_, answer), plan)| answer.map_err(|reason| refused(experiment, plan, reason))).collect()
}

pub(crate) fn refused(experiment: &Experiment, plan: &RunPlan, reason: String) -> RunError {
    let policy = policy_name(experiment, plan.policy);
    let configuration = experiment.configurations.get(plan.configuration).map_or("", |p| p.label.as_str());
    let at = if configuration.is_empty() { String::new() } else { format!(" at {configuration}") };
    let run = format!("replicate {} under {policy}{at}", plan.replicate);
    RunError::Refused { run, scenario: experiment.name.clone(), reason }
}
