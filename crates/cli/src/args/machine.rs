//! The commands about machines and their flags.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueHint};
use clap_complete::engine::ArgValueCompleter as Completer;

use super::ListFormat;
use crate::{complete, help};

#[derive(Subcommand, Debug)]
pub(crate) enum Machine {
    /// Show its tree, caches, memory, speeds and costs with their sources, and the domains that a kernel
    /// balances.
    #[command(after_help = help::MACHINE_SHOW)]
    Show(MachineShow),
    /// Import a machine: write the machine file of this computer, of an XML file of `lstopo`, or of a
    /// synthetic description of hwloc.
    #[command(after_help = help::MACHINE_IMPORT)]
    Import(MachineImport),
    /// Set values of a machine to those that STREAM, likwid-bench or Intel Memory Latency Checker measured,
    /// or to others with their sources, and write the new machine file.
    #[command(after_help = help::MACHINE_SET)]
    Set(MachineSet),
    /// Print a machine as one line for hwloc.
    #[command(after_help = help::MACHINE_EXPORT)]
    Export(MachineExport),
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("description").required(true).args(["file", "synthetic", "host"])))]
pub(crate) struct MachineImport {
    /// XML file of hwloc 1, 2 or 3, as `lstopo mine.xml` writes it; `-` reads standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Synthetic description of hwloc, such as "pack:2 [numa(memory=64GB)] l3:1(size=32MB) core:8 pu:2".
    #[arg(long, value_name = "TEXT")]
    pub(crate) synthetic: Option<String>,
    /// The computer that this program runs on, from the sysfs of Linux: the cpus that it may use.
    #[arg(long)]
    pub(crate) host: bool,
    /// Read the directories sys and proc below this directory, a copy of those of another computer.
    #[arg(long, value_name = "DIR", requires = "host", value_hint = ValueHint::DirPath)]
    #[arg(conflicts_with_all = ["file", "synthetic"])]
    pub(crate) root: Option<PathBuf>,
    /// Import a machine whose packages or NUMA nodes differ as the largest machine of equal parts inside it.
    /// Without this flag it is refused with what differs. Hybrid processors are imported whole without it.
    #[arg(long)]
    pub(crate) largest_regular: bool,
    /// Write the machine file to this file instead of standard output. The machine gets its name.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("values").required(true).multiple(true).args(["from", "value"])))]
pub(crate) struct MachineSet {
    /// A name (`oversim list machines`), a machine file, or a description such as "package:2 numa:1 core:8".
    #[arg(value_name = "MACHINE", add = Completer::new(complete::machines))]
    pub(crate) machine: String,
    /// Output of STREAM, likwid-bench or Intel Memory Latency Checker (mlc) on this machine, in any number
    /// of files: for example, a run with one thread and one with a thread on each core. `-` reads standard
    /// input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Vec<PathBuf>,
    /// Set a value by hand, such as core_bandwidth=12GB/s. It counts before a measured one.
    #[arg(long, value_name = "NAME=VALUE", requires = "source")]
    pub(crate) value: Vec<String>,
    /// The source of each --value in the same order, or one for all.
    #[arg(long, value_name = "TEXT", requires = "value")]
    pub(crate) source: Vec<String>,
    /// Write the machine file to this file instead of standard output. The machine gets its name.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MachineExport {
    /// A name (`oversim list machines`), a machine file, or a description such as "package:2 numa:1 core:8".
    #[arg(value_name = "MACHINE", add = Completer::new(complete::machines))]
    pub(crate) machine: String,
    /// Print the synthetic description that hwloc reads (`lstopo --if synthetic`).
    #[arg(long, required = true)]
    pub(crate) synthetic: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MachineShow {
    /// A name (`oversim list machines`), a machine file, or a description such as "package:2 numa:1 core:8".
    #[arg(value_name = "MACHINE", add = Completer::new(complete::machines))]
    pub(crate) machine: String,
    /// Kernel whose balancing domains are shown (`oversim list kernels`). Default: the kernel of the machine,
    /// if it is listed.
    #[arg(long, value_name = "NAME", add = Completer::new(complete::kernels))]
    pub(crate) kernel: Option<String>,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}
