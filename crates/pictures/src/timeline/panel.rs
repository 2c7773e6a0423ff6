//! One run in the picture: its heading, lanes of barriers and decisions, a row per cpu, migrations across
//! them.

use std::collections::{BTreeMap, BTreeSet};

use notation::number;
use sim_core::account::Category;
use sim_core::ids::{AppId, Id};

use crate::canvas::axis::times;
use crate::canvas::palette::{Colour, Dash, Fill, INK, MUTED, ON_LIGHT, PAPER};
use crate::canvas::{Anchor, Area, Canvas, Letters, font};
use crate::timeline::frame::Frame;
use crate::timeline::legend;
use crate::timeline::marks::{NEAR, instant, queues, wakes};
use crate::timeline::palette::Palette;
use crate::timeline::record::{Cell, Completed, Move};
use crate::timeline::runs::{Timeline, Track, most_waiting, waiting_tasks};
use crate::timeline::seen::Seen;
use crate::timeline::states::{Mix, Owner, State, each, lead};
use trace::slices::{Occupant, Owners, Slice};

const HEADING: Letters = Letters::new(16.0).bold();
const FACTS: Letters = Letters::new(13.0);
/// Height of a lane of marks in pixels.
const LANE: f64 = 13.0;
/// Height of the lane that counts migrations.
const COUNTS: f64 = 26.0;
/// Widest name of a lane.
pub(crate) const LANE_NAME: f64 = 110.0;
/// Names of lanes.
const DECISIONS: &str = "decisions";
const MIGRATIONS: &str = "migrations";
/// Lanes of barriers: those of so many applications at most.
const BARRIER_LANES: usize = 4;
/// A slice narrower than this many pixels has no hover text of its own.
const TITLED: f64 = 3.0;
/// A slice that is at least so wide ends with a seam of this width.
const SEAMED: f64 = 8.0;
const SEAM: f64 = 0.8;
const RANK: Letters = Letters::new(10.0).at(Anchor::Middle);
/// Up to so many migrations are drawn as arrows across the rows.
const ARROWS: usize = 60;
/// Texts in one hover text.
const TEXTS: usize = 6;
/// Text of the narrow column at the left.
pub(crate) const LABEL: Letters = Letters::new(11.0).in_colour(MUTED);
/// What a slice begins with is drawn where it is at least so many pixels wide.
const LED: f64 = 0.5;
/// Rows lower than this many pixels are not all labelled.
const LABELLED: f64 = 10.0;

/// The labels of the lanes that any panel has.
pub(crate) fn lanes(timeline: &Timeline, palette: &Palette) -> Vec<String> {
    let meets = |app: &usize| {
        timeline.tracks.iter().any(|track| track.recording.barriers.contains_key(&(*app as u32)))
    };
    let lane = |app: usize| {
        let what = if meets(&app) { "barriers" } else { "ends" };
        font::shortened(&format!("{} {what}", timeline.app(app)), LABEL, LANE_NAME)
    };
    let mut lanes: Vec<String> = meeting(timeline, palette).into_iter().map(lane).collect();
    lanes.extend(locking(timeline).into_iter().map(|app| lock_lane(timeline, app)));
    if decided(timeline) {
        lanes.push(DECISIONS.into());
    }
    if counted(timeline) {
        lanes.push(MIGRATIONS.into());
    }
    lanes
}

/// The applications whose tasks wait for locks in the window, where no rows of threads show it.
fn locking(timeline: &Timeline) -> Vec<usize> {
    if timeline.by_threads {
        return Vec::new();
    }
    let all = timeline.tracks.iter().flat_map(|track| track.recording.locks.keys());
    let apps: BTreeSet<usize> = all.map(|app| *app as usize).collect();
    apps.into_iter().take(BARRIER_LANES).collect()
}

/// The label of the lane of an application's waits for locks.
fn lock_lane(timeline: &Timeline, app: usize) -> String {
    font::shortened(&format!("{} lock waits", timeline.app(app)), LABEL, LANE_NAME)
}

/// True when decisions that moved no task are shown: tasks migrate, or several policies decide differently.
fn decided(timeline: &Timeline) -> bool {
    let texts = |track: &'_ Track| -> BTreeSet<String> {
        track.recording.notes.iter().map(|note| note.text.clone()).collect()
    };
    let moved = timeline.tracks.iter().any(|track| track.recording.counts[0] > 0);
    let noted = timeline.tracks.iter().any(|track| !track.recording.notes.is_empty());
    let differ = || timeline.tracks.windows(2).any(|pair| texts(&pair[0]) != texts(&pair[1]));
    noted && (moved || timeline.policies && differ())
}

/// True when migrations are shown as counts in a lane: too many for arrows, and rows too dense for marks.
fn counted(timeline: &Timeline) -> bool {
    let most = timeline.tracks.iter().map(|track| track.recording.moves.len()).max();
    !timeline.single_cpus() && most > Some(ARROWS)
}

/// The applications with a lane of their own: those that meet, or end, in the window.
fn meeting(timeline: &Timeline, palette: &Palette) -> Vec<usize> {
    let mut apps: Vec<usize> = timeline
        .tracks
        .iter()
        .flat_map(|track| {
            let ends = track.recording.ends.iter().map(|end| end.0.index());
            track.recording.barriers.keys().map(|app| *app as usize).chain(ends)
        })
        .collect();
    apps.sort_unstable();
    apps.dedup();
    // Those with a hue of their own come first.
    apps.sort_by_key(|app| palette.place(Owner::App(*app as u32)).is_none());
    apps.truncate(BARRIER_LANES);
    apps.sort_unstable();
    apps
}

/// What all panels have in common.
#[derive(Clone, Copy)]
pub(crate) struct Panels<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) frame: &'a Frame,
    pub(crate) palette: &'a Palette,
}

impl Panels<'_> {
    /// Draws a panel below y; the y below it.
    pub(crate) fn panel(&self, canvas: &mut Canvas, seen: &mut Seen, track: &Track, y: f64) -> f64 {
        let Self { timeline, frame, palette, .. } = *self;
        let mut y = heading(canvas, timeline, track, frame, y);
        y = self.lanes(canvas, seen, track, y);
        let tops = tops(timeline, frame, y);
        let bottom = tops.last().map_or(y, |top| top + frame.row + frame.queue);
        let painter = Painter {
            timeline,
            frame,
            palette,
            owners: &track.owners,
            numbered: timeline.threads || changes(track),
            arrows: arrows(track, frame),
        };
        canvas.crisp(|canvas| {
            for (row, (cells, top)) in track.recording.rows.iter().zip(&tops).enumerate() {
                painter.row(canvas, seen, cells, row, *top);
            }
        });
        if frame.queue > 0.0 {
            seen.queues = true;
            for (row, top) in tops.iter().enumerate() {
                queues(canvas, timeline, track, frame, row, top + frame.row);
            }
        }
        row_labels(canvas, timeline, frame, &tops);
        grid(canvas, frame, y, bottom);
        wakes(canvas, seen, track, frame, &tops);
        if !counted(timeline) {
            moves(canvas, track, frame, &tops);
            seen.moves |= !track.recording.moves.is_empty();
        }
        ended(canvas, track, frame, y, bottom);
        if let Some((from, to)) = frame.marked {
            let (left, right) = (frame.x(from) - 1.0, frame.x(to) + 1.0);
            let corners = [(left, y - 2.0), (right, y - 2.0), (right, bottom + 2.0), (left, bottom + 2.0)];
            canvas.line(&[corners[0], corners[1], corners[2], corners[3], corners[0]], PAPER, 4.0);
            canvas.line(&[corners[0], corners[1], corners[2], corners[3], corners[0]], ON_LIGHT, 2.0);
        }
        bottom + 4.0
    }

    /// Barriers, decisions and counts of migrations; the y below them.
    fn lanes(&self, canvas: &mut Canvas, seen: &mut Seen, track: &Track, mut y: f64) -> f64 {
        let Self { timeline, frame, palette, .. } = *self;
        let names = lanes(timeline, palette);
        let has = |lane: &str| names.iter().any(|name| name == lane);
        for (app, name) in meeting(timeline, palette).into_iter().zip(&names) {
            lane_label(canvas, frame, name, y);
            barriers(canvas, timeline, track, frame, palette.of(Owner::App(app as u32)), app, y);
            y += LANE;
        }
        seen.barriers |= !track.recording.barriers.is_empty();
        seen.ends |= !track.recording.ends.is_empty();
        for app in locking(timeline) {
            lane_label(canvas, frame, &lock_lane(timeline, app), y);
            waits(canvas, timeline, track, frame, (palette.of(Owner::App(app as u32)), app), y);
            y += LANE;
        }
        if has(DECISIONS) {
            lane_label(canvas, frame, DECISIONS, y);
            notes(canvas, track, frame, y);
            seen.decisions |= !track.recording.notes.is_empty();
            y += LANE;
        }
        if has(MIGRATIONS) {
            lane_label(canvas, frame, MIGRATIONS, y + COUNTS - LANE);
            move_counts(canvas, track, frame, y);
            y += COUNTS;
        }
        y + 3.0
    }
}

/// What distinguishes the run and what its cpus do.
fn heading(canvas: &mut Canvas, timeline: &Timeline, track: &Track, frame: &Frame, y: f64) -> f64 {
    let room = frame.right - frame.margin;
    let label = font::shortened(&track.label, HEADING, room / 3.0);
    canvas.text((frame.margin, y + 7.0), &label, HEADING);
    let beside = frame.margin + font::width(&label, HEADING) + 16.0;
    let facts = font::shortened(&timeline.facts(track), FACTS, frame.right - beside);
    canvas.text((beside, y + 8.0), &facts, FACTS);
    y + 22.0
}

fn lane_label(canvas: &mut Canvas, frame: &Frame, name: &str, y: f64) {
    canvas.text((frame.left - 6.0, y + 7.0), name, LABEL.at(Anchor::End));
}

/// The y of each row.
fn tops(timeline: &Timeline, frame: &Frame, y: f64) -> Vec<f64> {
    let mut top = y;
    let mut before = None;
    let mut tops = Vec::with_capacity(timeline.rows.len());
    for row in &timeline.rows {
        if timeline.single_cpus() && before.is_some_and(|group| group != row.group) {
            top += frame.node_gap;
        }
        before = Some(row.group);
        tops.push(top);
        top += frame.row + frame.queue;
    }
    tops
}

fn row_labels(canvas: &mut Canvas, timeline: &Timeline, frame: &Frame, tops: &[f64]) {
    let every = (LABELLED / frame.row).ceil().max(1.0) as usize;
    let nodes = timeline.rows.iter().any(|row| row.group != timeline.rows[0].group);
    let mut before = None;
    let mut within = 0;
    for (at, (row, top)) in timeline.rows.iter().zip(tops).enumerate() {
        let first = before != Some(row.group);
        within = if first { 0 } else { within + 1 };
        let y = top + frame.row / 2.0 + 1.0;
        if within % every == 0 {
            let cpu = at == 0 && timeline.single_cpus() && !timeline.by_threads;
            let name = if cpu { format!("cpu {}", row.name) } else { row.name.clone() };
            canvas.text((frame.left - 6.0, y), &name, LABEL.at(Anchor::End));
        }
        let room = timeline.rows.iter().filter(|other| other.group == row.group).count() as f64 * frame.row;
        if nodes && first && timeline.single_cpus() && room >= LABELLED {
            let name = font::shortened(&timeline.group(row), LABEL, LANE_NAME);
            canvas.text((frame.margin, y), &name, LABEL);
        }
        before = Some(row.group);
    }
}

/// Faint lines at the instants of the axis, across the rows.
fn grid(canvas: &mut Canvas, frame: &Frame, top: f64, bottom: f64) {
    for (at, _) in times(frame.window.0, frame.window.1, 10).ticks {
        let x = frame.x(at);
        canvas.faint_line(&[(x, top), (x, bottom)], ON_LIGHT, 1.0, 0.18);
        canvas.line(&[(x, bottom), (x, bottom + 5.0)], INK, 1.0);
    }
    canvas.line(&[(frame.left, bottom + 1.0), (frame.right, bottom + 1.0)], INK, 1.0);
}

/// Where migrations are drawn as arrows.
fn arrows(track: &Track, frame: &Frame) -> Vec<(f64, usize, usize)> {
    let moves = &track.recording.moves;
    if moves.len() > ARROWS {
        return Vec::new();
    }
    let rows = |moved: &Move| {
        let (from, to) = (moved.from.or(moved.to).unwrap_or(0), moved.to.or(moved.from).unwrap_or(0));
        (frame.x(moved.at), from.min(to), from.max(to))
    };
    moves.iter().map(rows).collect()
}

/// True when on some row tasks follow each other or one runs that has been on another row.
fn changes(track: &Track) -> bool {
    track.recording.counts[0] > 0
        || track.recording.rows.iter().any(|row| {
            let mut tasks = row.iter().filter_map(|cell| match cell.slice?.who {
                Occupant::Works(task) => Some(task),
                _ => None,
            });
            tasks.next().is_some_and(|first| tasks.any(|task| task != first))
        })
}

/// Where a run has ended within the window.
fn ended(canvas: &mut Canvas, track: &Track, frame: &Frame, top: f64, bottom: f64) {
    let Some(end) = track.end.filter(|end| *end < frame.window.1) else { return };
    let x = frame.x(end);
    canvas.dashed(&[(x, top), (x, bottom)], INK, 1.0, Dash::Short);
    let text = "the run is over";
    let (y, width) = (f64::midpoint(top, bottom), font::width(text, FACTS));
    if frame.right - x > width + 12.0 {
        canvas.fill(Area { x: x + 6.0, y: y - 10.0, width: width + 4.0, height: 20.0 }, PAPER);
        canvas.text((x + 8.0, y), text, FACTS);
    }
}

/// The tasks of an application that wait for locks: the higher, the more of them.
fn waits(
    canvas: &mut Canvas,
    timeline: &Timeline,
    track: &Track,
    frame: &Frame,
    (colour, app): (Colour, usize),
    y: f64,
) {
    let Some(sums) = track.recording.locks.get(&(app as u32)) else { return };
    let most = most_waiting(timeline).max(1) as f64;
    let (from, to) = frame.window;
    let edge = |column: usize| from + ((to - from) as f64 * column as f64 / sums.len().max(1) as f64) as u64;
    let mut column = 0;
    while column < sums.len() {
        // Columns with the same number of tasks are one area.
        let same = sums[column..].iter().take_while(|sum| **sum == sums[column]).count();
        let (begin, end) = (edge(column), edge(column + same));
        if sums[column] > 0 {
            let height = ((LANE - 3.0) * sums[column] as f64 / most).max(1.0);
            let place = (frame.x(begin), y + LANE - 2.0 - height);
            let area = Area { x: place.0, y: place.1, width: frame.x(end) - place.0, height };
            let tasks = waiting_tasks(sums[column], sums.len(), frame.window);
            let text = format!("{}: {tasks} tasks of {} wait for locks", instant(begin), timeline.app(app));
            canvas.titled(&text, |canvas| canvas.fill(area, colour));
        }
        column += same;
    }
}

/// The barriers and the end of an application.
fn barriers(
    canvas: &mut Canvas,
    timeline: &Timeline,
    track: &Track,
    frame: &Frame,
    colour: Colour,
    app: usize,
    y: f64,
) {
    let name = timeline.app(app);
    let instants = track.recording.barriers.get(&(app as u32));
    let mut last = f64::MIN;
    for Completed { at, count } in instants.into_iter().flatten() {
        let x = frame.x(*at);
        if x - last < 2.0 {
            continue;
        }
        last = x;
        let what = match count {
            1 => format!("a barrier of {name} is complete"),
            _ => format!("the first of {count} barriers of {name} is complete"),
        };
        canvas.titled(&format!("{}: {what}", instant(*at)), |canvas| {
            legend::barrier(canvas, x, y + 1.0, LANE - 3.0, colour);
        });
    }
    for (_, at) in track.recording.ends.iter().filter(|end| end.0 == AppId(app as u32)) {
        canvas.titled(&format!("{}: {name} ends", instant(*at)), |canvas| {
            legend::end(canvas, frame.x(*at), y + LANE / 2.0, colour);
        });
    }
}

/// Things in order that are near each other on the x axis, together.
fn together<T>(things: &[T], x: impl Fn(&T) -> f64) -> Vec<&[T]> {
    let mut groups = Vec::new();
    let mut rest = things;
    while let Some(first) = rest.first() {
        let begin = x(first);
        let count = rest.iter().take_while(|thing| x(thing) - begin < NEAR).count().max(1);
        let (group, others) = rest.split_at(count);
        groups.push(group);
        rest = others;
    }
    groups
}

/// Hover text of several things.
fn listed<'t>(texts: impl ExactSizeIterator<Item = (u64, &'t str)>) -> String {
    let count = texts.len();
    let mut lines: Vec<String> =
        texts.take(TEXTS).map(|(at, text)| format!("{}: {text}", instant(at))).collect();
    if count > TEXTS {
        lines.push(format!("and {} more", count - TEXTS));
    }
    lines.join("\n")
}

/// Decisions that moved nobody.
fn notes(canvas: &mut Canvas, track: &Track, frame: &Frame, y: f64) {
    for group in together(&track.recording.notes, |note| frame.x(note.at)) {
        let text = listed(group.iter().map(|note| (note.at, note.text.as_str())));
        canvas.titled(&text, |canvas| legend::decision(canvas, frame.x(group[0].at), y + 3.0));
    }
}

/// Migrations: arrows if they are few, else marks on the rows that tasks go to.
fn moves(canvas: &mut Canvas, track: &Track, frame: &Frame, tops: &[f64]) {
    let moves = &track.recording.moves;
    let middle = |row: Option<usize>| row.and_then(|row| tops.get(row)).map(|top| top + frame.row / 2.0);
    if moves.len() <= ARROWS {
        for moved in moves {
            let text = format!("{}: {}", instant(moved.at), moved.text);
            let half = frame.row / 2.0 + 4.0;
            let (from, to) = match (middle(moved.from), middle(moved.to)) {
                (Some(from), Some(to)) if moved.from == moved.to => (from - 8.0, to + 2.0),
                (Some(from), Some(to)) => (from, to),
                // To or from a cpu that is not shown: it ends or begins between rows.
                (Some(from), None) => (from, from + half),
                (None, Some(to)) => (to - half, to),
                (None, None) => continue,
            };
            canvas.titled(&text, |canvas| legend::arrow(canvas, frame.x(moved.at), from, to));
        }
        return;
    }
    let mut by_row: BTreeMap<usize, Vec<&Move>> = BTreeMap::new();
    for moved in moves {
        by_row.entry(moved.to.or(moved.from).unwrap_or(0)).or_default().push(moved);
    }
    for (row, moves) in by_row {
        let Some(top) = tops.get(row) else { continue };
        for group in together(&moves, |moved| frame.x(moved.at)) {
            let text = listed(group.iter().map(|moved| (moved.at, moved.text.as_str())));
            canvas.titled(&text, |canvas| legend::head(canvas, frame.x(group[0].at), top + frame.row, 6.0));
        }
    }
}

/// How many tasks migrate, as bars.
fn move_counts(canvas: &mut Canvas, track: &Track, frame: &Frame, y: f64) {
    let groups = together(&track.recording.moves, |moved| frame.x(moved.at));
    let most = groups.iter().map(|group| group.len()).max().unwrap_or(1).max(1) as f64;
    for group in groups {
        let text = listed(group.iter().map(|moved| (moved.at, moved.text.as_str())));
        let height = ((COUNTS - 4.0) * group.len() as f64 / most).max(1.0);
        canvas.titled(&text, |canvas| {
            let (x, y) = (frame.x(group[0].at), y + COUNTS - 2.0 - height);
            canvas.fill(Area { x, y, width: NEAR - 1.0, height }, ON_LIGHT);
        });
    }
}

/// Draws rows.
struct Painter<'a> {
    timeline: &'a Timeline,
    frame: &'a Frame,
    palette: &'a Palette,
    owners: &'a Owners,
    /// It is worth a number which task runs: tasks change places, or have colours that repeat.
    numbered: bool,
    /// Where arrows are: their x, and the first and last row.
    arrows: Vec<(f64, usize, usize)>,
}

impl Painter<'_> {
    fn row(&self, canvas: &mut Canvas, seen: &mut Seen, cells: &[Cell], row: usize, top: f64) {
        // What has no hover text is drawn fill by fill, in the order of the fills.
        let mut plain: BTreeMap<Fill, Vec<Area>> = BTreeMap::new();
        for cell in cells {
            let (left, right) = (self.frame.x(cell.from), self.frame.x(cell.to));
            let slice = cell.slice.as_ref().filter(|_| right - left >= TITLED);
            seen.stacks |= cell.slice.is_none() && cell.mix.parts().nth(1).is_some();
            let stays = self.timeline.by_threads && cell.slice.is_none() && right - left >= TITLED;
            if let Some(words) = stays.then(|| self.stay(row, cell)).flatten() {
                canvas.titled(&words, |canvas| {
                    self.stack(seen, cell, (left, right), top, |fill, area| canvas.fill(area, fill));
                    self.label(canvas, &cell.label, (left, right), top);
                });
            } else if let Some(slice) = slice {
                // A seam separates the slices of tasks of one application.
                let seam = if right - left >= SEAMED { SEAM } else { 0.0 };
                canvas.titled(&self.words(slice), |canvas| {
                    self.slice(canvas, seen, cell, slice, (left, right - seam), top);
                    seen.numbers |= self.rank(canvas, slice, (left, right), row, top);
                });
            } else {
                self.stack(seen, cell, (left, right), top, |fill, area| {
                    plain.entry(fill).or_default().push(area);
                });
            }
        }
        for (fill, areas) in plain {
            canvas.fill_all(areas, fill);
        }
    }

    /// The parts of a cell, one upon the other from below.
    fn stack(
        &self,
        seen: &mut Seen,
        cell: &Cell,
        (left, right): (f64, f64),
        top: f64,
        mut draw: impl FnMut(Fill, Area),
    ) {
        let height = self.frame.row - 1.0;
        let total = cell.mix.total().max(1) as f64;
        // Edges lie on quarters of pixels, as drawn, so that neighbours touch.
        let round = |value: f64| (value * 4.0).round() / 4.0;
        let (left, right) = (round(left), round(right));
        let mut sum = 0;
        let mut lower = top + height;
        for (owner, state, ns) in cell.mix.parts() {
            sum += ns;
            let upper = round(top + height * (1.0 - sum as f64 / total));
            let area = Area { x: left, y: upper, width: right - left, height: lower - upper };
            if area.width > 0.0 && area.height > 0.0 {
                seen.piece(owner, state, area.width, area.height);
                draw(self.palette.fill(owner, state), area);
                lower = upper;
            }
        }
    }

    /// A slice: what it begins with, and then the rest, its parts one upon the other.
    fn slice(
        &self,
        canvas: &mut Canvas,
        seen: &mut Seen,
        cell: &Cell,
        slice: &Slice,
        (left, right): (f64, f64),
        top: f64,
    ) {
        let (switch, refill) = lead(slice);
        let owner = cell.mix.parts().map(|part| part.0).find(|owner| *owner != Owner::Nobody);
        let ends = [slice.from.ns() + switch, slice.from.ns() + switch + refill];
        let [behind_switch, behind_refill] = ends.map(|at| self.frame.x(at).clamp(left, right));
        let mut rest = Mix::default();
        for (owner, state, ns) in cell.mix.parts() {
            let led = match state {
                State::Switch | State::Migrate if behind_switch - left >= LED => continue,
                State::Memory if behind_refill - behind_switch >= LED => refill,
                _ => 0,
            };
            rest.add(owner, state, ns.saturating_sub(led));
        }
        let mut x = left;
        let leads = [(Owner::Nobody, State::Switch, behind_switch), {
            (owner.unwrap_or(Owner::Nobody), State::Memory, behind_refill)
        }];
        for (owner, state, end) in leads {
            if end - x >= LED {
                let mut mix = Mix::default();
                mix.add(owner, state, 1);
                let part = Cell { mix, ..cell.clone() };
                self.stack(seen, &part, (x, end), top, |fill, area| canvas.fill(area, fill));
                x = end;
            }
        }
        if rest.total() > 0 {
            let part = Cell { mix: rest, ..cell.clone() };
            self.stack(seen, &part, (x, right), top, |fill, area| canvas.fill(area, fill));
        }
    }

    /// What a thread does that has no slice, in words; none for a piece of several things.
    fn stay(&self, row: usize, cell: &Cell) -> Option<String> {
        let mut parts = cell.mix.parts();
        let (_, state, ns) = parts.next()?;
        if parts.next().is_some() || ns != cell.to - cell.from {
            return None;
        }
        let (app, rank) = self.timeline.rows[row].thread?;
        let what = if cell.label.is_empty() { String::new() } else { format!(" ({})", cell.label) };
        let (from, to) = (instant(cell.from), instant(cell.to));
        let length = number::seconds(ns as f64 / 1e9);
        let name = self.timeline.app(app as usize);
        Some(format!("{name}.{rank} {}{what}, {from} to {to} ({length})", state.name()))
    }

    /// The lock or whatever a thread waits for, where there is room for it.
    fn label(&self, canvas: &mut Canvas, label: &str, (left, right): (f64, f64), top: f64) {
        let width = font::width(label, RANK);
        if label.is_empty() || right - left < width + 12.0 || self.frame.row < RANK.size + 3.0 {
            return;
        }
        let (x, y) = (f64::midpoint(left, right), top + self.frame.row / 2.0 + 0.75);
        let (half, height) = (width / 2.0 + 2.0, RANK.size + 1.0);
        canvas.fill(Area { x: x - half, y: y - height / 2.0, width: 2.0 * half, height }, PAPER);
        canvas.text((x, y), label, RANK.in_colour(ON_LIGHT));
    }

    /// The rank of a task, or the cpu in the row of a thread, where there is room for it; true if it is
    /// drawn.
    fn rank(
        &self,
        canvas: &mut Canvas,
        slice: &Slice,
        (left, right): (f64, f64),
        row: usize,
        top: f64,
    ) -> bool {
        let (task, patterned) = match slice.who {
            Occupant::Works(task) => {
                // Solid, in the colour or a lighter one.
                let solid = slice.parts.get(Category::Compute) + slice.parts.get(Category::MemoryStall);
                (task, solid.ns() * 2 < slice.parts.total().ns())
            }
            // Colours repeat: strokes need a number, too.
            Occupant::Waits(task) if self.timeline.threads => (task, true),
            _ => return false,
        };
        let rank = self.owners.rank(task);
        let rank = if self.timeline.by_threads { slice.cpu.0 } else { rank }.to_string();
        let width = font::width(&rank, RANK);
        let room = right - left >= width + 12.0 && self.frame.row >= RANK.size + 3.0;
        let (x, y) = (f64::midpoint(left, right), top + self.frame.row / 2.0 + 0.75);
        let reach = width / 2.0 + 5.0;
        let crossed = |(at, first, last): &(f64, usize, usize)| {
            (at - x).abs() < reach && (*first..=*last).contains(&row)
        };
        if !room || !self.numbered || self.arrows.iter().any(crossed) {
            return false;
        }
        let colour = self.palette.of(if self.timeline.threads {
            Owner::Thread(self.owners.rank(task))
        } else {
            Owner::App(self.owners.app(task).index() as u32)
        });
        if patterned {
            let (half, height) = (width / 2.0 + 2.0, RANK.size + 1.0);
            canvas.fill(Area { x: x - half, y: y - height / 2.0, width: 2.0 * half, height }, PAPER);
        }
        canvas.text((x, y), &rank, RANK.in_colour(if patterned { ON_LIGHT } else { colour.letters() }));
        true
    }

    /// A slice in words.
    fn words(&self, slice: &Slice) -> String {
        let rank =
            |task| format!("{}.{}", self.timeline.app(self.owners.app(task).index()), self.owners.rank(task));
        let who = match slice.who {
            Occupant::Idle => "idle".to_owned(),
            Occupant::System => "kernel or daemon".to_owned(),
            Occupant::Works(task) => rank(task),
            Occupant::Waits(task) => format!("{} waits", rank(task)),
            Occupant::WaitInTurns(app) => {
                format!("tasks of {} wait one after the other", self.timeline.app(app.index()))
            }
            Occupant::WaitMixed => "tasks of several applications wait one after the other".to_owned(),
        };
        let length = slice.to.ns() - slice.from.ns();
        let mut shares: Vec<(State, u64)> = Vec::new();
        each(&slice.parts, |state, ns| match shares.iter_mut().find(|share| share.0 == state) {
            Some(share) => share.1 += ns,
            None => shares.push((state, ns)),
        });
        shares.sort_unstable();
        let share = |(state, ns): &(State, u64)| {
            format!("{} {:.1} %", state.name(), *ns as f64 * 100.0 / length as f64)
        };
        let shares: Vec<String> = shares.iter().map(share).collect();
        let (from, to) = (instant(slice.from.ns()), instant(slice.to.ns()));
        format!(
            "{who} on cpu {}, {from} to {to} ({})\n{}",
            slice.cpu.0,
            number::seconds(length as f64 / 1e9),
            shares.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_near_each_other_are_one() {
        let groups = together(&[1.0, 2.0, 5.9, 6.1, 30.0], |x| *x);
        assert_eq!(groups, [&[1.0, 2.0, 5.9][..], &[6.1], &[30.0]]);
    }
}
