//! Flags of `oversim reproduce`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use experiment::export::Exported;
use validation::held_out::Shown;
use validation::reproduce::Reproduction;

use super::{form, jobs};

#[derive(Args, Debug)]
pub(crate) struct Reproduce {
    /// Check the claims of this YAML file instead of the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) claims: Option<PathBuf>,
    /// Only the claims of this group; repeatable.
    #[arg(long = "group", value_name = "NAME")]
    pub(crate) groups: Vec<String>,
    /// Only the claims about this machine; repeatable.
    #[arg(long = "machine", value_name = "NAME")]
    pub(crate) machines: Vec<String>,
    /// What to do with the held-out claims, a third that work on the model does not use one by one: those
    /// whose id has an FNV-1a-64 hash that is a multiple of three. The score counts them in any case.
    #[arg(long, value_enum, default_value_t = HeldOut::Show, value_name = "WHAT")]
    pub(crate) held_out: HeldOut,
    /// A first impression in about a minute: one or two replicates, shortened programs, only the cells that
    /// claims need.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also simulate the whole grid of every study that a claim needs, not only the cells of claims. This
    /// takes hours.
    #[arg(long, conflicts_with_all = ["quick", "sensitivity"])]
    pub(crate) grid: bool,
    /// Also write every simulated cell to this file, as CSV.
    #[arg(long, value_name = "FILE", conflicts_with = "sensitivity")]
    pub(crate) cells: Option<PathBuf>,
    /// Replace the file of --cells if it exists.
    #[arg(long, requires = "cells")]
    pub(crate) force: bool,
    /// Also write docs/validation.md and its pictures below this directory, the root of the sources.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["claims", "groups", "machines", "quick", "held_out"]
    )]
    pub(crate) write: Option<PathBuf>,
    /// Show instead how the main results change when an uncertain parameter is 20 % smaller or larger.
    #[arg(long, conflicts_with_all = ["claims", "groups", "machines", "quick"])]
    pub(crate) sensitivity: bool,
    /// Show instead which verdicts change when a constant that no measurement determines is half or twice as
    /// large.
    #[arg(long, conflicts_with_all = ["sensitivity", "grid", "cells", "write"])]
    pub(crate) chosen: bool,
    /// Form of the report on standard output.
    #[arg(long, default_value = "text", value_parser = form(validation::report::FORMS))]
    pub(crate) format: Exported<Reproduction>,
    /// Number of threads to run on. The results do not depend on it. Default: all cpus that this process may
    /// use.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Directory for finished runs, so that an interrupted reproduction can continue. Default:
    /// oversim/reproduce in the user's cache directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Do not use the runs that an interrupted reproduction has left.
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// What a report does with the held-out claims.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeldOut {
    /// Show them like the others.
    Show,
    /// Show only the others.
    Hide,
    /// Show only them.
    Only,
}

impl HeldOut {
    pub(crate) const fn shown(self) -> Shown {
        match self {
            Self::Show => Shown::All,
            Self::Hide => Shown::Visible,
            Self::Only => Shown::HeldOut,
        }
    }
}
