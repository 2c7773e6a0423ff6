//! The font built in: how wide a text is, without asking the system for a font.
//!
//! DejaVu Sans 2.37, cut down to Latin, Greek and some signs (`data/LICENSE.txt`). SVG texts ask for any sans-serif font; this one is
//! among the widest of them, so what fits with its widths fits with others.

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// The regular face.
pub const REGULAR: &[u8] = include_bytes!("../../data/DejaVuSans-subset.ttf");
/// The bold face.
pub const BOLD: &[u8] = include_bytes!("../../data/DejaVuSans-Bold-subset.ttf");
/// The name of both in their own tables.
pub const FAMILY: &str = "DejaVu Sans";

/// Width of a character that the font lacks, in parts of the font size: that of a wide letter.
const UNKNOWN: f64 = 1.0;

/// Width in pixels of `text` in the regular face of `size` pixels, kerning left out.
#[must_use]
pub fn width(text: &str, size: f64) -> f64 {
    measured(REGULAR, text, size)
}

/// Width in pixels of `text` in the bold face of `size` pixels, kerning left out.
#[must_use]
pub fn bold_width(text: &str, size: f64) -> f64 {
    measured(BOLD, text, size)
}

fn measured(face: &[u8], text: &str, size: f64) -> f64 {
    let Ok(font) = FontRef::new(face) else {
        return text.chars().count() as f64 * UNKNOWN * size;
    };
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    let letters = font.charmap();
    let advance = |letter| letters.map(letter).and_then(|glyph| metrics.advance_width(glyph));
    text.chars().map(|letter| advance(letter).map_or(UNKNOWN, f64::from) * size).sum()
}

/// `text`, or as much of its beginning as fits into `most` pixels with three dots behind.
#[must_use]
pub fn shortened(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let short = format!("{}...", kept.iter().collect::<String>().trim_end());
        if width(&short, size) <= most {
            return short;
        }
    }
    String::new()
}

/// `text`, or as much of its beginning and its end as fits into `most` pixels with three dots between: names that differ at
/// their ends stay different.
#[must_use]
pub fn squeezed(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let all: Vec<char> = text.chars().collect();
    let fitting = (1..all.len()).rev().map(|kept| {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let (head, tail): (String, String) =
            (all[..head].iter().collect(), all[all.len() - tail..].iter().collect());
        format!("{}...{tail}", head.trim_end())
    });
    fitting.into_iter().find(|short| width(short, size) <= most).unwrap_or_default()
}

/// `text` broken at its spaces (not the no-break ones) into lines of at most `most` pixels; a longer word has a line of its own.
#[must_use]
pub fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Advance widths of DejaVu Sans 2.37 in units of 2,048 to the em: i 569, m 1,995, space 651.
        assert!((width("i", 2048.0) - 569.0).abs() < 1.0);
        assert!((width("m i", 2048.0) - (1995.0 + 651.0 + 569.0)).abs() < 2.0);
        assert!(bold_width("m", 10.0) > width("m", 10.0));
        assert!((width("\u{4e00}", 10.0) - 10.0).abs() < 1e-9, "a letter that is not in it");
    }

    #[test]
    fn texts_are_cut_and_broken_to_their_place() {
        assert_eq!(shortened("LOAD", 12.0, 100.0), "LOAD");
        let short = shortened("a policy with a very long name", 12.0, 100.0);
        assert!(short.ends_with("...") && width(&short, 12.0) <= 100.0, "{short}");
        let squeezed = squeezed("a policy with a very long name 7", 12.0, 100.0);
        assert!(
            squeezed.starts_with("a pol") && squeezed.ends_with("me 7") && width(&squeezed, 12.0) <= 100.0,
            "{squeezed}"
        );
        assert_eq!(wrapped("one two three", 12.0, width("one two", 12.0)), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 12.0, 10.0), ["unbreakable"]);
    }
}
