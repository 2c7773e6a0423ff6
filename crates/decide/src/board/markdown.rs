//! A board as a page in Markdown.

use std::io::{self, Write};

use notation::neutral;
use notation::number::plural;

use super::text::{head, notes, place, rank};
use super::{Board, Row, State};
use crate::suite::Half;
use crate::suite::ratio::{Ratio, shown};

/// Columns of a scenario in a cell of the table: none is cut.
const WIDE: usize = 200;

/// Writes the page.
///
/// # Errors
/// Of the writer.
pub(super) fn write_markdown(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Leader board\n\n{}\n", neutral::markdown(&head(board)))?;
    policies(board, out)?;
    writeln!(out, "\n## Who wins where\n\n{}\n", wins(board))?;
    let columns = "| scenario | judged by | fastest | time | level with it | next |";
    writeln!(out, "{columns}\n|---|---|---|---:|---|---|")?;
    for row in board.scenarios.iter().filter(|row| row.counts) {
        winner(row, out)?;
    }
    writeln!(out, "\nTimes over that of {}, with 95 % intervals over the seeds.", board.reference)?;
    times(board, out)?;
    reasons(board, out)?;
    writeln!(out, "\n## The scenarios\n")?;
    for row in &board.scenarios {
        let half = match row.half {
            Half::Train => "",
            Half::Holdout => " (hold-out)",
        };
        writeln!(out, "- {}{half}: `{}`", neutral::markdown(&row.cell), row.command.replace('`', "'"))?;
    }
    for (file, sum) in &board.files {
        writeln!(out, "\nPolicy file {}: SHA-256 `{sum}`", neutral::markdown(file))?;
    }
    Ok(())
}

/// The table of policies.
fn policies(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| rank | policy | time | 95 % interval | better | level | worse | first | best in | worst in |"
    )?;
    writeln!(out, "|---:|---|---:|---|---:|---:|---:|---:|---|---|")?;
    for standing in &board.standings {
        let (time, interval) =
            standing.score.map_or(("-".into(), "-".into()), |score| (shown(score.mean), score.interval()));
        let [best, worst] =
            [&standing.best, &standing.worst].map(|at| neutral::markdown(&place(at.as_ref(), WIDE)));
        writeln!(
            out,
            "| {} | {} | {time} | {interval} | {} | {} | {} | {} | {best} | {worst} |",
            rank(standing),
            neutral::markdown(&standing.policy),
            standing.better,
            standing.level,
            standing.worse,
            standing.first,
        )?;
    }
    writeln!(out)?;
    notes(board).iter().try_for_each(|note| writeln!(out, "- {}", neutral::markdown(note)))
}

/// How many policies are the fastest somewhere.
fn wins(board: &Board) -> String {
    let clear = board.scenarios.iter().filter(|row| row.counts && row.level.is_empty()).count();
    let winners: std::collections::BTreeSet<&str> =
        board.scenarios.iter().filter_map(|row| row.best.as_deref()).collect();
    format!(
        "{} the fastest in one scenario or more. In {} of {} the fastest policy is certainly faster than all \
         others, by 1 % or more.",
        if winners.len() == 1 {
            "One policy is".to_owned()
        } else {
            format!("{} are", plural(winners.len(), "policy", "policies"))
        },
        clear,
        plural(board.counted(), "scenario", "scenarios"),
    )
}

fn winner(row: &Row, out: &mut dyn Write) -> io::Result<()> {
    let best = row.entries.iter().find(|entry| Some(&entry.policy) == row.best.as_ref());
    let time = best.and_then(|entry| entry.ratio).map_or_else(|| "-".to_owned(), Ratio::written);
    let next = row.next.as_ref().map_or_else(
        || "-".to_owned(),
        |(name, ratio)| format!("{}: {} times as long", neutral::markdown(name), ratio.written()),
    );
    let level = if row.level.is_empty() { "-".to_owned() } else { neutral::markdown(&row.level.join(", ")) };
    let judged = match row.app.as_str() {
        "all" => row.metric.clone(),
        app => format!("{} of {app}", row.metric),
    };
    writeln!(
        out,
        "| {} | {} | {} | {time} | {level} | {next} |",
        neutral::markdown(&row.cell),
        neutral::markdown(&judged),
        neutral::markdown(row.best.as_deref().unwrap_or("-")),
    )
}

/// All ratios.
fn times(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> =
        board.standings.iter().map(|standing| neutral::markdown(&standing.policy)).collect();
    writeln!(out, "\n## All times\n\nTimes over that of {}.\n", board.reference)?;
    writeln!(out, "| scenario | {} |\n|---|{}", names.join(" | "), "---:|".repeat(names.len()))?;
    for row in &board.scenarios {
        let cells = board.standings.iter().map(|standing| {
            let entry = row.entries.iter().find(|entry| entry.policy == standing.policy);
            match entry {
                Some(entry) if entry.state == State::Refused => "refused".to_owned(),
                Some(entry) if entry.state == State::NotCompleted => "not completed".to_owned(),
                entry => {
                    entry.and_then(|entry| entry.ratio).map_or("-".to_owned(), |ratio| shown(ratio.mean))
                }
            }
        });
        writeln!(out, "| {} | {} |", neutral::markdown(&row.cell), cells.collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}

/// Why results are missing.
fn reasons(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Vec::new();
    for standing in &board.standings {
        for (cell, why) in standing.refused.iter().chain(&standing.not_completed) {
            lines.push(format!(
                "- {}, {}: {}",
                neutral::markdown(&standing.policy),
                neutral::markdown(cell),
                neutral::markdown(why)
            ));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Without result\n")?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of, rows};
    use super::*;

    #[test]
    fn the_page_says_who_wins_where_and_what_is_missing() {
        let board = of::<3>(rows(3, |cell, seed| {
            let scatter = seed as f64 * 0.001;
            [Some(0.0), (cell > 0).then_some(-1.0 + scatter), Some(0.5 + scatter)]
        }));
        let mut out = Vec::new();
        write_markdown(&board, &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        assert!(page.contains("| cell0 | makespan | LOAD | 1.00 (1.00 to 1.00) | - | B: 1.65"), "{page}");
        assert!(
            page.contains("2 policies are the fastest in one scenario or more. In 3 of 3 scenarios"),
            "{page}"
        );
        assert!(page.contains("| cell1 | makespan | A | 0.37"), "{page}");
        assert!(page.contains("- A, cell0: the scenario refuses it"), "{page}");
        assert!(page.contains("| cell0 | 1.00 | 1.65 | refused |"), "{page}");
        assert!(page.contains("`oversim run cell0`"), "{page}");
    }
}
