//! The legend: which hue is which application or thread, which shade and pattern which state, and what the
//! marks mean.

use std::collections::BTreeSet;

use crate::canvas::palette::{Colour, Fill, MUTED, ON_LIGHT, PAPER};
use crate::canvas::{Area, Canvas, Letters, font};
use crate::timeline::palette::Palette;
use crate::timeline::runs::{Timeline, most_waiting, waiting_tasks};
use crate::timeline::seen::Seen;
use crate::timeline::states::{Owner, State};

const FONT: Letters = Letters::new(13.0);
/// Swatches and lines of the legend, in pixels.
const SWATCH: (f64, f64) = (22.0, 13.0);
const LINE: f64 = 21.0;
/// Widest name of an application.
const NAME: f64 = 180.0;
/// Height of the head of an arrow.
const HEAD: f64 = 6.0;
/// Hues in one swatch.
const HUES_SHOWN: usize = 3;

/// One entry.
struct Entry {
    draw: Sample,
    text: String,
}

/// What stands before the text of an entry.
enum Sample {
    /// One fill, or several side by side.
    Fill(Vec<Fill>),
    Barrier,
    Decision,
    Move,
    End,
    Wake,
    Woken(bool),
}

/// What a legend explains.
pub(crate) struct Legend<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) palette: &'a Palette,
    pub(crate) seen: &'a Seen,
}

impl Legend<'_> {
    fn entries(&self) -> Vec<Entry> {
        let mut entries = if self.timeline.threads { self.threads() } else { self.apps() };
        entries.extend(self.states());
        let seen = self.seen;
        let marks = [
            (Sample::Move, "migration", seen.moves),
            (Sample::Barrier, "barrier complete", seen.barriers),
            (Sample::Decision, "other decision", seen.decisions),
            (Sample::End, "application ends", seen.ends),
            (Sample::Wake, "wakes up", seen.wakes),
            (Sample::Woken(true), "woken by a thread", seen.woken),
            (Sample::Woken(false), "woken by a timer, a device or from outside", seen.timers),
        ];
        let shown = marks.into_iter().filter(|mark| mark.2);
        entries.extend(shown.map(|(draw, text, _)| Entry { draw, text: text.into() }));
        entries
    }

    /// The hues of threads.
    fn threads(&self) -> Vec<Entry> {
        let fills = self.fills(|_, state| state == State::Compute);
        if fills.is_empty() {
            return Vec::new();
        }
        let threads = self.timeline.tracks.iter().map(|track| track.owners.tasks()).max().unwrap_or(0);
        let again = if threads as usize > Palette::HUES { ", repeated" } else { "" };
        let name = font::shortened(self.timeline.app(0), FONT, NAME);
        let text = format!("{name} computes (a colour for each thread{again})");
        vec![Entry { draw: Sample::Fill(fills), text }]
    }

    /// The hues of applications.
    fn apps(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut others = 0;
        for (app, name) in self.timeline.apps.iter().enumerate() {
            let own = Owner::App(app as u32);
            if !self.seen.any(|owner, _| owner == own) {
                continue;
            }
            if self.palette.place(own).is_none() {
                others += 1;
                continue;
            }
            let fill = self.palette.of(own).into();
            let text = format!("{} computes", font::shortened(name, FONT, NAME));
            entries.push(Entry { draw: Sample::Fill(vec![fill]), text });
        }
        if others > 0 {
            let draw = Sample::Fill(vec![self.palette.of(Owner::Several).into()]);
            entries.push(Entry { draw, text: format!("{others} other applications") });
        }
        entries
    }

    /// The shades and patterns of states other than computing.
    fn states(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for state in State::ALL.into_iter().filter(|state| *state != State::Compute) {
            let fills = self.fills(|_, other| other == state);
            if !fills.is_empty() {
                entries.push(Entry { draw: Sample::Fill(fills), text: state.name().into() });
            }
        }
        entries
    }

    /// Some fills of what can be seen; none when that is too little.
    fn fills(&self, what: impl Fn(Owner, State) -> bool) -> Vec<Fill> {
        let mut fills = Vec::new();
        if !self.seen.any(&what) {
            return fills;
        }
        // Several owners come last in order, and have a place in the swatch all the same.
        let found: BTreeSet<(Owner, State)> = self.seen.pieces().filter(|(o, s)| what(*o, *s)).collect();
        let grey = found.iter().any(|(owner, _)| *owner == Owner::Several);
        for (owner, state) in found {
            let fill = self.palette.fill(owner, state);
            let room = if grey && owner != Owner::Several { HUES_SHOWN - 1 } else { HUES_SHOWN };
            if !fills.contains(&fill) && fills.len() < room {
                fills.push(fill);
            }
        }
        fills
    }

    /// What numbers and heights mean.
    fn hint(&self) -> String {
        let mut hints = Vec::new();
        if self.seen.any(|owner, _| owner == Owner::Several) {
            hints.push(if self.timeline.threads {
                "Grey strokes: several threads wait."
            } else {
                "Grey strokes: several applications wait."
            });
        }
        let tracks = self.timeline.tracks.iter().filter(|_| !self.timeline.by_threads);
        let locks = tracks.flat_map(|track| track.recording.locks.values());
        let columns = locks.map(Vec::len).max().unwrap_or(0);
        let full = (columns > 0).then(|| {
            let window = (self.timeline.window.from, self.timeline.window.to);
            let tasks = waiting_tasks(most_waiting(self.timeline), columns, window);
            format!(
                "Lock waits: height = tasks that wait for a lock, asleep or polling; full height: {tasks}."
            )
        });
        hints.extend(full.as_deref());
        if self.seen.numbers {
            hints.push(if self.timeline.by_threads {
                "A row is a thread; numbers are the cpus that it runs on."
            } else {
                "Numbers are thread ids."
            });
        }
        let queues = self.seen.queues.then(|| {
            let longest = format!("{:.1}", self.timeline.longest_queue());
            let longest = longest.strip_suffix(".0").unwrap_or(&longest);
            format!("Grey below a row: threads queued there; full height: {longest}.")
        });
        hints.extend(queues.as_deref());
        if self.seen.stacks {
            hints.push("Slices too thin to draw are stacked: height = share of the time.");
        }
        hints.join(" ")
    }

    /// Draws the legend between two x below y; the y below it.
    pub(crate) fn draw(&self, canvas: &mut Canvas, (left, right): (f64, f64), y: f64) -> f64 {
        let (mut x, mut y) = (left, y + LINE);
        for entry in self.entries() {
            let width = SWATCH.0 + 6.0 + font::width(&entry.text, FONT);
            if x > left && x + width > right {
                (x, y) = (left, y + LINE);
            }
            sample(canvas, &entry.draw, x, y - 11.0);
            canvas.text((x + SWATCH.0 + 6.0, y - 4.0), &entry.text, FONT);
            x += width + 18.0;
        }
        let hint = self.hint();
        if x > left && x + font::width(&hint, FONT) > right {
            (x, y) = (left, y + LINE);
        }
        for (at, line) in font::wrapped(&hint, FONT, right - x).iter().enumerate() {
            y += if at > 0 { LINE } else { 0.0 };
            canvas.text((x, y - 4.0), line, FONT.in_colour(MUTED));
        }
        y + 4.0
    }
}

fn sample(canvas: &mut Canvas, sample: &Sample, x: f64, top: f64) {
    let (width, height) = SWATCH;
    let middle = x + width / 2.0;
    match sample {
        Sample::Fill(fills) => {
            let part = width / fills.len().max(1) as f64;
            for (at, fill) in fills.iter().enumerate() {
                canvas.fill(Area { x: x + at as f64 * part, y: top, width: part, height }, *fill);
            }
            canvas.frame(Area { x, y: top, width, height }, MUTED, 0.5);
        }
        Sample::Barrier => barrier(canvas, middle, top, height, MUTED),
        Sample::Decision => decision(canvas, middle, top + 3.0),
        Sample::Move => arrow(canvas, middle, top, top + height),
        Sample::Wake => wake(canvas, middle, top, top + height),
        Sample::Woken(by) => woken(canvas, middle, top, height, *by),
        Sample::End => end(canvas, middle, top + height / 2.0, MUTED),
    }
}

/// The mark of a completed barrier.
pub(crate) fn barrier(canvas: &mut Canvas, x: f64, top: f64, height: f64, colour: Colour) {
    canvas.line(&[(x, top), (x, top + height)], colour, 1.5);
}

/// The mark of a decision: a triangle that points down.
pub(crate) fn decision(canvas: &mut Canvas, x: f64, top: f64) {
    canvas.polygon(&[(x - 3.5, top), (x + 3.5, top), (x, top + 7.0)], MUTED, 1.0);
}

/// The mark of a migration: an arrow from one y to another.
pub(crate) fn arrow(canvas: &mut Canvas, x: f64, from: f64, to: f64) {
    let back = if to > from { -1.0 } else { 1.0 };
    let shaft = [(x, from), (x, to + HEAD * back)];
    canvas.line(&shaft, PAPER, 4.0);
    canvas.line(&shaft, ON_LIGHT, 1.5);
    head(canvas, x, to, -HEAD * back);
}

/// The mark of a wake-up: a thin arrow from one y to another.
pub(crate) fn wake(canvas: &mut Canvas, x: f64, from: f64, to: f64) {
    let back = if to > from { -1.0 } else { 1.0 };
    canvas.line(&[(x, from), (x, to)], PAPER, 2.5);
    canvas.line(&[(x, from), (x, to)], ON_LIGHT, 0.9);
    canvas.polygon(&[(x - 2.5, to + 4.0 * back), (x + 2.5, to + 4.0 * back), (x, to)], ON_LIGHT, 1.0);
}

/// The mark of a thread that is woken: a bar at its left, with a dot if no thread did it.
pub(crate) fn woken(canvas: &mut Canvas, x: f64, top: f64, height: f64, by: bool) {
    canvas.line(&[(x, top), (x, top + height)], ON_LIGHT, 1.2);
    if !by {
        canvas.polygon(&[(x, top), (x + 4.0, top), (x, top + 4.0)], ON_LIGHT, 1.0);
    }
}

/// The head of an arrow with its tip at y, pointing down if its height is positive.
pub(crate) fn head(canvas: &mut Canvas, x: f64, y: f64, height: f64) {
    let corners = [(x - 4.0, y - height), (x + 4.0, y - height), (x, y), (x - 4.0, y - height)];
    canvas.polygon(&corners[..3], ON_LIGHT, 1.0);
    canvas.line(&corners, PAPER, 0.75);
}

/// The mark of the end of an application: a diamond.
pub(crate) fn end(canvas: &mut Canvas, x: f64, y: f64, colour: Colour) {
    canvas.polygon(&[(x - 5.0, y), (x, y - 5.0), (x + 5.0, y), (x, y + 5.0)], colour, 1.0);
}
