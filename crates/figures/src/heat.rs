//! Heat maps: pairs of programs against each other where a scenario sweeps both, else policies against the configurations of the sweep.

use drawing::axis::{Axis, extremes};
use drawing::canvas::{Anchor, Area, Canvas, Letters};
use drawing::font;
use drawing::palette::{INK, MUTED, PAPER, sequential};
use experiment::result::Results;

use crate::figure::{Figure, Table};
use crate::frame::{self, Frame, Grid, LABEL, MOST_PANELS, Sizes};
use crate::plane::Plane;
use crate::words::{self, cell, number};
use crate::{Attempt, Refusal};
use experiment::configuration::plain;
use experiment::statements::titles::{self, Spot};

const ROW: f64 = 24.0;
/// More columns than this cannot be told apart.
const MOST_COLUMNS: usize = 40;
/// Most pixels of a column's label that reads upwards.
const MOST_LABEL: f64 = 110.0;

/// A coloured cell.
struct Tile {
    panel: usize,
    row: usize,
    column: usize,
    value: f64,
    /// Who it is about.
    told: String,
}

/// A map in the making.
struct Map {
    panels: Vec<String>,
    rows: Vec<String>,
    columns: Vec<String>,
    /// What rows and columns are.
    sides: [String; 2],
    tiles: Vec<Tile>,
    what: String,
}

/// The map that fits the result.
pub(crate) fn heatmap(results: &Results, plane: &Plane) -> Attempt {
    let map = match pairs(results, plane) {
        Some(map) => map,
        None => by_policy(results, plane)?,
    };
    if map.panels.len() > MOST_PANELS || map.columns.len() > MOST_COLUMNS {
        return Err(Refusal::Pointless(format!(
            "{} maps of {} columns do not fit one picture (at most {MOST_PANELS} of {MOST_COLUMNS})",
            map.panels.len(),
            map.columns.len()
        )));
    }
    let Some(title) = message(&map) else {
        return Err(Refusal::Pointless("no run completed".into()));
    };
    let words = Frame {
        title: title.clone(),
        about: format!("{}; darker is slower; {}{}", map.what, words::setting(results), plane.remark()),
        legend: Vec::new(),
        source: words::source(results),
    };
    let svg = draw(&words, &map).map_err(Refusal::Fault)?;
    let data = data(&map);
    Ok(Figure { name: "heatmap", title, about: words.about, svg, data })
}

/// What is mapped: slowdown, or run time over the shortest one of the same line.
fn metric(results: &Results) -> (&'static str, &'static str) {
    if results.cells.iter().any(|c| c.metric == "slowdown") {
        ("slowdown", "Slowdown (run time / run time alone)")
    } else {
        ("run_time", "Run time over the shortest one")
    }
}

/// Two applications whose programs are swept: rows are the programs of one, columns those of the other.
fn pairs(results: &Results, plane: &Plane) -> Option<Map> {
    let apps: Vec<&str> = results.foreground().collect();
    let [a, b] = apps[..] else { return None };
    let sweep_of = |app: &str| {
        let within = format!("apps.{app}.workload");
        plane.sweep.varied.iter().position(|sweep| sweep.axis.path.starts_with(&within))
    };
    let (across, along) = (sweep_of(a)?, sweep_of(b)?);
    let others: Vec<usize> =
        (0..plane.sweep.varied.len()).filter(|axis| *axis != across && *axis != along).collect();
    let (metric, what) = metric(results);
    let (mut panels, mut tiles) = (Vec::new(), Vec::new());
    for policy in &results.provenance.policies {
        for app in [a, b] {
            for (at, configuration) in plane.configurations.iter().enumerate() {
                let Some(found) = cell(results, configuration, policy, app, metric) else { continue };
                let place = plane.sweep.place(at, across).zip(plane.sweep.place(at, along));
                let Some((row, column)) = place else { continue };
                let setting = plane.sweep.described(at, &others);
                let mut name = format!("{app} beside {}, under {policy}", if app == a { b } else { a });
                if !setting.is_empty() {
                    name = format!("{name}, {setting}");
                }
                let panel = panels.iter().position(|known| *known == name).unwrap_or_else(|| {
                    panels.push(name);
                    panels.len() - 1
                });
                let of = |axis: usize, value: usize| plain(&plane.sweep.varied[axis].axis.values[value]);
                let (mine, other) = (of(across, row), of(along, column));
                let (mine, other) = if app == a { (mine, other) } else { (other, mine) };
                let told = format!("{mine} beside {other} under {policy}");
                tiles.push(Tile { panel, row, column, value: found.summary.mean, told });
            }
        }
    }
    if metric == "run_time" {
        // Of one program beside all others: a line of the map of `a`, a column of that of `b`.
        let own = |tile: &Tile| {
            if panels[tile.panel].starts_with(&format!("{a} beside")) { tile.row } else { tile.column }
        };
        let lines: Vec<(usize, usize)> = tiles.iter().map(|tile| (tile.panel, own(tile))).collect();
        over_the_shortest(&mut tiles, &lines);
    }
    let values = |axis: usize| plane.sweep.varied[axis].axis.values.iter().map(|v| plain(v)).collect();
    let what =
        if metric == "run_time" { "Run time over that beside the program that disturbs least" } else { what };
    Some(Map {
        panels,
        rows: values(across),
        columns: values(along),
        sides: [plane.sweep.varied[across].short.clone(), plane.sweep.varied[along].short.clone()],
        tiles,
        what: what.into(),
    })
}

/// Policies against configurations, a panel per application.
fn by_policy(results: &Results, plane: &Plane) -> Result<Map, Refusal> {
    let policies = &results.provenance.policies;
    if policies.len() < 2 || plane.configurations.len() < 2 {
        return Err(Refusal::Pointless("a map needs two policies and two configurations of a sweep".into()));
    }
    let (metric, what) = metric(results);
    let apps: Vec<&str> = results.foreground().collect();
    let mut tiles = Vec::new();
    for (panel, app) in apps.iter().enumerate() {
        for (row, policy) in policies.iter().enumerate() {
            for (column, configuration) in plane.configurations.iter().enumerate() {
                let found = cell(results, configuration, policy, app, metric);
                let told = || format!("{app} under {policy} at {}", plane.sweep.short(column));
                tiles.extend(found.map(|c| Tile { panel, row, column, value: c.summary.mean, told: told() }));
            }
        }
    }
    if metric == "run_time" {
        let lines: Vec<(usize, usize)> = tiles.iter().map(|tile| (tile.panel, tile.column)).collect();
        over_the_shortest(&mut tiles, &lines);
    }
    let what = if metric == "run_time" {
        "Run time over that under the policy that is fastest at the configuration"
    } else {
        what
    };
    Ok(Map {
        panels: apps.iter().map(|app| (*app).to_owned()).collect(),
        rows: policies.clone(),
        columns: (0..plane.configurations.len())
            .map(|configuration| plane.sweep.values(configuration))
            .collect(),
        sides: [String::new(), plane.sweep.names()],
        tiles,
        what: what.into(),
    })
}

/// Divides each value by the smallest of its line; `lines` tells the line of each tile.
fn over_the_shortest(tiles: &mut [Tile], lines: &[(usize, usize)]) {
    let shortest: Vec<f64> = lines
        .iter()
        .map(|line| {
            let same = tiles.iter().zip(lines).filter(|(_, other)| *other == line);
            same.map(|(tile, _)| tile.value).fold(f64::INFINITY, f64::min)
        })
        .collect();
    for (tile, least) in tiles.iter_mut().zip(shortest) {
        tile.value /= least;
    }
}

fn message(map: &Map) -> Option<String> {
    let spot = |tile: &Tile| Spot { value: tile.value, place: tile.told.clone() };
    titles::range(&map.what, &map.tiles.iter().map(spot).collect::<Vec<_>>(), number)
}

fn data(map: &Map) -> Table {
    let row = |tile: &Tile| {
        let words =
            [&map.panels[tile.panel], &map.rows[tile.row], &map.columns[tile.column]].map(Clone::clone);
        words.into_iter().chain([tile.value.to_string()]).collect()
    };
    Table { header: vec!["map", "row", "column", "value"], rows: map.tiles.iter().map(row).collect() }
}

/// A map with its colour scale.
fn draw(words: &Frame, map: &Map) -> Result<String, String> {
    let (low, high) = extremes(map.tiles.iter().map(|tile| tile.value)).ok_or("no value is finite")?;
    let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
    let (left, labels) = frame::row_labels(map.rows.iter().map(String::as_str));
    let most = if map.columns.len() > 6 { 1 } else { 2 };
    let longest = map.columns.iter().map(|c| font::width(c, LABEL)).fold(0.0, f64::max);
    let sizes = |head, foot| Sizes {
        panels: map.panels.len(),
        most,
        height: ROW * map.rows.len() as f64,
        left,
        own: false,
        head,
        foot,
    };
    let panel = Grid::of(&sizes(0.0, 0.0)).panels[0];
    let wide = panel.width / map.columns.len() as f64;
    let upwards = longest + 6.0 > wide;
    let foot = if upwards { longest.min(MOST_LABEL) + 14.0 } else { 24.0 };
    let (names, head) = frame::names(&map.panels, panel.width);
    let grid = Grid::of(&sizes(head, foot));
    frame::compose(words, grid.height + 44.0, |canvas, body| {
        let inner = Area { height: body.height - 44.0, ..body };
        for (at, panel) in grid.within(inner).into_iter().enumerate() {
            frame::write_name(canvas, panel, &names[at]);
            if grid.first(at) {
                for (number, label) in labels.iter().enumerate() {
                    canvas.text((body.x, panel.y + (number as f64 + 0.5) * ROW), label, Letters::new(LABEL));
                }
            }
            for tile in map.tiles.iter().filter(|tile| tile.panel == at) {
                draw_tile(canvas, panel, tile, wide, (low, high));
            }
            column_labels(canvas, panel, &map.columns, wide, upwards);
        }
        let [rows, columns] = &map.sides;
        let title =
            if rows.is_empty() { columns.clone() } else { format!("rows: {rows}; columns: {columns}") };
        frame::axis_title(canvas, inner, left, &title);
        scale(canvas, body, (low, high));
    })
}

fn draw_tile(canvas: &mut Canvas<'_>, panel: Area, tile: &Tile, wide: f64, (low, high): (f64, f64)) {
    let area = Area {
        x: panel.x + tile.column as f64 * wide,
        y: panel.y + tile.row as f64 * ROW,
        width: wide,
        height: ROW,
    };
    let colour = sequential((tile.value - low) / (high - low));
    canvas.fill(area, colour);
    canvas.frame(area, PAPER, 1.0);
    let text = number(tile.value);
    if font::width(&text, 10.0) + 4.0 < wide {
        let middle = (area.x + wide / 2.0, area.y + ROW / 2.0);
        canvas.text(middle, &text, Letters::new(10.0).at(Anchor::Middle).in_colour(colour.letters()));
    }
}

fn column_labels(canvas: &mut Canvas<'_>, panel: Area, columns: &[String], wide: f64, upwards: bool) {
    for (number, label) in columns.iter().enumerate() {
        let x = panel.x + (number as f64 + 0.5) * wide;
        if upwards {
            let label = font::shortened(label, LABEL, MOST_LABEL);
            let letters = Letters { upwards: true, ..Letters::new(LABEL).at(Anchor::End) };
            canvas.text((x, panel.bottom() + 6.0), &label, letters);
        } else {
            canvas.text((x, panel.bottom() + 11.0), label, Letters::new(LABEL).at(Anchor::Middle));
        }
    }
}

/// The colours with their values, below everything.
fn scale(canvas: &mut Canvas<'_>, body: Area, (low, high): (f64, f64)) {
    let strip = Area { x: body.x + 8.0, y: body.bottom() - 36.0, width: 220.0, height: 12.0 };
    let steps = 44;
    for step in 0..steps {
        let part = f64::from(step) / f64::from(steps - 1);
        let x = strip.x + strip.width * f64::from(step) / f64::from(steps);
        let area = Area { x, width: strip.width / f64::from(steps) + 0.5, ..strip };
        canvas.fill(area, sequential(part));
    }
    canvas.frame(strip, MUTED, 0.75);
    let axis = Axis::exact(low, high, strip.x, strip.right());
    for (value, text) in axis.labels(5) {
        let x = axis.place(value);
        canvas.line(&[(x, strip.bottom()), (x, strip.bottom() + 4.0)], INK, 1.0);
        canvas.text((x, strip.bottom() + 12.0), &text, Letters::new(10.0).at(Anchor::Middle));
    }
}
