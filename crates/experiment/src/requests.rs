//! `oversim run --requests`: each request of a run as a line of JSON, written as it is answered.
//!
//! The lines are documented in `docs/results.md`. Nothing is kept: a run may answer any number of requests.

use std::io::{self, Write};

use scenario::plan::RunPlan;
use schemars::JsonSchema;
use serde::Serialize;
use sim_core::ids::TaskId;
use sim_core::observe::{Answered, Observer};
use sim_core::outcome::RunReport;
use sim_core::time::{Span, Time};

use crate::decisions::Nanoseconds;
use crate::run::simulate_one;

/// A request that a task has answered. Times are in seconds of simulated time, exact to the nanosecond;
/// instants count from the start of the run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Request<'a> {
    /// The application that answered it.
    pub app: &'a str,
    /// The rank of the task that answered it.
    pub rank: u32,
    /// When it came: into its queue, or the instant of the timer or clock for which the task slept.
    pub arrival_s: f64,
    /// When the task began with it: it took it from its queue, had a cpu again after its sleep, or found that
    /// the instant of its clock had passed.
    pub begin_s: f64,
    /// When it was answered.
    pub end_s: f64,
    /// begin - arrival.
    pub wait_s: f64,
    /// end - arrival.
    pub response_s: f64,
    /// When it should have been answered; absent without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<f64>,
    /// Whether it was answered later; absent without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<bool>,
    /// end - deadline; 0 when it was answered in time; absent without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tardiness_s: Option<f64>,
}

/// Why there are no lines.
#[derive(Debug)]
pub enum Failure {
    /// The simulator refuses the run.
    Refused(String),
    /// They could not be written.
    Write(io::Error),
}

/// Whether a run has an application that answers requests.
#[must_use]
pub fn has(plan: &RunPlan) -> bool {
    plan.apps.iter().any(|app| app.requests)
}

/// Simulates a run and writes its requests in the order in which they are answered; with a window those that
/// are answered in it.
///
/// # Errors
/// A run that is refused, or a failure to write.
pub fn write(plan: &RunPlan, out: &mut dyn Write) -> Result<RunReport, Failure> {
    let mut clerk = Clerk::new(plan, out);
    let report = simulate_one(plan, &mut clerk).map_err(Failure::Refused)?;
    match clerk.failed {
        Some(error) => Err(Failure::Write(error)),
        None => Ok(report),
    }
}

/// Writes requests.
struct Clerk<'a> {
    plan: &'a RunPlan,
    out: &'a mut dyn Write,
    /// The first task of each application.
    first: Vec<u32>,
    /// Those that are answered up to this instant are left out: they are before the window.
    from: Option<Time>,
    /// The line, kept for its memory.
    line: Vec<u8>,
    failed: Option<io::Error>,
}

impl<'a> Clerk<'a> {
    fn new(plan: &'a RunPlan, out: &'a mut dyn Write) -> Self {
        let mut next = 0;
        let of = |tasks| {
            next += tasks;
            next - tasks
        };
        let first = plan.apps.iter().map(|app| app.tasks).map(of).collect();
        let from = plan.window.filter(|begin| *begin > Time::ZERO);
        Self { plan, out, first, from, line: Vec::new(), failed: None }
    }

    fn line(&mut self, end: Time, answered: &Answered) -> io::Result<()> {
        let TaskId(task) = answered.task;
        let number = self.first.partition_point(|first| *first <= task).saturating_sub(1);
        let Some(app) = self.plan.apps.get(number) else { return Ok(()) };
        let came = answered.came;
        let due = app.deadline.map(|deadline| came.saturating_add(deadline));
        let request = Request {
            app: &app.name,
            rank: task - self.first.get(number).copied().unwrap_or(0),
            arrival_s: instant(came),
            begin_s: instant(answered.begun),
            end_s: instant(end),
            wait_s: seconds(answered.begun.since(came)),
            response_s: seconds(end.since(came)),
            deadline_s: due.map(instant),
            late: due.map(|due| end > due),
            tardiness_s: due.map(|due| seconds(end.since(due))),
        };
        self.line.clear();
        let mut json = serde_json::Serializer::with_formatter(&mut self.line, Nanoseconds);
        request.serialize(&mut json)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }
}

impl Observer for Clerk<'_> {
    fn wants_requests(&self) -> bool {
        true
    }

    fn answered(&mut self, at: Time, request: &Answered) {
        if self.failed.is_none() && self.from.is_none_or(|from| at > from) {
            self.failed = self.line(at, request).err();
        }
    }
}

fn seconds(span: Span) -> f64 {
    span.ns() as f64 / 1e9
}

fn instant(at: Time) -> f64 {
    seconds(at.since(Time::ZERO))
}
