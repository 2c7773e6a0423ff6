//! The source of results: a file with a result, or a scenario, which is run.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use ::sweep::read::MOST_CONFIGURATIONS;
use ::sweep::store::Store;
use experiment::PolicyRegistry;
use experiment::metrics::ALL_APPS;
use experiment::number;
use experiment::result::{self, Results};
use experiment::size::Size;
use experiment::statements::ranking::Goal;
use scenario::memory::{self, Limit};
use scenario::objective::Objective;
use scenario::plan::Experiment;
use scenario::{Overrides, load_with};

use crate::args::{Changes, Edits};
use crate::bar::Bar;
use crate::failure::Failure;
use crate::{input, say};

/// The edits of the command line as the reader of scenarios wants them, with warnings.
pub(crate) fn edited(edits: &Edits) -> Overrides {
    Overrides {
        set: edits.set.clone(),
        sweep: edits.sweep.clone(),
        policies: edits.policies.clone(),
        seed: edits.seed,
        warn: true,
        limit: memory::limit(edits.memory),
        ..Overrides::default()
    }
}

/// The changes of the command line as the reader of scenarios wants them.
pub(crate) fn changed(changes: &Changes, best_partition: bool) -> Overrides {
    let objective = changes.objective.clone();
    Overrides { repeat: changes.repeat, best_partition, objective, ..edited(&changes.edits) }
}

/// Reads a scenario; changes without effect are named on standard error.
pub(crate) fn load(
    policies: &PolicyRegistry,
    name: &str,
    text: &str,
    overrides: &Overrides,
) -> Result<Experiment, Failure> {
    let experiment = load_with(policies, name, text, overrides).map_err(Failure::Rendered)?;
    check(&experiment, None, overrides.limit.as_ref())?;
    for warning in &experiment.warnings {
        say::warning(warning);
    }
    Ok(experiment)
}

/// Refuses an experiment that does not fit into the memory there is.
fn check(experiment: &Experiment, jobs: Option<usize>, limit: Option<&Limit>) -> Result<(), Failure> {
    let size = Size::of(experiment);
    say::remark(format_args!(
        "about {} of memory for one run at a time, at most {} operations of tasks",
        number::bytes(size.bytes(1)),
        number::short(size.operations)
    ));
    limit.map_or(Ok(()), |limit| size.check(jobs, limit)).map_err(Failure::Input)
}

/// The number of threads to run on: as the user says, else as many as this process may use and as fit into
/// memory; the results do not depend on it.
pub(crate) fn jobs(changes: &Changes, experiment: &Experiment) -> Result<usize, Failure> {
    let limit = memory::limit(changes.edits.memory);
    let wanted = changes.jobs.map(NonZeroUsize::get);
    let Some(limit) = limit else { return Ok(wanted.unwrap_or(0)) };
    let size = Size::of(experiment);
    if let Some(jobs) = wanted {
        return size.check(Some(jobs), &limit).map(|()| jobs).map_err(Failure::Input);
    }
    let most = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(experiment.runs.len());
    let fits = size.jobs(most, &limit).max(1);
    if fits < most {
        say::remark(format_args!("{fits} of {most} threads, because of {}", limit.source));
        return Ok(fits);
    }
    Ok(0)
}

/// A result, and whether it was simulated just now.
pub(crate) struct Opened {
    /// Its name in messages.
    pub(crate) name: String,
    pub(crate) results: Results,
    pub(crate) simulated: bool,
}

/// Reads a result, or reads a scenario and runs it.
pub(crate) fn open(
    path: &Path,
    changes: &Changes,
    best_partition: bool,
    policies: &PolicyRegistry,
) -> Result<Opened, Failure> {
    if ::sweep::store::is_sweep(path) {
        let name = path.display().to_string();
        let results = judged(directory(path, None)?, changes);
        return Ok(Opened { results, name, simulated: false });
    }
    let (name, text) = input::result_or_scenario(path)?;
    let json = path.extension().is_some_and(|extension| extension == "json");
    if json || result::is_result(&text) {
        let results = judged(result::read(&name, &text).map_err(Failure::Input)?, changes);
        return Ok(Opened { name, results, simulated: false });
    }
    let experiment = load(policies, &name, &text, &changed(changes, best_partition))?;
    let results = simulate(&name, &experiment, changes)?;
    Ok(Opened { name, results, simulated: true })
}

/// A result that was read, judged by the objective of the command line.
fn judged(mut results: Results, changes: &Changes) -> Results {
    let stated = changes.objective.as_deref().and_then(Objective::named);
    results.provenance.objective = stated.or(results.provenance.objective);
    results
}

/// As [`open`], for one metric of one application, or of the whole run if none is named: of a sweep with too
/// many configurations for memory only this is read.
pub(crate) fn open_metric(
    path: &Path,
    changes: &Changes,
    policies: &PolicyRegistry,
    (app, metric): (Option<&str>, Option<&str>),
) -> Result<Opened, Failure> {
    if !::sweep::store::is_sweep(path) {
        return open(path, changes, false, policies);
    }
    let plan = ::sweep::store::plan(path).map_err(Failure::sweep)?;
    let stated = changes.objective.as_deref().and_then(Objective::named);
    let objective = stated.or(plan.provenance.objective).filter(|objective| *objective != Objective::RunTime);
    let whole = if plan.provenance.window { "time_per_work" } else { "makespan" };
    let time = objective.map_or(whole, Goal::metric_of);
    let of_app = if plan.provenance.window { "time_per_work" } else { "run_time" };
    let only = match (app, metric) {
        _ if plan.configurations <= MOST_CONFIGURATIONS => None,
        (None, metric) => Some((ALL_APPS, metric.unwrap_or(time))),
        (Some(ALL_APPS), None) => Some((ALL_APPS, time)),
        (Some(app), metric) => Some((app, metric.unwrap_or(of_app))),
    };
    let name = path.display().to_string();
    Ok(Opened { results: judged(directory(path, only)?, changes), name, simulated: false })
}

/// The results of a sweep, as far as there are runs.
fn directory(path: &Path, only: Option<(&str, &str)>) -> Result<Results, Failure> {
    let (store, plan) = Store::open(path).map_err(Failure::sweep)?;
    let results = ::sweep::read::results(&store, &plan, only).map_err(Failure::sweep)?;
    let missing = plan.most_runs().saturating_sub(results.provenance.runs as u64);
    if missing > 0 && plan.until.is_none() {
        say::warning(format_args!(
            "{missing} of {} runs are missing in {}",
            plan.most_runs(),
            path.display()
        ));
    }
    Ok(results)
}

/// Names of the flags that change a scenario and were given.
pub(crate) fn given(changes: &Changes, best_partition: bool) -> Vec<&'static str> {
    // Results can be judged by another objective.
    let Changes { edits: Edits { policies, set, sweep, seed, memory }, objective: _, repeat, jobs } = changes;
    let flags = [
        (!policies.is_empty(), "--policy"),
        (!set.is_empty(), "--set"),
        (!sweep.is_empty(), "--sweep"),
        (seed.is_some(), "--seed"),
        (repeat.is_some(), "--repeat"),
        (jobs.is_some(), "--jobs"),
        (memory.is_some(), "--memory"),
        (best_partition, "--best-partition"),
    ];
    flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag).collect()
}

/// The error about flags that change scenarios where nothing was simulated.
pub(crate) fn refused(flags: &[&str], name: &str) -> Failure {
    let (these, belong) = (flags.join(" and "), if flags.len() == 1 { "applies" } else { "apply" });
    Failure::Input(format!(
        "{these} {belong} to scenarios only, and {name} is a result: run its scenario again"
    ))
}

/// Runs everything, with a progress bar on a terminal.
pub(crate) fn simulate(name: &str, experiment: &Experiment, changes: &Changes) -> Result<Results, Failure> {
    say::remark(format_args!("{name}: {}", experiment.size()));
    let began = Instant::now();
    let jobs = jobs(changes, experiment)?;
    let bar = Bar::new(experiment.runs.len(), "runs");
    let results = experiment::run::run(experiment, jobs, &|_, _| bar.inc());
    drop(bar);
    say::took(began, experiment.runs.len(), "runs");
    results.map_err(|e| Failure::Input(e.to_string()))
}
