//! `oversim run`: a scenario from text to report.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use experiment::PolicyRegistry;
use experiment::export::View;
use experiment::other_seed;
use experiment::result::Results;
use experiment::run::{RunError, run_until};
use experiment::schedule::{self, Recording, ReplayError};
use scenario::inputs::Inputs;
use scenario::plan::Experiment;
use scenario::{Draw, Overrides, load_with};

use super::{source, trace};
use crate::args::{Run, Table};
use crate::bar::Bar;
use crate::failure::{BAD_END, Failure};
use crate::output::{Folder, Stream, Target};
use crate::{input, output, say, signals};

/// Remarks on standard error name at most this many runs that did not complete.
const NOTES_SHOWN: usize = 5;
/// Another seed is tried for experiments of at most this many configurations: reading them once more takes
/// 0.65 ms each (`docs/sweeps.md`), so below a second.
const MOST_TRIED: usize = 1_000;

/// What a run writes besides its result on standard output, checked before the simulation.
struct Outputs {
    folder: Option<Folder>,
    schedule: Option<Target>,
    trace: Option<trace::Wanted>,
    requests: Option<Target>,
    decisions: Option<Decisions>,
}

/// Where decisions go.
enum Decisions {
    /// To standard output, instead of the result.
    Standard,
    /// To a file, a pipe or a device.
    To(Target),
}

impl Decisions {
    fn open(&self) -> Result<Stream, Failure> {
        match self {
            Self::Standard => Ok(output::standard()),
            Self::To(target) => target.open(),
        }
    }

    fn finish(&self, mut stream: Stream) -> Result<(), Failure> {
        match self {
            Self::Standard => stream.flush().map_err(|e| Failure::stdout(&e)),
            Self::To(target) => target.finish(stream),
        }
    }
}

impl Outputs {
    fn check(args: &Run) -> Result<Self, Failure> {
        let target = |path: &PathBuf| Target::check(path, args.force);
        let names: Vec<String> = output::result_names().collect();
        let names = || names.iter().map(String::as_str);
        let folder = args.output.as_ref().map(|path| Folder::check(path, args.force, names()));
        let (folder, files) = folder.transpose()?.unzip();
        let schedule = args.record_schedule.as_ref().map(target).transpose()?;
        let trace = trace::wanted(args)?;
        let requests = trace::requested(args)?;
        let decisions = match &args.explain_decisions {
            None => None,
            Some(path) if path.as_os_str() == "-" => Some(Decisions::Standard),
            Some(path) => Some(Decisions::To(target(path)?)),
        };
        let mut all: Vec<&Target> = files.iter().flatten().chain(&schedule).collect();
        all.extend(trace.as_ref().map(trace::Wanted::target).into_iter().chain(&requests));
        if let Some(Decisions::To(target)) = &decisions {
            all.push(target);
        }
        let inputs: Vec<&Path> = [Some(&args.file), args.replay_schedule.as_ref()]
            .into_iter()
            .flatten()
            .map(AsRef::as_ref)
            .collect();
        output::distinct(&all, &inputs)?;
        Ok(Self { folder, schedule, trace, requests, decisions })
    }
}

/// Runs the scenario; the exit code reports whether every run completed.
pub(crate) fn run(args: &Run, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let outputs = Outputs::check(args)?;
    let (name, text) = input::scenario(&args.file)?;
    let experiment = source::load(policies, &name, &text, &overrides(args))?;
    let draws = draws(args, &experiment, policies, (&name, &text))?;
    let replayed =
        args.replay_schedule.as_deref().map(|path| read_schedule(path, &experiment)).transpose()?;
    let jobs = source::jobs(&args.changes, &experiment)?;
    if let Some(folder) = &outputs.folder {
        folder.room(experiment::size::on_disk(&experiment))?;
    }
    let traced = outputs.trace.as_ref();
    let traced =
        traced.map(|wanted| trace::chosen(args, &experiment).map(|run| (wanted, run))).transpose()?;
    let answered = outputs.requests.as_ref();
    let answered =
        answered.map(|target| trace::answering(args, &experiment).map(|run| (target, run))).transpose()?;
    say::remark(format_args!("{name}: {}", experiment.size()));
    let began = Instant::now();
    let bar = Bar::new(experiment.runs.len() * (1 + draws.len()), "runs");
    let (mut results, recording) = match &outputs.decisions {
        Some(decisions) => (explain(&experiment, jobs, (decisions, args.explain_queues), &bar)?, None),
        None => execute(args, (&experiment, &draws), jobs, replayed.as_ref(), &bar)?,
    };
    drop(bar);
    if replayed.is_none() {
        try_other_seed(args, &mut results, policies, (&name, &text), jobs)?;
    }
    say::took(began, results.provenance.runs, "runs");
    // All outputs are written, also when one of them fails: the first failure decides.
    let done = [
        outputs.folder.as_ref().map_or(Ok(()), |folder| {
            let inputs = Inputs::of(&text, &experiment, &overrides(args), args.uncertainty);
            output::write_results(&results, &inputs, folder)
        }),
        match (&outputs.schedule, &recording) {
            (Some(target), Some(recording)) => target.write(&|out| schedule::write(recording, out)),
            _ => Ok(()),
        },
        traced.map_or(Ok(()), |(wanted, run)| trace::write(wanted, run, &experiment, &results)),
        answered.map_or(Ok(()), |(target, run)| trace::write_requests(target, run, &experiment)),
        match outputs.decisions {
            Some(Decisions::Standard) => Ok(()),
            _ => print(args, &results),
        },
    ];
    done.into_iter().collect::<Result<(), Failure>>()?;
    if !results.all_completed() {
        warn(&results);
    }
    Ok(match signals::stopped() {
        Some(code) => ExitCode::from(code),
        None if results.all_completed() => ExitCode::SUCCESS,
        None => ExitCode::from(BAD_END),
    })
}

/// Tries another seed where one was asked for and the result would be a matter of chance.
fn try_other_seed(
    args: &Run,
    results: &mut Results,
    policies: &PolicyRegistry,
    (name, text): (&str, &str),
    jobs: usize,
) -> Result<(), Failure> {
    if results.provenance.configurations.len() > MOST_TRIED || !other_seed::is_asked(results) {
        return Ok(());
    }
    let seed = Some(results.provenance.seed.wrapping_add(1));
    let again = Overrides { seed, warn: false, ..overrides(args) };
    // Behind the largest seed there is none.
    let Ok(experiment) = load_with(policies, name, text, &again) else { return Ok(()) };
    other_seed::add(results, experiment, jobs).map_err(|error| Failure::Input(error.to_string()))
}

/// The draws of uncertain inputs that `--uncertainty` asks for.
fn draws(
    args: &Run,
    experiment: &Experiment,
    policies: &PolicyRegistry,
    (name, text): (&str, &str),
) -> Result<Vec<Experiment>, Failure> {
    let Some(of) = args.uncertainty else { return Ok(Vec::new()) };
    let machines = experiment.machines.iter().all(|machine| machine.inputs.is_empty());
    if experiment.uncertain.is_empty() && machines {
        let why = "the scenario sets every estimated value that can act, or there is none";
        return Err(Failure::Input(format!("--uncertainty has nothing to draw: {why}")));
    }
    let draw = |number| {
        let overrides = Overrides { draw: Some(Draw { number, of }), warn: false, ..overrides(args) };
        load_with(policies, name, text, &overrides).map_err(Failure::Rendered)
    };
    (0..of).map(draw).collect()
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
    (experiment, draws): (&Experiment, &[Experiment]),
    jobs: usize,
    replayed: Option<&(Recording, String)>,
    bar: &Bar,
) -> Result<(Results, Option<Recording>), Failure> {
    let progress = |_, _| bar.inc();
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
        (None, None) if args.keep_finished => {
            let stop = signals::finish_first(
                "interrupted: the runs in progress end, then finished seeds are written; a second SIGINT \
                    ends at once",
            );
            match run_until(experiment, jobs, &progress, stop) {
                Err(RunError::Stopped) => {
                    return Err(Failure::Stopped(
                        RunError::Stopped.to_string(),
                        signals::stopped().unwrap_or(BAD_END),
                    ));
                }
                done => done.map(|results| (results, None)).map_err(|error| error.to_string()),
            }
        }
        (None, None) if !draws.is_empty() => experiment::uncertainty::run(experiment, draws, jobs, &progress)
            .map(|results| (results, None))
            .map_err(|error| error.to_string()),
        (None, None) => experiment::run::run(experiment, jobs, &progress)
            .map(|results| (results, None))
            .map_err(|error| error.to_string()),
    };
    done.map_err(Failure::Input)
}

/// Runs the experiment and writes every decision with its reason.
fn explain(
    experiment: &Experiment,
    jobs: usize,
    (decisions, queues): (&Decisions, bool),
    bar: &Bar,
) -> Result<Results, Failure> {
    let mut stream = decisions.open()?;
    let results =
        experiment::decisions::run_explained(experiment, jobs, &|_, _| bar.inc(), (&mut stream, queues));
    let results = results.map_err(|error| match error {
        RunError::Decisions(error) => Failure::Output(format!("cannot write the decisions: {error}")),
        other => Failure::Input(other.to_string()),
    })?;
    decisions.finish(stream)?;
    Ok(results)
}

fn overrides(args: &Run) -> Overrides {
    Overrides { stepwise: args.stepwise, ..source::changed(&args.changes, args.best_partition) }
}

/// The result on standard output.
fn print(args: &Run, results: &Results) -> Result<(), Failure> {
    // Standard input cannot be read again by the commands that are recommended.
    let subject = args.file.to_str().filter(|subject| *subject != "-");
    let view =
        View { width: output::width(), colour: output::colours(), full: args.table == Table::Full, subject };
    let program = program();
    if args.format.form().name != "text" || program == "oversim" {
        return output::to_stdout(|out| args.format.write(results, out, &view));
    }
    let mut text = Vec::new();
    args.format.write(results, &mut text, &view).map_err(|error| Failure::Output(error.to_string()))?;
    let text = with_program(&String::from_utf8_lossy(&text), &program);
    output::to_stdout(|out| out.write_all(text.as_bytes()))
}

/// The name under which this program was started; a program with policies of its own has its own name.
fn program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&path).file_stem().map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "oversim".to_owned())
}

/// The text with this program in the commands that it recommends: those under *Next*.
fn with_program(text: &str, program: &str) -> String {
    let Some((before, next)) = text.split_once("\nNext      oversim ") else { return text.to_owned() };
    let next = next.replace("\n          oversim ", &format!("\n          {program} "));
    format!("{before}\nNext      {program} {next}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recommended_commands_name_the_program_that_knows_its_policies() {
        let text =
            "Best MINE\nNext      oversim timeline a.yaml\n          oversim explain MINE | oversim 1.0.0\n";
        assert_eq!(
            with_program(text, "mine"),
            "Best MINE\nNext      mine timeline a.yaml\n          mine explain MINE | oversim 1.0.0\n"
        );
        assert_eq!(with_program("no advice", "mine"), "no advice");
    }
}
