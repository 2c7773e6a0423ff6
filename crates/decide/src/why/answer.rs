//! The answer to "why": the difference, and what each mechanism makes of it.

use experiment::statistics::Summary;
use serde::Serialize;

/// From this part on a move does not take the difference away: it turns it round, by half of it and more.
const TURNED: f64 = 1.5;

/// Mechanisms with a smaller part of the difference are not named as its makers.
pub(super) const SMALL: f64 = 0.05;

/// What kind of mechanism was moved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A setting in which the sides differ: the second side gets the value of the first one.
    Difference,
    /// A cost, latency, bandwidth or speed of the machine.
    Machine,
    /// A rule of the kernel.
    Kernel,
    /// A rule of the policy.
    Policy,
    /// What waiting tasks do.
    Waiting,
    /// A property of the work.
    Work,
    /// The random start of applications.
    Start,
    /// An application beside the one that is judged.
    Neighbour,
}

/// A share of the difference with its 95 % interval; 1 is all of it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Share {
    /// The share.
    pub mean: f64,
    /// Lower and upper end.
    pub ci95: [f64; 2],
}

impl Share {
    /// Whether the interval excludes zero.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        let [low, high] = self.ci95;
        low > 0.0 || high < 0.0
    }
}

/// A mechanism that was moved.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Its name: what was set, as `--set` takes it, or `hogs left out`.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// What the move does, half a sentence.
    pub about: String,
    /// Mechanisms of one group are alternatives, of which parts are not added.
    #[serde(skip)]
    pub group: String,
    /// What is set on each side; empty where the move changes nothing there.
    pub set: [Vec<String>; 2],
    /// The difference that is left, in the unit of the metric, with its interval.
    pub left: Option<Summary>,
    /// The part of the difference that goes away.
    pub part: Option<Share>,
    /// Of a setting in which the sides differ: the part that it makes if the first side gets this one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<Share>,
    /// Why a run did not complete with it; empty if all did.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ended: String,
}

impl Row {
    /// Its part, if its interval excludes zero.
    #[must_use]
    pub fn shown(&self) -> Option<Share> {
        self.part.filter(Share::is_shown)
    }

    /// Its part, if that is shown and the move takes it away: it neither makes the difference larger nor
    /// turns it round.
    #[must_use]
    pub fn taken(&self) -> Option<f64> {
        self.shown().map(|part| part.mean).filter(|part| *part > 0.0 && *part < TURNED)
    }
}

/// The two largest mechanisms, moved together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Together {
    /// Their names.
    pub names: [String; 2],
    /// The part of the difference that goes away.
    pub part: Share,
}

/// The difference between two sides, and what makes it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// What the sides are called.
    pub sides: [String; 2],
    /// The word before such a name: `under`, `with` or `in`.
    #[serde(skip)]
    pub how: &'static str,
    /// What they are judged by.
    pub metric: &'static str,
    /// The application, or `all`.
    pub app: String,
    /// The unit of the metric.
    pub unit: &'static str,
    /// Whether larger values are better.
    pub higher_is_better: bool,
    /// What each side reached.
    pub values: [Summary; 2],
    /// The second side minus the first one, pair by pair; the first minus the second where larger values are
    /// better. Positive: the second side is worse.
    pub difference: Summary,
    /// Whether the interval of the difference excludes zero. If not, nothing was moved.
    pub shown: bool,
    /// Replicates with which the difference would show with a probability of 80 %, if it is what it seems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicates_needed: Option<u32>,
    /// The mechanisms: those that take a part away, the largest first; those that make the difference larger
    /// or turn it round; those without a part that is shown.
    pub mechanisms: Vec<Row>,
    /// Mechanisms that change neither side in the first replicate.
    pub without_change: Vec<String>,
    /// The sum of the parts that moves take away for sure, one of each group of alternatives, without
    /// settings in which the sides differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<f64>,
    /// The two largest together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// Differences that cannot be moved alone, each half a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_moved: Vec<String>,
    /// Seed of the first replicate.
    pub seed: u64,
    /// Replicates.
    pub replicates: u32,
    /// Simulated runs.
    pub runs: usize,
}
