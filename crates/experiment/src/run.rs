//! Runs an experiment: all its runs in parallel, results in run order, so that the number of threads shows nowhere.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;
use sim_core::kernel::Simulation;
use sim_core::observe::Observer;
use sim_core::outcome::RunReport;
use sim_core::policy::Policy;

use crate::plan::{Experiment, RunPlan};
use crate::references;
use crate::result::{Results, policy_name};

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

/// Why one run failed.
pub(crate) enum Failed {
    /// The simulator refuses it.
    Refused(String),
    /// Its decisions could not be written.
    Write(std::io::Error),
}

/// Runs everything on `jobs` threads (0 = as many as this process may use) and reduces it. `progress` is called
/// after each run with the number of finished and of all runs.
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

/// As [`run`], but ends early when `stop` is set: runs in progress end, no other one begins. Runs are then in the order of their
/// seeds, and the results are those of the seeds that every policy and configuration has finished, as with a smaller `repeat`.
/// The best partition is not searched.
///
/// # Errors
/// As [`run`], and [`RunError::Stopped`] when not one seed is finished.
pub fn run_until(
    experiment: &Experiment,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
    stop: &AtomicBool,
) -> Result<Results, RunError> {
    let done = AtomicUsize::new(0);
    let mut order: Vec<usize> = (0..experiment.runs.len()).collect();
    order.sort_by_key(|run| experiment.runs[*run].replicate);
    let one = |run: usize| {
        if stop.load(Ordering::Relaxed) {
            return (run, None);
        }
        let report = simulate_one(&experiment.runs[run], &mut ());
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, experiment.runs.len());
        (run, Some(report))
    };
    let mut reports: Vec<(usize, Option<Result<RunReport, String>>)> =
        pool(experiment, jobs)?.install(|| order.into_par_iter().with_max_len(1).map(one).collect());
    reports.sort_by_key(|(run, _)| *run);
    let missing = reports.iter().filter(|(_, report)| report.is_none());
    let Some(finished) = missing.map(|(run, _)| experiment.runs[*run].replicate).min() else {
        let plans = experiment.runs.iter();
        let reports = reports.into_iter().filter_map(|(_, report)| report).zip(plans);
        let reports: Vec<RunReport> = reports
            .map(|(report, plan)| report.map_err(|reason| refused(experiment, plan, reason)))
            .collect::<Result<_, _>>()?;
        return results(experiment, jobs, &reports);
    };
    if finished == 0 {
        return Err(RunError::Stopped);
    }
    let (mut runs, mut kept) = (Vec::new(), Vec::new());
    for ((_, report), plan) in reports.into_iter().zip(&experiment.runs) {
        if let Some(report) = report.filter(|_| plan.replicate < finished) {
            kept.push(report.map_err(|reason| refused(experiment, plan, reason))?);
            runs.push(plan.clone());
        }
    }
    let experiment = Experiment { repeat: finished, runs, best_partition: false, ..experiment.clone() };
    Ok(Results::of(&experiment, &kept, &[]))
}

/// The results of all reports, with the best partition if that is asked for.
pub(crate) fn results(
    experiment: &Experiment,
    jobs: usize,
    reports: &[RunReport],
) -> Result<Results, RunError> {
    let partitions = if experiment.best_partition {
        let search = || references::search(experiment);
        let found = pool(experiment, jobs)?.install(search);
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

/// So many threads (0 = as many as this process may use), but no more than there are runs.
pub(crate) fn pool(experiment: &Experiment, jobs: usize) -> Result<rayon::ThreadPool, RunError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.min(experiment.runs.len()))
        .build()
        .map_err(|e| RunError::Threads { jobs, reason: e.to_string() })
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
    let pool = pool(experiment, jobs)?;
    let done = AtomicUsize::new(0);
    let total = experiment.runs.len();
    let one = |plan: &RunPlan| {
        let report = what(plan);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        report
    };
    // One run per piece of work: runs differ in length by orders of magnitude.
    let results: Vec<Result<T, String>> =
        pool.install(|| experiment.runs.par_iter().with_max_len(1).map(one).collect());
    let named = results.into_iter().zip(&experiment.runs);
    named.map(|(result, plan)| result.map_err(|reason| refused(experiment, plan, reason))).collect()
}

/// One run from beginning to end.
///
/// # Errors
/// Why the simulator refuses it, a sentence.
pub fn simulate_one(plan: &RunPlan, observer: &mut impl Observer) -> Result<RunReport, String> {
    let mut policy = plan.policy_choice.build(&plan.machine, &plan.kernel, &plan.apps);
    simulate_under(plan, &mut *policy, observer)
}

/// One run under a policy that may be another one than its own.
pub(crate) fn simulate_under(
    plan: &RunPlan,
    policy: &mut dyn Policy,
    observer: &mut impl Observer,
) -> Result<RunReport, String> {
    let simulation =
        Simulation::new(plan.machine.clone(), plan.kernel.clone(), plan.apps.clone(), plan.options)?;
    Ok(simulation.run(policy, observer))
}

pub(crate) fn refused(experiment: &Experiment, plan: &RunPlan, reason: String) -> RunError {
    let policy = policy_name(experiment, plan.policy);
    let configuration = experiment.configurations.get(plan.configuration).map_or("", |p| p.label.as_str());
    let at = if configuration.is_empty() { String::new() } else { format!(" at {configuration}") };
    let run = format!("replicate {} under {policy}{at}", plan.replicate);
    RunError::Refused { run, scenario: experiment.name.clone(), reason }
}
