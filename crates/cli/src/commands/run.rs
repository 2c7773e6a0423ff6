//! `oversim run`: a scenario from text to report.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use experiment::PolicyShelf;
use experiment::plan::Experiment;
use experiment::report::{self, View};
use experiment::result::Results;
use experiment::run::RunError;
use experiment::scenario::Overrides;
use experiment::schedule::{self, Recording, ReplayError};
use indicatif::ProgressBar;

use super::{source, trace};
use crate::args::{Format, Run, Table};
use crate::failure::{BAD_END, Failure};
use crate::output::Decisions;
use crate::{input, output, say};

/// Remarks on standard error name at most this many runs that did not complete.
const NOTES_SHOWN: usize = 5;

/// Runs the scenario; the exit code reports whether every run completed.
pub(crate) fn run(args: &Run, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    if let Some(directory) = &args.output {
        output::check_directory(directory, args.force)?;
    }
    if let Some(path) = &args.record_schedule {
        output::check_file(path, args.force)?;
    }
    if let Some(path) = &args.explain_decisions {
        output::check_decisions(path, args.force)?;
    }
    let traced = trace::wanted(args)?;
    let (name, text) = input::scenario(&args.file)?;
    let experiment = source::load(policies, &name, &text, &overrides(args))?;
    let replayed =
        args.replay_schedule.as_deref().map(|path| read_schedule(path, &experiment)).transpose()?;
    let jobs = source::jobs(&args.changes, &experiment)?;
    let traced = traced.map(|wanted| Ok((wanted, trace::chosen(args, &experiment)?))).transpose()?;
    let decisions = args.explain_decisions.as_deref().map(|path| Decisions::open(path, args.force));
    let mut decisions = decisions.transpose()?;
    say::remark(format_args!("{name}: {}", experiment.size()));
    let began = Instant::now();
    let bar = say::bar(experiment.runs.len(), "runs");
    let (results, recording) = match &mut decisions {
        Some(decisions) => (explain(&experiment, jobs, decisions, &bar)?, None),
        None => execute(args, &experiment, jobs, replayed.as_ref(), &bar)?,
    };
    say::took(began, experiment.runs.len(), "runs");
    let standard = decisions.as_ref().is_none_or(|decisions| !decisions.takes_standard_output());
    if let Some(decisions) = decisions {
        decisions.finish()?;
    }
    deliver(args, &results, standard)?;
    if let (Some(path), Some(recording)) = (&args.record_schedule, recording) {
        output::to_file(path, args.force, &|out| schedule::write(&recording, out))?;
    }
    if let Some((wanted, run)) = traced {
        trace::write(&wanted, run, &experiment, &results, args.force)?;
    }
    if results.all_completed() {
        return Ok(ExitCode::SUCCESS);
    }
    warn(&results);
    Ok(ExitCode::from(BAD_END))
}

/// A schedule and the SHA-256 of its file.
fn read_schedule(path: &Path, experiment: &Experiment) -> Result<(Recording, String), Failure> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| Failure::Input(format!("cannot read {name}: {e}")))?;
    schedule::read(&name, &mut BufReader::new(file), experiment.cpus()).map_err(Failure::Input)
}

/// Runs the experiment, and replays or records a schedule if the flags ask for it.
fn execute(
    args: &Run,
    experiment: &Experiment,
    jobs: usize,
    replayed: Option<&(Recording, String)>,
    bar: &ProgressBar,
) -> Result<(Results, Option<Recording>), Failure> {
    let progress = |_, _| bar.inc(1);
    let done = match (replayed, &args.record_schedule) {
        (Some((recording, sha256)), _) => schedule::replay(experiment, recording, sha256, jobs, &progress)
            .map(|results| (results, None))
            .map_err(|error| match error {
                ReplayError::Foreign(why) => format!("the schedule does not fit this scenario: {why}"),
                ReplayError::Run(error) => error.to_string(),
            }),
        (None, Some(_)) => schedule::record(experiment, jobs, &progress)
            .map(|(results, recording)| (results, Some(recording)))
            .map_err(|error| error.to_string()),
        (None, None) => experiment::run::run(experiment, jobs, &progress)
            .map(|results| (results, None))
            .map_err(|error| error.to_string()),
    };
    bar.finish_and_clear();
    done.map_err(Failure::Input)
}

/// Runs the experiment and writes every decision with its reason.
fn explain(
    experiment: &Experiment,
    jobs: usize,
    decisions: &mut Decisions,
    bar: &ProgressBar,
) -> Result<Results, Failure> {
    let results = experiment::decisions::run_explained(experiment, jobs, &|_, _| bar.inc(1), decisions);
    bar.finish_and_clear();
    results.map_err(|error| match error {
        RunError::Decisions(error) => Failure::decisions(&error),
        other => Failure::Input(other.to_string()),
    })
}

fn overrides(args: &Run) -> Overrides {
    Overrides { stepwise: args.stepwise, ..source::changed(&args.changes, args.best_partition) }
}

/// To the directory, if there is one, and to standard output, if that is free.
fn deliver(args: &Run, results: &Results, standard: bool) -> Result<(), Failure> {
    if let Some(directory) = &args.output {
        output::to_directory(results, directory, args.force)?;
    }
    if !standard {
        return Ok(());
    }
    // Standard input cannot be read again by the commands that are recommended.
    let subject = args.file.to_str().filter(|subject| *subject != "-");
    let view = View {
        width: output::width(),
        colour: args.format == Format::Text && output::colours(),
        full: args.table == Table::Full,
        subject,
    };
    let Some(format) = report::format(args.format.name()) else {
        return Err(Failure::Output(format!("no format {}", args.format.name())));
    };
    output::to_stdout(|out| (format.write)(results, out, &view))
}

/// Names the runs that did not complete.
fn warn(results: &Results) {
    let shown = if say::quiet() { 0 } else { NOTES_SHOWN };
    let count = results.notes.len();
    say::line(format_args!("warning: {count} of {} runs did not complete", results.provenance.runs));
    for note in results.notes.iter().take(shown) {
        say::line(format_args!("  {} {} seed {}: {}", note.policy, note.configuration, note.seed, note.text));
    }
}
