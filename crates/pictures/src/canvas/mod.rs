//! A canvas in pixels: shapes, texts, marks and hatchings become a [`Picture`], which is written as SVG,
//! PNG or PDF.
//!
//! The drawing library hands its shapes to `Recorder`, a backend that lists them. It counts in whole units,
//! so the canvas draws in quarters of a pixel. Texts are placed by the widths of [`font`].

pub mod axis;
pub mod font;
pub mod palette;
#[cfg(feature = "formats")]
mod pdf;
mod picture;
#[cfg(feature = "formats")]
mod png;
mod recorder;
mod svg;

use std::cell::RefCell;
use std::rc::Rc;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use notation::neutral;
use palette::{Colour, Dash, Fill, INK, Mark};
pub use picture::Picture;
use picture::{Group, Item};
use recorder::{Recorder, unit, units};

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
    /// Which end is at the point.
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

/// Regular letters of this size in pixels.
impl From<f64> for Letters {
    fn from(size: f64) -> Self {
        Self::new(size)
    }
}

/// Draws a picture of this size in pixels; `title` describes it to readers who do not see it.
#[must_use]
pub fn picture(size: Point, title: &str, draw: impl FnOnce(&mut Canvas)) -> Picture {
    let mut canvas = Canvas::default();
    draw(&mut canvas);
    canvas.finish(size, title)
}

/// What a picture is drawn on. Its size is set when all is drawn.
pub struct Canvas {
    area: DrawingArea<Recorder, Shift>,
    items: Rc<RefCell<Vec<Item>>>,
}

impl Default for Canvas {
    fn default() -> Self {
        let recorder = Recorder::default();
        let items = recorder.items();
        Self { area: recorder.into_drawing_area(), items }
    }
}

impl Canvas {
    /// What was drawn, on paper of this size in pixels; `title` describes it to readers who do not see it.
    #[must_use]
    pub fn finish(self, size: Point, title: &str) -> Picture {
        Picture { size, points: None, title: title.to_owned(), items: self.items.take() }
    }

    fn push(&mut self, item: Item) {
        self.items.borrow_mut().push(item);
    }

    /// Draws an element of the library.
    fn draw<E>(&mut self, element: &E)
    where
        for<'a> &'a E: plotters::element::PointCollection<'a, (i32, i32)>,
        E: plotters::element::Drawable<Recorder>,
    {
        // A recorder refuses nothing.
        let drawn = self.area.draw(element);
        debug_assert!(drawn.is_ok(), "the recorder is in use elsewhere");
    }

    /// Fills an area.
    pub fn fill(&mut self, area: Area, fill: impl Into<Fill>) {
        self.fill_all(vec![area], fill);
    }

    /// Fills several areas alike.
    pub fn fill_all(&mut self, areas: Vec<Area>, fill: impl Into<Fill>) {
        let areas = areas.into_iter().map(recorder::on_grid).collect();
        self.push(Item::Areas { areas, fill: fill.into() });
    }

    /// Draws a line through the points.
    pub fn line(&mut self, points: &[Point], colour: Colour, width: f64) {
        self.faint_line(points, colour, width, 1.0);
    }

    /// Draws a line through the points; `opacity` from 0 to 1.
    pub fn faint_line(&mut self, points: &[Point], colour: Colour, width: f64, opacity: f64) {
        let points: Vec<_> = points.iter().copied().map(units).collect();
        let style = recorder::rgb(colour).mix(opacity).stroke_width(unit(width).max(1) as u32);
        self.draw(&PathElement::new(points, style));
    }

    /// Draws a broken line through the points.
    pub fn dashed(&mut self, points: &[Point], colour: Colour, width: f64, dash: Dash) {
        self.line(points, colour, width);
        if let Some(Item::Line { dash: last, .. }) = self.items.borrow_mut().last_mut() {
            *last = dash;
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
        self.draw(&Polygon::new(points, recorder::rgb(colour).mix(opacity).filled()));
    }

    /// Draws a mark of `size` pixels across.
    pub fn mark(&mut self, (x, y): Point, mark: Mark, size: f64, colour: Colour) {
        let r = size / 2.0;
        match mark {
            Mark::Circle => {
                self.draw(&Circle::new(units((x, y)), unit(r), recorder::rgb(colour).filled()));
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

    /// Writes a text whose middle height is at the point.
    pub fn text(&mut self, at: Point, text: &str, letters: Letters) {
        let horizontal = match letters.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let face = if letters.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", letters.size, face).into_font();
        let turn = if letters.upwards { FontTransform::Rotate270 } else { FontTransform::None };
        let colour = recorder::rgb(letters.colour);
        let style =
            TextStyle::from(font.transform(turn)).color(&colour).pos(Pos::new(horizontal, VPos::Center));
        self.draw(&Text::new(neutral::line(text).into_owned(), units(at), style));
    }

    /// What `draw` draws has this text where a pointer rests on it.
    pub fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        self.group(Group::Titled(title.to_owned()), draw);
    }

    /// What `draw` draws has edges at whole pixels of the screen, so that neighbours show no seam.
    pub fn crisp(&mut self, draw: impl FnOnce(&mut Self)) {
        self.group(Group::Crisp, draw);
    }

    fn group(&mut self, group: Group, draw: impl FnOnce(&mut Self)) {
        self.push(Item::Begin(group));
        draw(self);
        self.push(Item::End);
    }
}

#[cfg(test)]
mod tests {
    use super::palette::BLUE;
    use super::*;

    #[test]
    fn a_picture_has_its_size_its_title_and_quarters_of_pixels() {
        let picture = picture((10.0, 5.0), "a < b", |canvas| {
            canvas.line(&[(1.25, 2.0), (3.0, 4.0)], BLUE, 0.5);
            canvas.text((5.0, 2.5), "x & y", Letters::new(4.0).at(Anchor::Middle));
        });
        let svg = picture.svg();
        assert!(svg.starts_with(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"5\" viewBox=\"0 0 10 5\""
        ));
        assert!(svg.contains("<title>a &lt; b</title>") && svg.contains(">x &amp; y<"), "{svg}");
        assert!(svg.contains("points=\"1.25,2 3,4\"") && svg.contains("stroke-width=\"0.5\""), "{svg}");
        assert!(svg.ends_with("</svg>\n"));
        assert!(picture.png(1.0).is_ok());
    }

    #[test]
    fn a_theme_takes_ink_and_paper_and_leaves_colours() {
        let picture = picture((9.0, 9.0), "t", |canvas| {
            canvas.text((1.0, 2.0), "x", Letters::new(3.0));
            canvas.mark((4.0, 4.0), Mark::Circle, 3.0, BLUE);
        });
        let themed = picture.themed();
        assert!(
            themed.contains("currentColor") && themed.contains("var(--paper") && themed.contains("#0072B2")
        );
        assert!(!themed.contains("#1A1A1A"), "{themed}");
    }
}
