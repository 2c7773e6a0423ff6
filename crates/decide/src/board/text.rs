//! A board for the terminal: at most 30 lines.

use std::io::{self, Write};

use notation::neutral;
use notation::number::plural;
use notation::text::{cut, hanging};

use super::standing::{SHOWN, Standing};
use super::{Board, State};
use crate::suite::ratio::{WORTH, shown};

/// Columns of the text.
const WIDTH: usize = 100;
/// Lines of the text.
const LINES: usize = 30;
/// Columns of the names of policies and scenarios.
const NAME: usize = 12;
const PLACE: usize = 17;

/// Writes the table and what its columns are.
///
/// # Errors
/// Of the writer.
pub(super) fn write_text(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    let mut head = wrapped(&head(board));
    head.push(format!(
        "{:>6} {:<NAME$} {:>6}  {:<14} {:>6} {:>5} {:>5} {:>5}  {:<PLACE$}{}",
        "rank", "policy", "time", "95 % interval", "better", "level", "worse", "first", "best in", "worst in"
    ));
    let mut notes: Vec<String> = notes(board).iter().flat_map(|note| wrapped(note)).collect();
    let all: Vec<String> = board.standings.iter().map(line).collect();
    let room = LINES.saturating_sub(head.len() + notes.len()).max(1);
    let rows = if all.len() <= room { &all[..] } else { &all[..room - 1] };
    if rows.len() < all.len() {
        notes.insert(0, format!("       and {} more: --format markdown", all.len() - rows.len()));
    }
    head.iter().chain(rows).chain(&notes).try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// A text in lines, without what could steer a terminal.
fn wrapped(text: &str) -> Vec<String> {
    hanging(&neutral::line(text), ["", ""], WIDTH)
}

/// What the board is about.
pub(super) fn head(board: &Board) -> String {
    let counted = board.counted();
    format!(
        "{}: {}, {}, {} each ({} runs). Time over {}'s, geometric mean.",
        board.suite,
        plural(counted, "scenario", "scenarios"),
        plural(board.standings.len(), "policy", "policies"),
        plural(board.replicates as usize, "seed", "seeds"),
        board.runs,
        board.reference,
    )
}

/// The rank as a column.
pub(super) fn rank(standing: &Standing) -> String {
    match standing.rank {
        None => "-".to_owned(),
        Some([from, to]) if from == to => from.to_string(),
        Some([from, to]) => format!("{from}-{to}"),
    }
}

/// A scenario with the ratio there.
pub(super) fn place(place: Option<&(String, f64)>, width: usize) -> String {
    place.map_or_else(
        || "-".to_owned(),
        |(cell, ratio)| {
            let ratio = shown(*ratio);
            format!("{} {ratio}", cut(&neutral::line(cell), width.saturating_sub(ratio.len() + 2)))
        },
    )
}

fn line(standing: &Standing) -> String {
    let Standing { better, level, worse, first, .. } = standing;
    let (time, interval) = match standing.score {
        Some(score) => (shown(score.mean), score.interval()),
        None => ("-".to_owned(), "-".to_owned()),
    };
    let name = cut(&neutral::line(&standing.policy), NAME);
    let [best, worst] = [&standing.best, &standing.worst].map(|at| place(at.as_ref(), PLACE));
    format!(
        "{:>6} {name:<NAME$} {time:>6}  {interval:<14} {better:>6} {level:>5} {worse:>5} {first:>5}  \
         {best:<PLACE$}{worst}",
        rank(standing)
    )
}

/// What the columns are, and what is missing.
pub(super) fn notes(board: &Board) -> Vec<String> {
    let mut notes = Vec::new();
    if !board.pairs.is_empty() {
        notes.push(format!(
            "rank: on these scenarios, from behind the policies shown to be faster to before those shown \
             to be slower, by {} % or more ({}, t-tests over seeds, Holm, {} %). Interval: over the {}.",
            WORTH * 100.0,
            plural(board.pairs.len(), "pair", "pairs"),
            SHOWN * 100.0,
            if board.counted() == 1 { "seeds" } else { "scenarios" }
        ));
    }
    notes.push(format!(
        "better, level, worse: scenarios against {} (95 % intervals over the seeds, {} % or more). first: \
         those in which it is the fastest policy or not shown to be slower.",
        board.reference,
        WORTH * 100.0
    ));
    if let Some(missing) = missing(board) {
        notes.push(missing);
    }
    notes
}

/// Scenarios and policies without results: a sentence for each kind.
fn missing(board: &Board) -> Option<String> {
    let mut parts = Vec::new();
    for standing in &board.standings {
        for (what, all) in [("refused", &standing.refused), ("not completed", &standing.not_completed)] {
            match &all[..] {
                [] => {}
                [(cell, _)] => parts.push(format!("{} {what} in {cell}", standing.policy)),
                several => {
                    parts.push(format!("{} {what} in {} scenarios", standing.policy, several.len()));
                }
            }
        }
    }
    let left: Vec<&str> =
        board.scenarios.iter().filter(|row| !row.counts).map(|row| row.cell.as_str()).collect();
    if !left.is_empty() {
        parts.push(format!(
            "{} does not complete {}, which does not count",
            board.reference,
            left.join(", ")
        ));
    }
    let corrected = board.scenarios.iter().flat_map(|row| &row.entries);
    let corrected: Vec<&str> = corrected
        .filter(|entry| entry.state == State::Completed && entry.corrections > 0)
        .map(|entry| entry.policy.as_str())
        .collect();
    let names: std::collections::BTreeSet<&str> = corrected.into_iter().collect();
    if !names.is_empty() {
        let names: Vec<&str> = names.into_iter().collect();
        parts.push(format!("the engine corrected decisions of {}", names.join(", ")));
    }
    (!parts.is_empty()).then(|| format!("Without result: {}.", parts.join("; ")))
}

impl Board {
    /// The scenarios that count.
    #[must_use]
    pub fn counted(&self) -> usize {
        self.scenarios.iter().filter(|row| row.counts).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of, rows};
    use super::*;

    fn text(board: &Board) -> String {
        let mut out = Vec::new();
        write_text(board, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_table_has_thirty_lines_at_most_and_says_what_its_columns_are() {
        let board = of::<3>(rows(12, |cell, seed| {
            let scatter = if (cell + seed) % 2 == 0 { 0.02 } else { -0.02 };
            [Some(0.0), Some(-2.3 + scatter / 2.0), Some(scatter)]
        }));
        let page = text(&board);
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
        assert!(page.contains("     1 A              0.10"), "{page}");
        assert!(
            page.contains("12 scenarios, 3 policies, 3 seeds each (9 runs)") && page.contains("3 pairs"),
            "{page}"
        );
        let mut many = board.clone();
        many.standings = (0..60).map(|_| board.standings[0].clone()).collect();
        let page = text(&many);
        assert_eq!(page.lines().count(), LINES, "{page}");
        assert!(page.contains("more: --format markdown"), "{page}");
    }

    #[test]
    fn what_is_missing_is_said() {
        let board = of::<2>(rows(4, |cell, _| [(cell != 2).then_some(0.0), (cell > 0).then_some(-3.0)]));
        let page = text(&board);
        assert!(
            page.contains("A refused in cell0") && page.contains("LOAD does not complete cell2"),
            "{page}"
        );
        assert!(page.contains("     - A"), "{page}");
    }
}
