//! The command `deadlines` and its flags.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter as Completer;

use super::{Edits, ListFormat, jobs};
use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Deadlines {
    /// Scenario with periodic tasks: a file, `-` for standard input, or the name of a built-in scenario.
    #[arg(value_name = "SCENARIO", add = Completer::new(complete::scenario))]
    pub(crate) file: PathBuf,
    /// Also run each policy this often, with the applications beginning at random times within their periods,
    /// and show the worst response of each with the command that draws it.
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) search: Option<u64>,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    #[command(flatten)]
    pub(crate) edits: Edits,
    /// Threads that simulate. Default: as many as this process may use. Results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}
