//! Flags of `oversim advise share`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter as Completer;
use decide::shapes::share::{self, Advice};
use experiment::export::Exported;

use crate::args::form;
use crate::args::matrix::Together;
use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Share {
    /// Scenarios whose foreground applications are the programs (`oversim profile` writes such files), and
    /// logs as `sacct -P --format=JobID,JobName` prints them, whose job names say how often each program
    /// runs.
    #[arg(value_name = "SCENARIO_OR_SACCT", required = true, add = Completer::new(complete::scenario))]
    pub(crate) files: Vec<PathBuf>,
    /// How often programs run, as cg=3,ft=1; those that it does not name are left out. Default: the jobs of
    /// a log, or all alike.
    #[arg(long, value_name = "NAME=WEIGHT,...", conflicts_with = "only")]
    pub(crate) mix: Option<String>,
    /// Most jobs at a time on each core: the factor of OverSubscribe.
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=4))]
    pub(crate) most_jobs: u8,
    #[command(flatten)]
    pub(crate) together: Together,
    /// Form of the page.
    #[arg(long, default_value = "text", value_parser = form(share::FORMATS))]
    pub(crate) format: Exported<Advice>,
}
