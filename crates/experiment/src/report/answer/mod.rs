//! The answer first: what was compared, the answer, the ranking over the sweep, slowdowns, causes, doubts and
//! the next commands, in at most 40 lines of at most 100 columns.

mod grid;
mod next;
mod spread;
mod tables;

use std::io::{self, Write};

use notation::neutral;

use super::text::{replay_line, setting, wrapped};
use crate::export::{Exporter, Form, View};
use crate::number;
use crate::result::{Results, counted};
use crate::statements::causes::{Causes, PARTS, Pair, causes, whole};
use crate::statements::doubts::doubts;
use crate::statements::ranking::Standing;
use crate::statements::{Extremes, Statement, Table, answer};
use grid::{Entry, GAP, Grid, Ink, fitted};
use tables::grids;

/// Most lines and columns.
pub(super) const MOST_LINES: usize = 40;
pub(super) const MOST_COLUMNS: usize = 100;

/// Most lines of doubts.
const MOST_DOUBTS: usize = 5;

/// Columns of the labels at the left.
const LABEL: usize = 10;
/// Lines of the title.
const TITLE: usize = 2;
/// Columns that the names of cases get beside their shares of the cpu time.
const LEAST_ROW: usize = 12;
const MOST_ROW: usize = 40;
/// Columns of shares at most, and those that are shown however long the names are.
const MOST_PARTS: usize = 6;
const LEAST_PARTS: usize = 2;

/// The answer, or all tables.
#[derive(Debug)]
pub(super) struct Text;

impl Exporter<Results> for Text {
    fn form(&self) -> Form {
        Form { name: "text", file: Some("report.txt"), about: "A report to read" }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, view: &View<'_>) -> io::Result<()> {
        let mut lines = Vec::new();
        if view.full {
            super::text::write(results, &mut lines, view.width)?;
        } else {
            for line in self::lines(results, view) {
                writeln!(lines, "{line}")?;
            }
        }
        // The names come from files.
        let text = String::from_utf8_lossy(&lines);
        let shown = if view.colour { neutral::coloured(&text).into() } else { neutral::lines(&text) };
        out.write_all(shown.as_bytes())
    }
}

/// The lines of the answer, with as many doubts as fit. At full width, the statement about each axis of a
/// sweep is left out if there are still too many lines.
fn lines(results: &Results, view: &View<'_>) -> Vec<String> {
    for most in (1..=MOST_DOUBTS).rev() {
        let lines = limited(results, view, most, &|_| false);
        if lines.len() <= MOST_LINES || most == 1 && view.width < MOST_COLUMNS {
            return lines;
        }
    }
    limited(results, view, 1, &|statement| matches!(statement, Statement::Sweep(_)))
}

/// Which statements are left out.
type Without<'f> = &'f dyn Fn(&Statement<'_>) -> bool;

/// The lines of the answer with at most `most` lines of doubts.
fn limited(results: &Results, view: &View<'_>, most: usize, without: Without<'_>) -> Vec<String> {
    let width = view.width.min(MOST_COLUMNS);
    let table = Table::of(results);
    let extremes = Extremes::of(&table);
    let head = title(results, width, view.colour);
    let pair = extremes.as_ref().map(|extremes| Pair::of(&table, extremes));
    let causes = pair.as_ref().and_then(|pair| causes(&table, pair));
    let reasons = pair.as_ref().zip(causes.as_ref());
    let tail = tail(&table, extremes.as_ref().zip(pair.as_ref()), causes.as_ref(), view, (width, most));
    let why: Vec<String> = reasons.map(|(p, c)| why(&table, p, c, width, view.colour)).unwrap_or_default();
    let grids: Vec<Grid> = extremes.iter().flat_map(|e| grids(&table, e, width)).collect();
    // Empty lines: behind the title, before the causes and before the doubts.
    let fixed = head.len() + why.len() + tail.len() + 2 + usize::from(!why.is_empty());
    let full: usize = grids.iter().map(|grid| 1 + grid.height(usize::MAX, width)).sum();
    let mut answers = answers(&table, extremes.as_ref(), width, view.colour, without);
    if grids.len() > 1 && fixed + answers.len() + full > MOST_LINES {
        // What the table of slowdowns shows as well is left out first.
        let minor = |one: &Statement<'_>| matches!(one, Statement::Fairness(_) | Statement::Locks { .. });
        let without = |one: &Statement<'_>| minor(one) || without(one);
        answers = self::answers(&table, extremes.as_ref(), width, view.colour, &without);
    }
    let tables = fitted(&grids, MOST_LINES.saturating_sub(fixed + answers.len()), width, view.colour);
    let blank = || vec![String::new()];
    let why = if why.is_empty() { why } else { [blank(), why].concat() };
    [head, blank(), answers, tables, why, blank(), tail].concat()
}

/// The statements, without some of them.
fn answers<'a>(
    table: &Table<'a>,
    extremes: Option<&Extremes<'a>>,
    width: usize,
    colour: bool,
    without: Without<'_>,
) -> Vec<String> {
    let Some(extremes) = extremes else {
        return labelled("Answer", answer::nothing(table.results), width, colour);
    };
    let all = answer::statements(table, extremes);
    let shown = all.iter().filter(|statement| !without(statement));
    debug_assert!(shown.clone().all(|one| Statement::LABELS.contains(&one.label())));
    shown.flat_map(|one| labelled(one.label(), &one.text(table), width, colour)).collect()
}

/// Doubts, the fate of a replayed schedule, what policies have counted, the next commands.
fn tail(
    table: &Table<'_>,
    answer: Option<(&Extremes<'_>, &Pair<'_>)>,
    causes: Option<&Causes>,
    view: &View<'_>,
    (width, most): (usize, usize),
) -> Vec<String> {
    let extremes = answer.map(|(extremes, _)| extremes);
    let mut tail = doubted(doubts(table, extremes), (width, most), view.colour);
    let replay = replay_line(table.results);
    tail.extend(replay.into_iter().flat_map(|line| labelled("Replay", &line, width, view.colour)));
    let counted = counted::brief(table.results);
    tail.extend(counted.into_iter().flat_map(|line| labelled("Counters", &line, width, view.colour)));
    // Where there is no room for doubts, one command is enough.
    tail.extend(next::lines(table, answer, causes, view, if most > 1 { next::MOST } else { 1 }));
    tail
}

/// The doubts that fit, the most serious ones, and how many more there are.
fn doubted(mut doubts: Vec<String>, (width, most): (usize, usize), colour: bool) -> Vec<String> {
    let all = doubts.len();
    loop {
        let more = match all - doubts.len() {
            0 => String::new(),
            more => format!(" {}: --table full.", number::plural(more, "more doubt", "more doubts")),
        };
        let lines = labelled("Doubts", &(doubts.join(" ") + &more), width, colour);
        if lines.len() <= most || doubts.len() < 2 {
            return lines;
        }
        doubts.pop();
    }
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

/// The parts of the cpu time that get a column, in the order of tables: useful work and the most important
/// ones that fit beside each other, with room for what has none.
fn columns(causes: &Causes, room: usize) -> Vec<usize> {
    let wide = |at: &usize| causes.parts[*at].head.iter().map(|head| head.len()).max().unwrap_or(0) + GAP;
    let other = "other".len() + GAP;
    let mut used = if causes.parts.len() > MOST_PARTS { other } else { 0 };
    let mut shown: Vec<usize> = Vec::new();
    for at in 0..causes.parts.len().min(MOST_PARTS) {
        used += wide(&at);
        if used <= room || at <= LEAST_PARTS {
            shown.push(at);
        }
    }
    let place = |at: &usize| PARTS.iter().position(|part| *part == causes.parts[*at]);
    shown.sort_by_key(place);
    shown
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

/// Where the cpu time went in the two cases that are compared, and the largest differences in a sentence.
fn why(table: &Table<'_>, pair: &Pair<'_>, causes: &Causes, width: usize, colour: bool) -> Vec<String> {
    let to = pair.to.as_ref().filter(|_| !causes.second.is_empty());
    // What both have in common stands in the title.
    let place = |of: &Standing<'_>| {
        let other = if of == &pair.from { to.unwrap_or(of) } else { &pair.from };
        table.sweep.differing(of.configuration, other.configuration)
    };
    let name = |of: &Standing<'_>| match place(of) {
        place if place.is_empty() => of.policy.to_owned(),
        place => format!("{} with {place}", of.policy),
    };
    let mut rows = vec![(name(&pair.from), &causes.first)];
    rows.extend(to.map(|to| (name(to), &causes.second)));
    let common = match to {
        Some(to) => table.sweep.common(pair.from.configuration, to.configuration),
        None => table.sweep.short(pair.from.configuration),
    };
    let common = if common.is_empty() { common } else { format!(", {common}") };
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(names.clamp(LEAST_ROW, MOST_ROW));
    let shown = columns(causes, room);
    // What has no column: the rest of each row, so that the row adds up.
    let rest = |shares: &[f64]| -> f64 {
        shares.iter().enumerate().filter(|(at, _)| !shown.contains(at)).map(|(_, share)| share).sum()
    };
    let others = rows.iter().any(|(_, shares)| whole(rest(shares)) > 0);
    let head = |line: usize| {
        let parts = shown.iter().map(|at| causes.parts[*at].head[line].to_owned());
        let other = others.then(|| if line == 0 { "other".to_owned() } else { String::new() });
        (String::new(), parts.chain(other).collect::<Vec<String>>())
    };
    let mut grid = Grid::new(format!("Share of the cpu time in %{common}"), vec![head(0), head(1)]);
    let entry = |share: f64| Entry::plain(whole(share).to_string());
    let entries = |shares: &[f64]| {
        let parts = shown.iter().map(|at| entry(shares[*at]));
        parts.chain(others.then(|| entry(rest(shares)))).collect()
    };
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
