//! What no file and no flag states and what may matter: asked for, with the range that is assumed.

use crate::values::Unit;

/// Work between two barriers of a task, in s: from loops that just pay for a barrier (1 to 2 us, times ten)
/// to the time steps of coarse codes. Assumed; what a job has is to be measured.
pub(crate) const INTERVAL: (f64, f64) = (20e-6, 100e-3);
/// Memory traffic of a task, in bytes/s: from a program in its caches, of which a hundred do not matter to
/// the memory of a server, to what one core can draw (`core_bandwidth` of machines: 10 to 20 GB/s).
pub(crate) const DEMAND: (f64, f64) = (100e6, 10e9);
/// Half-width of the variation of work between two barriers: none to twice that of the codes of `npb`.
pub(crate) const SPREAD: (f64, f64) = (0.0, 0.3);
/// Variation in the middle of that, the default of `npb` and `spec-omp`.
pub(crate) const SPREAD_MIDDLE: f64 = 0.15;

/// Something that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Topic {
    /// Work between two barriers.
    Interval,
    /// How tasks wait.
    Wait,
    /// Memory traffic.
    Demand,
    /// Number of tasks.
    Tasks,
    /// Variation of the work between two barriers.
    Spread,
}

impl Topic {
    /// In a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Interval => "work between two barriers",
            Self::Wait => "how its tasks wait",
            Self::Demand => "memory traffic of a task",
            Self::Tasks => "number of tasks",
            Self::Spread => "variation of the work between two barriers",
        }
    }

    /// How to find it out, and the flag that states it.
    #[must_use]
    pub const fn how(self) -> &'static str {
        match self {
            Self::Interval => {
                "count its barriers with a CSV of its regions, ompP, `likwid-perfctr -m` or mpiP; then \
                 `--interval`"
            }
            Self::Wait => "`oversim profile --pid PID` sees its libraries and its environment; or `--wait`",
            Self::Demand => {
                "`perf stat -x, -e task-clock,LLC-load-misses`, or `likwid-perfctr -g MEM -m`; then \
                 `--bandwidth`"
            }
            Self::Tasks => {
                "`oversim profile --pid PID`, or `grep Threads /proc/PID/status`; then `--threads`"
            }
            Self::Spread => "`barrier_s` in a CSV of its regions, ompP, or for ranks without threads mpiP",
        }
    }
}

/// A number that is asked for, and both ends of its range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// What it is.
    pub topic: Topic,
    /// Its place in the scenario: `apps.job.workload.intervals`.
    pub path: String,
    /// The lower end, as the scenario would have it.
    pub low: String,
    /// The upper end.
    pub high: String,
    /// The ends in a trial, which is shorter than the job.
    trial: (String, String),
}

impl Asked {
    pub(crate) fn new(topic: Topic, app: &str, key: &str, ends: (&str, &str)) -> Self {
        let ends = (ends.0.to_owned(), ends.1.to_owned());
        let path = format!("apps.{app}.{key}");
        Self { topic, path, low: ends.0.clone(), high: ends.1.clone(), trial: ends }
    }

    /// A number of intervals: a trial of so many seconds of work for each task has as many as come in it.
    pub(crate) fn intervals(app: &str, (low, high): (f64, f64), seconds: f64) -> Self {
        let ends = (Unit::Count.show(low), Unit::Count.show(high));
        let mut asked = Self::new(Topic::Interval, app, "workload.intervals", (&ends.0, &ends.1));
        let trial = |interval: f64| Unit::Count.show(seconds / interval);
        asked.trial = (trial(INTERVAL.1), trial(INTERVAL.0));
        asked
    }

    /// The settings of trials with the lower and with the upper end.
    #[must_use]
    pub fn settings(&self) -> (String, String) {
        (format!("{}={}", self.path, self.trial.0), format!("{}={}", self.path, self.trial.1))
    }
}
