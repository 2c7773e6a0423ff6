//! The commands for schedulers of sched_ext, and their flags.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use clap_complete::engine::ArgValueCompleter as Completer;
use decide::side_by_side::{self, Answer};
use experiment::export::Exported;

use super::{AnswerFormat, form, jobs, seed};
use crate::{complete, help};

#[derive(Subcommand, Debug)]
pub(crate) enum Scx {
    /// Compile a scheduler in BPF C, unchanged, into a policy file that scenarios can name.
    #[command(after_help = help::scx::BUILD)]
    Build(ScxBuild),
    /// Run the same scenarios under two schedulers: where the difference lies, and the task that lost most.
    #[command(after_help = help::scx::COMPARE)]
    Compare(ScxCompare),
    /// Write an order by formula as a scheduler in BPF C, for Linux and for `oversim scx build`.
    #[command(after_help = help::scx::EXPORT)]
    Export(ScxExport),
}

#[derive(Args, Debug)]
pub(crate) struct ScxCompare {
    /// A policy: a policy file, relative to the current directory, a name, `SPEED/DWRR`, or with parameters
    /// `{ SPEED: { interval: 50ms } }`.
    #[arg(value_name = "A", add = Completer::new(complete::policies))]
    pub(crate) first: String,
    /// The policy that is compared with it.
    #[arg(value_name = "B", add = Completer::new(complete::policies))]
    pub(crate) second: String,
    /// The scenarios: `general` (the suite of `oversim leaderboard`), a directory, files, or names of
    /// built-in scenarios. Their own policies and sweeps are left out.
    #[arg(long, value_name = "SUITE|SCENARIO", required = true, num_args = 1..)]
    #[arg(add = Completer::new(complete::scenario))]
    pub(crate) on: Vec<String>,
    /// Replicates of each scenario; both policies have the same seeds.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) repeat: u32,
    /// Seed of the first replicate. Default: that of the scenario.
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Set one value of every scenario by its path, for example `kernel=linux-6.18`; repeatable.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Also draw the runs of both policies around the worst moment of that task, one above the other, in this
    /// file, which ends in .svg, .png or .pdf.
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "timeline")]
    pub(crate) force: bool,
    /// Form of the answer.
    #[arg(long, default_value = "text", value_parser = form(side_by_side::FORMATS))]
    pub(crate) format: Exported<Answer>,
    /// Threads that simulate. Default: as many as this process may use. Results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(Args, Debug)]
pub(crate) struct ScxExport {
    /// The order: a file as a scenario names it (`./mine.order`); `-` reads standard input.
    #[arg(value_name = "FILE.order", value_hint = ValueHint::FilePath)]
    pub(crate) order: PathBuf,
    /// Write the program to this file instead of to standard output.
    #[arg(short, long, value_name = "FILE.bpf.c", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Name of the scheduler. Default: that of the order.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ScxBuild {
    /// Sources in BPF C; several are the parts of one scheduler.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) sources: Vec<PathBuf>,
    /// Write the policy file here. Default: the name of the first source with the ending .wasm, in the
    /// current directory. A policy file that is there already is replaced.
    #[arg(short, long, value_name = "FILE.wasm", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that is no policy file.
    #[arg(long)]
    pub(crate) force: bool,
    /// Look for `#include` in this directory too, after the headers that oversim has. May be repeated.
    #[arg(short = 'I', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) include: Vec<PathBuf>,
    /// Define a macro. May be repeated.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,
    /// Name of the policy in results. Default: the name that the operations of the scheduler give.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The `struct sched_ext_ops` to use, where the sources define several.
    #[arg(long, value_name = "SYMBOL")]
    pub(crate) ops: Option<String>,
    /// The clang to use, version 14 or newer. Default: `clang`, or the newest `clang-N`.
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::CommandName)]
    pub(crate) clang: Option<OsString>,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text)]
    pub(crate) format: AnswerFormat,
}
