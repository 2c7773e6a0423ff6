//! What the runs measured, sorted by configuration, policy, application, metric and replicate.

use std::collections::{BTreeMap, BTreeSet};

use scenario::plan::{Experiment, NO_POLICY, RunPlan};
use sim_core::outcome::{Outcome, RunReport};

use crate::metrics::{METRICS, Metric, Program, Reduction, Sample, Scope, Together};
use crate::references::{self, Dedicated, Found, Reading};
use crate::statistics::{Summary, rounded, single, summarise_with, variation_percent};

/// Where a run belongs: configuration, policy ([`NO_POLICY`] for dedicated runs) and application (`None` =
/// the whole machine).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    pub(crate) configuration: usize,
    pub(crate) policy: usize,
    pub(crate) app: Option<usize>,
}

/// Values by place, position in [`METRICS`] and replicate.
#[derive(Default)]
pub(crate) struct Samples {
    values: BTreeMap<(Place, usize), BTreeMap<u32, f64>>,
    /// The largest relative error by extrapolation of the runs of a configuration and policy.
    errors: BTreeMap<(usize, usize), f64>,
}

/// The dedicated runs by configuration, application and replicate.
#[derive(Default)]
struct Alone {
    runs: BTreeMap<(usize, usize), BTreeMap<u32, Dedicated>>,
}

impl Alone {
    fn of(experiment: &Experiment, reports: &[RunReport]) -> Self {
        let mut alone = Self::default();
        for (plan, run) in experiment.runs.iter().zip(reports) {
            let (Some(app), Outcome::Completed) = (plan.alone, &run.outcome) else { continue };
            let length = run.makespan.ns() as f64 / 1e9;
            let dedicated = run.apps.first().and_then(|app| match plan.window {
                None => Dedicated::of(app),
                Some(_) => Dedicated::in_window(app, length),
            });
            let Some(dedicated) = dedicated else { continue };
            for configuration in &plan.serves {
                alone.runs.entry((*configuration, app)).or_default().insert(plan.replicate, dedicated);
            }
        }
        alone
    }

    fn mean(&self, configuration: usize, app: usize) -> Option<f64> {
        let runs = self.runs.get(&(configuration, app))?;
        Some(runs.values().map(|run| run.time).sum::<f64>() / runs.len() as f64)
    }

    fn paired(&self, configuration: usize, app: usize, replicate: u32) -> Option<f64> {
        Some(self.runs.get(&(configuration, app))?.get(&replicate)?.time)
    }

    /// The dedicated runs of one replicate, by application.
    fn replicate(&self, configuration: usize, replicate: u32) -> BTreeMap<usize, Dedicated> {
        let here = self.runs.range((configuration, 0)..=(configuration, usize::MAX));
        here.filter_map(|((_, app), runs)| Some((*app, *runs.get(&replicate)?))).collect()
    }

    /// The time all foreground applications of a run, copies included, take one after the other.
    fn sequence(&self, experiment: &Experiment, plan: &RunPlan) -> Option<f64> {
        let foreground = plan.entries.iter().filter(|app| !experiment.background[**app]);
        foreground.map(|app| self.paired(plan.configuration, *app, plan.replicate)).sum()
    }

    /// The time in which dedicated runs would do the work of a window, one application after the other.
    fn progress(&self, experiment: &Experiment, plan: &RunPlan, run: &RunReport) -> Option<f64> {
        let each = plan.entries.iter().zip(&run.apps).filter(|(app, _)| !experiment.background[**app]);
        each.map(|(app, report)| {
            let alone = self.paired(plan.configuration, *app, plan.replicate)?;
            Some(alone * report.counters.work_done_ns as f64 / 1e9)
        })
        .sum()
    }
}

impl Samples {
    /// Measures every run that completed; the others are left out (and noted elsewhere).
    pub(crate) fn of(experiment: &Experiment, reports: &[RunReport], partitions: &[Found]) -> Self {
        let alone = Alone::of(experiment, reports);
        let mut samples = Self::default();
        let sources = Self::sources(experiment, reports);
        for (at, (plan, run)) in experiment.runs.iter().zip(reports).enumerate() {
            if run.outcome != Outcome::Completed {
                continue;
            }
            samples.add_error(plan, run);
            match plan.alone {
                Some(app) => samples.add_alone(plan, run, app),
                None => {
                    samples.add_shared(experiment, &alone, plan, run);
                    if plan.window.is_none()
                        && sources.get(&(plan.configuration, plan.replicate)) == Some(&at)
                    {
                        let dedicated = alone.replicate(plan.configuration, plan.replicate);
                        if let Some(fair) = references::fair_share(plan, run, &dedicated) {
                            samples.add_reading(experiment, &alone, plan, &fair);
                        }
                    }
                }
            }
        }
        for (plan, run) in partitions.iter().flat_map(|found| &found.runs) {
            if run.outcome == Outcome::Completed {
                samples.add_error(plan, run);
                samples.add_shared(experiment, &alone, plan, run);
            }
        }
        for (plan, bound) in Self::lower_bounds(experiment, reports, partitions) {
            samples.add_reading(experiment, &alone, plan, &bound);
        }
        // A policy that beats it was faster than the dedicated runs: without these, the work alone counts.
        let beaten = samples.beat_fair_share(experiment);
        samples.drop_fair_share(&beaten);
        for (at, (plan, run)) in experiment.runs.iter().zip(reports).enumerate() {
            if beaten.contains(&plan.configuration)
                && plan.window.is_none()
                && sources.get(&(plan.configuration, plan.replicate)) == Some(&at)
                && let Some(fair) = references::fair_share(plan, run, &BTreeMap::new())
            {
                samples.add_reading(experiment, &alone, plan, &fair);
            }
        }
        let beaten = samples.beat_fair_share(experiment);
        samples.drop_fair_share(&beaten);
        samples
    }

    /// The configurations at which a policy, or the best partition, ended clearly sooner than the fair share.
    fn beat_fair_share(&self, experiment: &Experiment) -> BTreeSet<usize> {
        let mean = |configuration: usize, policy: usize| {
            let values = self.values(Place { configuration, policy, app: None }, "makespan")?;
            Some(values.values().sum::<f64>() / values.len() as f64)
        };
        let beaten = |configuration: &usize| {
            let fair = mean(*configuration, references::FAIR_SHARE.policy).unwrap_or(0.0);
            let least = fair * (1.0 - references::FAIR_SHARE_TOLERANCE);
            let mut others = (0..experiment.policies.len()).chain([references::BEST_PARTITION.policy]);
            others.any(|policy| mean(*configuration, policy).is_some_and(|time| time < least))
        };
        (0..experiment.configurations.len()).filter(beaten).collect()
    }

    /// Leaves out the fair share of some configurations.
    fn drop_fair_share(&mut self, configurations: &BTreeSet<usize>) {
        let here = |place: &Place| {
            place.policy == references::FAIR_SHARE.policy && configurations.contains(&place.configuration)
        };
        self.values.retain(|(place, _), _| !here(place));
    }

    /// The lower bound of each configuration and replicate. Where tasks share the passes of a loop, each
    /// draws the work of those that it takes: the policy with the least work decides.
    fn lower_bounds<'a>(
        experiment: &'a Experiment,
        reports: &'a [RunReport],
        partitions: &'a [Found],
    ) -> Vec<(&'a RunPlan, Reading)> {
        let mut bounds: BTreeMap<(usize, u32), (&RunPlan, Reading)> = BTreeMap::new();
        let found = partitions.iter().flat_map(|found| &found.runs).map(|(plan, run)| (plan, run));
        for (plan, run) in experiment.runs.iter().zip(reports).chain(found) {
            if plan.alone.is_some() || plan.window.is_some() || run.outcome != Outcome::Completed {
                continue;
            }
            let bound = references::lower_bound(plan, run);
            let bound = match bounds.remove(&(plan.configuration, plan.replicate)) {
                Some((_, other)) => other.least(bound),
                None => bound,
            };
            bounds.insert((plan.configuration, plan.replicate), (plan, bound));
        }
        bounds.into_values().collect()
    }

    /// The run that the fair share is calculated from, by configuration and replicate. It needs the arrivals
    /// and the work of the programs, which are the same under every policy but for the draws of the tasks
    /// that did the work. The completed run of the policy whose label sorts first is taken, so that the order
    /// of the policies does not matter.
    fn sources(experiment: &Experiment, reports: &[RunReport]) -> BTreeMap<(usize, u32), usize> {
        let label = |at: usize| experiment.policies.get(experiment.runs[at].policy);
        let mut sources: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        for (at, (plan, run)) in experiment.runs.iter().zip(reports).enumerate() {
            if plan.alone.is_none() && run.outcome == Outcome::Completed {
                let best = sources.entry((plan.configuration, plan.replicate)).or_insert(at);
                if label(at) < label(*best) {
                    *best = at;
                }
            }
        }
        sources
    }

    fn add_error(&mut self, plan: &RunPlan, run: &RunReport) {
        self.add_relative_error(&plan.serves, plan.policy, run.relative_error());
    }

    /// Adds the relative error of a run of a policy at these configurations.
    pub(crate) fn add_relative_error(&mut self, configurations: &[usize], policy: usize, error: f64) {
        for configuration in configurations.iter().filter(|_| error > 0.0) {
            let largest = self.errors.entry((*configuration, policy)).or_default();
            *largest = largest.max(error);
        }
    }

    /// Adds what a replicate measured; `at` is the position of the metric in [`METRICS`].
    pub(crate) fn add_value(&mut self, place: Place, at: usize, replicate: u32, value: f64) {
        self.values.entry((place, at)).or_default().insert(replicate, value);
    }

    /// The relative error of the runs of a policy by extrapolation.
    pub(crate) fn error(&self, configuration: usize, policy: usize) -> f64 {
        self.errors.get(&(configuration, policy)).copied().unwrap_or(0.0)
    }

    fn add_alone(&mut self, plan: &RunPlan, run: &RunReport, app: usize) {
        let window = plan.window.is_some();
        let sample = Sample { window, ..Sample::of(run, 0, &[0]) };
        for configuration in &plan.serves {
            let place = Place { configuration: *configuration, policy: NO_POLICY, app: Some(app) };
            self.add(place, Scope::App, plan.replicate, &[sample]);
        }
    }

    fn add_shared(&mut self, experiment: &Experiment, alone: &Alone, plan: &RunPlan, run: &RunReport) {
        let (configuration, policy, replicate) = (plan.configuration, plan.policy, plan.replicate);
        let window = plan.window.is_some();
        let sequence = match window {
            false => alone.sequence(experiment, plan),
            true => alone.progress(experiment, plan, run),
        };
        let all_copies = copies(experiment.apps.len(), plan);
        let mut programs: Option<Vec<Program>> = Some(Vec::new());
        for (app, copies) in all_copies.iter().enumerate() {
            let [alone_mean, alone_paired] =
                [alone.mean(configuration, app), alone.paired(configuration, app, replicate)];
            let of = |copy: &usize| Sample {
                alone_mean,
                alone_paired,
                sequence,
                window,
                ..Sample::of(run, *copy, copies)
            };
            let samples: Vec<Sample<'_>> = copies.iter().map(of).collect();
            self.add(Place { configuration, policy, app: Some(app) }, Scope::App, replicate, &samples);
            if !experiment.background[app] && !copies.is_empty() {
                let time = mean_of(if window { "time_per_work" } else { "turnaround" }, &samples);
                let program = time.zip(alone_paired).zip(mean_of("slowdown", &samples));
                let program = program.map(|((time, alone), slowdown)| Program {
                    time,
                    alone,
                    slowdown,
                    copies: copies.len(),
                });
                programs = programs.zip(program).map(|(all, one)| [all, vec![one]].concat());
            }
        }
        let all: Vec<usize> = (0..run.apps.len()).collect();
        let together = programs.and_then(|programs| Together::of(&programs));
        let sample = Sample { together, sequence, window, ..Sample::of(run, 0, &all) };
        self.add(Place { configuration, policy, app: None }, Scope::All, replicate, &[sample]);
    }

    /// The values of a reference, in the metrics that it has.
    fn add_reading(&mut self, experiment: &Experiment, alone: &Alone, plan: &RunPlan, reading: &Reading) {
        let sequence = alone.sequence(experiment, plan);
        let mut add = |app: Option<usize>, name: &str, value: Option<f64>| {
            let place = Place { configuration: plan.configuration, policy: reading.reference.policy, app };
            if let (Some(at), Some(value)) = (position(app, name), value) {
                self.values.entry((place, at)).or_default().insert(plan.replicate, value);
            }
        };
        for (app, copies) in copies(experiment.apps.len(), plan).iter().enumerate() {
            let times: Option<Vec<f64>> = copies.iter().map(|copy| reading.run_times[*copy]).collect();
            let mean = times.filter(|t| !t.is_empty()).map(|t| t.iter().sum::<f64>() / t.len() as f64);
            add(Some(app), "run_time", mean);
            let slowdown = mean.zip(alone.mean(plan.configuration, app)).map(|(time, alone)| time / alone);
            add(Some(app), "slowdown", slowdown);
        }
        add(None, "makespan", reading.makespan);
        let throughput = sequence.zip(reading.makespan).map(|(sequence, makespan)| sequence / makespan);
        add(None, "throughput", throughput);
    }

    /// The mean time on a scale from the first policy (0 %) to the fair share (100 %).
    pub(crate) fn recovered(&self, place: Place) -> Option<(&'static Metric, Summary)> {
        let name = if place.app.is_some() { "run_time" } else { "makespan" };
        let mean = |policy| {
            let values = self.values(Place { policy, ..place }, name)?;
            Some(values.values().sum::<f64>() / values.len() as f64)
        };
        let recovered =
            references::recovered(mean(0)?, mean(place.policy)?, mean(references::FAIR_SHARE.policy)?)?;
        let n = self.values(place, name)?.len();
        Some((&METRICS[position(place.app, "recovered")?], single(recovered, n)?))
    }

    /// Adds the value of each metric over the samples, the copies of an application; nothing when one of them
    /// lacks it.
    fn add(&mut self, place: Place, scope: Scope, replicate: u32, samples: &[Sample<'_>]) {
        for (at, metric) in METRICS.iter().enumerate().filter(|(_, m)| m.scope == scope) {
            if let Some(value) = metric.of(samples) {
                self.values.entry((place, at)).or_default().insert(replicate, value);
            }
        }
    }

    /// The cells of a place: every metric that was measured there, reduced over the replicates, and what each
    /// of `repeat` replicates measured.
    pub(crate) fn cells(
        &self,
        place: Place,
        repeat: u32,
    ) -> impl Iterator<Item = (&'static Metric, Summary, Vec<Option<f64>>)> {
        let own = self.error(place.configuration, place.policy);
        let both = libm::hypot(own, self.error(place.configuration, NO_POLICY));
        self.values.range((place, 0)..=(place, METRICS.len())).filter_map(move |((_, at), by_replicate)| {
            let metric = &METRICS[*at];
            let values: Vec<f64> = by_replicate.values().copied().collect();
            match metric.reduction {
                Reduction::Statistics => {
                    let measured = |replicate| by_replicate.get(&replicate).copied().map(rounded);
                    let error = if metric.needs_dedicated { both } else { own };
                    Some((metric, summarise_with(&values, error)?, (0..repeat).map(measured).collect()))
                }
                Reduction::Variation => {
                    Some((metric, single(variation_percent(&values)?, values.len())?, Vec::new()))
                }
            }
        })
    }

    /// The values of one metric by replicate.
    pub(crate) fn values(&self, place: Place, name: &str) -> Option<&BTreeMap<u32, f64>> {
        self.values.get(&(place, position(place.app, name)?))
    }
}

/// The value of a metric of an application over its copies.
fn mean_of(name: &str, samples: &[Sample<'_>]) -> Option<f64> {
    METRICS.get(position(Some(0), name)?)?.of(samples)
}

/// For each application of the scenario the positions of its copies in a run.
pub(crate) fn copies(apps: usize, plan: &RunPlan) -> Vec<Vec<usize>> {
    let mut copies = vec![Vec::new(); apps];
    for (copy, app) in plan.entries.iter().enumerate() {
        copies[*app].push(copy);
    }
    copies
}

/// The position of a metric of an application, or of the whole machine, in [`METRICS`].
pub(crate) fn position(app: Option<usize>, name: &str) -> Option<usize> {
    let scope = if app.is_some() { Scope::App } else { Scope::All };
    METRICS.iter().position(|m| m.name == name && m.scope == scope)
}
