//! The report in Markdown: a table per group.

use std::io::{self, Write};

use notation::declare::Choice;
use notation::neutral::markdown;

use super::numbers::{margin, short, simulated};
use experiment::export::{Exporter, Form, View};

use crate::reproduce::Reproduction;
use crate::score;

/// Markdown.
#[derive(Debug)]
pub(super) struct Markdown;

impl Exporter<Reproduction> for Markdown {
    fn form(&self) -> Form {
        Form { name: "markdown", file: None, about: "Tables in Markdown" }
    }

    fn write(&self, reproduction: &Reproduction, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        summary(reproduction, out)?;
        for group in &reproduction.groups {
            writeln!(out, "\n## {}\n", markdown(&group.group))?;
            table(reproduction, &group.group, out)?;
        }
        Ok(())
    }
}

/// The groups and the score.
pub(super) fn summary(reproduction: &Reproduction, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| group | reproduced | uncertain ones | median error / tolerance | rank correlation |")?;
    writeln!(out, "|---|---:|---:|---:|---:|")?;
    let number = |x: Option<f64>| x.map_or("-".to_owned(), short);
    for group in &reproduction.groups {
        let of = |passed: usize, n: usize| if n == 0 { "-".to_owned() } else { format!("{passed} of {n}") };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            markdown(&group.group),
            of(group.passed, group.n),
            of(group.uncertain_passed, group.uncertain),
            number(group.median_abs_error),
            number(group.rank_correlation),
        )?;
    }
    let sentence = reproduction.score.sentence();
    if !sentence.is_empty() {
        writeln!(out, "\n**{sentence}**")?;
    }
    if let Some(score) = score::modern(&reproduction.groups) {
        writeln!(out, "\nThe modern chapter, as the mean over its groups: **{:.1} %**.", score * 100.0)?;
    }
    Ok(())
}

/// The claims of a group.
pub(super) fn table(reproduction: &Reproduction, group: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| claim | machine | workload | metric | published | simulated | tolerance | margin | |")?;
    writeln!(out, "|---|---|---|---|---|---|---|---:|---|")?;
    for (claim, finding) in reproduction.claims.iter().zip(&reproduction.findings) {
        if claim.group != group {
            continue;
        }
        let mark = if claim.uncertain.is_some() { " (uncertain)" } else { "" };
        writeln!(
            out,
            "| {}{mark} | {} | {} | {} | {} | {} | {} {} | {} | {} |",
            markdown(&claim.id),
            markdown(&claim.texts.machine),
            markdown(&claim.texts.workload),
            markdown(&claim.texts.metric),
            markdown(&claim.published()),
            if finding.points.is_empty() { markdown(&finding.reason) } else { markdown(&simulated(finding)) },
            claim.tolerance.kind.word(),
            claim.tolerance.amount,
            margin(finding),
            finding.verdict.name(),
        )?;
    }
    Ok(())
}
