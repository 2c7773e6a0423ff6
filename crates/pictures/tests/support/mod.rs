//! What the tests of figures read from a picture.

use pictures::canvas::{Letters, font};
use pictures::figures::Figure;

/// A text of a picture and the pixels that it covers: left, top, right, bottom.
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) covers: [f64; 4],
}

pub(crate) fn attribute(tag: &str, name: &str) -> String {
    let start = format!(" {name}=\"");
    tag.split_once(&start).map(|(_, rest)| rest.split('"').next().unwrap().to_owned()).unwrap_or_default()
}

fn size(svg: &str) -> (f64, f64) {
    let head = svg.lines().next().unwrap();
    let sides: Vec<f64> = attribute(head, "viewBox").split(' ').map(|side| side.parse().unwrap()).collect();
    (sides[2], sides[3])
}

pub(crate) fn written(svg: &str) -> Vec<Written> {
    let texts = svg.split("<text").skip(1).map(|rest| rest.split_once('>').unwrap());
    let text = |(tag, rest): (&str, &str)| {
        let number = |name: &str| attribute(tag, name).parse::<f64>().unwrap();
        let size = number("font-size");
        // The middle height of the letters is above their baseline.
        let (x, y) = (number("x"), number("y") - 0.26 * size);
        let text = rest.split('<').next().unwrap().trim();
        let text = text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        let bold = attribute(tag, "font-weight") == "bold";
        let letters = Letters::new(size);
        let wide = font::width(&text, if bold { letters.bold() } else { letters });
        let from = match attribute(tag, "text-anchor").as_str() {
            "end" => wide,
            "middle" => wide / 2.0,
            _ => 0.0,
        };
        // Capital letters are 0.73 of the font size high, and stand around the configuration.
        let half = size * 0.38;
        let covers = if attribute(tag, "transform").is_empty() {
            [x - from, y - half, x - from + wide, y + half]
        } else {
            [x - half, y - wide + from, x + half, y + from]
        };
        Written { text, covers }
    };
    texts.map(text).collect()
}

/// Every text lies within the picture and on no other one.
pub(crate) fn check(figure: &Figure, of: &str) {
    let (width, height) = size(&figure.picture.svg());
    let texts = written(&figure.picture.svg());
    assert!(texts.len() > 3, "{of} {}: {} texts", figure.name, texts.len());
    for (at, one) in texts.iter().enumerate() {
        let [left, top, right, bottom] = one.covers;
        let inside = left >= 0.0 && top >= 0.0 && right <= width && bottom <= height;
        assert!(
            inside,
            "{of} {}: `{}` is cut: {:?} of {width} x {height}",
            figure.name, one.text, one.covers
        );
        for other in &texts[..at] {
            let [l, t, r, b] = other.covers;
            let apart = right <= l || r <= left || bottom <= t || b <= top;
            assert!(apart, "{of} {}: `{}` lies on `{}`", figure.name, one.text, other.text);
        }
    }
    assert!(!figure.data.rows.is_empty(), "{of} {}: no numbers", figure.name);
    assert!(
        figure.data.rows.iter().all(|row| row.len() == figure.data.header.len() + figure.data.swept.len())
    );
    let picture = figure.picture.png(0.5).unwrap();
    assert!(picture.len() > 2000, "{of} {}: an empty picture", figure.name);
}
