//! The runs of scenarios under two policies, and what each measures.

use experiment::measured::{self, Values};
use experiment::metrics::ALL_APPS;
use experiment::run::simulate_one;
use scenario::plan::{Experiment, RunPlan};
use sim_core::account::Category;
use sim_core::observe::Observer;
use sim_core::outcome::RunReport;
use sim_core::time::{Span, Time};

use super::answer::Where;
use super::seen::{Aim, Seen, Watch};
use crate::trial::{self, Failed, Means};

/// A scenario under both policies.
pub(super) struct Sides {
    pub(super) name: String,
    /// Its number among those that were given.
    pub(super) subject: usize,
    pub(super) experiments: [Experiment; 2],
}

impl Sides {
    /// The runs of a side, in the order of the replicates.
    pub(super) fn plans(&self, side: usize) -> impl Iterator<Item = &RunPlan> {
        self.experiments[side].runs.iter().filter(|run| run.alone.is_none() && run.policy == 0)
    }
}

/// What sums up over scenarios.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbers {
    /// Of the run, s.
    pub(super) time: f64,
    /// Mean over the cpus, s.
    pub(super) parts: [f64; Where::ALL.len()],
    /// s.
    pub(super) waiting: f64,
    pub(super) migrations: f64,
    pub(super) switches: f64,
}

impl Numbers {
    pub(super) fn plus(mut self, other: &Self) -> Self {
        self.time += other.time;
        self.parts.iter_mut().zip(other.parts).for_each(|(part, other)| *part += other);
        self.waiting += other.waiting;
        self.migrations += other.migrations;
        self.switches += other.switches;
        self
    }
}

/// What one run measured.
pub(super) struct Run {
    /// Why it did not complete; empty if it did.
    pub(super) ended: String,
    pub(super) digest: u64,
    pub(super) numbers: Numbers,
    pub(super) values: Values,
    /// Its tasks, of the first replicate.
    pub(super) seen: Option<Seen>,
}

/// A scenario with the runs of both sides.
pub(super) type Measured<'a> = (&'a Sides, [Vec<Run>; 2]);

/// Simulates all runs.
pub(super) fn simulated<'a>(
    all: &'a [Sides],
    means: Means<'_>,
) -> Result<(Vec<Measured<'a>>, usize), Failed> {
    let of = |sides: &'a Sides| {
        (0..2).flat_map(move |side| sides.plans(side).map(move |plan| (&sides.experiments[side], plan)))
    };
    let jobs: Vec<(&Experiment, &RunPlan)> = all.iter().flat_map(of).collect();
    let runs = trial::each(jobs.len(), means, |at, end| match jobs.get(at) {
        Some((experiment, plan)) => one(experiment, plan, end),
        None => Err("there is no such run".to_owned()),
    })?;
    let runs = runs.into_iter().collect::<Result<Vec<Run>, String>>().map_err(Failed::Refused)?;
    let count = runs.len();
    let mut runs = runs.into_iter();
    let measured = all.iter().map(|sides| {
        let of = [0, 1].map(|side| runs.by_ref().take(sides.plans(side).count()).collect());
        (sides, of)
    });
    Ok((measured.collect(), count))
}

/// Simulates a run and watches its tasks; `aim`: one of them closely.
pub(super) fn watched(
    plan: &RunPlan,
    aim: Option<Aim>,
    end: &mut dyn Observer,
) -> Result<(RunReport, Seen), String> {
    let plan = RunPlan { latencies: true, ..plan.clone() };
    let tasks = plan.apps.iter().map(|app| app.tasks).sum();
    let from = plan.window.unwrap_or(Time::ZERO);
    let mut watch = Watch::new(plan.machine.cpus(), tasks, from, aim);
    let report = simulate_one(&plan, &mut (end, &mut watch))?;
    let last = from + Span::from_ns(report.makespan.ns());
    Ok((report, watch.finish(last)))
}

fn one(experiment: &Experiment, plan: &RunPlan, end: &mut dyn Observer) -> Result<Run, String> {
    let (report, seen) = watched(plan, None, end)?;
    let (_, ended) = measured::outcome(plan, &report);
    let values = measured::values(&experiment.apps, plan, &report);
    let of_all = |metric: &str| values.get(ALL_APPS).and_then(|of| of.get(metric)).copied().unwrap_or(0.0);
    let waiting = report.apps.iter().filter(|app| !app.background);
    let waiting = waiting.map(|app| app.counters.runnable_ns.saturating_sub(app.counters.cpu_ns)).sum();
    let numbers = Numbers {
        time: seconds(report.makespan.ns()),
        parts: parts(&report, seen.idle_while_waiting),
        waiting: seconds(waiting),
        migrations: of_all("migrations"),
        switches: of_all("context_switches"),
    };
    let seen = (plan.replicate == 0).then_some(seen);
    Ok(Run { ended, digest: report.digest, numbers, values, seen })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Where the time of the cpus went, mean over them.
fn parts(report: &RunReport, idle_while_runnable: Span) -> [f64; Where::ALL.len()] {
    let account = report.account();
    let cpus = report.cpus.len().max(1) as f64;
    let mut parts = [0.0; Where::ALL.len()];
    let mut add = |place: Where, ns: u64| {
        if let Some(part) = parts.get_mut(place as usize) {
            *part += seconds(ns) / cpus;
        }
    };
    for category in Category::ALL {
        let ns = account.get(category).ns();
        if category == Category::Idle {
            // A cpu without a task may also be busy with work of the kernel.
            let lost = idle_while_runnable.ns().min(ns);
            add(Where::IdleWhileRunnable, lost);
            add(Where::Idle, ns - lost);
        } else {
            add(Where::of(category), ns);
        }
    }
    parts
}
