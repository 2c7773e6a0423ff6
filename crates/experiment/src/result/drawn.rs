//! What a result states about uncertain inputs: their draws, and the error that they add to each value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What uncertain inputs do to a value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InputError {
    /// Half of the interval that holds 95 % of the values that uncertain inputs produce, seeds apart:
    /// Student's t with (draws - 1) degrees of freedom times the standard deviation between draws. With
    /// one seed, chance is part of it.
    pub half_width: f64,
    /// The mean over the seeds in each draw: `null` where a run did not complete.
    pub draws: Vec<Option<f64>>,
}

/// The draws of a result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Uncertainty {
    /// How many there were.
    pub draws: u32,
    /// Runs of all draws together.
    pub runs: usize,
    /// What was drawn.
    pub inputs: Vec<DrawnInput>,
}

/// An uncertain input and its values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DrawnInput {
    /// The machine; empty for a value that the scenario itself states as uncertain.
    pub machine: String,
    /// The parameter of the machine, or the path of the value of the scenario.
    pub name: String,
    /// The smallest and the largest value of its range, as a scenario would write them.
    pub range: [String; 2],
    /// Where the value of each draw lies in the range, from 0 to 1: for a value of the scenario on a
    /// logarithmic scale if the ends of its range differ by more than a factor of 10.
    pub places: Vec<f64>,
}
