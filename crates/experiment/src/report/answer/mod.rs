//! The answer first: what was compared, the answer, the ranking over the sweep, slowdowns, causes, doubts and the next commands, in at
//! most 40 lines of at most 100 columns.

mod grid;
mod tables;

use std::io::{self, Write};

use super::View;
use super::text::{footer, replay_line, setting, wrapped};
use crate::result::Results;
use crate::statements::causes::{Causes, causes, whole};
use crate::statements::doubts::doubts;
use crate::statements::ranking::Standing;
use crate::statements::{Extremes, Table, answer};
use grid::{Entry, GAP, Grid, Ink, fitted};
use tables::grids;

/// Most lines and columns.
pub(super) const MOST_LINES: usize = 40;
pub(super) const MOST_COLUMNS: usize = 100;

/// Columns of the labels at the left.
const LABEL: usize = 10;
/// Lines of the title.
const TITLE: usize = 2;

/// Writes the answer.
pub(super) fn write(results: &Results, out: &mut dyn Write, view: &View<'_>) -> io::Result<()> {
    for line in lines(results, view) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The lines of the answer.
fn lines(results: &Results, view: &View<'_>) -> Vec<String> {
    let width = view.width.min(MOST_COLUMNS);
    let table = Table::of(results);
    let extremes = Extremes::of(&table);
    let head = title(results, width, view.colour);
    let tail = tail(&table, extremes.as_ref(), view, width);
    let reasons = extremes.as_ref().and_then(|e| causes(&table, &e.best, e.worst.as_ref()).map(|c| (e, c)));
    let why: Vec<String> = reasons.map(|(e, c)| why(&table, e, &c, width, view.colour)).unwrap_or_default();
    let grids: Vec<Grid> = extremes.iter().flat_map(|e| grids(&table, e, width)).collect();
    // Empty lines: behind the title, before the causes and before the doubts.
    let fixed = head.len() + why.len() + tail.len() + 2 + usize::from(!why.is_empty());
    let full: usize = grids.iter().map(|grid| 1 + grid.height(usize::MAX, width)).sum();
    let mut answers = answers(&table, extremes.as_ref(), width, view.colour, true);
    if grids.len() > 1 && fixed + answers.len() + full > MOST_LINES {
        // What the table of slowdowns shows as well is left out first.
        answers = self::answers(&table, extremes.as_ref(), width, view.colour, false);
    }
    let tables = fitted(&grids, MOST_LINES.saturating_sub(fixed + answers.len()), width, view.colour);
    let blank = || vec![String::new()];
    let why = if why.is_empty() { why } else { [blank(), why].concat() };
    [head, blank(), answers, tables, why, blank(), tail].concat()
}

/// The statements, those about the program that is slowed most only where there is room.
fn answers(
    table: &Table<'_>,
    extremes: Option<&Extremes<'_>>,
    width: usize,
    colour: bool,
    room: bool,
) -> Vec<String> {
    let Some(extremes) = extremes else {
        return labelled("Answer", "Nothing was measured: no run completed.", width, colour);
    };
    let all = answer::lines(table, extremes);
    let shown = all.iter().filter(|line| room || line.label != answer::FAIRNESS);
    shown.flat_map(|line| labelled(line.label, &line.text, width, colour)).collect()
}

/// Doubts, the fate of a replayed schedule, the next commands.
fn tail(table: &Table<'_>, extremes: Option<&Extremes<'_>>, view: &View<'_>, width: usize) -> Vec<String> {
    let mut tail = labelled("Doubts", &doubts(table, extremes).join(" "), width, view.colour);
    let replay = replay_line(table.results);
    tail.extend(replay.into_iter().flat_map(|line| labelled("Replay", &line, width, view.colour)));
    tail.extend(next(table, extremes, view));
    tail
}

/// Scenario, question, machine and number of runs.
fn title(results: &Results, width: usize, colour: bool) -> Vec<String> {
    let p = &results.provenance;
    let about = if p.about.is_empty() { String::new() } else { format!(": {}", p.about) };
    let text = wrapped(&format!("{}{about}", p.scenario), width);
    let mut lines: Vec<String> = text.lines().take(TITLE).map(str::to_owned).collect();
    if let Some(first) = lines.first_mut() {
        let rest = first.strip_prefix(p.scenario.as_str()).unwrap_or_default().to_owned();
        *first = format!("{}{rest}", Ink::Bold.paint(&p.scenario, colour));
    }
    lines.extend(wrapped(&setting(results), width).lines().map(str::to_owned));
    lines
}

/// A label and a text beside it, in lines.
fn labelled(label: &str, text: &str, width: usize, colour: bool) -> Vec<String> {
    let body = wrapped(text, width - LABEL);
    let each = body.lines().enumerate().map(|(at, line)| {
        let label = if at == 0 { label } else { "" };
        let blank = " ".repeat(LABEL.saturating_sub(label.chars().count()));
        let ink = if label == "Doubts" { Ink::Doubt } else { Ink::Bold };
        format!("{}{blank}{line}", ink.paint(label, colour))
    });
    each.collect()
}

/// Where the cpu time went under the best and the worst, and the largest differences in a sentence.
fn why(
    table: &Table<'_>,
    extremes: &Extremes<'_>,
    causes: &Causes,
    width: usize,
    colour: bool,
) -> Vec<String> {
    let name = |standing: &Standing<'_>| format!("{}{}", standing.policy, table.with(standing.configuration));
    let mut rows = vec![(name(&extremes.best), &causes.first)];
    rows.extend(
        extremes.worst.as_ref().filter(|_| !causes.second.is_empty()).map(|w| (name(w), &causes.second)),
    );
    let head = |line: usize| {
        (String::new(), causes.parts.iter().map(|part| part.head[line].to_owned()).collect::<Vec<String>>())
    };
    let mut grid = Grid::new("Share of the cpu time in %".to_owned(), vec![head(0), head(1)]);
    let entries = |shares: &Vec<f64>| shares.iter().map(|s| Entry::plain(whole(*s).to_string())).collect();
    grid.rows = rows.into_iter().map(|(name, shares)| (name, entries(shares))).collect();
    if grid.head[1].1.iter().all(String::is_empty) {
        grid.head.pop();
    }
    let mut lines = grid.lines(usize::MAX, width, false);
    // The title has its place in the first line of the head.
    let title = grid.title.chars().count();
    if lines[1].chars().take(title + GAP).all(|c| c == ' ') {
        let rest: String = lines[1].chars().skip(title).collect();
        lines.splice(0..2, [format!("{}{rest}", grid.title)]);
    }
    if let Some(first) = lines.first_mut() {
        *first = first.replacen(&grid.title, &Ink::Bold.paint(&grid.title, colour), 1);
    }
    if !causes.text.is_empty() {
        lines.extend(labelled("Why", &causes.text, width, colour));
    }
    lines
}

/// Two commands to go on with.
fn next(table: &Table<'_>, extremes: Option<&Extremes<'_>>, view: &View<'_>) -> Vec<String> {
    let Some(extremes) = extremes else { return vec![footer(table.results)] };
    let mut commands = Vec::new();
    if let Some(subject) = view.subject {
        commands.extend(look(table, extremes, subject, view.width.min(MOST_COLUMNS) - LABEL));
    }
    commands.push(format!("oversim explain {}   | all tables: --table full", extremes.best.policy));
    let label = |at: usize| if at == 0 { Ink::Bold.paint("Next", view.colour) } else { "    ".to_owned() };
    let line = |(at, command): (usize, &String)| format!("{}{}{command}", label(at), " ".repeat(LABEL - 4));
    let mut lines: Vec<String> = commands.iter().enumerate().map(line).collect();
    let footer = footer(table.results);
    let width = view.width.min(MOST_COLUMNS);
    match lines.last_mut() {
        // The footer has its place behind the last command.
        Some(last)
            if LABEL + commands[commands.len() - 1].chars().count() + 3 + footer.chars().count() <= width =>
        {
            last.push_str(&format!(" | {footer}"));
        }
        _ => lines.push(footer),
    }
    lines
}

/// The timeline of the best policy beside the worst one at the same configuration, as far as that fits a line.
fn look(table: &Table<'_>, extremes: &Extremes<'_>, subject: &str, width: usize) -> Option<String> {
    let best = &extremes.best;
    let here = &extremes.rankings[best.configuration];
    let last = here.last().filter(|last| last.policy != best.policy);
    let shown = last.into_iter().chain([best]).map(|s| s.policy).collect::<Vec<_>>().join(",");
    let set = |(axis, varied): (usize, &crate::sweep::Varied)| {
        let value = varied.axis.values.get(table.sweep.place(best.configuration, axis)?)?;
        Some(format!("--set {}", super::quoted(&format!("{}={value}", varied.axis.path))))
    };
    let sets: Option<Vec<String>> = table.sweep.varied.iter().enumerate().map(set).collect();
    let words = ["oversim timeline", &super::quoted(subject), "--policy", &super::quoted(&shown)];
    let bare = words.join(" ");
    let full = [bare.as_str()]
        .into_iter()
        .chain(sets.iter().flatten().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    [full, bare].into_iter().find(|command| command.chars().count() <= width)
}
