//! The answer about waiting as text, Markdown and JSON.

use std::collections::BTreeSet;

use notation::number;

use super::{Answer, Cell, Choice, Column, SettingRow, Verdict, choice};
use crate::shapes::page::{Form, Page, Table};
use crate::shapes::words::{length, longer, per_cent};

/// Most blocks (lengths x teams) whose loads are shown each in the short text.
const MOST_BLOCKS: usize = 1;

/// Columns of the name of a row: with six blocks beside it a line has at most 100 columns.
const LABEL: usize = 52;

/// The verdict in words.
pub(super) fn sentence(answer: &Answer) -> String {
    let name = |at: usize| answer.settings.get(at).map_or_else(String::new, SettingRow::name);
    match &answer.verdict {
        Verdict::One { settings } => {
            let names: Vec<String> = settings.iter().map(|at| name(*at)).collect();
            let is = if names.len() == 1 { "is" } else { "are" };
            format!("{} {is} best, or level with the best, in all columns.", number::listed(&names))
        }
        Verdict::Split { idle, busy } => {
            let loses = |setting: usize, idle: bool| {
                let among = |at: usize| answer.columns.get(at).is_some_and(|of| of.is_idle() == idle);
                let found = answer.cells.get(setting).and_then(|of| choice::worst(of, among));
                found.map_or_else(String::new, |(at, regret)| {
                    let place = answer.columns.get(at).map_or_else(String::new, |of| place(answer, of));
                    format!("{} ({place})", longer(regret, None))
                })
            };
            format!(
                "No single value is best on an idle and a busy host: {} is best or level when idle and takes \
                 {} when busy; {} is best or level when busy and takes {} when idle.",
                name(*idle),
                loses(*idle, false),
                name(*busy),
                loses(*busy, true)
            )
        }
        Verdict::None => "No single value is best, or level with the best, in all columns.".into(),
    }
}

/// A column in words: its load, and its team where there are several.
fn place(answer: &Answer, column: &Column) -> String {
    match blocks(answer).len() {
        0 | 1 => column.load(),
        _ => format!("{}, {}, {} threads", column.load(), length(column.region_ns), column.threads),
    }
}

/// Lengths of regions and numbers of threads, in the order asked, each once.
fn blocks(answer: &Answer) -> Vec<(u64, u32)> {
    let mut seen = BTreeSet::new();
    let all = answer.columns.iter().map(|column| (column.region_ns, column.threads));
    all.filter(|block| seen.insert(*block)).collect()
}

/// The answer in a form.
#[must_use]
pub(super) fn written(answer: &Answer, form: Form) -> String {
    if form == Form::Json {
        return json(answer);
    }
    let mut page = Page::new(form);
    let blocks = blocks(answer);
    page.paragraph(&format!(
        "Waiting under {} on {} ({}, {}): {} of work between regions, in which one thread computes.",
        answer.runtime,
        answer.machine,
        number::plural(answer.cpus as usize, "cpu", "cpus"),
        answer.kernel,
        length(answer.between_ns),
    ));
    page.paragraph(&format!(
        "Regret: how much longer than with the best setting of the column, in % ({} seeds); *: best, or not \
         distinguishable from it.",
        answer.seeds
    ));
    if form == Form::Text && blocks.len() > MOST_BLOCKS {
        page.table(&over_loads(answer, &blocks));
        page.paragraph("Each column has the worst load; all loads: --table full, --format markdown or json.");
    } else {
        for block in &blocks {
            let caption = if form == Form::Text { String::new() } else { "Regret".to_owned() };
            page.table(&table(answer, *block, &caption, regret));
            if form != Form::Text {
                page.table(&table(answer, *block, "Cpu time beside the work, in % of it", |cell| {
                    per_cent(cell.burnt)
                }));
                page.table(&table(answer, *block, "Time of a pass", |cell| {
                    number::short_seconds(cell.pass_s.mean)
                }));
            }
        }
    }
    conclusion(answer, &mut page);
    page.done()
}

fn regret(cell: &Cell) -> String {
    let mark = if cell.level { "*" } else { "" };
    format!("{}{mark}", per_cent(cell.regret.mean))
}

/// A setting as the name of a row, with what it does where there is room.
fn label(setting: &SettingRow) -> String {
    let (name, about) = (setting.name(), &setting.about);
    let long = name.chars().count() + 2 + about.chars().count() > LABEL;
    if long { name } else { format!("{name}: {about}") }
}

/// The table of one block: loads as columns.
fn table(answer: &Answer, block: (u64, u32), caption: &str, shown: impl Fn(&Cell) -> String) -> Table {
    let places: Vec<usize> = (0..answer.columns.len())
        .filter(|at| answer.columns.get(*at).is_some_and(|of| (of.region_ns, of.threads) == block))
        .collect();
    let gap = if caption.is_empty() { "" } else { ": " };
    let title = format!("{caption}{gap}{} regions, {} threads", length(block.0), block.1);
    let loads = places.iter().filter_map(|at| answer.columns.get(*at)).map(Column::load);
    let rows = answer.settings.iter().zip(&answer.cells).map(|(setting, cells)| {
        let cells = places.iter().filter_map(|at| cells.get(*at)).map(&shown);
        [label(setting)].into_iter().chain(cells).collect()
    });
    Table { head: [title].into_iter().chain(loads).collect(), rows: rows.collect() }
}

/// The worst regret over the loads, with blocks as columns.
fn over_loads(answer: &Answer, blocks: &[(u64, u32)]) -> Table {
    let head = blocks.iter().map(|(region, threads)| format!("{} x{threads}", length(*region)));
    let rows = answer.settings.iter().zip(&answer.cells).map(|(setting, cells)| {
        let worst = blocks.iter().map(|block| {
            let among =
                |at: usize| answer.columns.get(at).is_some_and(|of| (of.region_ns, of.threads) == *block);
            choice::worst(cells, among).map_or_else(String::new, |(_, regret)| per_cent(regret))
        });
        [label(setting)].into_iter().chain(worst).collect()
    });
    Table { head: ["regions, threads".to_owned()].into_iter().chain(head).collect(), rows: rows.collect() }
}

fn conclusion(answer: &Answer, page: &mut Page) {
    let name =
        |choice: &Choice| answer.settings.get(choice.setting).map_or_else(String::new, SettingRow::name);
    let (worst, mean) = (&answer.smallest_worst, &answer.smallest_mean);
    let at = worst.column.and_then(|at| answer.columns.get(at)).map(|column| place(answer, column));
    page.labelled(
        "Least worst",
        &format!(
            "{}: {} at worst, {}",
            name(worst),
            longer(worst.regret.mean, worst.regret.ci95),
            at.unwrap_or_default()
        ),
    );
    page.labelled(
        "Least mean",
        &format!("{}: {} in the mean", name(mean), longer(mean.regret.mean, mean.regret.ci95)),
    );
    page.labelled("Verdict", &answer.sentence);
    let default = answer.settings.iter().position(|row| row.typed.is_empty());
    let default_worst = default.and_then(|at| {
        let (column, regret) = choice::worst(answer.cells.get(at)?, |_| true)?;
        Some((place(answer, answer.columns.get(column)?), regret))
    });
    if let (Some((place, regret)), false) = (&default_worst, Some(worst.setting) == default) {
        let text = format!("the default takes {} at worst ({place})", longer(*regret, None));
        page.labelled("As it is", &text);
    }
    page.typed(&[typed(answer)]);
    page.labelled(
        "Assumed",
        &format!(
            "work of threads within ±{} %, no thread bound to a cpu, busy tasks that only compute; \
             simulated, not measured",
            answer.spread_percent
        ),
    );
}

/// What to type for the smallest worst regret.
fn typed(answer: &Answer) -> String {
    match answer.settings.get(answer.smallest_worst.setting) {
        Some(row) if !row.typed.is_empty() => format!("export {}", row.typed),
        _ => {
            let all = answer.settings.iter().flat_map(|row| row.typed.split(' '));
            let names: BTreeSet<&str> =
                all.filter_map(|set| set.split_once('=')).map(|(name, _)| name).collect();
            let names: Vec<&str> = names.into_iter().collect();
            format!("unset {}  # leave the default as it is", names.join(" "))
        }
    }
}

fn json(answer: &Answer) -> String {
    #[derive(serde::Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        answer: &'a Answer,
        #[serde(rename = "type")]
        typed: String,
    }
    let whole = Whole { answer, typed: typed(answer) };
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

impl Answer {
    /// The answer in a form, ending with a line feed.
    #[must_use]
    pub fn written(&self, form: Form) -> String {
        written(self, form)
    }
}
