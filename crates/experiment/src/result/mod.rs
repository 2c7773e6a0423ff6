//! The result of an experiment: cells, comparisons, notes and where they come from. Its JSON form is
//! documented in `docs/results.md`.

mod check;
pub(crate) mod counted;
mod drawn;
mod jobs;
mod other_seed;
mod read;

use std::collections::BTreeSet;
use std::sync::Arc;

use scenario::configuration::Settings;
use scenario::plan::{Experiment, NO_POLICY, RunPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::outcome::{Outcome, RunReport};

use crate::compare::{Comparison, compare};
use crate::metrics::ALL_APPS;
use crate::provenance::{Provenance, word};
use crate::references::{BEST_PARTITION, BestPartition, Found, REFERENCES};
use crate::samples::{Place, Samples};
use crate::schedule::replayed::Replay;
use crate::statistics::Summary;

pub use check::{places as check_places, texts as check_texts};
pub use counted::{Counted, Counters};
pub use drawn::{DrawnInput, InputError, Uncertainty};
pub use jobs::Job;
pub use other_seed::{OtherCase, OtherSeed};
pub use read::{is_result, read};
pub use scenario::labels::DEDICATED;

/// Name and version of the JSON form.
pub const SCHEMA: &str = "oversim.result/3";

/// The result of an experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: String,
    /// Where it comes from.
    pub provenance: Provenance,
    /// One entry per configuration, policy, application and metric, in this order.
    pub cells: Vec<Cell>,
    /// Every policy against the first one.
    pub comparisons: Vec<Comparison>,
    /// The best static partition of each configuration, where one was searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub best_partitions: Vec<BestPartition>,
    /// Runs that did not complete, in run order.
    pub notes: Vec<Note>,
    /// How much of a schedule was replayed in each run, in run order; absent without a replayed schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<Replay>,
    /// What the policies have counted themselves, one entry for each run of a policy with counters, in run
    /// order; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counted>,
    /// The draws of uncertain inputs; absent without `--uncertainty`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<Uncertainty>,
    /// What another seed does to the two closest cases, where one seed was asked for and these differ by
    /// little; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_seed: Option<OtherSeed>,
    /// Every program of every run, for the form `jobs`; not part of the JSON form, so a result that was read
    /// has none.
    #[serde(skip)]
    pub jobs: Vec<Job>,
}

/// One measured quantity.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Name of the scenario.
    pub scenario: String,
    /// Label of the configuration; empty without a sweep.
    pub configuration: String,
    /// The values of the configuration.
    pub settings: Arc<Settings>,
    /// Label of the policy or of a reference ([`REFERENCES`]), or [`DEDICATED`].
    pub policy: String,
    /// Name of the application, or `all`.
    pub app: String,
    /// Name of the metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Statistics over the replicates.
    #[serde(flatten)]
    pub summary: Summary,
    /// The value of each replicate, in order of seed: `null` where a run did not complete or the metric
    /// cannot be measured. Empty for a metric that all replicates together have once (`variation`,
    /// `recovered`).
    pub values: Vec<Option<f64>>,
    /// What uncertain inputs do to the mean; absent where they were not drawn (`--uncertainty`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_error: Option<InputError>,
}

impl Cell {
    /// The 95 % interval of the mean, with what uncertain inputs add; the mean itself where neither is known.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        let Some(error) = &self.input_error else {
            return self.summary.ci95.unwrap_or([self.summary.mean; 2]);
        };
        let half = libm::hypot(self.summary.half_width().unwrap_or(0.0), error.half_width);
        [self.summary.mean - half, self.summary.mean + half]
    }

    /// Mean and half-widths of the intervals of seeds and of uncertain inputs, over `scale`: `10.10 ±0.25
    /// ±1.20`.
    #[must_use]
    pub fn shown(&self, scale: f64) -> String {
        let seeds = self.summary.shown(scale);
        let decimals = crate::number::decimals(self.summary.mean / scale);
        match &self.input_error {
            Some(error) => format!("{seeds} ±{:.decimals$}", error.half_width / scale),
            None => seeds,
        }
    }
}

/// A run that did not complete; it counts in no cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Label of the configuration.
    pub configuration: String,
    /// Label of the policy, or [`DEDICATED`].
    pub policy: String,
    /// Replicate, from 0.
    pub replicate: u32,
    /// Its seed.
    pub seed: u64,
    /// `horizon`, `deadlock`, `livelock` or `failed`.
    pub outcome: String,
    /// A sentence about what happened.
    pub text: String,
}

impl Results {
    /// The results of `reports`, which are the runs of `experiment` in order, and of the partitions searched.
    #[must_use]
    pub(crate) fn of(experiment: &Experiment, reports: &[RunReport], partitions: &[Found]) -> Self {
        let samples = Samples::of(experiment, reports, partitions);
        let runs = experiment.runs.iter().zip(reports);
        let windowed = experiment.runs.iter().any(|run| run.window.is_some());
        Self {
            schema: SCHEMA.into(),
            provenance: Provenance::of(experiment, reports),
            cells: cells(experiment, &samples),
            comparisons: compare(experiment, &samples, windowed),
            best_partitions: partitions.iter().map(|found| found.best.clone()).collect(),
            notes: runs.filter_map(|(plan, run)| note(experiment, plan, run)).collect(),
            replays: Vec::new(),
            counters: counted::all(experiment, reports),
            uncertainty: None,
            other_seed: None,
            jobs: jobs::all(experiment, reports),
        }
    }

    /// True when every run completed.
    #[must_use]
    pub fn all_completed(&self) -> bool {
        self.notes.is_empty()
    }

    /// The statistics of one cell. This searches all cells; [`crate::statements::Table`] is the index for
    /// many of them.
    #[must_use]
    pub fn get(&self, configuration: &str, policy: &str, app: &str, metric: &str) -> Option<&Summary> {
        let mut cells = self.cells.iter();
        let cell = cells.find(|c| {
            c.metric == metric && c.app == app && c.policy == policy && c.configuration == configuration
        });
        cell.map(|c| &c.summary)
    }

    /// The measured values of one cell, by replicate.
    #[must_use]
    pub fn values(
        &self,
        configuration: &str,
        policy: &str,
        app: &str,
        metric: &str,
    ) -> Option<&[Option<f64>]> {
        let mut cells = self.cells.iter();
        let cell = cells.find(|c| {
            c.metric == metric && c.app == app && c.policy == policy && c.configuration == configuration
        });
        cell.map(|c| c.values.as_slice())
    }

    /// Every measured value: its cell, replicate and seed, in the order of the cells.
    pub fn samples(&self) -> impl Iterator<Item = (&Cell, u32, u64, f64)> {
        let of_cell = |cell| {
            let values = |cell: &'_ Cell| (0_u32..).zip(cell.values.clone());
            let seed = |replicate: u32| self.provenance.seed.wrapping_add(u64::from(replicate));
            values(cell)
                .filter_map(move |(replicate, value)| Some((cell, replicate, seed(replicate), value?)))
        };
        self.cells.iter().flat_map(of_cell)
    }

    /// The foreground applications in order.
    pub fn foreground(&self) -> impl Iterator<Item = &str> {
        let background: BTreeSet<&str> = self.provenance.background.iter().map(String::as_str).collect();
        self.provenance.apps.iter().map(String::as_str).filter(move |app| !background.contains(app))
    }
}

pub(crate) fn cells(experiment: &Experiment, samples: &Samples) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (configuration, label) in experiment.configurations.iter().enumerate() {
        let settings = Arc::new(label.settings.clone());
        let policies = [NO_POLICY].into_iter().chain(0..experiment.policies.len());
        for policy in policies.chain(REFERENCES.map(|reference| reference.policy)) {
            for app in (0..experiment.apps.len()).map(Some).chain([None]) {
                let place = Place { configuration, policy, app };
                // The first policy is what the gap is measured from.
                let gap = samples.recovered(place).filter(|_| policy > 0 && has_gap(experiment, policy));
                let gap = gap.map(|(metric, summary)| (metric, summary, Vec::new()));
                for (metric, summary, values) in samples.cells(place, experiment.repeat).chain(gap) {
                    cells.push(Cell {
                        scenario: experiment.name.clone(),
                        configuration: label.label.clone(),
                        settings: Arc::clone(&settings),
                        policy: policy_name(experiment, policy).into(),
                        app: app.map_or(ALL_APPS, |app| &experiment.apps[app]).into(),
                        metric: metric.name.into(),
                        unit: metric.unit.into(),
                        summary,
                        values,
                        input_error: None,
                    });
                }
            }
        }
    }
    cells
}

fn has_gap(experiment: &Experiment, policy: usize) -> bool {
    policy < experiment.policies.len() || policy == BEST_PARTITION.policy
}

/// The label of a policy or reference, or [`DEDICATED`].
pub(crate) fn policy_name(experiment: &Experiment, policy: usize) -> &str {
    let reference = REFERENCES.iter().find(|reference| reference.policy == policy);
    let other = reference.map_or(DEDICATED, |reference| reference.label);
    experiment.policies.get(policy).map_or(other, String::as_str)
}

/// How a run that did not complete ended: a word, and a sentence about what happened.
pub(crate) fn outcome(plan: &RunPlan, run: &RunReport) -> Option<(&'static str, String)> {
    let text = match &run.outcome {
        Outcome::Completed => return None,
        Outcome::Horizon if plan.window.is_some() => {
            let ended = run.apps.iter().filter(|a| a.end.is_some() && !a.background);
            let names: Vec<&str> = ended.map(|a| a.name.as_str()).collect();
            format!("{} ended before the window did; give it more work", names.join(" and "))
        }
        Outcome::Horizon => {
            let unended = run.apps.iter().filter(|a| a.end.is_none() && !a.background);
            let names: Vec<&str> = unended.map(|a| a.name.as_str()).collect();
            let horizon = run.makespan.ns() as f64 / 1e9;
            format!("cut off at the horizon of {horizon} s before {} ended", names.join(" and "))
        }
        Outcome::Deadlock(who) => format!("deadlock: {who}"),
        Outcome::Livelock(who) => format!("livelock: {who}"),
        Outcome::Failed(why) => format!("ended by the policy: {why}"),
    };
    Some((word(&run.outcome), text))
}

/// The note about a run that did not complete.
fn note(experiment: &Experiment, plan: &RunPlan, run: &RunReport) -> Option<Note> {
    let (outcome, text) = outcome(plan, run)?;
    Some(Note {
        configuration: experiment.configurations.get(plan.configuration).map_or("", |p| &p.label).into(),
        policy: policy_name(experiment, plan.policy).into(),
        replicate: plan.replicate,
        seed: plan.options.seed,
        outcome: outcome.into(),
        text,
    })
}

#[cfg(test)]
pub(crate) mod fixture {
    //! A small result written by hand.

    use super::*;
    use crate::provenance::{MachineOrigin, Outcomes};
    use crate::statistics::rounded;
    use scenario::configuration::{Axis, Configuration, Setting};

    const CONFIGURATION: &str = "threads_per_core=1";

    fn settings() -> Settings {
        Settings(vec![("threads_per_core".into(), Setting::Number(1.0))])
    }

    fn cell(policy: &str, app: &str, metric: &str, unit: &str, mean: f64) -> Cell {
        let (mean, lo, hi) = (rounded(mean), rounded(mean * 0.99), rounded(mean * 1.01));
        Cell {
            scenario: "share".into(),
            configuration: CONFIGURATION.into(),
            settings: Arc::new(settings()),
            policy: policy.into(),
            app: app.into(),
            metric: metric.into(),
            unit: unit.into(),
            summary: Summary {
                mean,
                median: mean,
                ci95: Some([lo, hi]),
                min: lo,
                max: hi,
                n: 3,
                sampling_error: 0.0,
            },
            values: vec![Some(lo), Some(mean), Some(hi)],
            input_error: None,
        }
    }

    /// The cells of two applications under LOAD and PIN, and of their dedicated runs.
    fn two_apps_cells() -> Vec<Cell> {
        let mut cells =
            vec![cell(DEDICATED, "cg", "run_time", "s", 5.0), cell(DEDICATED, "ft", "run_time", "s", 20.0)];
        for (policy, cg, spread, throughput) in [("LOAD", 15.0, 12.0, 0.9), ("PIN", 10.0, 0.5, 1.25)] {
            cells.push(cell(policy, "cg", "run_time", "s", cg));
            cells.push(cell(policy, "cg", "slowdown", "ratio", cg / 5.0));
            cells.push(cell(policy, "cg", "variation", "%", spread));
            cells.push(cell(policy, "ft", "run_time", "s", 20.0));
            cells.push(cell(policy, "ft", "slowdown", "ratio", 1.0));
            cells.push(cell(policy, "all", "throughput", "ratio", throughput));
            cells.push(cell(policy, "all", "migrations", "count", 12.0));
            for part in sim_core::account::Category::ALL {
                cells.push(cell(policy, "all", &format!("breakdown_{}", part.name()), "share", 1.0 / 9.0));
            }
        }
        cells
    }

    /// Two applications under LOAD and PIN with dedicated runs of 5 s and 20 s.
    pub(crate) fn two_apps() -> Results {
        let strings = |all: &[&str]| all.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        Results {
            schema: SCHEMA.into(),
            provenance: Provenance {
                tool: "oversim".into(),
                version: "0.1.0".into(),
                model: crate::provenance::MODEL.into(),
                generator: "none".into(),
                scenario: "share".into(),
                about: "Who gains?".into(),
                scenario_sha256: "00".into(),
                overrides: Vec::new(),
                machines: vec![MachineOrigin {
                    name: "barcelona".into(),
                    cpus: Some(16),
                    topology: Some("package:4 numa:1 core:4".into()),
                    values: Some(30),
                    uncertain: Some(9),
                    inputs: Vec::new(),
                    cpu_numbers: Vec::new(),
                }],
                uncertain: Vec::new(),
                kernels: strings(&["linux-2.6.28"]),
                sweep: vec![Axis::new("threads_per_core", strings(&["1"]))],
                configurations: vec![Configuration {
                    label: CONFIGURATION.into(),
                    settings: settings(),
                    places: vec![0],
                }],
                policies: strings(&["LOAD", "PIN"]),
                stacks: strings(&["LOAD", "PIN over LOAD"]),
                apps: strings(&["cg", "ft"]),
                background: Vec::new(),
                programs: Some(2),
                requests: Some(Vec::new()),
                objective: Some(scenario::objective::Objective::Throughput),
                setups: Vec::new(),
                unused: Vec::new(),
                shortened: Vec::new(),
                sampled: None,
                window: false,
                seed: 1,
                repeat: 3,
                runs: 12,
                outcomes: Outcomes { completed: 12, ..Outcomes::default() },
                digest: "0123456789abcdef0123".into(),
                replayed: None,
            },
            cells: two_apps_cells(),
            comparisons: Vec::new(),
            best_partitions: Vec::new(),
            notes: Vec::new(),
            replays: Vec::new(),
            counters: Vec::new(),
            uncertainty: None,
            other_seed: None,
            jobs: Vec::new(),
        }
    }
}
