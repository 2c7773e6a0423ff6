//! Scenarios of the repository, run with some settings changed, and what they measured.

use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};

/// The results of `scenarios/NAME.yaml` with these settings (`path=value`); under these policies, or all if
/// none is named; with so many replicates, or those of the file.
pub(crate) fn results(name: &str, policies: &[&str], set: &[&str], repeat: Option<u32>) -> Results {
    let path = format!("{}/../../scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    results_of(name, &text, policies, set, repeat)
}

/// The same of a scenario written out.
pub(crate) fn results_of(
    name: &str,
    text: &str,
    policies: &[&str],
    set: &[&str],
    repeat: Option<u32>,
) -> Results {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let overrides = Overrides { set: words(set), policies: words(policies), repeat, ..Overrides::default() };
    let experiment = load(name, text, &overrides).unwrap_or_else(|said| panic!("{said}"));
    run(&experiment, 2, &|_, _| {}).unwrap_or_else(|said| panic!("{said}"))
}

/// The mean of a metric.
pub(crate) fn mean(results: &Results, configuration: &str, policy: &str, app: &str, metric: &str) -> f64 {
    let summary = results.get(configuration, policy, app, metric);
    summary.unwrap_or_else(|| panic!("no {metric} of {app} under {policy} at `{configuration}`")).mean
}
