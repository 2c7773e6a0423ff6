//! What a result with one seed states about another one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The two closest cases of a result with one seed, under another seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OtherSeed {
    /// The other seed.
    pub seed: u64,
    /// Name of the application, or `all`.
    pub app: String,
    /// Name of the metric.
    pub metric: String,
    /// Both cases.
    pub cases: [OtherCase; 2],
}

/// A case under another seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OtherCase {
    /// Label of the configuration.
    pub configuration: String,
    /// Label of the policy.
    pub policy: String,
    /// What it reached; `null` where the run did not complete.
    pub value: Option<f64>,
}
