//! The command line: commands, flags and their help.

mod advise;
#[cfg(feature = "artifact")]
mod artifact;
mod conformance;
mod deadlines;
mod docs;
mod duel;
#[cfg(feature = "measured")]
mod host;
mod import;
mod kernel;
mod leaderboard;
mod lesson;
mod machine;
mod matrix;
mod new;
mod plot;
mod profile;
#[cfg(feature = "measured")]
mod reproduce;
#[cfg(feature = "scx")]
mod scx;
mod sweep;
mod timeline;
mod tune;
#[cfg(feature = "measured")]
mod twin;
#[cfg(feature = "measured")]
mod twin_import;
#[cfg(feature = "measured")]
mod twin_record;
mod why;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use clap_complete::engine::ArgValueCompleter as Completer;
use experiment::compare::{self, contrast::Contrasts};
use experiment::export::{self, Exported};
use experiment::parameter::Kind;
use experiment::result::Results;
use experiment::{report, units};
use explain::catalogue::Registry;
use scenario::objective::Objective;

use crate::{complete, help, identity};

pub(crate) use advise::{
    Advise, AdviseGeneral, AdvisePod, AdvisePools, AdviseShape, AdviseShare, AdviseWait, AnswerFormat,
};
#[cfg(feature = "artifact")]
pub(crate) use artifact::{Artifact, ArtifactPack, ArtifactShow, ArtifactVerify};
pub(crate) use conformance::Conformance;
pub(crate) use deadlines::Deadlines;
pub(crate) use docs::Docs;
pub(crate) use duel::Duel;
#[cfg(all(feature = "measured", target_os = "linux"))]
pub(crate) use host::Suite;
#[cfg(feature = "measured")]
pub(crate) use host::{Calibrate, CalibrateHost, CalibrateWhat, Measure};
pub(crate) use import::{CpuManager, Export, Import, Weights, Written};
pub(crate) use kernel::{DiffFormat, Kernel, KernelDiff, KernelList, KernelShow};
pub(crate) use leaderboard::{Leaderboard, listed};
pub(crate) use lesson::{Lesson, Marks};
pub(crate) use machine::{Machine, MachineExport, MachineImport, MachineSet, MachineShow};
pub(crate) use matrix::Matrix;
pub(crate) use new::{New, NewPolicy};
pub(crate) use plot::{Picture, Place, Plot};
pub(crate) use profile::Profile;
#[cfg(feature = "measured")]
pub(crate) use reproduce::Reproduce;
#[cfg(feature = "scx")]
pub(crate) use scx::{Scx, ScxBuild, ScxCompare, ScxExport};
pub(crate) use sweep::{
    Narrow, PhaseDiagram, Sweep, SweepExport, SweepScript, SweepWhat, TableForm, checked,
};
pub(crate) use timeline::{Rows, Timeline};
pub(crate) use tune::Tune;
#[cfg(feature = "measured")]
pub(crate) use twin::{
    LatencyOrder, Lines, Recorded, SplitBy, Twin, TwinIdle, TwinLatency, TwinSplit, TwinTimehist,
};
#[cfg(feature = "measured")]
pub(crate) use twin_import::{Check as TwinCheck, Import as TwinImport, Part};
#[cfg(feature = "measured")]
pub(crate) use twin_record::Record as TwinRecord;
pub(crate) use why::Why;

/// Most threads that `--jobs` accepts: above what any host has, below what exhausts it.
const MAX_JOBS: usize = 4096;

/// Where help shows the flags that all commands have: after the other ones.
const LAST: usize = 900;
/// Draws of uncertain inputs without another number: if 20 draws never show it, its probability is below
/// 14 %, with a confidence of 95 % (0.86^20 = 0.05).
const DRAWS: &str = "20";

/// Simulates how several parallel applications share a multicore machine under different scheduling policies.
#[derive(Parser, Debug)]
#[command(name = "oversim", version, long_version = identity::long(), after_help = help::OVERSIM)]
pub(crate) struct Arguments {
    /// Print neither progress bars nor remarks on standard error.
    #[arg(short, long, global = true, display_order = LAST, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Report on standard error what is being done and how long it took.
    #[arg(short, long, global = true, display_order = LAST)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a scenario and compare its policies.
    #[command(after_help = help::RUN)]
    Run(Run),
    /// Compare two results, or policies of one scenario, pair by pair: how large each difference is, and how
    /// certain.
    #[command(after_help = help::COMPARE)]
    Compare(Compare),
    /// Draw figures of a result, or of a scenario, which is run first. A CSV file next to each figure holds
    /// its numbers.
    #[command(after_help = help::PLOT)]
    Plot(Plot),
    /// Run a scenario and write one page for the browser: the setup, tables, figures, verdicts, and how to
    /// repeat it.
    #[command(after_help = help::REPORT)]
    Report(Report),
    /// Check scenarios without running them.
    #[command(after_help = help::CHECK)]
    Check(Check),
    /// Simulate built-in scenarios and compare the results with recorded digests: whether this build computes
    /// what all others compute.
    #[command(after_help = help::SELFTEST)]
    Selftest(Selftest),
    /// Write a scenario to start from: a small one with comments, or a copy of a built-in scenario.
    #[command(after_help = help::INIT)]
    Init(Init),
    /// Write a crate to start from.
    #[command(after_help = help::NEW)]
    New {
        #[command(subcommand)]
        command: New,
    },
    /// Print a JSON Schema (draft-07): of scenario files, for editors, or of results.
    #[command(after_help = help::SCHEMA)]
    Schema(Schema),
    /// List the names that a scenario can use, the metrics, or the built-in scenarios.
    #[command(after_help = help::LIST)]
    List(List),
    /// Explain a name or a term: idea, rules, parameters, when to use it, an example. Without a name: list
    /// all pages.
    #[command(after_help = help::EXPLAIN)]
    Explain(Explain),
    /// Search the manual for words, or print one of its pages. Without a word: list the pages.
    #[command(after_help = help::DOCS)]
    Docs(Docs),
    /// Go through a lesson about scheduling: a question, a prediction, a run and the answer. Without a
    /// number: list the lessons.
    #[command(after_help = help::LESSON)]
    Lesson(Lesson),
    /// Derive the profiles of the catalogue from published measurements, and show how closely the profiles
    /// reproduce them.
    #[command(after_help = help::measured::CALIBRATE)]
    #[cfg(feature = "measured")]
    Calibrate(Calibrate),
    /// Run a scenario for real on this host, and show the measured times beside the predicted ones.
    #[command(after_help = help::measured::MEASURE)]
    #[cfg(feature = "measured")]
    Measure(Measure),
    /// Run the published experiments and list every published claim next to the simulated outcome.
    #[command(after_help = help::measured::REPRODUCE)]
    #[cfg(feature = "measured")]
    Reproduce(Reproduce),
    /// Run a scenario with many configurations into a directory: in shards, interrupted and continued, and
    /// merged to the same bytes.
    #[command(after_help = help::SWEEP)]
    Sweep(Box<Sweep>),
    /// Put a study into one archive with all that it was calculated from; calculate an archive again and
    /// compare bytes.
    #[cfg(feature = "artifact")]
    #[command(after_help = help::artifact::ARTIFACT)]
    Artifact {
        #[command(subcommand)]
        command: Artifact,
    },
    /// Make a scenario of a file of another program: rt-app, SWF, Batsim, Kubernetes, docker, cgroup v2,
    /// OSTEP.
    #[command(after_help = help::IMPORT)]
    Import(Import),
    /// Write a scenario in the form of another program, with a list of what that cannot state.
    #[command(after_help = help::EXPORT)]
    Export(Export),
    /// Show whether periodic tasks meet their deadlines: what theory promises, what the simulation finds, and
    /// the worst case of many.
    #[command(after_help = help::DEADLINES)]
    Deadlines(Deadlines),
    /// Show which task ran where and when: a row per cpu, in the terminal or as a picture.
    #[command(after_help = help::TIMELINE)]
    Timeline(Timeline),
    /// Show a machine, import one from hwloc or Linux to a machine file, set measured values, or export one
    /// to hwloc.
    #[command(after_help = help::MACHINE)]
    Machine {
        #[command(subcommand)]
        command: Machine,
    },
    /// List the kernels, show the rules of one, or compare two and what their differences do.
    #[command(after_help = help::KERNEL)]
    Kernel {
        #[command(subcommand)]
        command: Kernel,
    },
    /// Report on a recording of Linux's scheduler, or on a simulated run in the same columns: delays, stints,
    /// who had the cpu meanwhile, cpus that idled.
    #[command(after_help = help::twin::TWIN)]
    #[cfg(feature = "measured")]
    Twin {
        #[command(subcommand)]
        command: Twin,
    },
    /// Describe a job by what other programs measured of it: an application with the range of each number.
    #[command(after_help = help::profile::PROFILE)]
    Profile(Box<Profile>),
    /// Search what a user can set, and say what to type, how sure that is, and what would change it.
    #[command(after_help = help::advise::ADVISE)]
    Advise(Box<Advise>),
    /// Run programs together, each with each: slowdowns, which go together, which to keep apart, and why.
    #[command(after_help = help::matrix::MATRIX)]
    Matrix(Box<Matrix>),
    /// Show which mechanism makes the difference between two runs.
    #[command(after_help = help::why::WHY)]
    Why(Box<Why>),
    /// Search the smallest scenario in which one policy loses most to another one.
    #[command(after_help = help::duel::DUEL)]
    Duel(Box<Duel>),
    /// Run all policies on a suite of scenarios: who wins where, by how much, and how sure that is.
    #[command(after_help = help::leaderboard::LEADERBOARD)]
    Leaderboard(Box<Leaderboard>),
    /// Search the parameters of a policy over a suite of scenarios, and try the best ones on its second half.
    #[command(after_help = help::leaderboard::TUNE)]
    Tune(Box<Tune>),
    /// Schedulers of Linux sched_ext: build policy files from them, compare two, export orders by formula.
    #[command(after_help = help::scx::SCX)]
    #[cfg(feature = "scx")]
    Scx {
        #[command(subcommand)]
        command: Scx,
    },
    /// Hold a kernel against a real one tick by tick: against a trace of a kernel under a stepped clock, or a
    /// table worked out by hand.
    #[command(after_help = help::CONFORMANCE)]
    Conformance(Conformance),
    /// Print the script that lets a shell complete commands, flags and values.
    #[command(after_help = help::COMPLETIONS)]
    Completions(Completions),
    /// Print the manual page of the program or of a command, or write all pages to a directory.
    #[command(after_help = help::MAN)]
    #[cfg(feature = "formats")]
    Man(Man),
    /// Execute the program of a measurement; `oversim measure` starts it.
    #[command(hide = true)]
    #[cfg(feature = "measured")]
    HostProcess,
}

/// Accepts the name of one of these forms.
pub(crate) fn form<T: 'static>(all: &'static [Exported<T>]) -> impl TypedValueParser<Value = Exported<T>> {
    let names = all.iter().map(|exporter| exporter.form());
    PossibleValuesParser::new(names.map(|form| PossibleValue::new(form.name).help(form.about)))
        .try_map(|name| export::find(all, &name).ok_or("there is no such form"))
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("written").multiple(true)), group(ArgGroup::new("one_run").multiple(true)))]
pub(crate) struct Run {
    /// Scenario: a file, `-` for standard input, or the name of a built-in scenario (`oversim list
    /// scenarios`).
    #[arg(value_name = "SCENARIO", add = Completer::new(complete::scenario))]
    pub(crate) file: PathBuf,
    /// Form of the result on standard output.
    #[arg(long, default_value = "text", value_parser = form(report::FORMATS))]
    pub(crate) format: Exported<Results>,
    /// How much `--format text` shows.
    #[arg(long, value_enum, default_value_t = Table::Answer)]
    pub(crate) table: Table,
    /// Also write result.json, cells.csv, samples.csv, report.md and report.txt to this directory, and what
    /// they were calculated from to its directory `inputs`.
    #[arg(short, long, value_name = "DIR", group = "written")]
    pub(crate) output: Option<PathBuf>,
    /// After SIGINT, SIGTERM or SIGHUP, write the results of the seeds that every run has finished, as with a
    /// smaller --repeat. The exit code still reports the signal.
    #[arg(long, requires = "output", conflicts_with_all = [
        "record_schedule", "replay_schedule", "explain_decisions", "trace", "requests", "best_partition",
    ])]
    pub(crate) keep_finished: bool,
    /// Also write the actions of every policy in every run to this file, for --replay-schedule.
    #[arg(long, value_name = "FILE", group = "written")]
    pub(crate) record_schedule: Option<PathBuf>,
    /// Use the actions of a recorded schedule instead of the policies, also on a changed scenario. Illegal
    /// actions are skipped.
    #[arg(long, value_name = "FILE", conflicts_with = "record_schedule")]
    pub(crate) replay_schedule: Option<PathBuf>,
    /// Write every decision of every run with its reason to this file, one JSON object per line. `-` writes
    /// them to standard output instead of the result.
    #[arg(long, value_name = "FILE", group = "written")]
    #[arg(conflicts_with_all = ["record_schedule", "replay_schedule"])]
    pub(crate) explain_decisions: Option<PathBuf>,
    /// With --explain-decisions, also write each pick of each run queue and whether each task that enters
    /// pre-empts, with the virtual times of all tasks that compete. Such a file is large.
    #[arg(long, requires = "explain_decisions")]
    pub(crate) explain_queues: bool,
    /// Write a trace of one run to this file: *.pftrace for Perfetto (ui.perfetto.dev), *.ftrace or *.txt in
    /// the text form of Linux's ftrace. If the scenario has several runs, --trace-run chooses one.
    #[arg(long, value_name = "FILE", groups = ["written", "one_run"], conflicts_with = "replay_schedule")]
    pub(crate) trace: Option<PathBuf>,
    /// Write each request of one run to this file as it is answered, one JSON object per line. If the
    /// scenario has several runs, --trace-run chooses one.
    #[arg(long, value_name = "FILE", groups = ["written", "one_run"], conflicts_with = "replay_schedule")]
    pub(crate) requests: Option<PathBuf>,
    /// Number of the run that --trace and --requests write, from 0: dedicated runs first, then by
    /// configuration, policy and replicate.
    #[arg(long, value_name = "N", requires = "one_run")]
    pub(crate) trace_run: Option<usize>,
    /// Replace files that exist.
    #[arg(long, requires = "written")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Also search the best static partition of the cores among the programs. This simulates up to 48
    /// partitions for each configuration.
    #[arg(long)]
    pub(crate) best_partition: bool,
    /// Also run the scenario with this number of draws of the values that are only estimated, and of those
    /// that the scenario states as `uncertain`, from their ranges and with the same seeds. This states the
    /// error that the estimates add, and which conclusions it changes. Each draw takes as long as the
    /// scenario itself.
    #[arg(long, value_name = "DRAWS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = DRAWS, value_parser = clap::value_parser!(u32).range(2..=1_000))]
    #[arg(conflicts_with_all = ["record_schedule", "replay_schedule", "explain_decisions", "keep_finished"])]
    pub(crate) uncertainty: Option<u32>,
    /// Simulate every poll of a waiting task as a separate event. This is slow and gives the same results.
    #[arg(long)]
    pub(crate) stepwise: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// The reference: a result (the JSON of `oversim run`) or a scenario, which is run first; `-` reads
    /// standard input.
    #[arg(value_name = "A", add = Completer::new(complete::scenario_or_result))]
    pub(crate) first: PathBuf,
    /// Another result or scenario, compared with A. Without it the policies of A are compared, each with the
    /// first one.
    #[arg(value_name = "B", add = Completer::new(complete::scenario_or_result))]
    pub(crate) second: Option<PathBuf>,
    /// Compare this metric (`oversim list metrics`) instead of run_time and makespan; repeatable.
    #[arg(long = "metric", value_name = "NAME", value_delimiter = ',')]
    #[arg(add = Completer::new(complete::metrics))]
    pub(crate) metrics: Vec<String>,
    /// Smallest slowdown that matters, in per cent. A slowdown is marked with `!`, and the exit status is 1,
    /// if its whole 95 % interval is larger than this.
    #[arg(long, value_name = "PERCENT", default_value = DEFAULT_THRESHOLD, value_parser = percent)]
    pub(crate) threshold: f64,
    /// Form of the report.
    #[arg(long, default_value = "text", value_parser = form(compare::report::FORMS))]
    pub(crate) format: Exported<Contrasts>,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// Changes of a scenario that every command that reads one accepts.
#[derive(Args, Clone, Debug)]
pub(crate) struct Edits {
    /// Use only these policies: A,B or repeated. The others are compared with the first one. SPEED/ULE is
    /// SPEED on top of ULE.
    #[arg(long = "policy", value_name = "NAMES", value_delimiter = ',')]
    #[arg(add = Completer::new(complete::policies))]
    pub(crate) policies: Vec<String>,
    /// Set one value by its path, for example `threads_per_core=2`; repeatable. A swept path then has only
    /// this value.
    #[arg(long = "set", value_name = "PATH=VALUE", add = Completer::new(complete::set))]
    pub(crate) set: Vec<String>,
    /// Sweep a path over these values, for example `threads_per_core=1,2,4`; repeatable. This replaces the
    /// values of a swept path, or sweeps another path in addition.
    #[arg(long = "sweep", value_name = "PATH=A,B,C", add = Completer::new(complete::sweep))]
    pub(crate) sweep: Vec<String>,
    /// Seed of the first replicate; replicate i uses seed + i.
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Refuse scenarios that need more memory than this, for example `4GiB`. Default: the memory that this
    /// process may use.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
}

/// What can be changed in a scenario that is run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Changes {
    #[command(flatten)]
    pub(crate) edits: Edits,
    /// Judge policies by this objective, whatever the scenario says (`oversim explain objective`).
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Objective::NAMES))]
    pub(crate) objective: Option<String>,
    /// Number of replicates, each with its own seed.
    #[arg(short, long, value_name = "N")]
    pub(crate) repeat: Option<u32>,
    /// Number of threads to run on. The results do not depend on it. Default: all cpus that this process may
    /// use.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(Args, Debug)]
pub(crate) struct Report {
    /// Scenario: a file, `-` for standard input, or the name of a built-in scenario (`oversim list
    /// scenarios`).
    #[arg(value_name = "SCENARIO", add = Completer::new(complete::scenario))]
    pub(crate) file: PathBuf,
    /// Write the page to this file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Also search the best static partition of the cores among the programs.
    #[arg(long)]
    pub(crate) best_partition: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Command whose page is printed. Default: the page of the program.
    #[arg(value_name = "COMMAND", add = Completer::new(complete::commands))]
    pub(crate) page: Vec<String>,
    /// Write all pages to this directory, as oversim.1, oversim-run.1 and so on.
    #[arg(short, long, value_name = "DIR", conflicts_with = "page")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// What the schema describes.
    #[arg(value_enum, default_value_t = SchemaOf::Scenario)]
    pub(crate) of: SchemaOf,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SchemaOf {
    /// Scenario files.
    Scenario,
    /// Machine files.
    Machine,
    /// Results: `oversim run --format json`, result.json.
    Result,
    /// A line of `oversim run --format ndjson`.
    ResultLine,
    /// A line of `oversim run --format jobs`, jobs.ndjson.
    Job,
    /// A line of `oversim run --requests`.
    Request,
    /// Comparisons: `oversim compare --format json`.
    Compare,
    /// Measurements: `oversim measure --format json`.
    Measurement,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Scenarios: files, `-` for standard input, or names of built-in scenarios.
    #[arg(value_name = "SCENARIO", required = true, add = Completer::new(complete::scenario))]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) edits: Edits,
}

#[derive(Args, Debug)]
pub(crate) struct Selftest {
    /// Threads to simulate on; the results do not depend on it. Default: all cpus of this process.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(Args, Debug)]
pub(crate) struct Init {
    /// Built-in scenario to copy (`oversim list scenarios`). Default: a small scenario with a comment for
    /// every key.
    #[arg(value_name = "NAME", add = Completer::new(complete::scenario_names))]
    pub(crate) name: Option<String>,
    /// Write to this file; `-` is standard output. Default: NAME.yaml, or my_scenario.yaml, in the current
    /// directory.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    /// What to list.
    #[arg(value_enum)]
    pub(crate) what: What,
    /// Show only this entry, with all details.
    #[arg(value_name = "NAME", add = Completer::new(complete::listed))]
    pub(crate) name: Option<String>,
    /// Form of the list.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// A policy, kernel, runtime, workload, machine, metric, way to wait, barrier, key, parameter or term, in
    /// upper or lower case. `policy:NAME` searches only the policies, `SPEED.interval` is a parameter of one
    /// entry.
    #[arg(value_name = "NAME", add = Completer::new(complete::pages), allow_hyphen_values = true)]
    pub(crate) name: Option<String>,
    /// Form of the page.
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExplainFormat {
    /// Text with lines of at most 100 columns.
    Text,
    /// A page of the reference.
    Markdown,
    /// JSON with all details.
    Json,
}

/// How much a text report shows.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    /// The answer, the ranking, the causes and the doubts, in about 40 lines.
    Answer,
    /// All tables with every column.
    Full,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListFormat {
    /// Text.
    Text,
    /// JSON with all details.
    Json,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// Scheduling policies.
    Policies,
    /// Workloads.
    Workloads,
    /// Machines.
    Machines,
    /// Operating-system kernels.
    Kernels,
    /// Parallel runtimes.
    Runtimes,
    /// Metrics of results.
    Metrics,
    /// Built-in scenarios.
    Scenarios,
}

impl What {
    /// The list of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::from_str(name, false).ok()
    }

    pub(crate) const fn registry(self) -> Registry {
        match self {
            Self::Policies => Registry::Policies,
            Self::Workloads => Registry::Workloads,
            Self::Machines => Registry::Machines,
            Self::Kernels => Registry::Kernels,
            Self::Runtimes => Registry::Runtimes,
            Self::Metrics => Registry::Metrics,
            Self::Scenarios => Registry::Scenarios,
        }
    }
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let range = format!("a whole number from 1 to {MAX_JOBS}");
    let jobs: NonZeroUsize = text.parse().map_err(|_| range.clone())?;
    if jobs.get() > MAX_JOBS { Err(range) } else { Ok(jobs) }
}

/// A seed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a seed is a whole number from 0 on".to_owned())
}

/// A size in bytes, as scenarios write it.
fn size(text: &str) -> Result<u64, String> {
    units::parse(Kind::Size, text)
}

/// The default of `compare --threshold`, in per cent: smaller slowdowns are below what the model can state.
const DEFAULT_THRESHOLD: &str = "1";

/// A number of per cent, with or without its sign.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end();
    let value: Option<f64> = number.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "write a percentage of at least 0, as `2` or `2.5%`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn jobs_keep_to_their_range() {
        assert!(jobs("0").is_err() && jobs("-1").is_err() && jobs("4097").is_err());
        assert_eq!(jobs("8").unwrap().get(), 8);
    }

    #[test]
    fn per_cent_are_numbers_from_zero() {
        assert!(["-1", "x", "nan", "inf", "", "%"].into_iter().all(|text| percent(text).is_err()));
        assert_eq!(percent("2.5%").map(f64::to_bits), percent("2.5").map(f64::to_bits));
    }
}
