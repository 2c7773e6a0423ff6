//! Writes a picture as PDF: one page of its size, texts as text in the built-in font, which is part of the
//! file. The same picture gives the same bytes: the file has neither a date nor an identifier.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use ttf_parser::Face;

use super::axis::extremes;
use super::palette::{Colour, Dash, Fill, PAPER, Tile};
use super::picture::{Item, MIDDLE, Picture};
use super::{Anchor, Area, Letters, Point, font};

/// Points in a pixel of CSS: 72 and 96 to the inch.
const PIXEL: f64 = 0.75;
/// Opacities are told apart by thousandths.
const OPACITIES: f64 = 1000.0;
/// What a circle's quarter needs as a Bézier curve: 4/3 (sqrt(2) - 1).
const ROUND: f64 = 0.552_284_749_8;
/// Glyphs of one number of 16 bits each, as they are in the font.
const SYSTEM: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

impl Picture {
    /// As PDF: a page as large as the picture is to be printed, 96 pixels to the inch where that was not
    /// said.
    ///
    /// # Errors
    /// A sentence: the built-in font is damaged.
    pub fn pdf(&self) -> Result<Vec<u8>, String> {
        let file = File::new(self);
        let content = self.content(&file);
        file.finish(&content)
    }

    /// The marks on the page.
    fn content(&self, file: &File<'_>) -> Vec<u8> {
        let mut content = Content::new();
        let (unit, height) = (file.unit, file.size.1);
        // Pixels have their origin at the top, points theirs at the bottom.
        content.transform([unit, 0.0, 0.0, -unit, 0.0, height].map(|number| number as f32));
        let paper = Area { x: 0.0, y: 0.0, width: self.size.0, height: self.size.1 };
        areas(&mut content, file, &[paper], PAPER.into());
        self.items.iter().for_each(|item| draw(&mut content, file, item));
        content.finish().into_vec()
    }
}

/// A file in the making: what its page refers to.
struct File<'a> {
    picture: &'a Picture,
    /// Points in a pixel, and the size in points.
    unit: f64,
    size: Point,
    pdf: Pdf,
    last: i32,
    opacities: BTreeMap<u32, (String, Ref)>,
    /// The faces that occur: regular and bold.
    faces: BTreeMap<bool, (String, Ref)>,
}

impl<'a> File<'a> {
    fn new(picture: &'a Picture) -> Self {
        let unit = picture.points.unwrap_or(PIXEL);
        let size = (picture.size.0 * unit, picture.size.1 * unit);
        let mut file = Self {
            picture,
            unit,
            size,
            pdf: Pdf::new(),
            last: 0,
            opacities: BTreeMap::new(),
            faces: BTreeMap::new(),
        };
        for item in &picture.items {
            match item {
                Item::Line { opacity, .. } | Item::Polygon { opacity, .. } => {
                    let key = thousandths(*opacity);
                    if !file.opacities.contains_key(&key) {
                        let id = file.next();
                        file.opacities.insert(key, (format!("O{key}"), id));
                    }
                }
                Item::Text { letters, .. } if !file.faces.contains_key(&letters.bold) => {
                    let id = file.next();
                    let name = if letters.bold { "Bold" } else { "Regular" };
                    file.faces.insert(letters.bold, (name.to_owned(), id));
                }
                _ => {}
            }
        }
        file
    }

    fn next(&mut self) -> Ref {
        self.last += 1;
        Ref::new(self.last)
    }

    /// The file with this content on its page.
    fn finish(mut self, content: &[u8]) -> Result<Vec<u8>, String> {
        let [catalog, pages, page, contents, info] = [0; 5].map(|_| self.next());
        self.pdf.catalog(catalog).pages(pages);
        self.pdf.pages(pages).kids([page]).count(1);
        let [width, height] = [self.size.0, self.size.1].map(|number| number as f32);
        let mut sheet = self.pdf.page(page);
        sheet.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(contents);
        let mut resources = sheet.resources();
        let mut fonts = resources.fonts();
        for (name, id) in self.faces.values() {
            fonts.pair(Name(name.as_bytes()), *id);
        }
        fonts.finish();
        let mut states = resources.ext_g_states();
        for (name, id) in self.opacities.values() {
            states.pair(Name(name.as_bytes()), *id);
        }
        states.finish();
        resources.finish();
        sheet.finish();
        let packed = packed(content)?;
        self.pdf.stream(contents, &packed).filter(Filter::FlateDecode);
        self.pdf.document_info(info).title(TextStr(&self.picture.title)).producer(TextStr("oversim"));
        for (opacity, (_, id)) in std::mem::take(&mut self.opacities) {
            let part = (f64::from(opacity) / OPACITIES) as f32;
            self.pdf.ext_graphics(id).stroking_alpha(part).non_stroking_alpha(part);
        }
        for (bold, (_, id)) in std::mem::take(&mut self.faces) {
            self.face(id, bold)?;
        }
        Ok(self.pdf.finish())
    }

    /// A face of the built-in font, with the letters that its glyphs mean.
    fn face(&mut self, id: Ref, bold: bool) -> Result<(), String> {
        let data = font::data(bold);
        let face = Face::parse(data, 0).map_err(|error| format!("the built-in font: {error}"))?;
        let [glyphs, descriptor, program, letters] = [0; 4].map(|_| self.next());
        // Six letters mark a part of a font.
        let name = if bold { "OVSBLD+DejaVuSans-Bold" } else { "OVSREG+DejaVuSans" };
        let name = Name(name.as_bytes());
        let em = 1000.0 / f32::from(face.units_per_em());
        self.pdf
            .type0_font(id)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(glyphs)
            .to_unicode(letters);
        let mut cid = self.pdf.cid_font(glyphs);
        cid.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM).font_descriptor(descriptor);
        let advance = |glyph| f32::from(face.glyph_hor_advance(ttf_parser::GlyphId(glyph)).unwrap_or(0)) * em;
        cid.default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
        cid.widths().consecutive(0, (0..face.number_of_glyphs()).map(advance));
        cid.finish();
        let [ascent, descent] = [face.ascender(), face.descender()].map(|units| f32::from(units) * em);
        let cap = face.capital_height().map_or(ascent, |units| f32::from(units) * em);
        let b = face.global_bounding_box();
        let [x1, y1, x2, y2] = [b.x_min, b.y_min, b.x_max, b.y_max].map(|units| f32::from(units) * em);
        self.pdf
            .font_descriptor(descriptor)
            .name(name)
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(Rect::new(x1, y1, x2, y2))
            .italic_angle(0.0)
            .ascent(ascent)
            .descent(descent)
            .cap_height(cap)
            .stem_v(if bold { 140.0 } else { 80.0 })
            .font_file2(program);
        let bytes = packed(data)?;
        let mut stream = self.pdf.stream(program, &bytes);
        stream.filter(Filter::FlateDecode);
        stream.pair(Name(b"Length1"), i32::try_from(data.len()).unwrap_or(i32::MAX));
        stream.finish();
        let mut map = UnicodeCmap::new(Name(b"Custom"), SYSTEM);
        for (glyph, letter) in self.letters(&face, bold) {
            map.pair(glyph, letter);
        }
        let map = map.finish();
        self.pdf.cmap(letters, map.as_slice());
        Ok(())
    }

    /// The letters that the texts of the picture have in a face, by glyph.
    fn letters(&self, face: &Face<'_>, bold: bool) -> BTreeMap<u16, char> {
        let texts = self.picture.items.iter().filter_map(|item| match item {
            Item::Text { text, letters, .. } if letters.bold == bold => Some(text),
            _ => None,
        });
        let all: BTreeSet<char> = texts.flat_map(|text| text.chars()).collect();
        all.into_iter().filter_map(|letter| Some((face.glyph_index(letter)?.0, letter))).collect()
    }
}

/// Compressed.
fn packed(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(|error| error.to_string())
}

fn thousandths(opacity: f64) -> u32 {
    (opacity * OPACITIES).round() as u32
}

/// A colour as parts of 1.
fn parts(Colour(red, green, blue): Colour) -> [f32; 3] {
    [red, green, blue].map(|part| f32::from(part) / 255.0)
}

fn set_fill(content: &mut Content, colour: Colour) {
    let [red, green, blue] = parts(colour);
    content.set_fill_rgb(red, green, blue);
}

fn draw(content: &mut Content, file: &File<'_>, item: &Item) {
    match item {
        Item::Areas { areas, fill } => self::areas(content, file, areas, *fill),
        Item::Line { points, colour, opacity, width, dash } => {
            faint(content, file, *opacity);
            let [red, green, blue] = parts(*colour);
            content.set_stroke_rgb(red, green, blue).set_line_width(*width as f32);
            dashed(content, *dash);
            path(content, points);
            content.stroke();
        }
        Item::Polygon { points, colour, opacity } => {
            faint(content, file, *opacity);
            set_fill(content, *colour);
            path(content, points);
            content.close_path().fill_nonzero();
        }
        Item::Disc { centre, radius, colour } => disc(content, *centre, *radius, *colour),
        Item::Text { at, text, letters } => self::text(content, file, *at, text, *letters),
        Item::Begin(_) | Item::End => {}
    }
}

/// What follows has this opacity.
fn faint(content: &mut Content, file: &File<'_>, opacity: f64) {
    if let Some((name, _)) = file.opacities.get(&thousandths(opacity)) {
        content.set_parameters(Name(name.as_bytes()));
    }
}

fn dashed(content: &mut Content, dash: Dash) {
    let lengths = dash.lengths().map_or_else(Vec::new, |(dash, gap)| vec![dash as f32, gap as f32]);
    content.set_dash_pattern(lengths, 0.0);
}

fn path(content: &mut Content, points: &[Point]) {
    for (at, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if at == 0 {
            content.move_to(x, y)
        } else {
            content.line_to(x, y)
        };
    }
}

fn areas(content: &mut Content, file: &File<'_>, areas: &[Area], fill: Fill) {
    if let Some((name, _)) = file.opacities.get(&thousandths(1.0)) {
        content.set_parameters(Name(name.as_bytes()));
    }
    let ground = match fill {
        Fill::Plain(colour) => colour,
        Fill::Tiled(tile) => tile.ground,
    };
    set_fill(content, ground);
    rectangles(content, areas);
    content.fill_nonzero();
    if let Fill::Tiled(tile) = fill {
        hatched(content, areas, tile);
    }
}

fn rectangles(content: &mut Content, areas: &[Area]) {
    for Area { x, y, width, height } in areas {
        let [x, y, width, height] = [x, y, width, height].map(|number| *number as f32);
        content.rect(x, y, width, height);
    }
}

/// Draws the lines of a hatching over areas, one by one: viewers show seams between the tiles of a pattern.
fn hatched(content: &mut Content, areas: &[Area], tile: Tile) {
    let (angle, side, marks) = tile.hatch.shape();
    let turn = f64::from(angle).to_radians();
    let (sin, cos) = (libm::sin(turn), libm::cos(turn));
    // The areas as the turned hatching sees them.
    let corners = |area: &Area| {
        [(area.x, area.y), (area.right(), area.y), (area.x, area.bottom()), (area.right(), area.bottom())]
    };
    let turned: Vec<Point> =
        areas.iter().flat_map(corners).map(|(x, y)| (x * cos + y * sin, y * cos - x * sin)).collect();
    let span = |of: fn(&Point) -> f64| {
        let (low, high) = extremes(turned.iter().map(of)).unwrap_or_default();
        ((low / side).floor() as i64, (high / side).ceil() as i64)
    };
    let (across, down) = (span(|point| point.0), span(|point| point.1));
    let place = |(first, last): (i64, i64)| (first as f64 * side, (last - first) as f64 * side);
    content.save_state();
    rectangles(content, areas);
    content.clip_nonzero().end_path();
    content.transform([cos, sin, -sin, cos, 0.0, 0.0].map(|number| number as f32));
    set_fill(content, tile.lines);
    let mut mark = |x: f64, y: f64, width: f64, height: f64| {
        content.rect(x as f32, y as f32, width as f32, height as f32);
    };
    for (width, height) in marks {
        let ((left, wide), (top, high)) = (place(across), place(down));
        if *height >= side {
            (across.0..across.1).for_each(|at| mark(at as f64 * side, top, *width, high));
        } else if *width >= side {
            (down.0..down.1).for_each(|at| mark(left, at as f64 * side, wide, *height));
        } else {
            for column in across.0..across.1 {
                let x = column as f64 * side;
                (down.0..down.1).for_each(|row| mark(x, row as f64 * side, *width, *height));
            }
        }
    }
    content.fill_nonzero().restore_state();
}

fn disc(content: &mut Content, (x, y): Point, radius: f64, colour: Colour) {
    set_fill(content, colour);
    let at = |dx: f64, dy: f64| ((x + dx * radius) as f32, (y + dy * radius) as f32);
    let (from_x, from_y) = at(1.0, 0.0);
    content.move_to(from_x, from_y);
    for (dx, dy) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
        // A quarter from here to where it is turned by a right angle.
        let (to_x, to_y) = (-dy, dx);
        let (a, b) = (at(dx + ROUND * to_x, dy + ROUND * to_y), at(to_x + ROUND * dx, to_y + ROUND * dy));
        let end = at(to_x, to_y);
        content.cubic_to(a.0, a.1, b.0, b.1, end.0, end.1);
    }
    content.fill_nonzero();
}

fn text(content: &mut Content, file: &File<'_>, (x, y): Point, text: &str, letters: Letters) {
    let Some((name, _)) = file.faces.get(&letters.bold) else { return };
    let before = match letters.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => font::width(text, letters) / 2.0,
        Anchor::End => font::width(text, letters),
    };
    let below = MIDDLE * letters.size;
    let place = if letters.upwards {
        [0.0, -1.0, -1.0, 0.0, x + below, y + before]
    } else {
        [1.0, 0.0, 0.0, -1.0, x - before, y + below]
    };
    let mut glyphs: Vec<u8> = Vec::new();
    font::glyphs(text, letters, |_, _, glyph| glyphs.extend(glyph.0.to_be_bytes()));
    set_fill(content, letters.colour);
    content.begin_text().set_font(Name(name.as_bytes()), letters.size as f32);
    content.set_text_matrix(place.map(|number| number as f32)).show(Str(&glyphs)).end_text();
}

#[cfg(test)]
mod tests {
    use super::super::palette::{BLUE, Hatch, INK, Mark};
    use super::super::{Canvas, picture};
    use super::*;

    fn pictured() -> Picture {
        picture((96.0, 48.0), "a (b)", |canvas: &mut Canvas| {
            let area = Area { x: 0.0, y: 0.0, width: 20.0, height: 10.0 };
            canvas.fill(area, Fill::hatched(Hatch::Rising, INK, BLUE));
            canvas.faint_line(&[(0.0, 0.0), (9.0, 9.0)], BLUE, 1.0, 0.5);
            canvas.mark((30.0, 20.0), Mark::Circle, 5.0, BLUE);
            canvas.text((40.0, 24.0), "wait µs", Letters { upwards: true, ..Letters::new(8.0) });
            canvas.text((50.0, 24.0), "bold", Letters::new(8.0).bold());
        })
    }

    #[test]
    fn a_page_has_the_size_of_the_picture_and_the_same_bytes_each_time() {
        let bytes = pictured().pdf().unwrap();
        assert_eq!(bytes, pictured().pdf().unwrap());
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("%PDF-1.") && text.contains("/MediaBox [0 0 72 36]"), "{text}");
        assert!(!text.contains("Date") && !text.contains("/ID"), "{text}");
        let printed = String::from_utf8_lossy(&pictured().printed(0.5).pdf().unwrap()).into_owned();
        assert!(printed.contains("/MediaBox [0 0 48 24]"), "{printed}");
    }

    #[test]
    fn letters_stay_letters_and_both_faces_are_part_of_the_file() {
        let bytes = pictured().pdf().unwrap();
        let text = String::from_utf8_lossy(&bytes);
        // The map back to Unicode is not compressed.
        let (w, mu) = ("<0077>", "<00B5>");
        assert!(text.contains(w) && text.contains(mu), "{text}");
        assert_eq!(text.matches("/FontFile2").count(), 2);
        assert!(text.contains("+DejaVuSans-Bold"));
    }
}
