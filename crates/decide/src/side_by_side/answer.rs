//! What two policies make of the same scenarios.

use experiment::statistics::{Summary, summarise};
use serde::Serialize;
use sim_core::account::Category;

/// A quantity under both policies: means over the replicates, and the second minus the first one, pair by
/// pair.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    /// Under the first policy and under the second one.
    pub values: [f64; 2],
    /// The mean of the differences.
    pub difference: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
}

impl Compared {
    /// From the values of each replicate; none without a finite one.
    pub(super) fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let gaps: Vec<f64> = first.iter().zip(second).map(|(first, second)| second - first).collect();
        let mean = |values: &[f64]| Some(summarise(values)?.mean);
        let Summary { mean: difference, ci95, .. } = summarise(&gaps)?;
        Some(Self { values: [mean(first)?, mean(second)?], difference, ci95 })
    }

    /// Whether the interval of the difference excludes zero.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }

    /// The difference relative to the first policy; none where that has nothing.
    #[must_use]
    pub fn relative(&self) -> Option<f64> {
        (self.values[0] > 0.0).then(|| self.difference / self.values[0])
    }
}

/// Where the time of a cpu goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Where {
    /// The cpu was idle, and a task that was runnable had no cpu.
    IdleWhileRunnable,
    /// Refilling caches after switches and migrations.
    Refill,
    /// Moving tasks between cpus.
    Migration,
    /// Context switches.
    Switch,
    /// Contention for memory, and memory of other nodes.
    Memory,
    /// Hardware threads that share a core.
    SharedCore,
    /// Polling for others and for locks, and `sched_yield`.
    Polling,
    /// Other work of the kernel and of scheduling daemons, and first writes to pages.
    Kernel,
    /// Work of the programs.
    Compute,
    /// The cpu was idle, and no task waited for it.
    Idle,
}

impl Where {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::IdleWhileRunnable,
        Self::Refill,
        Self::Migration,
        Self::Switch,
        Self::Memory,
        Self::SharedCore,
        Self::Polling,
        Self::Kernel,
        Self::Compute,
        Self::Idle,
    ];

    /// In a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::IdleWhileRunnable => "idle while a task was runnable",
            Self::Refill => "refilling caches",
            Self::Migration => "migrations",
            Self::Switch => "context switches",
            Self::Memory => "memory stalls, remote memory",
            Self::SharedCore => "hardware threads that share a core",
            Self::Polling => "polling and yielding",
            Self::Kernel => "kernel, daemons, page faults",
            Self::Compute => "work of the programs",
            Self::Idle => "idle, no task runnable",
        }
    }

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IdleWhileRunnable => "idle-while-runnable",
            Self::Refill => "refill",
            Self::Migration => "migration",
            Self::Switch => "switch",
            Self::Memory => "memory",
            Self::SharedCore => "shared-core",
            Self::Polling => "polling",
            Self::Kernel => "kernel",
            Self::Compute => "compute",
            Self::Idle => "idle",
        }
    }

    /// Where a category of the cpu-time breakdown belongs.
    pub(super) const fn of(category: Category) -> Self {
        match category {
            Category::Compute => Self::Compute,
            Category::MemoryStall | Category::Remote => Self::Memory,
            Category::Smt => Self::SharedCore,
            Category::Refill => Self::Refill,
            Category::Spin | Category::LockWait | Category::Yield => Self::Polling,
            Category::Switch => Self::Switch,
            Category::Migration => Self::Migration,
            Category::PageInit | Category::Kernel | Category::Daemon => Self::Kernel,
            Category::Idle => Self::Idle,
        }
    }
}

/// A part of the time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Part {
    /// Where it goes.
    pub place: Where,
    /// Time of a cpu, mean over the cpus, s.
    #[serde(flatten)]
    pub time: Compared,
}

/// The wake-up latency of an application.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Wakeups {
    /// The application.
    pub app: String,
    /// The 99th percentile of the times from a wake-up of one of its tasks until that task continues, s.
    #[serde(flatten)]
    pub p99: Compared,
}

/// A scenario, or all of them together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The name of the scenario; `total` for the sum of all.
    pub scenario: String,
    /// Both policies have the same runs: the digests are equal in every replicate.
    pub same: bool,
    /// Only a window of each run counts, which is equally long under both.
    pub window: bool,
    /// The time of a run: until the last program ends, s.
    pub time: Compared,
    /// Where the time of a cpu goes; the differences sum to that of `time`.
    pub parts: Vec<Part>,
    /// Time for which tasks of the programs were runnable without a cpu, their sum, s.
    pub waiting: Compared,
    /// Moves of tasks to another cpu.
    pub migrations: Compared,
    /// Switches from a task to another one.
    pub switches: Compared,
    /// Wake-up latencies of the applications that have some under both policies; none of the total.
    pub wakeups: Vec<Wakeups>,
}

impl Row {
    /// The application whose wake-up latency differs most.
    #[must_use]
    pub fn wakeup(&self) -> Option<&Wakeups> {
        let by = |one: &&Wakeups| one.p99.difference.abs();
        // Of equal ones the first.
        self.wakeups.iter().rev().max_by(|a, b| by(a).total_cmp(&by(b)))
    }
}

/// The task that lost most, in the first replicate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Worst {
    /// Its scenario.
    pub scenario: String,
    /// The number of the scenario among those that were given.
    #[serde(skip)]
    pub subject: usize,
    /// The seed of the run.
    pub seed: u64,
    /// Its application.
    pub app: String,
    /// Its rank.
    pub rank: u32,
    /// The policy under which it lost: 0 or 1.
    pub under: usize,
    /// Its longest time runnable without a cpu under each policy, s.
    pub longest_s: [f64; 2],
    /// All such times under each policy, s.
    pub waited_s: [f64; 2],
    /// From when to when it waited for longest, ns.
    pub moment_ns: [u64; 2],
    /// The cpu on which it counted at the end of that time.
    pub cpu: u32,
    /// Time of cpus without a task in that moment, their sum, s.
    pub idle_s: f64,
    /// What the timelines show, ns.
    pub window_ns: [u64; 2],
    /// What the task did in equal parts of the window under each policy: `r` it had a cpu, `w` it was
    /// runnable without one, `p` it polled, `s` it slept, `-` it was not there.
    pub timelines: [String; 2],
}

/// A scenario that was not compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub scenario: String,
    /// Why, half a sentence.
    pub reason: String,
}

/// What two policies make of the same scenarios.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// The policies, by names that differ.
    pub policies: [String; 2],
    /// Replicates of each scenario; both policies have the same seeds.
    pub replicates: u32,
    /// The scenarios.
    pub scenarios: Vec<Row>,
    /// The sum of all; none of a single one.
    pub total: Option<Row>,
    /// The task that lost most; none if no task waited longer under one policy than under the other.
    pub worst: Option<Worst>,
    /// Scenarios that were not compared.
    pub left_out: Vec<LeftOut>,
    /// Simulated runs.
    pub runs: usize,
}

impl Answer {
    /// The total, or the only scenario.
    #[must_use]
    pub fn whole(&self) -> Option<&Row> {
        self.total.as_ref().or_else(|| self.scenarios.first())
    }
}
