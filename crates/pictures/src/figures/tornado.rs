//! Tornado: the part of a difference that each mechanism makes, the largest on top.

use crate::canvas::axis::{Axis, Kind as Scale};
use crate::canvas::font;
use crate::canvas::palette::{BLUE, Fill, Hatch, INK, MUTED, ORANGE};
use crate::canvas::{Area, Canvas, Letters, Picture};

use crate::figures::figure::{Figure, Table};
use crate::figures::frame::{self, Frame, Key, LABEL};
use crate::figures::page::Page;

/// The most bars; smaller ones are counted.
pub const MOST_BARS: usize = 12;
/// Height of a row and of its bar in pixels.
const ROW: f64 = 23.0;
const BAR: f64 = 14.0;
/// Space for the axis below, and for the number behind a bar.
const FOOT: f64 = 46.0;
const NUMBER: f64 = 52.0;
/// Smaller parts are not drawn: a hundredth of the difference.
const LEAST: f64 = 0.01;
/// Longer bars and intervals are cut here, once and a half of the difference; the number tells.
const LONGEST: f64 = 1.5;
/// The widest names.
const MOST_LEFT: f64 = 270.0;

/// A mechanism.
#[derive(Clone, PartialEq, Debug)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// What the move does.
    pub about: String,
    /// The part of the difference that it makes, 1 is all of it; negative where it works against it.
    pub part: f64,
    /// The 95 % interval of the part.
    pub ci95: [f64; 2],
    /// The interval excludes zero: it is drawn.
    pub shown: bool,
}

/// What a tornado shows.
#[derive(Clone, PartialEq, Debug)]
pub struct Tornado {
    /// What it says, a sentence.
    pub title: String,
    /// What the difference is.
    pub about: String,
    /// The command that makes it.
    pub source: String,
    /// The mechanisms, the largest part first.
    pub bars: Vec<Bar>,
}

/// Draws the mechanisms whose part is shown; the numbers have all of them.
///
/// # Errors
/// A half-sentence: there is nothing to draw.
pub fn figure(tornado: &Tornado) -> Result<Figure, String> {
    let shown: Vec<&Bar> = tornado.bars.iter().filter(|bar| bar.shown && bar.part.abs() >= LEAST).collect();
    if shown.is_empty() {
        return Err("no mechanism is shown to have a part in the difference".into());
    }
    let drawn = &shown[..shown.len().min(MOST_BARS)];
    let hidden = match tornado.bars.len() - drawn.len() {
        0 => String::new(),
        1 => "; one more is in the numbers".into(),
        n => format!("; {n} more are in the numbers"),
    };
    let mut legend = vec![(Key::Area(BLUE, Hatch::None, INK), "makes the difference".to_owned())];
    if drawn.iter().any(|bar| bar.part < 0.0) {
        legend.push((Key::Area(ORANGE, Hatch::Rising, INK), "works against it".to_owned()));
    }
    let words = Frame {
        page: Page::SCREEN,
        title: tornado.title.clone().into(),
        about: format!(
            "{}; part of it that goes away when one mechanism is moved, with 95 % interval{hidden}",
            tornado.about
        ),
        legend,
        source: tornado.source.clone(),
    };
    let picture = draw(&words, drawn);
    let (title, about) = (tornado.title.clone(), words.about);
    Ok(Figure { name: "tornado", title, about, picture, data: data(&tornado.bars) })
}

fn draw(words: &Frame, bars: &[&Bar]) -> Picture {
    let height = bars.len() as f64 * ROW;
    frame::compose(words, height + FOOT, |canvas, body| {
        let widest = bars.iter().map(|bar| font::width(&bar.name, LABEL)).fold(0.0, f64::max);
        let left = widest.min(MOST_LEFT) + 12.0;
        let panel = Area { x: body.x + left, y: body.y, width: body.width - left - NUMBER, height };
        let ends = bars.iter().flat_map(|bar| [bar.part, bar.ci95[0], bar.ci95[1]]).map(cut);
        let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        // At least a hundredth of the difference is visible.
        let axis =
            Axis::exact(Scale::Linear, low * 100.0, high.max(low + 0.01) * 100.0, panel.x, panel.right());
        frame::lower_axis(canvas, panel, &axis, true);
        let zero = axis.place(0.0);
        for (at, bar) in bars.iter().enumerate() {
            strip(canvas, body.x, panel.y + at as f64 * ROW, bar, &axis);
        }
        canvas.line(&[(zero, panel.y), (zero, panel.bottom())], MUTED, 1.5);
        frame::axis_title(canvas, body, left, "part of the difference (%)");
    })
}

/// A share within what is drawn.
fn cut(share: f64) -> f64 {
    share.clamp(-LONGEST, LONGEST)
}

fn strip(canvas: &mut Canvas, left: f64, y: f64, bar: &Bar, axis: &Axis) {
    let (zero, end) = (axis.place(0.0), axis.place(cut(bar.part) * 100.0));
    let area = Area { x: zero.min(end), y: y + (ROW - BAR) / 2.0, width: (end - zero).abs(), height: BAR };
    let (colour, hatch) = if bar.part < 0.0 { (ORANGE, Hatch::Rising) } else { (BLUE, Hatch::None) };
    canvas.fill(area, Fill::hatched(hatch, MUTED, colour));
    canvas.frame(area, INK, 0.5);
    let middle = y + ROW / 2.0;
    let [low, high] = bar.ci95.map(|end| axis.place(cut(end) * 100.0));
    canvas.line(&[(low, middle), (high, middle)], INK, 1.5);
    canvas.text((left, middle), &font::squeezed(&bar.name, LABEL, MOST_LEFT), Letters::new(LABEL));
    let behind = end.max(high).max(zero) + 6.0;
    canvas.text((behind, middle), &format!("{:.0}", bar.part * 100.0), Letters::new(LABEL));
}

fn data(bars: &[Bar]) -> Table {
    let row = |bar: &Bar| {
        let numbers = [bar.part, bar.ci95[0], bar.ci95[1]].map(|share| share.to_string());
        let words = [bar.name.clone(), bar.about.clone()];
        words.into_iter().chain(numbers).chain([bar.shown.to_string()]).collect()
    };
    Table {
        header: vec!["moved", "about", "part", "ci95_lo", "ci95_hi", "shown"],
        rows: bars.iter().map(row).collect(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, part: f64, shown: bool) -> Bar {
        Bar { name: name.into(), about: String::new(), part, ci95: [part - 0.1, part + 0.1], shown }
    }

    #[test]
    fn bars_that_are_not_shown_are_in_the_numbers_only() {
        let bars = vec![bar("remote", 0.9, true), bar("against", -0.4, true), bar("poll", 0.01, false)];
        let tornado = Tornado { title: "t".into(), about: "a".into(), source: "s".into(), bars };
        let figure = figure(&tornado).unwrap();
        let svg = figure.picture.svg();
        assert!(svg.contains("remote") && svg.contains("against") && !svg.contains(">poll<"));
        assert_eq!(figure.data.rows.len(), 3);
        assert!(figure.about.ends_with("; one more is in the numbers"));
    }

    #[test]
    fn nothing_shown_is_no_picture() {
        let bars = vec![bar("poll", 0.01, false)];
        let tornado = Tornado { title: "t".into(), about: "a".into(), source: "s".into(), bars };
        assert!(figure(&tornado).is_err());
    }
}
