//! From runs to a timeline: a first pass over each run chooses the window, a second one records it. Runs
//! repeat exactly, so nothing need be kept in between.

use std::rc::Rc;

use experiment::decisions::Words;
use experiment::run::on_threads;
use experiment::run::simulate_one;
use notation::lists;
use notation::parameter::Kind;
use rayon::prelude::*;
use scenario::plan::RunPlan;
use sim_core::ids::CpuId;
use sim_core::machine::Machine;
use sim_core::outcome::Outcome;
use sim_core::time::Time;

use crate::timeline::lives::{Lives, Stays, Works};
use crate::timeline::message::{Run, instant, message, parts};
use crate::timeline::names::Names;
use crate::timeline::overview::Overview;
use crate::timeline::record::{Cell, Grid, Recorder, Recording, RowSpec};
use crate::timeline::rows::rows;
use crate::timeline::states::State;
use crate::timeline::window::{Aim, Window, choose, inside};
use crate::timeline::{thread_message, thread_rows};
use trace::slices::{Owners, Sink, Slices};
use trace::threads::Threads;

/// Columns of a picture: slices shorter than a third of a per mille of the window are put together.
const PICTURE_COLUMNS: u32 = 360;
/// Rows of a picture that can be told apart, all runs together.
const PICTURE_ROWS: usize = 128;
/// Rows of one run.
const MOST_ROWS: usize = 64;
/// Rows of one run in a terminal.
const TEXT_ROWS: usize = 32;
/// Rows of all runs that are high enough for numbers of threads, or fit a terminal: a few barriers are shown
/// on so many.
const CLOSE_ROWS: usize = 40;
/// Rows of all runs up to which a picture shows the lengths of queues unasked.
const QUEUE_ROWS: usize = 16;
/// A part that is magnified has so many slices per cpu and so many rows of all runs, and is at most so many
/// times shorter than the window, one divided by this.
const INSET_SLICES: u128 = 30;
/// See [`INSET_SLICES`].
const INSET_ROWS: usize = 8;
/// See [`INSET_SLICES`].
const LEAST_ZOOM: u64 = 4;
/// Most runs in one timeline.
const MOST_RUNS: usize = 4;

/// A run and what to call it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// What distinguishes it from the others: its policy, or a setting.
    pub label: &'a str,
    /// The same in a sentence: `under LOAD`, `with runtime=spin`.
    pub place: &'a str,
    /// The run.
    pub plan: &'a RunPlan,
}

/// What to show; the default is the most informative window of all cpus.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// From this instant, in nanoseconds of simulated time.
    pub from: Option<u64>,
    /// To this instant.
    pub to: Option<u64>,
    /// Only these cpus.
    pub cpus: Option<Vec<u32>>,
    /// What the window is to show where neither `from` nor `to` is given.
    pub aim: Aim,
}

/// What the rows are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Rows {
    /// Cpus.
    #[default]
    Cpus,
    /// Threads: all, or those of a list as `0-7` or `web.0-3,batch`.
    Threads(Option<String>),
}

/// What it is recorded for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Medium {
    /// A picture.
    Picture,
    /// A page that enlarges it: four times as fine as a picture.
    Page,
    /// Text with so many columns for the time axis, at least 1.
    Text(u32),
}

/// One run in a timeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    /// What distinguishes it from the others.
    pub label: String,
    /// The same in a sentence.
    pub place: String,
    /// What happened in the window.
    pub recording: Recording,
    /// When the run ended, in nanoseconds; none if it was left when the window was over.
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
    /// The applications of the runs.
    pub apps: Vec<String>,
    /// Every track has these rows.
    pub rows: Vec<RowSpec>,
    /// Cpus of the machine.
    pub machine_cpus: u32,
    /// The threads of the only application are told apart.
    pub threads: bool,
    /// A row is a thread, not one or several cpus.
    pub by_threads: bool,
    /// The lengths of the queues are shown even where there are many rows.
    pub queues: bool,
    /// The runs have different policies.
    pub policies: bool,
    /// Why a row is not a cpu, or which cpus have no row; or empty.
    pub remark: String,
    /// The runs.
    pub tracks: Vec<Track>,
    /// A short part of the window, magnified, where slices are too thin to be drawn.
    pub inset: Option<Box<Timeline>>,
}

/// Records a timeline of one to four runs of one scenario on one machine.
///
/// # Errors
/// A sentence: cpus that the machine does not have, a window that is empty or begins after all runs have
/// ended, runs that do not fit one picture, a run that the simulator refuses.
pub fn record(subjects: &[Subject<'_>], request: &Request, medium: Medium) -> Result<Timeline, String> {
    record_rows(subjects, request, &Rows::Cpus, medium)
}

/// The same with these rows.
///
/// # Errors
/// As [`record`], and threads that do not exist.
pub fn record_rows(
    subjects: &[Subject<'_>],
    request: &Request,
    rows: &Rows,
    medium: Medium,
) -> Result<Timeline, String> {
    let Some(first) = subjects.first() else { return Err("there is no run to show".into()) };
    if subjects.len() > MOST_RUNS {
        return Err(format!("{} runs do not fit one picture; at most {MOST_RUNS} do", subjects.len()));
    }
    let cpus = chosen(request, first.plan.machine.cpus())?;
    // Without threads the global ones of parallel iterators would panic.
    on_threads(subjects.len(), 0, || recorded(subjects, (request, rows), cpus, medium))
        .map_err(|error| format!("cannot start threads: {error}"))?
}

/// Records runs on these cpus, at least one run.
fn recorded(
    subjects: &[Subject<'_>],
    (request, wanted): (&Request, &Rows),
    cpus: Vec<u32>,
    medium: Medium,
) -> Result<Timeline, String> {
    let first = &subjects[0];
    let machine = &first.plan.machine;
    let stage = Stage { subjects, apps: union(subjects)?, machine: one_machine(subjects)? };
    let (window, ends) = match (request.from, request.to) {
        (Some(from), Some(to)) => {
            in_order(from, to)?;
            (Window { from, to, why: String::new(), close: false }, Vec::new())
        }
        _ => stage.looked_for(request, &cpus)?,
    };
    let (rows, remark) = match wanted {
        Rows::Cpus => stage.rows(&cpus, request.cpus.is_none() && window.close, medium),
        Rows::Threads(list) => stage.thread_rows(list.as_deref(), medium)?,
    };
    let (columns, exact) = match medium {
        Medium::Picture => (PICTURE_COLUMNS, true),
        Medium::Page => (4 * PICTURE_COLUMNS, true),
        Medium::Text(columns) => (columns, false),
    };
    let threads = stage.apps.len() == 1 && rows.iter().all(|row| row.cpus.len() < 2);
    let grid = Grid { rows, counted: cpus, columns, exact, threads };
    let (window, tracks) = stage.recorded(&grid, window, &ends)?;
    let magnified = if medium == Medium::Picture { stage.magnified(&grid, &window, &tracks)? } else { None };
    let Stage { apps, .. } = stage;
    let policies = subjects.iter().any(|subject| subject.plan.policy != first.plan.policy);
    let (rows, machine_cpus) = (grid.rows, machine.cpus());
    let by_threads = matches!(wanted, Rows::Threads(_));
    let (queues, inset) = (false, None);
    let mut timeline = Timeline {
        window,
        apps,
        rows,
        machine_cpus,
        threads,
        by_threads,
        queues,
        policies,
        remark,
        tracks,
        inset,
    };
    timeline.inset = magnified.map(|(rows, window, tracks)| {
        let remark = String::new();
        Box::new(Timeline { rows, window, tracks, remark, inset: None, ..timeline.clone() })
    });
    Ok(timeline)
}

/// The machine of all runs.
fn one_machine<'a>(subjects: &[Subject<'a>]) -> Result<&'a Machine, String> {
    let first: &Machine = &subjects[0].plan.machine;
    for other in &subjects[1..] {
        let machine: &Machine = &other.plan.machine;
        let same_nodes =
            || (0..first.cpus()).all(|cpu| machine.node_of(CpuId(cpu)) == first.node_of(CpuId(cpu)));
        if machine.cpus() != first.cpus() || !same_nodes() {
            let (one, two) = (subjects[0].label, other.label);
            return Err(format!(
                "{one} and {two} have machines with other cpus or nodes: one picture cannot show both"
            ));
        }
    }
    Ok(first)
}

/// The applications of all runs, in their common order.
fn union(subjects: &[Subject<'_>]) -> Result<Vec<String>, String> {
    let mut all: Vec<String> = Vec::new();
    for subject in subjects {
        let mut next = 0;
        for app in &subject.plan.apps {
            match all.iter().position(|name| *name == app.name) {
                Some(at) => next = at + 1,
                None => {
                    all.insert(next, app.name.clone());
                    next += 1;
                }
            }
        }
    }
    let fits = |subject: &Subject<'_>| Owners::among(&all, named(subject.plan)).is_some();
    if subjects.iter().all(fits) {
        return Ok(all);
    }
    Err("the applications of the runs have different orders: one picture cannot show them".into())
}

/// The applications of a run: a name and a number of tasks each.
fn named(plan: &RunPlan) -> impl Iterator<Item = (&str, u32)> {
    plan.apps.iter().map(|app| (app.name.as_str(), app.tasks))
}

/// Refuses a window that ends before it begins.
pub(super) fn in_order(from: u64, to: u64) -> Result<(), String> {
    if from < to {
        return Ok(());
    }
    let (from, to) = (Kind::Duration.show(from), Kind::Duration.show(to));
    Err(format!("the window ends at {to}, before it begins at {from}"))
}

/// The cpus to show, rising.
pub(super) fn chosen(request: &Request, count: u32) -> Result<Vec<u32>, String> {
    let Some(cpus) = &request.cpus else { return Ok((0..count).collect()) };
    if let Some(unknown) = cpus.iter().find(|cpu| **cpu >= count) {
        return Err(format!("there is no cpu {unknown}: the machine has the cpus 0-{}", count - 1));
    }
    let mut cpus = cpus.clone();
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.is_empty() { Err("no cpu is to be shown".into()) } else { Ok(cpus) }
}

/// When a run ended, in nanoseconds, and whether it completed.
type End = (u64, bool);

/// Rows, window and runs of a part that is magnified.
type Magnified = (Vec<RowSpec>, Window, Vec<Track>);

/// True for a run of which more than a quarter is slices that are too thin to be drawn.
fn crowded(track: &Track) -> bool {
    let cells = || track.recording.rows.iter().flatten();
    let length = |cell: &Cell| cell.to - cell.from;
    let all: u64 = cells().map(length).sum();
    let thin = cells().filter(|cell| cell.slice.is_none() && cell.mix.parts().nth(1).is_some());
    thin.map(length).sum::<u64>() > all / 4
}

/// The runs of a timeline and what they have in common.
struct Stage<'a> {
    subjects: &'a [Subject<'a>],
    apps: Vec<String>,
    machine: &'a Machine,
}

impl Stage<'_> {
    /// The window that is to be looked for, or whose begin or end is; and the ends of the runs.
    fn looked_for(&self, request: &Request, cpus: &[u32]) -> Result<(Window, Vec<End>), String> {
        let view = |subject: &Subject<'_>| self.overview(subject.plan, cpus);
        let seen = self.subjects.par_iter().map(view).collect::<Result<Vec<(Overview, bool)>, String>>()?;
        let (views, completed): (Vec<Overview>, Vec<bool>) = seen.into_iter().unzip();
        let ends: Vec<End> = views.iter().map(Overview::end).zip(completed).collect();
        let end = views.iter().map(Overview::end).max().unwrap_or(0);
        if end == 0 {
            return Err("the run takes no time: there is nothing to show".into());
        }
        if request.from.is_none() && request.to.is_none() {
            let runs: Vec<&str> = self.subjects.iter().map(|subject| subject.label).collect();
            return Ok((choose(&views, &runs, request.aim), ends));
        }
        let (from, to) = (request.from.unwrap_or(0), request.to.unwrap_or(end).min(end));
        if from >= end {
            return Err(beyond(self.subjects.len(), from, end));
        }
        if from >= to {
            return Err("the window is empty: --to is to lie behind the start of the run".into());
        }
        Ok((Window { from, to, why: String::new(), close: false }, ends))
    }

    /// What a run is like, and whether it completed.
    fn overview(&self, plan: &RunPlan, cpus: &[u32]) -> Result<(Overview, bool), String> {
        let counted = (0..plan.machine.cpus()).map(|cpu| cpus.binary_search(&cpu).is_ok()).collect();
        let owners = self.owners(plan);
        let (view, _, completed) = watch(plan, owners, Overview::new(self.apps.len(), counted))?;
        Ok((view, completed))
    }

    fn owners(&self, plan: &RunPlan) -> Owners {
        let plain = || Owners::new(plan.apps.iter().map(|app| app.tasks));
        Owners::among(&self.apps, named(plan)).unwrap_or_else(plain)
    }

    /// The rows, fewer of them where a few barriers are shown, and what there is to say about them.
    fn rows(&self, cpus: &[u32], close: bool, medium: Medium) -> (Vec<RowSpec>, String) {
        let runs = self.subjects.len();
        let most = self.most_rows(medium);
        let asked = (cpus.len() < self.machine.cpus() as usize).then(|| lists::ranges(cpus.iter().copied()));
        if close && cpus.len() * runs > CLOSE_ROWS {
            let node = self.machine.node_of(CpuId(cpus[0]));
            let inside = cpus.iter().copied().filter(|cpu| self.machine.node_of(CpuId(*cpu)) == node);
            let part: Vec<u32> = inside.take(CLOSE_ROWS / runs).collect();
            let (shown, all) = (lists::ranges(part.iter().copied()), cpus.len());
            let (last, first) = (cpus[all - 1], if part.len() == 1 { "cpu" } else { "cpus" });
            let sums = match asked {
                Some(asked) => format!("cpus {asked}"),
                None => format!("all {all} cpus (--cpus 0-{last} draws all)"),
            };
            return (rows(self.machine, &part, most), format!("rows: {first} {shown}, sums: {sums}"));
        }
        let rows = rows(self.machine, cpus, most);
        let mut remark = asked.map_or_else(String::new, |asked| format!("shares: those of cpus {asked}"));
        if rows.iter().any(|row| row.cpus.len() > 1) {
            let stop = if remark.is_empty() { "" } else { "; " };
            let count = cpus.len();
            remark.push_str(stop);
            remark.push_str(&format!(
                "a row is the mean of several of the {count} cpus; --cpus shows some one by one"
            ));
        }
        (rows, remark)
    }

    /// Rows of one run that fit.
    fn most_rows(&self, medium: Medium) -> usize {
        match medium {
            Medium::Picture | Medium::Page => (PICTURE_ROWS / self.subjects.len()).min(MOST_ROWS),
            Medium::Text(_) => TEXT_ROWS,
        }
    }

    /// A row for each thread that any of the runs has.
    fn thread_rows(&self, list: Option<&str>, medium: Medium) -> Result<(Vec<RowSpec>, String), String> {
        let most = |name: &String| {
            let all = self.subjects.iter().flat_map(|subject| named(subject.plan));
            all.filter(|(app, _)| app == name).map(|(_, tasks)| tasks).max().unwrap_or(0)
        };
        let apps: Vec<(String, u32)> = self.apps.iter().map(|name| (name.clone(), most(name))).collect();
        thread_rows::rows(&apps, list, self.most_rows(medium))
    }

    /// The window of all runs, with the ends of the runs where these are known; cut where the last one ends.
    fn recorded(&self, grid: &Grid, window: Window, ends: &[End]) -> Result<(Window, Vec<Track>), String> {
        let mut tracks = self.tracks(grid, (window.from, window.to))?;
        if ends.is_empty() {
            let end = tracks.iter().map(|track| track.end.unwrap_or(u64::MAX)).max().unwrap_or(0);
            if end <= window.from {
                return Err(beyond(self.subjects.len(), window.from, end));
            }
            if end < window.to {
                return Ok((Window { to: end, ..window.clone() }, self.tracks(grid, (window.from, end))?));
            }
        }
        for (track, (end, completed)) in tracks.iter_mut().zip(ends) {
            (track.end, track.completed) = (Some(*end), *completed);
        }
        Ok((window, tracks))
    }

    /// A short part of the window in the first rows, where much of the picture is slices that are too thin to
    /// be drawn and the part shows them.
    fn magnified(&self, grid: &Grid, window: &Window, tracks: &[Track]) -> Result<Option<Magnified>, String> {
        let length = window.to - window.from;
        let slices = tracks.iter().map(|track| track.recording.slices).max().unwrap_or(0).max(1);
        let each = u128::from(length) * grid.counted.len() as u128 / u128::from(slices);
        let wanted = u64::try_from(each * INSET_SLICES).unwrap_or(length);
        if wanted > length / LEAST_ZOOM || wanted < 10 || !tracks.iter().any(crowded) {
            return Ok(None);
        }
        let (from, to) = inside((window.from, window.to), wanted);
        let rows: Vec<RowSpec> = grid.rows.iter().take((INSET_ROWS / tracks.len()).max(1)).cloned().collect();
        let grid = Grid { rows, ..grid.clone() };
        let tracks = self.tracks(&grid, (from, to))?;
        let window = Window { from, to, why: String::new(), close: false };
        Ok(Some((grid.rows, window, tracks)))
    }

    fn tracks(&self, grid: &Grid, window: (u64, u64)) -> Result<Vec<Track>, String> {
        self.subjects.par_iter().map(|subject| self.track(subject, grid, window)).collect()
    }

    /// Records the window of a run, which is left when the window is over.
    fn track(&self, subject: &Subject<'_>, grid: &Grid, window: (u64, u64)) -> Result<Track, String> {
        let plan = until(subject.plan, window.1);
        let owners = self.owners(&plan);
        let cpus = plan.machine.cpus();
        let recorder = Recorder::new(Words::new(&plan), owners.clone(), cpus, grid, window);
        let lives = Lives::new(Names::new(&plan), owners.clone(), cpus, grid, window);
        let mut works = Slices::new(cpus, owners.clone(), Works(Rc::clone(&lives)));
        let stays = Stays(Rc::clone(&lives));
        let mut watchers = (
            Slices::new(cpus, owners.clone(), recorder).of(&plan.apps, &plan.objects),
            Threads::new(cpus, &plan.apps, &plan.objects, stays),
        );
        let report = simulate_one(&plan, &mut (&mut watchers, &mut works))?;
        let (end, completed) = (report.makespan.ns(), report.outcome == Outcome::Completed);
        let mut recording = watchers.0.finish().finish();
        drop((works.finish(), watchers.1.finish(report.makespan)));
        lives.borrow_mut().finish(&mut recording);
        let end = (completed || end < window.1).then_some(end);
        Ok(Track {
            label: subject.label.to_owned(),
            place: subject.place.to_owned(),
            recording,
            end,
            completed,
            owners,
        })
    }
}

/// A run that is left at an instant.
pub(super) fn until(plan: &RunPlan, at: u64) -> RunPlan {
    let mut plan = plan.clone();
    plan.options.horizon = plan.options.horizon.min(Time::from_ns(at));
    plan
}

/// Nothing is left to show.
pub(super) fn beyond(runs: usize, from: u64, end: u64) -> String {
    let which = if runs > 1 { "the longest run" } else { "the run" };
    format!(
        "the window begins at {}, but {which} ends at {}",
        Kind::Duration.show(from),
        Kind::Duration.show(end)
    )
}

/// Runs a plan with a sink; when it ended and whether it completed.
fn watch<S: Sink>(plan: &RunPlan, owners: Owners, sink: S) -> Result<(S, u64, bool), String> {
    let mut slices = Slices::new(plan.machine.cpus(), owners, sink);
    let report = simulate_one(plan, &mut slices)?;
    Ok((slices.finish(), report.makespan.ns(), report.outcome == Outcome::Completed))
}

impl Track {
    /// When the run ended, in words; empty when that is unknown.
    #[must_use]
    pub fn ending(&self) -> String {
        let Some(end) = self.end else { return String::new() };
        let how = if self.completed { "done" } else { "cut off" };
        format!("; {how} at {}", instant(end))
    }
}

impl Timeline {
    /// The name of an application.
    #[must_use]
    pub fn app(&self, app: usize) -> &str {
        self.apps.get(app).map_or("", String::as_str)
    }

    /// True when every row is one cpu, or a thread.
    #[must_use]
    pub fn single_cpus(&self) -> bool {
        self.rows.iter().all(|row| row.cpus.len() < 2)
    }

    /// What the rows of a group are of: a node, or an application.
    #[must_use]
    pub fn group(&self, row: &RowSpec) -> String {
        match row.thread {
            Some((app, _)) => self.app(app as usize).to_owned(),
            None => format!("node {}", row.group),
        }
    }

    /// True when the lengths of queues are shown: on request, or in few rows.
    #[must_use]
    pub fn shows_queues(&self) -> bool {
        let rows = self.rows.len() * self.tracks.len();
        let all = || self.tracks.iter().flat_map(|track| track.recording.queues.iter().flatten());
        !self.by_threads && (self.queues || rows <= QUEUE_ROWS) && all().any(|ns| *ns > 0)
    }

    /// The longest mean queue of a cpu in one column, in threads; at least 1.
    #[must_use]
    pub fn longest_queue(&self) -> f64 {
        let mean = |track: &Track| {
            let rows = self.rows.iter().zip(&track.recording.queues);
            let longest = rows.filter_map(|(row, sums)| {
                let most = *sums.iter().max()? as f64 / row.cpus.len().max(1) as f64;
                Some(most * sums.len() as f64 / (self.window.to - self.window.from) as f64)
            });
            longest.fold(1.0, f64::max)
        };
        self.tracks.iter().map(mean).fold(1.0, f64::max)
    }

    /// What distinguishes the runs in the window, or what a single run does there: a sentence, or empty.
    #[must_use]
    pub fn message(&self) -> String {
        if self.by_threads
            && let Some(said) = self.of_threads()
        {
            return said;
        }
        let tracks = self.tracks.iter();
        let runs = tracks.map(|track| Run {
            place: &track.place,
            total: &track.recording.total,
            done: track.end.filter(|_| track.completed),
        });
        message(&runs.collect::<Vec<_>>(), &self.apps)
    }

    /// Which thread waits longest, and for what.
    fn of_threads(&self) -> Option<String> {
        let name = |row: &RowSpec| format!("{} {}", self.group(row), row.name).trim_end().to_owned();
        let names: Vec<String> = self.rows.iter().map(name).collect();
        let times = |track: &Track| {
            let rows = track.recording.rows.clone();
            move |thread: usize, state: State| -> u64 {
                let cells = rows.get(thread).into_iter().flatten();
                let parts = cells.flat_map(|cell| cell.mix.parts());
                parts.filter(|part| part.1 == state).map(|part| part.2).sum()
            }
        };
        let each: Vec<_> = self.tracks.iter().map(times).collect();
        let runs: Vec<(&str, thread_message::Times<'_>)> = self
            .tracks
            .iter()
            .zip(&each)
            .map(|(track, times)| (track.place.as_str(), times as thread_message::Times<'_>))
            .collect();
        thread_message::message(&names, &runs, self.window.to - self.window.from)
    }

    /// What the cpus of a track did in the window, how often threads met, and when the run ended.
    #[must_use]
    pub fn facts(&self, track: &Track) -> String {
        let mut words = parts(&track.recording.total);
        let any = |kind: usize| self.tracks.iter().any(|track| track.recording.counts[kind] > 0);
        for (kind, noun) in [(2, "barrier"), (0, "migration")] {
            if any(kind) {
                words.push_str(&match track.recording.counts[kind] {
                    0 => format!("; no {noun}"),
                    1 => format!("; 1 {noun}"),
                    count => format!("; {count} {noun}s"),
                });
            }
        }
        words + &track.ending()
    }

    /// The window and why it was chosen: one line.
    #[must_use]
    pub fn headline(&self) -> String {
        let Window { from, to, why, .. } = &self.window;
        let digits = match to - from {
            0..100_000 => 7,
            100_000..10_000_000 => 5,
            10_000_000..100_000_000 => 4,
            _ => 3,
        };
        let (from, to) = (*from as f64 / 1e9, *to as f64 / 1e9);
        let stop = if why.is_empty() { "" } else { ", " };
        let remark = if self.remark.is_empty() { String::new() } else { format!("; {}", self.remark) };
        format!("{from:.digits$} s to {to:.digits$} s{stop}{why}{remark}")
    }

    /// The cpus shown, as one writes them: `0-15`.
    #[must_use]
    pub fn cpus(&self) -> String {
        let mut cpus: Vec<u32> = self.rows.iter().flat_map(|row| row.cpus.iter().copied()).collect();
        cpus.sort_unstable();
        lists::ranges(cpus)
    }
}

/// The longest wait for locks of all tasks of an application in one column of any row: the full height of a
/// lane, in nanoseconds.
pub(super) fn most_waiting(timeline: &Timeline) -> u64 {
    let columns = timeline.tracks.iter().flat_map(|track| track.recording.locks.values().flatten());
    columns.copied().max().unwrap_or(0)
}

/// The mean number of tasks that wait in a column, of the waits of all in nanoseconds.
pub(super) fn waiting_tasks(waits: u64, columns: usize, (from, to): (u64, u64)) -> String {
    let mean = waits as f64 * columns as f64 / (to - from).max(1) as f64;
    if mean < 10.0 { format!("{mean:.1}") } else { format!("{mean:.0}") }
}

/// Timelines for tests.
#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use crate::timeline::states::Mix;

    /// One run of one application on one cpu in the first microsecond.
    pub(crate) fn one(total: Mix) -> Timeline {
        let track = Track {
            label: "LOAD".into(),
            place: "under LOAD".into(),
            recording: Recording { total, ..Recording::default() },
            end: None,
            completed: false,
            owners: Owners::new([1]),
        };
        Timeline {
            window: Window { from: 0, to: 1000, why: String::new(), close: false },
            apps: vec!["cg".into()],
            rows: vec![RowSpec { name: "0".into(), group: 0, cpus: vec![0], thread: None }],
            machine_cpus: 1,
            threads: false,
            by_threads: false,
            queues: false,
            policies: false,
            remark: String::new(),
            tracks: vec![track],
            inset: None,
        }
    }
}
