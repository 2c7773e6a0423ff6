//! `oversim run`: a scenario from text to report.

use std::io::{IsTerminal, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;

use experiment::PolicyShelf;
use experiment::plan::Experiment;
use experiment::report;
use experiment::result::Results;
use experiment::run::RunError;
use experiment::scenario::{Overrides, load_with};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{Format, Run};
use crate::failure::{BAD_END, Failure};
use crate::output::Decisions;
use crate::{input, output};

/// Remarks on standard error name at most this many runs that did not complete.
const NOTES_SHOWN: usize = 5;

/// Runs the scenario; the exit code tells whether every run completed.
pub(crate) fn run(args: &Run, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    if let Some(directory) = &args.output {
        output::check_directory(directory, args.force)?;
    }
    if let Some(path) = &args.explain_decisions {
        output::check_decisions(path, args.force)?;
    }
    let (name, text) = input::read(&args.file)?;
    let experiment = load_with(policies, &name, &text, &overrides(args)).map_err(Failure::Rendered)?;
    let decisions = args.explain_decisions.as_deref().map(|path| Decisions::open(path, args.force));
    let mut decisions = decisions.transpose()?;
    let results = simulate(args, &experiment, decisions.as_mut())?;
    let standard = decisions.as_ref().is_none_or(|decisions| !decisions.takes_standard_output());
    if let Some(decisions) = decisions {
        decisions.finish()?;
    }
    deliver(args, &results, standard)?;
    if results.all_completed() {
        return Ok(ExitCode::SUCCESS);
    }
    warn(args, &results);
    Ok(ExitCode::from(BAD_END))
}

/// All runs, under a progress bar.
fn simulate(
    args: &Run,
    experiment: &Experiment,
    decisions: Option<&mut Decisions>,
) -> Result<Results, Failure> {
    let bar = bar(experiment.runs.len(), args.quiet);
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let progress = |_, _| bar.inc(1);
    let results = match decisions {
        Some(decisions) => experiment::decisions::run_explained(experiment, jobs, &progress, decisions),
        None => experiment::run::run(experiment, jobs, &progress),
    };
    bar.finish_and_clear();
    results.map_err(|error| match error {
        RunError::Decisions(error) => Failure::decisions(&error),
        other => Failure::Input(other.to_string()),
    })
}

fn overrides(args: &Run) -> Overrides {
    Overrides {
        set: args.set.clone(),
        policies: args.policies.clone(),
        seed: args.seed,
        repeat: args.repeat,
        stepwise: args.stepwise,
        best_partition: args.best_partition,
    }
}

/// A bar on standard error when that is a terminal.
fn bar(runs: usize, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(runs as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// To the directory, if there is one, and to standard output, if that is free.
fn deliver(args: &Run, results: &Results, standard: bool) -> Result<(), Failure> {
    if let Some(directory) = &args.output {
        output::to_directory(results, directory, args.force)?;
    }
    if !standard {
        return Ok(());
    }
    let width = if args.format == Format::Text { output::width() } else { report::DEFAULT_WIDTH };
    let Some(format) = report::format(args.format.name()) else {
        return Err(Failure::Output(format!("no format {}", args.format.name())));
    };
    output::to_stdout(|out| (format.write)(results, out, width))
}

/// Names the runs that did not complete.
fn warn(args: &Run, results: &Results) {
    let mut err = anstream::stderr();
    let shown = if args.quiet { 0 } else { NOTES_SHOWN };
    let count = results.notes.len();
    // Standard error may be closed; the exit code still tells.
    let _ = writeln!(err, "warning: {count} of {} runs did not complete", results.provenance.runs);
    for note in results.notes.iter().take(shown) {
        let _ = writeln!(err, "  {} {} seed {}: {}", note.policy, note.point, note.seed, note.text);
    }
}
