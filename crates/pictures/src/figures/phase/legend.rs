//! The legend of a phase diagram: a strip of shades for each policy, and what hatching and gaps mean.

use experiment::response::Response;
use experiment::response::map::Map;

use super::look::{self, EDGES, Looks};
use crate::canvas::font;
use crate::canvas::palette::{INK, MUTED, PAPER};
use crate::canvas::{Anchor, Area, Canvas, Letters};
use crate::figures::frame::LABEL;
use crate::figures::page::Page;

/// Width and height of a shade, and the height of a line.
const SHADE: f64 = 32.0;
const HIGH: f64 = 13.0;
const LINE: f64 = 19.0;
/// Width of the letter before a strip.
const LETTER: f64 = 24.0;
/// Letters of the edges of shades, and the height of the lines above the strips.
const SMALL: f64 = 9.5;
const HEADS: f64 = 30.0;
/// Width of a strip.
const STRIP: f64 = SHADE * (EDGES.len() as f64 + 1.0);
/// Space between columns.
const GUTTER: f64 = 24.0;

/// What the marks mean.
const UNSURE: &str = "hatched: not significant (paired 95 % interval)";
const NONE: &str = "crossed: no run completed";
const HOLE: &str = "blank: not in the sweep";
const HEAD: &str = "Shades: by how much the second policy is worse";

/// A legend.
pub(super) struct Legend {
    /// Policies in lines and columns.
    entries: Vec<(usize, String)>,
    across: usize,
    /// What the marks mean, in lines.
    remarks: Vec<Vec<&'static str>>,
}

impl Legend {
    pub(super) fn of(response: &Response, map: &Map, looks: &Looks, page: Page) -> Self {
        let text =
            |(policy, count): &(usize, usize)| (*policy, format!("{} ({count})", response.policies[*policy]));
        let entries: Vec<(usize, String)> = looks.order.iter().map(text).collect();
        let widest = entries.iter().map(|(_, text)| font::width(text, LABEL)).fold(0.0, f64::max);
        let column = LETTER + STRIP + 8.0 + widest;
        let across = if entries.len() > 1 && 2.0 * column + GUTTER <= page.body() { 2 } else { 1 };
        let margins = || map.winners().into_iter().filter_map(|(_, winner)| winner.margin);
        let unsure = margins().any(|margin| margin.significant == Some(false));
        let none = map.cells.iter().any(|cell| cell.winner.is_none());
        let hole = map.cells.len() < map.panels.len() * map.x.classes.len() * map.rows();
        let remarks = [(unsure, UNSURE), (none, NONE), (hole, HOLE)];
        let mut lines: Vec<Vec<&'static str>> = Vec::new();
        for (_, text) in remarks.into_iter().filter(|(there, _)| *there) {
            let before = lines.last().map_or(0.0, |line| line.iter().map(|text| remark_width(text)).sum());
            match lines.last_mut() {
                Some(line) if before + remark_width(text) <= page.body() => line.push(text),
                _ => lines.push(vec![text]),
            }
        }
        let remarks = lines;
        Self { entries, across, remarks }
    }

    fn lines(&self) -> usize {
        self.entries.len().div_ceil(self.across)
    }

    /// Its height with the space below.
    pub(super) fn height(&self) -> f64 {
        let remarks = if self.remarks.is_empty() { 0.0 } else { self.remarks.len() as f64 * LINE + 2.0 };
        HEADS + self.lines() as f64 * LINE + remarks + 12.0
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, at: Area, looks: &Looks) {
        let wide = (at.width - GUTTER * (self.across as f64 - 1.0)) / self.across as f64;
        let top = at.y + HEADS;
        for column in 0..self.across {
            let strip = at.x + column as f64 * (wide + GUTTER) + LETTER;
            for (edge, part) in EDGES.iter().enumerate() {
                let x = strip + SHADE * (edge as f64 + 1.0);
                let text = format!("{:.0} %", part * 100.0);
                canvas.text((x, top - 8.0), &text, Letters::new(SMALL).in_colour(MUTED).at(Anchor::Middle));
            }
        }
        canvas.text((at.x, at.y + 6.0), HEAD, Letters::new(LABEL).in_colour(MUTED));
        for (number, (policy, text)) in self.entries.iter().enumerate() {
            let (column, line) = (number / self.lines(), number % self.lines());
            let (x, y) = (at.x + column as f64 * (wide + GUTTER), top + line as f64 * LINE);
            canvas.text((x, y + LINE / 2.0), &looks.letter(*policy), Letters::new(LABEL).bold());
            for shade in 0..=EDGES.len() {
                let area =
                    Area { x: x + LETTER + SHADE * shade as f64, y: y + 3.0, width: SHADE, height: HIGH };
                canvas.fill(area, looks.colour(*policy, shade));
            }
            canvas.frame(Area { x: x + LETTER, y: y + 3.0, width: STRIP, height: HIGH }, MUTED, 0.5);
            let place = (x + LETTER + STRIP + 8.0, y + LINE / 2.0);
            canvas.text(
                place,
                &font::squeezed(text, LABEL, wide - LETTER - STRIP - 8.0),
                Letters::new(LABEL),
            );
        }
        self.remarks(canvas, at.x, top + self.lines() as f64 * LINE + 2.0);
    }

    fn remarks(&self, canvas: &mut Canvas, x: f64, y: f64) {
        for (line, remarks) in self.remarks.iter().enumerate() {
            let (mut x, y) = (x, y + line as f64 * LINE);
            for remark in remarks {
                let area = Area { x, y: y + 3.0, width: 22.0, height: HIGH };
                match *remark {
                    UNSURE => canvas.fill(area, look::hatched(PAPER)),
                    NONE => crossed(canvas, area),
                    _ => {}
                }
                canvas.frame(area, MUTED, 0.75);
                canvas.text((x + 28.0, y + LINE / 2.0), remark, Letters::new(LABEL));
                x += remark_width(remark);
            }
        }
    }
}

/// Width of a remark with its mark and the space behind it.
fn remark_width(text: &str) -> f64 {
    28.0 + font::width(text, LABEL) + 18.0
}

/// The mark of a cell in which no run completed.
pub(super) fn crossed(canvas: &mut Canvas, area: Area) {
    canvas.line(&[(area.x, area.y), (area.right(), area.bottom())], INK, 0.75);
    canvas.line(&[(area.x, area.bottom()), (area.right(), area.y)], INK, 0.75);
}
