//! The backend of the drawing library: it lists shapes and texts for a picture.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind, FontStyle, FontTransform,
};

use super::palette::{Colour, Dash};
use super::picture::Item;
use super::{Anchor, Area, Letters, Point};

/// Units of the library's coordinates in a pixel.
const UNITS: f64 = 4.0;
/// Units each way: more than any picture has, because its size is set when all is drawn.
const EXTENT: u32 = 1 << 20;

type Done = Result<(), DrawingErrorKind<Infallible>>;

/// Units from pixels, rounded.
pub(super) fn unit(pixels: f64) -> i32 {
    (pixels * UNITS).round() as i32
}

/// A point in units.
pub(super) fn units(point: Point) -> BackendCoord {
    (unit(point.0), unit(point.1))
}

/// A point in pixels.
fn pixels((x, y): BackendCoord) -> Point {
    (f64::from(x) / UNITS, f64::from(y) / UNITS)
}

/// The area with its edges at whole units: neighbours stay neighbours.
pub(super) fn on_grid(area: Area) -> Area {
    let (x, y) = pixels(units((area.x, area.y)));
    let (right, bottom) = pixels(units((area.right(), area.bottom())));
    Area { x, y, width: right - x, height: bottom - y }
}

/// The colour for the library.
pub(super) const fn rgb(colour: Colour) -> RGBColor {
    RGBColor(colour.0, colour.1, colour.2)
}

/// The colour for the picture.
const fn colour(BackendColor { rgb: (red, green, blue), .. }: BackendColor) -> Colour {
    Colour(red, green, blue)
}

/// Lists what the library draws.
#[derive(Default)]
pub(super) struct Recorder {
    items: Rc<RefCell<Vec<Item>>>,
}

impl Recorder {
    /// The list, shared with this recorder.
    pub(super) fn items(&self) -> Rc<RefCell<Vec<Item>>> {
        Rc::clone(&self.items)
    }

    fn push(&self, item: Item) -> Done {
        self.items.borrow_mut().push(item);
        Ok(())
    }
}

impl DrawingBackend for Recorder {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (EXTENT, EXTENT)
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, shade: BackendColor) -> Done {
        let (x, y) = pixels(point);
        let area = Area { x, y, width: 1.0 / UNITS, height: 1.0 / UNITS };
        self.push(Item::Areas { areas: vec![area], fill: colour(shade).into() })
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        self.push(Item::Line {
            points: path.into_iter().map(pixels).collect(),
            colour: colour(style.color()),
            opacity: style.color().alpha,
            width: f64::from(style.stroke_width()) / UNITS,
            dash: Dash::Solid,
        })
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        self.draw_path([from, to], style)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vertices: I,
        style: &S,
    ) -> Done {
        self.push(Item::Polygon {
            points: vertices.into_iter().map(pixels).collect(),
            colour: colour(style.color()),
            opacity: style.color().alpha,
        })
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Done {
        let radius = f64::from(radius) / UNITS;
        self.push(Item::Disc { centre: pixels(centre), radius, colour: colour(style.color()) })
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Done {
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        let letters = Letters {
            size: style.size(),
            colour: colour(style.color()),
            anchor,
            bold: matches!(style.style(), FontStyle::Bold),
            upwards: matches!(style.transform(), FontTransform::Rotate270),
        };
        self.push(Item::Text { at: pixels(at), text: text.to_owned(), letters })
    }
}
