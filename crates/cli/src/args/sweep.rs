//! Flags of `oversim sweep`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter as Completer;
use experiment::parameter::Kind;
use experiment::units;
use sweep::plan::Shard;

use super::Changes;
use crate::engines::{self, Engine};
use crate::{complete, help};

/// Most shards: a shard for each run of a large sweep would be a mistake.
const MAX_SHARDS: u32 = 100_000;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Sweep {
    #[command(subcommand)]
    pub(crate) what: Option<SweepWhat>,
    /// Scenario: a file, `-` for standard input, or the name of a built-in scenario (`oversim list
    /// scenarios`).
    #[arg(value_name = "SCENARIO", required = true, add = Completer::new(complete::scenario))]
    pub(crate) file: Option<PathBuf>,
    /// Directory of the sweep: a new one, or that of the same sweep, which is then continued.
    #[arg(short, long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Run shard I of N, from 0 to N - 1. Default: all runs, or the shard of the task of a job array (Slurm,
    /// or HyperQueue, PBS and Kubernetes with the number of shards in OVERSIM_SHARDS).
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) narrow: Narrow,
    /// Write nothing: count the runs, simulate a sample of them, and estimate time and disk space.
    #[arg(long, conflicts_with = "shard")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// More replicates where they are needed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Narrow {
    /// Add replicates to each configuration until the 95 % intervals of all mean run times are narrower than
    /// plus and minus this percentage.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub(crate) until_ci: Option<f64>,
    /// Most replicates of a configuration with --until-ci.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "until_ci")]
    #[arg(value_parser = clap::value_parser!(u32).range(3..=10_000))]
    pub(crate) most: u32,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SweepWhat {
    /// Show how many runs of a sweep are there, and which are missing.
    #[command(after_help = help::SWEEP_STATUS)]
    Status(SweepDirectories),
    /// Write the runs of all shards to one file, in order.
    #[command(after_help = help::SWEEP_MERGE)]
    Merge(SweepDirectories),
    /// Print a script that submits the shards of a sweep to Slurm, PBS, Kubernetes or another engine, with
    /// limits from an estimate.
    #[command(after_help = help::SWEEP_SCRIPT)]
    Script(SweepScript),
    /// Write the values of all runs of a sweep as one table: a row for each value, with a column for each
    /// setting. Defaults are written, too.
    #[command(after_help = help::SWEEP_EXPORT)]
    Export(SweepExport),
    /// Draw the phase diagram of a sweep: over the plane of two parameters, which policy is best, by how much
    /// and how certain that is. Sentences on standard output state the same, and which parameters the metric
    /// depends on.
    #[command(after_help = help::SWEEP_PHASE)]
    PhaseDiagram(PhaseDiagram),
}

#[derive(Args, Debug)]
pub(crate) struct SweepDirectories {
    /// Directory of the sweep. More of them are those of workers with disks of their own: their runs count,
    /// too, and the merged file is written to the first one.
    #[arg(value_name = "DIR", required = true, value_hint = clap::ValueHint::DirPath)]
    pub(crate) directories: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SweepExport {
    /// Directory of the sweep.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
    /// Form of the table.
    #[arg(long, value_enum, default_value_t = TableForm::Csv)]
    pub(crate) format: TableForm,
    /// Write the table to this file.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Form of a table.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableForm {
    /// CSV with a header line.
    Csv,
    /// Parquet, with types; in programs that were built with `--features parquet`.
    Parquet,
}

#[derive(Args, Debug)]
pub(crate) struct SweepScript {
    /// Scenario: a file, or the name of a built-in scenario (`oversim list scenarios`).
    #[arg(value_name = "SCENARIO", add = Completer::new(complete::scenario))]
    pub(crate) file: PathBuf,
    /// Directory of the sweep, which all shards reach under this path.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// What starts the shards.
    #[arg(long, value_parser = engines::parser())]
    pub(crate) engine: &'static Engine,
    /// Number of shards. Default: as many as take about an hour each, at most 1,000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SHARDS)))]
    pub(crate) shards: Option<u32>,
    #[command(flatten)]
    pub(crate) narrow: Narrow,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

#[derive(Args, Debug)]
pub(crate) struct PhaseDiagram {
    /// A result (the JSON of `oversim run`) or a scenario (a file or a built-in name), which is run first;
    /// `-` reads standard input.
    #[arg(value_name = "SUBJECT", add = Completer::new(complete::scenario_or_result))]
    pub(crate) file: PathBuf,
    /// Swept parameter of the columns. Default: the one with the most numbers.
    #[arg(long, value_name = "PATH", add = Completer::new(complete::swept))]
    pub(crate) x: Option<String>,
    /// Swept parameter of the rows. Default: the next one. The others make panels.
    #[arg(long, value_name = "PATH", add = Completer::new(complete::swept))]
    pub(crate) y: Option<String>,
    /// Rank policies by a metric of this application; `all` is the whole run. Default: what `oversim run`
    /// ranks them by.
    #[arg(long, value_name = "NAME")]
    pub(crate) app: Option<String>,
    /// Rank policies by this metric (`oversim list metrics`). Default: what `oversim run` ranks them by.
    #[arg(long, value_name = "NAME", add = Completer::new(complete::metrics))]
    pub(crate) metric: Option<String>,
    /// Show only the configurations with this value of a swept parameter; repeatable.
    #[arg(long = "at", value_name = "PATH=VALUE", add = Completer::new(complete::swept_value))]
    pub(crate) at: Vec<String>,
    /// Write the picture to this file, which ends in .svg, .png or .pdf, and its numbers to the same name
    /// with .csv.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace files that exist.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// `I/N`.
fn shard(text: &str) -> Result<Shard, String> {
    let (index, of) = text.split_once('/').ok_or("write I/N, as `0/4`")?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| "write I/N, as `0/4`".to_owned());
    checked(number(index)?, number(of)?)
}

/// A shard, if there is one of these numbers.
pub(crate) fn checked(index: u32, of: u32) -> Result<Shard, String> {
    if of == 0 || of > MAX_SHARDS {
        return Err(format!("the number of shards must be 1 to {MAX_SHARDS}"));
    }
    if index >= of {
        return Err(format!("shards of {of} are counted from 0 to {}", of - 1));
    }
    Ok(Shard { index, of })
}

/// A percentage above 0 as a share.
fn share(text: &str) -> Result<f64, String> {
    let text = if text.ends_with('%') { text.to_owned() } else { format!("{text}%") };
    let hundredths = units::parse(Kind::Percent, &text)?;
    if hundredths == 0 { Err("the percentage must be above 0".into()) } else { Ok(hundredths as f64 / 1e4) }
}
