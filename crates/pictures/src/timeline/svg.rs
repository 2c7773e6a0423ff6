//! Writes SVG: shapes, text with known widths, and nothing that differs between machines.

use std::fmt::Write;

pub use crate::canvas::Anchor;
use crate::canvas::font;
use notation::neutral::xml;

use crate::timeline::words::words;

/// The look of text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Font {
    /// Height in pixels.
    pub size: f64,
    /// Bold.
    pub bold: bool,
    /// Lighter than black.
    pub pale: bool,
}

impl Font {
    /// Plain text of a size in pixels.
    #[must_use]
    pub const fn plain(size: f64) -> Self {
        Self { size, bold: false, pale: false }
    }

    /// The width of a line in pixels, in one of the widest fonts that `sans-serif` may stand for: what is
    /// laid out by it fits in any.
    #[must_use]
    pub fn width(&self, text: &str) -> f64 {
        if self.bold { font::bold_width(text, self.size) } else { font::width(text, self.size) }
    }

    /// The text, cut with an ellipsis where it is wider than this.
    #[must_use]
    pub fn fit(&self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut cut = String::new();
        for c in text.chars() {
            cut.push(c);
            if self.width(&cut) + self.width("…") > width {
                cut.pop();
                break;
            }
        }
        cut.trim_end().to_owned() + "…"
    }

    /// The text in lines of at most this width; a single word may be wider.
    #[must_use]
    pub fn wrap(&self, text: &str, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in words(text) {
            match lines.last_mut() {
                Some(line) if self.width(line) + self.width(" ") + self.width(&word) <= width => {
                    line.push(' ');
                    line.push_str(&word);
                }
                _ => lines.push(word),
            }
        }
        lines
    }
}

/// A picture in the making. Lengths are in pixels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Svg {
    body: String,
}

impl Svg {
    /// Adds what is SVG already.
    pub fn raw(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// A line of text.
    pub fn text(&mut self, x: f64, y: f64, font: Font, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if font.bold { " font-weight=\"bold\"" } else { "" };
        let fill = if font.pale { " fill=\"#555555\"" } else { "" };
        let (x, y, size, text) = (number(x), number(y), number(font.size), xml(text));
        self.raw(&format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}{fill}>{text}</text>"
        ));
    }

    /// A line of text around a point, in a colour.
    pub fn inked(&mut self, x: f64, y: f64, font: Font, colour: &str, text: &str) {
        let (x, y, size, text) = (number(x), number(y), number(font.size), xml(text));
        self.raw(&format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"middle\" fill=\"{colour}\">{text}</text>"
        ));
    }

    /// A filled rectangle.
    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str) {
        let [x, y, width, height] = [x, y, width, height].map(number);
        self.raw(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
        ));
    }

    /// A straight line; `more` is further attributes.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, more: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        let space = if more.is_empty() { "" } else { " " };
        self.raw(&format!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\"{space}{more}/>"
        ));
    }

    /// A filled outline.
    pub fn path(&mut self, outline: &str, fill: &str) {
        self.raw(&format!("<path d=\"{outline}\" fill=\"{fill}\"/>"));
    }

    /// What `draw` draws, with a text that shows when the pointer rests on it.
    pub fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        self.raw(&format!("<g><title>{}</title>", xml(title)));
        draw(self);
        self.raw("</g>");
    }

    /// The whole picture on white, described in words for those who cannot see it.
    #[must_use]
    pub fn finish(self, width: f64, height: f64, description: &str) -> String {
        let (width, height, words) = (number(width), number(height), xml(description));
        let mut text = String::with_capacity(self.body.len() + 512);
        let _ = writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{words}\" \
             font-family=\"sans-serif\" fill=\"#111111\">"
        );
        let _ = writeln!(text, "<rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>");
        text.push_str(&self.body);
        text.push_str("</svg>\n");
        text
    }
}

/// An outline of a rectangle, for paths of many.
pub fn outline(path: &mut String, x: f64, y: f64, width: f64, height: f64) {
    let [x, y, width, height] = [x, y, width, height].map(number);
    let _ = write!(path, "M{x} {y}h{width}v{height}h-{width}z");
}

/// A length with at most one decimal.
#[must_use]
pub fn number(value: f64) -> String {
    let text = format!("{:.1}", value + 0.0);
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_without_a_negative_zero() {
        assert_eq!([1.0, 0.05, -0.04, 12.34, -3.0].map(number), ["1", "0.1", "0", "12.3", "-3"]);
    }

    #[test]
    fn text_is_cut_and_wrapped_to_its_width() {
        let font = Font::plain(10.0);
        let cut = font.fit("a rather long name", 50.0);
        assert!(cut.ends_with('…') && font.width(&cut) <= 50.0, "{cut}");
        assert_eq!(font.fit("short", 50.0), "short");
        let lines = font.wrap("one two three four five", 60.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| font.width(line) <= 60.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five");
    }
}
