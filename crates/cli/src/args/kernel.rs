//! The commands about kernels and their flags.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter as Completer;

use super::{ListFormat, jobs};
use crate::{complete, help};

#[derive(Subcommand, Debug)]
pub(crate) enum Kernel {
    /// List the kernels: how each orders the tasks of a cpu, which policy balances, its tick.
    #[command(after_help = help::KERNEL_LIST)]
    List(KernelList),
    /// Show every rule of a kernel: its value, which mainline releases have the same, what it means and where
    /// it comes from.
    #[command(after_help = help::KERNEL_SHOW)]
    Show(KernelShow),
    /// Compare two kernels: in which rules they differ, and what each rule does, alone and with all others,
    /// to run time, wake-up latency and migrations.
    #[command(after_help = help::KERNEL_DIFF)]
    Diff(KernelDiff),
}

#[derive(Args, Debug)]
pub(crate) struct KernelList {
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}

#[derive(Args, Debug)]
pub(crate) struct KernelShow {
    /// A kernel (`oversim kernel list`), or a release as `uname -r` prints it: the nearest kernel.
    #[arg(value_name = "KERNEL", add = Completer::new(complete::kernels))]
    pub(crate) kernel: String,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}

#[derive(Args, Debug)]
pub(crate) struct KernelDiff {
    /// The kernel from which changes are counted.
    #[arg(value_name = "FROM", add = Completer::new(complete::kernels))]
    pub(crate) from: String,
    /// The other kernel.
    #[arg(value_name = "TO", add = Completer::new(complete::kernels))]
    pub(crate) to: String,
    /// Run these scenarios under both kernels instead of the built-in programs, under the balancer of each.
    #[arg(long, value_name = "SCENARIO", num_args = 1.., add = Completer::new(complete::scenario))]
    pub(crate) on: Vec<PathBuf>,
    /// Only the rules that differ; nothing is run.
    #[arg(long, conflicts_with_all = ["on", "jobs"])]
    pub(crate) rules_only: bool,
    /// Also draw the changes of the run times in this file, which ends in .svg, .png or .pdf; a file beside
    /// it that ends in .csv gets the numbers.
    #[arg(short, long, value_name = "FILE", conflicts_with = "rules_only")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub(crate) format: DiffFormat,
    /// Threads that simulate. Default: as many as this process may use. Results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// Forms of a comparison of kernels.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum DiffFormat {
    /// Tables.
    Text,
    /// A line for each program, machine and rule; with --rules-only, for each rule.
    Csv,
}
