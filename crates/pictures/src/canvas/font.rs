//! The font built in: how wide a text is, without asking the system for a font.
//!
//! DejaVu Sans 2.37, cut down to Latin, Greek and some signs (`data/LICENSE.txt`). SVG texts ask for any
//! sans-serif font; this one is among the widest of them, so what fits with its widths fits with others.

use notation::text::lines;
use ttf_parser::Face;
#[cfg(feature = "formats")]
use ttf_parser::GlyphId;

use super::Letters;

/// The regular face.
const REGULAR: &[u8] = include_bytes!("../../data/DejaVuSans-subset.ttf");
/// The bold face.
const BOLD: &[u8] = include_bytes!("../../data/DejaVuSans-Bold-subset.ttf");

/// Width of a character that the font lacks, in parts of the font size: that of a wide letter.
const UNKNOWN: f64 = 1.0;
/// Stands for the part of a text that is left out.
const DOTS: &str = "…";

/// The face of these letters; none if its data are damaged.
fn face(letters: Letters) -> Option<Face<'static>> {
    Face::parse(data(letters.bold), 0).ok()
}

/// The file of a face.
pub(super) const fn data(bold: bool) -> &'static [u8] {
    if bold { BOLD } else { REGULAR }
}

/// Width of `text` in pixels, kerning left out. Letters may be given by their size alone.
#[must_use]
pub fn width(text: &str, letters: impl Into<Letters>) -> f64 {
    let letters = letters.into();
    let Some(font) = face(letters) else {
        return text.chars().count() as f64 * UNKNOWN * letters.size;
    };
    text.chars().map(|letter| advance(&font, letter) * letters.size).sum()
}

/// Distance from a character to the next one, in parts of the font size.
fn advance(font: &Face<'_>, letter: char) -> f64 {
    let units = font.glyph_index(letter).and_then(|glyph| font.glyph_hor_advance(glyph));
    units.map_or(UNKNOWN, |units| f64::from(units) / f64::from(font.units_per_em()))
}

/// Calls `each` with the distance of each glyph of `text` from the first one, in pixels, and the glyph.
#[cfg(feature = "formats")]
pub(super) fn glyphs(text: &str, letters: Letters, mut each: impl FnMut(f64, &Face<'_>, GlyphId)) {
    let Some(font) = face(letters) else { return };
    let mut at = 0.0;
    for letter in text.chars() {
        // Glyph 0 is the box in the place of what the font lacks.
        each(at, &font, font.glyph_index(letter).unwrap_or_default());
        at += advance(&font, letter) * letters.size;
    }
}

/// `text`, or as much of its beginning as fits into `most` pixels with three dots behind.
#[must_use]
pub fn shortened(text: &str, letters: impl Into<Letters>, most: f64) -> String {
    let letters = letters.into();
    if width(text, letters) <= most {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let short = format!("{}{DOTS}", kept.iter().collect::<String>().trim_end());
        if width(&short, letters) <= most {
            return short;
        }
    }
    String::new()
}

/// `text`, or as much of its beginning and its end as fits into `most` pixels with three dots between: names
/// that differ at their ends stay different.
#[must_use]
pub fn squeezed(text: &str, letters: impl Into<Letters>, most: f64) -> String {
    let letters = letters.into();
    if width(text, letters) <= most {
        return text.to_owned();
    }
    let all: Vec<char> = text.chars().collect();
    let fitting = (1..all.len()).rev().map(|kept| {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let (head, tail): (String, String) =
            (all[..head].iter().collect(), all[all.len() - tail..].iter().collect());
        format!("{}{DOTS}{tail}", head.trim_end())
    });
    fitting.into_iter().find(|short| width(short, letters) <= most).unwrap_or_default()
}

/// The words of a text, between which a line may break: not at no-break spaces, nor between a number and its
/// unit.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let blank = |c: char| c.is_whitespace() && c != '\u{a0}';
    for word in text.split(blank).filter(|word| !word.is_empty()) {
        let bare = word.trim_end_matches(|c: char| ".,;:".contains(c));
        let unit = matches!(bare, "%" | "s" | "ms");
        match words.last_mut() {
            Some(last) if unit && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// `text` in lines of at most `most` pixels; a longer word has its own line.
#[must_use]
pub fn wrapped(text: &str, letters: impl Into<Letters>, most: f64) -> Vec<String> {
    let letters = letters.into();
    lines(words(text), |line| width(line, letters) <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Advance widths of DejaVu Sans 2.37 in units of 2,048 to the em: i 569, m 1,995, space 651.
        assert!((width("i", 2048.0) - 569.0).abs() < 1.0);
        assert!((width("m i", 2048.0) - (1995.0 + 651.0 + 569.0)).abs() < 2.0);
        assert!(width("m", Letters::new(10.0).bold()) > width("m", 10.0));
        assert!((width("\u{4e00}", 10.0) - 10.0).abs() < 1e-9, "a letter that is not in it");
        assert!(width(DOTS, 10.0) < 10.0 * UNKNOWN || (width(DOTS, 10.0) - 10.0).abs() < 1e-9);
        let mut places = Vec::new();
        glyphs("mi", Letters::new(2048.0), |at, _, _| places.push(at.round()));
        assert_eq!(places, [0.0, 1995.0]);
    }

    #[test]
    fn texts_are_cut_and_broken_to_their_place() {
        assert_eq!(shortened("LOAD", 12.0, 100.0), "LOAD");
        let short = shortened("a policy with a very long name", 12.0, 100.0);
        assert!(short.ends_with(DOTS) && width(&short, 12.0) <= 100.0, "{short}");
        let squeezed = squeezed("a policy with a very long name 7", 12.0, 100.0);
        assert!(
            squeezed.starts_with("a pol") && squeezed.ends_with("me 7") && width(&squeezed, 12.0) <= 100.0,
            "{squeezed}"
        );
        assert_eq!(wrapped("one two three", 12.0, width("one two", 12.0)), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 12.0, 10.0), ["unbreakable"]);
    }

    #[test]
    fn numbers_keep_their_units() {
        assert_eq!(
            words("waits 1 %, ends at 2.5 s; all s"),
            ["waits", "1 %,", "ends", "at", "2.5 s;", "all", "s"]
        );
    }
}
