//! The heat map of a leader board: the time of each policy in each scenario over that of one policy.

use experiment::statements::title::Place;
use experiment::statements::titles::{self, Spot};

use super::Attempt;
use crate::figures::figure::{Figure, Table};
use crate::figures::frame::Frame;
use crate::figures::page::Page;
use crate::figures::tiles::{self, Level, Map, Tile};
use crate::figures::words::number;

/// More policies than this cannot be told apart: as of the columns of other heat maps.
const MOST: usize = 40;

/// What a heat map of a board is drawn of.
#[derive(Clone, PartialEq, Debug)]
pub struct Board {
    /// The scenarios, a row each.
    pub scenarios: Vec<String>,
    /// The policies, a column each.
    pub policies: Vec<String>,
    /// Ratios with the scenario (row) and the policy (column).
    pub values: Vec<(usize, usize, f64)>,
    /// The policy that all are compared with.
    pub reference: String,
    /// What is not drawn and what else is to be known, half a sentence.
    pub setting: String,
    /// What is needed to find it again.
    pub source: String,
    /// The numbers.
    pub data: Table,
}

/// Draws a board.
///
/// # Errors
/// A half-sentence: why there is nothing to draw.
pub fn figure(board: &Board) -> Attempt {
    let Board { scenarios, policies, values, reference, .. } = board;
    if policies.len() > MOST {
        return Err(format!("{} policies do not fit one picture (at most {MOST})", policies.len()));
    }
    let name = |of: &[String], at: usize| of.get(at).cloned().unwrap_or_default();
    let tile = |(row, column, value): &(usize, usize, f64)| Tile {
        panel: 0,
        row: *row,
        column: *column,
        value: *value,
        place: Place::new(format!("{} in {}", name(policies, *column), name(scenarios, *row)), String::new()),
    };
    let spots: Vec<Spot> =
        values.iter().map(tile).map(|tile| Spot { value: tile.value, place: tile.place }).collect();
    // Two decimals fit a tile; the file of numbers beside the picture has them in full.
    let shown = |tile: Tile| Tile { value: ((tile.value * 100.0).round() / 100.0).max(0.01), ..tile };
    let tiles: Vec<Tile> = values.iter().map(tile).map(shown).collect();
    let title = titles::range(&format!("Time over that of {reference}"), &spots, number);
    let title = title.ok_or("no scenario was completed")?;
    let words = Frame {
        page: Page::SCREEN,
        title: title.clone(),
        about: format!(
            "Time of each policy over that of {reference}, mean over the seeds; {}",
            board.setting
        ),
        legend: Vec::new(),
        source: board.source.clone(),
    };
    let map = Map {
        panels: vec![String::new()],
        rows: scenarios.clone(),
        side: "scenario".into(),
        levels: vec![Level { name: "policy".into(), values: policies.clone() }],
        log: values.iter().all(|(.., value)| *value > 0.0),
        tiles,
        scale: format!("time over that of {reference}"),
        length: 1.0,
    };
    let picture = tiles::draw(&words, &map)?;
    let data = board.data.clone();
    Ok(Figure { name: "board", title: title.to_string(), about: words.about, picture, data })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(policies: usize) -> Board {
        Board {
            scenarios: vec!["one".into(), "two".into()],
            policies: (0..policies).map(|at| format!("P{at}")).collect(),
            values: (0..policies).map(|at| (0, at, 1.0 + at as f64)).collect(),
            reference: "P0".into(),
            setting: "3 seeds".into(),
            source: "oversim leaderboard".into(),
            data: Table::default(),
        }
    }

    #[test]
    fn a_board_has_a_tile_for_each_result_and_says_where_the_extremes_are() {
        let drawn = figure(&board(3)).expect("it can be drawn");
        assert!(drawn.title.contains("P0 in one") && drawn.title.contains("P2 in one"), "{}", drawn.title);
        let svg = drawn.picture.svg();
        assert!(svg.contains("two") && svg.contains("3 seeds"), "{svg}");
    }

    #[test]
    fn what_cannot_be_drawn_says_why() {
        assert!(figure(&board(41)).is_err_and(|why| why.contains("41 policies")));
        assert!(figure(&Board { values: Vec::new(), ..board(2) }).is_err());
    }
}
