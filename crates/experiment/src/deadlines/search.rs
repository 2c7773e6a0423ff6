//! The search for the worst case: the applications begin at drawn offsets.

use std::fmt::Write as _;

use scenario::plan::{Experiment, RunPlan};
use serde::Serialize;
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
    /// The flags that repeat the run: `--set apps.a.start=3ms`.
    #[must_use]
    pub fn flags(&self) -> String {
        self.starts.iter().fold(String::new(), |mut text, (app, ns)| {
            let _ = write!(text, " --set apps.{app}.start={ns}ns");
            text
        })
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
        simulate_one(&plan, &mut ()).map(|report| (round, plan, report))
    };
    let all: Vec<_> = on_threads(rounds as usize, jobs, || (0..rounds).into_par_iter().map(one).collect())
        .map_err(RunError::threads(jobs))?;
    let mut found: Vec<Witness> = Vec::new();
    for answer in all {
        let (run, plan, report) = answer.map_err(|why| refused(experiment, plan, why))?;
        let late = report.apps.iter().map(|app| app.counters.late_responses).sum();
        for app in &report.apps {
            let Some(times) = app.responses.as_ref().and_then(|times| times.quantiles()) else { continue };
            let starts = || plan.apps.iter().map(|app| (app.name.clone(), app.start.ns())).collect();
            let response_ns = times.max.ns();
            match found.iter_mut().find(|known| known.app == app.name) {
                Some(known) if known.response_ns >= response_ns => {}
                Some(known) => {
                    *known = Witness { app: app.name.clone(), response_ns, late, run, starts: starts() }
                }
                None => {
                    found.push(Witness { app: app.name.clone(), response_ns, late, run, starts: starts() })
                }
            }
        }
    }
    Ok(found)
}
