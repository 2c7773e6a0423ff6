//! What can be said on the command line, and its help.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

/// Most threads `--jobs` may ask for: above what any host has, below what exhausts it.
const MAX_JOBS: usize = 4096;

const EXAMPLES: &str = "\
Examples:
  oversim run scenarios/cg_ft_share.yaml
  oversim run scenarios/cg_ft_share.yaml --policy LOAD --policy PIN --repeat 3
  oversim run scenarios/seventeen_on_sixteen.yaml --set kernel.yield=posix --format json
  oversim run scenarios/cg_ft_share.yaml --policy SPEED/ULE --record-schedule schedule.ndjson
  oversim run scenarios/cg_ft_share.yaml --policy LOAD --explain-decisions - | grep migrate
  oversim run - --seed 7 -o results < my_scenario.yaml
  oversim check scenarios/*.yaml
  oversim explain SPEED
  oversim machine show barcelona

Exit status: 0 done; 1 a run did not complete (deadlock, livelock, horizon) or output failed; 2 wrong usage or scenario.";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  oversim reproduce --quick
  oversim reproduce --group yield --group affinity
  oversim reproduce --claims mine.yaml --machine barcelona --format json

Exit status: 0 done, whatever the verdicts; 1 the report could not be written; 2 wrong usage or claims.";

const TIMELINE_EXAMPLES: &str = "\
Examples:
  oversim timeline scenarios/policies/odd_thread.yaml
  oversim timeline scenarios/cg_ft_share.yaml --policy LOAD,SPEED -o cg_ft.svg
  oversim timeline scenarios/cg_ft_share.yaml --policy LOAD --from 2s --to 2.1s --cpus 0-3 -o part.png

Without --from and --to the most telling part of the run is shown, and the headline says why.

Exit status: 0 done; 1 the picture could not be written; 2 wrong usage or scenario.";

/// Simulates how several parallel applications share a multicore machine under different scheduling policies.
#[derive(Parser, Debug)]
#[command(name = "oversim", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a scenario and compare its policies.
    #[command(after_help = EXAMPLES)]
    Run(Run),
    /// Check scenarios without running them.
    Check(Check),
    /// Print the JSON Schema of scenario files (draft-07), for editors.
    Schema,
    /// List what a scenario can name.
    List(List),
    /// Explain a name: idea, rules, parameters, when to use it, an example. Without a name: all there is.
    Explain(Explain),
    /// Derive the catalogue's profiles from published measurements and show how well these come back.
    Calibrate(Calibrate),
    /// Run the published experiments and set every published claim beside what the simulator says.
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(Reproduce),
    /// Show who ran where: a row per cpu, in the terminal or as a picture.
    #[command(after_help = TIMELINE_EXAMPLES)]
    Timeline(Timeline),
    /// Look at a machine.
    Machine {
        #[command(subcommand)]
        command: Machine,
    },
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
    /// No progress bar and no remarks.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReportFormat {
    /// Tables for people.
    Text,
    /// Everything, one object.
    Json,
    /// One claim per row.
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
    /// Also write result.json, cells.csv, report.md and report.txt to this directory.
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
    /// Replace files that exist.
    #[arg(long, requires = "written")]
    pub(crate) force: bool,
    /// Run only this policy; repeatable. SPEED/ULE is SPEED over ULE. The first is the one the others are compared with.
    #[arg(long = "policy", value_name = "NAME")]
    pub(crate) policies: Vec<String>,
    /// Seed of the first replicate; replicate i uses seed + i.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Number of replicates.
    #[arg(short, long, value_name = "N")]
    pub(crate) repeat: Option<u32>,
    /// Threads to run on; the results do not depend on it. Default: as many as this process may use.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Change one parameter of the scenario, by the path a sweep would use; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Also search the best static partition of the cores among the applications, by simulating up to 48 at each point.
    #[arg(long)]
    pub(crate) best_partition: bool,
    /// Simulate every single poll of a waiting task as an event: slow, same results.
    #[arg(long)]
    pub(crate) stepwise: bool,
    /// No progress bar and no remarks.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
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
    /// The policies to show, one above the other on one time axis; at most four. Default: the first two of the scenario.
    #[arg(long = "policy", value_name = "NAME", value_delimiter = ',')]
    pub(crate) policies: Vec<String>,
    /// Show the run from this instant on, as `1.5s` or `20ms`.
    #[arg(long, value_name = "TIME", value_parser = timeline::instant)]
    pub(crate) from: Option<u64>,
    /// Show the run up to this instant.
    #[arg(long, value_name = "TIME", value_parser = timeline::instant)]
    pub(crate) to: Option<u64>,
    /// Show only these cpus, as `0-3,8`.
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
    /// Seed of the run.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Change one parameter of the scenario, by the path a sweep would use; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// No remarks on standard error.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Scenario files; `-` reads standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Change one parameter of each scenario before the check; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
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
    /// One cell per row.
    Csv,
    /// The text report in Markdown.
    Markdown,
}

impl Format {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
        }
    }
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
}
