//! What can be said on the command line, and its help.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::help;

/// Most threads `--jobs` may ask for: above what any host has, below what exhausts it.
const MAX_JOBS: usize = 4096;

/// Where help shows the flags that all commands have: behind their own.
const LAST: usize = 900;

const TIMELINE_EXAMPLES: &str = "\
Examples:
  oversim timeline scenarios/policies/odd_thread.yaml
  oversim timeline scenarios/cg_ft_share.yaml --policy LOAD,SPEED -o cg_ft.svg
  oversim timeline scenarios/spin_yield_block.yaml --vary threads_per_core=1,2
  oversim timeline scenarios/cg_ft_share.yaml --from 1s --to 1.1s --cpus 0-3 -o part.png

--policy A,B stacks policies and --vary PATH=A,B stacks settings, up to four runs on one time axis. A timeline shows single \
configurations: --set PATH=VALUE chooses one of a sweep, and --sweep is refused.

Without --from and --to the most informative part of the runs is shown, and the headline states why. With --vary or a single \
policy that is a few barriers long.

Exit status: 0 done; 1 the picture could not be written; 2 wrong usage or scenario.";

/// Simulates how several parallel applications share a multicore machine under different scheduling policies.
#[derive(Parser, Debug)]
#[command(name = "oversim", version, after_help = help::OVERSIM)]
pub(crate) struct Arguments {
    /// No progress bars and no remarks on standard error.
    #[arg(short, long, global = true, display_order = LAST, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say on standard error what is being done and what it took.
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
    /// Compare two results, or policies of one scenario, pair by pair: how many times faster, and how sure that is.
    #[command(after_help = help::COMPARE)]
    Compare(Compare),
    /// Draw figures of a result, or of a scenario, which is run now; with the plotted numbers beside each.
    #[command(after_help = help::PLOT)]
    Plot(Plot),
    /// Run a scenario and write one page for the browser: what was simulated, tables, figures, verdicts, how to repeat it.
    #[command(after_help = help::REPORT)]
    Report(Report),
    /// Check scenarios without running them.
    #[command(after_help = help::CHECK)]
    Check(Check),
    /// Print a JSON Schema (draft-07): of scenario files, for editors, or of results.
    #[command(after_help = help::SCHEMA)]
    Schema(Schema),
    /// List what a scenario can name.
    #[command(after_help = help::LIST)]
    List(List),
    /// Explain a name: idea, rules, parameters, when to use it, an example. Without a name: all there is.
    #[command(after_help = help::EXPLAIN)]
    Explain(Explain),
    /// Derive the catalogue's profiles from published measurements and show how well these come back.
    #[command(after_help = help::CALIBRATE)]
    Calibrate(Calibrate),
    /// Run the published experiments and set every published claim beside what the simulator says.
    #[command(after_help = help::REPRODUCE)]
    Reproduce(Reproduce),
    /// Show who ran where: a row per cpu, in the terminal or as a picture.
    #[command(after_help = TIMELINE_EXAMPLES)]
    Timeline(Timeline),
    /// Look at a machine.
    #[command(after_help = help::MACHINE)]
    Machine {
        #[command(subcommand)]
        command: Machine,
    },
    /// Print what a shell needs to complete commands, flags and values.
    #[command(after_help = help::COMPLETIONS)]
    Completions(Completions),
    /// Print the manual page of the program or of a command, or write all pages to a directory.
    #[command(after_help = help::MAN)]
    Man(Man),
}

#[derive(Args, Debug)]
pub(crate) struct Calibrate {
    /// Only check that the profiles this program was built with are what the derivation writes.
    #[arg(long, conflicts_with_all = ["write", "sensitivity"])]
    pub(crate) check: bool,
    /// Write the derived data files and the tables of docs/calibration.md below this directory, the root of the sources.
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
    /// Also show what the constants do that no measurement determines.
    #[arg(long)]
    pub(crate) sensitivity: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Reproduce {
    /// Claims to check instead of those built in: a YAML file of the same form.
    #[arg(long, value_name = "FILE")]
    pub(crate) claims: Option<PathBuf>,
    /// Only the claims of this group; repeatable.
    #[arg(long = "group", value_name = "NAME")]
    pub(crate) groups: Vec<String>,
    /// Only the claims about this machine; repeatable.
    #[arg(long = "machine", value_name = "NAME")]
    pub(crate) machines: Vec<String>,
    /// A first look in under a minute: one or two replicates, shortened programs, only the cells that claims need.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also simulate the whole grid of every study that a claim needs, not only the cells that claims speak of: hours.
    #[arg(long, conflicts_with_all = ["quick", "sensitivity"])]
    pub(crate) grid: bool,
    /// Also write every simulated cell to this file, as CSV.
    #[arg(long, value_name = "FILE", conflicts_with = "sensitivity")]
    pub(crate) cells: Option<PathBuf>,
    /// Also write docs/validation.md and its pictures below this directory, the root of the sources.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["claims", "groups", "machines", "quick"])]
    pub(crate) write: Option<PathBuf>,
    /// Show instead how headlines move when an uncertain parameter is 20 % smaller or larger.
    #[arg(long, conflicts_with_all = ["claims", "groups", "machines", "quick"])]
    pub(crate) sensitivity: bool,
    /// Form of the report on standard output.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Threads to run on; the results do not depend on it. Default: as many as this process may use.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Where finished runs are kept, so that an interrupted reproduction goes on. Default: oversim/reproduce in the user's cache directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Do not use what an interrupted reproduction left.
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// Forms of a report of claims or comparisons.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReportFormat {
    /// Sentences and tables for people.
    Text,
    /// Everything, one object.
    Json,
    /// One claim or comparison per row.
    Csv,
    /// Tables in Markdown.
    Markdown,
}

impl ReportFormat {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
        }
    }
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("written").multiple(true)))]
pub(crate) struct Run {
    /// Scenario file; `-` reads standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Form of the result on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// What `--format text` shows.
    #[arg(long, value_enum, default_value_t = Table::Answer)]
    pub(crate) table: Table,
    /// Also write result.json, cells.csv, samples.csv, report.md and report.txt to this directory.
    #[arg(short, long, value_name = "DIR", group = "written")]
    pub(crate) output: Option<PathBuf>,
    /// Also write what every policy did in every run to this file, for --replay-schedule.
    #[arg(long, value_name = "FILE", group = "written")]
    pub(crate) record_schedule: Option<PathBuf>,
    /// Let a recorded schedule decide in place of the policies, here or on a changed scenario, as long as it is legal.
    #[arg(long, value_name = "FILE", conflicts_with = "record_schedule")]
    pub(crate) replay_schedule: Option<PathBuf>,
    /// Write every decision of every run and its reason to this file, one JSON object per line; `-` writes them to standard
    /// output, in place of the result.
    #[arg(long, value_name = "FILE", group = "written", conflicts_with_all = ["record_schedule", "replay_schedule"])]
    pub(crate) explain_decisions: Option<PathBuf>,
    /// Write a trace of one run to this file: *.pftrace for Perfetto (ui.perfetto.dev), *.ftrace or *.txt as Linux's ftrace
    /// prints it. The scenario asks for one run under a policy, or --trace-run says which.
    #[arg(long, value_name = "FILE", group = "written", conflicts_with = "replay_schedule")]
    pub(crate) trace: Option<PathBuf>,
    /// The run that --trace shows, by its number: from 0, dedicated runs first, then by configuration, policy and replicate.
    #[arg(long, value_name = "N", requires = "trace")]
    pub(crate) trace_run: Option<usize>,
    /// Replace files that exist.
    #[arg(long, requires = "written")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Also search the best static partition of the cores among the applications, by simulating up to 48 at each configuration.
    #[arg(long)]
    pub(crate) best_partition: bool,
    /// Simulate every single poll of a waiting task as an event: slow, same results.
    #[arg(long)]
    pub(crate) stepwise: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// What the other is held against: a result (the JSON of `oversim run`) or a scenario, which is run now; `-` reads standard input.
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// What is judged: another result or scenario. Without it policies of A are compared, each with the first.
    #[arg(value_name = "B")]
    pub(crate) second: Option<PathBuf>,
    /// Compare this metric (`oversim list metrics`) instead of run_time and makespan; repeatable.
    #[arg(long = "metric", value_name = "NAME", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Exit with status 1 only when something is slower by more than so many per cent, its whole interval beyond them.
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent)]
    pub(crate) threshold: f64,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// What can be changed in a scenario, alike in every command that reads one.
#[derive(Args, Clone, Debug)]
pub(crate) struct Edits {
    /// Only these policies: A,B or repeated. The first is the one that others are compared with. SPEED/ULE is SPEED on top of ULE.
    #[arg(long = "policy", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) policies: Vec<String>,
    /// Set one parameter by its path, as `threads_per_core=2`; repeatable. A swept path keeps only this value.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Sweep a path over these values, as `threads_per_core=1,2,4`; repeatable. Replaces the axis of that path, or adds one.
    #[arg(long = "sweep", value_name = "PATH=A,B,C")]
    pub(crate) sweep: Vec<String>,
    /// Seed of the first replicate; replicate i uses seed + i.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// What can be changed in a scenario that is run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Changes {
    #[command(flatten)]
    pub(crate) edits: Edits,
    /// Number of replicates, each with its own seed.
    #[arg(short, long, value_name = "N")]
    pub(crate) repeat: Option<u32>,
    /// Threads to run on; the results do not depend on it. Default: as many as this process may use.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(Args, Debug)]
pub(crate) struct Plot {
    /// A result (the JSON of `oversim run`) or a scenario, which is run now; `-` reads standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the figures to this directory.
    #[arg(short, long, value_name = "DIR", default_value = "figures")]
    pub(crate) output: PathBuf,
    /// Form of the pictures.
    #[arg(long, value_enum, default_value_t = Picture::Svg)]
    pub(crate) format: Picture,
    /// Draw only this figure: A,B or repeated. Default: all for which the result has data.
    #[arg(long = "figure", value_name = "NAME", value_delimiter = ',')]
    pub(crate) figures: Vec<String>,
    /// Replace files that exist.
    #[arg(long)]
    pub(crate) force: bool,
    /// Also search the best static partition of the cores among the applications.
    #[arg(long)]
    pub(crate) best_partition: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

#[derive(Args, Debug)]
pub(crate) struct Report {
    /// The scenario; `-` reads standard input.
    #[arg(value_name = "SCENARIO")]
    pub(crate) file: PathBuf,
    /// Write the page to this file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Also search the best static partition of the cores among the applications.
    #[arg(long)]
    pub(crate) best_partition: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// Forms of a picture.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Picture {
    /// Vectors: sharp at any size, small files.
    Svg,
    /// Pixels, twice as many as the SVG's size says, with a font of its own.
    Png,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The command whose page is printed; without it that of the program.
    #[arg(value_name = "COMMAND")]
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
    /// Of what.
    #[arg(value_enum, default_value_t = SchemaOf::Scenario)]
    pub(crate) of: SchemaOf,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SchemaOf {
    /// Scenario files.
    Scenario,
    /// Results: `oversim run --format json`, result.json.
    Result,
    /// A line of `oversim run --format ndjson`.
    ResultLine,
    /// Comparisons: `oversim compare --format json`.
    Compare,
}

#[derive(Args, Debug)]
#[command(mut_arg("sweep", |sweep| sweep.hide(true)))]
pub(crate) struct Timeline {
    /// Scenario file; `-` reads standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write a picture to this file, which ends in .svg or .png, instead of text to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Show the run from this instant on, as `1.5s` or `20ms`.
    #[arg(long, value_name = "TIME", value_parser = timeline::instant)]
    pub(crate) from: Option<u64>,
    /// Show the run up to this instant.
    #[arg(long, value_name = "TIME", value_parser = timeline::instant)]
    pub(crate) to: Option<u64>,
    /// Show only these cpus, as `0-3,8`.
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// Stack two to four values of one setting, as `apps.code.runtime=spin,yield`, under one policy. A path alone, `threads_per_core`,
    /// takes the values that the scenario sweeps.
    #[arg(long, value_name = "PATH=A,B,C")]
    pub(crate) vary: Option<String>,
    #[command(flatten)]
    pub(crate) edits: Edits,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Scenario files; `-` reads standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) edits: Edits,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    /// What to list.
    #[arg(value_enum)]
    pub(crate) shelf: Shelf,
    /// Show only this entry, with its parameters.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Form of the list.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// A policy, kernel, runtime, workload, machine, metric, way to wait, barrier, key or parameter, in upper or lower case;
    /// `policy:NAME` looks on one shelf only, `SPEED.interval` shows a parameter of one entry.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Form of the page.
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExplainFormat {
    /// For people, lines of at most 100 columns.
    Text,
    /// A page of the reference.
    Markdown,
    /// JSON with all details.
    Json,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Machine {
    /// Show its tree, caches, memory, speeds and costs with their sources, and the domains that a kernel's balancer sees.
    #[command(after_help = help::MACHINE_SHOW)]
    Show(MachineShow),
}

#[derive(Args, Debug)]
pub(crate) struct MachineShow {
    /// A machine's name (`oversim list machines`), a machine file, or a description such as "package:2 numa:1 core:8".
    #[arg(value_name = "MACHINE")]
    pub(crate) machine: String,
    /// The kernel whose balancer looks at it (`oversim list kernels`). Default: the machine's own, if the list has it.
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}

/// Forms of a result; the names are those of the registry of formats.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// Tables for people.
    Text,
    /// Everything, one object.
    Json,
    /// Everything, one object per line.
    Ndjson,
    /// One cell per row, as CSV.
    Csv,
    /// One measured value per row, as CSV.
    Tidy,
    /// The text report in Markdown.
    Markdown,
    /// One measured value per row, as Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Tidy => "tidy",
            Self::Markdown => "markdown",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }
}

/// How much a text report shows.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    /// The answer, the ranking, the causes and the doubts in 40 lines.
    Answer,
    /// All tables with every column.
    Full,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListFormat {
    /// For people.
    Text,
    /// JSON with all details.
    Json,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shelf {
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
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let range = format!("a whole number from 1 to {MAX_JOBS}");
    let jobs: NonZeroUsize = text.parse().map_err(|_| range.clone())?;
    if jobs.get() > MAX_JOBS { Err(range) } else { Ok(jobs) }
}

/// A number of per cent, with or without its sign.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end();
    let value: Option<f64> = number.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "a number of per cent, 0 or more, such as 2 or 2.5%".to_owned())
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
    fn every_format_is_in_the_registry() {
        let names: Vec<_> = Format::value_variants().iter().map(|f| f.name()).collect();
        let registry: Vec<_> = experiment::report::FORMATS.iter().map(|f| f.name).collect();
        assert_eq!(names, registry);
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
