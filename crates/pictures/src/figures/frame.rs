//! The frame around every figure: its message, what it shows, the legend, the source; and the axes of panels.

use crate::canvas::axis::Axis;
use crate::canvas::font;
use crate::canvas::palette::{Colour, Dash, Fill, GRID, Hatch, INK, MUTED, Mark};
use crate::canvas::{self, Anchor, Area, Canvas, Letters, Picture};

use experiment::statements::title::Title;

/// Width of every figure in pixels.
pub(crate) const WIDTH: f64 = 780.0;
/// Space to the edges.
const EDGE: f64 = 14.0;
/// Width of what lies between the edges.
pub(crate) const BODY: f64 = WIDTH - 2.0 * EDGE;
/// Font sizes: message, the largest that fits; what is shown, labels, source.
const TITLES: [f64; 4] = [16.0, 15.0, 14.0, 13.0];
const ABOUT: f64 = 12.0;
pub(crate) const LABEL: f64 = 11.5;
const SOURCE: f64 = 9.5;
/// Lines of the message.
const TITLE_LINES: usize = 2;
/// Bold letters are about an eighth wider than regular ones.
const BOLD: f64 = 1.13;

/// What a legend entry shows.
#[derive(Clone, Copy)]
pub(crate) enum Key {
    /// A mark.
    Mark(Mark, Colour),
    /// A line with a mark.
    Line(Colour, Mark, Dash),
    /// A hatched area.
    Area(Colour, Hatch, Colour),
}

/// The words around a figure.
pub(crate) struct Frame {
    pub(crate) title: Title,
    pub(crate) about: String,
    pub(crate) legend: Vec<(Key, String)>,
    pub(crate) source: String,
}

/// Draws a figure: `draw` gets the area below the legend, as wide as the figure and `height` pixels high.
pub(crate) fn compose(frame: &Frame, height: f64, draw: impl FnOnce(&mut Canvas, Area)) -> Picture {
    let width = BODY;
    let (letters, title) = headline(&frame.title);
    let about = balanced(&frame.about, ABOUT, width);
    let legend = legend_lines(&frame.legend, width);
    let head = 12.0 + title.len() as f64 * 21.0 + about.len() as f64 * 16.0 + 6.0;
    let keys = legend.len() as f64 * 20.0 + if legend.is_empty() { 0.0 } else { 6.0 };
    let full = head + keys + height + 24.0;
    canvas::picture((WIDTH, full), &frame.title.to_string(), |canvas| {
        let mut y = 12.0;
        for line in &title {
            canvas.text((EDGE, y + 10.0), line, Letters::new(letters).bold());
            y += 21.0;
        }
        for line in &about {
            canvas.text((EDGE, y + 8.0), line, Letters::new(ABOUT).in_colour(MUTED));
            y += 16.0;
        }
        for (row, entries) in legend.iter().enumerate() {
            for (x, entry) in entries {
                draw_key(canvas, EDGE + x, head + row as f64 * 20.0 + 9.0, &frame.legend[*entry]);
            }
        }
        draw(canvas, Area { x: EDGE, y: head + keys, width, height });
        let source = font::shortened(&frame.source, SOURCE, width);
        canvas.text(
            (WIDTH - EDGE, full - 11.0),
            &source,
            Letters::new(SOURCE).in_colour(MUTED).at(Anchor::End),
        );
    })
}

/// The message in at most two lines, with the size of its letters: its longest form that fits.
fn headline(title: &Title) -> (f64, Vec<String>) {
    let forms = title.forms();
    let sized = forms.iter().flat_map(|form| TITLES.map(|size| (form, size)));
    let set = |(form, size): (&String, f64)| (size, balanced(form, size, BODY / BOLD));
    let mut all = sized.map(set);
    let fits = |lines: &[String], size: f64| {
        lines.len() <= TITLE_LINES
            && lines.iter().all(|line| font::width(line, Letters::new(size).bold()) <= BODY)
    };
    if let Some(found) = all.find(|(size, lines)| fits(lines, *size)) {
        return found;
    }
    let size = TITLES[TITLES.len() - 1];
    let shortest = forms.last().map_or("", String::as_str);
    let lines = font::wrapped(shortest, size, BODY / BOLD);
    let rest = lines[1.min(lines.len())..].join(" ");
    let first = lines.first().cloned().unwrap_or_default();
    (size, [first, rest].iter().map(|line| font::shortened(line, size, BODY / BOLD)).collect())
}

/// A last line of less than this part of the width is too short.
const SHORT: f64 = 0.35;

/// A text in as few lines as this width needs; a short last line takes words from the others.
fn balanced(text: &str, size: f64, most: f64) -> Vec<String> {
    let lines = font::wrapped(text, size, most);
    let short = |lines: &[String]| {
        lines.len() > 1 && lines.last().is_some_and(|line| font::width(line, size) < most * SHORT)
    };
    if !short(&lines) {
        return lines;
    }
    let narrower = (10..20).rev().map(|part| font::wrapped(text, size, most * f64::from(part) / 20.0));
    let mut same = narrower.take_while(|other| other.len() == lines.len());
    same.find(|other| !short(other)).unwrap_or(lines)
}

/// Width of a key without its text.
const KEY: f64 = 30.0;

/// The entries of each line of the legend with their places.
fn legend_lines(legend: &[(Key, String)], width: f64) -> Vec<Vec<(f64, usize)>> {
    let mut lines: Vec<Vec<(f64, usize)>> = Vec::new();
    let mut x = 0.0;
    for (at, (_, text)) in legend.iter().enumerate() {
        let wide = KEY + font::width(text, LABEL) + 18.0;
        if lines.is_empty() || x + wide - 18.0 > width {
            lines.push(Vec::new());
            x = 0.0;
        }
        if let Some(line) = lines.last_mut() {
            line.push((x, at));
        }
        x += wide;
    }
    lines
}

fn draw_key(canvas: &mut Canvas, x: f64, y: f64, (key, text): &(Key, String)) {
    match *key {
        Key::Mark(mark, colour) => canvas.mark((x + 14.0, y), mark, 9.0, colour),
        Key::Line(colour, mark, dash) => {
            canvas.dashed(&[(x, y), (x + 25.0, y)], colour, 2.0, dash);
            canvas.mark((x + 12.5, y), mark, 8.0, colour);
        }
        Key::Area(colour, hatch, lines) => {
            let area = Area { x, y: y - 6.0, width: 24.0, height: 12.0 };
            canvas.fill(area, Fill::hatched(hatch, lines, colour));
            canvas.frame(area, INK, 0.5);
        }
    }
    canvas.text((x + KEY, y), text, Letters::new(LABEL));
}

/// A grid line for each label of the axis, and where it is `written` a number below the panel.
pub(crate) fn lower_axis(canvas: &mut Canvas, panel: Area, axis: &Axis, written: bool) {
    let mut free = f64::NEG_INFINITY;
    for (value, text) in axis.labels((panel.width / 38.0) as usize) {
        let x = axis.place(value);
        canvas.line(&[(x, panel.y), (x, panel.bottom())], GRID, 1.0);
        let half = font::width(&text, LABEL) / 2.0;
        // Labels at the ends stay below their panel, or they run into those of the next one.
        let middle = x.clamp(panel.x + half - 2.0, panel.right() - half + 2.0);
        if written && middle - half > free {
            canvas.text((middle, panel.bottom() + 11.0), &text, Letters::new(LABEL).at(Anchor::Middle));
            free = middle + half + 4.0;
        }
    }
    canvas.line(&[(panel.x, panel.bottom()), (panel.right(), panel.bottom())], MUTED, 1.0);
}

/// A grid line for each label of the axis, and where it is `written` a number at the left of the panel.
pub(crate) fn left_axis(canvas: &mut Canvas, panel: Area, axis: &Axis, written: bool) {
    for (value, text) in axis.labels((panel.height / 28.0) as usize) {
        let y = axis.place(value);
        canvas.line(&[(panel.x, y), (panel.right(), y)], GRID, 1.0);
        if written {
            canvas.text((panel.x - 6.0, y), &text, Letters::new(LABEL).at(Anchor::End));
        }
    }
}

/// What an axis measures, and whether it is logarithmic.
pub(crate) fn measured(what: &str, axis: &Axis) -> String {
    if axis.is_log() { format!("{what} (log scale)") } else { what.to_owned() }
}

/// What the lower axis measures, below everything.
pub(crate) fn axis_title(canvas: &mut Canvas, body: Area, left: f64, text: &str) {
    let middle = body.x + left + (body.width - left) / 2.0;
    canvas.text((middle, body.bottom() - 10.0), text, Letters::new(ABOUT).at(Anchor::Middle));
}
