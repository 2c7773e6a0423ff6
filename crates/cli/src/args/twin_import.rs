//! Flags of `oversim twin import` and `oversim twin check`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter as Completer;

use pictures::timeline::instant;

use crate::complete;

/// Which part of a recording is the program.
#[derive(Args, Debug)]
pub(crate) struct Part {
    /// Name or number of a thread that belongs to the program, with all that it starts; may be given several
    /// times. Default: the first one that executes a file, and all that descend from it; without such an
    /// event, the process with the most cpu time.
    #[arg(long = "task", value_name = "NAME")]
    pub(crate) tasks: Vec<String>,
    /// All threads are the program, but those of the kernel.
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all: bool,
    /// Only what is recorded from this time after the first event on.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) from: Option<u64>,
    /// Only what is recorded up to this time after the first event.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) to: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Recording: text of `perf script`, of tracefs or of `trace-cmd report`, perf.data, trace.dat, or a
    /// trace of oversim, each perhaps compressed by gzip; `-` reads standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) part: Part,
    /// Machine of the twin: a name (`oversim list machines`), a machine file of `oversim calibrate host`, or
    /// a description. Default: as many equal cores as the recording has cpus.
    #[arg(long, value_name = "MACHINE", add = Completer::new(complete::machines))]
    pub(crate) machine: Option<String>,
    /// Kernel of the twin, as a scenario writes it. Default: linux-6.18.
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// Runtime of a team of threads, or of ranks, as a scenario writes it: `{ libgomp: { spin_count: 0 } }`.
    /// Default: what the recording suggests.
    #[arg(long, value_name = "RUNTIME")]
    pub(crate) runtime: Option<String>,
    /// The quota under which the program was recorded: `{ quota: 50ms, period: 100ms }`.
    #[arg(long, value_name = "QUOTA")]
    pub(crate) quota: Option<String>,
    /// Keep who woke whom, and look for no structure.
    #[arg(long)]
    pub(crate) edges: bool,
    /// Write the scenario to this file instead of standard output. It gets its name.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// The twin: a scenario that `oversim twin import` has written.
    #[arg(value_name = "TWIN", value_hint = ValueHint::FilePath)]
    pub(crate) twin: PathBuf,
    /// A recording: the one of which it was made, or one under other conditions.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) part: Part,
    #[command(flatten)]
    pub(crate) edits: super::Edits,
}
