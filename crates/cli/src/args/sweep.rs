//! Flags of `oversim sweep`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter as Completer;
use experiment::parameter::Kind;
use experiment::units;
use sweep::plan::Shard;

use super::Changes;
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
    /// Directory of the sweep: a new one, or that of the same sweep, which then goes on.
    #[arg(short, long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Run shard I of N, from 0 to N - 1. Default: all runs, or the shard of the task of a job array (Slurm,
    /// or HyperQueue and PBS with the number of shards in OVERSIM_SHARDS).
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    /// Add replicates to each configuration until the 95 % intervals of all mean run times are narrower than
    /// plus and minus this percentage.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub(crate) until_ci: Option<f64>,
    /// Most replicates of a configuration with --until-ci.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "until_ci")]
    #[arg(value_parser = clap::value_parser!(u32).range(3..=10_000))]
    pub(crate) most: u32,
    /// Write nothing: count the runs, simulate a sample of them, and estimate time and disk space.
    #[arg(long, conflicts_with = "shard")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SweepWhat {
    /// Show how many runs of a sweep are there, and which are missing.
    #[command(after_help = help::SWEEP_STATUS)]
    Status(SweepDirectory),
    /// Write the runs of all shards to one file, in order.
    #[command(after_help = help::SWEEP_MERGE)]
    Merge(SweepDirectory),
}

#[derive(Args, Debug)]
pub(crate) struct SweepDirectory {
    /// Directory of the sweep.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
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
