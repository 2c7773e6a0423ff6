//! Where figures come from: a result that is read, or a scenario that is run now.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use experiment::PolicyShelf;
use experiment::plan::Experiment;
use experiment::result::{self, Results};
use experiment::scenario::{Overrides, load_with};

use crate::args::Changes;
use crate::failure::Failure;
use crate::{input, say};

/// Reads a result, or reads a scenario and runs it.
pub(crate) fn open(path: &Path, changes: &Changes, policies: &PolicyShelf) -> Result<Results, Failure> {
    let (name, text) = input::read_up_to(path, input::MAX_RESULT_BYTES, "result or scenario")?;
    let json = path.extension().is_some_and(|extension| extension == "json");
    if json || result::is_result(&text) {
        if changed(changes) {
            return Err(Failure::Input(
                "--policy, --seed, --repeat, --set and --best-partition belong to scenarios; a result has been simulated already"
                    .into(),
            ));
        }
        return result::read(&name, &text).map_err(Failure::Input);
    }
    let experiment = load_with(policies, &name, &text, &overrides(changes)).map_err(Failure::Rendered)?;
    simulate(&name, &experiment, changes)
}

fn changed(changes: &Changes) -> bool {
    let Changes { policies, seed, repeat, set, best_partition, jobs: _ } = changes;
    !policies.is_empty() || seed.is_some() || repeat.is_some() || !set.is_empty() || *best_partition
}

/// The changes as the reader of scenarios wants them.
pub(crate) fn overrides(changes: &Changes) -> Overrides {
    Overrides {
        set: changes.set.clone(),
        policies: changes.policies.clone(),
        seed: changes.seed,
        repeat: changes.repeat,
        best_partition: changes.best_partition,
        ..Overrides::default()
    }
}

/// Runs everything, with a bar where somebody looks.
pub(crate) fn simulate(name: &str, experiment: &Experiment, changes: &Changes) -> Result<Results, Failure> {
    say::remark(format_args!("{name}: {}", super::check::counts(experiment)));
    let began = Instant::now();
    let bar = say::bar(experiment.runs.len(), "runs");
    let jobs = changes.jobs.map_or(0, NonZeroUsize::get);
    let results = experiment::run::run(experiment, jobs, &|_, _| bar.inc(1));
    bar.finish_and_clear();
    say::took(began, experiment.runs.len(), "runs");
    results.map_err(|e| Failure::Input(e.to_string()))
}
