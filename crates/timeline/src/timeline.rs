//! From runs to a timeline: a first pass over each run chooses the window, a second one records it. Runs repeat exactly, so
//! nothing need be kept in between.

use experiment::decisions::Words;
use experiment::plan::RunPlan;
use experiment::run::simulate_one;
use notation::lists;
use rayon::prelude::*;
use sim_core::outcome::Outcome;
use sim_core::time::Time;

use crate::contrast::contrast;
use crate::overview::Overview;
use crate::record::{Grid, Recorder, Recording, RowSpec};
use crate::rows::rows;
use crate::slices::{Owners, Sink, Slices};
use crate::window::{Window, choose};

/// Columns of a picture: slices shorter than a third of a per mille of the window are put together.
const PICTURE_COLUMNS: u32 = 360;
/// Rows of a picture that can be told apart, all runs together.
const PICTURE_ROWS: usize = 128;
/// Rows of one run.
const MOST_ROWS: usize = 64;
/// Rows of one run in a terminal.
const TEXT_ROWS: usize = 32;
/// Most runs in one timeline.
const MOST_RUNS: usize = 4;

/// A run and what to call it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Its policy.
    pub label: &'a str,
    /// The run.
    pub plan: &'a RunPlan,
}

/// What to show; the default is the most telling window of all cpus.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// From this instant, in nanoseconds of simulated time.
    pub from: Option<u64>,
    /// To this instant.
    pub to: Option<u64>,
    /// Only these cpus.
    pub cpus: Option<Vec<u32>>,
}

/// What it is recorded for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Medium {
    /// A picture.
    Picture,
    /// Text with so many columns for the time axis, at least 1.
    Text(u32),
}

/// One run in a timeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    /// Its policy.
    pub label: String,
    /// What happened in the window.
    pub recording: Recording,
    /// When the run ended, in nanoseconds; none if it went on behind the window and nobody looked.
    pub end: Option<u64>,
    /// It ended because all applications had.
    pub completed: bool,
    /// Whose tasks are whose.
    pub owners: Owners,
}

/// A window of one run, or of several on one time axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timeline {
    /// The window and why it was chosen.
    pub window: Window,
    /// What tells the first two runs apart in it, or empty.
    pub contrast: String,
    /// The applications of the runs.
    pub apps: Vec<String>,
    /// Every track has these rows.
    pub rows: Vec<RowSpec>,
    /// Why a row is not a cpu, or empty.
    pub remark: String,
    /// The runs.
    pub tracks: Vec<Track>,
}

/// Records a timeline of one to four runs of one scenario on one machine.
///
/// # Errors
/// A sentence: cpus that the machine does not have, a window that is empty or begins after all runs have ended, a run that
/// the simulator refuses.
pub fn record(subjects: &[Subject<'_>], request: &Request, medium: Medium) -> Result<Timeline, String> {
    let Some(first) = subjects.first() else { return Err("there is no run to show".into()) };
    if subjects.len() > MOST_RUNS {
        return Err(format!("{} runs do not fit one picture; at most {MOST_RUNS} do", subjects.len()));
    }
    let machine = &first.plan.machine;
    if subjects.iter().any(|subject| subject.plan.machine.cpus() != machine.cpus()) {
        return Err("the runs are on machines of different sizes: one picture cannot show them".into());
    }
    let cpus = chosen(request, machine.cpus())?;
    let most = match medium {
        Medium::Picture => (PICTURE_ROWS / subjects.len()).min(MOST_ROWS),
        Medium::Text(_) => TEXT_ROWS,
    };
    let rows = rows(machine, &cpus, most);
    let runs: Vec<String> = subjects.iter().map(|subject| subject.label.to_owned()).collect();
    let apps: Vec<String> = first.plan.apps.iter().map(|app| app.name.clone()).collect();
    let (columns, exact) = match medium {
        Medium::Picture => (PICTURE_COLUMNS, true),
        Medium::Text(columns) => (columns, false),
    };
    let grid = Grid { rows, columns, exact };
    let (window, tracks) = match (request.from, request.to) {
        (Some(from), Some(to)) => asked(subjects, &grid, from, to)?,
        _ => looked_for(subjects, &grid, request, &cpus, &runs)?,
    };
    let remark = remark(&grid.rows, cpus.len());
    let contrast = match &tracks[..] {
        [one, two, ..] => {
            contrast((&one.label, &one.recording.total), (&two.label, &two.recording.total), &apps)
        }
        _ => None,
    };
    Ok(Timeline { window, contrast: contrast.unwrap_or_default(), apps, rows: grid.rows, remark, tracks })
}

/// The cpus to show, rising.
fn chosen(request: &Request, count: u32) -> Result<Vec<u32>, String> {
    let Some(cpus) = &request.cpus else { return Ok((0..count).collect()) };
    if let Some(unknown) = cpus.iter().find(|cpu| **cpu >= count) {
        return Err(format!("there is no cpu {unknown}: the machine has the cpus 0-{}", count - 1));
    }
    let mut cpus = cpus.clone();
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.is_empty() { Err("no cpu is to be shown".into()) } else { Ok(cpus) }
}

/// Why rows are not cpus.
fn remark(rows: &[RowSpec], cpus: usize) -> String {
    if rows.iter().all(|row| row.cpus.len() == 1) {
        return String::new();
    }
    format!(
        "{cpus} cpus are too many to tell apart: a row is the mean of several; --cpus shows some of them one by one"
    )
}

/// The window from one instant to another, without looking at what comes behind it.
fn asked(subjects: &[Subject<'_>], grid: &Grid, from: u64, to: u64) -> Result<(Window, Vec<Track>), String> {
    if from >= to {
        return Err(format!("the window ends at {}, before it begins at {}", seconds(to), seconds(from)));
    }
    let tracks = tracks(subjects, grid, (from, to))?;
    let ends = tracks.iter().map(|track| track.end.unwrap_or(u64::MAX));
    let end = ends.max().unwrap_or(0);
    if end <= from {
        return Err(beyond(subjects.len(), from, end));
    }
    let window = Window { from, to: to.min(end), why: String::new() };
    if end < to { Ok((window, self::tracks(subjects, grid, (from, end))?)) } else { Ok((window, tracks)) }
}

/// The window that is to be looked for, or whose begin or end is.
fn looked_for(
    subjects: &[Subject<'_>],
    grid: &Grid,
    request: &Request,
    cpus: &[u32],
    runs: &[String],
) -> Result<(Window, Vec<Track>), String> {
    let view = |subject: &Subject<'_>| overview(subject.plan, cpus);
    let seen = subjects.par_iter().map(view).collect::<Result<Vec<(Overview, bool)>, String>>()?;
    let (mut views, completed): (Vec<Overview>, Vec<bool>) = seen.into_iter().unzip();
    let end = views.iter().map(Overview::end).max().unwrap_or(0);
    if end == 0 {
        return Err("the run takes no time: there is nothing to show".into());
    }
    let window = if request.from.is_none() && request.to.is_none() {
        choose(&mut views, runs)
    } else {
        let (from, to) = (request.from.unwrap_or(0), request.to.unwrap_or(end).min(end));
        if from >= end {
            return Err(beyond(subjects.len(), from, end));
        }
        if from >= to {
            return Err("the window is empty: --to is to lie behind the start of the run".into());
        }
        Window { from, to, why: String::new() }
    };
    let mut tracks = tracks(subjects, grid, (window.from, window.to))?;
    for (track, (view, completed)) in tracks.iter_mut().zip(views.iter().zip(completed)) {
        (track.end, track.completed) = (Some(view.end()), completed);
    }
    Ok((window, tracks))
}

/// Nothing is left to show.
fn beyond(runs: usize, from: u64, end: u64) -> String {
    let which = if runs > 1 { "the longest run" } else { "the run" };
    format!("the window begins at {}, but {which} ends at {}", seconds(from), seconds(end))
}

fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

/// A run under the eyes of a sink; when it ended and whether it completed.
fn watch<S: Sink>(plan: &RunPlan, sink: S) -> Result<(S, u64, bool), String> {
    let owners = owners(plan);
    let mut slices = Slices::new(plan.machine.cpus(), owners, sink);
    let report = simulate_one(plan, &mut slices)?;
    Ok((slices.finish(), report.makespan.ns(), report.outcome == Outcome::Completed))
}

fn owners(plan: &RunPlan) -> Owners {
    Owners::new(plan.apps.iter().map(|app| app.tasks))
}

/// A run seen from afar, and whether it completed.
fn overview(plan: &RunPlan, cpus: &[u32]) -> Result<(Overview, bool), String> {
    let counted = (0..plan.machine.cpus()).map(|cpu| cpus.binary_search(&cpu).is_ok()).collect();
    let (view, _, completed) = watch(plan, Overview::new(owners(plan), counted))?;
    Ok((view, completed))
}

fn tracks(subjects: &[Subject<'_>], grid: &Grid, window: (u64, u64)) -> Result<Vec<Track>, String> {
    subjects.par_iter().map(|subject| track(subject, grid, window)).collect()
}

/// Records the window of a run, which is left when the window is over.
fn track(subject: &Subject<'_>, grid: &Grid, window: (u64, u64)) -> Result<Track, String> {
    let mut plan = subject.plan.clone();
    plan.options.horizon = plan.options.horizon.min(Time::from_ns(window.1));
    let recorder = Recorder::new(Words::new(&plan), owners(&plan), plan.machine.cpus(), grid, window);
    let (recorder, end, completed) = watch(&plan, recorder)?;
    let end = (completed || end < window.1).then_some(end);
    Ok(Track {
        label: subject.label.to_owned(),
        recording: recorder.finish(),
        end,
        completed,
        owners: owners(&plan),
    })
}

impl Track {
    /// When the run ended, in words; empty when nobody knows.
    #[must_use]
    pub fn ending(&self) -> String {
        let Some(end) = self.end else { return String::new() };
        let how = if self.completed { "done" } else { "cut off" };
        format!("; {how} at {:.3} s", end as f64 / 1e9)
    }
}

impl Timeline {
    /// The name of an application.
    #[must_use]
    pub fn app(&self, app: usize) -> &str {
        self.apps.get(app).map_or("", String::as_str)
    }

    /// True when every row is one cpu.
    #[must_use]
    pub fn single_cpus(&self) -> bool {
        self.rows.iter().all(|row| row.cpus.len() == 1)
    }

    /// The window, why it was chosen, and what tells the runs apart in it: one line.
    #[must_use]
    pub fn headline(&self) -> String {
        let Window { from, to, why } = &self.window;
        let digits = match to - from {
            0..100_000 => 7,
            100_000..10_000_000 => 5,
            _ => 3,
        };
        let (from, to) = (*from as f64 / 1e9, *to as f64 / 1e9);
        let stop = if why.is_empty() { "" } else { ", " };
        let colon = if self.contrast.is_empty() { "" } else { ": " };
        format!("{from:.digits$} s to {to:.digits$} s{stop}{why}{colon}{}", self.contrast)
    }

    /// The cpus shown, as one writes them: `0-15`.
    #[must_use]
    pub fn cpus(&self) -> String {
        let mut cpus: Vec<u32> = self.rows.iter().flat_map(|row| row.cpus.iter().copied()).collect();
        cpus.sort_unstable();
        lists::ranges(cpus)
    }
}
