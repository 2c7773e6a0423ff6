//! Means with their intervals by policy: slowdown or run time, throughput, speed-up over the first policy.

use drawing::axis::{Axis, extremes};
use drawing::canvas::{Area, Canvas, Letters};
use drawing::palette::{Colour, GRID, MUTED, Mark, series};
use experiment::metrics::ALL_APPS;
use experiment::result::{Cell, Results};
use experiment::statistics::Summary;

use crate::figure::{Figure, Table};
use crate::frame::{self, Frame, Key, LABEL, Layout, Sheet};
use crate::plane::Plane;
use crate::words::{self, cell, number};
use crate::{Attempt, Refusal};

/// A mean with its interval.
struct Dot {
    point: usize,
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
        ("slowdown", "x alone", 1.0)
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
        title: worst_hit(results, &apps, metric, scale, unit),
        about: format!("{what}: mean{}; {}{}", interval(results), words::setting(results), plane.remark()),
        axis,
        rows: rows.clone(),
        dots: cells
            .iter()
            .map(|(point, policy, series, c)| dot(*point, *policy, *series, &c.summary, scale))
            .collect(),
        data: Table::of_cells(cells.iter().map(|(.., c)| *c)),
        series: apps,
        reference: (metric == "slowdown").then_some((1.0, "alone")),
    };
    draw(results, plane, &plot)
}

/// Work per time against running one after the other, by policy.
pub(crate) fn throughput(results: &Results, plane: &Plane) -> Attempt {
    if results.foreground().count() < 2
        && !results.cells.iter().any(|c| c.metric == "throughput" && c.summary.mean > 1.5)
    {
        return Err(Refusal::Pointless("one application shares the machine with nobody".into()));
    }
    let rows = words::rows(results, "throughput");
    if rows.is_empty() {
        return Err(Refusal::Pointless(
            "there are no dedicated runs to compare with (`baseline: dedicated`)".into(),
        ));
    }
    let cells = of_rows(results, plane, &rows, &[ALL_APPS], "throughput");
    let policies = results.provenance.policies.as_slice();
    let own = cells.iter().filter(|(.., c)| policies.contains(&c.policy));
    let best = own.clone().max_by(|a, b| a.3.summary.mean.total_cmp(&b.3.summary.mean));
    let least = own.min_by(|a, b| a.3.summary.mean.total_cmp(&b.3.summary.mean));
    let named = |c: &Cell| format!("{} ({} x one after the other)", c.policy, number(c.summary.mean));
    let title = match (best, least) {
        (Some(best), Some(least)) if best.3.policy != least.3.policy => {
            format!("Most work per time under {}, least under {}", named(best.3), named(least.3))
        }
        (Some(best), _) => format!("Work per time under {}", named(best.3)),
        _ => return Err(Refusal::Pointless("no run of all applications completed".into())),
    };
    let plot = Plot {
        name: "throughput",
        title,
        about: format!(
            "Time of the applications alone, one after the other, over the time together: mean{}; above 1 sharing wins; {}{}",
            interval(results),
            words::setting(results),
            plane.remark()
        ),
        axis: "throughput: time one after the other / time together".into(),
        rows: rows.clone(),
        dots: cells
            .iter()
            .map(|(point, policy, series, c)| dot(*point, *policy, *series, &c.summary, 1.0))
            .collect(),
        data: Table::of_cells(cells.iter().map(|(.., c)| *c)),
        series: vec![ALL_APPS],
        reference: Some((1.0, "one after the other")),
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
    let header =
        vec!["point", "app", "metric", "baseline", "policy", "ratio", "ci95_lo", "ci95_hi", "verdict"];
    let (mut dots, mut data) = (Vec::new(), Table { header, rows: Vec::new() });
    for c in &results.comparisons {
        let point = plane.points.iter().position(|point| *point == c.point);
        let policy = rows.iter().position(|(policy, _)| *policy == c.policy);
        let app = apps.iter().position(|app| *app == c.app);
        let (Some(point), Some(policy), Some(series)) = (point, policy, app) else { continue };
        dots.push(Dot { point, policy, series, mean: c.ratio, ci95: c.ci95 });
        let [lo, hi] = c.ci95.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
        let verdict = c.verdict.word();
        let words = [&c.point, &c.app, &c.metric, &c.baseline, &c.policy].map(Clone::clone);
        data.rows.push(words.into_iter().chain([c.ratio.to_string(), lo, hi, verdict.to_owned()]).collect());
    }
    let best = dots.iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
    let Some(best) = best else {
        return Err(Refusal::Pointless("no policy has runs to pair with those of the first".into()));
    };
    let sure = dots.iter().filter(|dot| dot.ci95.is_some_and(|[lo, hi]| lo > 1.0 || hi < 1.0)).count();
    let surely = if results.provenance.repeat > 1 {
        format!("; {sure} of {} differences are significant", dots.len())
    } else {
        String::new()
    };
    let (app, policy) = (apps.get(best.series).unwrap_or(&ALL_APPS), rows[best.policy].0);
    let fastest = if best.mean > 1.0 {
        format!("Against {base}: at most {} times as fast ({app} under {policy})", number(best.mean))
    } else {
        format!(
            "No policy is faster than {base}: at best {} times as fast ({app} under {policy})",
            number(best.mean)
        )
    };
    let plot = Plot {
        name: "speedup",
        title: format!("{fastest}{surely}"),
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

fn dot(point: usize, policy: usize, series: usize, summary: &Summary, scale: f64) -> Dot {
    let ci95 = summary.ci95.map(|ends| ends.map(|end| end / scale));
    Dot { point, policy, series, mean: summary.mean / scale, ci95 }
}

/// The cells of all points, rows and applications with their places.
fn of_rows<'a>(
    results: &'a Results,
    plane: &Plane,
    rows: &[words::Row<'_>],
    apps: &[&str],
    metric: &str,
) -> Vec<(usize, usize, usize, &'a Cell)> {
    let mut all = Vec::new();
    for (panel, point) in plane.points.iter().enumerate() {
        for (row, (policy, _)) in rows.iter().enumerate() {
            for (series, app) in apps.iter().enumerate() {
                let found = cell(results, point, policy, app, metric);
                all.extend(found.map(|c| (panel, row, series, c)));
            }
        }
    }
    all
}

/// Who protects the application hit hardest, over all points.
fn worst_hit(results: &Results, apps: &[&str], metric: &str, scale: f64, unit: &str) -> String {
    let worst = |policy: &String| {
        let own = results.cells.iter().filter(|c| c.policy == *policy && c.metric == metric);
        let own = own.filter(|c| apps.contains(&c.app.as_str()));
        own.max_by(|a, b| a.summary.mean.total_cmp(&b.summary.mean))
    };
    let all: Vec<&Cell> = results.provenance.policies.iter().filter_map(worst).collect();
    let best = all.iter().min_by(|a, b| a.summary.mean.total_cmp(&b.summary.mean));
    let last = all.iter().max_by(|a, b| a.summary.mean.total_cmp(&b.summary.mean));
    let (Some(best), Some(last)) = (best, last) else { return "Nothing was measured".into() };
    let told = |c: &Cell| format!("{} {unit}", number(c.summary.mean / scale));
    let most = |c: &Cell| number(c.summary.mean / scale);
    let subject = match (apps, metric) {
        ([app], _) => (*app).to_owned(),
        (_, "slowdown") => "The application hit hardest".to_owned(),
        _ => "The longest application".to_owned(),
    };
    if all.len() == 1 {
        return format!("{subject} takes at most {} under {}", told(best), best.policy);
    }
    if words::level(&best.summary, &last.summary) {
        return format!("{subject}: at most about {} under every policy", told(best));
    }
    let even: Vec<&str> = all
        .iter()
        .filter(|c| c.policy != best.policy && words::level(&c.summary, &best.summary))
        .map(|c| c.policy.as_str())
        .collect();
    let even = match even[..] {
        [] => String::new(),
        [one] => format!(" and {one}"),
        ref some => format!(" and {} others", some.len()),
    };
    format!(
        "{subject}: at most {} under {}{even}, up to {} under {}",
        told(best),
        best.policy,
        most(last),
        last.policy
    )
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
                let (own, line) = layout.place(dot.point, dot.policy);
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
