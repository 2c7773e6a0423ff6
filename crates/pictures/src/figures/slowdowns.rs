//! The heat map of a matrix of programs: how much longer each takes beside each other one.

use experiment::statements::title::Place;
use experiment::statements::titles::{self, Spot};

use super::Attempt;
use crate::figures::figure::{Figure, Table};
use crate::figures::frame::Frame;
use crate::figures::page::Page;
use crate::figures::tiles::{self, Level, Map, Tile};
use crate::figures::words::number;

/// More programs than this cannot be told apart: as of the columns of other heat maps.
const MOST: usize = 40;

/// What a heat map of slowdowns is drawn of.
#[derive(Clone, PartialEq, Debug)]
pub struct Slowdowns {
    /// The programs.
    pub programs: Vec<String>,
    /// Slowdowns with the program (row) that suffers and the one beside it (column).
    pub values: Vec<(usize, usize, f64)>,
    /// Machine and policy, half a sentence.
    pub setting: String,
    /// What is needed to find it again.
    pub source: String,
    /// The numbers.
    pub data: Table,
}

/// Draws slowdowns.
///
/// # Errors
/// A half-sentence: why there is nothing to draw.
pub fn figure(slowdowns: &Slowdowns) -> Attempt {
    let Slowdowns { programs, values, .. } = slowdowns;
    if programs.len() > MOST {
        return Err(format!("{} programs do not fit one picture (at most {MOST})", programs.len()));
    }
    let name = |at: usize| programs.get(at).map_or("", String::as_str);
    let tile = |(row, column, value): &(usize, usize, f64)| Tile {
        panel: 0,
        row: *row,
        column: *column,
        value: *value,
        place: Place::new(format!("{} beside {}", name(*row), name(*column)), String::new()),
    };
    let tiles: Vec<Tile> = values.iter().map(tile).collect();
    let spots: Vec<Spot> =
        tiles.iter().map(|tile| Spot { value: tile.value, place: tile.place.clone() }).collect();
    let title = titles::range("Slowdown", &spots, number).ok_or("no pair of programs completed")?;
    let words = Frame {
        page: Page::SCREEN,
        title: title.clone(),
        about: format!(
            "Run time of the row's program beside the column's, over that alone; {}",
            slowdowns.setting
        ),
        legend: Vec::new(),
        source: slowdowns.source.clone(),
    };
    let map = Map {
        panels: vec![String::new()],
        rows: programs.clone(),
        side: "program".into(),
        levels: vec![Level { name: "beside".into(), values: programs.clone() }],
        log: false,
        tiles,
        scale: "slowdown".into(),
        length: 1.0,
    };
    let picture = tiles::draw(&words, &map)?;
    let data = slowdowns.data.clone();
    Ok(Figure { name: "matrix", title: title.to_string(), about: words.about, picture, data })
}
