//! Claims: what publications say came out, as data, in one vocabulary.

mod form;
mod read;

pub use form::{Form, Tolerance, ToleranceKind, Value};
pub use read::read;

/// The predictions this program ships with.
pub const SHIPPED: &str = include_str!("../../data/claims.yaml");
/// Their name in messages.
pub const SHIPPED_NAME: &str = "crates/validation/data/claims.yaml";

/// One published outcome and the conditions it was measured under. The texts are in the vocabulary of the
/// file; the `fields` module reads them.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// Unique name. Nothing is ever decided by it.
    pub id: String,
    /// Which experiment it belongs to, such as `yield` or `swomps-t4-pairs`.
    pub group: String,
    /// Document and place in it.
    pub source: String,
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
}
