//! The phase diagram: over the plane of two swept parameters, which policy is best and by how much.

mod draw;
mod legend;
mod look;

use experiment::number::listed;
use experiment::response::Response;
use experiment::response::map::{Map, MapCell, Side};
use experiment::response::regions;
use experiment::response::winners::{Margin, Winner};

use super::Attempt;
use crate::figures::figure::{Figure, Table};
use crate::figures::frame::Frame;
use crate::figures::origin::Origin;
use crate::figures::plane::Plane;

/// The columns of the numbers.
const COLUMNS: [&str; 17] = [
    "panel",
    "x_parameter",
    "x",
    "y_parameter",
    "y",
    "configurations",
    "metric",
    "unit",
    "best",
    "best_mean",
    "second",
    "second_mean",
    "ratio",
    "ci95_lo",
    "ci95_hi",
    "pairs",
    "significant",
];

/// The phase diagram of what policies are ranked by.
pub(crate) fn phase(plane: &Plane<'_>) -> Attempt {
    if plane.policies.len() < 2 || plane.configurations().len() < 2 {
        return Err("needs two policies and a sweep".into());
    }
    let response = Response::chosen(plane.results, None, None)?;
    figure(&response, &response.map(None, None)?, &Origin { page: plane.page, ..Origin::of(plane.results) })
}

/// The phase diagram of a response.
///
/// # Errors
/// A half-sentence: there are fewer than two policies, or no run completed.
pub fn figure(response: &Response, map: &Map, origin: &Origin) -> Attempt {
    if response.policies.len() < 2 {
        return Err("needs two policies".into());
    }
    if map.winners().is_empty() {
        return Err("no run completed".into());
    }
    let title = regions::title(response, map);
    let words = Frame {
        page: origin.page,
        title: title.clone(),
        about: about(response, map, origin),
        legend: Vec::new(),
        source: origin.source.clone(),
    };
    let picture = draw::draw(&words, response, map);
    Ok(Figure {
        name: "phase",
        title: title.to_string(),
        about: words.about,
        picture,
        data: data(response, map),
    })
}

fn about(response: &Response, map: &Map, origin: &Origin) -> String {
    let what = format!("Best policy by the mean {}", response.what());
    let cells = if map.is_exact() {
        String::new()
    } else {
        "; a cell has all configurations of a class, and its interval is over these".to_owned()
    };
    let together = match map.together.as_slice() {
        [] => String::new(),
        names => format!("; not shown: {}", listed(names)),
    };
    let fixed: String = response.fixed.iter().map(|one| format!("; {one}")).collect();
    // Intervals over configurations need no seeds.
    let setting =
        if map.is_exact() { origin.setting.clone() } else { origin.setting.replace(": no intervals", "") };
    format!("{what}{cells}{together}{fixed}; {setting}")
}

/// A class of a side as the scenario writes its ends.
fn written(side: &Side, at: usize) -> String {
    let [low, high] = &side.classes[at].ends;
    if low == high { low.clone() } else { format!("{low} to {high}") }
}

/// A row for each cell.
fn data(response: &Response, map: &Map) -> Table {
    let optional = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    let row = |cell: &MapCell| {
        let side = |side: &Side, at: usize| [side.name.clone(), written(side, at)];
        let y = map.y.as_ref().map_or_else(Default::default, |y| side(y, cell.row));
        let winner: Option<&Winner> = cell.winner.as_ref();
        let margin: Option<Margin> = winner.and_then(|winner| winner.margin);
        let policy = |at: usize| response.policies[at].clone();
        let ratio = margin.and_then(|margin| margin.ratio);
        let significant = margin.and_then(|margin| margin.significant);
        let [lo, hi] = ratio.and_then(|ratio| ratio.ci95).map_or([None; 2], |ends| ends.map(Some));
        let mut row = vec![map.panels[cell.panel].join(", ")];
        row.extend(side(&map.x, cell.column).into_iter().chain(y));
        row.extend([cell.points.len().to_string(), response.what(), response.unit.clone()]);
        row.extend([
            winner.map_or_else(String::new, |winner| policy(winner.best)),
            optional(winner.map(|winner| winner.mean)),
            winner.and_then(|winner| winner.second).map_or_else(String::new, |(at, _)| policy(at)),
            optional(winner.and_then(|winner| winner.second).map(|(_, mean)| mean)),
            optional(ratio.map(|ratio| ratio.mean)),
            optional(lo),
            optional(hi),
            margin.map_or_else(String::new, |margin| margin.pairs.to_string()),
            significant.map_or("", |known| if known { "yes" } else { "no" }).to_owned(),
        ]);
        row
    };
    Table { header: COLUMNS.to_vec(), rows: map.cells.iter().map(row).collect(), ..Table::default() }
}
