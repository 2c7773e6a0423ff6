//! The search for the worst case: the applications begin at drawn offsets.

use scenario::plan::{Experiment, RunPlan};
use serde::Serialize;
use sim_core::outcome::{AppReport, RunReport};
use sim_core::program::Op;
use sim_core::rng::{Purpose, below, draw, key};
use sim_core::time::{Span, Time};

use crate::run::{RunError, refused};
use crate::simulate::simulate_one;
use crate::threads::on_threads;

/// The run in which a task had its longest response.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Witness {
    /// The application.
    pub app: String,
    /// Its longest response, ns.
    pub response_ns: u64,
    /// Jobs of all tasks that ended after their deadline in this run.
    pub late: u64,
    /// Which of the tried runs, from 0; in run 0 all begin as the scenario says.
    pub run: u64,
    /// Each application with the time of its start there, ns.
    pub starts: Vec<(String, u64)>,
}

impl Witness {
    /// The settings that repeat the run: `apps.a.start=3ms`; none for the run as it is. They are no settings
    /// of the scenario where an application is a kind of a program.
    #[must_use]
    pub fn settings(&self) -> Vec<String> {
        let starts = self.starts.iter().filter(|_| self.run > 0);
        starts.map(|(app, ns)| format!("apps.{app}.start={ns}ns")).collect()
    }
}

/// The same run with its periodic applications beginning somewhere in their periods; `round` 0: as it is.
fn shifted(plan: &RunPlan, round: u64) -> RunPlan {
    let mut plan = plan.clone();
    if round == 0 {
        return plan;
    }
    for (number, app) in plan.apps.iter_mut().enumerate() {
        let period = app.program.ops().iter().find_map(|op| match op {
            Op::Until { period, .. } => Some(period.ns()),
            _ => None,
        });
        if let Some(period) = period {
            let key = key(plan.options.seed, Purpose::Input, number as u64);
            app.start = Time::ZERO + Span::from_ns(below(period, draw(key, round)));
        }
    }
    plan
}

/// Tries so many releases of a run and returns, for each periodic application, the worst of them. The same
/// for any number of threads (`jobs`; 0: as many as there are).
///
/// # Errors
/// A run is refused, or the threads cannot be started.
pub fn worst(
    experiment: &Experiment,
    plan: &RunPlan,
    rounds: u64,
    jobs: usize,
) -> Result<Vec<Witness>, RunError> {
    use rayon::prelude::*;
    let one = |round: u64| {
        let plan = shifted(plan, round);
        simulate_one(&plan, &mut ()).map(|report| witnesses(round, &plan, &report))
    };
    let all: Vec<Result<Vec<Witness>, String>> =
        on_threads(rounds as usize, jobs, || (0..rounds).into_par_iter().map(one).collect())
            .map_err(RunError::threads(jobs))?;
    let mut found: Vec<Witness> = Vec::new();
    for answer in all {
        for witness in answer.map_err(|why| refused(experiment, plan, why))? {
            match found.iter_mut().find(|known| known.app == witness.app) {
                Some(known) if known.response_ns >= witness.response_ns => {}
                Some(known) => *known = witness,
                None => found.push(witness),
            }
        }
    }
    Ok(found)
}

/// The longest responses of one run.
fn witnesses(run: u64, plan: &RunPlan, report: &RunReport) -> Vec<Witness> {
    let late = report.apps.iter().map(|app| app.counters.late_responses).sum();
    let starts = || plan.apps.iter().map(|app| (app.name.clone(), app.start.ns())).collect();
    let of = |app: &AppReport| {
        let response_ns = app.responses.as_ref()?.quantiles()?.max.ns();
        Some(Witness { app: app.name.clone(), response_ns, late, run, starts: starts() })
    };
    report.apps.iter().filter_map(of).collect()
}
