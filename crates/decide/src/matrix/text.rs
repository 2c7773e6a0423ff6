//! A matrix for people: a page of text, or of Markdown.

use std::io::{self, Write};

use notation::neutral;
use notation::number::{self, plural, seconds};
use notation::text::{cut, hanging};

use super::{Matrix, Together};

/// Columns of the text.
const WIDTH: usize = 98;
/// Most programs of a table in the text.
pub const MOST_ROWS: usize = 12;
/// Pairs of a list.
const LISTED: usize = 4;
/// Columns of a name.
const NAME: usize = 12;
/// A smaller part of the added time is not named.
const SEEN: f64 = 0.05;
/// Less than this change of time is no news: as in the answer of `oversim run`.
const PAYS: f64 = 0.01;

/// Writes at most 30 lines for up to [`MOST_ROWS`] programs.
///
/// # Errors
/// Of the writer.
pub(super) fn write_text(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    paragraph("", &head(matrix), out)?;
    if matrix.programs.len() <= MOST_ROWS {
        table(matrix, out)?;
    } else {
        writeln!(out, "The table of {} programs: --format csv.", matrix.programs.len())?;
    }
    for (title, text) in answer(matrix) {
        paragraph(&format!("{title:<9}"), &text, out)?;
    }
    Ok(())
}

/// Writes the same with all pairs as a table.
///
/// # Errors
/// Of the writer.
pub(super) fn write_markdown(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Programs together\n\n{}\n", neutral::markdown(&head(matrix)))?;
    let names: Vec<String> = matrix.programs.iter().map(|alone| neutral::markdown(&alone.program)).collect();
    writeln!(out, "| program | alone | {} |", names.join(" | "))?;
    writeln!(out, "|---|---:|{}", "---:|".repeat(names.len()))?;
    for (row, alone) in matrix.programs.iter().enumerate() {
        let cells: Vec<String> = (0..names.len()).map(|column| matrix.cell(row, column)).collect();
        writeln!(out, "| {} | {} | {} |", names[row], seconds(alone.seconds.mean), cells.join(" | "))?;
    }
    writeln!(out)?;
    for (title, text) in answer(matrix) {
        writeln!(out, "- **{title}:** {}", neutral::markdown(&text))?;
    }
    writeln!(out, "\n| together | slowdowns | throughput | parts of the added time |\n|---|---|---:|---|")?;
    for group in &matrix.groups {
        let slowdowns: Vec<String> =
            group.slowdowns.iter().map(|slowdown| number::ratio(slowdown.mean)).collect();
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            neutral::markdown(&group.name()),
            slowdowns.join(", "),
            number::ratio(group.throughput.mean),
            group.cause().unwrap_or_default()
        )?;
    }
    Ok(())
}

/// A text behind a title, wrapped.
fn paragraph(title: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let indent = " ".repeat(title.len());
    let lines = hanging(&neutral::line(text), [title, &indent], WIDTH);
    // The first word follows the title without a blank.
    lines.iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// What the matrix is about.
fn head(matrix: &Matrix) -> String {
    let beside = match &matrix.beside[..] {
        [] => String::new(),
        names => format!(", always beside {}", number::listed(names)),
    };
    let counts: Vec<usize> = matrix.groups.iter().map(|group| group.replicates).collect();
    let (least, most) =
        (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    let replicates = if least == most {
        plural(most, "replicate", "replicates")
    } else {
        format!("{least} to {most} replicates")
    };
    format!(
        "{}, up to {} at a time on {} under {}{beside}: run time over that alone. {}, {replicates} each.",
        plural(matrix.programs.len(), "program", "programs"),
        matrix.at_a_time,
        matrix.machine,
        matrix.policy,
        groups_of(&matrix.groups),
    )
}

fn table(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<String> = (1..=matrix.programs.len()).map(|column| format!("{column:>6}")).collect();
    writeln!(out, "{:>NAME$}    {:>9} {}", "beside", "alone", columns.concat())?;
    for (row, alone) in matrix.programs.iter().enumerate() {
        let cells: Vec<String> =
            (0..matrix.programs.len()).map(|column| format!("{:>6}", matrix.cell(row, column))).collect();
        let name = cut(&neutral::line(&alone.program), NAME);
        let time = seconds(alone.seconds.mean);
        writeln!(out, "{:>2} {name:<NAME$} {time:>9} {}", row + 1, cells.concat())?;
    }
    Ok(())
}

/// What to do, line by line: a title and its text.
fn answer(matrix: &Matrix) -> Vec<(&'static str, String)> {
    let mut lines = vec![("Matching", matching(matrix))];
    let gain = matrix.sorted(|group| group.throughput.above(1.0 + PAYS));
    if !gain.is_empty() {
        let of = |group: &&Together| format!("{} {}", group.name(), number::ratio(group.throughput.mean));
        let best: Vec<String> = gain.iter().rev().take(LISTED).map(of).collect();
        let text =
            format!("work done in the time in which turns do 1: {}{}.", best.join(", "), rest(gain.len()));
        lines.push(("Gain", text));
    }
    let lose = matrix.sorted(Together::loses);
    let avoid = match (&lose[..], matrix.groups.len()) {
        ([], 1) => "nothing: sharing does not certainly lose against taking turns.".to_owned(),
        ([], _) => format!(
            "nothing: in none of {} does sharing certainly lose against taking turns.",
            groups_of(&matrix.groups)
        ),
        _ => {
            let worst: Vec<String> = lose.iter().take(LISTED).map(|group| group.loss()).collect();
            format!("{}{}.", worst.join("; "), rest(lose.len()))
        }
    };
    lines.push(("Avoid", avoid));
    if let [first, others @ ..] = &matrix.doubts[..] {
        lines.push(("Doubts", first.clone()));
        lines.extend(others.iter().map(|doubt| ("", doubt.clone())));
    }
    lines
}

/// `3 pairs`, or groups where there are larger ones.
pub(super) fn groups_of(groups: &[Together]) -> String {
    if groups.iter().all(|group| group.members.len() == 2) {
        plural(groups.len(), "pair", "pairs")
    } else {
        plural(groups.len(), "group", "groups")
    }
}

/// How many more there are.
fn rest(all: usize) -> String {
    match all.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// The division, and what it gains.
fn matching(matrix: &Matrix) -> String {
    let division = &matrix.division;
    let name = |part: &Vec<usize>| {
        let names: Vec<&str> =
            part.iter().map(|program| matrix.programs[*program].program.as_str()).collect();
        if names.len() == 1 { format!("{} alone", names[0]) } else { names.join(" + ") }
    };
    let parts: Vec<String> = division.parts.iter().map(name).collect();
    let change = 1.0 - division.seconds / division.taking_turns;
    let found = if division.exact { "no other division takes less" } else { "found by local search" };
    let saved = if change.abs() < 5e-4 {
        "as long as one after the other".to_owned()
    } else {
        format!(
            "{} % less than one after the other ({})",
            number::percent(change),
            seconds(division.taking_turns)
        )
    };
    format!("{}: {} for all programs once, {saved}; {found}.", parts.join(", "), seconds(division.seconds))
}

impl Matrix {
    /// The slowdown of a program beside one other, as text.
    fn cell(&self, row: usize, column: usize) -> String {
        let members = [row.min(column), row.max(column)];
        let group = self.groups.iter().find(|group| group.members == members);
        let slowdown = group.and_then(|group| {
            let place = group.members.iter().position(|program| *program == row)?;
            Some(group.slowdowns.get(place)?.mean)
        });
        slowdown.map_or_else(|| "-".to_owned(), number::ratio)
    }

    /// Groups of a choice, the smallest throughput first.
    fn sorted(&self, which: impl Fn(&Together) -> bool) -> Vec<&Together> {
        let mut found: Vec<&Together> = self.groups.iter().filter(|group| which(group)).collect();
        found.sort_by(|a, b| a.throughput.mean.total_cmp(&b.throughput.mean));
        found
    }
}

impl Together {
    /// The programs as a name.
    #[must_use]
    pub fn name(&self) -> String {
        self.programs.join(" + ")
    }

    /// Whether sharing does certainly less than taking turns.
    #[must_use]
    pub fn loses(&self) -> bool {
        self.throughput.below(1.0 - PAYS)
    }

    /// The largest parts of the added time, as text: `64 % queueing for a cpu, 30 % polling`.
    #[must_use]
    pub fn cause(&self) -> Option<String> {
        let seen = self.causes.iter().filter(|cause| cause.share >= SEEN).take(2);
        let parts: Vec<String> =
            seen.map(|cause| format!("{:.0} % {}", 100.0 * cause.share, cause.part)).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn loss(&self) -> String {
        let worst = self.slowdowns.iter().zip(&self.programs).max_by(|a, b| a.0.mean.total_cmp(&b.0.mean));
        let worst = worst.map_or_else(String::new, |(slowdown, program)| {
            format!(", {program} takes {} times as long", number::ratio(slowdown.mean))
        });
        let why = self.cause().map_or_else(String::new, |cause| format!("; added time: {cause}"));
        format!("{} (work {}{worst}{why})", self.name(), number::ratio(self.throughput.mean))
    }
}
