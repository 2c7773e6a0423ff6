//! What each program of each run took: the lines of the form `jobs`.

use scenario::plan::Experiment;
use schemars::JsonSchema;
use serde::Serialize;
use sim_core::outcome::{AppReport, RunReport};
use sim_core::time::{Span, Time};

use super::policy_name;
use crate::statistics::rounded;

/// A program of a run, a copy of an application or the only one. Times are in seconds of simulated time.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Job {
    /// Label of the configuration; empty without a sweep.
    pub configuration: String,
    /// Label of the policy, or `dedicated`.
    pub policy: String,
    /// Replicate, from 0.
    pub replicate: u32,
    /// Its seed.
    pub seed: u64,
    /// `completed`, `horizon`, `deadlock`, `livelock` or `failed`: how the run ended.
    pub outcome: String,
    /// The application.
    pub app: String,
    /// Number of the copy, from 1; absent for an application without copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<u32>,
    /// Whether it runs in the background.
    pub background: bool,
    /// Its tasks.
    pub tasks: usize,
    /// When it arrived.
    pub arrival: f64,
    /// When it was admitted and started.
    pub start: f64,
    /// When one of its tasks first had a cpu; `null` when none ever did.
    pub first_run: Option<f64>,
    /// When its last task ended; `null` when it was cut off.
    pub end: Option<f64>,
    /// end - arrival.
    pub turnaround: Option<f64>,
    /// first_run - arrival.
    pub first_response: Option<f64>,
    /// start - arrival, and the mean over its tasks of the time in run queues; `null` when it was cut off.
    pub waiting: Option<f64>,
    /// How long after its release each piece of its work should be done; absent without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<f64>,
    /// turnaround - deadline, of a program with a deadline that answers no requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness: Option<f64>,
    /// Cpu time of its tasks, polling included.
    pub cpu_time: f64,
    /// Requests that it answered; absent where it answers none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<Responses>,
}

/// Times in which requests were answered, s. Mean and max are exact, the others within 0.8 %.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Responses {
    /// How many.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The longest one.
    pub max: f64,
    /// How many took longer than the deadline; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
}

/// All programs of all runs, in run order.
pub(super) fn all(experiment: &Experiment, reports: &[RunReport]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (plan, run) in experiment.runs.iter().zip(reports) {
        let outcome = super::outcome(plan, run).map_or("completed", |(word, _)| word);
        let configuration = experiment.configurations.get(plan.configuration);
        let mut counts = vec![0; experiment.apps.len()];
        for (app, entry) in run.apps.iter().zip(&plan.entries) {
            counts[*entry] += 1;
            let copies = plan.entries.iter().filter(|other| *other == entry).count();
            jobs.push(Job {
                configuration: configuration.map_or_else(String::new, |c| c.label.clone()),
                policy: policy_name(experiment, plan.policy).into(),
                replicate: plan.replicate,
                seed: plan.options.seed,
                outcome: outcome.into(),
                app: experiment.apps[*entry].clone(),
                copy: (copies > 1).then_some(counts[*entry]),
                ..of(app)
            });
        }
    }
    jobs
}

fn seconds(span: Span) -> f64 {
    rounded(span.ns() as f64 / 1e9)
}

fn at(time: Time) -> f64 {
    rounded(time.ns() as f64 / 1e9)
}

/// A program without its place.
fn of(app: &AppReport) -> Job {
    let responses = app.responses.as_ref().and_then(|all| all.quantiles());
    let late = app.deadline.filter(|_| !app.requests).zip(app.turnaround());
    let lateness = late.map(|(deadline, took)| (took.ns() as f64 - deadline.ns() as f64) / 1e9);
    Job {
        configuration: String::new(),
        policy: String::new(),
        replicate: 0,
        seed: 0,
        outcome: String::new(),
        app: String::new(),
        copy: None,
        background: app.background,
        tasks: app.task_cpu.len(),
        arrival: at(app.arrived),
        start: at(app.start),
        first_run: app.first_run.map(at),
        end: app.end.map(at),
        turnaround: app.turnaround().map(seconds),
        first_response: app.first_response().map(seconds),
        waiting: app.waiting_time().map(seconds),
        deadline: app.deadline.map(seconds),
        lateness: lateness.map(rounded),
        cpu_time: rounded(app.counters.cpu_ns as f64 / 1e9),
        responses: responses.map(|all| Responses {
            count: all.count,
            mean: seconds(all.mean),
            p50: seconds(all.median),
            p90: seconds(all.p90),
            p99: seconds(all.p99),
            max: seconds(all.max),
            late: app.deadline.map(|_| app.counters.late_responses),
        }),
    }
}
