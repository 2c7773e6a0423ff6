//! Scenarios for the tests of this crate.

use scenario::plan::{Experiment, RunPlan};
use scenario::{Overrides, load};

/// A scenario of a test.
pub(crate) fn experiment(text: &str) -> Experiment {
    load("test.yaml", text, &Overrides::default()).unwrap()
}

/// Its runs under policies.
pub(crate) fn runs(experiment: &Experiment) -> Vec<RunPlan> {
    experiment.runs.iter().filter(|run| run.alone.is_none()).cloned().collect()
}
