//! What one run measures by itself, and the results of many of such runs: for sweeps, whose runs end one by
//! one and are read again later.

use std::collections::BTreeMap;

use scenario::objective::Objective;
use scenario::plan::{Experiment, NO_POLICY, RunPlan};
use sim_core::outcome::{Outcome, RunReport};

use crate::compare::compare;
use crate::metrics::{ALL_APPS, METRICS, Metric, Program, Reduction, Sample, Scope, Together};
use crate::provenance::Provenance;
use crate::result::{Note, Results, SCHEMA, cells};
use crate::samples::{Place, Samples, copies, position};
use crate::statistics::rounded;

/// Values by application (`all` for the whole machine) and metric.
pub type Values = BTreeMap<String, BTreeMap<String, f64>>;

/// What one run measured, and where it belongs.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// Its configuration.
    pub configuration: usize,
    /// Its policy; none for a dedicated run.
    pub policy: Option<usize>,
    /// Its replicate.
    pub replicate: u32,
    /// Relative error by extrapolation.
    pub error: f64,
    /// Its values; those of a dedicated run are of one application.
    pub values: Values,
}

/// Word and sentence for the end of a run; the sentence is empty if it completed.
#[must_use]
pub fn outcome(plan: &RunPlan, run: &RunReport) -> (&'static str, String) {
    crate::result::outcome(plan, run).unwrap_or(("completed", String::new()))
}

/// The metrics of a completed run that need no other run; none of a run that did not complete. `apps`: the
/// names of the scenario's applications. Values have ten digits, as in results.
#[must_use]
// Compiled with the optimisation of its caller: a sweep computes the metrics of each run (Cargo.toml).
#[inline]
pub fn values(apps: &[String], plan: &RunPlan, run: &RunReport) -> Values {
    let mut values = Values::new();
    if run.outcome != Outcome::Completed {
        return values;
    }
    let window = plan.window.is_some();
    for (name, copies) in apps.iter().zip(copies(apps.len(), plan)) {
        let of = |copy: &usize| Sample { window, ..Sample::of(run, *copy, &copies) };
        let of_app: Vec<Sample<'_>> = copies.iter().map(of).collect();
        values.extend(measure(Scope::App, &of_app).map(|found| (name.clone(), found)));
    }
    if plan.alone.is_none() {
        let all: Vec<usize> = (0..run.apps.len()).collect();
        let sample = Sample { window, ..Sample::of(run, 0, &all) };
        values.extend(measure(Scope::All, &[sample]).map(|found| (ALL_APPS.to_owned(), found)));
    }
    values
}

/// How many copies of each application a run has, where that is not one.
#[must_use]
pub fn several(apps: &[String], plan: &RunPlan) -> BTreeMap<String, usize> {
    let counted = apps.iter().zip(copies(apps.len(), plan));
    counted
        .filter(|(_, copies)| copies.len() > 1)
        .map(|(name, copies)| (name.clone(), copies.len()))
        .collect()
}

/// The value of each metric over the copies of an application; none without a copy.
#[inline]
fn measure(scope: Scope, samples: &[Sample<'_>]) -> Option<BTreeMap<String, f64>> {
    let of = METRICS.iter().filter(|m| m.scope == scope && m.reduction == Reduction::Statistics);
    let value = |metric: &Metric| {
        // Most metrics are not defined for most programs: only those that are get a name.
        let value = rounded(metric.of(samples)?);
        Some((metric.name.to_owned(), value))
    };
    (!samples.is_empty()).then(|| of.filter_map(value).collect())
}

/// Adds the metrics that refer to dedicated runs (`slowdown`, `throughput`, `stp`, ...) to all runs of one
/// configuration. `copies`: for each run how many copies of an application there are, where not one.
/// `background`: the applications without dedicated runs. `window`: only a window of the runs counts.
pub fn refer_to_dedicated(
    runs: &mut [Measured],
    copies: &[BTreeMap<String, usize>],
    background: &[String],
    window: bool,
) {
    let time = if window { "time_per_work" } else { "run_time" };
    let mut alone: BTreeMap<(String, u32), f64> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.policy.is_none()) {
        for (app, metrics) in &run.values {
            alone.extend(metrics.get(time).map(|time| ((app.clone(), run.replicate), *time)));
        }
    }
    let mean = |app: &str| {
        let of = || alone.iter().filter(|((name, _), _)| name == app).map(|(_, time)| *time);
        let count = of().count();
        (count > 0).then(|| of().sum::<f64>() / count as f64)
    };
    let means: BTreeMap<String, f64> =
        alone.keys().filter_map(|(app, _)| Some((app.clone(), mean(app)?))).collect();
    for (run, copies) in runs.iter_mut().zip(copies) {
        let paired = |app: &str| alone.get(&(app.to_owned(), run.replicate)).copied();
        let (mut sequence, mut done) = (Some(0.0), 0.0);
        let mut programs: Option<Vec<Program>> = Some(Vec::new());
        for (app, metrics) in &mut run.values {
            if app == ALL_APPS || background.contains(app) {
                continue;
            }
            let Some(own) = metrics.get(time).copied() else { continue };
            let ratio = |alone: f64| rounded(own / alone);
            metrics.extend(means.get(app).map(|alone| ("slowdown".to_owned(), ratio(*alone))));
            metrics.extend(paired(app).map(|alone| ("slowdown_paired".to_owned(), ratio(alone))));
            let of_one = if window { time } else { "turnaround" };
            let program = metrics.get(of_one).zip(paired(app)).zip(means.get(app));
            let program = program.map(|((time, alone), mean)| Program {
                time: *time,
                alone,
                slowdown: own / mean,
                copies: copies.get(app).copied().unwrap_or(1),
            });
            programs = programs.zip(program).map(|(all, one)| [all, vec![one]].concat());
            let number = copies.get(app).copied().unwrap_or(1) as f64;
            // In a window the dedicated runs would have taken this long for the same work.
            let work = if window { metrics.get("work").copied() } else { Some(1.0) };
            done += work.unwrap_or(0.0) * number;
            let part = paired(app).zip(work).map(|(alone, work)| alone * work * number);
            sequence = sequence.zip(part).map(|(sequence, part)| sequence + part);
        }
        let all = run.values.get_mut(ALL_APPS).filter(|_| run.policy.is_some());
        if let (Some(all), Some(sequence)) = (all, sequence)
            && sequence > 0.0
        {
            let length =
                if window { all.get(time).map(|each| each * done) } else { all.get("makespan").copied() };
            all.extend(length.map(|length| ("throughput".to_owned(), rounded(sequence / length))));
            if let Some(together) = programs.and_then(|programs| Together::of(&programs)) {
                let Together { stp, antt, jain, worst } = together;
                let each = [("stp", stp), ("antt", antt), ("jain_index", jain), ("worst_slowdown", worst)];
                all.extend(each.map(|(name, value)| (name.to_owned(), rounded(value))));
            }
        }
    }
}

/// The values of runs that were measured before, added run by run, so that the runs need not be held.
#[derive(Default)]
pub struct Gathered {
    samples: Samples,
}

impl Gathered {
    /// Adds a run. `apps`: the names of the scenario's applications.
    pub fn add(&mut self, apps: &[String], run: &Measured) {
        let policy = run.policy.unwrap_or(NO_POLICY);
        self.samples.add_relative_error(&[run.configuration], policy, run.error);
        for (name, metrics) in &run.values {
            let app = apps.iter().position(|app| app == name);
            let place = Place { configuration: run.configuration, policy, app };
            // A metric of all replicates is made of the values of another one.
            let of = if app.is_some() { "run_time" } else { "makespan" };
            let variation = metrics.get(of).map(|value| ("variation", value));
            let measured = metrics.iter().map(|(metric, value)| (metric.as_str(), value));
            for (metric, value) in measured.chain(variation) {
                if let Some(at) = position(app, metric) {
                    self.samples.add_value(place, at, run.replicate, *value);
                }
            }
        }
    }

    /// The results of the runs. `provenance` names their scenario; its configurations, numbers and outcomes
    /// are those of the runs.
    #[must_use]
    pub fn results(self, provenance: Provenance, notes: Vec<Note>) -> Results {
        let experiment = described(&provenance);
        Results {
            schema: SCHEMA.into(),
            cells: cells(&experiment, &self.samples),
            comparisons: compare(&experiment, &self.samples, provenance.window),
            best_partitions: Vec::new(),
            notes,
            replays: Vec::new(),
            counters: Vec::new(),
            uncertainty: None,
            other_seed: None,
            jobs: Vec::new(),
            provenance,
        }
    }
}

/// The scenario that a provenance names, without runs.
fn described(provenance: &Provenance) -> Experiment {
    let from = provenance.clone();
    Experiment {
        name: from.scenario,
        about: from.about,
        scenario_text: String::new(),
        files: Vec::new(),
        axes: from.sweep,
        configurations: from.configurations,
        policies: from.policies,
        machines: from.machines,
        uncertain: Vec::new(),
        shortened: from.shortened,
        objective: from.objective.unwrap_or(Objective::Makespan),
        background: from.apps.iter().map(|app| from.background.contains(app)).collect(),
        apps: from.apps,
        seed: from.seed,
        repeat: from.repeat,
        baseline: false,
        best_partition: false,
        runs: Vec::new(),
        overrides: from.overrides,
        warnings: Vec::new(),
    }
}
