//! Draws a picture in pixels with the built-in font: the same bytes on every machine, whatever fonts it has.

use std::collections::BTreeMap;

use tiny_skia::{
    Color, FillRule, FilterQuality, Paint, Path, PathBuilder, Pattern, Pixmap, Rect, Shader, SpreadMode,
    Stroke, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::font;
use super::palette::{Colour, Dash, Fill, PAPER, Tile};
use super::picture::{Group, Item, MIDDLE, Picture};
use super::{Anchor, Area, Letters, Point};

/// Largest width or height in pixels: beyond it a picture takes gigabytes.
const MOST_PIXELS: f64 = 20_000.0;

impl Picture {
    /// As PNG with the built-in font, `scale` times as large (2 suits screens and slides).
    ///
    /// # Errors
    /// A size that cannot be drawn, a sentence.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, String> {
        let whole = |pixels: f64| (pixels.round() * f64::from(scale)).ceil();
        let (width, height) = (whole(self.size.0), whole(self.size.1));
        if !(1.0..=MOST_PIXELS).contains(&width) || !(1.0..=MOST_PIXELS).contains(&height) {
            return Err(format!(
                "a picture of {width} x {height} pixels: 1 to {MOST_PIXELS} each way can be drawn"
            ));
        }
        let mut pixels = Pixmap::new(width as u32, height as u32).ok_or("the picture is too large")?;
        pixels.fill(solid(PAPER, 1.0));
        let mut painter = Painter { pixels, scale, groups: Vec::new(), tiles: BTreeMap::new() };
        for item in &self.items {
            painter.item(item);
        }
        painter.pixels.encode_png().map_err(|e| e.to_string())
    }
}

fn solid(Colour(red, green, blue): Colour, opacity: f64) -> Color {
    let mut colour = Color::from_rgba8(red, green, blue, u8::MAX);
    colour.apply_opacity(opacity as f32);
    colour
}

fn paint(colour: Colour, opacity: f64, smooth: bool) -> Paint<'static> {
    Paint { shader: Shader::SolidColor(solid(colour, opacity)), anti_alias: smooth, ..Paint::default() }
}

/// A rectangle; none without an extent.
fn rectangle(area: &Area) -> Option<Rect> {
    Rect::from_xywh(area.x as f32, area.y as f32, area.width as f32, area.height as f32)
}

fn path(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if at == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// Draws items.
struct Painter {
    pixels: Pixmap,
    scale: f32,
    /// The groups that have begun: whether their edges are at whole pixels.
    groups: Vec<bool>,
    /// Tiles that were drawn already.
    tiles: BTreeMap<Tile, Pixmap>,
}

impl Painter {
    fn transform(&self) -> Transform {
        Transform::from_scale(self.scale, self.scale)
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Areas { areas, fill } => self.areas(areas, *fill),
            Item::Line { points, colour, opacity, width, dash } => {
                let paint = paint(*colour, *opacity, true);
                self.stroke(points, &paint, *width as f32, *dash);
            }
            Item::Polygon { points, colour, opacity } => {
                self.fill(path(points, true), &paint(*colour, *opacity, true), self.transform());
            }
            Item::Disc { centre, radius, colour } => {
                let disc = PathBuilder::from_circle(centre.0 as f32, centre.1 as f32, *radius as f32);
                self.fill(disc, &paint(*colour, 1.0, true), self.transform());
            }
            Item::Text { at, text, letters } => self.text(*at, text, *letters),
            Item::Begin(group) => self.groups.push(*group == Group::Crisp),
            Item::End => drop(self.groups.pop()),
        }
    }

    fn fill(&mut self, path: Option<Path>, paint: &Paint<'_>, transform: Transform) {
        if let Some(path) = path {
            self.pixels.fill_path(&path, paint, FillRule::Winding, transform, None);
        }
    }

    fn stroke(&mut self, points: &[Point], paint: &Paint<'_>, width: f32, dash: Dash) {
        let dash = dash.lengths().and_then(|(dash, gap)| StrokeDash::new(vec![dash as f32, gap as f32], 0.0));
        let stroke = Stroke { width, dash, ..Stroke::default() };
        if let Some(path) = path(points, false) {
            self.pixels.stroke_path(&path, paint, &stroke, self.transform(), None);
        }
    }

    fn areas(&mut self, areas: &[Area], fill: Fill) {
        let smooth = !self.groups.contains(&true);
        let mut path = PathBuilder::new();
        areas.iter().filter_map(rectangle).for_each(|area| path.push_rect(area));
        let (path, transform) = (path.finish(), self.transform());
        match fill {
            Fill::Plain(colour) => self.fill(path, &paint(colour, 1.0, smooth), transform),
            Fill::Tiled(tile) => {
                let (angle, side, _) = tile.hatch.shape();
                let Some(pixels) = self.tile(tile) else { return };
                let shrink = side as f32 / pixels.width() as f32;
                let placed = Transform::from_rotate(angle as f32).pre_scale(shrink, shrink);
                let shader =
                    Pattern::new(pixels.as_ref(), SpreadMode::Repeat, FilterQuality::Bicubic, 1.0, placed);
                let paint = Paint { shader, anti_alias: smooth, ..Paint::default() };
                self.fill(path, &paint, transform);
            }
        }
    }

    /// A tile in pixels.
    fn tile(&mut self, tile: Tile) -> Option<Pixmap> {
        if let Some(pixels) = self.tiles.get(&tile) {
            return Some(pixels.clone());
        }
        let (_, side, marks) = tile.hatch.shape();
        let length = (side as f32 * self.scale).ceil().max(1.0);
        let mut pixels = Pixmap::new(length as u32, length as u32)?;
        pixels.fill(solid(tile.ground, 1.0));
        let scale = length / side as f32;
        for (width, height) in marks {
            let mark = Rect::from_xywh(0.0, 0.0, *width as f32, *height as f32)?;
            let paint = paint(tile.lines, 1.0, true);
            pixels.fill_rect(mark, &paint, Transform::from_scale(scale, scale), None);
        }
        self.tiles.insert(tile, pixels.clone());
        Some(pixels)
    }

    fn text(&mut self, (x, y): Point, text: &str, letters: Letters) {
        let wide = font::width(text, letters);
        let before = match letters.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => wide / 2.0,
            Anchor::End => wide,
        };
        let turn = if letters.upwards { 270.0 } else { 0.0 };
        let placed =
            self.transform().pre_translate(x as f32, y as f32).pre_concat(Transform::from_rotate(turn));
        let mut pen = Pen { path: PathBuilder::new(), x: 0.0, y: (MIDDLE * letters.size) as f32, unit: 0.0 };
        font::glyphs(text, letters, |at, face, glyph| {
            pen.x = (at - before) as f32;
            pen.unit = letters.size as f32 / f32::from(face.units_per_em());
            // A glyph that cannot be read stays blank.
            let _ = face.outline_glyph(glyph, &mut pen);
        });
        self.fill(pen.path.finish(), &paint(letters.colour, 1.0, true), placed);
    }
}

/// Outlines of glyphs, one after the other on a baseline; those of fonts have y upwards.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    /// Pixels per unit of the font.
    unit: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.unit, self.y - y * self.unit)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        let ((cx, cy), (x, y)) = (self.at(cx, cy), self.at(x, y));
        self.path.quad_to(cx, cy, x, y);
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        let ((ax, ay), (bx, by), (x, y)) = (self.at(ax, ay), self.at(bx, by), self.at(x, y));
        self.path.cubic_to(ax, ay, bx, by, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Canvas, picture};
    use super::*;

    fn pictured(text: &str) -> Picture {
        picture((40.0, 20.0), "", |canvas: &mut Canvas| canvas.text((2.0, 10.0), text, Letters::new(12.0)))
    }

    #[test]
    fn text_is_drawn_in_the_built_in_font_and_bytes_repeat() {
        let png = pictured("mm").png(2.0).unwrap();
        assert_eq!(png, pictured("mm").png(2.0).unwrap());
        assert_eq!(&png[1..4], b"PNG");
        let empty = pictured("").png(2.0).unwrap();
        assert!(png.len() > empty.len() + 50, "no letters: {} {}", png.len(), empty.len());
        // Width and height are big-endian in the header chunk.
        assert_eq!((&png[16..20], &png[20..24]), (&[0, 0, 0, 80][..], &[0, 0, 0, 40][..]));
    }

    #[test]
    fn sizes_that_cannot_be_drawn_are_refused() {
        assert!(pictured("mm").png(10_000.0).unwrap_err().contains("pixels"));
        assert!(pictured("mm").png(0.0).unwrap_err().contains("pixels"));
    }
}
