//! `oversim sweep script`: the facts of a sweep that a submit script has to know.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use experiment::PolicyRegistry;
use experiment::size;
use sweep::estimate::Estimate;

use super::planned;
use super::script::{Facts, script as text};
use crate::args::SweepScript;
use crate::failure::Failure;
use crate::output;

/// Cpus of a shard without `--jobs`.
const JOBS: usize = 4;
/// What a shard takes about, without `--shards`: long enough that its start costs nothing, short enough for
/// most queues.
const SHARD: Duration = Duration::from_secs(3600);
/// Most shards without `--shards`: Slurm's `MaxArraySize` is 1001 unless a site raises it.
const MOST: u32 = 1000;
/// Time limit of a shard over its estimate, and the shortest limit: other nodes are slower, and shards
/// differ.
const MARGIN: u32 = 2;
const LEAST: Duration = Duration::from_secs(600);
/// Memory of a shard over that of its runs: the program, and what the allocator keeps.
const MEMORY: u64 = 2;
const LEAST_MEMORY: u64 = 256 << 20;
/// No further configuration of the sample begins after this time.
const SAMPLE: Duration = Duration::from_secs(5);

/// Prints the script.
pub(super) fn script(args: &SweepScript, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    if args.file.as_os_str() == "-" {
        return Err(Failure::Input("each shard reads the scenario again: name a file, not `-`".into()));
    }
    let Seen { scenario, directory, volume } = seen(args)?;
    let (engine, fewest) = (args.engine.name, args.engine.fewest);
    if let Some(shards) = args.shards.filter(|shards| *shards < fewest) {
        return Err(Failure::Input(format!(
            "--shards is {shards}, and an array of {engine} has at least {fewest} tasks"
        )));
    }
    let (grid, plan, _) = planned(&args.file, (&args.changes, &args.narrow), policies)?;
    let estimate = Estimate::of(&grid, &plan, SAMPLE);
    let jobs = args.changes.jobs.map_or(JOBS, NonZeroUsize::get);
    let cpus = u32::try_from(jobs).unwrap_or(u32::MAX);
    let total = estimate.total(plan.most_runs());
    let fitting = (total.as_secs_f64() / (SHARD.as_secs_f64() * f64::from(cpus))).ceil() as u32;
    let shards = args.shards.unwrap_or_else(|| fitting.clamp(fewest, MOST));
    let each = total / cpus / shards;
    let run = grid.trial.runs.iter().map(size::of_run).max().unwrap_or(0);
    let facts = Facts {
        program: std::env::current_exe().map_or_else(|_| "oversim".into(), |path| path.display().to_string()),
        scenario,
        directory,
        volume,
        extra: extra(args),
        shards,
        jobs: cpus,
        limit: (estimate.sampled > 0).then(|| (each * MARGIN).max(LEAST)),
        memory: (run * jobs as u64 * MEMORY).max(LEAST_MEMORY),
    };
    output::to_stdout(|out| out.write_all(text(args.engine, &facts).as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// The paths as the tasks of an engine see them.
struct Seen {
    scenario: String,
    directory: String,
    volume: Option<String>,
}

/// Where the tasks find the files.
///
/// # Errors
/// They see only a volume, and the scenario is not in it.
fn seen(args: &SweepScript) -> Result<Seen, Failure> {
    let named = |path: &Path| path.to_string_lossy().into_owned();
    let (file, output) = (args.file.as_path(), args.output.as_path());
    if !args.engine.volume {
        return Ok(Seen { scenario: named(file), directory: named(output), volume: None });
    }
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
    };
    let directory = absolute(output)?;
    let Some(volume) = directory.parent() else {
        return Err(Failure::Input(format!("-o {}: name a directory in a volume", output.display())));
    };
    // Without a file it is the name of a built-in scenario.
    let scenario = if file.exists() { absolute(file)? } else { file.to_owned() };
    if file.exists() && !scenario.starts_with(volume) {
        return Err(Failure::Input(format!(
            "the tasks of {} see only the volume {}, the directory above -o, and {} is not in it: copy it \
                there",
            args.engine.name,
            volume.display(),
            file.display()
        )));
    }
    Ok(Seen { scenario: named(&scenario), directory: named(&directory), volume: Some(named(volume)) })
}

/// The arguments that change the scenario, for each shard.
fn extra(args: &SweepScript) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    let edits = &args.changes.edits;
    if !edits.policies.is_empty() {
        add("--policy", edits.policies.join(","));
    }
    edits.set.iter().for_each(|set| add("--set", set.clone()));
    edits.sweep.iter().for_each(|sweep| add("--sweep", sweep.clone()));
    edits.seed.iter().for_each(|seed| add("--seed", seed.to_string()));
    args.changes.repeat.iter().for_each(|repeat| add("--repeat", repeat.to_string()));
    if let Some(share) = args.narrow.until_ci {
        add("--until-ci", format!("{}%", share * 100.0));
        add("--most", args.narrow.most.to_string());
    }
    words
}
