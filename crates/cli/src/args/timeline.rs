//! Flags of `oversim timeline`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter as Completer;

use super::Edits;
use crate::complete;

/// What the rows of a timeline are.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rows {
    /// The cpus, and which thread each of them runs.
    Cpus,
    /// The threads, and what each of them does or waits for.
    Threads,
}

#[derive(Args, Debug)]
#[command(mut_arg("sweep", |sweep| sweep.hide(true)))]
pub(crate) struct Timeline {
    /// Scenario: a file, `-` for standard input, or the name of a built-in scenario (`oversim list
    /// scenarios`).
    #[arg(value_name = "SCENARIO", add = Completer::new(complete::scenario))]
    pub(crate) file: PathBuf,
    /// Write a picture to this file, which ends in .svg, .png or .pdf, instead of text to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Show the run from this instant on, for example `1.5s` or `20ms`.
    #[arg(long, value_name = "TIME", value_parser = pictures::timeline::instant)]
    pub(crate) from: Option<u64>,
    /// Show the run up to this instant.
    #[arg(long, value_name = "TIME", value_parser = pictures::timeline::instant)]
    pub(crate) to: Option<u64>,
    /// Show only these cpus, for example `0-3,8`, or `linux:0-3` in the numbers of Linux.
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// Stack two to four values of one setting, as `apps.code.runtime=spin,yield`, under one policy. A path
    /// alone, `threads_per_core`, takes the values that the scenario sweeps.
    #[arg(long, value_name = "PATH=A,B,C")]
    pub(crate) vary: Option<String>,
    /// What the rows are: cpus, or threads with what each of them waits for.
    #[arg(long, value_enum, default_value_t = Rows::Cpus)]
    pub(crate) rows: Rows,
    /// Show these threads as rows, for example `0-7`, or `web.0-3,batch` in a run of several applications.
    #[arg(long, value_name = "LIST")]
    pub(crate) threads: Option<String>,
    /// Show below each cpu how many threads wait in its queue. Pictures of up to 16 rows show it anyway.
    #[arg(long, conflicts_with = "step")]
    pub(crate) queues: bool,
    /// Go through one run decision by decision, each with its reason and the queue of its cpu. In a terminal
    /// Enter shows the next one; otherwise all of the window are printed, at most 200.
    #[arg(long, conflicts_with_all = ["output", "rows", "threads", "vary"])]
    pub(crate) step: bool,
    #[command(flatten)]
    pub(crate) edits: Edits,
}
