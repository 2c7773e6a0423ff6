//! Flags of `oversim matrix`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter as Completer;
use decide::matrix::{self, Changes, Effort};
use experiment::export::Exported;
use scenario::memory;

use super::{form, jobs, percent, seed, size};
use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Matrix {
    /// Scenarios: files, `-` for standard input, or names of built-in scenarios. The programs are the
    /// foreground applications of all of them; the first one decides everything else.
    #[arg(value_name = "SCENARIO", required = true, add = Completer::new(complete::scenario))]
    pub(crate) files: Vec<PathBuf>,
    /// Most programs at a time: pairs, triples or groups of four.
    #[arg(short = 'k', long = "at-a-time", value_name = "K", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=4))]
    pub(crate) at_a_time: u8,
    #[command(flatten)]
    pub(crate) together: Together,
    /// Also draw the slowdowns as a heat map in this directory: matrix.svg, and matrix.csv with its numbers.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Form of the matrix on standard output.
    #[arg(long, default_value = "text", value_parser = form(matrix::FORMATS))]
    pub(crate) format: Exported<matrix::Matrix>,
}

/// Where, how, and how often programs run together.
#[derive(Args, Debug)]
pub(crate) struct Together {
    /// Run on this machine: a name, a file, or a description, instead of the machine of the first scenario.
    #[arg(long, value_name = "MACHINE", add = Completer::new(complete::machines))]
    pub(crate) machine: Option<String>,
    /// Run under this policy instead of the first one of the first scenario.
    #[arg(long, value_name = "POLICY", add = Completer::new(complete::policies))]
    pub(crate) policy: Option<String>,
    /// Only these programs: A,B or repeated. Default: all.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Set one value by its path, for example `apps.cg.tasks=8`; repeatable. A path of an application
    /// counts wherever that application runs.
    #[arg(long = "set", value_name = "PATH=VALUE", add = Completer::new(complete::set))]
    pub(crate) set: Vec<String>,
    /// Seed of the first replicate; replicate i uses seed + i.
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Run exactly so many replicates of each group. Default: 3, and more until the intervals are narrow.
    #[arg(short, long, value_name = "N", conflicts_with_all = ["until_ci", "most"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: Option<u32>,
    /// Add replicates to each group until the 95 % intervals of its slowdowns are narrower than plus and
    /// minus this percentage.
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub(crate) until_ci: f64,
    /// Most replicates of a group with --until-ci.
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(3..=10_000))]
    pub(crate) most: u32,
    /// Refuse scenarios that need more memory than this, for example `4GiB`. Default: the memory that this
    /// process may use.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// Threads that simulate. Default: as many as this process may use. Results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl Together {
    /// What it changes in the scenarios.
    pub(crate) fn changes(&self) -> Changes {
        Changes {
            machine: self.machine.clone(),
            policy: self.policy.clone(),
            set: self.set.clone(),
            only: self.only.clone(),
            seed: self.seed,
            limit: memory::limit(self.memory),
        }
    }

    /// How many replicates are run.
    pub(crate) fn effort(&self) -> Effort {
        let narrow = self.until_ci / 100.0;
        match self.repeat {
            Some(count) => Effort { least: count, most: count, narrow },
            None => Effort { most: self.most, narrow, ..Effort::default() },
        }
    }

    /// Threads; 0: as many as this process may use.
    pub(crate) fn threads(&self) -> usize {
        self.jobs.map_or(0, NonZeroUsize::get)
    }
}
