//! Flags of the commands that measure: `measure` and `calibrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter as Completer;

use super::{Edits, ListFormat, percent};
use crate::{complete, help};

/// Nanoseconds of `30s` or `0`.
fn wait(text: &str) -> Result<u64, String> {
    pictures::timeline::instant(text)
}

/// A built-in suite.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Suite {
    /// Threads of our own.
    Own,
    /// Real runtimes.
    Real,
}

#[derive(Args, Debug)]
pub(crate) struct Measure {
    /// Scenario: a file, `-` for standard input, or the name of a built-in scenario (`oversim list
    /// scenarios`).
    #[arg(value_name = "SCENARIO", add = Completer::new(complete::scenario))]
    #[arg(required_unless_present_any = ["suite", "again", "write"])]
    pub(crate) file: Option<PathBuf>,
    /// Simulate this machine instead of the one of the scenario: a file that `oversim calibrate host` has
    /// written, or a name. It has as many cpus as this host.
    #[arg(long, value_name = "FILE", add = Completer::new(complete::machines))]
    pub(crate) machine: Option<PathBuf>,
    /// Number of real runs of each cell. The prediction uses three times as many seeds.
    #[arg(short, long, value_name = "N", default_value_t = 9)]
    pub(crate) repeat: u32,
    /// Exit with status 1 if the error of a cell is larger than so many per cent and the measured median is
    /// outside the predicted spread.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) tolerance: Option<f64>,
    /// Form of the report on standard output.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// Also write the measurement to this file, as JSON.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Measure although other programs use the host, and replace the file of --output if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Longest time to wait for a host that other programs use.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = wait)]
    pub(crate) wait: u64,
    /// Execute applications by the real runtime that the scenario names: libgomp (gcc), libomp (clang) and
    /// openmpi (mpicc, mpirun). Other applications are threads of our own.
    #[arg(long, conflicts_with_all = ["suite", "again", "write"])]
    pub(crate) real: bool,
    /// Measure a built-in suite instead of a scenario: `own` has more than two hundred cells with threads of
    /// our own, in about 10 minutes, `real` more than four hundred with the real runtimes that this host has,
    /// in about half an hour.
    #[arg(long, value_name = "SUITE", num_args = 0..=1, default_missing_value = "own")]
    #[arg(requires = "machine", conflicts_with_all = ["file", "policies", "set", "sweep", "seed"])]
    pub(crate) suite: Option<Suite>,
    /// Only the cells of the suite whose kind contains this text, such as `libgomp`.
    #[arg(long, value_name = "TEXT", requires = "suite")]
    pub(crate) kind: Option<String>,
    /// Measure nothing: print the predictions and the SHA-256 of their JSON, which --output writes. Publish
    /// the hash before you measure.
    #[arg(long, conflicts_with_all = ["again", "write", "tolerance"])]
    pub(crate) predict_only: bool,
    /// Measure only if the predictions are those of this file, which --predict-only has written. What other
    /// tasks do on the host is taken from it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["again", "write", "predict_only"])]
    pub(crate) predicted: Option<PathBuf>,
    /// And only if that file has this SHA-256.
    #[arg(long, value_name = "SHA256", requires = "predicted")]
    pub(crate) hash: Option<String>,
    /// Only one short scenario of each kind of the suite.
    #[arg(long, requires = "suite")]
    pub(crate) quick: bool,
    /// Measure nothing: predict the cells of this measurement of the suite again, with this version of the
    /// model.
    #[arg(long, value_name = "FILE", requires = "machine")]
    #[arg(conflicts_with_all = ["file", "suite", "policies", "set", "sweep", "seed", "repeat"])]
    pub(crate) again: Option<PathBuf>,
    /// Measure nothing: write docs/validation-host.md from the measurements in docs/validation-host below
    /// this directory, the root of the sources. Each is predicted again on the machine that it names.
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["file", "suite", "again", "output", "tolerance"])]
    pub(crate) write: Option<PathBuf>,
    /// With --write: add this measurement of a suite, of this or another host, and its --machine.
    #[arg(long, value_name = "FILE", requires_all = ["write", "machine"])]
    pub(crate) add: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) edits: Edits,
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Calibrate {
    #[command(subcommand)]
    pub(crate) what: Option<CalibrateWhat>,
    /// Only check that the built-in profiles equal those that the derivation writes.
    #[arg(long, conflicts_with_all = ["write", "sensitivity"])]
    pub(crate) check: bool,
    /// Write the derived data files and the tables of docs/calibration.md below this directory, the root of
    /// the sources.
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
    /// Also show the effect of the constants that no measurement determines.
    #[arg(long)]
    pub(crate) sensitivity: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CalibrateWhat {
    /// Measure the costs of this host in about 30 s, and write a machine file of them.
    #[command(after_help = help::measured::CALIBRATE_HOST)]
    Host(CalibrateHost),
}

#[derive(Args, Debug)]
pub(crate) struct CalibrateHost {
    /// Write the machine file here. Default: print the measured values only.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Measure although other programs use the host, mark what they disturbed, and replace the file of
    /// --output if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Longest time to wait for a host that other programs use.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = wait)]
    pub(crate) wait: u64,
    /// Compare the measured values with this machine file and report which have changed. The exit status is
    /// then 1.
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// Name of the machine in the file.
    #[arg(long, value_name = "NAME", default_value = "mine")]
    pub(crate) name: String,
    /// Fewer and shorter measurements, for a first impression in a few seconds.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Form of the report on standard output.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}
