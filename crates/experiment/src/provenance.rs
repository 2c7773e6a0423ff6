//! Where a result comes from: everything needed to produce the same bytes again, and nothing that differs
//! between hosts.

use std::collections::BTreeSet;

use hmac_sha256::Hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::outcome::{Outcome, RunReport};

use crate::setups::{self, Setup, Unused};
use crate::statistics::rounded;
use scenario::configuration::{Axis, Configuration};
use scenario::objective::Objective;
use scenario::plan::{Experiment, Input};
pub use scenario::plan::{MachineOrigin, Shortened};
pub use sim_core::rng::GENERATOR;

/// Version of the model: a change that moves any simulated number moves this name.
pub const MODEL: &str = "oversim-model/15";

/// The header of every result. It names no host, clock or number of jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The program: `oversim`.
    pub tool: String,
    /// Its version.
    pub version: String,
    /// Version of the model ([`MODEL`]).
    pub model: String,
    /// Generator of random numbers ([`GENERATOR`]).
    pub generator: String,
    /// Name of the scenario.
    pub scenario: String,
    /// The scenario's own description, its key `about`.
    pub about: String,
    /// SHA-256 of the scenario's text and, after it, of the machine files it names, hex.
    pub scenario_sha256: String,
    /// Overrides from the command line, `path=value`, in the order applied.
    pub overrides: Vec<String>,
    /// The machines simulated.
    pub machines: Vec<MachineOrigin>,
    /// Values that the scenario itself states as uncertain, with their paths as names; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncertain: Vec<Input>,
    /// Names of the kernels simulated.
    pub kernels: Vec<String>,
    /// The swept paths with their values; empty without a sweep.
    pub sweep: Vec<Axis>,
    /// The combinations of their values in order; without a sweep a single one with an empty label.
    pub configurations: Vec<Configuration>,
    /// Labels of the policies in order; the first is the baseline of the comparisons.
    pub policies: Vec<String>,
    /// For each of them the policy with the one under it: `LOAD`, `SPEED over DWRR`. Forms that differ
    /// between the configurations are joined by `; `.
    #[serde(default)]
    pub stacks: Vec<String>,
    /// Names of the applications in order.
    pub apps: Vec<String>,
    /// Names of the background applications among them.
    pub background: Vec<String>,
    /// Foreground programs of a run, copies included: the largest number over all runs; absent in results of
    /// older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<usize>,
    /// Applications that answer requests: their response times are those of requests. Absent in results of
    /// older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<String>>,
    /// What policies are judged by, as the scenario states it or as its kind has it; absent in results of
    /// older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// How the applications are set up; empty in results of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<Setup>,
    /// Where policies left cpus without work while tasks shared others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<Unused>,
    /// Applications of which only a part of the iterations is simulated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<Shortened>,
    /// How much of the runs was extrapolated; absent in exact results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// Only a window of each run counts, as the key `window` asks; absent without one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub window: bool,
    /// Seed of the first replicate.
    pub seed: u64,
    /// Replicates of each configuration and policy.
    pub repeat: u32,
    /// Number of runs, dedicated ones included.
    pub runs: usize,
    /// How the runs ended.
    pub outcomes: Outcomes,
    /// SHA-256 over the digests of all runs in order, hex: equal digests, equal runs.
    pub digest: String,
    /// SHA-256 of the schedule file that was replayed in place of the policies, hex; absent when the policies
    /// decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<String>,
}

/// What `fidelity: sampled` did.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sampled {
    /// Runs of which a part was extrapolated.
    pub runs: usize,
    /// The extrapolated share of the time of all runs that ask for it, 0 to 1.
    pub extrapolated: f64,
    /// Half of the 95 % interval that extrapolation adds to the length of a run, relative to it: the largest
    /// of all runs.
    pub error: f64,
}

impl Sampled {
    fn of(experiment: &Experiment, reports: &[RunReport]) -> Option<Self> {
        let asked = experiment.runs.iter().zip(reports).filter(|(plan, _)| plan.options.sampled);
        let asked: Vec<&RunReport> = asked.map(|(_, report)| report).collect();
        let sum = |part: fn(&RunReport) -> u64| asked.iter().map(|report| part(report) as f64).sum::<f64>();
        let all = sum(|report| report.makespan.ns());
        (!asked.is_empty()).then(|| Self {
            runs: asked.iter().filter(|report| report.extrapolated.ns() > 0).count(),
            extrapolated: rounded(sum(|report| report.extrapolated.ns()) / all.max(1.0)),
            error: rounded(asked.iter().map(|report| report.relative_error()).fold(0.0, f64::max)),
        })
    }
}

/// How many runs ended in each way.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Outcomes {
    /// Every foreground application ended.
    pub completed: usize,
    /// Cut off at the horizon.
    pub horizon: usize,
    /// Ended in a deadlock.
    pub deadlock: usize,
    /// Ended because simulated time stopped advancing.
    pub livelock: usize,
    /// Runs that the policy has ended.
    #[serde(default, skip_serializing_if = "none")]
    pub failed: usize,
}

impl Provenance {
    /// The header of the results of `reports`, which are the runs of `experiment` in order.
    #[must_use]
    pub fn of(experiment: &Experiment, reports: &[RunReport]) -> Self {
        let background = experiment.apps.iter().zip(&experiment.background);
        Self {
            tool: "oversim".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            model: MODEL.into(),
            generator: GENERATOR.into(),
            scenario: experiment.name.clone(),
            about: experiment.about.trim().into(),
            scenario_sha256: sha256(experiment.scenario_text.as_bytes()),
            overrides: experiment.overrides.clone(),
            machines: experiment.machines.clone(),
            uncertain: experiment.uncertain.iter().map(Input::stated).collect(),
            kernels: distinct(experiment.runs.iter().map(|r| r.kernel.name.as_str())),
            sweep: experiment.axes.clone(),
            configurations: experiment.configurations.clone(),
            policies: experiment.policies.clone(),
            stacks: stacks(experiment),
            apps: experiment.apps.clone(),
            background: background.filter(|(_, b)| **b).map(|(name, _)| name.clone()).collect(),
            programs: programs(experiment),
            requests: Some(requests(experiment)),
            objective: Some(experiment.objective),
            setups: setups::of(experiment),
            unused: setups::unused(experiment, reports),
            shortened: experiment.shortened.clone(),
            sampled: Sampled::of(experiment, reports),
            window: experiment.runs.iter().any(|run| run.window.is_some()),
            seed: experiment.seed,
            repeat: experiment.repeat,
            runs: reports.len(),
            outcomes: Outcomes::count(reports),
            digest: digest(reports),
            replayed: None,
        }
    }
}

/// The most foreground programs of a run, copies included.
fn programs(experiment: &Experiment) -> Option<usize> {
    let shared = experiment.runs.iter().filter(|run| run.alone.is_none());
    shared.map(|run| run.apps.iter().filter(|app| !app.background).count()).max()
}

/// The applications that answer requests.
fn requests(experiment: &Experiment) -> Vec<String> {
    let entries = experiment.runs.iter().flat_map(|run| run.apps.iter().zip(&run.entries));
    let answering: BTreeSet<usize> = entries.filter(|(app, _)| app.requests).map(|(_, at)| *at).collect();
    answering.into_iter().filter_map(|at| experiment.apps.get(at).cloned()).collect()
}

/// For each policy the different forms in which it ran.
fn stacks(experiment: &Experiment) -> Vec<String> {
    let mut forms = vec![Vec::new(); experiment.policies.len()];
    for run in &experiment.runs {
        if let Some(forms) = forms.get_mut(run.policy) {
            forms.push(run.policy_choice.stack(&run.kernel));
        }
    }
    forms.iter().map(|forms| distinct(forms.iter().map(String::as_str)).join("; ")).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn none(count: &usize) -> bool {
    *count == 0
}

impl Outcomes {
    fn count(reports: &[RunReport]) -> Self {
        let mut counts = Self::default();
        reports.iter().for_each(|report| counts.add(word(&report.outcome)));
        counts
    }

    /// Counts a run that ended in a way with this word in results. Other words are not counted.
    pub fn add(&mut self, outcome: &str) {
        match outcome {
            "completed" => self.completed += 1,
            "horizon" => self.horizon += 1,
            "deadlock" => self.deadlock += 1,
            "livelock" => self.livelock += 1,
            "failed" => self.failed += 1,
            _ => {}
        }
    }
}

/// The word for an outcome in results.
pub(crate) const fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Horizon => "horizon",
        Outcome::Deadlock(_) => "deadlock",
        Outcome::Livelock(_) => "livelock",
        Outcome::Failed(_) => "failed",
    }
}

fn digest(reports: &[RunReport]) -> String {
    let mut hash = Hash::new();
    for report in reports {
        hash.update(report.digest.to_le_bytes());
    }
    hex(&hash.finalize())
}

/// The SHA-256 of these bytes in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Hash::hash(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The different names in order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_depends_on_every_run_and_their_order() {
        let run = crate::metrics::tests::run_of;
        let a = digest(&[run(1_000), run(2_000)]);
        assert_eq!(a.len(), 64);
        assert_ne!(a, digest(&[run(2_000), run(1_000)]));
        assert_ne!(a, digest(&[run(1_000)]));
        assert_eq!(a, digest(&[run(1_000), run(2_000)]));
    }

    #[test]
    fn hash_is_sha256() {
        assert_eq!(
            hex(&Hash::hash(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn names_appear_once() {
        assert_eq!(distinct(["a", "b", "a"].into_iter()), ["a", "b"]);
    }

    #[test]
    fn every_outcome_counts_once_under_its_own_word() {
        let why = || "x".to_owned();
        let all = [
            Outcome::Completed,
            Outcome::Horizon,
            Outcome::Deadlock(why()),
            Outcome::Livelock(why()),
            Outcome::Failed(why()),
        ];
        let mut counts = Outcomes::default();
        all.iter().for_each(|outcome| counts.add(word(outcome)));
        counts.add("invalid");
        let once = Outcomes { completed: 1, horizon: 1, deadlock: 1, livelock: 1, failed: 1 };
        assert_eq!(counts, once);
    }
}
