//! Flags of `oversim tune`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::engine::ArgValueCompleter as Completer;
use decide::suite::GENERAL;
use decide::tune::{self, LONGEST_WAIT, RUNS, Tuned};
use experiment::export::Exported;
use experiment::parameter::Kind;
use experiment::units;
use scenario::objective::Objective;

use super::{form, jobs, seed};
use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Tune {
    /// The policy, a name or a policy file, and behind a dot its parameters that may change: `SPEED`,
    /// `SPEED.interval,threshold`, `./mine.wasm.slice_ns`. Default: all but lists and costs.
    #[arg(value_name = "POLICY[.PARAMETERS]", add = Completer::new(complete::policies))]
    pub(crate) policy: String,
    /// Also search changes of the formulas of an order (a file that ends in .order), up to four at once.
    #[arg(long)]
    pub(crate) expressions: bool,
    /// Scenarios to search on: `general`, the built-in suite; a directory; files or built-in scenarios, with
    /// commas between them. Those of the folder `holdout` of a directory are only for the last try.
    #[arg(long, value_name = "SUITE", default_value = GENERAL, add = Completer::new(complete::scenario))]
    pub(crate) scenarios: String,
    /// Judge all scenarios by this objective. Default: each by its own.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Objective::NAMES))]
    pub(crate) objective: Option<String>,
    /// Runs of the search, about. The last try on the hold-out takes some more.
    #[arg(long, value_name = "RUNS", default_value_t = RUNS)]
    #[arg(value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub(crate) budget: u32,
    /// Seeds of the last comparisons, at least.
    #[arg(short, long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) repeat: u32,
    /// Seed of the search and of the first replicate; the hold-out has other seeds.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Refuse settings under which a task with work waits longer than this for a cpu, and longer than under
    /// the default. Default: 1s.
    #[arg(long, value_name = "TIME", value_parser = wait)]
    pub(crate) longest_wait: Option<u64>,
    /// Also write the answer to this file: the key `policies` of a scenario; with `--expressions` the order,
    /// if a changed one is the answer.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Form of the answer on standard output.
    #[arg(long, default_value = "text", value_parser = form(tune::FORMATS))]
    pub(crate) format: Exported<Tuned>,
    /// Threads that simulate. Default: as many as this process may use. Results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl Tune {
    /// The longest wait that is allowed, ns.
    pub(crate) fn longest_wait(&self) -> u64 {
        self.longest_wait.unwrap_or(LONGEST_WAIT)
    }
}

/// A time, as scenarios write it.
fn wait(text: &str) -> Result<u64, String> {
    units::parse(Kind::Duration, text)
}
