//! Heat maps: pairs of programs against each other where a scenario sweeps both, else policies against the
//! configurations of the sweep.

use crate::canvas::axis::extremes;
use experiment::metrics::ALL_APPS;
use experiment::statements::ranking::{self, Goal};
use experiment::statements::title::Place;
use experiment::statements::titles::{self, Spot};
use scenario::configuration::plain;

use super::Attempt;
use crate::figures::axis_names;
use crate::figures::figure::{Figure, Table};
use crate::figures::frame::Frame;
use crate::figures::plane::Plane;
use crate::figures::tiles::{self, Level, Map, Tile};
use crate::figures::words::{self, number, seconds};

/// More columns than this cannot be told apart.
const MOST_COLUMNS: usize = 40;
/// More maps than this do not fit one picture.
const MOST_MAPS: usize = 16;
/// Values that span more than this factor get a logarithmic scale of colours.
const WIDE: f64 = 10.0;

/// What the values are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    /// Run time over that alone.
    Slowdown,
    /// Run time.
    Time,
    /// Run time over the shortest one of its column.
    OfColumn,
    /// Run time over the shortest one of the same program.
    OfProgram,
}

impl Measure {
    /// The beginning of the title.
    const fn title(self) -> &'static str {
        match self {
            Self::Slowdown => "Slowdown",
            Self::Time => "Run time",
            Self::OfColumn => "Run time / shortest of its column",
            Self::OfProgram => "Run time / shortest of the same program",
        }
    }

    /// What is shown.
    fn about(self, plane: &Plane<'_>) -> String {
        match self {
            Self::Slowdown => "Run time over that of the application alone".into(),
            Self::Time => "Mean run time".into(),
            Self::OfColumn if ranking::work_differs(&plane.index) => {
                "Each run time is divided by the shortest one of its column, because the work differs \
                    between columns"
                    .into()
            }
            Self::OfColumn => {
                "Each run time is divided by the shortest one of its column, because the work of the \
                    columns cannot be compared"
                    .into()
            }
            Self::OfProgram => {
                "Each run time is divided by the shortest one of the same program under the same \
                    policy"
                    .into()
            }
        }
    }
}

/// The map that fits the result.
pub(crate) fn heatmap(plane: &Plane<'_>) -> Attempt {
    let (map, measure) = match pairs(plane) {
        Some(found) => found,
        None => by_policy(plane)?,
    };
    if map.panels.len() > MOST_MAPS || map.columns() > MOST_COLUMNS {
        return Err(format!(
            "{} maps of {} columns do not fit one picture (at most {MOST_MAPS} of {MOST_COLUMNS}): sweep \
                fewer values, or fix \
             some with --set",
            map.panels.len(),
            map.columns()
        ));
    }
    let spot = |tile: &Tile| Spot { value: tile.value, place: tile.place.clone() };
    let spots: Vec<Spot> = map.tiles.iter().map(spot).collect();
    let title = match measure {
        Measure::Slowdown => titles::range(measure.title(), &spots, number),
        Measure::Time => titles::range(measure.title(), &spots, seconds),
        Measure::OfColumn | Measure::OfProgram => titles::most(measure.title(), &spots, number),
    };
    let Some(title) = title else {
        return Err("no run completed".into());
    };
    let words = Frame {
        page: plane.page,
        title: title.clone(),
        about: format!("{}; {}{}", measure.about(plane), words::setting(plane.results), plane.remark()),
        legend: Vec::new(),
        source: words::source(plane.results),
    };
    let picture = tiles::draw(&words, &map)?;
    let data = data(&map);
    Ok(Figure { name: "heatmap", title: title.to_string(), about: words.about, picture, data })
}

/// What is mapped: slowdown, or run time where no application ran alone.
fn metric(plane: &Plane<'_>) -> &'static str {
    if plane.measures("slowdown") { "slowdown" } else { "run_time" }
}

/// Two applications whose programs are swept: rows are the programs of one, columns those of the other.
fn pairs(plane: &Plane<'_>) -> Option<(Map, Measure)> {
    let apps: Vec<&str> = plane.results.foreground().collect();
    let [a, b] = apps[..] else { return None };
    let sweep = plane.sweep();
    let sweep_of = |app: &str| {
        let within = format!("apps.{app}.workload");
        sweep.varied.iter().position(|sweep| sweep.axis.path.starts_with(&within))
    };
    let sides = (sweep_of(a)?, sweep_of(b)?);
    let (panels, mut tiles) = paired(plane, [a, b], sides);
    let mut measure = Measure::Slowdown;
    if metric(plane) == "run_time" {
        measure = Measure::OfProgram;
        // Of one program beside all others: a row of the map of `a`, a column of that of `b`.
        let own = |tile: &Tile| {
            if panels[tile.panel].starts_with(&format!("{a} beside")) { tile.row } else { tile.column }
        };
        let lines: Vec<(usize, usize)> = tiles.iter().map(|tile| (tile.panel, own(tile))).collect();
        over_the_shortest(&mut tiles, &lines);
    }
    let values = |axis: usize| sweep.varied[axis].axis.values.iter().map(|v| plain(v)).collect();
    let names = axis_names::names(&sweep.varied);
    let name = |axis: usize| short(plane, &names, axis);
    let map = Map {
        panels,
        rows: values(sides.0),
        side: name(sides.0),
        levels: vec![Level { name: name(sides.1), values: values(sides.1) }],
        log: is_log(&tiles),
        tiles,
        scale: scale(measure, 1.0).0,
        length: 1.0,
    };
    Some((map, measure))
}

/// The maps of pairs with their tiles: one for each policy, application and setting of the other parameters.
fn paired(plane: &Plane<'_>, [a, b]: [&str; 2], (across, along): (usize, usize)) -> (Vec<String>, Vec<Tile>) {
    let (sweep, metric) = (plane.sweep(), metric(plane));
    let others: Vec<usize> =
        (0..sweep.varied.len()).filter(|axis| *axis != across && *axis != along).collect();
    let program = |axis: usize, value: usize| plain(&sweep.varied[axis].axis.values[value]);
    let (mut panels, mut tiles): (Vec<String>, Vec<Tile>) = (Vec::new(), Vec::new());
    for policy in &plane.policies {
        for (app, other) in [(a, b), (b, a)] {
            for at in plane.configurations() {
                let Some(found) = plane.cell(at, policy, app, metric) else { continue };
                let Some((row, column)) = sweep.place(at, across).zip(sweep.place(at, along)) else {
                    continue;
                };
                let setting = sweep.described(at, &others);
                let setting = if setting.is_empty() { setting } else { format!(", {setting}") };
                let name = format!("{app} beside {other}, under {policy}{setting}");
                let panel = panels.iter().position(|known| *known == name).unwrap_or_else(|| {
                    panels.push(name);
                    panels.len() - 1
                });
                let (mine, beside) = (program(across, row), program(along, column));
                let (mine, beside) = if app == a { (mine, beside) } else { (beside, mine) };
                let who = format!("{mine} beside {beside} under {policy}");
                let place = Place::new(who, String::new());
                tiles.push(Tile { panel, row, column, value: found.summary.mean, place });
            }
        }
    }
    (panels, tiles)
}

/// Policies against configurations, a panel per application.
fn by_policy(plane: &Plane<'_>) -> Result<(Map, Measure), String> {
    if plane.policies.len() < 2 || plane.configurations().len() < 2 {
        return Err("needs two policies and a sweep".into());
    }
    let metric = metric(plane);
    let columns = columns(plane);
    let apps: Vec<&str> = plane.results.foreground().collect();
    let mut tiles = Vec::new();
    for (panel, app) in apps.iter().enumerate() {
        for (row, policy) in plane.policies.iter().enumerate() {
            for (column, configuration) in columns.iter().enumerate() {
                let found = plane.cell(*configuration, policy, app, metric);
                let who = format!("{app} under {policy}");
                let place = || Place::new(who.clone(), plane.index.sweep.short(*configuration));
                tiles.extend(found.map(|c| Tile {
                    panel,
                    row,
                    column,
                    value: c.summary.mean,
                    place: place(),
                }));
            }
        }
    }
    let times = Goal { app: ALL_APPS.to_owned(), metric: "run_time", objective: None };
    let measure = match metric {
        "slowdown" => Measure::Slowdown,
        _ if ranking::comparable(&plane.index, &times) => Measure::Time,
        _ => Measure::OfColumn,
    };
    if measure == Measure::OfColumn {
        let lines: Vec<(usize, usize)> = tiles.iter().map(|tile| (tile.panel, tile.column)).collect();
        over_the_shortest(&mut tiles, &lines);
    }
    let longest = tiles.iter().map(|tile| tile.value).fold(0.0, f64::max);
    let (scale, length) = scale(measure, longest);
    let map = Map {
        panels: apps.iter().map(|app| (*app).to_owned()).collect(),
        rows: plane.policies.iter().map(|policy| (*policy).to_owned()).collect(),
        side: String::new(),
        levels: levels(plane, &columns),
        log: is_log(&tiles),
        tiles,
        scale,
        length,
    };
    Ok((map, measure))
}

/// What the scale of colours measures, and the length of its unit.
fn scale(measure: Measure, longest: f64) -> (String, f64) {
    match measure {
        Measure::Slowdown => ("slowdown".into(), 1.0),
        Measure::Time => {
            let (unit, length) = words::time_unit(longest);
            (format!("run time ({unit})"), length)
        }
        Measure::OfColumn => ("run time / shortest of its column".into(), 1.0),
        Measure::OfProgram => ("run time / shortest of the same program".into(), 1.0),
    }
}

/// The configurations in the order of the values of the first parameter, then those of the second one, and so
/// on.
fn columns(plane: &Plane<'_>) -> Vec<usize> {
    let places = |at: &usize| {
        (0..plane.sweep().varied.len()).map(|axis| plane.sweep().place(*at, axis)).collect::<Vec<_>>()
    };
    let mut columns: Vec<usize> = plane.configurations().collect();
    columns.sort_by_key(places);
    columns
}

/// The name of a parameter beside a map, where long ones have no room.
fn short(plane: &Plane<'_>, names: &[String], axis: usize) -> String {
    let most = plane.page.left(tiles::MOST_LEFT);
    axis_names::within(&names[axis], &plane.sweep().varied[axis].axis.path, most)
}

/// The values of each parameter in each column; the last parameter, which changes from column to column,
/// first.
fn levels(plane: &Plane<'_>, columns: &[usize]) -> Vec<Level> {
    let sweep = plane.sweep();
    let names = axis_names::names(&sweep.varied);
    let level = |axis: usize| Level {
        name: short(plane, &names, axis),
        values: columns.iter().map(|at| sweep.value(*at, axis).unwrap_or_default()).collect(),
    };
    (0..sweep.varied.len()).rev().map(level).collect()
}

/// Divides each value by the smallest of its line; `lines` names the line of each tile.
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

/// Whether the values span so large a factor that their ratios are shown.
fn is_log(tiles: &[Tile]) -> bool {
    extremes(tiles.iter().map(|tile| tile.value)).is_some_and(|(low, high)| low > 0.0 && high / low > WIDE)
}

fn data(map: &Map) -> Table {
    let row = |tile: &Tile| {
        let words = [map.panels[tile.panel].clone(), map.rows[tile.row].clone(), map.column(tile.column)];
        words.into_iter().chain([tile.value.to_string()]).collect()
    };
    let rows = map.tiles.iter().map(row).collect();
    Table { header: vec!["map", "row", "column", "value"], rows, ..Table::default() }
}
