//! The report for people at a terminal.

use std::io::{self, Write};

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use notation::declare::Choice;
use notation::neutral;

use super::numbers::{margin, short, simulated};
use experiment::export::{Exporter, Form, View};

use crate::reproduce::Reproduction;
use crate::score;

/// Longest published statement shown, in characters.
const STATEMENT: usize = 48;
/// Longest reason shown.
const REASON: usize = 60;

/// Text.
#[derive(Debug)]
pub(super) struct Text;

impl Exporter<Reproduction> for Text {
    fn form(&self) -> Form {
        Form { name: "text", file: None, about: "Sentences and tables" }
    }

    fn write(&self, reproduction: &Reproduction, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let mut text = Vec::new();
        plain(reproduction, &mut text)?;
        // The texts of claims come from a file.
        out.write_all(neutral::lines(&String::from_utf8_lossy(&text)).as_bytes())
    }
}

/// The text as the claims have it.
fn plain(reproduction: &Reproduction, out: &mut dyn Write) -> io::Result<()> {
    for group in &reproduction.groups {
        writeln!(out, "{}: {} of {} reproduced{}", group.group, group.passed, group.n, uncertain(group))?;
        let mut table = Table::new();
        table.load_style(NOTHING);
        table.set_header(["", "claim", "published", "simulated", "tolerance", "margin", "why"]);
        for (claim, finding) in reproduction.claims.iter().zip(&reproduction.findings) {
            if claim.group != group.group {
                continue;
            }
            let mark = if claim.uncertain.is_some() { "?" } else { "" };
            table.add_row([
                finding.verdict.name().to_owned(),
                format!("{}{mark}", claim.id),
                cut(&claim.published(), STATEMENT),
                simulated(finding),
                format!("{} {}", claim.tolerance.kind.word(), claim.tolerance.amount),
                margin(finding),
                cut(&finding.reason, REASON),
            ]);
        }
        writeln!(out, "{}\n", table.trim_fmt())?;
    }
    summary(reproduction, out)
}

fn uncertain(group: &score::Group) -> String {
    let rank = group.rank_correlation.map_or(String::new(), |r| format!(", rank correlation {}", short(r)));
    match group.uncertain {
        0 => rank,
        n => format!(" (and {} of {n} uncertain){rank}", group.uncertain_passed),
    }
}

fn summary(reproduction: &Reproduction, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(["group", "reproduced", "of", "share", "median error / tolerance", "rank correlation"]);
    let number = |x: Option<f64>| x.map_or(String::new(), short);
    for group in &reproduction.groups {
        let share = if group.n == 0 { None } else { Some(group.passed as f64 / group.n as f64) };
        table.add_row([
            group.group.clone(),
            group.passed.to_string(),
            group.n.to_string(),
            number(share),
            number(group.median_abs_error),
            number(group.rank_correlation),
        ]);
    }
    writeln!(out, "{}", table.trim_fmt())?;
    let sentence = reproduction.score.sentence();
    if !sentence.is_empty() {
        writeln!(out, "\n{sentence} Claims marked ? are uncertain and count apart.")?;
    }
    if let Some(score) = score::modern(&reproduction.groups) {
        writeln!(out, "\nmodern chapter, mean over its groups: {:.1} %", score * 100.0)?;
    }
    Ok(())
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest - 3).collect();
    format!("{kept}...")
}
