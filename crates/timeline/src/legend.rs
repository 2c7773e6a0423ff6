//! The legend: which hue is which application, which shade and pattern which state, and what the marks mean.

use crate::palette::{Palette, Rgb, grey};
use crate::record::Recording;
use crate::states::{Mix, Owner, State};
use crate::svg::{Anchor, Font, Svg, escape, number};
use crate::timeline::Timeline;

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
/// A state with less of the time than one part in so many is not in the legend.
const VISIBLE: u64 = 1000;
/// In place of an application: several of them.
const SEVERAL: &str = "several";

/// How an owner's state is filled.
#[must_use]
pub(crate) fn fill(palette: &Palette, prefix: &str, owner: Owner, state: State) -> String {
    let base = palette.of(owner);
    match state {
        State::Compute => base.hex(),
        State::Stall => base.lighter(STALL_WHITE).hex(),
        State::Spin | State::Yield => {
            let who = match owner {
                Owner::App(app) => {
                    palette.place(app as usize).map_or("others".into(), |place| place.to_string())
                }
                Owner::Several | Owner::Nobody => SEVERAL.into(),
            };
            format!("url(#{prefix}-{}-{who})", word(state))
        }
        State::Switch | State::Migrate | State::Kernel | State::Idle => grey(state).hex(),
    }
}

const fn word(state: State) -> &'static str {
    if matches!(state, State::Spin) { "spin" } else { "yield" }
}

/// Defines the patterns of waiting for every hue in use.
pub(crate) fn patterns(svg: &mut Svg, palette: &Palette, apps: usize, prefix: &str) {
    let mut hues: Vec<(String, Rgb)> =
        vec![(SEVERAL.into(), palette.of(Owner::Several)), ("others".into(), palette.of(Owner::Several))];
    for app in 0..apps {
        if let Some(place) = palette.place(app) {
            hues.push((place.to_string(), palette.colour(app)));
        }
    }
    svg.raw("<defs>");
    for (name, colour) in hues {
        let colour = colour.hex();
        // Spinning: dense strokes that rise; yielding: thin ones that fall.
        for (state, angle, stroke) in [(State::Spin, 45, 2.0), (State::Yield, -45, 1.0)] {
            let id = format!("{}-{}-{}", escape(prefix), word(state), name);
            let stroke = number(stroke);
            svg.raw(&format!(
                "<pattern id=\"{id}\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" \
                 patternTransform=\"rotate({angle})\"><rect width=\"4\" height=\"4\" fill=\"#FFFFFF\"/>\
                 <rect width=\"{stroke}\" height=\"4\" fill=\"{colour}\"/></pattern>"
            ));
        }
    }
    svg.raw("</defs>");
}

/// One entry.
struct Entry {
    draw: Sample,
    text: String,
}

/// What stands before the text of an entry.
enum Sample {
    /// One fill, or two side by side.
    Fill(Vec<String>),
    Barrier,
    Decision,
    Move,
    End,
}

fn entries(timeline: &Timeline, palette: &Palette, prefix: &str) -> Vec<Entry> {
    let recordings = || timeline.tracks.iter().map(|track| &track.recording);
    let mut entries = Vec::new();
    let mut others = 0;
    for (app, name) in timeline.apps.iter().enumerate() {
        if palette.place(app).is_some() {
            let text = FONT.fit(name, NAME);
            entries.push(Entry { draw: Sample::Fill(vec![palette.colour(app).hex()]), text });
        } else if recordings()
            .any(|recording| visible(&recording.total, |part| part.0 == Owner::App(app as u32)))
        {
            others += 1;
        }
    }
    if others > 0 {
        let fill = palette.of(Owner::Several).hex();
        entries.push(Entry { draw: Sample::Fill(vec![fill]), text: format!("{others} other applications") });
    }
    for state in State::ALL {
        if !recordings().any(|recording| visible(&recording.total, |part| part.1 == state)) {
            continue;
        }
        let fills = if state.coloured() {
            // In the hues of the first applications, so that it is seen to go for all.
            let shown = (0..timeline.apps.len()).filter(|app| palette.place(*app).is_some()).take(2);
            shown.map(|app| fill(palette, prefix, Owner::App(app as u32), state)).collect()
        } else {
            vec![grey(state).hex()]
        };
        entries.push(Entry { draw: Sample::Fill(fills), text: state.name().into() });
    }
    let several = |recording: &Recording| visible(&recording.total, |part| part.0 == Owner::Several);
    if recordings().any(several) {
        let fill = format!("url(#{prefix}-spin-{SEVERAL})");
        entries.push(Entry { draw: Sample::Fill(vec![fill]), text: "several applications wait".into() });
    }
    let mut mark = |draw: Sample, text: &str, there: bool| {
        if there {
            entries.push(Entry { draw, text: text.into() });
        }
    };
    mark(Sample::Move, "migration", recordings().any(|recording| recording.counts[0] > 0));
    mark(Sample::Barrier, "barrier completed", recordings().any(|recording| recording.counts[2] > 0));
    mark(Sample::Decision, "other decision", recordings().any(|recording| recording.counts[1] > 0));
    mark(Sample::End, "application ends", recordings().any(|recording| !recording.ends.is_empty()));
    entries
}

/// True when there is enough of something to be seen.
fn visible(total: &Mix, what: impl Fn(&(Owner, State, u64)) -> bool) -> bool {
    let part: u64 = total.parts().filter(what).map(|part| part.2).sum();
    part > total.total() / VISIBLE
}

/// Draws the legend between two x below y; the y below it.
pub(crate) fn legend(
    svg: &mut Svg,
    timeline: &Timeline,
    palette: &Palette,
    prefix: &str,
    (left, right): (f64, f64),
    y: f64,
) -> f64 {
    let (mut x, mut y) = (left, y + LINE);
    for entry in entries(timeline, palette, prefix) {
        let width = SWATCH.0 + 6.0 + FONT.width(&entry.text);
        if x > left && x + width > right {
            (x, y) = (left, y + LINE);
        }
        sample(svg, &entry.draw, x, y);
        svg.text(x + SWATCH.0 + 6.0, y, FONT, Anchor::Start, &entry.text);
        x += width + 18.0;
    }
    let hint = "Height within a row: share of the time. Number: rank of the task.";
    if x > left && x + FONT.width(hint) > right {
        (x, y) = (left, y + LINE);
    }
    svg.text(x, y, Font { pale: true, ..FONT }, Anchor::Start, hint);
    y + 4.0
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
