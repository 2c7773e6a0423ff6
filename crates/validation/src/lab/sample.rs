//! What is kept of a run: enough for every metric of the claims, small enough to store thousands.

use std::collections::BTreeMap;

use experiment::metrics::{METRICS, Reduction, Sample, Scope};
use experiment::snapshots::Seen;
use experiment::statistics::rounded;
use serde::{Deserialize, Serialize};
use sim_core::account::{Account, Category};
use sim_core::outcome::{AppReport, Outcome, RunReport};
use sim_core::time::{Span, Time};

/// What user time is made of: all but the kernel's work and idling.
const USER: [Category; 7] = [
    Category::Compute,
    Category::MemoryStall,
    Category::Remote,
    Category::Smt,
    Category::Refill,
    Category::Spin,
    Category::LockWait,
];

/// One run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunSample {
    /// Why it is of no use; `None` when it completed.
    pub trouble: Option<String>,
    /// It cannot be made at all: its fields do not go together.
    #[serde(default)]
    pub refused: bool,
    /// Simulated seconds until the last foreground application ended.
    pub makespan: f64,
    /// Seconds of user time (computing, waiting for memory, polling) of each cpu.
    pub user: Vec<f64>,
    /// The applications in the order of the file, copies written out.
    pub apps: Vec<AppSample>,
}

/// One application of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AppSample {
    /// Its name; copies are `name-1`, `name-2`.
    pub name: String,
    /// Arrival, in seconds from the start of the run.
    pub arrived: f64,
    /// First task created.
    pub start: f64,
    /// Last task ended.
    pub end: f64,
    /// From start to end.
    pub run_time: f64,
    /// What the program times itself: from behind the start barrier to the end.
    pub timed: f64,
    /// Cpu seconds of each task.
    pub task_cpu: Vec<f64>,
    /// Barriers one task went through.
    pub barriers: f64,
    /// Bytes fetched from memory per second of work.
    pub bytes_per_work: f64,
    /// Share of the one-second snapshots in which each task ran on its home node, in per cent; empty unless
    /// the study samples.
    pub home: Vec<f64>,
    /// Share of the snapshots in which its cpu had changed, in per cent; empty unless the study samples.
    pub moved: Vec<f64>,
    /// The metrics of results by name; empty unless the study keeps them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
}

impl RunSample {
    /// What every cell answers in the planning pass.
    #[must_use]
    pub fn dummy() -> Self {
        Self { makespan: 1.0, user: vec![1.0], ..Self::default() }
    }

    /// A run that could not be made.
    #[must_use]
    pub fn refused(reason: String) -> Self {
        Self { trouble: Some(reason), refused: true, ..Self::default() }
    }

    /// What is kept of a report.
    #[must_use]
    pub fn of(report: &RunReport) -> Self {
        let trouble = match &report.outcome {
            Outcome::Completed => None,
            Outcome::Horizon => Some("the run reached its horizon".to_owned()),
            Outcome::Deadlock(why) => Some(format!("deadlock: {why}")),
            Outcome::Livelock(why) => Some(format!("livelock: {why}")),
            Outcome::Failed(why) => Some(format!("ended by the policy: {why}")),
        };
        Self {
            trouble,
            refused: false,
            makespan: instant(report.makespan),
            user: report.cpus.iter().map(user).collect(),
            apps: report.apps.iter().map(AppSample::of).collect(),
        }
    }
}

impl RunSample {
    /// What is kept of a report, with all metrics of each application.
    #[must_use]
    pub fn measured(report: &RunReport) -> Self {
        let mut sample = Self::of(report);
        for (app, kept) in sample.apps.iter_mut().enumerate() {
            let copies = [app];
            let of = Sample::of(report, app, &copies);
            let all = METRICS.iter();
            let all = all.filter(|m| m.scope == Scope::App && m.reduction == Reduction::Statistics);
            kept.metrics = all.filter_map(|m| Some((m.name.to_owned(), (m.measure)(&of)?))).collect();
        }
        sample
    }

    /// What is kept of a report and of the snapshots of each application's tasks.
    #[must_use]
    pub fn watched(report: &RunReport, seen: &[Vec<Seen>]) -> Self {
        let mut sample = Self::of(report);
        let per_cent = |share: Option<f64>| rounded(share.unwrap_or(0.0) * 100.0);
        for (app, seen) in sample.apps.iter_mut().zip(seen) {
            app.home = seen.iter().map(|task| per_cent(task.home_share())).collect();
            app.moved = seen.iter().map(|task| per_cent(task.moved_share())).collect();
        }
        sample
    }
}

impl AppSample {
    fn of(app: &AppReport) -> Self {
        let tasks = app.task_cpu.len().max(1) as f64;
        let run_time = app.run_time().map_or(0.0, seconds);
        Self {
            name: app.name.clone(),
            arrived: instant(app.arrived),
            start: instant(app.start),
            end: app.end.map_or(0.0, instant),
            run_time,
            timed: app.timed_run_time().map_or(0.0, seconds),
            task_cpu: app.task_cpu.iter().copied().map(seconds).collect(),
            barriers: rounded(app.counters.barriers as f64 / tasks),
            bytes_per_work: rounded(
                app.counters.bytes_fetched as f64 * 1e9 / (app.counters.work_done_ns.max(1)) as f64,
            ),
            home: Vec::new(),
            moved: Vec::new(),
            metrics: BTreeMap::new(),
        }
    }
}

fn seconds(span: Span) -> f64 {
    span.ns() as f64 / 1e9
}

fn instant(time: Time) -> f64 {
    time.ns() as f64 / 1e9
}

fn user(account: &Account) -> f64 {
    USER.iter().map(|category| account.get(*category).ns()).sum::<u64>() as f64 / 1e9
}
