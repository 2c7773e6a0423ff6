//! Flags of `oversim advise`.

mod pod;
mod pools;
mod share;
mod wait;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter as Completer;
use decide::advise::levers::Kind;
use decide::typed::Dialect;
use scenario::objective::Objective;

use super::{jobs, seed, size};
use crate::{complete, help};

pub(crate) use pod::Pod as AdvisePod;
pub(crate) use pools::Pools as AdvisePools;
pub(crate) use share::Share as AdviseShare;
pub(crate) use wait::Wait as AdviseWait;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Advise {
    #[command(subcommand)]
    pub(crate) shape: Option<AdviseShape>,
    #[command(flatten)]
    pub(crate) general: AdviseGeneral,
}

/// Advice on a scenario of any kind.
#[derive(Args, Debug)]
pub(crate) struct AdviseGeneral {
    /// A scenario: a file, `-` for standard input, or the name of a built-in scenario. The programs of
    /// several files share one machine.
    #[arg(value_name = "SCENARIO", required = true, add = Completer::new(complete::scenario))]
    pub(crate) files: Vec<PathBuf>,
    /// The machine instead of that of the scenario: a name, a machine file or a description such as
    /// `package:2 core:16 pu:2`.
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    /// What may be set. Default: all but quota and nice, which are agreements with others.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = kind())]
    pub(crate) allow: Vec<Kind>,
    /// Values of any path to search besides, for example `apps.make.workload.jobs=4,8`; repeatable.
    #[arg(long, value_name = "PATH=A,B,C", add = Completer::new(complete::sweep))]
    pub(crate) vary: Vec<String>,
    /// Change only this program; repeatable. Default: all foreground programs.
    #[arg(long = "program", value_name = "NAME", value_delimiter = ',')]
    pub(crate) programs: Vec<String>,
    /// Judge the scenario exactly as it is stated: a host that is otherwise idle, and second hardware threads
    /// that add what the machine says.
    #[arg(long)]
    pub(crate) as_stated: bool,
    /// Judge settings by this objective, whatever the scenario says (`oversim explain objective`).
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Objective::NAMES))]
    pub(crate) objective: Option<String>,
    /// Runs of the search, about; the race between the best settings has as many again. A small search tries
    /// every setting. Default: 1,000, and fewer of long ones.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(24..=10_000_000))]
    pub(crate) runs: Option<u32>,
    /// Seeds of the settings that are left for the last comparison.
    #[arg(short, long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) repeat: u32,
    /// Draws of uncertain values by which it is looked how sure the advice is; 0: none.
    #[arg(long, value_name = "N", default_value_t = 16)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub(crate) draws: u32,
    /// What to type is written for these. Default: the shell, and the launcher of an MPI program.
    #[arg(long, value_name = "SYSTEM", value_delimiter = ',', value_parser = dialect())]
    pub(crate) syntax: Vec<Dialect>,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text)]
    pub(crate) format: AnswerFormat,
    /// Set one value of the scenario by its path; repeatable. It stays as it is then.
    #[arg(long = "set", value_name = "PATH=VALUE", add = Completer::new(complete::set))]
    pub(crate) set: Vec<String>,
    /// The policy that stands for leaving everything as it is. Default: the first one of the scenario.
    #[arg(long, value_name = "NAME", add = Completer::new(complete::policies))]
    pub(crate) policy: Option<String>,
    /// Seed of the first replicate.
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Refuse scenarios that need more memory than this.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// Threads that simulate. The answer does not depend on it. Default: all cpus that this process may use.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// Form of an answer.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AnswerFormat {
    /// Lines to read.
    Text,
    /// One JSON object.
    Json,
    /// The same lines in Markdown.
    Markdown,
}

/// Accepts the name of something that can be set.
fn kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::NAMES.map(|(_, name)| name)).try_map(|name| {
        let found = Kind::NAMES.iter().find(|(_, known)| *known == name);
        found.map(|(kind, _)| *kind).ok_or("there is no such setting")
    })
}

/// Accepts the name of a dialect.
fn dialect() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)).try_map(|name| {
        Dialect::ALL.into_iter().find(|known| known.name() == name).ok_or("there is no such system")
    })
}

/// Questions of one shape, each with its own answer.
#[derive(Subcommand, Debug)]
pub(crate) enum AdviseShape {
    /// How waiting threads should wait: spin, yield or sleep, by the length of regions, the load and the
    /// number of threads.
    #[command(after_help = help::advise::WAIT)]
    Wait(AdviseWait),
    /// What a pod answers with which limit: response times by limit, and the smallest limit for a target.
    #[command(after_help = help::advise::POD)]
    Pod(AdvisePod),
    /// Which jobs may share a node: the factor of OverSubscribe, pairs that gain and lose.
    #[command(after_help = help::advise::SHARE)]
    Share(AdviseShare),
    /// How many workers with how many threads each.
    #[command(after_help = help::advise::POOLS)]
    Pools(AdvisePools),
}
