//! How much seeds differ: every seed as a dot, the middle half as a box, by policy and application.

use crate::canvas::axis::{Axis, extremes};
use crate::canvas::palette::{Colour, GRID, INK, MUTED, Mark, series};
use crate::canvas::{Area, Canvas, Picture};
use experiment::result::{Cell, DEDICATED};
use experiment::statements::title::Title;
use experiment::statements::{self, titles};

use super::Attempt;
use crate::figures::figure::{self, Figure, Table};
use crate::figures::frame::{self, Frame};
use crate::figures::grid::Layout;
use crate::figures::plane::{Plane, Row};
use crate::figures::words;

/// From so many replicates on there is a box.
const BOXED: usize = 5;
const ROW: f64 = 22.0;
/// Run times of seeds that differ by less than this part look alike: 0.0 %.
const SAME: f64 = 0.000_5;

/// A row of a panel: where, and what the replicates measured (only the statistics where the values are not
/// known).
struct Strip<'a> {
    panel: usize,
    row: usize,
    cell: &'a Cell,
    values: Vec<f64>,
}

/// What is measured.
struct Kind {
    name: &'static str,
    metric: &'static str,
    words: &'static str,
    /// Why there may be none.
    missing: &'static str,
}

/// Run times of the seeds.
pub(crate) fn run_time(plane: &Plane<'_>) -> Attempt {
    if plane.results.provenance.repeat < 2 {
        return Err("needs two seeds (`--repeat 5`)".into());
    }
    let kind = Kind { name: "run-time", metric: "run_time", words: "run time", missing: "no run completed" };
    strips(plane, &kind, titles::run_times)
}

/// Whether the seeds differ.
///
/// # Errors
/// That they do not.
pub(crate) fn news(plane: &Plane<'_>) -> Result<(), String> {
    let times = plane.results.cells.iter().filter(|cell| cell.metric == "run_time");
    let apart = |cell: &Cell| cell.summary.max - cell.summary.min;
    let differs = |cell: &Cell| apart(cell) > SAME * cell.summary.mean;
    match (times.clone().any(differs), times.clone().any(|cell| apart(cell) > 0.0)) {
        (true, _) => Ok(()),
        (false, true) => Err("the run times of the seeds differ by less than 0.05 %".into()),
        (false, false) => Err("all seeds have the same run times".into()),
    }
}

/// Mean time from one barrier to the next, by seed.
pub(crate) fn barrier(plane: &Plane<'_>) -> Attempt {
    let kind = Kind {
        name: "barrier",
        metric: "barrier_interval",
        words: "mean time between barriers",
        missing: "needs a program with barriers",
    };
    strips(plane, &kind, titles::barriers)
}

/// The title of a figure.
type Message = fn(&statements::Table<'_>) -> Option<Title>;

fn strips(plane: &Plane<'_>, kind: &Kind, message: Message) -> Attempt {
    let measured = |policy: &str, app: Option<&str>| {
        let mut own = plane.results.cells.iter().filter(|c| c.metric == kind.metric && c.policy == policy);
        own.any(|c| app.is_none_or(|app| app == c.app))
    };
    let apps: Vec<&str> = plane
        .results
        .foreground()
        .filter(|app| plane.policies.iter().any(|policy| measured(policy, Some(app))))
        .collect();
    if apps.is_empty() {
        return Err(kind.missing.into());
    }
    let policies = plane.policies.iter().copied().chain([DEDICATED]).filter(|p| measured(p, None));
    let rows: Vec<Row<'_>> = policies.map(|p| (p, p.to_owned())).collect();
    let layout = Layout::of_policies(plane, &rows, &apps)?;
    let all = found(plane, kind, &layout, (&rows, &apps));
    let longest = all.iter().map(|strip| strip.cell.summary.max).fold(0.0, f64::max);
    let Some(title) = message(&plane.index) else {
        return Err("no run completed".into());
    };
    let words = Frame {
        page: plane.page,
        title: title.clone(),
        about: format!(
            "{}; {}{}{}{}",
            shown(plane, kind, &all),
            words::setting(plane.results),
            plane.remark(),
            plane.work(),
            layout.remark()
        ),
        legend: Vec::new(),
        source: words::source(plane.results),
    };
    let picture = draw(&words, &layout, apps.len(), &all, words::time_unit(longest), kind);
    Ok(Figure { name: kind.name, title: title.to_string(), about: words.about, picture, data: data(&all) })
}

/// All strips with their places.
fn found<'a>(
    plane: &Plane<'a>,
    kind: &Kind,
    layout: &Layout,
    (rows, apps): (&[Row<'_>], &[&str]),
) -> Vec<Strip<'a>> {
    let mut all = Vec::new();
    for configuration in plane.configurations() {
        for (number, app) in apps.iter().enumerate() {
            for (at, (policy, _)) in rows.iter().enumerate() {
                let found = plane.cell(configuration, policy, app, kind.metric);
                let (panel, row) = layout.place(configuration, at, number);
                all.extend(found.map(|cell| Strip { panel, row, cell, values: values(cell) }));
            }
        }
    }
    all
}

/// What is shown of each policy.
fn shown(plane: &Plane<'_>, kind: &Kind, all: &[Strip<'_>]) -> String {
    let each = match (plane.results.provenance.repeat, all.iter().any(|s| !s.values.is_empty())) {
        (1, _) => "of the only seed",
        (_, false) => "smallest to largest seed, dot: mean, upright line: median",
        (n, true) if n as usize >= BOXED => "a dot for each seed, box: middle half, upright line: median",
        _ => "a dot for each seed, upright line: median",
    };
    let mut what = kind.words.to_owned();
    if let Some(first) = what.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    format!("{what}: {each}")
}

/// A row per replicate where the values are known, else one per cell.
fn data(strips: &[Strip<'_>]) -> Table {
    if strips.iter().all(|strip| strip.values.is_empty()) {
        return Table::of_cells(strips.iter().map(|strip| strip.cell));
    }
    let header = vec!["configuration", "policy", "app", "metric", "unit", "replicate", "value"];
    let swept = figure::swept(&strips.iter().map(|strip| strip.cell).collect::<Vec<_>>());
    let rows = strips.iter().flat_map(|strip| {
        let (c, swept) = (strip.cell, &swept);
        strip.values.iter().enumerate().map(move |(replicate, value)| {
            let words = [&c.configuration, &c.policy, &c.app, &c.metric, &c.unit].map(Clone::clone);
            let numbers = [replicate.to_string(), value.to_string()];
            words.into_iter().chain(numbers).chain(figure::set(c, swept)).collect()
        })
    });
    let rows = rows.collect();
    Table { header, swept, rows }
}

/// What each replicate measured, as far as it could.
fn values(cell: &Cell) -> Vec<f64> {
    cell.values.iter().copied().flatten().collect()
}

fn draw(
    words: &Frame,
    layout: &Layout,
    apps: usize,
    strips: &[Strip<'_>],
    (unit, length): (&str, f64),
    kind: &Kind,
) -> Picture {
    let sheet = layout.sheet(ROW);
    // One axis per application: their times differ by more than policies do.
    let axes: Vec<Option<Axis>> = (0..apps).map(|app| axis(strips, app, layout, length)).collect();
    frame::compose(words, sheet.height, |canvas, body| {
        sheet.write_names(canvas, body);
        for (at, panel) in sheet.within(body).into_iter().enumerate() {
            if sheet.first(at) {
                sheet.write_labels(canvas, body, panel);
            }
            let app = layout.app(at);
            let Some(axis) = axes[app] else { continue };
            let axis = axis.on(panel.x, panel.right());
            frame::lower_axis(canvas, panel, &axis, sheet.foot(at));
            for number in 0..=layout.lines.len() {
                let y = panel.y + number as f64 * ROW;
                canvas.line(&[(panel.x, y), (panel.right(), y)], GRID, 0.5);
            }
            let (colour, mark, _) = series(app);
            for strip in strips.iter().filter(|strip| strip.panel == at) {
                draw_strip(canvas, panel, &axis, strip, length, (colour, mark));
            }
        }
        let known: Vec<&Axis> = axes.iter().flatten().collect();
        let logs = known.iter().filter(|axis| axis.is_log()).count();
        let scale = match logs {
            0 => "",
            n if n == known.len() => " (log scale)",
            _ => " (log scale where the labels grow by factors)",
        };
        frame::axis_title(canvas, body, sheet.left, &format!("{} ({unit}){scale}", kind.words));
    })
}

fn axis(strips: &[Strip<'_>], app: usize, layout: &Layout, length: f64) -> Option<Axis> {
    let own = strips.iter().filter(|strip| layout.app(strip.panel) == app);
    let (low, high) = extremes(own.flat_map(|s| [s.cell.summary.min / length, s.cell.summary.max / length]))?;
    Axis::around([low, high], 0.0, 1.0)
}

fn draw_strip(
    canvas: &mut Canvas,
    panel: Area,
    axis: &Axis,
    strip: &Strip<'_>,
    length: f64,
    (colour, mark): (Colour, Mark),
) {
    let y = panel.y + (strip.row as f64 + 0.5) * ROW;
    let place = |value: f64| axis.place(value / length);
    let s = &strip.cell.summary;
    canvas.line(&[(place(s.min), y), (place(s.max), y)], MUTED, 1.25);
    if strip.values.len() >= BOXED {
        let mut sorted = strip.values.clone();
        sorted.sort_by(f64::total_cmp);
        let (lower, upper) = (place(quantile(&sorted, 0.25)), place(quantile(&sorted, 0.75)));
        let area = Area { x: lower, y: y - 6.0, width: (upper - lower).max(0.5), height: 12.0 };
        canvas.fill(area, colour.mixed(0.25, Colour(255, 255, 255)));
        canvas.frame(area, MUTED, 0.75);
    }
    if s.n > 1 {
        canvas.line(&[(place(s.median), y - 7.0), (place(s.median), y + 7.0)], INK, 1.75);
    }
    if strip.values.is_empty() {
        canvas.mark((place(s.mean), y), mark, 7.0, colour);
    }
    for (number, value) in strip.values.iter().enumerate() {
        // Equal values lie above each other.
        let off = [0.0, -4.0, 4.0][number % 3];
        canvas.mark((place(*value), y + off), mark, 5.5, colour);
    }
}

/// A quantile of sorted values by linear interpolation (Hyndman and Fan, 1996, definition 7).
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * (sorted.len() as f64 - 1.0);
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * (at - at.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_five() {
        let sorted = [1.0, 2.0, 3.0, 4.0, 9.0];
        assert!(
            (quantile(&sorted, 0.25) - 2.0).abs() < 1e-12 && (quantile(&sorted, 0.75) - 4.0).abs() < 1e-12
        );
        assert!((quantile(&[1.0, 2.0], 0.25) - 1.25).abs() < 1e-12);
    }
}
