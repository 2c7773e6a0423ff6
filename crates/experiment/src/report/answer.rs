//! The answer first: what was compared, the answer, the ranking over the sweep, slowdowns, causes, doubts and the next commands, in at
//! most 40 lines of at most 100 columns.

use std::io::{self, Write};

use super::View;
use super::text::{footer, replay_line, setting, wrapped};
use crate::number;
use crate::references::{BEST_PARTITION, FAIR_SHARE};
use crate::result::Results;
use crate::statements::causes::{Causes, causes, whole};
use crate::statements::doubts::{doubts, is_wide};
use crate::statements::ranking::Standing;
use crate::statements::table::{error, level, mean};
use crate::statements::{Extremes, Table, answer};
use crate::statistics::Summary;

/// Most lines and columns.
pub(super) const MOST_LINES: usize = 40;
pub(super) const MOST_COLUMNS: usize = 100;

/// Columns of the labels at the left.
const LABEL: usize = 10;
/// Blanks between columns.
const GAP: usize = 2;
/// Longest and shortest bar.
const BAR: [usize; 2] = [20, 8];
/// Longest name of a row.
const NAME: usize = 18;
/// Lines of the title.
const TITLE: usize = 2;
/// Columns of a cell of the ranking with its gap, with and without the error.
const CELLS: [usize; 2] = [15, 10];
/// Rows of a table that is cut: its first ones and its last.
const LEAST_ROWS: usize = 4;

/// What a piece of text is, for colours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ink {
    Plain,
    Bold,
    Best,
    Worst,
    Doubt,
}

impl Ink {
    fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            _ if !colour || text.is_empty() => return text.to_owned(),
            Self::Plain => return text.to_owned(),
            Self::Bold => "1",
            Self::Best => "32",
            Self::Worst => "31",
            Self::Doubt => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// A cell of a table.
#[derive(Clone)]
struct Entry {
    text: String,
    ink: Ink,
}

impl Entry {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ink: Ink::Plain }
    }

    fn none() -> Self {
        Self::plain("-")
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// A table: its title, its head lines and its rows, the name of each row first.
struct Grid {
    title: String,
    /// Head lines: what they hold, and a text for each column.
    head: Vec<(String, Vec<String>)>,
    rows: Vec<(String, Vec<Entry>)>,
    /// Lengths of the bars beside the rows, 0 to 1.
    bars: Vec<Option<f64>>,
    /// What a reader needs below it.
    remark: String,
    /// Columns before which there is more space.
    groups: Vec<usize>,
    /// Columns behind the number of an entry, which a head leaves free.
    tail: usize,
}

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
    let mut head = title(results, width, view.colour);
    let mut answers = Vec::new();
    match &extremes {
        None => {
            answers.extend(labelled("Answer", "Nothing was measured: no run completed.", width, view.colour));
        }
        Some(extremes) => {
            for line in answer::lines(&table, extremes) {
                answers.extend(labelled(line.label, &line.text, width, view.colour));
            }
        }
    }
    let mut tail = Vec::new();
    tail.extend(labelled("Doubts", &doubts(&table, extremes.as_ref()).join(" "), width, view.colour));
    tail.extend(
        replay_line(results).into_iter().flat_map(|line| labelled("Replay", &line, width, view.colour)),
    );
    tail.extend(next(&table, extremes.as_ref(), view));
    let reasons = extremes.as_ref().and_then(|e| causes(&table, &e.best, e.worst.as_ref()).map(|c| (e, c)));
    let why: Vec<String> = reasons.map(|(e, c)| why(&table, e, &c, width, view.colour)).unwrap_or_default();
    let grids: Vec<Grid> = extremes.iter().flat_map(|e| grids(&table, e, width)).collect();
    // Empty lines: behind the title, before the causes and before the doubts.
    let mut used = head.len() + answers.len() + why.len() + tail.len() + 2 + usize::from(!why.is_empty());
    // What the table of slowdowns shows is left out first.
    let full: usize = grids.iter().map(|grid| 1 + grid.lines(usize::MAX, width, false).len()).sum();
    if let Some(extremes) = extremes.as_ref().filter(|_| grids.len() > 1 && used + full > MOST_LINES) {
        let shown = answer::lines(&table, extremes);
        let kept = shown.iter().filter(|line| line.label != answer::FAIRNESS);
        answers = kept.flat_map(|line| labelled(line.label, &line.text, width, view.colour)).collect();
        used = head.len() + answers.len() + why.len() + tail.len() + 2 + usize::from(!why.is_empty());
    }
    let tables = fitted(&grids, MOST_LINES.saturating_sub(used), width, view.colour);
    head.push(String::new());
    head.extend(answers);
    head.extend(tables);
    if !why.is_empty() {
        head.push(String::new());
        head.extend(why);
    }
    head.push(String::new());
    head.extend(tail);
    head
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

/// The tables that the result has: the ranking, and slowdowns or run times of each program.
fn grids(table: &Table<'_>, extremes: &Extremes<'_>, width: usize) -> Vec<Grid> {
    let rows = rows(table, extremes);
    let mut grids = vec![ranking(table, extremes, &rows, width)];
    grids.extend(programs(table, extremes, &rows, width));
    grids
}

/// The policies in the order of the configuration of the best, then those that were not measured there.
fn rows(table: &Table<'_>, extremes: &Extremes<'_>) -> Vec<String> {
    let here = extremes.rankings.get(extremes.best.configuration);
    let mut rows: Vec<String> = here.into_iter().flatten().map(|s| s.policy.to_owned()).collect();
    let others = table.policies().iter().filter(|policy| !rows.contains(policy));
    let others: Vec<String> = others.cloned().collect();
    rows.extend(others);
    rows
}

/// References with a row of their own, and their names.
const REFERENCE_ROWS: [(&str, &str); 2] =
    [(BEST_PARTITION.label, "best partition"), (FAIR_SHARE.label, "fair share, ideal")];

/// The ranking: a row per policy, a column per configuration.
fn ranking(table: &Table<'_>, extremes: &Extremes<'_>, rows: &[String], width: usize) -> Grid {
    let goal = &extremes.goal;
    let all: Vec<&Standing<'_>> = extremes.rankings.iter().flatten().collect();
    let longest = all.iter().map(|s| s.value.mean).fold(0.0, f64::max);
    let (unit, scale) = if goal.higher() { ("%", 0.01) } else { number::time_unit(longest) };
    let title = match goal.metric {
        "throughput" => "Throughput in % of sequential runs (higher is better)".to_owned(),
        "run_time" => format!("Run time of {} in {unit} (lower is better)", goal.app),
        _ => format!("Time until all programs end in {unit} (lower is better)"),
    };
    // Without room for all configurations the errors are left out.
    let count = table.sweep.configurations.len();
    let roomy = count * CELLS[0] + NAME <= width;
    let entry = |configuration: usize, policy: &str| -> Entry {
        let ranking = &extremes.rankings[configuration];
        let Some(own) = ranking.iter().find(|s| s.policy == policy) else { return Entry::none() };
        let (first, last) = (&ranking[0], &ranking[ranking.len() - 1]);
        let best = ranking.len() > 1 && level(own.value, first.value);
        let worst = ranking.len() > 1 && !best && level(own.value, last.value);
        let marks = [if best { "*" } else { "" }, if is_wide(own) { "!" } else { "" }].concat();
        let ink = match (best, worst) {
            (true, _) => Ink::Best,
            (_, true) => Ink::Worst,
            _ => Ink::Plain,
        };
        let tail = if roomy { error(own.value, scale) + &marks } else { marks };
        Entry { text: format!("{} {tail:<error$}", mean(own.value, scale), error = errors(roomy)), ink }
    };
    let columns = columns(table, extremes, width, CELLS[usize::from(!roomy)]);
    let mut grid = Grid::new(table, title, &columns, 1);
    grid.tail = errors(roomy) + 1;
    for policy in rows {
        grid.rows.push((policy.clone(), columns.iter().map(|c| entry(*c, policy)).collect()));
        let own = table.get(extremes.best.configuration, policy, &goal.app, goal.metric);
        grid.bars.push(own.map(|value| value.mean / longest));
    }
    // The fair share of throughput is near 100 % by construction.
    for (label, name) in
        REFERENCE_ROWS.into_iter().filter(|(label, _)| !goal.higher() || *label != FAIR_SHARE.label)
    {
        let of = |c: &usize| table.get(*c, label, &goal.app, goal.metric);
        if columns.iter().any(|c| of(c).is_some()) {
            let text = |c: &usize| {
                of(c).map_or_else(Entry::none, |s| {
                    Entry::plain(format!("{} {:<error$}", mean(s, scale), "", error = errors(roomy)))
                })
            };
            grid.rows.push((name.to_owned(), columns.iter().map(text).collect()));
            let own = of(&extremes.best.configuration);
            grid.bars.push(own.map(|value| (value.mean / longest).min(1.0)));
        }
    }
    let shown = grid.rows.iter().flat_map(|(_, entries)| entries);
    let marked = |mark: &str| shown.clone().any(|entry| entry.text.contains(mark));
    let legend = [("±", "; ±: 95 % interval"), ("*", ", *: best or level"), ("!", ", !: wide")];
    let legend: Vec<&str> =
        legend.into_iter().filter(|(mark, _)| marked(mark)).map(|(_, text)| text).collect();
    grid.title.push_str(&legend.concat());
    let missing = table.sweep.configurations.len() - columns.len();
    if missing > 0 {
        grid.remark =
            format!("{} more: --table full", number::plural(missing, "configuration", "configurations"));
    }
    grid
}

/// Columns behind the mean of a cell of the ranking: for the error and the marks, or for the marks alone.
const fn errors(roomy: bool) -> usize {
    if roomy { 6 } else { 2 }
}

/// Slowdowns of each program, or run times where none ran alone; one program has none of its own.
fn programs(table: &Table<'_>, extremes: &Extremes<'_>, rows: &[String], width: usize) -> Option<Grid> {
    let apps: Vec<&str> = table.results.foreground().collect();
    let slowdown = apps.iter().any(|app| table.measures(app, "slowdown"));
    if apps.len() < 2 && extremes.goal.metric == "run_time" {
        return None;
    }
    let metric = if slowdown { "slowdown" } else { "run_time" };
    let values = |c: usize, policy: &str, app: &str| table.get(c, policy, app, metric);
    let longest = table
        .configurations()
        .flat_map(|c| rows.iter().flat_map(move |p| apps_of(table, c, p, metric)))
        .fold(0.0, f64::max);
    let (unit, scale) = if slowdown { ("", 1.0) } else { number::time_unit(longest) };
    let title = if slowdown {
        "Slowdown: run time over run time alone (dedicated: whole machine, one thread per core)".to_owned()
    } else {
        format!("Run time of each program in {unit}")
    };
    let fitting = (width - NAME) / 8;
    let configurations = columns(table, extremes, width, 8 * apps.len().min(fitting));
    let shown: Vec<&str> = apps.iter().copied().take((fitting / configurations.len()).max(1)).collect();
    let mut grid = Grid::new(table, title, &configurations, shown.len());
    // Which program each column is about.
    let names = shown.iter().flat_map(|app| {
        configurations
            .iter()
            .enumerate()
            .map(move |(at, _)| if at == 0 { (*app).to_owned() } else { String::new() })
    });
    grid.head.insert(0, (String::new(), names.collect()));
    grid.groups = (1..shown.len()).map(|at| at * configurations.len()).collect();
    let labels = rows.iter().map(|row| (row.as_str(), row.as_str()));
    for (label, name) in labels.chain(REFERENCE_ROWS) {
        let each = |app: &&str| {
            configurations
                .iter()
                .map(|c| {
                    let value = values(*c, label, app);
                    value.map_or_else(Entry::none, |value| Entry::plain(decimals(value, scale, slowdown)))
                })
                .collect::<Vec<_>>()
        };
        let entries: Vec<Entry> = shown.iter().flat_map(each).collect();
        if entries.iter().any(|entry| entry.text != "-") {
            grid.rows.push((name.to_owned(), entries));
        }
    }
    if shown.len() < apps.len() {
        let more = apps.len() - shown.len();
        grid.remark = format!("{} more: --table full", number::plural(more, "program", "programs"));
    }
    (!grid.rows.is_empty()).then_some(grid)
}

/// The means of a metric of all foreground programs.
fn apps_of(table: &Table<'_>, configuration: usize, policy: &str, metric: &str) -> Vec<f64> {
    let apps = table.results.foreground();
    apps.filter_map(|app| Some(table.get(configuration, policy, app, metric)?.mean)).collect()
}

fn decimals(value: &Summary, scale: f64, slowdown: bool) -> String {
    if slowdown { number::ratio(value.mean) } else { number::short(value.mean / scale) }
}

/// The configurations that fit beside each other: all, or the best, the worst and others evenly between.
fn columns(table: &Table<'_>, extremes: &Extremes<'_>, width: usize, cell: usize) -> Vec<usize> {
    let count = table.sweep.configurations.len();
    let fits = ((width - NAME) / cell.max(1)).max(1);
    if count <= fits {
        return (0..count).collect();
    }
    let mut chosen = vec![extremes.best.configuration];
    chosen.extend(extremes.worst.map(|worst| worst.configuration));
    chosen.extend((0..fits).map(|at| at * (count - 1) / (fits - 1).max(1)));
    let mut shown: Vec<usize> = Vec::new();
    for at in chosen {
        if shown.len() < fits && !shown.contains(&at) {
            shown.push(at);
        }
    }
    shown.sort_unstable();
    shown
}

impl Grid {
    /// An empty grid whose columns are `times` these configurations.
    fn new(table: &Table<'_>, title: String, configurations: &[usize], times: usize) -> Self {
        let head = |axis: usize| {
            let values = configurations.iter().map(|c| table.sweep.value(*c, axis).unwrap_or_default());
            let values: Vec<String> = values.collect();
            let all: Vec<String> = (0..times).flat_map(|_| values.clone()).collect();
            (table.sweep.varied[axis].short.clone(), all)
        };
        Self {
            title,
            head: (0..table.sweep.varied.len()).map(head).collect(),
            rows: Vec::new(),
            bars: Vec::new(),
            remark: String::new(),
            groups: Vec::new(),
            tail: 0,
        }
    }

    /// Lines with at most so many rows.
    fn lines(&self, most: usize, width: usize, colour: bool) -> Vec<String> {
        let rows = self.rows.len();
        let shown: Vec<usize> = if rows <= most {
            (0..rows).collect()
        } else {
            (0..most.saturating_sub(2)).chain([rows - 1]).collect()
        };
        let names = shown.iter().map(|at| self.rows[*at].0.chars().count());
        let name = names.chain(self.head.iter().map(|(label, _)| label.chars().count())).max().unwrap_or(0);
        let columns = self.rows.first().map_or(0, |row| row.1.len());
        let wide = |column: usize| {
            let entries = shown.iter().map(|at| self.rows[*at].1[column].width());
            let heads = self.head.iter().map(|(_, line)| line[column].chars().count());
            entries.chain(heads).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        let gap = |column: usize| if self.groups.contains(&column) { 2 * GAP } else { GAP };
        let body: usize = widths.iter().enumerate().map(|(column, wide)| wide + gap(column)).sum();
        let room = width.saturating_sub(name + body + GAP);
        let bar = if self.bars.is_empty() || room < BAR[1] { 0 } else { room.min(BAR[0]) };
        let line = |name_text: &str, bar_text: &str, entries: Vec<(String, Ink)>| {
            let mut line = format!("{name_text:<name$}");
            if bar > 0 {
                line.push_str(&format!("  {bar_text:<bar$}"));
            }
            for (column, (text, ink)) in entries.into_iter().enumerate() {
                let padded = format!("{text:>wide$}", wide = widths[column]);
                line.push_str(&" ".repeat(gap(column)));
                line.push_str(&ink.paint(&padded, colour));
            }
            line.trim_end().to_owned()
        };
        let mut lines = vec![Ink::Bold.paint(&self.title, colour)];
        for (label, head) in &self.head {
            // A value of the ranking stands over the mean, not over the error behind it.
            let tail = " ".repeat(self.tail);
            let head = head.iter().map(|text| (format!("{text}{tail}"), Ink::Plain)).collect();
            lines.push(line(label, "", head));
        }
        for (row, at) in shown.iter().enumerate() {
            if row + 1 == shown.len() && shown.len() < rows {
                lines.push(format!(
                    "... {} more: --table full",
                    number::plural(rows - shown.len(), "row", "rows")
                ));
            }
            let (name_text, entries) = &self.rows[*at];
            let length =
                self.bars.get(*at).copied().flatten().map_or(0, |part| (part * bar as f64).round() as usize);
            let entries = entries.iter().map(|entry| (entry.text.clone(), entry.ink)).collect();
            lines.push(line(name_text, &"#".repeat(length.min(bar)), entries));
        }
        lines.extend((!self.remark.is_empty()).then(|| self.remark.clone()));
        lines
    }
}

/// The tables with an empty line before each, in at most so many lines: rows are cut from the last table first, which may be left out.
fn fitted(grids: &[Grid], most: usize, width: usize, colour: bool) -> Vec<String> {
    let all = |limits: &[usize]| -> Vec<String> {
        let each = grids.iter().zip(limits).filter(|(_, limit)| **limit > 0);
        each.flat_map(|(grid, limit)| std::iter::once(String::new()).chain(grid.lines(*limit, width, colour)))
            .collect()
    };
    let mut limits: Vec<usize> = grids.iter().map(|grid| grid.rows.len()).collect();
    for at in (0..limits.len()).rev() {
        while all(&limits).len() > most && limits[at] > LEAST_ROWS {
            limits[at] -= 1;
        }
        if all(&limits).len() > most && at > 0 {
            limits[at] = 0;
        }
    }
    all(&limits)
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
    let mut grid = Grid {
        title: "Share of the cpu time in %".to_owned(),
        head: (0..2)
            .map(|line| (String::new(), causes.parts.iter().map(|part| part.head[line].to_owned()).collect()))
            .collect(),
        rows: rows
            .into_iter()
            .map(|(name, shares)| {
                (name, shares.iter().map(|s| Entry::plain(whole(*s).to_string())).collect())
            })
            .collect(),
        bars: Vec::new(),
        remark: String::new(),
        groups: Vec::new(),
        tail: 0,
    };
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
