//! The files of figures: which form has how many pixels.

use super::Target;
use crate::canvas::Picture;

/// The bytes of a picture in the form whose files have this ending: `svg`, and with the feature `formats`
/// also `png` and `pdf`.
///
/// # Errors
/// The picture cannot be drawn in this form, or there is no such form: a half-sentence.
pub fn bytes(picture: &Picture, ending: &str, target: Target) -> Result<Vec<u8>, String> {
    if ending == "svg" { Ok(picture.svg().into_bytes()) } else { others(picture, ending, target) }
}

/// The forms that a program can be built without.
#[cfg(feature = "formats")]
fn others(picture: &Picture, ending: &str, target: Target) -> Result<Vec<u8>, String> {
    /// Pixels of a PNG for one of the SVG: sharp on slides and dense screens.
    const PNG_SCALE: f32 = 2.0;
    /// Dots to the inch of a PNG: what IEEE asks of line art, and 3840 pixels across a slide of 13.33 inches.
    const PAPER_DOTS: f64 = 600.0;
    const SLIDE_DOTS: f64 = 288.0;

    let dots = if target == Target::Slide { SLIDE_DOTS } else { PAPER_DOTS };
    match ending {
        "png" => picture.png(picture.resolution(dots).unwrap_or(PNG_SCALE)),
        "pdf" => picture.pdf(),
        other => Err(format!("there are no pictures in the form `{other}`")),
    }
}

#[cfg(not(feature = "formats"))]
fn others(_: &Picture, ending: &str, _: Target) -> Result<Vec<u8>, String> {
    Err(format!("there are no pictures in the form `{ending}` here"))
}
