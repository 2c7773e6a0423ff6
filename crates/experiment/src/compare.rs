//! Policies against the first policy of the scenario, paired by replicate: every pair ran the same random work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metrics::ALL_APPS;
use crate::plan::Experiment;
use crate::samples::{Place, Samples};
use crate::statistics::{Summary, summarise};

/// What a comparison says, at a confidence of 95 %.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// The whole interval of the ratio lies above 1.
    #[serde(rename = "faster")]
    Faster,
    /// The whole interval lies below 1.
    #[serde(rename = "slower")]
    Slower,
    /// The interval holds 1.
    #[serde(rename = "no difference")]
    NoDifference,
    /// Fewer than two pairs: there is no interval.
    #[serde(rename = "undecided")]
    Undecided,
}

/// A policy against the baseline policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Point of the sweep.
    pub point: String,
    /// Application, or `all` for the makespan.
    pub app: String,
    /// `run_time`, or `makespan` of `all`.
    pub metric: String,
    /// The policy compared with: the first of the scenario.
    pub baseline: String,
    /// The policy compared.
    pub policy: String,
    /// Mean over the replicates of T(baseline) / T(policy): 2 means twice as fast.
    pub ratio: f64,
    /// 95 % confidence interval of the ratio; `None` with fewer than two pairs.
    pub ci95: Option<[f64; 2]>,
    /// What follows.
    pub verdict: Verdict,
}

/// All comparisons, by point, application (the whole machine last) and policy.
pub(crate) fn compare(experiment: &Experiment, samples: &Samples) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    let whole = (None, ALL_APPS, "makespan");
    for (point, label) in experiment.points.iter().enumerate() {
        let apps = experiment.apps.iter().enumerate().map(|(i, name)| (Some(i), name.as_str(), "run_time"));
        for (app, name, metric) in apps.chain([whole]) {
            let times = |policy| samples.values(Place { point, policy, app }, metric);
            let Some(baseline) = times(0) else { continue };
            for (policy, policy_name) in experiment.policies.iter().enumerate().skip(1) {
                let Some(ratio) = times(policy).and_then(|other| paired_ratio(baseline, other)) else {
                    continue;
                };
                comparisons.push(Comparison {
                    point: label.label.clone(),
                    app: name.into(),
                    metric: metric.into(),
                    baseline: experiment.policies[0].clone(),
                    policy: policy_name.clone(),
                    ratio: ratio.mean,
                    ci95: ratio.ci95,
                    verdict: verdict(&ratio),
                });
            }
        }
    }
    comparisons
}

/// baseline / other for every replicate both have.
fn paired_ratio(baseline: &BTreeMap<u32, f64>, other: &BTreeMap<u32, f64>) -> Option<Summary> {
    let pairs = baseline.iter().filter_map(|(replicate, base)| Some((base, other.get(replicate)?)));
    let ratios: Vec<f64> =
        pairs.filter(|(_, other)| **other > 0.0).map(|(base, other)| base / other).collect();
    summarise(&ratios)
}

fn verdict(ratio: &Summary) -> Verdict {
    match ratio.ci95 {
        None => Verdict::Undecided,
        Some([lo, _]) if lo > 1.0 => Verdict::Faster,
        Some([_, hi]) if hi < 1.0 => Verdict::Slower,
        Some(_) => Verdict::NoDifference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: &[f64]) -> BTreeMap<u32, f64> {
        (0..).zip(values.iter().copied()).collect()
    }

    fn verdict_of(baseline: &[f64], other: &[f64]) -> Verdict {
        verdict(&paired_ratio(&times(baseline), &times(other)).unwrap())
    }

    #[test]
    fn pairing_sees_what_the_noise_between_replicates_hides() {
        // Times vary threefold between replicates, yet the second policy always wins by about a tenth.
        let load = [1.0, 3.0, 2.0, 1.5];
        let pin = [0.91, 2.70, 1.80, 1.36];
        assert_eq!(verdict_of(&load, &pin), Verdict::Faster);
        assert_eq!(verdict_of(&pin, &load), Verdict::Slower);
    }

    #[test]
    fn noise_around_one_is_no_difference() {
        assert_eq!(verdict_of(&[1.0, 1.0, 1.0], &[1.1, 0.9, 1.0]), Verdict::NoDifference);
        assert_eq!(verdict_of(&[2.0, 3.0], &[2.0, 3.0]), Verdict::NoDifference);
        assert_eq!(verdict_of(&[2.0], &[1.0]), Verdict::Undecided);
    }

    #[test]
    fn only_replicates_both_have_count() {
        let mut other = times(&[1.0, 1.0, 1.0]);
        other.remove(&1);
        let ratio = paired_ratio(&times(&[2.0, 9.0, 2.0]), &other).unwrap();
        assert_eq!(ratio.n, 2);
        assert!((ratio.mean - 2.0).abs() < 1e-12);
    }
}
