//! Policies against the first policy of the scenario, paired by replicate: every pair ran the same random
//! work.

pub mod contrast;
mod paired;
pub mod report;

use std::collections::BTreeMap;

use scenario::plan::Experiment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::ALL_APPS;
use crate::samples::{Place, Samples};
pub use paired::Ratio;
pub(crate) use paired::{compared, paired};

/// The result of a comparison, at a confidence of 95 %.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Verdict {
    /// The whole interval of the ratio is above 1.
    #[serde(rename = "faster")]
    Faster,
    /// The whole interval is below 1.
    #[serde(rename = "slower")]
    Slower,
    /// The interval contains 1, and all of it lies within a tenth of 1.
    #[serde(rename = "no difference")]
    NoDifference,
    /// The interval contains 1 and reaches farther, or there is none, with fewer than two pairs.
    #[serde(rename = "undecided")]
    Undecided,
    /// Of metrics that are not times: the whole interval of the difference lies above 0.
    #[serde(rename = "higher")]
    Higher,
    /// Of metrics that are not times: the whole interval of the difference lies below 0.
    #[serde(rename = "lower")]
    Lower,
}

impl Verdict {
    /// Whether there is a significant difference.
    #[must_use]
    pub const fn is_difference(self) -> bool {
        !matches!(self, Self::NoDifference | Self::Undecided)
    }

    /// The verdict as results write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference",
            Self::Undecided => "undecided",
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }
}

/// A policy against the baseline policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Label of the configuration.
    pub configuration: String,
    /// Application, or `all` for the makespan.
    pub app: String,
    /// `run_time`, or `makespan` of `all`.
    pub metric: String,
    /// The policy compared with: the first of the scenario.
    pub baseline: String,
    /// The policy compared.
    pub policy: String,
    /// Geometric mean over the replicates of T(baseline) / T(policy): 2 means twice as fast.
    pub ratio: f64,
    /// 95 % confidence interval of the ratio (Student's t on its logarithm); `None` with fewer than two
    /// pairs.
    pub ci95: Option<[f64; 2]>,
    /// Two-sided p-value of "both are equally fast" (paired t-test on the logarithms); `None` with fewer than
    /// two pairs.
    pub p: Option<f64>,
    /// Number of replicates that both have.
    pub pairs: usize,
    /// The verdict.
    pub verdict: Verdict,
}

/// All comparisons, by configuration, application (the whole machine last) and policy.
/// `windowed`: only a window of each run counts.
pub(crate) fn compare(experiment: &Experiment, samples: &Samples, windowed: bool) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    let (time, all) = if windowed { ("time_per_work", "time_per_work") } else { ("run_time", "makespan") };
    let whole = (None, ALL_APPS, all);
    for (configuration, label) in experiment.configurations.iter().enumerate() {
        let apps = experiment.apps.iter().enumerate().map(|(i, name)| (Some(i), name.as_str(), time));
        for (app, name, metric) in apps.chain([whole]) {
            let times = |policy| samples.values(Place { configuration, policy, app }, metric);
            let Some(baseline) = times(0) else { continue };
            for (policy, policy_name) in experiment.policies.iter().enumerate().skip(1) {
                let pairs = times(policy).map(|other| pairs(baseline, other));
                let errors = [0, policy].map(|policy| samples.error(configuration, policy));
                let Some(paired) = pairs.and_then(|pairs| paired(metric, &pairs, errors)) else { continue };
                let Some(ratio) = paired.ratio else { continue };
                comparisons.push(Comparison {
                    configuration: label.label.clone(),
                    app: name.into(),
                    metric: metric.into(),
                    baseline: experiment.policies[0].clone(),
                    policy: policy_name.clone(),
                    ratio: ratio.mean,
                    ci95: ratio.ci95,
                    p: paired.p,
                    pairs: paired.difference.n,
                    verdict: ratio.verdict(),
                });
            }
        }
    }
    comparisons
}

/// The values of every replicate both have.
fn pairs(a: &BTreeMap<u32, f64>, b: &BTreeMap<u32, f64>) -> Vec<(f64, f64)> {
    a.iter().filter_map(|(replicate, a)| Some((*a, *b.get(replicate)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_replicates_both_have_count() {
        let times = |values: &[f64]| -> BTreeMap<u32, f64> { (0..).zip(values.iter().copied()).collect() };
        let mut other = times(&[1.0, 1.5, 1.0]);
        other.remove(&1);
        assert_eq!(pairs(&times(&[2.0, 9.0, 2.0]), &other), [(2.0, 1.0), (2.0, 1.0)]);
    }
}
