//! Flags of `oversim advise pools`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use decide::shapes::pod::cpus;
use decide::shapes::pools::{self, RUNTIMES};
use decide::shapes::wait;

use super::wait::{Answering, Node};

#[derive(Args, Debug)]
pub(crate) struct Pools {
    /// Numbers of workers (processes); several: A,B. Default: powers of two up to the cpus, with at most four
    /// threads for each cpu.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub(crate) outer: Vec<u32>,
    /// Threads of each worker; several: A,B. Default: powers of two up to the cpus.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub(crate) inner: Vec<u32>,
    /// Work of all workers together, in time of one cpu.
    #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = pools::work)]
    pub(crate) work: u64,
    /// Work of a parallel region (a call of the library), in time of one cpu.
    #[arg(long, value_name = "SPAN", required = true, value_parser = wait::work)]
    pub(crate) region: u64,
    /// How often the threads of a call meet, its end included: 24 as counted in BLIS for a product of
    /// matrices; 1 for a parallel region of OpenMP that is one loop.
    #[arg(long, value_name = "N", default_value_t = pools::MEETINGS)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(pools::MOST_MEETINGS)))]
    pub(crate) meetings: u32,
    /// The part of a region that one thread does alone, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=99))]
    pub(crate) serial: u32,
    /// Half-width of the variation of a thread's work in a region, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) spread: u32,
    /// The runtime of the inner threads.
    #[arg(long, value_name = "NAME", default_value = "libgomp")]
    #[arg(value_parser = PossibleValuesParser::new(RUNTIMES))]
    pub(crate) runtime: String,
    /// Cpus that a container may use (`cpu.max`): `2`, `1500m`. Default: no quota.
    #[arg(long, value_name = "CPUS", value_parser = cpus)]
    pub(crate) cpus: Option<u64>,
    #[command(flatten)]
    pub(crate) node: Node,
    #[command(flatten)]
    pub(crate) answer: Answering,
}
