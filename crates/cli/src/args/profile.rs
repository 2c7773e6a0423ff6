//! Flags of `oversim profile`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter as Completer;
use experiment::parameter::Kind;
use experiment::units;
use profile::FORMS;

use super::jobs;
use crate::complete;

/// The longest time of a task that is typed in: a year, as the workloads take it.
const LONGEST: u64 = 315_360_000_000_000_000 / 10;
/// The longest look at a process, in ns: one hour.
const LONGEST_LOOK: u64 = 3_600_000_000_000;
/// The shortest look, in ns: the kernel counts cpu time at least every tick of 10 ms.
const SHORTEST_LOOK: u64 = 100_000_000;
/// The fastest memory that a scenario takes, in bytes/s.
const FASTEST: u64 = 1_000_000_000_000;

#[derive(Args, Debug)]
pub(crate) struct Profile {
    /// What other programs measured of the job: `perf stat` (with `-x,` or its text), `/usr/bin/time -v`,
    /// `sacct -P`, mpiP, parallel regions (CSV, ompP, likwid-perfctr -O -m), or a twin of `oversim twin
    /// import`; `-` reads standard input. Several files are of one job.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Form of the files. Default: by the content of each.
    #[arg(long, value_name = "FORM")]
    #[arg(value_parser = PossibleValuesParser::new(FORMS.map(profile::Form::name)))]
    pub(crate) form: Option<String>,
    /// Look at running processes, without privileges: `--pid 4711`, or the ranks of a job, `--pid 4711,4712`.
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Vec<u32>,
    /// How long to look at them, from 100 ms to 1 h.
    #[arg(long = "for", value_name = "TIME", value_parser = look, default_value = "5s", requires = "pid")]
    pub(crate) time: u64,
    /// Work of a task between two barriers: 200us.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) interval: Option<u64>,
    /// Memory traffic of a task that computes: 3GB/s.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) bandwidth: Option<u64>,
    /// How tasks wait: spin, yield, block, or a runtime as a scenario writes it: libgomp, libomp, openmpi, `{
    /// libomp: { block_time: 0s } }`.
    #[arg(long, value_name = "RUNTIME")]
    pub(crate) wait: Option<String>,
    /// Threads; of each rank, with `--ranks`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) threads: Option<u32>,
    /// Ranks (processes of MPI).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) ranks: Option<u32>,
    /// Work of all tasks together: 60s.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) work: Option<u64>,
    /// Describe only a stretch of the job, in which each task has so much work: 1s. Ratios of times hardly
    /// depend on it, and runs of hours are simulated in seconds.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) stretch: Option<u64>,
    /// Name of the application. Default: that of the program.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Machine on which the job was measured: a name (`oversim list machines`), a machine file, or a
    /// description. Default: equal cores, as many as the job had.
    #[arg(long, value_name = "MACHINE", add = Completer::new(complete::machines))]
    pub(crate) machine: Option<String>,
    /// Kernel of the scenario. Default: linux-6.18.
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// List what is missing without trials that show how much it matters.
    #[arg(long)]
    pub(crate) no_trials: bool,
    /// Write the scenario to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Form of standard output.
    #[arg(long, value_enum, default_value_t = ProfileFormat::Text)]
    pub(crate) format: ProfileFormat,
    /// Threads that simulate trials. Default: as many as this process may use. Results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProfileFormat {
    /// The scenario.
    Text,
    /// The scenario, each number with its range and origin, and what is missing.
    Json,
    /// Tables of the numbers and of what is missing.
    Markdown,
}

impl ProfileFormat {
    /// The one of three that it names.
    pub(crate) fn choose<T>(self, text: T, json: T, markdown: T) -> T {
        match self {
            Self::Text => text,
            Self::Json => json,
            Self::Markdown => markdown,
        }
    }
}

/// A time above 0 in ns.
fn duration(text: &str) -> Result<u64, String> {
    let ns = units::parse(Kind::Duration, text)?;
    if (1..=LONGEST).contains(&ns) { Ok(ns) } else { Err("a time from 1ns to 1 year".to_owned()) }
}

/// A time to look at processes, in ns.
fn look(text: &str) -> Result<u64, String> {
    let ns = units::parse(Kind::Duration, text)?;
    if (SHORTEST_LOOK..=LONGEST_LOOK).contains(&ns) {
        Ok(ns)
    } else {
        Err("a time from 100ms to 1h".to_owned())
    }
}

/// A rate in bytes/s.
fn rate(text: &str) -> Result<u64, String> {
    let rate = units::parse(Kind::Rate, text)?;
    if rate <= FASTEST { Ok(rate) } else { Err("a rate from 0B/s to 1000GB/s".to_owned()) }
}
