//! Flags of `oversim advise wait`, and those that the answers about shapes share.

use std::num::NonZeroUsize;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::engine::ArgValueCompleter as Completer;
use decide::shapes::Form;
use decide::shapes::wait::{self, Load};

use super::AnswerFormat;
use crate::args::{Table, jobs, seed};
use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Wait {
    /// Work of each thread in a parallel region, for example `200us`; several: A,B.
    #[arg(long, value_name = "SPAN", value_delimiter = ',', required = true, value_parser = wait::work)]
    pub(crate) region: Vec<u64>,
    /// Threads of the team; several: A,B. Default: one for each cpu.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=4_096))]
    pub(crate) threads: Vec<u32>,
    /// Work of one thread between two regions, while the others wait.
    #[arg(long, value_name = "SPAN", default_value = "1ms", value_parser = wait::gap)]
    pub(crate) between: u64,
    /// Half-width of the variation of a thread's work in a region, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) spread: u32,
    /// The runtime that waits.
    #[arg(long, value_name = "NAME", default_value = "libgomp")]
    #[arg(value_parser = PossibleValuesParser::new(wait::runtimes()))]
    pub(crate) runtime: String,
    /// What else the host does: a number of tasks that only compute, `half` or `full` for one for every
    /// second or for each cpu, `team` for a second team like the first one.
    #[arg(long, value_name = "LOADS", value_delimiter = ',', default_value = "0,1,half,full,team")]
    #[arg(value_parser = wait::load)]
    pub(crate) load: Vec<Load>,
    #[command(flatten)]
    pub(crate) node: Node,
    #[command(flatten)]
    pub(crate) answer: Answering,
}

/// The machine and its kernel.
#[derive(Args, Debug)]
pub(crate) struct Node {
    /// A name (`oversim list machines`), a machine file, or a description such as "package:2 numa:1 core:8".
    /// Default: eight equal cores, "package:1 core:8".
    #[arg(long, value_name = "MACHINE", add = Completer::new(complete::machines))]
    pub(crate) machine: Option<String>,
    /// The kernel (`oversim list kernels`).
    #[arg(long, value_name = "NAME", default_value = scenario::DEFAULT_KERNEL)]
    #[arg(add = Completer::new(complete::kernels))]
    pub(crate) kernel: String,
}

/// How the answer is computed and shown.
#[derive(Args, Debug)]
pub(crate) struct Answering {
    /// Seeds of each cell of the table.
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(3..=1_000))]
    pub(crate) repeat: u32,
    /// The first seed.
    #[arg(long, value_name = "N", value_parser = seed, default_value = "1")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Form of the answer. JSON and Markdown have all tables.
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text)]
    pub(crate) format: AnswerFormat,
    /// How much the text shows.
    #[arg(long, value_enum, default_value_t = Table::Answer)]
    pub(crate) table: Table,
    /// Threads that simulate. The answer does not depend on it. Default: all cpus that this process may use.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl Answering {
    /// The form that the two flags ask for.
    pub(crate) const fn form(&self) -> Form {
        match (self.format, self.table) {
            (AnswerFormat::Json, _) => Form::Json,
            (AnswerFormat::Markdown, _) => Form::Markdown,
            (AnswerFormat::Text, Table::Full) => Form::Full,
            (AnswerFormat::Text, Table::Answer) => Form::Text,
        }
    }
}
