//! The statements of the answer as values: what each is about, with the cells that it speaks of. Text and
//! JSON are made of them last.

use schemars::JsonSchema;
use serde::Serialize;

use super::ranking::{Rivals, Standing};
use super::table::Table;
use crate::references::BestPartition;

/// A statement of the answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Statement<'a> {
    /// Whether sharing finishes earlier than one program after the other.
    Sharing {
        /// Policies at configurations.
        cases: usize,
        /// Those that gain more than 1 %, by their whole interval.
        gains: usize,
        /// Those that lose more than 1 %, by their whole interval.
        losses: usize,
        /// The largest throughput.
        best: Standing<'a>,
    },
    /// The best policy, of all configurations or of one.
    Best(Best<'a>),
    /// What the only policy reached.
    Result(Best<'a>),
    /// At how many configurations each policy is best or cannot be told from the best.
    Counts {
        /// Configurations where anything was measured.
        configurations: usize,
        /// Policies with the number of configurations at which they are best or cannot be told from the best,
        /// the largest number first.
        policies: Vec<(&'a str, usize)>,
    },
    /// The worst policy.
    Avoid {
        /// The worst; none where it cannot be told from the best.
        worst: Option<Ranked<'a>>,
        /// Whether intervals are known.
        intervals: bool,
        /// By which part of the larger one the means of the best and the last case differ, where these read
        /// alike: the reason why none is the worst.
        apart: Option<f64>,
    },
    /// The best policies at each value of the only swept parameter.
    Policy(ByValue<'a>),
    /// The best values of the only swept parameter under each policy.
    Sweep(ByValue<'a>),
    /// What uncertain inputs do to the best value.
    Inputs(Inputs<'a>),
    /// The smallest and the largest of the largest slowdowns under each policy.
    Fairness(Range<'a>),
    /// The shortest and the longest response times.
    Response {
        /// Of each application that answers requests.
        programs: Vec<Range<'a>>,
    },
    /// How long tasks wait for locks.
    Locks {
        /// The smallest share of their time.
        least: Standing<'a>,
        /// The largest share of their time.
        most: Standing<'a>,
        /// Whether tasks poll meanwhile.
        polls: bool,
    },
    /// Which deadlines are missed.
    Deadlines {
        /// Each case.
        cases: Vec<Missed<'a>>,
    },
    /// The best static partition of a configuration.
    Partition(Partition<'a>),
    /// Policies that gave the same numbers in every run.
    Identical {
        /// Policies that are the same, of which there may be several sets.
        sets: Vec<Vec<&'a str>>,
    },
}

/// A statement as JSON has it: the value, and how reports write it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Said<'a> {
    /// What it is about, as reports write it: `Best`, `Avoid`, ...
    pub label: &'static str,
    /// One or a few sentences.
    pub text: String,
    /// The value that the text is made of.
    #[serde(flatten)]
    pub statement: Statement<'a>,
}

impl<'a> Said<'a> {
    /// A statement with its label and its text.
    #[must_use]
    pub fn new(table: &Table<'a>, statement: Statement<'a>) -> Self {
        Self { label: statement.label(), text: statement.text(table), statement }
    }
}

/// A case at an end of a ranking, and how the others of its configuration compare with it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Ranked<'a> {
    /// The case.
    pub case: Standing<'a>,
    /// The same policy at other configurations, where all its values are the same.
    pub equal: Vec<Standing<'a>>,
    /// Other quantities of the case that belong to its value: slowdowns, percentiles, missed deadlines.
    pub beside: Vec<Standing<'a>>,
    /// The others that are not clearly apart from it.
    pub rivals: Rivals<'a>,
}

/// The best case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Best<'a> {
    /// The best.
    #[serde(flatten)]
    pub ranked: Ranked<'a>,
    /// The last of its ranking where that is told beside it.
    pub worst: Option<Ranked<'a>>,
    /// It is the smallest value of a sweep whose configurations do different work.
    pub of_other_work: bool,
}

/// Policies and values of the only swept parameter that belong together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ByValue<'a> {
    /// The parameter, as short as it is clear.
    pub parameter: String,
    /// Policies and values.
    pub groups: Vec<Group<'a>>,
}

/// The policies that are best, or cannot be told from the best, at these values; or those whose best values
/// are these.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Group<'a> {
    /// The policies.
    pub policies: Vec<&'a str>,
    /// The values.
    pub values: Vec<String>,
}

/// What uncertain inputs do to the best value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Inputs<'a> {
    /// Draws in which the best has a value.
    pub draws: usize,
    /// Number of the uncertain inputs.
    pub values: usize,
    /// Number of those among them that the scenario itself states as uncertain; none without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated: Option<usize>,
    /// The machine, if there is only one.
    pub machine: Option<&'a str>,
    /// The best.
    pub best: Standing<'a>,
    /// In how many draws it stays the best; none where it has no rival.
    pub stays_best: Option<usize>,
    /// Half of its interval over its mean; none for means that are not positive.
    pub change: Option<f64>,
    /// The input that it follows.
    pub follows: Option<Followed<'a>>,
}

/// The input that a value follows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Followed<'a> {
    /// Its machine; empty for a value that the scenario states.
    pub machine: &'a str,
    /// Its name, or its path in the scenario.
    pub input: &'a str,
    /// Spearman's rank correlation, from -1 to 1.
    pub rank_correlation: f64,
}

/// The ends of a range of values.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Range<'a> {
    /// The smallest.
    pub least: End<'a>,
    /// The largest; none where it cannot be told from the smallest.
    pub most: Option<End<'a>>,
}

/// An end of a range.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct End<'a> {
    /// The case.
    pub case: Standing<'a>,
    /// Policies that are level with it, and not with the other end.
    pub level: Vec<&'a str>,
}

/// Missed deadlines of a case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Missed<'a> {
    /// The share of missed deadlines.
    pub missed: Standing<'a>,
    /// The latest work; negative if all is early.
    pub latest: Standing<'a>,
}

/// The best static partition.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Partition<'a> {
    /// The partition.
    #[serde(flatten)]
    pub best: &'a BestPartition,
    /// The time until all programs end.
    pub makespan: Standing<'a>,
}
