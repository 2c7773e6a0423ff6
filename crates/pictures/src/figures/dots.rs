//! Means with their intervals by policy: slowdown or run time, throughput, speed-up over the first policy.

use crate::canvas::axis::{Axis, extremes};
use crate::canvas::palette::{Colour, GRID, MUTED, Mark, series};
use crate::canvas::{Area, Canvas};
use experiment::metrics::{ALL_APPS, Metric};
use experiment::number::{short, short_seconds};
use experiment::result::Cell;
use experiment::statements::title::{Place, Title};
use experiment::statements::titles;

use super::Attempt;
use crate::figures::figure::{Figure, Table};
use crate::figures::frame::{self, Frame, Key};
use crate::figures::grid::Layout;
use crate::figures::plane::{Plane, Row};
use crate::figures::words;

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
    title: Title,
    about: String,
    axis: String,
    rows: Vec<Row<'a>>,
    series: Vec<&'a str>,
    dots: Vec<Dot>,
    /// A value to compare with.
    reference: Option<f64>,
    data: Table,
}

/// Slowdown of each application by policy; run time where there are no dedicated runs.
pub(crate) fn slowdown(plane: &Plane<'_>) -> Attempt {
    let alone = plane.measures("slowdown");
    let times = plane.results.cells.iter().filter(|c| c.metric == "run_time").map(|c| c.summary.mean);
    let Some((_, longest)) = extremes(times) else {
        return Err("no application has a run time".into());
    };
    let (unit, length) = words::time_unit(longest);
    let (metric, scale) = if alone { ("slowdown", 1.0) } else { ("run_time", length) };
    let (what, axis) = if alone {
        ("Run time over that of the application alone", "slowdown: run time / run time alone".to_owned())
    } else {
        ("Run time", format!("run time ({unit})"))
    };
    let rows = plane.rows(metric);
    let apps: Vec<&str> = plane.results.foreground().collect();
    let cells = of_rows(plane, &rows, &apps, metric);
    let plot = Plot {
        name: "slowdown",
        title: titles::slowdown(&plane.index).unwrap_or_default(),
        about: about(plane, what, if alone { "; dashed: as fast as alone" } else { plane.work() }),
        axis,
        rows,
        dots: cells.iter().map(|found| dot(found, scale)).collect(),
        data: Table::of_cells(cells.iter().map(|(.., c)| *c)),
        series: apps,
        reference: alone.then_some(1.0),
    };
    draw(plane, &plot)
}

/// Any metric by policy: of every application that has it, or of the whole run where only that has it.
pub(crate) fn metric(plane: &Plane<'_>, metric: &'static Metric) -> Attempt {
    let name = metric.name;
    let has = |app: &&str| plane.index.measures(app, name);
    let apps: Vec<&str> = plane.results.provenance.apps.iter().map(String::as_str).filter(has).collect();
    let series = if apps.is_empty() { [ALL_APPS].into_iter().filter(has).collect() } else { apps };
    let rows = plane.rows(name);
    let cells = of_rows(plane, &rows, &series, name);
    let Some((_, largest)) = extremes(cells.iter().map(|(.., cell)| cell.summary.mean)) else {
        return Err(format!("no run under a policy has {name}"));
    };
    let (unit, scale) = match metric.unit {
        "s" => words::time_unit(largest),
        unit => (unit, 1.0),
    };
    let spot = |(configuration, row, series_at, cell): &Found<'_>| titles::Spot {
        value: cell.summary.mean,
        place: Place::new(
            format!("{} under {}", series[*series_at], rows[*row].1),
            plane.index.sweep.short(*configuration),
        ),
    };
    let spots: Vec<titles::Spot> = cells.iter().map(spot).collect();
    let show = |value: f64| if metric.unit == "s" { short_seconds(value) } else { short(value) };
    let plot = Plot {
        name,
        title: titles::range(name, &spots, show).unwrap_or_default(),
        about: about(plane, metric.about, plane.work()),
        axis: format!("{} ({unit})", name.replace('_', " ")),
        dots: cells.iter().map(|found| dot(found, scale)).collect(),
        data: Table::of_cells(cells.iter().map(|(.., c)| *c)),
        rows,
        series,
        reference: None,
    };
    draw(plane, &plot)
}

/// Work per second relative to sequential runs, by policy.
pub(crate) fn throughput(plane: &Plane<'_>) -> Attempt {
    let copies = plane.results.provenance.programs.is_some_and(|programs| programs > 1);
    if plane.results.foreground().count() < 2 && !copies {
        return Err("needs two applications".into());
    }
    let rows = plane.rows("throughput");
    if rows.is_empty() {
        return Err("needs runs of each application alone (`baseline: dedicated`)".into());
    }
    let cells = of_rows(plane, &rows, &[ALL_APPS], "throughput");
    let Some(title) = titles::throughput(&plane.index) else {
        return Err("no run of all applications completed".into());
    };
    let plot = Plot {
        name: "throughput",
        title,
        about: about(
            plane,
            "Sum of the dedicated run times / time until all applications end",
            "; dashed: as fast as one after the other, further right is faster",
        ),
        axis: "throughput: sum of dedicated run times / makespan".into(),
        rows,
        dots: cells.iter().map(|found| dot(found, 1.0)).collect(),
        data: Table::of_cells(cells.iter().map(|(.., c)| *c)),
        series: vec![ALL_APPS],
        reference: Some(1.0),
    };
    draw(plane, &plot)
}

/// How many times faster than the first policy, paired by seed.
pub(crate) fn speedup(plane: &Plane<'_>) -> Attempt {
    let Some(first) = plane.results.comparisons.first() else {
        let why = if plane.policies.len() < 2 {
            "needs two policies"
        } else {
            "no policy has completed runs to pair with those of the first"
        };
        return Err(why.into());
    };
    let base = first.baseline.as_str();
    let others = plane.policies.iter().filter(|policy| **policy != base);
    let rows: Vec<Row<'_>> = others.map(|policy| (*policy, (*policy).to_owned())).collect();
    let Some(title) = titles::speedup(&plane.index) else {
        return Err("no policy has completed runs to pair with those of the first".into());
    };
    let (dots, data) = paired(plane, &rows);
    let plot = Plot {
        name: "speedup",
        title,
        about: about(
            plane,
            &format!("Run time under {base} / run time under the policy, paired by seed"),
            &format!("; dashed: as fast as under {base}, further right is faster"),
        ),
        axis: format!("times as fast as under {base}"),
        rows,
        series: plane.results.foreground().collect(),
        dots,
        reference: Some(1.0),
        data,
    };
    draw(plane, &plot)
}

/// The ratios of these policies to the first one, and their numbers.
fn paired(plane: &Plane<'_>, rows: &[Row<'_>]) -> (Vec<Dot>, Table) {
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
    let (mut dots, mut data) = (Vec::new(), Table { header, ..Table::default() });
    for c in &plane.results.comparisons {
        let configuration = plane.sweep().labels().position(|label| label == c.configuration);
        let policy = rows.iter().position(|(policy, _)| *policy == c.policy);
        let app = plane.results.foreground().position(|app| app == c.app);
        let (Some(configuration), Some(policy), Some(series)) = (configuration, policy, app) else {
            continue;
        };
        dots.push(Dot { configuration, policy, series, mean: c.ratio, ci95: c.ci95 });
        let [lo, hi] = c.ci95.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
        let verdict = c.verdict.word();
        let words = [&c.configuration, &c.app, &c.metric, &c.baseline, &c.policy].map(Clone::clone);
        data.rows.push(words.into_iter().chain([c.ratio.to_string(), lo, hi, verdict.to_owned()]).collect());
    }
    (dots, data)
}

/// What is shown, and where.
fn about(plane: &Plane<'_>, what: &str, remark: &str) -> String {
    let interval = if plane.results.provenance.repeat > 1 { " and 95 % interval" } else { "" };
    format!("{what}: mean{interval}{remark}; {}{}", words::setting(plane.results), plane.remark())
}

/// A cell with the numbers of its configuration, policy and series.
type Found<'a> = (usize, usize, usize, &'a Cell);

fn dot((configuration, policy, series, cell): &Found<'_>, scale: f64) -> Dot {
    let ci95 = cell.summary.ci95.map(|ends| ends.map(|end| end / scale));
    let mean = cell.summary.mean / scale;
    Dot { configuration: *configuration, policy: *policy, series: *series, mean, ci95 }
}

/// The cells of all configurations, rows and applications with their places.
fn of_rows<'a>(plane: &Plane<'a>, rows: &[Row<'_>], apps: &[&str], metric: &str) -> Vec<Found<'a>> {
    let mut all = Vec::new();
    for configuration in plane.configurations() {
        for (row, (policy, _)) in rows.iter().enumerate() {
            for (series, app) in apps.iter().enumerate() {
                let found = plane.cell(configuration, policy, app, metric);
                all.extend(found.map(|c| (configuration, row, series, c)));
            }
        }
    }
    all
}

/// Height of a row with so many series.
const fn row_height(series: usize) -> f64 {
    12.0 + 9.0 * series as f64
}

fn draw(plane: &Plane<'_>, plot: &Plot<'_>) -> Attempt {
    let entry = |(at, app): (usize, &&str)| (Key::Mark(look(at).1, look(at).0), (*app).to_owned());
    let legend =
        if plot.series.len() > 1 { plot.series.iter().enumerate().map(entry).collect() } else { Vec::new() };
    let layout = Layout::of_policies(plane, &plot.rows, &[])?;
    let row = row_height(plot.series.len());
    let sheet = layout.sheet(row);
    let words = Frame {
        page: plane.page,
        title: plot.title.clone(),
        about: format!("{}{}", plot.about, layout.remark()),
        legend,
        source: words::source(plane.results),
    };
    let picture = frame::compose(&words, sheet.height, |canvas, body| {
        let Some(axis) = axis(plot) else { return };
        sheet.write_names(canvas, body);
        for (at, panel) in sheet.within(body).into_iter().enumerate() {
            let axis = axis.on(panel.x, panel.right());
            stripes(canvas, panel, row);
            frame::lower_axis(canvas, panel, &axis, sheet.foot(at));
            if sheet.first(at) {
                sheet.write_labels(canvas, body, panel);
            }
            reference(canvas, panel, &axis, plot.reference);
            for dot in &plot.dots {
                let (own, line) = layout.place(dot.configuration, dot.policy, 0);
                if own == at {
                    draw_dot(canvas, panel.y + line as f64 * row, &axis, dot);
                }
            }
        }
        frame::axis_title(canvas, body, sheet.left, &frame::measured(&plot.axis, &axis));
    });
    Ok(Figure {
        name: plot.name,
        title: plot.title.to_string(),
        about: words.about.clone(),
        picture,
        data: plot.data.clone(),
    })
}

fn look(series_number: usize) -> (Colour, Mark) {
    let (colour, mark, _) = series(series_number);
    (colour, mark)
}

/// All means; intervals as far as they do not dwarf the means.
fn axis(plot: &Plot<'_>) -> Option<Axis> {
    let means = plot.dots.iter().map(|dot| dot.mean).chain(plot.reference);
    let (low, high) = extremes(means.clone())?;
    let room = (high - low).max(high.abs() * 0.25);
    let floor = if low >= 0.0 { low * 0.5 } else { f64::NEG_INFINITY };
    let ends = plot.dots.iter().filter_map(|dot| dot.ci95).flatten();
    let ends = ends.map(|end| end.clamp((low - room).max(floor), high + room));
    Axis::around(means.chain(ends), 0.0, 1.0)
}

/// Every second row stands on a line, so that the eye keeps to it.
fn stripes(canvas: &mut Canvas, panel: Area, row: f64) {
    let rows = (panel.height / row).round() as usize;
    for number in 0..=rows {
        let y = panel.y + number as f64 * row;
        canvas.line(&[(panel.x, y), (panel.right(), y)], GRID, 0.5);
    }
}

fn reference(canvas: &mut Canvas, panel: Area, axis: &Axis, reference: Option<f64>) {
    if let Some(value) = reference.filter(|value| axis.holds(*value)) {
        let x = axis.place(value);
        canvas.dashed(&[(x, panel.y), (x, panel.bottom())], MUTED, 1.25, crate::canvas::palette::Dash::Short);
    }
}

/// A dot in the row that begins at `top`.
fn draw_dot(canvas: &mut Canvas, top: f64, axis: &Axis, dot: &Dot) {
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
