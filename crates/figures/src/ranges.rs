//! How much replicates differ: every replicate as a dot, the middle half as a box, by policy and application.

use drawing::axis::{Axis, extremes};
use drawing::canvas::{Area, Canvas, Letters};
use drawing::palette::{Colour, GRID, INK, MUTED, Mark, series};
use experiment::result::{Cell, DEDICATED, Results};
use experiment::statements::{self, titles};

use crate::figure::{Figure, Table};
use crate::frame::{self, Frame, LABEL, Layout, MOST_PANELS, Sheet};
use crate::plane::Plane;
use crate::words::{self, cell};
use crate::{Attempt, Refusal};

/// From so many replicates on there is a box.
const BOXED: usize = 5;
const ROW: f64 = 22.0;

/// A row of a panel: where, and what the replicates measured (only the statistics where the values are not known).
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
}

/// Run times of the replicates.
pub(crate) fn run_time(results: &Results, plane: &Plane) -> Attempt {
    if results.provenance.repeat < 2 {
        return Err(Refusal::Pointless("one replicate has no distribution (`--repeat 5`)".into()));
    }
    let kind = Kind { name: "run-time", metric: "run_time", words: "run time" };
    strips(results, plane, &kind, titles::run_times)
}

/// Mean time from one barrier to the next, by replicate.
pub(crate) fn barrier(results: &Results, plane: &Plane) -> Attempt {
    let kind =
        Kind { name: "barrier", metric: "barrier_interval", words: "mean time from barrier to barrier" };
    strips(results, plane, &kind, titles::barriers)
}

/// The title of a figure.
type Message = fn(&statements::Table<'_>) -> Option<String>;

fn strips(results: &Results, plane: &Plane, kind: &Kind, message: Message) -> Attempt {
    let measured = |policy: &str, app: Option<&str>| {
        let own = results.cells.iter().filter(|c| c.metric == kind.metric && c.policy == policy);
        own.clone().any(|c| app.is_none_or(|app| app == c.app))
    };
    let apps: Vec<&str> = results
        .foreground()
        .filter(|app| results.provenance.policies.iter().any(|policy| measured(policy, Some(app))))
        .collect();
    if apps.is_empty() {
        return Err(Refusal::Pointless(format!("no application has a {}", kind.words)));
    }
    let policies = results.provenance.policies.iter().map(String::as_str);
    let rows: Vec<words::Row<'_>> = [DEDICATED]
        .into_iter()
        .chain(policies)
        .filter(|p| measured(p, None))
        .map(|p| (p, p.to_owned()))
        .collect();
    let layout = Layout::of(plane, &rows)?;
    if apps.len() * layout.panels.len() > MOST_PANELS {
        return Err(frame::too_many(apps.len() * layout.panels.len(), "panels"));
    }
    let mut all = Vec::new();
    for (at, configuration) in plane.configurations.iter().enumerate() {
        for (number, app) in apps.iter().enumerate() {
            for (policy_at, (policy, _)) in rows.iter().enumerate() {
                let found = cell(results, configuration, policy, app, kind.metric);
                let (group, row) = layout.place(at, policy_at);
                let panel = group * apps.len() + number;
                all.extend(found.map(|cell| Strip { panel, row, cell, values: values(cell) }));
            }
        }
    }
    let longest = all.iter().map(|strip| strip.cell.summary.max).fold(0.0, f64::max);
    let (unit, length) = words::time_unit(longest);
    let Some(title) = message(&statements::Table::of(results)) else {
        return Err(Refusal::Pointless("no run completed".into()));
    };
    let each = match (results.provenance.repeat, all.iter().any(|s| !s.values.is_empty())) {
        (1, _) => "the only replicate",
        (_, false) => "least to largest replicate, dot: mean, upright line: median",
        (n, true) if n as usize >= BOXED => "every replicate a dot, box: middle half, upright line: median",
        _ => "every replicate a dot, upright line: median",
    };
    let mut what = kind.words.to_owned();
    if let Some(first) = what.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    let words = Frame {
        title: title.clone(),
        about: format!(
            "{what}: {each}; {}{}",
            words::setting(results),
            plane.remark() + &layout.remark(plane)
        ),
        legend: Vec::new(),
        source: words::source(results),
    };
    let svg = draw(&words, &layout, &apps, &all, (unit, length), kind).map_err(Refusal::Fault)?;
    Ok(Figure { name: kind.name, title, about: words.about, svg, data: data(&all) })
}

/// A row per replicate where the values are known, else one per cell.
fn data(strips: &[Strip<'_>]) -> Table {
    if strips.iter().all(|strip| strip.values.is_empty()) {
        return Table::of_cells(strips.iter().map(|strip| strip.cell));
    }
    let header = vec!["configuration", "policy", "app", "metric", "unit", "replicate", "value"];
    let rows = strips.iter().flat_map(|strip| {
        let c = strip.cell;
        strip.values.iter().enumerate().map(move |(replicate, value)| {
            let words = [&c.configuration, &c.policy, &c.app, &c.metric, &c.unit].map(Clone::clone);
            words.into_iter().chain([replicate.to_string(), value.to_string()]).collect()
        })
    });
    Table { header, rows: rows.collect() }
}

/// What each replicate measured, as far as it could.
fn values(cell: &Cell) -> Vec<f64> {
    cell.values.iter().copied().flatten().collect()
}

fn draw(
    words: &Frame,
    layout: &Layout,
    apps: &[&str],
    strips: &[Strip<'_>],
    (unit, length): (&str, f64),
    kind: &Kind,
) -> Result<String, String> {
    let name = |panel: usize| {
        let configuration = &layout.panels[panel / apps.len()];
        let app = apps[panel % apps.len()];
        if configuration.is_empty() { app.to_owned() } else { format!("{app}, {configuration}") }
    };
    let names: Vec<String> = (0..apps.len() * layout.panels.len()).map(name).collect();
    let most = if apps.len() == 1 { 3 } else { apps.len().min(4) };
    let Sheet { left, labels, names, grid } = layout.sheet(&names, most, ROW);
    // One axis per application: their times differ by more than policies do.
    let axes: Vec<Option<Axis>> = (0..apps.len()).map(|app| axis(strips, app, apps.len(), length)).collect();
    frame::compose(words, grid.height, |canvas, body| {
        for (at, panel) in grid.within(body).into_iter().enumerate() {
            frame::write_name(canvas, panel, &names[at]);
            if grid.first(at) {
                for (number, label) in labels.iter().enumerate() {
                    canvas.text((body.x, panel.y + (number as f64 + 0.5) * ROW), label, Letters::new(LABEL));
                }
            }
            let Some(axis) = axes[at % apps.len()] else { continue };
            let axis = axis.on(panel.x, panel.right());
            frame::lower_axis(canvas, panel, &axis);
            for number in 0..=labels.len() {
                let y = panel.y + number as f64 * ROW;
                canvas.line(&[(panel.x, y), (panel.right(), y)], GRID, 0.5);
            }
            let (colour, mark, _) = series(at % apps.len());
            for strip in strips.iter().filter(|strip| strip.panel == at) {
                draw_strip(canvas, panel, &axis, strip, length, (colour, mark));
            }
        }
        frame::axis_title(canvas, body, left, &format!("{}, {unit}", kind.words));
    })
}

fn axis(strips: &[Strip<'_>], app: usize, apps: usize, length: f64) -> Option<Axis> {
    let own = strips.iter().filter(|strip| strip.panel % apps == app);
    let (low, high) = extremes(own.flat_map(|s| [s.cell.summary.min / length, s.cell.summary.max / length]))?;
    Axis::around([low, high], 0.0, 1.0)
}

fn draw_strip(
    canvas: &mut Canvas<'_>,
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
