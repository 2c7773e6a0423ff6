//! Text: one table per configuration of the sweep that compares the policies, then what the tables show in
//! sentences.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use scenario::plan::MachineOrigin;

use crate::number;
use crate::result::{Note, Results, counted};
use crate::schedule::Replay;
use crate::statements::{self, Extremes};
use notation::text;

use super::table::{Column, Comparison, Group, legend};

/// Blanks before a column, and before a group of columns.
const GAP: usize = 1;
const GROUP_GAP: usize = 2;

/// Notes shown in full; the rest is a number.
pub(super) const NOTES_SHOWN: usize = 10;

/// Writes all tables with what they show.
pub(super) fn write(results: &Results, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let p = &results.provenance;
    let index = statements::Table::of(results);
    writeln!(out, "{}", wrapped(&[p.scenario.as_str(), p.about.as_str()].join(": "), width))?;
    writeln!(out, "{}", wrapped(&setting(results), width))?;
    if let Some(extremes) = Extremes::of(&index) {
        writeln!(out)?;
        for said in statements::answer::said(&index, &extremes) {
            writeln!(out, "{}", wrapped(&format!("{}: {}", said.label, said.text), width))?;
        }
    }
    for (at, configuration) in p.configurations.iter().enumerate() {
        writeln!(out)?;
        if !configuration.label.is_empty() {
            writeln!(out, "{}", configuration.label)?;
        }
        for table in tables(&Comparison::at(&index, at), width) {
            writeln!(out, "{table}")?;
        }
        let shown = statements::each::at(&index, at);
        if !shown.is_empty() {
            writeln!(out, "{}", wrapped(&shown.join(" "), width))?;
        }
    }
    writeln!(out)?;
    // A definition a line.
    let legend = legend(results);
    for sentence in legend.trim_end_matches('.').split(". ") {
        writeln!(out, "{}", text::hanging(&format!("{sentence}."), ["", "  "], width).join("\n"))?;
    }
    let lines = note_lines(&results.notes).into_iter().chain(replay_line(results));
    for line in lines.chain(counted::lines(results)) {
        writeln!(out, "{}", wrapped(&line, width))?;
    }
    for doubt in statements::doubts::doubts(&index, Extremes::of(&index).as_ref()) {
        writeln!(out, "{}", wrapped(&doubt, width))?;
    }
    writeln!(out, "{}", footer(results))
}

/// Machine, kernel, policies, configurations, seeds.
pub(super) fn setting(results: &Results) -> String {
    let p = &results.provenance;
    let machine = |m: &MachineOrigin| match m.cpus {
        Some(cpus) => format!("{} ({})", m.name, number::plural(cpus as usize, "cpu", "cpus")),
        None => m.name.clone(),
    };
    let named = |names: Vec<String>| match names.as_slice() {
        [a, b, c, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c} and {} more", rest.len()),
        all => all.join(", "),
    };
    // The rest are dedicated runs: each program alone.
    let alone = match p.runs.saturating_sub(p.policies.len() * p.configurations.len() * p.repeat as usize) {
        0 => String::new(),
        count => format!(" + {count} dedicated"),
    };
    let parts = [
        (p.policies.len(), "policy", "policies"),
        (p.configurations.len(), "configuration", "configurations"),
        (p.repeat as usize, "seed", "seeds"),
    ];
    let parts: Vec<String> = parts.map(|(count, one, many)| number::plural(count, one, many)).into();
    let stacks: Vec<String> = p.policies.iter().zip(&p.stacks).filter_map(stack(&p.kernels)).collect();
    let window = if p.window { " Only a window of each run counts." } else { "" };
    let stacks = if stacks.is_empty() { String::new() } else { format!(" {}.", stacks.join(", ")) };
    format!(
        "{}, {}. {}{alone}: {}.{stacks}{window}",
        named(p.machines.iter().map(machine).collect()),
        named(p.kernels.clone()),
        parts.join(" x "),
        number::plural(p.runs, "run", "runs"),
    )
}

/// What a policy consists of when it is perturbed or stacked on another one than the kernel's own: `fast:
/// SPEED over DWRR`.
fn stack(kernels: &[String]) -> impl Fn((&String, &String)) -> Option<String> {
    move |(label, stack)| {
        let own = |kernel: &String| kernels::KERNELS.find(kernel).map_or("", |entry| entry.own.policy);
        let plain = |form: &str| match form.split_once(" over ") {
            _ if form.contains('(') => false,
            Some((_, beneath)) => kernels.iter().any(|kernel| own(kernel) == beneath),
            None => true,
        };
        (!stack.split("; ").all(plain)).then(|| format!("{label}: {stack}"))
    }
}

/// What is needed to get the same numbers again.
pub(super) fn footer(results: &Results) -> String {
    let p = &results.provenance;
    let digest = p.digest.get(..16).unwrap_or(&p.digest);
    format!("{} {}, digest {digest}", p.tool, p.version)
}

/// One line per run that did not complete, up to a limit.
pub(super) fn note_lines(notes: &[Note]) -> Vec<String> {
    let mut lines: Vec<String> = notes.iter().take(NOTES_SHOWN).map(note_line).collect();
    if notes.len() > NOTES_SHOWN {
        lines.push(format!("... and {} more runs that did not complete.", notes.len() - NOTES_SHOWN));
    }
    lines
}

/// What became of a replayed schedule.
pub(super) fn replay_line(results: &Results) -> Option<String> {
    let runs = &results.replays;
    if runs.is_empty() {
        return None;
    }
    let same = runs.iter().filter(|run| run.same).count();
    let sum = |of: fn(&Replay) -> u64| runs.iter().map(of).sum::<u64>();
    let (applied, illegal) = (sum(|run| run.applied), sum(|run| run.illegal));
    let (unreached, unforeseen) = (sum(|run| run.unreached), sum(|run| run.unforeseen));
    Some(format!(
        "A replayed schedule decided in place of the policies. {same} of {} runs equal the recorded ones. \
            Of {} decisions \
         {illegal} were illegal and {unreached} were never reached. {unforeseen} placements were not \
         recorded.",
        runs.len(),
        applied + illegal + unreached,
    ))
}

fn note_line(note: &Note) -> String {
    let at =
        if note.configuration.is_empty() { String::new() } else { format!(" with {}", note.configuration) };
    format!("Run without result: {}{at}, seed {}: {}.", note.policy, note.seed, note.text)
}

/// The comparison as one table, or as several. Only a group of columns that is wider than `width` is torn
/// apart.
fn tables(comparison: &Comparison, width: usize) -> Vec<String> {
    let mut chunks: Vec<Vec<&[Column]>> = Vec::new();
    let mut used = 0;
    let room = width.saturating_sub(column_width(&comparison.rows) + GROUP_GAP - GAP);
    for group in comparison.groups.iter().flat_map(|group| pieces(group, room)) {
        let columns: usize = group.iter().map(|c| column_width(c) + GAP).sum();
        let wide = columns + GROUP_GAP - GAP;
        match chunks.last_mut() {
            Some(chunk) if used + wide <= width => {
                chunk.push(group);
                used += wide;
            }
            _ => {
                chunks.push(vec![group]);
                used = column_width(&comparison.rows) + wide;
            }
        }
    }
    chunks.iter().map(|chunk| render(&comparison.rows, chunk)).collect()
}

/// A group in pieces of at most `room` columns of text, each with at least one column.
fn pieces(group: &Group, room: usize) -> Vec<&[Column]> {
    let (mut pieces, mut begin, mut used) = (Vec::new(), 0, 0);
    for (at, column) in group.iter().enumerate() {
        let wide = column_width(column) + GAP;
        if at > begin && used + wide > room {
            pieces.push(&group[begin..at]);
            (begin, used) = (at, 0);
        }
        used += wide;
    }
    pieces.push(&group[begin..]);
    pieces
}

fn column_width(column: &Column) -> usize {
    column.head.iter().chain(&column.entries).map(|e| e.chars().count()).max().unwrap_or(0)
}

fn render(rows: &Column, groups: &[&[Column]]) -> String {
    let columns: Vec<&Column> = [rows].into_iter().chain(groups.iter().flat_map(|g| g.iter())).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|c| c.head.join("\n")));
    for row in 0..rows.entries.len() {
        table.add_row(columns.iter().map(|c| c.entries.get(row).map_or("", String::as_str)));
    }
    let gaps = groups.iter().flat_map(|g| (0..g.len()).map(|at| if at == 0 { GROUP_GAP } else { GAP }));
    for (column, gap) in table.column_iter_mut().zip([0].into_iter().chain(gaps)) {
        let alignment = if gap == 0 { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
        column.set_padding((gap as u16, 0));
    }
    table.trim_fmt()
}

/// `text` broken into lines of at most `width` columns, without a colon at its end.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    text::wrapped(text, width).join("\n").trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrapped("one two three: ", 7), "one two\nthree");
    }

    #[test]
    fn wide_tables_break_between_groups() {
        let column = |head: &str, entry: &str| Column {
            head: [head.into(), "%".into()],
            entries: vec![entry.into(), entry.into()],
        };
        let comparison = Comparison {
            rows: column("policy", "LOAD"),
            groups: vec![vec![column("cg", "1.00"), column("cg", "2.00")], vec![column("idle", "0.50")]],
        };
        assert_eq!(tables(&comparison, 80).len(), 1);
        let narrow = tables(&comparison, 20);
        assert_eq!(narrow.len(), 2);
        assert!(narrow.iter().all(|t| t.starts_with("policy") && t.lines().count() == 4), "{narrow:?}");
        assert!(narrow[1].contains("0.50") && !narrow[1].contains("2.00"));
    }
}
