//! The cost of a step over the number of cpus.

use pictures::canvas::axis::{Axis, Kind};
use pictures::canvas::palette::{GRID, MUTED, series};
use pictures::canvas::{Anchor, Area, Letters, Point, picture};
use testkit::cost::{Row, curve, grouped};

const SIZE: Point = (780.0, 400.0);
const PANEL: Area = Area { x: 60.0, y: 58.0, width: 530.0, height: 290.0 };
const TITLE: &str = "What a task-step costs over the number of simulated cpus";
/// The curves and what they are called.
const CURVES: [(&str, &str); 4] = [
    ("traffic", "unavoidable traffic"),
    ("probe", "bare scheduler (probe)"),
    ("central", "oversim, central barrier"),
    ("tree", "oversim, tree barrier"),
];
const LETTERS: f64 = 11.5;
/// From one name of a curve to the next at least.
const LINE: f64 = 15.0;

/// As SVG.
///
/// # Errors
/// There are no measurements.
pub(crate) fn draw(rows: &[Row]) -> Result<String, String> {
    let sized: Vec<&Row> = CURVES.iter().flat_map(|(job, _)| curve(rows, job)).collect();
    let of = |value: fn(&Row) -> f64| {
        let values = || sized.iter().map(|row| value(row));
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let ((fewest, most), (least, largest)) = (of(|row| f64::from(row.cpus)), of(|row| row.ns));
    if sized.is_empty() {
        return Err("nothing was measured".into());
    }
    let across = Axis::of(Kind::Log, fewest, most, PANEL.x, PANEL.right());
    let up = Axis::of(Kind::Log, least, largest, PANEL.bottom(), PANEL.y);
    let drawn = picture(SIZE, TITLE, |canvas| {
        canvas.text((14.0, 20.0), TITLE, Letters::new(16.0).bold());
        let about = "Nanoseconds of one core per task-step (log scales), four tasks per cpu; one run";
        canvas.text((14.0, 40.0), about, Letters::new(12.0).in_colour(MUTED));
        for row in curve(rows, "probe") {
            let x = across.place(f64::from(row.cpus));
            canvas.line(&[(x, PANEL.y), (x, PANEL.bottom())], GRID, 1.0);
            let text = grouped(row.cpus);
            canvas.text((x, PANEL.bottom() + 12.0), &text, Letters::new(LETTERS).at(Anchor::Middle));
        }
        for (value, text) in up.labels(8) {
            let y = up.place(value);
            canvas.line(&[(PANEL.x, y), (PANEL.right(), y)], GRID, 1.0);
            canvas.text((PANEL.x - 6.0, y), &text, Letters::new(LETTERS).at(Anchor::End));
        }
        let mut names = Vec::new();
        for (number, (job, name)) in CURVES.iter().enumerate() {
            let (colour, mark, dash) = series(number);
            let place = |row: &Row| (across.place(f64::from(row.cpus)), up.place(row.ns));
            let points: Vec<Point> = curve(rows, job).map(place).collect();
            canvas.dashed(&points, colour, 2.0, dash);
            for point in &points {
                canvas.mark(*point, mark, 8.0, colour);
            }
            names.extend(points.last().map(|(x, y)| (*y, *x, *name, colour)));
        }
        names.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = 0.0;
        for (y, x, name, colour) in names {
            let y = y.max(free);
            canvas.text((x + 10.0, y), name, Letters::new(LETTERS).in_colour(colour));
            free = y + LINE;
        }
        let under = (PANEL.x + PANEL.width / 2.0, PANEL.bottom() + 34.0);
        canvas.text(under, "cpus", Letters::new(12.0).at(Anchor::Middle));
    });
    Ok(drawn.svg())
}
