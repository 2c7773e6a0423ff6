//! The answer as text, Markdown and JSON.

use std::fmt::Write;

use super::answer::{Answer, Kind, Row};
use super::sentences::{amount, sentences, signed_percent};

/// The most bars of the text.
const MOST_BARS: usize = 12;
/// Columns of the longest bar.
const BAR: f64 = 24.0;
/// Columns of the longest name.
const MOST_NAME: usize = 40;

/// Longer bars are cut: once and a half of the difference.
const LONGEST: f64 = 1.5;
/// Smaller parts have no bar: a hundredth of the difference.
const LEAST: f64 = 0.01;

/// The rows with a bar, and how many smaller ones are shown, too.
fn bars(answer: &Answer) -> (Vec<&Row>, usize) {
    let shown = || answer.mechanisms.iter().filter(|row| row.shown().is_some());
    let large = shown().filter(|row| row.shown().is_some_and(|part| part.mean.abs() >= LEAST));
    let bars: Vec<&Row> = large.take(MOST_BARS).collect();
    let hidden = shown().count() - bars.len();
    (bars, hidden)
}

/// Text of at most `width` columns.
#[must_use]
pub fn text(answer: &Answer, width: usize) -> String {
    let mut out = String::new();
    for sentence in sentences(answer) {
        for line in notation::text::wrapped(&sentence, width) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    let (rows, hidden) = bars(answer);
    if !rows.is_empty() {
        out.push('\n');
        table(&rows, &mut out);
        if hidden > 0 {
            let _ = writeln!(out, "smaller ones, in --format markdown: {hidden}");
        }
    }
    for note in notes(answer) {
        for line in notation::text::wrapped(&note, width) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    notation::neutral::lines(&out).into_owned()
}

/// The tornado: the part of each mechanism as a bar, to the right what it makes, hatched what works against
/// the difference.
fn table(rows: &[&Row], out: &mut String) {
    let most = rows.iter().filter_map(|row| row.part).map(|part| part.mean.abs()).fold(0.0, f64::max);
    let most = most.min(LONGEST);
    let names: Vec<String> = rows.iter().map(|row| notation::text::cut(&row.name, MOST_NAME)).collect();
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("moved alone".len());
    let alone = rows.iter().any(|row| row.alone.is_some());
    let last = if alone { "  alone %" } else { "" };
    let bar_wide = BAR as usize;
    let _ = writeln!(out, "{:<wide$}  {:<bar_wide$}  part %  95 % interval{last}", "moved alone", "");
    for (row, name) in rows.iter().zip(&names) {
        let Some(part) = row.part else { continue };
        let cells = (part.mean.abs() / most * BAR).round().max(1.0) as usize;
        let mut bar = if part.mean < 0.0 { "░" } else { "█" }.repeat(cells.min(bar_wide));
        if cells > bar_wide {
            bar.pop();
            bar.push('>');
        }
        let [low, high] = part.ci95.map(signed_percent);
        let mean = signed_percent(part.mean);
        let interval = format!("{low} to {high}");
        let alone = row.alone.map_or_else(String::new, |alone| signed_percent(alone.mean));
        let line = format!("{name:<wide$}  {bar:<bar_wide$}  {mean:>6}  {interval:<13}  {alone:>7}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// What the table does not say.
fn notes(answer: &Answer) -> Vec<String> {
    let mut notes = Vec::new();
    if answer.mechanisms.iter().any(|row| row.kind == Kind::Difference) {
        notes.push(format!(
            "`->`: a setting in which the sides differ, moved on {} to the value of {}; alone: {} with only \
            that of {}.",
            answer.sides[1], answer.sides[0], answer.sides[0], answer.sides[1]
        ));
    }
    if !answer.not_moved.is_empty() {
        notes.push(format!("Not moved alone: {}.", answer.not_moved.join("; ")));
    }
    let ended: Vec<&Row> = answer.mechanisms.iter().filter(|row| !row.ended.is_empty()).collect();
    if let Some(row) = ended.first() {
        let more = match ended.len() - 1 {
            0 => String::new(),
            n => format!(" ({n} more alike)"),
        };
        notes.push(format!("No part is known of `{}`: {}{more}", row.name, row.ended));
    }
    notes
}

/// Markdown: the sentences and all rows with a part.
#[must_use]
pub fn markdown(answer: &Answer) -> String {
    let mut out = String::new();
    let plain = |text: &str| text.replace('|', "\\|");
    for sentence in sentences(answer) {
        let _ = writeln!(out, "{}\n", plain(&sentence));
    }
    let rows: Vec<&Row> = answer.mechanisms.iter().filter(|row| row.part.is_some()).collect();
    if !rows.is_empty() {
        out.push_str(
            "| moved alone | what the move does | part % | 95 % interval | left |\n|---|---|---:|---|---:|\n",
        );
    }
    for row in rows {
        let Some(part) = row.part else { continue };
        let [low, high] = part.ci95.map(signed_percent);
        let left = row.left.map_or_else(String::new, |left| amount(left.mean, answer.unit));
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {low} to {high}{} | {left} |",
            plain(&row.name),
            plain(&row.about),
            signed_percent(part.mean),
            if part.is_shown() { "" } else { ": no effect shown" },
        );
    }
    for note in notes(answer) {
        let _ = writeln!(out, "\n{}", plain(&note));
    }
    notation::neutral::lines(&out).into_owned()
}

/// JSON with everything.
#[must_use]
pub fn json(answer: &Answer) -> String {
    #[derive(serde::Serialize)]
    struct Whole<'a> {
        sentences: Vec<String>,
        #[serde(flatten)]
        answer: &'a Answer,
    }
    let whole = Whole { sentences: sentences(answer), answer };
    // Numbers and strings only: this cannot fail.
    serde_json::to_string_pretty(&whole).map_or_else(|error| error.to_string(), |text| text + "\n")
}
