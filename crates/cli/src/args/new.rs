//! The commands that write crates, and their flags.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::help;

#[derive(Subcommand, Debug)]
pub(crate) enum New {
    /// Write a crate with a scheduling policy, a scenario that uses it, tests, and oversim's command line
    /// with it.
    #[command(after_help = help::NEW_POLICY)]
    Policy(NewPolicy),
}

#[derive(Args, Debug)]
pub(crate) struct NewPolicy {
    /// Name of the policy in scenarios: letters, digits, `_` and `-`, with a letter first. MY_POLICY gives
    /// the crate my-policy and the type MyPolicy.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Write the crate to this directory, which must not exist. Default: the name of the crate, in the
    /// current directory.
    #[arg(short = 'o', long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// Checkout of oversim's repository that the crate depends on. Default: the address of the repository if
    /// the program contains it, else the checkout around the current directory.
    #[arg(long, value_name = "CHECKOUT", value_hint = ValueHint::DirPath)]
    pub(crate) path: Option<PathBuf>,
}
