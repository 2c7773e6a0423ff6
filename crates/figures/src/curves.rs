//! Curves over a swept parameter: one panel per application and setting of the others, a curve with its band per policy.

use drawing::axis::{Axis, Kind};
use drawing::canvas::{Anchor, Area, Canvas, Letters, Point};
use drawing::font;
use drawing::palette::{Colour, Dash, GRID, MUTED, Mark, series};
use experiment::metrics::ALL_APPS;
use experiment::result::{Cell, Results};

use crate::figure::{Figure, Table};
use crate::frame::{self, Frame, Grid, Key, LABEL, MOST_PANELS, Sizes};
use crate::plane::{Plane, plain};
use crate::words::{self, cell, number};
use crate::{Attempt, Refusal};

/// A curve's point.
struct Spot<'a> {
    panel: usize,
    series: usize,
    /// Position of its value on the swept axis.
    at: usize,
    cell: &'a Cell,
}

/// A panel: an application at some values of the other axes.
struct Panel<'a> {
    app: &'a str,
    metric: &'static str,
    name: String,
    points: Vec<usize>,
}

/// The swept axis: its places between 0 and 1, and their labels.
struct Along {
    axis: usize,
    places: Vec<f64>,
    labels: Vec<String>,
    /// Whether the values are numbers, so that lines between them mean something.
    numbers: bool,
}

/// Colour, mark and dash of a curve.
type Look = (Colour, Mark, Dash);

/// The look of a row's curve; yardsticks stand back.
fn look(rows: &[words::Row<'_>], at: usize) -> Look {
    if words::is_yardstick(rows[at].0) { (MUTED, Mark::Plus, Dash::Dots) } else { series(at) }
}

/// The sweep's curves.
pub(crate) fn sweep(results: &Results, plane: &Plane) -> Attempt {
    let Some(along) = along(plane) else {
        return Err(Refusal::Pointless("nothing is swept".into()));
    };
    let panels = panels(results, plane, &along)?;
    let rows = words::rows(results, panels[0].metric);
    let scale = scale(results, panels[0].metric);
    let mut spots = Vec::new();
    for (number, panel) in panels.iter().enumerate() {
        for (series, (policy, _)) in rows.iter().enumerate() {
            for point in &panel.points {
                let found = cell(results, &plane.points[*point], policy, panel.app, panel.metric);
                let at = plane.place(*point, along.axis);
                spots.extend(found.zip(at).map(|(cell, at)| Spot { panel: number, series, at, cell }));
            }
        }
    }
    if spots.is_empty() {
        return Err(Refusal::Pointless("no run completed".into()));
    }
    let sweep = &plane.sweeps[along.axis];
    let ends = if results.provenance.repeat > 1 {
        if along.numbers { ", bands: 95 % interval" } else { " and 95 % interval" }
    } else {
        ""
    };
    let what =
        if panels[0].metric == "slowdown" { "Slowdown (run time / run time alone)" } else { "Run time" };
    let about =
        format!("{what} over {}: mean{ends}; {}{}", sweep.short, words::setting(results), plane.remark());
    let title = message(results, plane, &along, &panels, scale);
    let legend = rows.iter().enumerate().map(|(at, (_, words))| {
        let (colour, mark, dash) = look(&rows, at);
        (if along.numbers { Key::Line(colour, mark, dash) } else { Key::Mark(mark, colour) }, words.clone())
    });
    let words = Frame {
        title: title.clone(),
        about: about.clone(),
        legend: legend.collect(),
        source: words::source(results),
    };
    let looks: Vec<_> = (0..rows.len()).map(|at| look(&rows, at)).collect();
    let svg = draw(&words, &panels, &along, &spots, scale, sweep.path.as_str(), &looks);
    let data = Table::of_cells(spots.iter().map(|spot| spot.cell));
    Ok(Figure { name: "sweep", title, about, svg: svg.map_err(Refusal::Fault)?, data })
}

/// Which axis to go along: one of numbers if there is one, the longest of these.
fn along(plane: &Plane) -> Option<Along> {
    let rank = |axis: &usize| {
        let sweep = &plane.sweeps[*axis];
        // Of equals the last one: it runs fastest in the scenario.
        (sweep.numbers().is_some(), sweep.values.len(), *axis)
    };
    let axis = (0..plane.sweeps.len()).max_by_key(rank)?;
    let sweep = &plane.sweeps[axis];
    let labels = sweep.values.iter().map(|value| plain(value)).collect();
    let even = |count: usize| (0..count).map(|at| (at as f64 + 0.5) / count as f64).collect();
    let Some(numbers) = sweep.numbers() else {
        return Some(Along { axis, places: even(sweep.values.len()), labels, numbers: false });
    };
    let scale = numeric(&numbers);
    let places = numbers.iter().map(|value| scale.place(*value)).collect();
    Some(Along { axis, places, labels, numbers: true })
}

/// Values such as 1, 2, 4, 8 stand equally far apart, others by their differences.
fn numeric(values: &[f64]) -> Axis {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let doubling = values.len() > 2 && low > 0.0 && values.windows(2).all(|pair| pair[1] / pair[0] >= 1.9);
    Axis::of(if doubling { Kind::Log } else { Kind::Linear }, low, high, 0.0, 1.0)
}

/// One panel for each application and combination of values of the other axes.
fn panels<'a>(results: &'a Results, plane: &Plane, along: &Along) -> Result<Vec<Panel<'a>>, Refusal> {
    let measured = |metric: &str| results.cells.iter().any(|c| c.metric == metric && c.app != ALL_APPS);
    let metric = ["slowdown", "run_time"].into_iter().find(|metric| measured(metric));
    let Some(metric) = metric else {
        return Err(Refusal::Pointless("no application has a run time".into()));
    };
    let others: Vec<usize> = (0..plane.sweeps.len()).filter(|axis| *axis != along.axis).collect();
    let mut groups: Vec<(Vec<Option<usize>>, Vec<usize>)> = Vec::new();
    for point in 0..plane.points.len() {
        let key: Vec<Option<usize>> = others.iter().map(|axis| plane.place(point, *axis)).collect();
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, points)) => points.push(point),
            None => groups.push((key, vec![point])),
        }
    }
    let apps: Vec<&str> = results.foreground().collect();
    if groups.len() * apps.len() > MOST_PANELS {
        return Err(Refusal::Pointless(format!(
            "{} panels ({} applications at {} settings) do not fit one picture (at most {MOST_PANELS}); run some of the points",
            groups.len() * apps.len(),
            apps.len(),
            groups.len()
        )));
    }
    let mut panels = Vec::new();
    for (_, points) in &groups {
        for app in &apps {
            let setting = plane.described(points[0], &others);
            let name = if setting.is_empty() { (*app).to_owned() } else { format!("{app}, {setting}") };
            panels.push(Panel { app, metric, name, points: points.clone() });
        }
    }
    if panels.is_empty() {
        Err(Refusal::Pointless("there is no application in the foreground".into()))
    } else {
        Ok(panels)
    }
}

/// The unit of the vertical axis and its length.
fn scale(results: &Results, metric: &str) -> (&'static str, f64) {
    if metric == "slowdown" {
        return ("x alone", 1.0);
    }
    let times = results.cells.iter().filter(|c| c.metric == metric).map(|c| c.summary.mean);
    words::time_unit(times.fold(0.0, f64::max))
}

/// Longer values are left out of messages, characters of both ends.
const LONG: usize = 30;

/// Under which policy the first application changes most and least along the axis.
fn message(
    results: &Results,
    plane: &Plane,
    along: &Along,
    panels: &[Panel<'_>],
    scale: (&str, f64),
) -> String {
    let sweep = &plane.sweeps[along.axis];
    let (Some(first), Some(last)) = (sweep.values.first(), sweep.values.last()) else { return String::new() };
    let mut moves: Vec<(String, f64, f64)> = Vec::new();
    for panel in panels {
        for policy in &results.provenance.policies {
            let mean = |value: usize| {
                let point = panel.points.iter().find(|p| plane.place(**p, along.axis) == Some(value))?;
                Some(cell(results, &plane.points[*point], policy, panel.app, panel.metric)?.summary.mean)
            };
            let ends = mean(0).zip(mean(sweep.values.len() - 1)).filter(|(from, _)| *from > 0.0);
            let who = if results.provenance.policies.len() > 1 {
                format!("{} under {policy}", panel.name)
            } else {
                panel.name.clone()
            };
            moves.extend(ends.map(|(from, to)| (who, from / scale.1, to / scale.1)));
        }
    }
    let factor = |m: &(String, f64, f64)| (m.2 / m.1).max(m.1 / m.2);
    let most = moves.iter().max_by(|a, b| factor(a).total_cmp(&factor(b)));
    let least = moves.iter().min_by(|a, b| factor(a).total_cmp(&factor(b)));
    let (first, last) = (plain(first), plain(last));
    let range = if first.len() + last.len() > LONG {
        format!("Over {}", sweep.short)
    } else {
        format!("From {} {first} to {last}", sweep.short)
    };
    let (Some(most), Some(least)) = (most, least) else { return range };
    let told = |m: &(String, f64, f64)| format!("{} ({} to {} {})", m.0, number(m.1), number(m.2), scale.0);
    if factor(most) < 1.02 {
        return format!("{range} nothing changes by more than 2 %");
    }
    if most == least {
        return format!("{range}: {}", told(most));
    }
    format!("{range} most changes for {}, least for {}", told(most), told(least))
}

fn draw(
    words: &Frame,
    panels: &[Panel<'_>],
    along: &Along,
    spots: &[Spot<'_>],
    (unit, length): (&str, f64),
    path: &str,
    looks: &[Look],
) -> Result<String, String> {
    let names: Vec<String> = panels.iter().map(|panel| panel.name.clone()).collect();
    let sizes = |head, foot| Sizes {
        panels: panels.len(),
        most: 2,
        height: 190.0,
        left: 44.0,
        own: true,
        head,
        foot,
    };
    let width = Grid::of(&sizes(0.0, 0.0)).panels[0].width;
    let (names, head) = frame::names(&names, width);
    let labels = axis_labels(along, width);
    let grid = Grid::of(&sizes(
        head + 14.0,
        14.0 + 14.0 * labels.iter().map(|l| l.1.len()).max().unwrap_or(1) as f64,
    ));
    let means = spots.iter().map(|spot| spot.cell.summary.mean / length);
    let ends =
        spots.iter().flat_map(|spot| spot.cell.summary.ci95.into_iter().flatten()).map(|end| end / length);
    let (low, high) = drawing::axis::extremes(means.clone()).unwrap_or((0.0, 1.0));
    let room = (high - low).max(high * 0.25);
    let ends = ends.map(|end| end.clamp((low - room).max(low * 0.5), high + room));
    let Some(vertical) = Axis::around(means.chain(ends), 0.0, 1.0) else {
        return Err("no value is finite".into());
    };
    frame::compose(words, grid.height, |canvas, body| {
        for (at, panel) in grid.within(body).into_iter().enumerate() {
            let vertical = vertical.on(panel.bottom(), panel.y);
            frame::write_name(canvas, Area { y: panel.y - 14.0, ..panel }, &names[at]);
            frame::left_axis(canvas, panel, &vertical);
            let title = if panels[at].metric == "slowdown" {
                "slowdown, ".to_owned() + unit
            } else {
                "run time, ".to_owned() + unit
            };
            canvas.text((panel.x - grid.left, panel.y - 10.0), &title, Letters::new(10.5).in_colour(MUTED));
            horizontal(canvas, panel, along, &labels);
            for number in 0..looks.len() {
                let own: Vec<&Spot<'_>> =
                    spots.iter().filter(|s| s.panel == at && s.series == number).collect();
                curve(canvas, panel, &vertical, along, &own, (number, looks), length);
            }
        }
        frame::axis_title(canvas, body, 0.0, path);
    })
}

/// Which values of the swept axis are written, in lines: the others stand too close.
fn axis_labels(along: &Along, width: f64) -> Vec<(f64, Vec<String>)> {
    let room = width / along.places.len() as f64;
    let mut shown: Vec<(f64, Vec<String>)> = Vec::new();
    let mut free = f64::NEG_INFINITY;
    for (place, text) in along.places.iter().zip(&along.labels) {
        let mut lines =
            if along.numbers { vec![text.clone()] } else { font::wrapped(text, LABEL, room - 6.0) };
        lines.truncate(3);
        let lines: Vec<String> =
            lines.iter().map(|l| font::shortened(l, LABEL, room.max(44.0) - 4.0)).collect();
        let half = lines.iter().map(|l| font::width(l, LABEL)).fold(0.0, f64::max) / 2.0;
        if place * width - half > free {
            free = place * width + half + 4.0;
            shown.push((*place, lines));
        }
    }
    shown
}

fn horizontal(canvas: &mut Canvas<'_>, panel: Area, along: &Along, labels: &[(f64, Vec<String>)]) {
    canvas.line(&[(panel.x, panel.bottom()), (panel.right(), panel.bottom())], MUTED, 1.0);
    for place in &along.places {
        let x = panel.x + place * panel.width;
        canvas.line(&[(x, panel.y), (x, panel.bottom())], GRID, 0.75);
    }
    for (place, lines) in labels {
        for (row, line) in lines.iter().enumerate() {
            let at = (panel.x + place * panel.width, panel.bottom() + 11.0 + row as f64 * 14.0);
            canvas.text(at, line, Letters::new(LABEL).at(Anchor::Middle));
        }
    }
}

/// A curve with its band; without numbers below marks side by side with whiskers.
fn curve(
    canvas: &mut Canvas<'_>,
    panel: Area,
    vertical: &Axis,
    along: &Along,
    spots: &[&Spot<'_>],
    (number, looks): (usize, &[Look]),
    length: f64,
) {
    let ((colour, mark, dash), curves) = (looks[number], looks.len());
    // Side by side within the part of the axis that belongs to a value.
    let room = (panel.width / along.places.len() as f64 * 0.7).min(13.0 * curves as f64);
    let shift = if along.numbers { 0.0 } else { ((number as f64 + 0.5) / curves as f64 - 0.5) * room };
    let x = |spot: &Spot<'_>| panel.x + along.places[spot.at] * panel.width + shift;
    let mut spots = spots.to_vec();
    spots.sort_by(|a, b| along.places[a.at].total_cmp(&along.places[b.at]));
    let means: Vec<Point> =
        spots.iter().map(|s| (x(s), vertical.place(s.cell.summary.mean / length))).collect();
    let ends = |s: &Spot<'_>| {
        s.cell.summary.ci95.unwrap_or([s.cell.summary.mean; 2]).map(|end| vertical.place(end / length))
    };
    if along.numbers {
        if spots.iter().any(|spot| spot.cell.summary.ci95.is_some()) && spots.len() > 1 {
            let lower = spots.iter().map(|s| (x(s), ends(s)[0]));
            let upper = spots.iter().rev().map(|s| (x(s), ends(s)[1]));
            canvas.polygon(&lower.chain(upper).collect::<Vec<_>>(), colour, 0.16);
        }
        canvas.dashed(&means, colour, 2.0, dash);
    } else {
        for spot in &spots {
            let [lo, hi] = ends(spot);
            canvas.line(&[(x(spot), lo), (x(spot), hi)], colour, 1.75);
        }
    }
    for at in means {
        canvas.mark(at, mark, 8.0, colour);
    }
}
