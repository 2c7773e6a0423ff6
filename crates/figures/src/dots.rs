//! Means with their intervals by policy: slowdown or run time, throughput, speed-up over the first policy.

use drawing::axis::{Axis, extremes};
use drawing::canvas::{Area, Canvas, Letters};
use drawing::palette::{Colour, GRID, MUTED, Mark, series};
use experiment::metrics::ALL_APPS;
use experiment::result::{Cell, Results};
use experiment::statements::{self, titles};
use experiment::statistics::Summary;

use crate::figure::{Figure, Table};
use crate::frame::{self, Frame, Key, LABEL, Layout, Sheet};
use crate::plane::Plane;
use crate::words::{self, cell};
use crate::{Attempt, Refusal};

/// A mean with its interval.
struct Dot {
    configuration: usize,
    policy: usize,
    series: usize,
    mean: f64,
    ci95: Option<[f64; 2]>,
}

/// What is drawn, whatever it measures.
struct Plot<'a> {
    name: &'static str,
    title: String,
    about: String,
    axis: String,
    rows: Vec<words::Row<'a>>,
    series: Vec<&'a str>,
    dots: Vec<Dot>,
    /// A value to compare with, and its name.
    reference: Option<(f64, &'static str)>,
    data: Table,
}

/// Slowdown of each application by policy; run time where there are no dedicated runs.
pub(crate) fn slowdown(results: &Results, plane: &Plane) -> Attempt {
    let measured = |metric: &str| results.cells.iter().any(|c| c.metric == metric);
    let (metric, unit, scale) = if measured("slowdown") {
        ("slowdown", "times", 1.0)
    } else {
        let times = results.cells.iter().filter(|c| c.metric == "run_time").map(|c| c.summary.mean);
        let Some((_, longest)) = extremes(times) else {
            return Err(Refusal::Pointless("no application has a run time".into()));
        };
        let (unit, scale) = words::time_unit(longest);
        ("run_time", unit, scale)
    };
    let apps: Vec<&str> = results.foreground().collect();
    let (what, axis) = if metric == "slowdown" {
        ("Run time over that of the application alone", "slowdown: run time / run time alone".to_owned())
    } else {
        ("Run time", format!("run time, {unit}"))
    };
    let rows = words::rows(results, metric);
    let cells = of_rows(results, plane, &rows, &apps, metric);
    let plot = Plot {
        name: "slowdown",
        title: titles::slowdown(&statements::Table::of(results)).unwrap_or_default(),
        about: format!("{what}: mean{}; {}{}", interval(results), words::setting(results), plane.remark()),
        axis,
        rows: rows.clone(),
        dots: cells
            .iter()
            .map(|(configuration, policy, series, c)| {
                dot(*configuration, *policy, *series, &c.summary, scale)
            })
            .collect(),
        data: Table::of_cells(cells.iter().map(|(.., c)| *c)),
        series: apps,
        reference: (metric == "slowdown").then_some((1.0, "alone")),
    };
    draw(results, plane, &plot)
}

/// Work per second relative to sequential runs, by policy.
pub(crate) fn throughput(results: &Results, plane: &Plane) -> Attempt {
    if results.foreground().count() < 2
        && !results.cells.iter().any(|c| c.metric == "throughput" && c.summary.mean > 1.5)
    {
        return Err(Refusal::Pointless("it needs two applications".into()));
    }
    let rows = words::rows(results, "throughput");
    if rows.is_empty() {
        return Err(Refusal::Pointless(
            "there are no dedicated runs to compare with (`baseline: dedicated`)".into(),
        ));
    }
    let cells = of_rows(results, plane, &rows, &[ALL_APPS], "throughput");
    let Some(title) = titles::throughput(&statements::Table::of(results)) else {
        return Err(Refusal::Pointless("no run of all applications completed".into()));
    };
    let plot = Plot {
        name: "throughput",
        title,
        about: format!(
            "Run times of the applications alone, added, over the makespan together: mean{}; above 1 sharing finishes earlier; {}{}",
            interval(results),
            words::setting(results),
            plane.remark()
        ),
        axis: "throughput: sum of run times alone / makespan together".into(),
        rows: rows.clone(),
        dots: cells
            .iter()
            .map(|(configuration, policy, series, c)| dot(*configuration, *policy, *series, &c.summary, 1.0))
            .collect(),
        data: Table::of_cells(cells.iter().map(|(.., c)| *c)),
        series: vec![ALL_APPS],
        reference: Some((1.0, "sequential")),
    };
    draw(results, plane, &plot)
}

/// How many times faster than the first policy, paired by replicate.
pub(crate) fn speedup(results: &Results, plane: &Plane) -> Attempt {
    let Some(first) = results.comparisons.first() else {
        return Err(Refusal::Pointless("there is only one policy".into()));
    };
    let base = first.baseline.clone();
    let others = results.provenance.policies.iter().filter(|policy| **policy != base);
    let rows: Vec<words::Row<'_>> = others.map(|policy| (policy.as_str(), policy.clone())).collect();
    let apps: Vec<&str> = results.foreground().collect();
    let header = vec![
        "configuration",
        "app",
        "metric",
        "baseline",
        "policy",
        "ratio",
        "ci95_lo",
        "ci95_hi",
        "verdict",
    ];
    let (mut dots, mut data) = (Vec::new(), Table { header, rows: Vec::new() });
    for c in &results.comparisons {
        let configuration =
            plane.configurations.iter().position(|configuration| *configuration == c.configuration);
        let policy = rows.iter().position(|(policy, _)| *policy == c.policy);
        let app = apps.iter().position(|app| *app == c.app);
        let (Some(configuration), Some(policy), Some(series)) = (configuration, policy, app) else {
            continue;
        };
        dots.push(Dot { configuration, policy, series, mean: c.ratio, ci95: c.ci95 });
        let [lo, hi] = c.ci95.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
        let verdict = c.verdict.word();
        let words = [&c.configuration, &c.app, &c.metric, &c.baseline, &c.policy].map(Clone::clone);
        data.rows.push(words.into_iter().chain([c.ratio.to_string(), lo, hi, verdict.to_owned()]).collect());
    }
    let Some(title) = titles::speedup(&statements::Table::of(results)) else {
        return Err(Refusal::Pointless("no policy has runs to pair with those of the first".into()));
    };
    let plot = Plot {
        name: "speedup",
        title,
        about: format!(
            "Run time under {base} over that under the policy, paired by replicate: mean{}; {}{}",
            interval(results),
            words::setting(results),
            plane.remark()
        ),
        axis: format!("times as fast as under {base}"),
        rows,
        series: apps,
        dots,
        reference: Some((1.0, "as fast")),
        data,
    };
    draw(results, plane, &plot)
}

fn interval(results: &Results) -> &'static str {
    if results.provenance.repeat > 1 { " and 95 % interval" } else { "" }
}

fn dot(configuration: usize, policy: usize, series: usize, summary: &Summary, scale: f64) -> Dot {
    let ci95 = summary.ci95.map(|ends| ends.map(|end| end / scale));
    Dot { configuration, policy, series, mean: summary.mean / scale, ci95 }
}

/// The cells of all configurations, rows and applications with their places.
fn of_rows<'a>(
    results: &'a Results,
    plane: &Plane,
    rows: &[words::Row<'_>],
    apps: &[&str],
    metric: &str,
) -> Vec<(usize, usize, usize, &'a Cell)> {
    let mut all = Vec::new();
    for (panel, configuration) in plane.configurations.iter().enumerate() {
        for (row, (policy, _)) in rows.iter().enumerate() {
            for (series, app) in apps.iter().enumerate() {
                let found = cell(results, configuration, policy, app, metric);
                all.extend(found.map(|c| (panel, row, series, c)));
            }
        }
    }
    all
}

/// Height of a row with so many series.
const fn row_height(series: usize) -> f64 {
    12.0 + 9.0 * series as f64
}

fn draw(results: &Results, plane: &Plane, plot: &Plot<'_>) -> Attempt {
    let legend = if plot.series.len() > 1 {
        plot.series
            .iter()
            .enumerate()
            .map(|(at, app)| (Key::Mark(look(at).1, look(at).0), (*app).to_owned()))
            .collect()
    } else {
        Vec::new()
    };
    let layout = Layout::of(plane, &plot.rows)?;
    let row = row_height(plot.series.len());
    let Sheet { left, labels, names, grid } = layout.sheet(&layout.panels, 3, row);
    let words = Frame {
        title: plot.title.clone(),
        about: format!("{}{}", plot.about, layout.remark(plane)),
        legend,
        source: words::source(results),
    };
    let svg = frame::compose(&words, grid.height, |canvas, body| {
        let Some(axis) = axis(plot) else { return };
        for (at, panel) in grid.within(body).into_iter().enumerate() {
            if let Some(lines) = names.get(at) {
                frame::write_name(canvas, panel, lines);
            }
            let axis = axis.on(panel.x, panel.right());
            stripes(canvas, panel, row);
            frame::lower_axis(canvas, panel, &axis);
            if grid.first(at) {
                for (number, label) in labels.iter().enumerate() {
                    canvas.text((body.x, panel.y + (number as f64 + 0.5) * row), label, Letters::new(LABEL));
                }
            }
            reference(canvas, panel, &axis, plot.reference);
            for dot in &plot.dots {
                let (own, line) = layout.place(dot.configuration, dot.policy);
                if own == at {
                    let top = panel.y + line as f64 * row;
                    draw_dot(canvas, top, &axis, dot);
                }
            }
        }
        frame::axis_title(canvas, body, left, &plot.axis);
    });
    let svg = svg.map_err(Refusal::Fault)?;
    Ok(Figure {
        name: plot.name,
        title: plot.title.clone(),
        about: plot.about.clone(),
        svg,
        data: plot.data.clone(),
    })
}

fn look(series_number: usize) -> (Colour, Mark) {
    let (colour, mark, _) = series(series_number);
    (colour, mark)
}

/// All means; intervals as far as they do not dwarf the means.
fn axis(plot: &Plot<'_>) -> Option<Axis> {
    let means = plot.dots.iter().map(|dot| dot.mean).chain(plot.reference.map(|(value, _)| value));
    let (low, high) = extremes(means.clone())?;
    let room = (high - low).max(high.abs() * 0.25);
    let floor = if low >= 0.0 { low * 0.5 } else { f64::NEG_INFINITY };
    let ends = plot.dots.iter().filter_map(|dot| dot.ci95).flatten();
    let ends = ends.map(|end| end.clamp((low - room).max(floor), high + room));
    Axis::around(means.chain(ends), 0.0, 1.0)
}

/// Every second row stands on a line, so that the eye keeps to it.
fn stripes(canvas: &mut Canvas<'_>, panel: Area, row: f64) {
    let rows = (panel.height / row).round() as usize;
    for number in 0..=rows {
        let y = panel.y + number as f64 * row;
        canvas.line(&[(panel.x, y), (panel.right(), y)], GRID, 0.5);
    }
}

fn reference(canvas: &mut Canvas<'_>, panel: Area, axis: &Axis, reference: Option<(f64, &'static str)>) {
    if let Some((value, _)) = reference.filter(|(value, _)| axis.holds(*value)) {
        let x = axis.place(value);
        canvas.dashed(&[(x, panel.y), (x, panel.bottom())], MUTED, 1.25, drawing::palette::Dash::Short);
    }
}

/// A dot in the row that begins at `top`.
fn draw_dot(canvas: &mut Canvas<'_>, top: f64, axis: &Axis, dot: &Dot) {
    let y = top + (dot.series as f64 + 0.5) * 9.0 + 6.0;
    let (colour, mark) = look(dot.series);
    if let Some([lo, hi]) = dot.ci95 {
        let (left, right) = (axis.place(lo), axis.place(hi));
        canvas.line(&[(left, y), (right, y)], colour, 1.75);
        for (end, x, outwards) in [(lo, left, -1.0), (hi, right, 1.0)] {
            if axis.holds(end) {
                canvas.line(&[(x, y - 3.0), (x, y + 3.0)], colour, 1.5);
            } else {
                // It goes on beyond the panel.
                canvas.polygon(&[(x + outwards * 5.0, y), (x, y - 4.0), (x, y + 4.0)], colour, 1.0);
            }
        }
    }
    canvas.mark((axis.place(dot.mean), y), mark, 8.5, colour);
}
