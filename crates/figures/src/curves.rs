//! Curves over a swept parameter: one panel per application and setting of the others, a curve with its band per policy.

use drawing::axis::{Axis, Kind};
use drawing::canvas::{Anchor, Area, Canvas, Letters, Point};
use drawing::font;
use drawing::palette::{Colour, Dash, GRID, MUTED, Mark, series};
use experiment::metrics::ALL_APPS;
use experiment::result::{Cell, Results};

use crate::figure::{Figure, Table};
use crate::frame::{self, Frame, Grid, Key, LABEL, MOST_PANELS, Sizes};
use crate::plane::Plane;
use crate::words::{self, cell};
use crate::{Attempt, Refusal};
use experiment::configuration::plain;
use experiment::statements::{self, titles};

/// A curve's configuration.
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
    configurations: Vec<usize>,
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

/// The look of a row's curve; references stand back.
fn look(rows: &[words::Row<'_>], at: usize) -> Look {
    if words::is_reference(rows[at].0) { (MUTED, Mark::Plus, Dash::Dots) } else { series(at) }
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
            for configuration in &panel.configurations {
                let found =
                    cell(results, &plane.configurations[*configuration], policy, panel.app, panel.metric);
                let at = plane.sweep.place(*configuration, along.axis);
                spots.extend(found.zip(at).map(|(cell, at)| Spot { panel: number, series, at, cell }));
            }
        }
    }
    if spots.is_empty() {
        return Err(Refusal::Pointless("no run completed".into()));
    }
    let sweep = &plane.sweep.varied[along.axis];
    let ends = if results.provenance.repeat > 1 {
        if along.numbers { ", bands: 95 % interval" } else { " and 95 % interval" }
    } else {
        ""
    };
    let what =
        if panels[0].metric == "slowdown" { "Slowdown (run time / run time alone)" } else { "Run time" };
    let about =
        format!("{what} over {}: mean{ends}; {}{}", sweep.short, words::setting(results), plane.remark());
    let title = titles::sweep(&statements::Table::of(results), along.axis, panels[0].metric);
    let Some(title) = title else { return Err(Refusal::Pointless("no run completed".into())) };
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
    let svg = draw(&words, &panels, &along, &spots, scale, sweep.axis.path.as_str(), &looks);
    let data = Table::of_cells(spots.iter().map(|spot| spot.cell));
    Ok(Figure { name: "sweep", title, about, svg: svg.map_err(Refusal::Fault)?, data })
}

/// Which axis to go along: one of numbers if there is one, the longest of these.
fn along(plane: &Plane) -> Option<Along> {
    let rank = |axis: &usize| {
        let sweep = &plane.sweep.varied[*axis];
        // Of equals the last one: it runs fastest in the scenario.
        (sweep.axis.numbers.is_some(), sweep.axis.values.len(), *axis)
    };
    let axis = (0..plane.sweep.varied.len()).max_by_key(rank)?;
    let sweep = &plane.sweep.varied[axis];
    let labels = sweep.axis.values.iter().map(|value| plain(value)).collect();
    let even = |count: usize| (0..count).map(|at| (at as f64 + 0.5) / count as f64).collect();
    let Some(numbers) = &sweep.axis.numbers else {
        return Some(Along { axis, places: even(sweep.axis.values.len()), labels, numbers: false });
    };
    let scale = numeric(numbers);
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
    let others: Vec<usize> = (0..plane.sweep.varied.len()).filter(|axis| *axis != along.axis).collect();
    let mut groups: Vec<(Vec<Option<usize>>, Vec<usize>)> = Vec::new();
    for configuration in 0..plane.configurations.len() {
        let key: Vec<Option<usize>> =
            others.iter().map(|axis| plane.sweep.place(configuration, *axis)).collect();
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, configurations)) => configurations.push(configuration),
            None => groups.push((key, vec![configuration])),
        }
    }
    let apps: Vec<&str> = results.foreground().collect();
    if groups.len() * apps.len() > MOST_PANELS {
        return Err(Refusal::Pointless(format!(
            "{} panels ({} applications at {} settings) do not fit one picture (at most {MOST_PANELS}); run some of the configurations",
            groups.len() * apps.len(),
            apps.len(),
            groups.len()
        )));
    }
    let mut panels = Vec::new();
    for (_, configurations) in &groups {
        for app in &apps {
            let setting = plane.sweep.described(configurations[0], &others);
            let name = if setting.is_empty() { (*app).to_owned() } else { format!("{app}, {setting}") };
            panels.push(Panel { app, metric, name, configurations: configurations.clone() });
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
        return ("times", 1.0);
    }
    let times = results.cells.iter().filter(|c| c.metric == metric).map(|c| c.summary.mean);
    words::time_unit(times.fold(0.0, f64::max))
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
