//! Which run a recorded schedule belongs to, and how much of it was replayed: plain data of results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which run of an experiment a schedule belongs to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunId {
    /// Label of the configuration of the sweep; empty without one.
    pub configuration: String,
    /// Label of the policy, or [`crate::result::DEDICATED`].
    pub policy: String,
    /// The application of a dedicated run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// Replicate, from 0.
    pub replicate: u32,
}

/// How much of a schedule was replayed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// Which run.
    #[serde(flatten)]
    pub id: RunId,
    /// Its seed.
    pub seed: u64,
    /// True when everything happened as in the recorded run: equal digests.
    pub same: bool,
    /// Decisions that happened as recorded.
    pub applied: u64,
    /// Decisions that would not have been legal, and did not happen.
    pub illegal: u64,
    /// Decisions whose occasion did not occur.
    pub unreached: u64,
    /// Placements of tasks that are not in the schedule; these tasks stayed where they were.
    pub unforeseen: u64,
}
