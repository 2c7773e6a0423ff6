//! The commands for schedulers of sched_ext, and their flags.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::AnswerFormat;
use crate::help;

#[derive(Subcommand, Debug)]
pub(crate) enum Scx {
    /// Compile a scheduler in BPF C, unchanged, into a policy file that scenarios can name.
    #[command(after_help = help::scx::BUILD)]
    Build(ScxBuild),
    /// Write an order by formula as a scheduler in BPF C, for Linux and for `oversim scx build`.
    #[command(after_help = help::scx::EXPORT)]
    Export(ScxExport),
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
