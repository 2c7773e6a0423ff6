//! SVG to PNG with the font built in: the same bytes on every machine, whatever fonts it has.

use std::sync::Arc;

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::canvas::font;

/// Largest width or height in pixels: beyond it a picture takes gigabytes.
const MOST_PIXELS: f32 = 20_000.0;

/// The picture as PNG on white, `scale` times as large as the SVG says (2 suits screens and slides).
///
/// # Errors
/// What is wrong with the SVG or its size, a sentence.
pub fn from_svg(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let tree = Tree::from_str(svg, &options()).map_err(|e| format!("not a picture in SVG: {e}"))?;
    let size = tree.size();
    let (width, height) = ((size.width() * scale).ceil(), (size.height() * scale).ceil());
    if !(1.0..=MOST_PIXELS).contains(&width) || !(1.0..=MOST_PIXELS).contains(&height) {
        return Err(format!(
            "a picture of {width} x {height} pixels: 1 to {MOST_PIXELS} each way can be drawn"
        ));
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or("the picture is too large")?;
    pixels.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| e.to_string())
}

/// No font but the one built in, which serves every family.
fn options() -> Options<'static> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font::REGULAR.to_vec());
    fonts.load_font_data(font::BOLD.to_vec());
    fonts.set_sans_serif_family(font::FAMILY);
    fonts.set_serif_family(font::FAMILY);
    fonts.set_monospace_family(font::FAMILY);
    Options { font_family: font::FAMILY.into(), fontdb: Arc::new(fonts), ..Options::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">
        <text x="2" y="15" font-family="sans-serif" font-size="12" fill="#000000">mm</text></svg>"##;

    #[test]
    fn text_is_drawn_in_the_font_built_in_and_bytes_repeat() {
        let picture = from_svg(SVG, 2.0).unwrap();
        assert_eq!(picture, from_svg(SVG, 2.0).unwrap());
        assert_eq!(&picture[1..4], b"PNG");
        let empty = from_svg(&SVG.replace("mm", ""), 2.0).unwrap();
        assert!(picture.len() > empty.len() + 50, "no letters: {} {}", picture.len(), empty.len());
        // Width and height stand big-endian in the header chunk.
        assert_eq!((&picture[16..20], &picture[20..24]), (&[0, 0, 0, 80][..], &[0, 0, 0, 40][..]));
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert!(from_svg("LOAD", 1.0).unwrap_err().contains("not a picture"));
        let huge = SVG.replace("width=\"40\"", "width=\"400000\"");
        assert!(from_svg(&huge, 1.0).unwrap_err().contains("pixels"));
    }
}
