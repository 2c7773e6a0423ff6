//! How much a sweep will take, from a sample of its runs that is simulated.

use std::time::{Duration, Instant};

use scenario::Grid;

use crate::plan::{Place, Plan};
use crate::row::COMPLETED;
use crate::simulated::Simulated;

/// Configurations of the sample, spread evenly over the plan.
const CONFIGURATIONS: u64 = 50;

/// An estimate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Runs of the sample.
    pub sampled: usize,
    /// Runs that did not complete.
    pub not_completed: usize,
    /// Mean processor time of a run.
    pub mean: Duration,
    /// The longest of the sample.
    pub longest: Duration,
    /// Mean size of a run in the merged file, bytes.
    pub bytes: f64,
}

impl Estimate {
    /// Simulates the first replicate of up to fifty configurations, spread evenly; no other one begins after
    /// `budget`.
    #[must_use]
    pub fn of(grid: &Grid, plan: &Plan, budget: Duration) -> Self {
        let began = Instant::now();
        let mut estimate =
            Self { sampled: 0, not_completed: 0, mean: Duration::ZERO, longest: Duration::ZERO, bytes: 0.0 };
        let (mut all, mut written) = (Duration::ZERO, 0);
        let count = CONFIGURATIONS.min(plan.configurations);
        let wanted = order(count).into_iter().map(|at| at * plan.configurations / count.max(1)).peekable();
        let numbers = positions(grid, plan, count);
        for position in wanted {
            if estimate.sampled > 0 && began.elapsed() > budget {
                break;
            }
            let Some(number) = numbers.iter().find(|(known, _)| *known == position).map(|(_, n)| *n) else {
                continue;
            };
            let begin = Instant::now();
            let Ok(configured) = grid.resolve(number) else { continue };
            let runs = configured.runs(0);
            let resolved = begin.elapsed() / runs.len().max(1) as u32;
            for (slot, run) in runs.iter().enumerate() {
                let begin = Instant::now();
                let place = Place { configuration: position, replicate: 0, slot };
                let row =
                    Simulated::of(&plan.provenance.apps, run).row(plan, &configured.configuration, place);
                written += row.line().len();
                let took = begin.elapsed() + resolved / plan.provenance.repeat.max(1);
                all += took;
                estimate.longest = estimate.longest.max(took);
                estimate.sampled += 1;
                estimate.not_completed += usize::from(row.outcome != COMPLETED);
            }
        }
        let sampled = estimate.sampled.max(1);
        Self { mean: all / sampled as u32, bytes: written as f64 / sampled as f64, ..estimate }
    }

    /// Processor time of all runs.
    #[must_use]
    pub fn total(&self, runs: u64) -> Duration {
        Duration::from_secs_f64(self.mean.as_secs_f64() * runs as f64)
    }
}

/// Numbers below `count`, so that each prefix is spread over them: the bits of a counter in reverse order.
fn order(count: u64) -> Vec<u64> {
    let bits = 64 - count.saturating_sub(1).leading_zeros();
    let reversed = |at: u64| if bits == 0 { 0 } else { at.reverse_bits() >> (64 - bits) };
    (0..1_u64 << bits).map(reversed).filter(|at| *at < count).collect()
}

/// The combinations of the sampled configurations, by position.
fn positions(grid: &Grid, plan: &Plan, count: u64) -> Vec<(u64, u64)> {
    let mut wanted = (0..count).map(|at| at * plan.configurations / count.max(1)).peekable();
    let mut found = Vec::new();
    let admitted = (0..grid.combinations()).filter(|number| grid.has(*number));
    for (position, number) in (0_u64..).zip(admitted) {
        if wanted.next_if_eq(&position).is_some() {
            found.push((position, number));
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    found
}
