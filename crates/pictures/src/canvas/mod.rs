//! A canvas in pixels that becomes SVG text: the drawing library's backend, with marks, dashes and hatchings it lacks.
//!
//! The library rounds coordinates to whole units and guesses the width of a text; so the canvas counts
//! quarters of a pixel and texts are placed by the widths of [`crate::canvas::font`].

pub mod axis;
pub mod font;
pub mod palette;
pub mod png;

use std::fmt::Display;

use notation::neutral;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::canvas::palette::{Colour, Dash, GRID, Hatch, INK, MUTED, Mark, PAPER};

/// Units of the picture's coordinates in a pixel.
const UNITS: f64 = 4.0;
/// Distance between the lines of a hatching, pixels.
const HATCHING: f64 = 5.0;

/// A point in pixels from the upper left corner.
pub type Point = (f64, f64);

/// An area in pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Area {
    /// Right edge.
    #[must_use]
    pub const fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Lower edge.
    #[must_use]
    pub const fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// Which end of a text stands at its point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

/// How a text looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Letters {
    /// Font size in pixels.
    pub size: f64,
    /// Their colour.
    pub colour: Colour,
    /// Which end stands at the point.
    pub anchor: Anchor,
    /// Bold face.
    pub bold: bool,
    /// Turned to read upwards.
    pub upwards: bool,
}

impl Letters {
    /// Regular letters in ink that begin at their point.
    #[must_use]
    pub const fn new(size: f64) -> Self {
        Self { size, colour: INK, anchor: Anchor::Start, bold: false, upwards: false }
    }

    /// The same with another anchor.
    #[must_use]
    pub const fn at(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same in another colour.
    #[must_use]
    pub const fn in_colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// The same in bold.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

/// A picture in the making.
pub struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    fault: Option<String>,
}

/// Draws a picture of this size in pixels; `title` is what it says to readers who do not see it.
///
/// # Errors
/// What the drawing library says.
pub fn svg(size: Point, title: &str, draw: impl FnOnce(&mut Canvas<'_>)) -> Result<String, String> {
    let mut text = String::new();
    let units = (unit(size.0) as u32, unit(size.1) as u32);
    let mut canvas =
        Canvas { area: SVGBackend::with_string(&mut text, units).into_drawing_area(), fault: None };
    canvas.fill(Area { x: 0.0, y: 0.0, width: size.0, height: size.1 }, PAPER);
    draw(&mut canvas);
    canvas.keep(&canvas.area.present());
    let fault = canvas.fault.take();
    drop(canvas);
    match fault {
        Some(fault) => Err(fault),
        None => Ok(headed(&text, size, title)),
    }
}

/// With a size in pixels, a role and a title in the place of the library's first line.
fn headed(text: &str, size: Point, title: &str) -> String {
    let body = text.split_once(">\n").map_or(text, |(_, body)| body);
    let (width, height) = (size.0.round(), size.1.round());
    let title = neutral::xml(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" role=\"img\" \
         aria-label=\"{title}\">\n<title>{title}</title>\n{body}",
        unit(size.0),
        unit(size.1)
    )
}

/// The picture for a page with a theme of its own: text, lines and paper in the colours of the page (CSS
/// `color`, `--muted`, `--grid` and `--paper`), the others as they are.
#[must_use]
pub fn themed(svg: &str) -> String {
    let quoted = |colour: Colour| format!("\"{}\"", colour.hex());
    svg.replace(&quoted(INK), "\"currentColor\"")
        .replace(&quoted(MUTED), "\"var(--muted,#595959)\"")
        .replace(&quoted(GRID), "\"var(--grid,#D9D9D9)\"")
        .replace(&quoted(PAPER), "\"var(--paper,#FFFFFF)\"")
}

fn unit(pixels: f64) -> i32 {
    (pixels * UNITS).round() as i32
}

fn units(point: Point) -> (i32, i32) {
    (unit(point.0), unit(point.1))
}

const fn rgb(colour: Colour) -> RGBColor {
    RGBColor(colour.0, colour.1, colour.2)
}

impl Canvas<'_> {
    /// The first fault is told at the end.
    fn keep<E: Display>(&mut self, done: &Result<(), E>) {
        if let (Err(fault), None) = (done, &self.fault) {
            self.fault = Some(fault.to_string());
        }
    }

    /// Fills an area.
    pub fn fill(&mut self, area: Area, colour: Colour) {
        let corners = [units((area.x, area.y)), units((area.right(), area.bottom()))];
        let drawn = self.area.draw(&Rectangle::new(corners, rgb(colour).filled()));
        self.keep(&drawn);
    }

    /// Draws a line through the points.
    pub fn line(&mut self, points: &[Point], colour: Colour, width: f64) {
        let points: Vec<_> = points.iter().copied().map(units).collect();
        let style = rgb(colour).stroke_width(unit(width).max(1) as u32);
        let drawn = self.area.draw(&PathElement::new(points, style));
        self.keep(&drawn);
    }

    /// Draws a broken line through the points.
    pub fn dashed(&mut self, points: &[Point], colour: Colour, width: f64, dash: Dash) {
        if dash == Dash::Solid {
            self.line(points, colour, width);
            return;
        }
        for piece in pieces(points, dash.lengths()) {
            self.line(&piece, colour, width);
        }
    }

    /// Draws the edge of an area.
    pub fn frame(&mut self, area: Area, colour: Colour, width: f64) {
        let (left, right, top, bottom) = (area.x, area.right(), area.y, area.bottom());
        self.line(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], colour, width);
    }

    /// Fills what the points enclose; `opacity` from 0 to 1.
    pub fn polygon(&mut self, points: &[Point], colour: Colour, opacity: f64) {
        let points: Vec<_> = points.iter().copied().map(units).collect();
        let drawn = self.area.draw(&Polygon::new(points, rgb(colour).mix(opacity).filled()));
        self.keep(&drawn);
    }

    /// Draws a mark of `size` pixels across.
    pub fn mark(&mut self, (x, y): Point, mark: Mark, size: f64, colour: Colour) {
        let r = size / 2.0;
        match mark {
            Mark::Circle => {
                let circle = Circle::new(units((x, y)), unit(r), rgb(colour).filled());
                let drawn = self.area.draw(&circle);
                self.keep(&drawn);
            }
            Mark::Square => {
                let r = r * 0.9;
                self.fill(Area { x: x - r, y: y - r, width: 2.0 * r, height: 2.0 * r }, colour);
            }
            Mark::Triangle => {
                self.polygon(
                    &[(x, y - r * 1.1), (x + r * 1.1, y + r * 0.9), (x - r * 1.1, y + r * 0.9)],
                    colour,
                    1.0,
                );
            }
            Mark::Down => {
                self.polygon(
                    &[(x, y + r * 1.1), (x + r * 1.1, y - r * 0.9), (x - r * 1.1, y - r * 0.9)],
                    colour,
                    1.0,
                );
            }
            Mark::Diamond => {
                let r = r * 1.2;
                self.polygon(&[(x, y - r), (x + r, y), (x, y + r), (x - r, y)], colour, 1.0);
            }
            Mark::Cross => {
                let r = r * 0.85;
                self.line(&[(x - r, y - r), (x + r, y + r)], colour, 2.0);
                self.line(&[(x - r, y + r), (x + r, y - r)], colour, 2.0);
            }
            Mark::Plus => {
                self.line(&[(x - r, y), (x + r, y)], colour, 2.0);
                self.line(&[(x, y - r), (x, y + r)], colour, 2.0);
            }
        }
    }

    /// Fills an area and hatches it.
    pub fn hatched(&mut self, area: Area, colour: Colour, hatch: Hatch, lines: Colour) {
        self.fill(area, colour);
        for (from, to) in hatching(area, hatch) {
            self.line(&[from, to], lines, 0.75);
        }
    }

    /// Writes a text whose middle height is at the point.
    pub fn text(&mut self, at: Point, text: &str, letters: Letters) {
        let horizontal = match letters.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        // The backend writes a size of 1 / 1.24 of what it is given.
        let size = letters.size * UNITS * 1.24;
        let face = if letters.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", size, face).into_font();
        let turn = if letters.upwards { FontTransform::Rotate270 } else { FontTransform::None };
        let colour = rgb(letters.colour);
        let style =
            TextStyle::from(font.transform(turn)).color(&colour).pos(Pos::new(horizontal, VPos::Center));
        let drawn = self.area.draw_text(&neutral::line(text), &style, units(at));
        self.keep(&drawn);
    }
}

/// The dashes of a line through the points.
fn pieces(points: &[Point], (dash, gap): (f64, f64)) -> Vec<Vec<Point>> {
    let (mut pieces, mut piece) = (Vec::new(), Vec::new());
    let (mut drawn, mut left) = (true, dash);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = ((to.0 - from.0) * (to.0 - from.0) + (to.1 - from.1) * (to.1 - from.1)).sqrt();
        let at = |way: f64| {
            let part = way / length;
            (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
        };
        let mut way = 0.0;
        if drawn && piece.is_empty() {
            piece.push(from);
        }
        while way + left < length {
            way += left;
            if drawn {
                piece.push(at(way));
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece.push(at(way));
            }
            drawn = !drawn;
            left = if drawn { dash } else { gap };
        }
        left -= length - way;
        if drawn {
            piece.push(to);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

/// The lines of a hatching, cut at the edges of the area.
fn hatching(area: Area, hatch: Hatch) -> Vec<(Point, Point)> {
    let steps = |from: f64, to: f64| {
        let first = (from / HATCHING).ceil() as i64;
        let last = (to / HATCHING).floor() as i64;
        (first..=last).map(|step| step as f64 * HATCHING)
    };
    // x + y = c rises to the right, x - y = c falls.
    let rising = || {
        steps(area.x + area.y, area.right() + area.bottom()).map(|c| {
            let left = area.x.max(c - area.bottom());
            let right = area.right().min(c - area.y);
            ((left, c - left), (right, c - right))
        })
    };
    let falling = || {
        steps(area.x - area.bottom(), area.right() - area.y).map(|c| {
            let left = area.x.max(c + area.y);
            let right = area.right().min(c + area.bottom());
            ((left, left - c), (right, right - c))
        })
    };
    match hatch {
        Hatch::None => Vec::new(),
        Hatch::Rising => rising().collect(),
        Hatch::Falling => falling().collect(),
        Hatch::Crossed => rising().chain(falling()).collect(),
        Hatch::Upright => steps(area.x, area.right()).map(|x| ((x, area.y), (x, area.bottom()))).collect(),
        Hatch::Level => steps(area.y, area.bottom()).map(|y| ((area.x, y), (area.right(), y))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::palette::BLUE;

    #[test]
    fn the_picture_has_its_size_and_says_what_it_is() {
        let picture = svg((10.0, 5.0), "a < b", |canvas| {
            canvas.text((1.0, 2.0), "x & y", Letters::new(3.0));
        });
        let picture = picture.unwrap();
        assert!(picture.starts_with(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"5\" viewBox=\"0 0 40 20\""
        ));
        assert!(picture.contains("<title>a &lt; b</title>") && picture.contains("x &amp; y"), "{picture}");
        assert!(picture.trim_end().ends_with("</svg>"));
        assert!(png::from_svg(&picture, 1.0).is_ok());
    }

    #[test]
    fn dashes_go_on_around_corners() {
        let broken = pieces(&[(0.0, 0.0), (3.0, 0.0), (3.0, 3.0)], (4.0, 1.0));
        assert_eq!(broken, [vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)], vec![(3.0, 2.0), (3.0, 3.0)]]);
    }

    #[test]
    fn hatchings_stay_within_their_area() {
        let area = Area { x: 3.0, y: 7.0, width: 31.0, height: 12.0 };
        for hatch in [Hatch::Rising, Hatch::Falling, Hatch::Crossed, Hatch::Upright, Hatch::Level] {
            let lines = hatching(area, hatch);
            assert!(lines.len() >= 2, "{hatch:?}");
            for (x, y) in lines.iter().flat_map(|(from, to)| [*from, *to]) {
                let (right, bottom) = (area.right() + 1e-9, area.bottom() + 1e-9);
                assert!(x >= 3.0 - 1e-9 && x <= right && y >= 7.0 - 1e-9 && y <= bottom, "{hatch:?} {x} {y}");
            }
        }
    }

    #[test]
    fn a_theme_takes_ink_and_paper_and_leaves_colours() {
        let picture = svg((9.0, 9.0), "t", |canvas| {
            canvas.text((1.0, 2.0), "x", Letters::new(3.0));
            canvas.mark((4.0, 4.0), Mark::Circle, 3.0, BLUE);
        });
        let themed = themed(&picture.unwrap());
        assert!(
            themed.contains("currentColor") && themed.contains("var(--paper") && themed.contains("#0072B2")
        );
        assert!(!themed.contains("#1A1A1A"), "{themed}");
    }
}
