//! The commands that read and write files of other programs, and their flags.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter as Completer;
use import::FORMS;

use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// File of another program, or a directory with files of cgroup v2; `-` reads standard input. Several
    /// files are parts of one (rt-app).
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,
    /// Form of the file. Default: by its content.
    #[arg(long, value_name = "FORM", value_parser = PossibleValuesParser::new(FORMS.map(import::Form::name)))]
    pub(crate) form: Option<String>,
    /// Machine of the scenario: a name (`oversim list machines`), a machine file, or a description. Default:
    /// a machine of equal cores, as many as the file states or names.
    #[arg(long, value_name = "MACHINE", add = Completer::new(complete::machines))]
    pub(crate) machine: Option<String>,
    /// Cores of the machine; of a job log: cores of one node.
    #[arg(long, value_name = "N", visible_alias = "cores-per-node")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) cores: Option<u32>,
    /// What containers and groups run, as a scenario writes it: `hog`, `{ spmd: { work: 1s } }`. Default: 1 s
    /// of work for each task.
    #[arg(long, value_name = "WORKLOAD")]
    pub(crate) workload: Option<String>,
    /// Import at most so many jobs of a log.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) jobs: Option<u16>,
    /// Begin with this job of a log, counted from 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) from: usize,
    /// Operations that a core computes in a second (Batsim). Default: 1e9.
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub(crate) flops: Option<f64>,
    /// How shares of cpu time become weights (Kubernetes, docker).
    #[arg(long, value_enum, default_value_t = Weights::Quadratic)]
    pub(crate) weights: Weights,
    /// Cpu manager policy of the kubelet: `static` gives whole cpus to Guaranteed pods that ask for them.
    #[arg(long, value_enum, default_value_t = CpuManager::None)]
    pub(crate) cpu_manager: CpuManager,
    /// Write the scenario to this file instead of standard output. It gets its name.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Formulas from shares to weights.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weights {
    /// 1,024 shares are weight 100: runc from 1.3.2 on, crun from 1.23 on.
    Quadratic,
    /// 1,024 shares are weight 39: earlier versions.
    Linear,
}

/// Cpu manager policies of the kubelet.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CpuManager {
    /// All containers share all cpus.
    None,
    /// Containers of Guaranteed pods that ask for whole cpus have them alone. One cpu is reserved.
    Static,
}

#[derive(Args, Debug)]
pub(crate) struct Export {
    /// Scenario: a file, `-` for standard input, or the name of a built-in scenario (`oversim list
    /// scenarios`).
    #[arg(value_name = "SCENARIO", add = Completer::new(complete::scenario))]
    pub(crate) file: PathBuf,
    /// Form of the file that is written.
    #[arg(long, value_enum)]
    pub(crate) form: Written,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Forms that are written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// JSON of rt-app.
    RtApp,
    /// Standard Workload Format: a job for each application whose run time is known.
    Swf,
}

/// A number above 0.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
    number.ok_or_else(|| "write a number above 0, as `2.5e9`".to_owned())
}
