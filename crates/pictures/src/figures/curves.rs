//! Curves over a swept parameter: one panel per application and setting of the others, a curve per policy.

use crate::canvas::axis::{Axis, extremes};
use crate::canvas::palette::{Colour, Dash, MUTED, Mark, series};
use crate::canvas::{Area, Canvas, Letters, Picture, Point};
use experiment::result::Cell;
use experiment::statements::titles;

use super::Attempt;
use crate::figures::along::{Along, Join};
use crate::figures::figure::{Figure, Table};
use crate::figures::frame::{self, Frame, Key};
use crate::figures::grid::{Layout, Sheet, Sizes};
use crate::figures::plane::{Plane, Row, is_reference};
use crate::figures::words;

/// From so many values on intervals are areas; fewer ones say nothing about what lies between them.
const BANDS: usize = 5;
/// Heights of panels in one or two rows, and in more.
const HEIGHTS: [f64; 2] = [190.0, 140.0];
/// Space for the numbers at the left.
const LEFT: f64 = 44.0;
/// Space for what the upright axis measures, above everything.
const MEASURE: f64 = 18.0;
/// Size of a mark.
const MARK: f64 = 8.0;
/// Most pixels from one mark to the next of the same value: of numbers, and of names.
const STEPS: [f64; 2] = [4.0, 9.0];

/// Curves whose means differ by no more than this part everywhere lie on one another: half a pixel of the
/// panel.
const APART: f64 = 0.0025;
/// What the equals sign in the legend means.
const ALIKE: &str = "; curves named with `=` differ nowhere by more than 0.25 %";

/// A mark of a curve.
struct Spot<'a> {
    panel: usize,
    series: usize,
    /// Position of its value on the swept axis.
    at: usize,
    cell: &'a Cell,
}

/// Colour, mark and dash of a curve.
type Look = (Colour, Mark, Dash);

/// What is drawn.
struct Plot<'a> {
    along: Along,
    spots: Vec<Spot<'a>>,
    looks: Vec<Look>,
    /// What the upright axis measures, and the length of its unit.
    measure: (String, f64),
    /// For each curve the first one that it lies on: itself, or an equal one, in whose place it is drawn.
    on: Vec<usize>,
}

/// The look of a row's curve; references stand back.
fn look(rows: &[Row<'_>], at: usize) -> Look {
    if is_reference(rows[at].0) { (MUTED, Mark::Plus, Dash::Dots) } else { series(at) }
}

/// The sweep's curves.
pub(crate) fn sweep(plane: &Plane<'_>) -> Attempt {
    let Some(mut along) = Along::of(plane.sweep()) else {
        return Err("needs a sweep".into());
    };
    let Some(metric) = ["slowdown", "run_time"].into_iter().find(|metric| plane.measures(metric)) else {
        return Err("no application has a run time".into());
    };
    let rows = plane.rows(metric);
    let apps: Vec<&str> = plane.results.foreground().collect();
    let layout = Layout::of_curves(plane, &rows, &apps, along.axis)?;
    let spots = spots(plane, &layout, (&rows, &apps), along.axis, metric);
    along.turns = turns(&along, &spots);
    let title = titles::sweep(&plane.index, along.axis, metric).filter(|_| !spots.is_empty());
    let Some(title) = title else { return Err("no run completed".into()) };
    let (what, remark) = if metric == "slowdown" {
        ("Slowdown (run time / run time alone)", "")
    } else {
        ("Run time", plane.work())
    };
    let mut on = coinciding(&spots, rows.len());
    let name = |on: &[usize], at: usize| {
        let equal = (0..rows.len()).filter(|other| on[*other] == at);
        equal.map(|other| rows[other].1.as_str()).collect::<Vec<_>>().join(" = ")
    };
    // Names that do not fit a line of the legend stay apart.
    if (0..rows.len()).any(|at| !frame::fits_legend(&name(&on, at), plane.page.body())) {
        on = (0..rows.len()).collect();
    }
    let alike = if on.iter().enumerate().any(|(at, first)| at != *first) { ALIKE } else { "" };
    let about = format!(
        "{what}: mean{}{alike}{remark}; {}{}",
        intervals(plane, &along),
        words::setting(plane.results),
        plane.remark()
    );
    let key = |at: usize| {
        let (colour, mark, dash) = look(&rows, at);
        let key =
            if along.join == Join::Line { Key::Line(colour, mark, dash) } else { Key::Mark(mark, colour) };
        (key, name(&on, at))
    };
    let words = Frame {
        page: plane.page,
        title: title.clone(),
        about: about.clone(),
        legend: (0..rows.len()).filter(|at| on[*at] == *at).map(key).collect(),
        source: words::source(plane.results),
    };
    let plot = Plot {
        measure: measure(plane, metric),
        on: on.clone(),
        looks: (0..rows.len()).map(|at| look(&rows, at)).collect(),
        along,
        spots,
    };
    let data = Table::of_cells(plot.spots.iter().map(|spot| spot.cell));
    let picture = draw(&words, &layout, &plot)?;
    Ok(Figure { name: "sweep", title: title.to_string(), about, picture, data })
}

/// A value of more than this times those beside it is a tooth of the curve.
const TOOTH: f64 = 1.1;

/// The values at which the only curve of a single panel has a tooth: labels elsewhere would hide them.
fn turns(along: &Along, spots: &[Spot<'_>]) -> Vec<usize> {
    let numbers = along.join == Join::Line;
    // References lie flat, so they do not count.
    let flat = |spot: &Spot<'_>| {
        let same = spots.iter().filter(|other| (other.panel, other.series) == (spot.panel, spot.series));
        let means: Vec<f64> = same.map(|other| other.cell.summary.mean).collect();
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        means.iter().all(|mean| *mean <= least * TOOTH)
    };
    let steep = spots.iter().filter(|spot| !flat(spot));
    let one = steep.clone().next().map(|first| (first.panel, first.series));
    if !numbers || one.is_none() || steep.clone().any(|spot| Some((spot.panel, spot.series)) != one) {
        return Vec::new();
    }
    let mut curve: Vec<&Spot<'_>> = steep.collect();
    curve.sort_by(|a, b| along.places[a.at].total_cmp(&along.places[b.at]));
    let tooth = |three: &&[&Spot<'_>]| {
        let [before, here, behind] = three else { return false };
        let (left, top, right) = (before.cell.summary.mean, here.cell.summary.mean, behind.cell.summary.mean);
        top > left * TOOTH && top > right
    };
    curve.windows(3).filter(tooth).map(|three| three[1].at).collect()
}

/// For each curve the first one whose means differ nowhere by more than [`APART`]: one of them is drawn.
fn coinciding(spots: &[Spot<'_>], curves: usize) -> Vec<usize> {
    let of = |series: usize| spots.iter().filter(move |spot| spot.series == series);
    let near = |a: f64, b: f64| (a - b).abs() <= APART * a.abs().min(b.abs());
    let equal = |one: usize, other: usize| {
        let alike = |(a, b): (&Spot<'_>, &Spot<'_>)| {
            (a.panel, a.at) == (b.panel, b.at) && near(a.cell.summary.mean, b.cell.summary.mean)
        };
        of(one).count() == of(other).count() && of(one).zip(of(other)).all(alike)
    };
    let there = |series: usize| of(series).next().is_some();
    let first = |at: usize| (0..at).find(|other| there(at) && equal(*other, at)).unwrap_or(at);
    (0..curves).map(first).collect()
}

/// How intervals are shown, and what lines mean where they do not speak for themselves.
fn intervals(plane: &Plane<'_>, along: &Along) -> &'static str {
    match (plane.results.provenance.repeat > 1, along.join) {
        (true, Join::Line) if along.places.len() >= BANDS => ", shaded: 95 % interval",
        (true, Join::Pair) => " and 95 % interval; the course between the two values is not known",
        (true, _) => " and 95 % interval",
        (false, Join::Pair) => "; the course between the two values is not known",
        (false, _) => "",
    }
}

/// All marks with their places.
fn spots<'a>(
    plane: &Plane<'a>,
    layout: &Layout,
    (rows, apps): (&[Row<'_>], &[&str]),
    axis: usize,
    metric: &str,
) -> Vec<Spot<'a>> {
    let mut spots = Vec::new();
    for configuration in plane.configurations() {
        for (app, name) in apps.iter().enumerate() {
            for (series, (policy, _)) in rows.iter().enumerate() {
                let found = plane.cell(configuration, policy, name, metric);
                let at = plane.sweep().place(configuration, axis);
                let (panel, _) = layout.place(configuration, series, app);
                spots.extend(found.zip(at).map(|(cell, at)| Spot { panel, series, at, cell }));
            }
        }
    }
    spots
}

/// What the upright axis measures, and the length of its unit.
fn measure(plane: &Plane<'_>, metric: &str) -> (String, f64) {
    if metric == "slowdown" {
        return ("slowdown".into(), 1.0);
    }
    let times = plane.results.cells.iter().filter(|c| c.metric == metric).map(|c| c.summary.mean);
    let (unit, length) = words::time_unit(times.fold(0.0, f64::max));
    (format!("run time ({unit})"), length)
}

/// All means; intervals as far as they do not dwarf the means.
fn vertical(plot: &Plot<'_>) -> Option<Axis> {
    let length = plot.measure.1;
    let means = plot.spots.iter().map(|spot| spot.cell.summary.mean / length);
    let ends = plot.spots.iter().flat_map(|spot| spot.cell.summary.ci95.into_iter().flatten());
    let (low, high) = extremes(means.clone())?;
    let room = (high - low).max(high * 0.25);
    let ends = ends.map(|end| (end / length).clamp((low - room).max(low * 0.5), high + room));
    Axis::around(means.chain(ends), 0.0, 1.0)
}

fn draw(words: &Frame, layout: &Layout, plot: &Plot<'_>) -> Result<Picture, String> {
    let axis = vertical(plot).ok_or("no value is finite")?;
    let (sheet, labels) = sheet(layout, plot);
    let picture = frame::compose(words, sheet.height + MEASURE, |canvas, body| {
        let what = frame::measured(&plot.measure.0, &axis);
        canvas.text((body.x, body.y + 4.0), &what, Letters::new(frame::LABEL).in_colour(MUTED));
        let body = Area { y: body.y + MEASURE, height: body.height - MEASURE, ..body };
        sheet.write_names(canvas, body);
        for (at, panel) in sheet.within(body).into_iter().enumerate() {
            let vertical = axis.on(panel.bottom(), panel.y);
            frame::left_axis(canvas, panel, &vertical, sheet.first(at));
            plot.along.draw(canvas, panel, &labels, sheet.foot(at));
            for number in (0..plot.looks.len()).filter(|number| plot.on[*number] == *number) {
                let own = plot.spots.iter().filter(|s| s.panel == at && s.series == number);
                curve(canvas, panel, &vertical, plot, &own.collect::<Vec<_>>(), number);
            }
        }
        frame::axis_title(canvas, body, sheet.left, &plot.along.name());
    });
    Ok(picture)
}

/// Labels of the swept axis: places in pixels and lines.
type Labels = Vec<(f64, Vec<String>)>;

/// The panels, and the labels of the swept axis below them.
fn sheet(layout: &Layout, plot: &Plot<'_>) -> (Sheet, Labels) {
    let down = layout.panels_of(Sizes { height: HEIGHTS[0], left: LEFT, foot: 0.0 });
    let height = if down.rows() > 2 { HEIGHTS[1] } else { HEIGHTS[0] };
    let labels = plot.along.written(down.width());
    let lines = labels.iter().map(|(_, lines)| lines.len()).max().unwrap_or(1);
    (layout.panels_of(Sizes { height, left: LEFT, foot: 12.0 + 14.0 * lines as f64 }), labels)
}

/// The distance of a curve's marks from the places of their values: curves stand beside each other where
/// there is room.
fn shift(along: &Along, panel: Area, number: usize, curves: usize) -> f64 {
    let (part, step) = if along.join == Join::Apart { (0.7, STEPS[1]) } else { (0.4, STEPS[0]) };
    // Marks stay within the panel.
    let edge = along.places.iter().map(|place| place.min(1.0 - place)).fold(0.5, f64::min);
    let inside = (2.0 * edge * panel.width - MARK).max(0.0);
    let room = (panel.width * along.closest() * part).min(step * curves as f64).min(inside);
    ((number as f64 + 0.5) / curves as f64 - 0.5) * room
}

/// A curve with its intervals.
fn curve(
    canvas: &mut Canvas,
    panel: Area,
    vertical: &Axis,
    plot: &Plot<'_>,
    spots: &[&Spot<'_>],
    number: usize,
) {
    let ((colour, mark, dash), along, length) = (plot.looks[number], &plot.along, plot.measure.1);
    let bands = along.join == Join::Line && along.places.len() >= BANDS;
    let shift = if bands { 0.0 } else { shift(along, panel, number, plot.looks.len()) };
    let x = |spot: &Spot<'_>| panel.x + along.places[spot.at] * panel.width + shift;
    let y = |value: f64| vertical.place(value / length);
    let ends = |s: &Spot<'_>| s.cell.summary.ci95.unwrap_or([s.cell.summary.mean; 2]).map(y);
    let mut spots = spots.to_vec();
    spots.sort_by(|a, b| along.places[a.at].total_cmp(&along.places[b.at]));
    for run in spots.chunk_by(|a, b| !along.parted(a.at, b.at)) {
        let means: Vec<Point> = run.iter().map(|s| (x(s), y(s.cell.summary.mean))).collect();
        if bands && run.len() > 1 && run.iter().any(|spot| spot.cell.summary.ci95.is_some()) {
            let lower = run.iter().map(|s| (x(s), ends(s)[0]));
            let upper = run.iter().rev().map(|s| (x(s), ends(s)[1]));
            canvas.polygon(&lower.chain(upper).collect::<Vec<_>>(), colour, 0.16);
        }
        match along.join {
            Join::Line => canvas.dashed(&means, colour, 2.0, dash),
            Join::Pair => canvas.dashed(&means, colour, 0.75, Dash::Short),
            Join::Apart => {}
        }
    }
    for spot in &spots {
        if !bands || spots.len() == 1 {
            let [lo, hi] = ends(spot);
            canvas.line(&[(x(spot), lo), (x(spot), hi)], colour, 1.75);
        }
        canvas.mark((x(spot), y(spot.cell.summary.mean)), mark, MARK, colour);
    }
}
