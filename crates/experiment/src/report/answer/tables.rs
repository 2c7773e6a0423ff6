//! The two tables of the answer: the ranking over the sweep, and slowdowns or run times of each program.

use std::collections::BTreeSet;

use super::grid::{Entry, GAP, Grid, Ink, NAME};
use super::spread;
use crate::number;
use crate::references::{BEST_PARTITION, FAIR_SHARE};
use crate::result::Results;
use crate::statements::doubts::is_wide;
use crate::statements::ranking::{self, Mark, Standing};
use crate::statements::table::{error, input_error, mean};
use crate::statements::{Extremes, Table};
use crate::statistics::Summary;
use notation::text::cut;

/// Columns of a cell of the ranking with its gap, with and without the error.
const CELLS: [usize; 2] = [15, 10];
/// Columns of the error that uncertain inputs add.
const INPUT: usize = 7;
/// Columns of a cell of the second table with its gap.
const RATIO: usize = 8;
/// More columns where each value has its interval.
const ERROR: usize = 6;
/// Columns for the names of configurations where these are the rows.
const WORDS: usize = 40;
/// Longest value above a column.
const HEAD: usize = 24;

/// The tables that the result has: the ranking, and slowdowns or run times of each program.
pub(super) fn grids<'a>(table: &Table<'a>, extremes: &Extremes<'a>, width: usize) -> Vec<Grid> {
    let rows = rows(table, extremes);
    let mut grids = vec![ranking(table, extremes, &rows, width)];
    grids.extend(spread::distribution(table, extremes, &rows));
    grids.extend(spread::cpu_shares(table, extremes, &rows, width));
    grids.extend(programs(table, extremes, &rows, width));
    grids.into_iter().map(Grid::with_gaps).collect()
}

/// The policies in the order of the configuration of the best, then those that were not measured there.
fn rows<'a>(table: &Table<'a>, extremes: &Extremes<'a>) -> Vec<&'a str> {
    let here = extremes.rankings.get(extremes.best.configuration);
    let mut rows: Vec<&'a str> = here.into_iter().flatten().map(|s| s.policy).collect();
    let ranked: BTreeSet<&str> = here.into_iter().flatten().map(|s| s.policy).collect();
    let others = table.policies().iter().filter(|policy| !ranked.contains(policy.as_str()));
    rows.extend(others.map(String::as_str));
    rows
}

/// References with a row of their own, and their names.
const REFERENCE_ROWS: [(&str, &str); 2] =
    [(BEST_PARTITION.label, "best partition"), (FAIR_SHARE.label, "fair share, ideal")];

/// What the ranking shows and how.
struct Ranked<'a, 'b> {
    table: &'b Table<'a>,
    extremes: &'b Extremes<'a>,
    /// Unit of its numbers in seconds, or a hundredth.
    scale: f64,
    /// The largest mean.
    longest: f64,
    /// Whether there is room for errors.
    roomy: bool,
    /// Columns behind the mean: for the errors and the marks, or for the marks alone.
    errors: usize,
}

/// The ranking: a row per policy and a column per configuration; the other way round for a single policy, and
/// where only that fits.
fn ranking<'a>(table: &Table<'a>, extremes: &Extremes<'a>, rows: &[&'a str], width: usize) -> Grid {
    let goal = &extremes.goal;
    let references = REFERENCE_ROWS.iter().filter_map(|(label, _)| {
        Some(table.get(extremes.best.configuration, label, &goal.app, goal.metric)?.mean)
    });
    let measured = extremes.rankings.iter().flatten().map(|s| s.value.mean);
    let values: Vec<f64> = measured.chain(references).collect();
    let longest = values.iter().copied().fold(0.0, f64::max);
    let (unit, scale) = goal.unit(values.iter().map(|value| value.abs()).fold(0.0, f64::max));
    let title = match goal.metric {
        "throughput" => "Throughput in % of sequential runs (higher is better)".to_owned(),
        _ if unit.is_empty() => format!("{} (lower is better)", goal.title()),
        _ => format!("{} in {unit} (lower is better)", goal.title()),
    };
    let count = table.sweep.configurations.len();
    // Columns of a second error.
    let second = if table.results.uncertainty.is_some() { INPUT } else { 0 };
    let errors = |roomy: bool| if roomy { 6 + second } else { 2 };
    let least = |roomy: bool| if roomy { CELLS[0] + second } else { CELLS[1] };
    let cells = |roomy: bool| Cells { least: least(roomy), tail: errors(roomy) + 1, times: 1 };
    let needed = |roomy: bool| (0..count).map(|c| cells(roomy).wide(table, c)).sum::<usize>() + NAME;
    let turned =
        count > 1 && (rows.len() == 1 || (needed(false) > width && rows.len() * CELLS[1] + WORDS <= width));
    let roomy = if turned { rows.len() * least(true) + WORDS <= width } else { needed(true) <= width };
    let made = |roomy: bool, room: usize| {
        let ranked = Ranked { table, extremes, scale, longest, roomy, errors: errors(roomy) };
        match turned {
            true => by_configuration(&ranked, title.clone(), rows),
            false => by_policy(&ranked, title.clone(), rows, &columns(table, extremes, room, cells(roomy))),
        }
    };
    // Numbers of many digits need more than the usual columns: then errors go first, and configurations next.
    let fits = |grid: &Grid| grid.lines(usize::MAX, width, false).iter().all(|l| l.chars().count() <= width);
    let fewer = (0..width / CELLS[1]).map(|less| (false, width - less * CELLS[1]));
    let mut tries = std::iter::once((roomy, width)).chain(fewer).map(|(roomy, room)| made(roomy, room));
    let mut grid = tries.find(fits).unwrap_or_else(|| made(false, CELLS[1]));
    let entries = grid.rows.iter().flat_map(|(_, entries)| entries);
    let marked = |mark: &str| entries.clone().any(|entry| entry.text.contains(mark));
    let intervals =
        if second > 0 { "; ±: 95 % intervals of seeds and of inputs" } else { "; ±: 95 % interval" };
    let legend = [("±", intervals), ("*", ", *: best or level"), ("?", ", ?: undecided"), ("!", ", !: wide")];
    let legend: Vec<&str> =
        legend.into_iter().filter(|(mark, _)| marked(mark)).map(|(_, text)| text).collect();
    grid.title.push_str(&legend.concat());
    grid
}

/// The length of a bar, as a part of the longest one; none for what is below zero.
fn bar(value: &Summary, longest: f64) -> Option<f64> {
    (value.mean >= 0.0 && longest > 0.0).then(|| value.mean / longest)
}

/// A row per policy, the best first, and a column per configuration.
fn by_policy<'a>(ranked: &Ranked<'a, '_>, title: String, rows: &[&'a str], columns: &[usize]) -> Grid {
    let Ranked { table, extremes, longest, .. } = ranked;
    let goal = &extremes.goal;
    let mut grid = Grid::new(title, heads(table, columns, 1));
    grid.tail = ranked.errors + 1;
    for policy in rows {
        let entry = |c: &usize| ranked.entry(*c, policy, &extremes.rankings[*c]);
        grid.rows.push(((*policy).to_owned(), columns.iter().map(entry).collect()));
        let own = table.get(extremes.best.configuration, policy, &goal.app, goal.metric);
        grid.bars.push(own.and_then(|value| bar(value, *longest)));
    }
    for (label, name) in ranked.references() {
        let of = |c: &usize| table.get(*c, label, &goal.app, goal.metric);
        if columns.iter().any(|c| of(c).is_some()) {
            grid.rows.push((name.to_owned(), columns.iter().map(|c| ranked.plain(of(c))).collect()));
            let own = of(&extremes.best.configuration);
            grid.bars.push(own.and_then(|value| bar(value, *longest)));
        }
    }
    let missing = table.sweep.configurations.len() - columns.len();
    if missing > 0 {
        grid.remark =
            format!("{} more: --table full", number::plural(missing, "configuration", "configurations"));
    }
    grid
}

/// A row per configuration and a column per policy: numbers in their own order. With a single policy the
/// best of named values is the first, if rows can be compared.
fn by_configuration<'a>(ranked: &Ranked<'a, '_>, title: String, policies: &[&'a str]) -> Grid {
    let Ranked { table, extremes, longest, .. } = ranked;
    let goal = &extremes.goal;
    let measured =
        |label: &str| table.configurations().any(|c| table.get(c, label, &goal.app, goal.metric).is_some());
    let references: Vec<(&str, &str)> =
        ranked.references().filter(|(label, _)| policies.len() == 1 && measured(label)).collect();
    let names = policies.iter().copied().chain(references.iter().map(|(_, name)| *name));
    let mut grid = Grid::new(title, vec![(table.sweep.names(), names.map(|name| cut(name, NAME)).collect())]);
    grid.tail = ranked.errors + 1;
    let alone = policies.len() == 1 && extremes.comparable;
    let mut all: Vec<Standing<'a>> = extremes.rankings.iter().flatten().copied().collect();
    all.sort_by(|a, b| goal.order(a.value, b.value));
    let mut order: Vec<usize> = table.configurations().collect();
    // The values of a number stand in their own order.
    let numbers = table.sweep.varied.iter().any(|varied| varied.axis.numbers.is_some());
    if numbers {
        grid.keep =
            [Some(extremes.best), extremes.worst].into_iter().flatten().map(|s| s.configuration).collect();
        grid.keep.dedup();
    } else if alone {
        let mut places = vec![usize::MAX; order.len()];
        for (place, standing) in all.iter().enumerate().rev() {
            places[standing.configuration] = place;
        }
        order.sort_by_key(|c| places[*c]);
    }
    for c in order {
        let rivals = if alone { &all } else { &extremes.rankings[c] };
        let entries = policies.iter().map(|policy| ranked.entry(c, policy, rivals));
        let others =
            references.iter().map(|(label, _)| ranked.plain(table.get(c, label, &goal.app, goal.metric)));
        grid.rows.push((table.sweep.values(c), entries.chain(others).collect()));
        if policies.len() == 1 {
            let own = table.get(c, policies[0], &goal.app, goal.metric);
            grid.bars.push(own.and_then(|value| bar(value, *longest)));
        }
    }
    grid
}

impl<'a> Ranked<'a, '_> {
    /// The value of a policy at a configuration with its marks among its rivals, which are in order.
    fn entry(&self, configuration: usize, policy: &'a str, rivals: &[Standing<'a>]) -> Entry {
        let goal = &self.extremes.goal;
        let cell = self.table.cell(configuration, policy, &goal.app, goal.metric);
        let Some(cell) = cell else {
            return Entry::missing(self.table, (configuration, policy), (&goal.app, goal.metric));
        };
        let own = &Standing { configuration, policy, value: &cell.summary, cell };
        let (mark, ink) = match ranking::mark(self.table, goal, own, rivals) {
            Mark::Best => ("*", Ink::Best),
            Mark::Undecided => ("?", Ink::Plain),
            Mark::Worst => ("", Ink::Worst),
            Mark::None => ("", Ink::Plain),
        };
        let marks = [mark, if is_wide(own) { "!" } else { "" }].concat();
        let errors = || error(own.value, self.scale) + &input_error(cell, self.scale);
        let tail = if self.roomy { errors() + &marks } else { marks };
        let text = format!("{} {tail:<error$}", shown(own.value, self.scale), error = self.errors);
        Entry { text, ink }
    }

    /// A value without error and marks.
    fn plain(&self, value: Option<&Summary>) -> Entry {
        let text = |s: &Summary| format!("{} {:<error$}", shown(s, self.scale), "", error = self.errors);
        value.map_or_else(Entry::none, |s| Entry::plain(text(s)))
    }

    /// References with a row. The fair share of throughput is near 100 % by construction.
    fn references(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let higher = self.extremes.goal.higher();
        REFERENCE_ROWS.into_iter().filter(move |(label, _)| !higher || *label != FAIR_SHARE.label)
    }
}

/// The values of the sweep above these configurations, so many times; a line for each axis.
fn heads(table: &Table<'_>, configurations: &[usize], times: usize) -> Vec<(String, Vec<String>)> {
    let line = |axis: usize| {
        let values: Vec<String> = configurations.iter().map(|c| head(table, *c, axis)).collect();
        let all: Vec<String> = (0..times).flat_map(|_| values.clone()).collect();
        (table.sweep.varied[axis].short.clone(), all)
    };
    (0..table.sweep.varied.len()).map(line).collect()
}

/// A mean in the unit of its table; tiny ones only as an upper bound.
fn shown(value: &Summary, scale: f64) -> String {
    let tiny = value.mean > 0.0 && value.mean / scale < 1e-3;
    if tiny { "<0.001".to_owned() } else { mean(value, scale) }
}

/// Slowdowns of each program, or run times where none ran alone; one program has none of its own.
fn programs(table: &Table<'_>, extremes: &Extremes<'_>, rows: &[&str], width: usize) -> Option<Grid> {
    let apps: Vec<&str> = table.results.foreground().collect();
    let slowdown = apps.iter().any(|app| table.measures(app, "slowdown"));
    let judged = extremes.goal.metric;
    let spread = ["response_time", "turnaround", "queue_time", "lateness"]
        .iter()
        .any(|times| judged.starts_with(times));
    if apps.len() < 2 && (judged == table.time() || spread) {
        return None;
    }
    let turnaround = judged == "turnaround" && apps.iter().any(|app| table.measures(app, judged));
    let slowdown = slowdown && !turnaround;
    let metric = if turnaround {
        judged
    } else if slowdown {
        "slowdown"
    } else {
        table.time()
    };
    let longest = table
        .configurations()
        .flat_map(|c| rows.iter().flat_map(move |p| apps_of(table, c, p, metric)))
        .fold(0.0, f64::max);
    let (unit, scale) = if slowdown { ("", 1.0) } else { number::time_unit(longest) };
    // In a window every number differs between seeds.
    let errors = table.results.provenance.window && table.results.provenance.repeat > 1;
    let least = if errors { RATIO + ERROR } else { RATIO };
    let intervals = if errors { "; ±: 95 % interval" } else { "" };
    let title = programs_title(table.results, metric, unit) + intervals;
    let one = Cells { least, tail: 0, times: 1 };
    let configurations =
        columns(table, extremes, width, Cells { times: apps.len().min((width - NAME) / least), ..one });
    let each: usize = configurations.iter().map(|c| one.wide(table, *c)).sum::<usize>() + GAP;
    let room = ((width - NAME) / each).max(1).min(apps.len());
    let shown = Programs { table, rows, metric, scale, slowdown, errors, configurations };
    // Programs with long names need more than the columns of their numbers.
    let fits = |grid: &Grid| grid.lines(usize::MAX, width, false).iter().all(|l| l.chars().count() <= width);
    let mut grids = (1..=room).rev().map(|count| shown.grid(title.clone(), &apps[..count], apps.len()));
    let grid = grids.find(fits).unwrap_or_else(|| shown.grid(title.clone(), &apps[..1], apps.len()));
    (!grid.rows.is_empty()).then_some(grid)
}

/// What the second table shows and how.
struct Programs<'a, 'b> {
    table: &'b Table<'a>,
    rows: &'b [&'a str],
    metric: &'b str,
    /// Unit of its numbers in seconds.
    scale: f64,
    slowdown: bool,
    errors: bool,
    configurations: Vec<usize>,
}

impl Programs<'_, '_> {
    /// The table of these programs, the first ones of so many.
    fn grid(&self, title: String, apps: &[&str], all: usize) -> Grid {
        let Self { table, rows, metric, scale, slowdown, errors, configurations } = self;
        let mut grid = Grid::new(title, heads(table, configurations, apps.len()));
        // Which program each column is about.
        let name = |app: &&str, at: usize| if at == 0 { (*app).to_owned() } else { String::new() };
        let names = apps.iter().flat_map(|app| (0..configurations.len()).map(move |at| name(app, at)));
        grid.head.insert(0, (String::new(), names.collect()));
        grid.groups = (1..apps.len()).map(|at| at * configurations.len()).collect();
        let labels = rows.iter().map(|row| (*row, *row));
        for (label, name) in labels.chain(REFERENCE_ROWS) {
            let entry = |app: &str, c: usize| match table.get(c, label, app, metric) {
                Some(value) if *errors && value.ci95.is_some() => {
                    Entry::plain(format!("{} {}", mean(value, *scale), error(value, *scale)))
                }
                Some(value) => Entry::plain(decimals(value, *scale, *slowdown)),
                None => Entry::missing(table, (c, label), (app, metric)),
            };
            let each = |app: &&str| configurations.iter().map(|c| entry(app, *c)).collect::<Vec<_>>();
            let entries: Vec<Entry> = apps.iter().flat_map(each).collect();
            if entries.iter().any(|entry| entry.text != "-") {
                grid.rows.push((name.to_owned(), entries));
            }
        }
        grid.remark = left_out([
            (all - apps.len(), "program", "programs"),
            (table.sweep.configurations.len() - configurations.len(), "configuration", "configurations"),
        ]);
        grid
    }
}

/// What does not fit into a table: a number of things, and what one and several are called.
fn left_out(missing: [(usize, &str, &str); 2]) -> String {
    let missing = missing.into_iter().filter(|(more, ..)| *more > 0);
    let missing: Vec<String> = missing.map(|(more, one, many)| number::plural(more, one, many)).collect();
    if missing.is_empty() { String::new() } else { format!("{} more: --table full", missing.join(" and ")) }
}

/// The title of the table of programs, whose values are of this metric in this unit.
fn programs_title(results: &Results, metric: &str, unit: &str) -> String {
    let windowed = results.provenance.window;
    match metric {
        "slowdown" if windowed => {
            format!("Slowdown: time over time alone for the same work ({})", dedicated(results))
        }
        _ if windowed => format!("Time of each program for each second of its work in {unit}"),
        "slowdown" => format!("Slowdown: run time over run time alone ({})", dedicated(results)),
        "turnaround" => format!("Turnaround of each program in {unit}"),
        _ => format!("Run time of each program in {unit}"),
    }
}

/// What dedicated runs have: one thread per core, or all tasks of programs whose tasks have separate work.
fn dedicated(results: &Results) -> String {
    const SPLIT: &str = "dedicated: whole machine, one thread per core";
    let setups = results.provenance.setups.iter();
    let own = setups.filter(|setup| setup.dedicated.is_some_and(|tasks| tasks > setup.cores));
    let mut names: Vec<&str> = own.map(|setup| setup.app.as_str()).collect();
    names.dedup();
    match names.as_slice() {
        [] => SPLIT.to_owned(),
        [one] => format!("{SPLIT}; {one}: all tasks"),
        _ => format!("{SPLIT}, or all tasks that have separate work"),
    }
}

/// The means of a metric of all foreground programs.
fn apps_of(table: &Table<'_>, configuration: usize, policy: &str, metric: &str) -> Vec<f64> {
    let apps = table.results.foreground();
    apps.filter_map(|app| Some(table.get(configuration, policy, app, metric)?.mean)).collect()
}

fn decimals(value: &Summary, scale: f64, slowdown: bool) -> String {
    if slowdown { number::ratio(value.mean) } else { number::short(value.mean / scale) }
}

/// Columns of a table over configurations.
#[derive(Clone, Copy)]
struct Cells {
    /// Least width with the gap before.
    least: usize,
    /// Blanks behind the number.
    tail: usize,
    /// Columns for each configuration.
    times: usize,
}

impl Cells {
    /// Width of all columns of a configuration: the values of the sweep above them count, too.
    fn wide(&self, table: &Table<'_>, configuration: usize) -> usize {
        let heads = (0..table.sweep.varied.len())
            .map(|axis| head(table, configuration, axis).chars().count() + self.tail + GAP);
        heads.fold(self.least, usize::max) * self.times
    }
}

/// The configurations that fit beside each other: all, or the best, the worst and others evenly between.
fn columns(table: &Table<'_>, extremes: &Extremes<'_>, width: usize, cells: Cells) -> Vec<usize> {
    let count = table.sweep.configurations.len();
    let wide = |c: usize| cells.wide(table, c);
    let steps = (width / (cells.least * cells.times).max(1)).max(2);
    let mut chosen = vec![extremes.best.configuration];
    chosen.extend(extremes.worst.map(|worst| worst.configuration));
    if (0..count).map(wide).sum::<usize>() + NAME <= width {
        chosen.extend(0..count);
    } else {
        chosen.extend((0..steps).map(|at| at * (count - 1) / (steps - 1)));
    }
    let (mut shown, mut used) = (Vec::new(), NAME);
    for at in chosen {
        if !shown.contains(&at) && (shown.is_empty() || used + wide(at) <= width) {
            used += wide(at);
            shown.push(at);
        }
    }
    shown.sort_unstable();
    shown
}

/// The value of a configuration on an axis, as it stands above a column.
fn head(table: &Table<'_>, configuration: usize, axis: usize) -> String {
    cut(&table.sweep.value(configuration, axis).unwrap_or_default(), HEAD)
}
