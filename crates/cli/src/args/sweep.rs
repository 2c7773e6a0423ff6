//! The commands about sweeps and their flags.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter as Completer;

use super::Changes;
use crate::{complete, help};

#[derive(Subcommand, Debug)]
pub(crate) enum Sweep {
    /// Draw the phase diagram of a sweep: over the plane of two parameters, which policy is best, by how much
    /// and how certain that is. Sentences on standard output state the same, and which parameters the metric
    /// depends on.
    #[command(after_help = help::SWEEP_PHASE)]
    PhaseDiagram(PhaseDiagram),
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
    /// Write the picture to this file, which ends in .svg or .png, and its numbers to the same name with
    /// .csv.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace files that exist.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}
