//! `oversim sweep`: a scenario with many configurations, run by run, into a directory.

mod export;
mod phase;
mod script;
mod shard;
mod submit;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use experiment::PolicyRegistry;
use experiment::neutral;
use experiment::number::{bytes, plural};
use experiment::report::quoted;
use experiment::statements::doubts;
use scenario::Grid;
use scenario::inputs::Inputs;
use sweep::estimate::Estimate;
use sweep::merge::{Merged, merge};
use sweep::plan::{Plan, Shard, Until};
use sweep::request::Request;
use sweep::status::Status;
use sweep::store::Store;
use sweep::work::work;

use super::source;
use crate::args::{Changes, Narrow, Sweep, SweepWhat};
use crate::bar::Bar;
use crate::failure::{BAD_END, Failure};
use crate::{input, output, say, signals};

/// The exit code that asks for the same command again: EX_TEMPFAIL of sysexits.h.
const AGAIN: u8 = 75;
/// The exit code of a process that SIGTERM ended.
const TERMINATED: u8 = 143;
/// Most runs of which all values are read again after the merge, for the doubts about them: as many as take
/// less than a second.
const MOST_LOOKED: u64 = 20_000;
/// Most incomplete shards that are named one by one.
const MOST_SHARDS: usize = 5;
/// No further configuration of the sample of `--dry-run` begins after this time.
const SAMPLE: Duration = Duration::from_secs(10);

/// Executes the command.
pub(crate) fn sweep(args: &Sweep, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    match (&args.what, &args.output) {
        (Some(SweepWhat::Status(status)), _) => show(&status.directories),
        (Some(SweepWhat::Merge(merge)), _) => merged(&merge.directories),
        (Some(SweepWhat::Export(table)), _) => export::export(table),
        (Some(SweepWhat::Script(script)), _) => submit::script(script, policies),
        (Some(SweepWhat::PhaseDiagram(diagram)), _) => phase::diagram(diagram, policies),
        (None, Some(directory)) if !args.dry_run => execute(args, directory, policies),
        (None, _) => estimate(args, policies),
    }
}

/// A scenario, its plan and what both were read from.
fn planned(
    file: &Path,
    (changes, narrow): (&Changes, &Narrow),
    policies: &PolicyRegistry,
) -> Result<(Grid, Plan, Inputs), Failure> {
    let (name, text) = input::scenario(file)?;
    let overrides = source::changed(changes, false);
    let grid = Grid::load(policies, &name, &text, &overrides).map_err(Failure::Rendered)?;
    let until = narrow.until_ci.map(|half_width| Until { half_width, most: narrow.most });
    let plan = Plan::new(&grid, until).map_err(Failure::Input)?;
    let inputs = Inputs::of(&text, &grid.trial, &overrides, None);
    Ok((grid, plan, inputs))
}

/// Runs what is missing of a shard.
fn execute(args: &Sweep, directory: &Path, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let shard = match args.shard {
        Some(shard) => shard,
        None => {
            shard::of_array(&|name| std::env::var(name).ok()).map_err(Failure::Input)?.unwrap_or(Shard::WHOLE)
        }
    };
    let (grid, plan, inputs) = planned(scenario(args), (&args.changes, &args.narrow), policies)?;
    let store = Store::create(directory, &plan).map_err(Failure::sweep)?;
    store.keep(&inputs).map_err(Failure::sweep)?;
    say::remark(format_args!("{}: {}", directory.display(), size(&plan)));
    let stop = signals::finish_first(
        "interrupted: the runs in progress end; the same command continues the sweep; a second SIGINT ends \
            at once",
    );
    let limit = scenario::memory::limit(args.changes.edits.memory);
    let began = Instant::now();
    let bar = Bar::new(0, "runs");
    if grid.searches_partitions() {
        say::warning("`best_partition` has no effect in a sweep");
    }
    let request = Request {
        shard,
        jobs: jobs(&args.changes),
        stop,
        limit: limit.as_ref(),
        begin: &|there, all| bar.begin(there, all),
        progress: &|| bar.inc(),
        waits: &|| say::note("another process works on this shard: this one waits until that one ends"),
        unlocked: &|| say::note("this file system has no locks: start each shard only once at a time"),
    };
    let worked = work(&grid, &plan, &store, request);
    drop(bar);
    let worked = worked.map_err(Failure::sweep)?;
    say::took(began, usize::try_from(worked.runs).unwrap_or(usize::MAX), "runs");
    if worked.not_completed > 0 {
        let count = worked.not_completed;
        say::warning(format_args!(
            "{count} of {} runs did not complete: `oversim sweep status {}` counts how they ended",
            worked.runs,
            directory.display()
        ));
    }
    if worked.stopped {
        let code = signals::stopped().unwrap_or(BAD_END);
        return Ok(ExitCode::from(if code == TERMINATED { AGAIN } else { code }));
    }
    if shard == Shard::WHOLE {
        return merged(&[directory.to_owned()]);
    }
    output::to_stdout(|out| {
        writeln!(
            out,
            "shard {} of {}: all runs are there; `oversim sweep merge {}` puts those of all shards together",
            shard.index,
            shard.of,
            neutral::line(&directory.display().to_string())
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The scenario, which the parser demands.
fn scenario(args: &Sweep) -> &Path {
    args.file.as_deref().unwrap_or(Path::new("-"))
}

/// Threads of this process: as the user asked, else as many as it may use.
fn jobs(changes: &Changes) -> usize {
    let available = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    changes.jobs.map_or_else(available, NonZeroUsize::get)
}

/// How large a plan is: `2,000 runs (100 configurations x 4 replicates x 5 runs: 4 policies, 1 dedicated)`.
fn size(plan: &Plan) -> String {
    let most = if plan.until.is_some() { "at most " } else { "" };
    let dedicated = match plan.dedicated.len() {
        0 => String::new(),
        count => format!(" and {}", plural(count, "dedicated run", "dedicated runs")),
    };
    let count = |number: u64, one, many| plural(usize::try_from(number).unwrap_or(usize::MAX), one, many);
    format!(
        "{most}{}: {} x {most}{} x ({}{dedicated})",
        count(plan.most_runs(), "run", "runs"),
        count(plan.configurations, "configuration", "configurations"),
        count(plan.most_replicates().into(), "replicate", "replicates"),
        plural(plan.provenance.policies.len(), "policy", "policies"),
    )
}

/// Prints what the sweep would take.
fn estimate(args: &Sweep, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let (grid, plan, _) = planned(scenario(args), (&args.changes, &args.narrow), policies)?;
    let estimate = Estimate::of(&grid, &plan, SAMPLE);
    if estimate.sampled == 0 {
        return Err(Failure::Input("no configuration of the sample can be simulated".into()));
    }
    let (runs, jobs) = (plan.most_runs(), jobs(&args.changes));
    let total = estimate.total(runs);
    let most = if plan.until.is_some() { "at most " } else { "" };
    output::to_stdout(|out| {
        writeln!(out, "{}", size(&plan))?;
        writeln!(
            out,
            "sample: {} runs, {} each on average, {} the longest",
            estimate.sampled,
            shown(estimate.mean),
            shown(estimate.longest)
        )?;
        if estimate.not_completed > 0 {
            writeln!(out, "sample: {} of these runs did not complete", estimate.not_completed)?;
        }
        writeln!(
            out,
            "time: {most}{:.3} cpu hours, {most}{} on {}",
            total.as_secs_f64() / 3600.0,
            shown(total / u32::try_from(jobs).unwrap_or(u32::MAX)),
            plural(jobs, "thread", "threads")
        )?;
        let disk = estimate.bytes * runs as f64;
        writeln!(out, "disk: {most}{} for the parts, and as much for the merged file", bytes(disk as u64))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A duration with three digits: `1.25 ms`, `3.4 h`.
fn shown(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let units = [(86_400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1e-6, "us"));
    let number = seconds / unit;
    let decimals = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.decimals$} {name}")
}

/// Prints how far a sweep is; exit code 1 if runs are missing.
fn show(directories: &[PathBuf]) -> Result<ExitCode, Failure> {
    let (store, plan) = Store::open_all(directories).map_err(Failure::sweep)?;
    let status = Status::of(&store, &plan).map_err(Failure::sweep)?;
    output::to_stdout(|out| {
        writeln!(out, "plan: {}", size(&plan))?;
        writeln!(
            out,
            "there: {} runs; {} of {} configurations are complete",
            status.runs, status.complete, plan.configurations
        )?;
        for (outcome, count) in &status.not_completed {
            writeln!(out, "not completed: {} ({outcome})", count)?;
        }
        if !status.is_complete() {
            let least = if plan.until.is_some() { "at least " } else { "" };
            let count = status.missing;
            writeln!(out, "missing: {least}{count} runs, of the numbers {}", status.missing_runs())?;
            let directory = quoted(&store.directory().display().to_string());
            writeln!(out, "to complete: {}", completing(&status, &directory))?;
        }
        Ok(())
    })?;
    Ok(if status.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(BAD_END) })
}

/// Prints what the results of a sweep must not be read without, where it is small enough to look through.
fn doubted(store: &Store, plan: &Plan) -> Result<(), Failure> {
    if plan.provenance.setups.is_empty() {
        return Ok(());
    }
    if plan.most_runs() > MOST_LOOKED {
        let directory = quoted(&store.directory().display().to_string());
        say::note(format_args!("`oversim report {directory}` states the doubts about the results"));
        return Ok(());
    }
    let doubts = doubts::of_result(&::sweep::read::results(store, plan, None).map_err(Failure::sweep)?);
    output::to_stdout(|out| {
        let line =
            |doubt: &String| output::folded(&format!("Doubts  {}", neutral::line(doubt)), output::width());
        doubts.iter().try_for_each(|doubt| writeln!(out, "{}", line(doubt)))
    })
}

/// Merges all parts; exit code 1 if runs are missing.
fn merged(directories: &[PathBuf]) -> Result<ExitCode, Failure> {
    let (store, plan) = Store::open_all(directories).map_err(Failure::sweep)?;
    match merge(&store, &plan).map_err(Failure::sweep)? {
        Merged::Whole(runs, files) => {
            output::to_stdout(|out| {
                let line = |file: &PathBuf| format!("{}: {runs} runs", file.display());
                files.iter().try_for_each(|file| writeln!(out, "{}", neutral::line(&line(file))))
            })?;
            doubted(&store, &plan)?;
            Ok(ExitCode::SUCCESS)
        }
        Merged::Missing(status) => {
            let directory = store.directory().display().to_string();
            Err(Failure::Output(format!(
                "{} of the sweep in {directory} are missing, and nothing was merged: the numbers {}; {}",
                plural(usize::try_from(status.missing).unwrap_or(usize::MAX), "run", "runs"),
                status.missing_runs(),
                completing(&status, &quoted(&directory)),
            )))
        }
    }
}

/// Which shards lack runs, and the commands that complete them.
fn completing(status: &Status, directory: &str) -> String {
    let command = |shard: String| format!("`oversim sweep SCENARIO -o {directory}{shard}`");
    let all = || format!("{} with the options of the sweep runs all that is missing", command(String::new()));
    if status.shards.is_empty() || status.shards.len() > MOST_SHARDS {
        return all();
    }
    let of = status.of;
    let each = status.shards.iter().map(|(index, missing)| {
        format!(
            "shard {index} of {of} lacks {}: {}",
            plural(usize::try_from(*missing).unwrap_or(usize::MAX), "run", "runs"),
            command(format!(" --shard {index}/{of}"))
        )
    });
    format!("{}, with the options of the sweep", each.collect::<Vec<_>>().join("; "))
}
