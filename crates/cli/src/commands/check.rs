//! `oversim check`: is this a scenario, and how many runs does it ask for?

use std::process::ExitCode;

use experiment::PolicyShelf;
use experiment::number::plural;
use experiment::plan::Experiment;

use super::source;
use crate::args::Check;
use crate::failure::{BAD_INPUT, Failure};
use crate::input::read;
use crate::output::to_stdout;

/// Checks every file; what is wrong goes to standard error, a line per good one to standard output.
pub(crate) fn check(args: &Check, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    let overrides = source::edited(&args.edits);
    let mut all_good = true;
    for path in &args.files {
        let loaded = read(path).and_then(|(name, text)| {
            let loaded = source::load(policies, &name, &text, &overrides)?;
            Ok((name, loaded))
        });
        match loaded {
            Ok((name, experiment)) => to_stdout(|out| writeln!(out, "{name}: {}", counts(&experiment)))?,
            Err(failure) => {
                // The exit code follows when all files have been looked at.
                let _ = failure.report();
                all_good = false;
            }
        }
    }
    Ok(if all_good { ExitCode::SUCCESS } else { ExitCode::from(BAD_INPUT) })
}

/// `ok, 102 runs (6 policies x 3 configurations x 5 replicates, 12 dedicated)`.
pub(crate) fn counts(experiment: &Experiment) -> String {
    let dedicated = experiment.runs.iter().filter(|r| r.alone.is_some()).count();
    let alone = if dedicated == 0 { String::new() } else { format!(", {dedicated} dedicated") };
    format!(
        "ok, {} ({} x {} x {}{alone})",
        plural(experiment.runs.len(), "run", "runs"),
        plural(experiment.policies.len(), "policy", "policies"),
        plural(experiment.configurations.len(), "configuration", "configurations"),
        plural(experiment.repeat as usize, "replicate", "replicates"),
    )
}
