//! Results of `oversim run -o`: what they were calculated from, and the same files again.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use experiment::provenance::{MODEL, Provenance, sha256};
use experiment::report::{FORMATS, View};
use experiment::result::{self, Results};
use experiment::size::Size;
use scenario::inputs::{self, Stored};
use scenario::plan::Experiment;
use scenario::{Draw, Overrides, load_with, memory};

use crate::compare::bytes_differ;
use crate::{Trouble, Work};

/// The file of a result in its directory.
pub(crate) const RESULT: &str = "result.json";

/// Reads the result of a directory.
///
/// # Errors
/// There is none, or it is not right.
pub(crate) fn read(directory: &Path) -> Result<Results, Trouble> {
    let path = directory.join(RESULT);
    let name = path.display().to_string();
    let text = fs::read_to_string(&path)
        .map_err(|error| Trouble::refused(&format!("cannot read {name}: {error}")))?;
    result::read(&name, &text).map_err(|why| Trouble::refused(&why))
}

/// Refuses what another version wrote, and what cannot be calculated from a scenario alone.
///
/// # Errors
/// A sentence.
pub(crate) fn own(directory: &Path, of: &Provenance) -> Result<(), Trouble> {
    let shown = directory.display();
    let version = env!("CARGO_PKG_VERSION");
    if (of.version.as_str(), of.model.as_str()) != (version, MODEL) {
        return Err(Trouble::refused(&format!(
            "{shown} is of oversim {} with {}, and this is oversim {version} with {MODEL}: pack it with that \
             program, or calculate it again with this one",
            of.version, of.model
        )));
    }
    if of.replayed.is_some() {
        return Err(Trouble::refused(&format!(
            "{shown} replays a schedule, and artifacts have no schedules: leave this result out"
        )));
    }
    Ok(())
}

/// What a result or a sweep was read from.
///
/// # Errors
/// It is not there: what would be right.
pub(crate) fn stored(directory: &Path, command: &str) -> Result<Stored, Trouble> {
    if !directory.join(inputs::DIRECTORY).join(inputs::RECORD).is_file() {
        let shown = directory.display();
        return Err(Trouble::refused(&format!(
            "{shown} has no {}/{}, from which it would be calculated again: `oversim {command} SCENARIO -o \
             {shown}` writes it{}",
            inputs::DIRECTORY,
            inputs::RECORD,
            if command == "sweep" { " and repeats no run" } else { "" }
        )));
    }
    Stored::read(directory).map_err(|why| Trouble::refused(&why))
}

/// The experiment of a result, from its stored inputs alone.
///
/// # Errors
/// They are not those of the result, or wrong: the rendered diagnostics.
pub(crate) fn experiment(
    directory: &Path,
    results: &Results,
    stored: &Stored,
    work: &Work<'_>,
) -> Result<Experiment, Trouble> {
    let load = load_with(work.policies, &stored.name, &stored.text, &stored.overrides());
    let experiment = load.map_err(Trouble::Refused)?;
    let of = &results.provenance;
    let differs = if sha256(experiment.scenario_text.as_bytes()) != of.scenario_sha256 {
        "the scenario or a file that it names"
    } else if experiment.overrides != of.overrides {
        "the changes of the command line"
    } else if experiment.repeat != of.repeat {
        "the number of seeds (a run that was interrupted has fewer than were asked for)"
    } else {
        return Ok(experiment);
    };
    Err(Trouble::refused(&format!(
        "{} is not what {} gives: {differs} differs. Run it again",
        directory.join(RESULT).display(),
        directory.join(inputs::DIRECTORY).display()
    )))
}

/// The number of threads: as many as are asked for, else as many as fit into memory.
fn jobs(experiment: &Experiment, work: &Work<'_>) -> Result<usize, Trouble> {
    let Some(limit) = memory::limit(None) else { return Ok(work.jobs) };
    let size = Size::of(experiment);
    size.check((work.jobs > 0).then_some(work.jobs), &limit).map_err(|why| Trouble::refused(&why))?;
    if work.jobs > 0 {
        return Ok(work.jobs);
    }
    let most = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Ok(size.jobs(most.min(experiment.runs.len()).max(1), &limit).max(1))
}

/// Calculates a result again.
fn again(experiment: &Experiment, stored: &Stored, work: &Work<'_>) -> Result<Results, Trouble> {
    let of = stored.changes.uncertainty;
    let draw = |number, of| {
        let overrides = Overrides { draw: Some(Draw { number, of }), ..stored.overrides() };
        load_with(work.policies, &stored.name, &stored.text, &overrides).map_err(Trouble::Refused)
    };
    let draws = of.map_or(Ok(Vec::new()), |of| (0..of).map(|number| draw(number, of)).collect())?;
    let jobs = jobs(experiment, work)?;
    let done = if draws.is_empty() {
        experiment::run::run(experiment, jobs, work.progress)
    } else {
        experiment::uncertainty::run(experiment, &draws, jobs, work.progress)
    };
    done.map_err(|error| Trouble::Failed(error.to_string()))
}

/// How many files of a result came out again, and sentences about those that did not.
pub(crate) struct Repeated {
    pub(crate) runs: u64,
    pub(crate) files: usize,
    pub(crate) differences: Vec<String>,
    pub(crate) kept: Vec<String>,
}

/// Calculates a result again and compares all files that `oversim run -o` writes.
///
/// # Errors
/// The inputs are wrong, or runs cannot be simulated here.
pub(crate) fn verify<'f>(
    directory: &Path,
    files: impl Iterator<Item = &'f str>,
    work: &Work<'_>,
) -> Result<Repeated, Trouble> {
    let results = read(directory)?;
    let stored = stored(directory, "run")?;
    let experiment = experiment(directory, &results, &stored, work)?;
    let again = again(&experiment, &stored, work)?;
    let mut repeated =
        Repeated { runs: runs(&experiment, &stored), files: 0, differences: Vec::new(), kept: Vec::new() };
    for file in files {
        if file.strip_prefix(inputs::DIRECTORY).is_some_and(|rest| rest.starts_with('/')) {
            continue;
        }
        let Some(format) = FORMATS.iter().find(|format| format.form().file == Some(file)) else {
            repeated.kept.push(file.to_owned());
            continue;
        };
        let mut bytes = Vec::new();
        format
            .write(&again, &mut bytes, &View::FILE)
            .map_err(|error| Trouble::Failed(format!("cannot write {file}: {error}")))?;
        repeated.files += 1;
        let path = directory.join(file);
        let there = fs::read(&path).map_err(|error| Trouble::failed("read", &path, &error))?;
        repeated.differences.extend(bytes_differ(file, &there, &bytes));
    }
    Ok(repeated)
}

/// How many runs a result has, draws included.
pub(crate) fn runs(experiment: &Experiment, stored: &Stored) -> u64 {
    experiment.runs.len() as u64 * (1 + u64::from(stored.changes.uncertainty.unwrap_or(0)))
}
