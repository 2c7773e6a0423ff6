//! What is asked of a duel, and what it finds.

use experiment::statistics::Summary;
use serde::Serialize;

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The policy that is to lose, and the one it loses to, as `--policy` takes them.
    pub policies: [String; 2],
    /// The kernel, as a scenario names it.
    pub kernel: String,
    /// What they are judged by.
    pub objective: String,
    /// Most runs of the search and the reduction.
    pub runs: usize,
    /// Seed of the search.
    pub seed: u64,
}

/// What was found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Duel {
    /// The policy that loses, and the one that wins.
    pub policies: [String; 2],
    /// The metric by which they are judged.
    pub metric: &'static str,
    /// The application, or `all`.
    pub app: String,
    /// How many times as long the first policy takes, on seeds that the search did not see: geometric mean
    /// with its 95 % interval.
    pub ratio: f64,
    /// The interval.
    pub ci95: [f64; 2],
    /// What each policy reached on these seeds.
    pub values: [Summary; 2],
    /// The ratio on the seeds of the search, which is biased: the search chose by it.
    pub searched: f64,
    /// The first of the seeds that the search did not see, which is that of the scenario, and their number.
    pub seed: u64,
    /// The number of these seeds.
    pub seeds: u32,
    /// Runs of the search and the reduction.
    pub runs: usize,
    /// Scenarios that were tried, and those that one of the policies or the simulator refuses.
    pub tried: usize,
    /// Refused ones.
    pub refused: usize,
    /// Scenarios that are left out because the first policy did not end, although the second one did.
    pub without_end: usize,
    /// The reduction came to its end before the runs did: no simpler scenario of its steps keeps the loss.
    pub reduced: bool,
    /// The scenario.
    pub scenario: String,
}
