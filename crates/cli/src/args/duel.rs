//! Flags of `oversim duel`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::engine::ArgValueCompleter as Completer;

use super::{AnswerFormat, jobs, seed};
use crate::complete;

/// The objectives that random scenarios without dedicated runs and windows have.
const OBJECTIVES: [&str; 4] = ["makespan", "turnaround", "response", "response_p99"];

#[derive(Args, Debug)]
pub(crate) struct Duel {
    /// The policy that is to lose: a name, `SPEED/DWRR`, or with parameters `{ SPEED: { interval: 50ms } }`.
    #[arg(value_name = "A", add = Completer::new(complete::policies))]
    pub(crate) loser: String,
    /// The policy that it loses to.
    #[arg(value_name = "B", add = Completer::new(complete::policies))]
    pub(crate) winner: String,
    /// The kernel of all scenarios, as a scenario names it.
    #[arg(long, value_name = "KERNEL", default_value = scenario::DEFAULT_KERNEL)]
    #[arg(add = Completer::new(complete::kernels))]
    pub(crate) kernel: String,
    /// What the policies are judged by.
    #[arg(long, value_name = "NAME", default_value = "makespan")]
    #[arg(value_parser = PossibleValuesParser::new(OBJECTIVES))]
    pub(crate) objective: String,
    /// Most runs of the search and of the reduction. The measurement on fresh seeds and the reasons take more
    /// runs of the small scenario that is found.
    #[arg(long, value_name = "N", default_value_t = 400)]
    #[arg(value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    pub(crate) runs: u32,
    /// Seed of the search and of its scenarios; the answer is measured on other seeds.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Write the scenario to this file instead of behind the answer.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also draw the timelines of both policies, one above the other, in this file, which ends in .svg or
    /// .png.
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not search for the mechanism that makes the loss.
    #[arg(long)]
    pub(crate) no_reason: bool,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text)]
    pub(crate) format: AnswerFormat,
    /// Threads that simulate. Default: as many as this process may use. Results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}
