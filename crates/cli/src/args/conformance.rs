//! The command `conformance` and its flags.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter as Completer;

use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Conformance {
    /// A table (docs/how-to/conformance.md), operations of kSTEP as JSON, or the log of its run; `-` is
    /// standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Rows of ticks from a trace of kSTEP, beside those of the file.
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,
    /// The kernel in place of that of the file: a name (`oversim kernel list`), or a release as `uname -r`
    /// prints it.
    #[arg(long, value_name = "KERNEL", add = Completer::new(complete::kernels))]
    pub(crate) kernel: Option<String>,
    /// The machine in place of that of the file, as a synthetic description: `core:2 pu:2`.
    #[arg(long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    /// A rule of the kernel with another value: `slice=3ms`.
    #[arg(long = "rule", value_name = "RULE=VALUE")]
    pub(crate) rules: Vec<String>,
    /// Cpus by which the kernel scales its slices, if these are more than those of the machine.
    #[arg(long, value_name = "CPUS")]
    pub(crate) booted: Option<u32>,
    /// Compare only up to the first operation that cannot be expressed, instead of refusing it.
    #[arg(long)]
    pub(crate) prefix: bool,
    /// Write the ticks as the simulator shows them: a table, or lines of JSON as kSTEP's if the name ends in
    /// `.jsonl`. What exists is replaced.
    #[arg(long, value_name = "OUT")]
    pub(crate) write: Option<PathBuf>,
}
