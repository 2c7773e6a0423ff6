//! Flags of `oversim why`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter as Completer;

use super::{AnswerFormat, Changes};
use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Why {
    /// Scenario: a file, `-` for standard input, or the name of a built-in scenario. Without B, one of
    /// --policy A,B and --vary says what the two sides are.
    #[arg(value_name = "A", add = Completer::new(complete::scenario))]
    pub(crate) file: PathBuf,
    /// Another scenario: the difference is between the first policy of each. It runs with the seeds of A and
    /// is judged by the objective of A.
    #[arg(value_name = "B", add = Completer::new(complete::scenario))]
    pub(crate) second: Option<PathBuf>,
    /// The sides are two values of one setting, as `apps.code.runtime=spin,block`, under one policy.
    #[arg(long, value_name = "PATH=A,B", conflicts_with = "second")]
    pub(crate) vary: Option<String>,
    /// Also draw the parts in this file, which ends in .svg, .png or .pdf; a file beside it that ends in .csv
    /// gets the numbers.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text)]
    pub(crate) format: AnswerFormat,
    #[command(flatten)]
    pub(crate) changes: Changes,
}
