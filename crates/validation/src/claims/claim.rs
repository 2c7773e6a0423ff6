//! A published outcome: its texts, its value, and the cells that it names.

use super::asked::Asked;
use super::form::{Allowed, Form, Tolerance, Value};

/// The texts of a claim as its file has them: what reports show.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Texts {
    /// Machines, separated by commas (or `vs`); `none` when the source names none.
    pub machine: String,
    /// Programs, pairs, mixes of jobs.
    pub workload: String,
    /// Problem classes.
    pub class: String,
    /// Programming models.
    pub model: String,
    /// How many threads, per core, per job or in all.
    pub threads: String,
    /// The policy measured.
    pub policy: String,
    /// What it is compared with.
    pub baseline: String,
    /// Yield semantics of the kernel: `posix`, `cfs`, both, or not stated.
    pub yields: String,
    /// How threads wait.
    pub wait: String,
    /// Alone, shared, beside what.
    pub environment: String,
    /// What was measured, by the names of the file's `metrics`.
    pub metric: String,
    /// Unit of the value.
    pub unit: String,
}

/// Metrics of which 1 says that nothing changes, not 0.
const RATIOS: [&str; 5] =
    ["rel-perf-1pc", "rel-time", "pair-sum-ratio", "pair-throughput", "queue-throughput"];
/// A metric of which 100 says so.
const PER_CENT: &str = "rel-cpu-time";
/// The spread of run times: "up to 10 %" of it is a promise.
const SPREAD: &str = "variation";
/// The machines of the literature that are meant where none is named.
const UNNAMED: [&str; 3] = ["tigerton", "barcelona", "nehalem"];

/// A published outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// Unique name. Nothing is ever decided by it.
    pub id: String,
    /// Which experiment it belongs to, such as `yield` or `swomps-t4-pairs`.
    pub group: String,
    /// Document and place in it.
    pub source: String,
    /// The conditions as the file has them.
    pub texts: Texts,
    /// What it asks of the cells that it names; `None` for a claim that names none.
    pub asked: Option<Asked>,
    /// What kind of statement it is.
    pub form: Form,
    /// The published value.
    pub value: Value,
    /// How far off still counts as reproduced.
    pub tolerance: Tolerance,
    /// Why it is uncertain (a damaged source, sources in conflict, conditions not stated); `None` when it is
    /// not.
    pub uncertain: Option<String>,
}

impl Claim {
    /// The published value on one line.
    #[must_use]
    pub fn published(&self) -> String {
        self.value.shown()
    }

    /// What is near enough to a number of it.
    #[must_use]
    pub fn around(&self, published: f64) -> Allowed {
        self.tolerance.around(published, self.neutral())
    }

    /// The value of its metric that says that nothing changes.
    #[must_use]
    pub fn neutral(&self) -> f64 {
        match self.texts.metric.as_str() {
            PER_CENT => 100.0,
            metric if RATIOS.contains(&metric) => 1.0,
            _ => 0.0,
        }
    }

    /// Whether it is about the spread of run times.
    #[must_use]
    pub fn is_of_spread(&self) -> bool {
        self.texts.metric == SPREAD
    }

    /// The machines that it names, in small letters.
    #[must_use]
    pub fn machines(&self) -> Vec<String> {
        let text = self.texts.machine.replace(" vs ", ",");
        let words = text.split([',', '+']).map(str::trim).filter(|word| !word.is_empty() && *word != "none");
        let named: Vec<String> = words.map(str::to_lowercase).collect();
        if named.is_empty() { UNNAMED.map(str::to_owned).into() } else { named }
    }

    /// Whether another claim is the same statement at the same conditions, so that it asks the same of the
    /// same cells. The published number and its source may differ; of a statement in words all must be the
    /// same.
    #[must_use]
    pub fn asks_as(&self, other: &Self) -> bool {
        let words = |claim: &Self| match &claim.value {
            Value::Text(text) => Some((text.clone(), claim.tolerance)),
            _ => None,
        };
        let (texts, form) = (self.texts == other.texts, self.form == other.form);
        self.group == other.group && texts && form && words(self) == words(other)
    }
}
