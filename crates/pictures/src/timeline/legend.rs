//! The legend: which hue is which application or thread, which shade and pattern which state, and what the marks mean.

use std::collections::BTreeSet;

use notation::neutral::xml;

use crate::timeline::palette::{Palette, Rgb, grey};
use crate::timeline::runs::Timeline;
use crate::timeline::seen::Seen;
use crate::timeline::states::{Owner, State};
use crate::timeline::svg::{Anchor, Font, Svg, number};

/// White in the colour of memory stalls, per cent.
const STALL_WHITE: u32 = 58;
const FONT: Font = Font { size: 13.0, bold: false, pale: false };
/// Swatches and lines of the legend, in pixels.
const SWATCH: (f64, f64) = (22.0, 13.0);
const LINE: f64 = 21.0;
/// Widest name of an application.
const NAME: f64 = 180.0;
/// Height of the head of an arrow.
const HEAD: f64 = 6.0;
/// Hues in one swatch.
const HUES_SHOWN: usize = 3;
/// In place of an application: several of them, or those that share a grey.
const SEVERAL: &str = "several";

/// How an owner's state is filled.
#[must_use]
pub(crate) fn fill(palette: &Palette, prefix: &str, owner: Owner, state: State) -> String {
    let base = palette.of(owner);
    match state {
        State::Compute => base.hex(),
        State::Memory => base.lighter(STALL_WHITE).hex(),
        State::SharedCore | State::PageInit | State::Spin | State::Yield => {
            format!("url(#{})", id(palette, prefix, owner, state))
        }
        State::Switch | State::Migrate | State::Kernel | State::Idle => grey(state).hex(),
    }
}

/// The name of a pattern; none for a state that is filled evenly.
fn id(palette: &Palette, prefix: &str, owner: Owner, state: State) -> String {
    let who = palette.place(owner).map_or_else(|| SEVERAL.to_owned(), |place| place.to_string());
    format!("{prefix}-{}-{who}", word(state).unwrap_or_default())
}

const fn word(state: State) -> Option<&'static str> {
    match state {
        State::SharedCore => Some("shared"),
        State::PageInit => Some("pages"),
        State::Spin => Some("spin"),
        State::Yield => Some("yield"),
        _ => None,
    }
}

/// Defines the patterns that are in use.
pub(crate) fn patterns(svg: &mut Svg, palette: &Palette, seen: &Seen, prefix: &str) {
    let mut done = BTreeSet::new();
    svg.raw("<defs>");
    for (owner, state) in &seen.drawn {
        let id = xml(&id(palette, prefix, *owner, *state));
        if word(*state).is_some() && done.insert(id.clone()) {
            svg.raw(&pattern(&id, *state, palette.of(*owner)));
        }
    }
    svg.raw("</defs>");
}

/// Spinning: dense strokes that rise; yielding: thin ones that fall; a shared core: upright stripes; fresh pages: dots.
fn pattern(id: &str, state: State, colour: Rgb) -> String {
    let (angle, size, ground) = match state {
        State::Spin => (45, 4, "#FFFFFF".to_owned()),
        State::Yield => (-45, 4, "#FFFFFF".to_owned()),
        State::SharedCore => (0, 4, colour.lighter(STALL_WHITE).hex()),
        _ => (0, 5, colour.lighter(75).hex()),
    };
    let (width, height) = match state {
        State::Spin => (2, 4),
        State::Yield => (1, 4),
        State::SharedCore => (2, 4),
        _ => (3, 3),
    };
    let colour = colour.hex();
    format!(
        "<pattern id=\"{id}\" width=\"{size}\" height=\"{size}\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate({angle})\"><rect width=\"{size}\" height=\"{size}\" fill=\"{ground}\"/>\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/></pattern>"
    )
}

/// One entry.
struct Entry {
    draw: Sample,
    text: String,
}

/// What stands before the text of an entry.
enum Sample {
    /// One fill, or several side by side.
    Fill(Vec<String>),
    Barrier,
    Decision,
    Move,
    End,
}

/// What a legend explains.
pub(crate) struct Legend<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) palette: &'a Palette,
    pub(crate) prefix: &'a str,
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
        let name = FONT.fit(self.timeline.app(0), NAME);
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
            let fill = self.palette.of(own).hex();
            let text = format!("{} computes", FONT.fit(name, NAME));
            entries.push(Entry { draw: Sample::Fill(vec![fill]), text });
        }
        if others > 0 {
            let draw = Sample::Fill(vec![self.palette.of(Owner::Several).hex()]);
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
    fn fills(&self, what: impl Fn(Owner, State) -> bool) -> Vec<String> {
        let mut fills = Vec::new();
        if !self.seen.any(&what) {
            return fills;
        }
        // Several owners come last in order, and have a place in the swatch all the same.
        let found: BTreeSet<(Owner, State)> = self.seen.pieces().filter(|(o, s)| what(*o, *s)).collect();
        let grey = found.iter().any(|(owner, _)| *owner == Owner::Several);
        for (owner, state) in found {
            let fill = fill(self.palette, self.prefix, owner, state);
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
        if self.seen.numbers {
            hints.push("Numbers are thread ids.");
        }
        if self.seen.stacks {
            hints.push("Slices too thin to draw are stacked: height = share of the time.");
        }
        hints.join(" ")
    }

    /// Draws the legend between two x below y; the y below it.
    pub(crate) fn draw(&self, svg: &mut Svg, (left, right): (f64, f64), y: f64) -> f64 {
        let (mut x, mut y) = (left, y + LINE);
        for entry in self.entries() {
            let width = SWATCH.0 + 6.0 + FONT.width(&entry.text);
            if x > left && x + width > right {
                (x, y) = (left, y + LINE);
            }
            sample(svg, &entry.draw, x, y);
            svg.text(x + SWATCH.0 + 6.0, y, FONT, Anchor::Start, &entry.text);
            x += width + 18.0;
        }
        let hint = self.hint();
        if x > left && x + FONT.width(&hint) > right {
            (x, y) = (left, y + LINE);
        }
        svg.text(x, y, Font { pale: true, ..FONT }, Anchor::Start, &hint);
        y + 4.0
    }
}

fn sample(svg: &mut Svg, sample: &Sample, x: f64, y: f64) {
    let (width, height) = SWATCH;
    let (top, middle) = (y - height + 2.0, x + width / 2.0);
    match sample {
        Sample::Fill(fills) => {
            let part = width / fills.len().max(1) as f64;
            for (at, fill) in fills.iter().enumerate() {
                svg.rect(x + at as f64 * part, top, part, height, fill);
            }
            let [x, y, width, height] = [x, top, width, height].map(number);
            svg.raw(&format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#777777\" \
                 stroke-width=\"0.6\"/>"
            ));
        }
        Sample::Barrier => barrier(svg, middle, top, height, "#555555"),
        Sample::Decision => decision(svg, middle, top + 3.0),
        Sample::Move => arrow(svg, middle, top, top + height),
        Sample::End => end(svg, middle, top + height / 2.0, "#555555"),
    }
}

/// The mark of a completed barrier.
pub(crate) fn barrier(svg: &mut Svg, x: f64, top: f64, height: f64, colour: &str) {
    svg.line((x, top), (x, top + height), colour, "stroke-width=\"1.5\"");
}

/// The mark of a decision: a triangle that points down.
pub(crate) fn decision(svg: &mut Svg, x: f64, top: f64) {
    let [left, right, x, top, bottom] = [x - 3.5, x + 3.5, x, top, top + 7.0].map(number);
    svg.path(&format!("M{left} {top}H{right}L{x} {bottom}z"), "#666666");
}

/// The mark of a migration: an arrow from one y to another.
pub(crate) fn arrow(svg: &mut Svg, x: f64, from: f64, to: f64) {
    let back = if to > from { -1.0 } else { 1.0 };
    let neck = to + HEAD * back;
    svg.line((x, from), (x, neck), "#FFFFFF", "stroke-width=\"4\"");
    svg.line((x, from), (x, neck), "#000000", "stroke-width=\"1.6\"");
    head(svg, x, to, -HEAD * back);
}

/// The head of an arrow with its tip at y, pointing down if its height is positive.
pub(crate) fn head(svg: &mut Svg, x: f64, y: f64, height: f64) {
    let [left, right, middle, neck, tip] = [x - 4.0, x + 4.0, x, y - height, y].map(number);
    svg.raw(&format!(
        "<path d=\"M{left} {neck}H{right}L{middle} {tip}z\" fill=\"#000000\" stroke=\"#FFFFFF\" stroke-width=\"0.8\"/>"
    ));
}

/// The mark of the end of an application: a diamond.
pub(crate) fn end(svg: &mut Svg, x: f64, y: f64, colour: &str) {
    let [left, right, top, bottom, x, y] = [x - 5.0, x + 5.0, y - 5.0, y + 5.0, x, y].map(number);
    svg.path(&format!("M{left} {y}L{x} {top}L{right} {y}L{x} {bottom}z"), colour);
}
