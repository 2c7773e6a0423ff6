//! The task that lost most between two policies, and what it did around its worst moment under each.

use scenario::plan::RunPlan;
use sim_core::ids::TaskId;
use sim_core::time::{Span, Time};

use super::answer::Worst;
use super::runs::{Measured, Sides, watched};
use super::seen::{Aim, Close, Doing, Seen, SeenTask};
use crate::trial::{self, Failed, Means};

/// Columns of a timeline.
const COLUMNS: usize = 64;

/// A task, and by how much its longest wait is longer under one policy.
struct Lost<'a> {
    sides: &'a Sides,
    task: usize,
    seen: [SeenTask; 2],
    by: Span,
}

impl Lost<'_> {
    /// The policy under which it waits longer.
    fn under(&self) -> usize {
        usize::from(self.seen[1].worst() > self.seen[0].worst())
    }
}

/// The task of the programs whose longest wait differs most in the first replicate, of all scenarios; of
/// equal ones the first.
///
/// # Errors
/// The user interrupted.
pub(super) fn find(measured: &[Measured<'_>], means: Means<'_>) -> Result<Option<Worst>, Failed> {
    let mut most: Option<Lost<'_>> = None;
    for (sides, runs) in measured {
        let seen = runs.each_ref().map(|side| side.first().and_then(|run| run.seen.as_ref()));
        let ([Some(first), Some(second)], Some(plan)) = (seen, sides.plans(0).next()) else { continue };
        for (task, by) in differences(plan, [first, second]) {
            if by > most.as_ref().map_or(Span::ZERO, |most| most.by) {
                let seen = [first, second].map(|seen| seen.tasks.get(task).copied().unwrap_or_default());
                most = Some(Lost { sides, task, seen, by });
            }
        }
    }
    most.map(|lost| shown(&lost, means)).transpose()
}

/// The tasks of the programs, and by how much their longest waits differ.
fn differences<'a>(plan: &'a RunPlan, seen: [&'a Seen; 2]) -> impl Iterator<Item = (usize, Span)> + 'a {
    let programs = plan.apps.iter().flat_map(|app| (0..app.tasks).map(|_| !app.background));
    let pairs = seen[0].tasks.iter().zip(&seen[1].tasks).zip(programs).enumerate();
    pairs.filter(|(_, (_, program))| *program).map(|(task, ((first, second), _))| {
        let (first, second) = (first.worst(), second.worst());
        (task, first.max(second).saturating_sub(first.min(second)))
    })
}

/// Simulates both runs once more and looks at the task.
fn shown(lost: &Lost<'_>, means: Means<'_>) -> Result<Worst, Failed> {
    let under = lost.under();
    let moment = lost.seen[under].longest;
    // As much before and behind it as half of its length.
    let around = Span::from_ns(moment.1.since(moment.0).ns() / 2);
    let window = (moment.0.saturating_sub(around), moment.1.saturating_add(around));
    let aim = Aim { task: TaskId(lost.task as u32), window, parts: COLUMNS, moment };
    let plans: Vec<&RunPlan> = (0..2).filter_map(|side| lost.sides.plans(side).next()).collect();
    let closely = trial::each(plans.len(), means, |at, end| match plans.get(at) {
        Some(plan) => Ok(watched(plan, Some(aim.clone()), end)?.1.close.unwrap_or_default()),
        None => Err("there is no such run".to_owned()),
    })?;
    let closely = closely.into_iter().collect::<Result<Vec<_>, _>>().map_err(Failed::Refused)?;
    let timeline = |side: usize| closely.get(side).map_or_else(String::new, timeline);
    let (app, rank) = owner(plans.first().copied(), lost.task);
    let both = |of: fn(&SeenTask) -> Span| lost.seen.each_ref().map(|seen| of(seen).ns() as f64 / 1e9);
    Ok(Worst {
        scenario: lost.sides.name.clone(),
        subject: lost.sides.subject,
        seed: plans.first().map_or(0, |plan| plan.options.seed),
        app,
        rank,
        under,
        longest_s: both(SeenTask::worst),
        waited_s: both(|seen| seen.waited),
        moment_ns: ends(moment),
        cpu: lost.seen[under].at,
        idle_s: closely.get(under).map_or(0.0, |close| close.idle.ns() as f64 / 1e9),
        window_ns: ends(window),
        timelines: [timeline(0), timeline(1)],
    })
}

const fn ends((from, to): (Time, Time)) -> [u64; 2] {
    [from.ns(), to.ns()]
}

/// The application of a task and its rank there.
fn owner(plan: Option<&RunPlan>, task: usize) -> (String, u32) {
    let mut rank = task as u32;
    for app in plan.map_or(&[][..], |plan| &plan.apps) {
        match rank.checked_sub(app.tasks) {
            Some(rest) => rank = rest,
            None => return (app.name.clone(), rank),
        }
    }
    (String::new(), rank)
}

/// What the task did for most of each part of the window; of equal ones what comes first in [`SHOWN`].
fn timeline(close: &Close) -> String {
    let most = |part: &[Span; 5]| {
        let time = |doing: Doing| part.get(doing as usize).copied().unwrap_or(Span::ZERO);
        let (_, symbol) = SHOWN.into_iter().rev().max_by_key(|(doing, _)| time(*doing)).unwrap_or(SHOWN[0]);
        let any = part.iter().any(|time| *time > Span::ZERO);
        if any { symbol } else { '-' }
    };
    close.parts.iter().map(most).collect()
}

/// What a task does, and the letter of it.
const SHOWN: [(Doing, char); 5] = [
    (Doing::Waits, 'w'),
    (Doing::Runs, 'r'),
    (Doing::Polls, 'p'),
    (Doing::Sleeps, 's'),
    (Doing::Absent, '-'),
];
