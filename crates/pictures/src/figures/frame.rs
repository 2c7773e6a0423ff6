//! The frame around every figure: its message, what it shows, the legend, the source; and the axes of panels.

use crate::canvas::axis::{Axis, Label};
use crate::canvas::font;
use crate::canvas::palette::{Colour, Dash, Fill, GRID, Hatch, INK, MUTED, Mark};
use crate::canvas::{self, Anchor, Area, Canvas, Letters, Picture};

use experiment::statements::title::Title;

pub(crate) use super::page::LABEL;
use super::page::Page;

/// Font sizes: message, the largest that fits; what is shown, labels, source.
const TITLES: [f64; 4] = [16.0, 15.0, 14.0, 13.0];
const ABOUT: f64 = 12.0;
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

/// The words around a figure, and what it is drawn for.
pub(crate) struct Frame {
    pub(crate) page: Page,
    pub(crate) title: Title,
    pub(crate) about: String,
    pub(crate) legend: Vec<(Key, String)>,
    pub(crate) source: String,
}

/// Draws a figure: `draw` gets the area below the legend, as wide as the figure and `height` pixels high.
pub(crate) fn compose(frame: &Frame, height: f64, draw: impl FnOnce(&mut Canvas, Area)) -> Picture {
    let (page, width, edge) = (frame.page, frame.page.body(), frame.page.edge);
    let (letters, title) =
        if page.has_message() { headline(&frame.title, width) } else { (ABOUT, Vec::new()) };
    let about = if page.has_remarks() { balanced(&frame.about, ABOUT, width) } else { Vec::new() };
    let legend = legend_lines(&frame.legend, width);
    let words = title.len() as f64 * 21.0 + about.len() as f64 * 16.0;
    let head = if page.has_message() { 12.0 + words + 6.0 } else { edge };
    let keys = legend.len() as f64 * 20.0 + if legend.is_empty() { 0.0 } else { 6.0 };
    let full = head + keys + height + if page.has_remarks() { 24.0 } else { edge };
    let picture = canvas::picture((page.width, full), &frame.title.to_string(), |canvas| {
        let mut y = 12.0;
        for line in &title {
            canvas.text((edge, y + 10.0), line, Letters::new(letters).bold());
            y += 21.0;
        }
        for line in &about {
            canvas.text((edge, y + 8.0), line, Letters::new(ABOUT).in_colour(MUTED));
            y += 16.0;
        }
        for (row, entries) in legend.iter().enumerate() {
            for (x, entry) in entries {
                draw_key(canvas, edge + x, head + row as f64 * 20.0 + 9.0, &frame.legend[*entry]);
            }
        }
        draw(canvas, Area { x: edge, y: head + keys, width, height });
        if page.has_remarks() {
            let source = font::shortened(&frame.source, SOURCE, width);
            let letters = Letters::new(SOURCE).in_colour(MUTED).at(Anchor::End);
            canvas.text((page.width - edge, full - 11.0), &source, letters);
        }
    });
    match page.points() {
        Some(points) => picture.printed(points),
        None => picture,
    }
}

/// The message in at most two lines, with the size of its letters: its longest form that fits.
fn headline(title: &Title, width: f64) -> (f64, Vec<String>) {
    let forms = title.forms();
    let sized = forms.iter().flat_map(|form| TITLES.map(|size| (form, size)));
    let set = |(form, size): (&String, f64)| (size, balanced(form, size, width / BOLD));
    let mut all = sized.map(set);
    let fits = |lines: &[String], size: f64| {
        lines.len() <= TITLE_LINES
            && lines.iter().all(|line| font::width(line, Letters::new(size).bold()) <= width)
    };
    if let Some(found) = all.find(|(size, lines)| fits(lines, *size)) {
        return found;
    }
    let size = TITLES[TITLES.len() - 1];
    let shortest = forms.last().map_or("", String::as_str);
    let lines = font::wrapped(shortest, size, width / BOLD);
    let rest = lines[1.min(lines.len())..].join(" ");
    let first = lines.first().cloned().unwrap_or_default();
    (size, [first, rest].iter().map(|line| font::shortened(line, size, width / BOLD)).collect())
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

/// Whether the name of an entry fits a line of the legend of this width.
pub(crate) fn fits_legend(text: &str, width: f64) -> bool {
    KEY + font::width(text, LABEL) <= width
}

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

/// The labels of an axis of this length: as many as stand well apart, and two where there is room for them.
fn labels(axis: &Axis, length: f64) -> Vec<Label> {
    let most = [38.0, 30.0, 24.0, 19.0].map(|each| (length / each) as usize);
    let all = most.map(|most| axis.labels(most));
    all.iter().find(|labels| labels.len() > 1).unwrap_or(&all[0]).clone()
}

/// A grid line for each label of the axis, and where it is `written` a number below the panel.
pub(crate) fn lower_axis(canvas: &mut Canvas, panel: Area, axis: &Axis, written: bool) {
    let mut free = f64::NEG_INFINITY;
    for (value, text) in labels(axis, panel.width) {
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

/// Behind the name of a logarithmic axis.
pub(crate) const LOG: &str = " (log scale)";

/// What an axis measures, and whether it is logarithmic.
pub(crate) fn measured(what: &str, axis: &Axis) -> String {
    if axis.is_log() { format!("{what}{LOG}") } else { what.to_owned() }
}

/// What the lower axis measures, below everything.
pub(crate) fn axis_title(canvas: &mut Canvas, body: Area, left: f64, text: &str) {
    let text = fitting(text, body.width);
    let half = font::width(&text, ABOUT) / 2.0;
    let middle = body.x + left + (body.width - left) / 2.0;
    let middle = middle.min(body.right() - half).max(body.x + half);
    canvas.text((middle, body.bottom() - 10.0), &text, Letters::new(ABOUT).at(Anchor::Middle));
}

/// What an axis measures; on a narrow page without its definition, which stands behind a colon and in the
/// caption.
fn fitting(text: &str, most: f64) -> String {
    if font::width(text, ABOUT) <= most {
        return text.to_owned();
    }
    let log = if text.ends_with(LOG) { LOG } else { "" };
    let short = text.split_once(": ").map_or(text.to_owned(), |(name, _)| format!("{name}{log}"));
    font::shortened(&short, ABOUT, most)
}
