//! What the policies of an experiment have counted themselves: variables of a scheduler and events of its
//! kernel.

use std::collections::BTreeMap;

use scenario::plan::Experiment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::outcome::RunReport;

use super::{Results, policy_name};
use crate::number;

/// Counters of a sentence that shows not all of them.
const FEW: usize = 6;

/// What the policy of a run has counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// Label of the configuration; empty without a sweep.
    pub configuration: String,
    /// Label of the policy.
    pub policy: String,
    /// Replicate, from 0.
    pub replicate: u32,
    /// Its seed.
    pub seed: u64,
    /// The counters by name, at the end of the run; also of a run that did not complete.
    pub counters: BTreeMap<String, u64>,
}

/// The counters of all runs that have some, in the order of the runs.
pub(super) fn all(experiment: &Experiment, reports: &[RunReport]) -> Vec<Counted> {
    let runs = experiment.runs.iter().zip(reports);
    let runs = runs.filter(|(plan, run)| plan.alone.is_none() && !run.policy_counters.is_empty());
    runs.map(|(plan, run)| Counted {
        configuration: experiment.configurations.get(plan.configuration).map_or("", |p| &p.label).into(),
        policy: policy_name(experiment, plan.policy).into(),
        replicate: plan.replicate,
        seed: plan.options.seed,
        counters: run.policy_counters.iter().cloned().collect(),
    })
    .collect()
}

/// The mean of each counter of a policy over its runs with a configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Counters {
    /// Label of the configuration.
    pub configuration: String,
    /// Label of the policy.
    pub policy: String,
    /// Runs.
    pub runs: usize,
    /// Name and mean, by name.
    pub means: Vec<(String, f64)>,
}

impl Results {
    /// The means of all counters, by configuration and policy in the order of the runs.
    #[must_use]
    pub fn counter_means(&self) -> Vec<Counters> {
        let mut found: Vec<(&str, &str, Vec<&Counted>)> = Vec::new();
        for one in &self.counters {
            let (configuration, policy) = (one.configuration.as_str(), one.policy.as_str());
            match found.iter_mut().find(|(c, p, _)| (*c, *p) == (configuration, policy)) {
                Some((.., runs)) => runs.push(one),
                None => found.push((configuration, policy, vec![one])),
            }
        }
        let means = |runs: &[&Counted]| -> Vec<(String, f64)> {
            let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
            for (name, count) in runs.iter().flat_map(|run| &run.counters) {
                let (sum, runs) = sums.entry(name).or_default();
                *sum += *count as f64;
                *runs += 1;
            }
            sums.into_iter().map(|(name, (sum, runs))| (name.to_owned(), sum / runs.max(1) as f64)).collect()
        };
        let each = found.into_iter().map(|(configuration, policy, runs)| Counters {
            configuration: configuration.to_owned(),
            policy: policy.to_owned(),
            runs: runs.len(),
            means: means(&runs),
        });
        each.collect()
    }
}

/// A line for each policy and configuration: all of its counters.
pub(crate) fn lines(results: &Results) -> Vec<String> {
    let line = |one: &Counters| {
        let with = if one.configuration.is_empty() { "" } else { " with " };
        let over = if one.runs > 1 { format!(" (mean of {} runs)", one.runs) } else { String::new() };
        let (policy, configuration) = (&one.policy, &one.configuration);
        format!("Counters of {policy}{with}{configuration}{over}: {}.", shown(&one.means).join(", "))
    };
    results.counter_means().iter().map(line).collect()
}

/// The largest counters of each policy at the first configuration; none without counters.
pub(crate) fn brief(results: &Results) -> Option<String> {
    let all = results.counter_means();
    let first = all.first()?;
    let here = all.iter().filter(|one| one.configuration == first.configuration);
    let mut left_out = all.iter().any(|one| one.configuration != first.configuration);
    let mut parts = Vec::new();
    for one in here {
        let mut means: Vec<(String, f64)> =
            one.means.iter().filter(|(_, mean)| *mean > 0.0).cloned().collect();
        means.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        left_out |= means.len() > FEW || means.len() < one.means.len();
        means.truncate(FEW);
        let list = if means.is_empty() { "all are 0".to_owned() } else { shown(&means).join(", ") };
        parts.push(format!("{}: {list}", one.policy));
    }
    let more = if left_out { ". All: --table full." } else { "." };
    Some(format!("{}{more}", parts.join("; ")))
}

fn shown(means: &[(String, f64)]) -> Vec<String> {
    means.iter().map(|(name, mean)| format!("{name} {}", number::count(*mean))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::fixture;

    fn counted(configuration: &str, policy: &str, replicate: u32, counts: &[(&str, u64)]) -> Counted {
        Counted {
            configuration: configuration.into(),
            policy: policy.into(),
            replicate,
            seed: u64::from(replicate) + 1,
            counters: counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        }
    }

    #[test]
    fn counters_are_means_over_the_runs_of_a_policy() {
        let mut results = fixture::two_apps();
        assert_eq!((lines(&results), brief(&results)), (Vec::new(), None));
        results.counters = vec![
            counted("", "vtime", 0, &[("hits", 4), ("none", 0)]),
            counted("", "short", 0, &[("hits", 1)]),
            counted("", "vtime", 1, &[("hits", 8), ("none", 0)]),
        ];
        let wanted =
            ["Counters of vtime (mean of 2 runs): hits 6.0, none 0.", "Counters of short: hits 1.0."];
        assert_eq!(lines(&results), wanted);
        assert_eq!(brief(&results).unwrap(), "vtime: hits 6.0; short: hits 1.0. All: --table full.");
        results.counters.pop();
        results.counters.remove(0);
        assert_eq!(brief(&results).unwrap(), "short: hits 1.0.");
        results.counters.push(counted("x=2", "short", 0, &[("hits", 3)]));
        assert_eq!(lines(&results)[1], "Counters of short with x=2: hits 3.0.");
        assert_eq!(brief(&results).unwrap(), "short: hits 1.0. All: --table full.");
    }
}
