//! The events of a recording, or of a run of a scenario that is simulated for them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::thread;

use experiment::PolicyRegistry;
use scenario::built_in;
use trace::{About, Form};
use twin::event::Event;
use twin::follow::Follower;
use twin::read::{self, Input, Seen};
use twin::report::head::Head;

use crate::args::{Edits, Recorded};
use crate::bar::Bar;
use crate::commands::{source, trace as run_trace};
use crate::failure::Failure;
use crate::{input, say};

/// Bytes of a unit of the progress bar.
const MEGABYTE: u64 = 1_000_000;

/// A recording that was read to its end.
pub(super) struct Whole {
    /// What was read and mended.
    pub(super) head: Head,
    /// The threads, and all else that was followed.
    pub(super) follower: Follower,
    /// The cpus of the machine that was simulated.
    pub(super) cpus: Option<u32>,
}

/// Reads events up to a time after the first one, in ns; `sink` has each with what follows them.
pub(super) fn read(
    recorded: &Recorded,
    before: Option<u64>,
    policies: &PolicyRegistry,
    sink: &mut dyn FnMut(&mut Follower, &Event<'_>),
) -> Result<Whole, Failure> {
    let mut follower = Follower::default();
    let mut each = |event: &Event<'_>| sink(&mut follower, event);
    let (name, seen, cpus) = if is_scenario(&recorded.file) {
        simulated(recorded, before, policies, &mut each)?
    } else {
        let name = file_name(&recorded.file);
        let flags = given(recorded);
        if !flags.is_empty() {
            let (these, belong) = (flags.join(" and "), if flags.len() == 1 { "applies" } else { "apply" });
            return Err(Failure::Input(format!(
                "{these} {belong} to scenarios only, and {name} is a recording"
            )));
        }
        let seen = real(&recorded.file, (None, before), &mut each)?;
        (name, seen, None)
    };
    let head = Head::of(&name, &seen, &follower);
    Ok(Whole { head, follower, cpus })
}

/// Whether a path is a scenario: by its ending, or because there is no such file.
fn is_scenario(path: &Path) -> bool {
    let ending = path.extension().map(OsStr::to_ascii_lowercase);
    let yaml = ending.is_some_and(|ending| ending == "yaml" || ending == "yml");
    let missing = || fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    let named = || path.to_str().and_then(built_in::find).is_some();
    path.as_os_str() != "-" && (yaml || missing() || (path.is_dir() && named()))
}

/// Flags that were given and change a scenario.
fn given(recorded: &Recorded) -> Vec<&'static str> {
    let Edits { policies, set, sweep, seed, memory } = &recorded.edits;
    let flags = [
        (!policies.is_empty(), "--policy"),
        (!set.is_empty(), "--set"),
        (!sweep.is_empty(), "--sweep"),
        (seed.is_some(), "--seed"),
        (memory.is_some(), "--memory"),
        (recorded.trace_run.is_some(), "--trace-run"),
    ];
    flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag).collect()
}

/// How messages name a recording.
pub(super) fn file_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// Reads a file or standard input, from and up to times after the first event, in ns.
pub(super) fn real(
    path: &Path,
    (after, before): (Option<u64>, Option<u64>),
    sink: read::Sink<'_>,
) -> Result<Seen, Failure> {
    let (name, standard) = (file_name(path), path.as_os_str() == "-");
    let unreadable = |error: io::Error| Failure::Input(format!("cannot read {name}: {error}"));
    let mut stdin = io::stdin().lock();
    let mut file = if standard { None } else { Some(File::open(path).map_err(unreadable)?) };
    let about = file.as_ref().map(File::metadata).transpose().map_err(unreadable)?;
    let size = about.as_ref().map_or(0, fs::Metadata::len);
    let seekable = about.is_some_and(|about| about.is_file());
    let bar = Bar::new((size / MEGABYTE) as usize, "MB");
    let mut progress = |bytes: u64| bar.set((bytes / MEGABYTE) as usize, (size / MEGABYTE) as usize);
    let input = |from| Input { name: &name, from, after, before };
    let seen = match &mut file {
        None => read::read(input(&mut stdin), &mut progress, sink),
        Some(file) if seekable => read::read_file(&name, file, (after, before), &mut progress, sink),
        Some(file) => read::read(input(file), &mut progress, sink),
    };
    drop(bar);
    say::clear_bar();
    Ok(seen?)
}

/// Simulates a run and reads its trace as it is written.
fn simulated(
    recorded: &Recorded,
    before: Option<u64>,
    policies: &PolicyRegistry,
    sink: read::Sink<'_>,
) -> Result<(String, Seen, Option<u32>), Failure> {
    if let Some(sweep) = recorded.edits.sweep.first() {
        return Err(Failure::Input(format!(
            "--sweep {sweep}: a report shows one run; choose a value with `--set PATH=VALUE`"
        )));
    }
    let (name, text) = input::scenario(&recorded.file)?;
    let experiment = source::load(policies, &name, &text, &source::edited(&recorded.edits))?;
    let run = run_trace::first(recorded.trace_run, &experiment)?;
    let Some(plan) = experiment.runs.get(run) else {
        return Err(Failure::Input(format!("there is no run {run}")));
    };
    let name = format!("{name}, run {run}: {}", run_trace::label(&experiment, plan));
    let pipe = |error: io::Error| Failure::Output(format!("no pipe for the trace of the run: {error}"));
    let (mut from, to) = io::pipe().map_err(pipe)?;
    thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let mut to = BufWriter::new(to);
            trace::run(plan, &About::default(), Form::Ftrace, &mut to)?;
            to.flush().map_err(trace::Failure::Write)
        });
        let input = Input { name: &name, from: &mut from, after: None, before };
        let seen = read::read(input, &mut |_| {}, sink);
        // Whoever has read enough ends the writer.
        drop(from);
        match writer.join() {
            Ok(Err(trace::Failure::Refused(reason))) => return Err(Failure::Input(reason)),
            Ok(Err(trace::Failure::Write(error))) if error.kind() != ErrorKind::BrokenPipe => {
                return Err(pipe(error));
            }
            Ok(_) => {}
            Err(_) => return Err(Failure::Output("the simulation of the run ended early".into())),
        }
        Ok((name.clone(), seen?, Some(plan.machine.cpus())))
    })
}
