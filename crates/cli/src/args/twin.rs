//! Flags of `oversim twin`: the reports on a recording.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter as Completer;
use pictures::timeline::instant;

use super::twin_import::{Check as TwinCheck, Import as TwinImport};
use super::twin_record::Record as TwinRecord;
use super::{Edits, ListFormat};
use crate::{complete, help};

#[derive(Subcommand, Debug)]
pub(crate) enum Twin {
    /// Record what the scheduler of this host does while a command runs (Linux, root).
    #[command(after_help = help::twin::RECORD)]
    Record(TwinRecord),
    /// Make a scenario of a recording: a team of threads, jobs, or who woke whom. Run it, and say how far it
    /// is off.
    #[command(after_help = help::twin::IMPORT)]
    Import(TwinImport),
    /// Show the run of a twin beside a recording: time, cpu time, delays.
    #[command(after_help = help::twin::CHECK)]
    Check(TwinCheck),
    /// Show how long each thread waited for a cpu after it could run, as `perf sched latency` does.
    #[command(after_help = help::twin::LATENCY)]
    Latency(TwinLatency),
    /// List each stint of a thread on a cpu: wait, delay, run time, how it ended and who woke the thread, as
    /// `perf sched timehist` does.
    #[command(after_help = help::twin::TIMEHIST)]
    Timehist(TwinTimehist),
    /// Split the time in which threads could run and had no cpu: neighbours had it, their own group had it,
    /// or it idled.
    #[command(after_help = help::twin::SPLIT)]
    Split(TwinSplit),
    /// List the periods in which a cpu idled while a thread that could run waited for one.
    #[command(after_help = help::twin::IDLE)]
    Idle(TwinIdle),
}

/// What a report is about.
#[derive(Args, Debug)]
#[command(mut_arg("sweep", |sweep| sweep.hide(true)))]
pub(crate) struct Recorded {
    /// A recording: text of `perf script`, of tracefs or of `trace-cmd report`, perf.data, trace.dat, or a
    /// trace of oversim, each perhaps compressed by gzip; `-` reads one from standard input. Or a scenario: a
    /// *.yaml file or the name of a built-in scenario, of which one run is simulated.
    #[arg(value_name = "FILE", add = Completer::new(complete::recording))]
    pub(crate) file: PathBuf,
    /// Number of the run of a scenario, from 0: dedicated runs first, then by configuration, policy and
    /// replicate. Default: the first replicate, if there is one configuration and policy.
    #[arg(long, value_name = "N")]
    pub(crate) trace_run: Option<usize>,
    #[command(flatten)]
    pub(crate) edits: Edits,
}

/// The order of the threads of `twin latency`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LatencyOrder {
    /// The longest run time first.
    Runtime,
    /// The most stints first.
    Switch,
    /// The largest average delay first.
    Avg,
    /// The largest delay first.
    Max,
}

#[derive(Args, Debug)]
pub(crate) struct TwinLatency {
    #[command(flatten)]
    pub(crate) recorded: Recorded,
    /// Order of the threads.
    #[arg(long, value_enum, default_value_t = LatencyOrder::Runtime)]
    pub(crate) sort: LatencyOrder,
    /// Put all threads of a name together.
    #[arg(long)]
    pub(crate) merge: bool,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}

/// Forms of a list of stints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lines {
    /// Text.
    Text,
    /// A JSON object in each line.
    Ndjson,
}

#[derive(Args, Debug)]
pub(crate) struct TwinTimehist {
    #[command(flatten)]
    pub(crate) recorded: Recorded,
    /// Only threads with this in their names, or the thread of this number; may be given several times.
    #[arg(long, value_name = "NAME|TID")]
    pub(crate) only: Vec<String>,
    /// Only stints that last at this time after the first event or begin later, for example `1.5s` or `20ms`.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) from: Option<u64>,
    /// Read up to this time after the first event.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub(crate) to: Option<u64>,
    /// Also show the sums of each thread, and for how long each cpu idled.
    #[arg(long)]
    pub(crate) summary: bool,
    /// Form of the list.
    #[arg(long, value_enum, default_value_t = Lines::Text)]
    pub(crate) format: Lines,
}

/// The groups of `twin split`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SplitBy {
    /// A process. Where the recording does not name processes, as that of a simulation: all threads whose
    /// names differ in the number at their end.
    Process,
    /// A thread.
    Thread,
    /// All threads of a name.
    Name,
}

#[derive(Args, Debug)]
pub(crate) struct TwinSplit {
    #[command(flatten)]
    pub(crate) recorded: Recorded,
    /// What a group is.
    #[arg(long, value_enum, default_value_t = SplitBy::Process)]
    pub(crate) by: SplitBy,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}

#[derive(Args, Debug)]
pub(crate) struct TwinIdle {
    #[command(flatten)]
    pub(crate) recorded: Recorded,
    /// The shortest period that counts.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = instant)]
    pub(crate) min: u64,
    /// Form of the report.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}
