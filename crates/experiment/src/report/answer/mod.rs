//! The answer first: what was compared, the answer, the ranking over the sweep, slowdowns, causes, doubts and
//! the next commands, in at most 40 lines of at most 100 columns.

mod grid;
mod spread;
mod tables;

use std::io::{self, Write};

use super::View;
use super::text::{footer, replay_line, setting, wrapped};
use crate::number;
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

/// Most lines of doubts.
const MOST_DOUBTS: usize = 5;

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

/// The lines of the answer, with as many doubts as fit.
fn lines(results: &Results, view: &View<'_>) -> Vec<String> {
    let mut most = MOST_DOUBTS;
    loop {
        let lines = with_doubts(results, view, most);
        if lines.len() <= MOST_LINES || most == 1 {
            return lines;
        }
        most -= 1;
    }
}

/// The lines of the answer with at most so many lines of doubts.
fn with_doubts(results: &Results, view: &View<'_>, most: usize) -> Vec<String> {
    let width = view.width.min(MOST_COLUMNS);
    let table = Table::of(results);
    let extremes = Extremes::of(&table);
    let head = title(results, width, view.colour);
    let tail = tail(&table, extremes.as_ref(), view, (width, most));
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
fn tail(
    table: &Table<'_>,
    extremes: Option<&Extremes<'_>>,
    view: &View<'_>,
    (width, most): (usize, usize),
) -> Vec<String> {
    let mut tail = doubted(doubts(table, extremes), (width, most), view.colour);
    let replay = replay_line(table.results);
    tail.extend(replay.into_iter().flat_map(|line| labelled("Replay", &line, width, view.colour)));
    tail.extend(next(table, extremes, view));
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
    commands.push(format!("{}   | all tables: --table full", page(extremes.best.policy)));
    let label = |at: usize| if at == 0 { Ink::Bold.paint("Next", view.colour) } else { "    ".to_owned() };
    let line = |(at, command): (usize, &String)| format!("{}{}{command}", label(at), " ".repeat(LABEL - 4));
    let whole: Vec<String> = commands.iter().enumerate().map(line).collect();
    let mut lines: Vec<String> = whole.iter().flat_map(|line| line.lines()).map(str::to_owned).collect();
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

/// The worst policy and the best one, at the configuration of the worst, in a timeline; `None` when that does
/// not fit a line.
fn look(table: &Table<'_>, extremes: &Extremes<'_>, subject: &str, width: usize) -> Option<String> {
    let configuration = extremes.worst.as_ref().unwrap_or(&extremes.best).configuration;
    let here = &extremes.rankings[configuration];
    let (best, last) = (here.first()?, here.last()?);
    let shown = if best.policy == last.policy {
        best.policy.to_owned()
    } else {
        format!("{},{}", last.policy, best.policy)
    };
    let p = &table.results.provenance;
    let swept = |path: &str| p.sweep.iter().any(|axis| axis.path == path);
    let kept = p.overrides.iter().filter(|change| {
        change.split_once('=').is_some_and(|(path, _)| {
            !swept(path) && !path.starts_with("sweep.") && !["repeat", "seed", "policies"].contains(&path)
        })
    });
    let at = p.sweep.iter().enumerate().filter_map(|(axis, swept)| {
        let value = swept.values.get(*p.configurations.get(configuration)?.places.get(axis)?)?;
        Some(format!("{}={value}", swept.path))
    });
    let mut words: Vec<String> =
        ["oversim", "timeline", subject, "--policy", &shown].map(super::quoted).into();
    for change in kept.cloned().chain(at) {
        words.extend(["--set".to_owned(), super::quoted(&change)]);
    }
    if p.seed != 1 {
        words.extend(["--seed".to_owned(), p.seed.to_string()]);
    }
    // A command without some of its settings would show another experiment: a long one continues on the next
    // line.
    let command = words.join(" ");
    if command.chars().count() <= width {
        return Some(command);
    }
    let (start, settings) = command.split_once(" --set ")?;
    let lines = [format!("{start} \\"), format!("    --set {settings}")];
    let fits = lines.iter().all(|line| line.chars().count() <= width);
    fits.then(|| lines.join(&format!("\n{}", " ".repeat(LABEL))))
}

/// The page of the best policy; the list of all where its label is one of the scenario.
fn page(label: &str) -> String {
    let known = |name: &str| policies::ALL.iter().any(|entry| entry.name.eq_ignore_ascii_case(name));
    if known(label) { format!("oversim explain {label}") } else { "oversim list policies".to_owned() }
}
