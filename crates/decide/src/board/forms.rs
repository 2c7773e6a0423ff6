//! The forms in which a board is written.

use std::io::{self, Write};

use experiment::export::Exported;
use notation::neutral;

use super::Board;
use super::markdown::write_markdown;
use super::text::write_text;
use crate::matrix::Written;

/// The forms of a board.
pub const FORMATS: &[Exported<Board>] = &[
    &Written { name: "text", about: "The ranking, in at most 30 lines", write: write_text },
    &Written {
        name: "markdown",
        about: "A page: the ranking, who wins where, all times",
        write: write_markdown,
    },
    &Written { name: "csv", about: "A line for each scenario and policy", write: write_csv },
    &Written { name: "json", about: "Everything, also all pairs of policies", write: write_json },
];

/// The columns of [`Board::rows`].
pub const COLUMNS: [&str; 9] =
    ["scenario", "policy", "state", "metric", "mean", "ratio", "low", "high", "longest_wait"];

impl Board {
    /// A row of text for each scenario and policy: what the policy reached, its time over that of the
    /// reference with the ends of the interval, and the longest wait of a task for a cpu in s.
    #[must_use]
    pub fn rows(&self) -> Vec<[String; 9]> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
        let mut rows = Vec::new();
        for row in &self.scenarios {
            for entry in &row.entries {
                let state = serde_json::to_value(entry.state).ok();
                let state = state.and_then(|state| state.as_str().map(str::to_owned)).unwrap_or_default();
                let ratio = entry.ratio;
                rows.push([
                    row.cell.clone(),
                    entry.policy.clone(),
                    state,
                    row.metric.clone(),
                    entry.mean.map_or_else(String::new, |mean| format!("{mean:.6e}")),
                    number(ratio.map(|ratio| ratio.mean)),
                    number(ratio.and_then(|ratio| ratio.low)),
                    number(ratio.and_then(|ratio| ratio.high)),
                    format!("{:.6}", entry.longest_wait),
                ]);
            }
        }
        rows
    }
}

fn write_csv(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    board.rows().iter().try_for_each(|row| {
        let cells: Vec<_> = row.iter().map(|text| neutral::cell(text)).collect();
        writeln!(out, "{}", cells.join(","))
    })
}

fn write_json(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, board)?;
    writeln!(out)
}
