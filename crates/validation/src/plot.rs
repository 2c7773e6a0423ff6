//! Published against simulated numbers as a picture: a mark per number, the diagonal, the tolerance as a bar.

use pictures::canvas::axis::{self, Axis, Kind};
use pictures::canvas::palette::{BLUE, GRID, INK, MUTED, Mark, VERMILLION};
use pictures::canvas::{self, Anchor, Area, Canvas, Letters, font};

/// Width and height of a picture in pixels.
const SIZE: (f64, f64) = (460.0, 430.0);
/// Width of the title of the axis upwards, with the gaps on both sides of the numbers.
const BESIDE_NUMBERS: f64 = 34.0;
/// What lies within the picture, further right where numbers are wide.
const PANEL: Area = Area { x: 66.0, y: 62.0, width: 376.0, height: 310.0 };
/// Font sizes: caption, axes, numbers.
const CAPTION: f64 = 15.0;
const AXIS: f64 = 12.0;
const NUMBER: f64 = 11.0;

/// Numbers on an axis, at most.
const LABELS: usize = 6;

/// A number to draw.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dot {
    /// The published number.
    pub published: f64,
    /// The simulated one.
    pub simulated: f64,
    /// How far off still counts as reproduced, in the same unit.
    pub tolerance: f64,
    /// Reproduced.
    pub pass: bool,
}

/// The picture as SVG text, without anything that differs between machines.
///
/// # Errors
/// What the drawing library says.
pub fn svg(title: &str, unit: &str, dots: &[Dot]) -> Result<String, String> {
    let picture = canvas::picture(SIZE, &format!("{title}: published against simulated"), |canvas| {
        let range = axis(dots);
        let widths =
            range.labels(LABELS).into_iter().map(|(_, text)| font::width(&text, Letters::new(NUMBER)));
        let left = widths.fold(PANEL.x, |left, width| left.max(BESIDE_NUMBERS + width));
        let panel = Area { x: left, width: PANEL.right() - left, ..PANEL };
        let across = range.on(panel.x, panel.right());
        let up = across.on(panel.bottom(), panel.y);
        canvas.text((16.0, 18.0), title, Letters::new(CAPTION).bold());
        legend(canvas);
        grid(canvas, &panel, &across, &up);
        titles(canvas, &panel, unit);
        canvas.line(&[(panel.x, panel.bottom()), (panel.right(), panel.y)], MUTED, 1.0);
        for dot in dots {
            let x = across.place(dot.published);
            let ends = [dot.published - dot.tolerance, dot.published + dot.tolerance];
            canvas.line(&ends.map(|end| (x, up.place(end))), GRID, 3.0);
        }
        for dot in dots {
            let (colour, mark) = if dot.pass { (BLUE, Mark::Circle) } else { (VERMILLION, Mark::Cross) };
            canvas.mark((across.place(dot.published), up.place(dot.simulated)), mark, 8.0, colour);
        }
    });
    Ok(picture.svg())
}

fn legend(canvas: &mut Canvas) {
    let y = 42.0;
    canvas.mark((24.0, y), Mark::Circle, 8.0, BLUE);
    canvas.text((34.0, y), "reproduced", Letters::new(NUMBER));
    canvas.mark((124.0, y), Mark::Cross, 8.0, VERMILLION);
    canvas.text((134.0, y), "missed", Letters::new(NUMBER));
    canvas.line(&[(204.0, y - 6.0), (204.0, y + 6.0)], GRID, 3.0);
    canvas.text((212.0, y), "tolerance", Letters::new(NUMBER));
}

fn grid(canvas: &mut Canvas, panel: &Area, across: &Axis, up: &Axis) {
    for (value, text) in across.labels(LABELS) {
        let (x, y) = (across.place(value), up.place(value));
        canvas.line(&[(x, panel.y), (x, panel.bottom())], GRID, 0.75);
        canvas.line(&[(panel.x, y), (panel.right(), y)], GRID, 0.75);
        canvas.text((x, panel.bottom() + 12.0), &text, Letters::new(NUMBER).at(Anchor::Middle));
        canvas.text((panel.x - 6.0, y), &text, Letters::new(NUMBER).at(Anchor::End));
    }
    canvas.line(&[(panel.x, panel.y), (panel.x, panel.bottom()), (panel.right(), panel.bottom())], INK, 1.0);
}

fn titles(canvas: &mut Canvas, panel: &Area, unit: &str) {
    let middle = panel.x + panel.width / 2.0;
    let letters = Letters::new(AXIS).at(Anchor::Middle);
    canvas.text((middle, SIZE.1 - 22.0), &format!("published, {unit}"), letters);
    let upwards = Letters { upwards: true, ..letters };
    canvas.text((18.0, panel.y + panel.height / 2.0), &format!("simulated, {unit}"), upwards);
}

/// From the least to the largest number on either axis, with a margin.
fn axis(dots: &[Dot]) -> Axis {
    let all = || dots.iter().flat_map(|dot| [dot.published, dot.simulated]);
    let (low, high) = axis::extremes(all()).unwrap_or((0.0, 1.0));
    Axis::of(Kind::Linear, low, high, 0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_a_mark_in_its_colour() {
        let dot = |published, simulated, pass| Dot { published, simulated, tolerance: 0.1, pass };
        let picture = svg("x", "ratio", &[dot(1.0, 1.05, true), dot(1.4, 1.1, false)]).unwrap();
        // One in the legend.
        assert_eq!(picture.matches("<circle").count(), 2);
        assert!(picture.contains("#0072B2") && picture.contains("#D55E00"), "{picture}");
        assert!(picture.contains("published, ratio"));
    }

    #[test]
    fn wide_numbers_do_not_meet_the_title_of_their_axis() {
        let dot = Dot { published: 0.004, simulated: 0.004_01, tolerance: 0.001, pass: true };
        let picture = svg("x", "s", &[dot]).unwrap();
        assert!(picture.contains(">0.00400<"), "{picture}");
        let widest = font::width("0.00400", Letters::new(NUMBER));
        let left = BESIDE_NUMBERS + widest;
        assert!(left > PANEL.x && picture.contains(&format!("{left:.1}")[..4]), "{left}: {picture}");
    }

    #[test]
    fn a_single_number_and_none_have_a_range() {
        let zero = axis(&[Dot { published: 0.0, simulated: 0.0, tolerance: 1.0, pass: true }]);
        assert!(zero.place(0.0).is_finite());
        assert!(svg("x", "ratio", &[]).is_ok());
    }
}
