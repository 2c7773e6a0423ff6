//! What policies are judged by: the names of objectives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What policies are judged by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Run time of the only program.
    RunTime,
    /// Time until all programs have ended.
    Makespan,
    /// Work for each second, in dedicated runs.
    Throughput,
    /// The largest slowdown of a program.
    WorstSlowdown,
    /// Mean time from the arrival of a program to its end.
    Turnaround,
    /// Mean time from the arrival of a program to its start.
    QueueTime,
    /// Mean time in which a request is answered.
    Response,
    /// The time in which 99 % of the requests are answered.
    ResponseP99,
    /// The largest time from a deadline to the end of the work: negative when all are met.
    Lateness,
    /// Work in the window for each second.
    Rate,
}

impl Objective {
    /// All objectives, in the order of lists.
    pub const ALL: [Self; 10] = [
        Self::RunTime,
        Self::Makespan,
        Self::Throughput,
        Self::WorstSlowdown,
        Self::Turnaround,
        Self::QueueTime,
        Self::Response,
        Self::ResponseP99,
        Self::Lateness,
        Self::Rate,
    ];

    /// Their names in files, in the same order.
    pub const NAMES: [&str; 10] = [
        "run_time",
        "makespan",
        "throughput",
        "worst_slowdown",
        "turnaround",
        "queue_time",
        "response",
        "response_p99",
        "lateness",
        "rate",
    ];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The objective of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|known| *known == name).map(|at| Self::ALL[at])
    }

    /// Its name in sentences, as in `Best by response p99`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::RunTime => "run time",
            Self::Makespan => "makespan",
            Self::Throughput => "throughput",
            Self::WorstSlowdown => "worst slowdown",
            Self::Turnaround => "mean turnaround",
            Self::QueueTime => "mean queue time",
            Self::Response => "mean response time",
            Self::ResponseP99 => "response p99",
            Self::Lateness => "largest lateness",
            // What is judged is the time that work takes: its unit is that of a time.
            Self::Rate => "time per work",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for (objective, name) in Objective::ALL.into_iter().zip(Objective::NAMES) {
            assert_eq!(serde_json::to_value(objective).unwrap(), name);
            assert_eq!((objective.name(), Objective::named(name)), (name, Some(objective)));
        }
        assert_eq!(Objective::named("speed"), None);
    }
}
