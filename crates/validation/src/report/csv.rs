//! The report as a table: one claim per row, and behind them the scores.

use std::io::{self, Write};

use notation::declare::Choice;
use notation::neutral;

use super::numbers::simulated;
use experiment::export::{Exporter, Form, View};

use crate::claims::{Claim, Value};
use crate::held_out::is_held_out;
use crate::reproduce::Reproduction;
use crate::score::Score;
use crate::verdict::Finding;

/// CSV.
#[derive(Debug)]
pub(super) struct Csv;

impl Exporter<Reproduction> for Csv {
    fn form(&self) -> Form {
        Form { name: "csv", file: None, about: "One claim or comparison per row" }
    }

    fn write(&self, reproduction: &Reproduction, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        let header = [
            "id",
            "group",
            "machine",
            "workload",
            "metric",
            "form",
            "published",
            "simulated",
            "error",
            "margin",
            "tolerance_type",
            "tolerance",
            "verdict",
            "uncertain",
            "held_out",
            "reason",
        ];
        table.write_record(header).map_err(io::Error::other)?;
        for (claim, finding) in reproduction.claims.iter().zip(&reproduction.findings) {
            let row = [
                word(&claim.id),
                word(&claim.group),
                word(&claim.texts.machine),
                word(&claim.texts.workload),
                word(&claim.texts.metric),
                claim.form.word().to_owned(),
                published(claim),
                found(finding),
                number(finding.error),
                number(finding.margin),
                claim.tolerance.kind.word().to_owned(),
                claim.tolerance.amount.to_string(),
                finding.verdict.name().to_owned(),
                claim.uncertain.is_some().to_string(),
                is_held_out(&claim.id).to_string(),
                word(&finding.reason),
            ];
            table.write_record(row).map_err(io::Error::other)?;
        }
        let Score { all, visible, held_out } = reproduction.score;
        for (name, share) in [("score", all), ("score-visible", visible), ("score-held-out", held_out)] {
            let row = header.map(|column| match column {
                "id" => name.to_owned(),
                "metric" => "share reproduced".to_owned(),
                "simulated" => number(share),
                _ => String::new(),
            });
            table.write_record(row).map_err(io::Error::other)?;
        }
        table.flush()
    }
}

fn number(number: Option<f64>) -> String {
    number.map(|x| x.to_string()).unwrap_or_default()
}

/// A text, which no program for tables takes for a formula.
fn word(text: &str) -> String {
    neutral::cell(text).into_owned()
}

/// What was published; numbers stay as they are.
fn published(claim: &Claim) -> String {
    match &claim.value {
        Value::Text(_) | Value::Parts(_) => word(&claim.published()),
        _ => claim.published(),
    }
}

/// What was simulated; the names of parts are those of the claim.
fn found(finding: &Finding) -> String {
    let text = simulated(finding);
    if finding.pairs.len() > 1 { word(&text) } else { text }
}
