//! The report as one JSON object.

use std::io::{self, Write};

use notation::declare::Choice;
use serde::Serialize;
use serde_json::{Value as Json, json};

use experiment::export::{Exporter, Form, View};

use crate::answer::Point;
use crate::claims::Claim;
use crate::held_out::is_held_out;
use crate::reproduce::Reproduction;
use crate::score::{self, Group};
use crate::verdict::Finding;

/// Name and version of the schema.
pub(super) const SCHEMA: &str = "oversim.reproduce/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    claims: Vec<Row<'a>>,
    groups: &'a [Group],
    /// Mean over the groups of the share reproduced, uncertain claims apart.
    score: Option<f64>,
    /// The same of the claims that work on the model uses one by one, and of those held out.
    score_visible: Option<f64>,
    score_held_out: Option<f64>,
    /// The same of the modern chapter, which `score` leaves out.
    modern_score: Option<f64>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    group: &'a str,
    machine: &'a str,
    workload: &'a str,
    metric: &'a str,
    unit: &'a str,
    form: &'static str,
    published: Json,
    /// A number; the numbers of named parts; the two ends of several values; nothing for statements.
    simulated: Json,
    ci95: Json,
    error: Option<f64>,
    /// How far the value that decides may move before the claim fails, or with a minus has to move to pass.
    margin: Option<f64>,
    tolerance: Json,
    verdict: &'static str,
    reason: &'a str,
    uncertain: bool,
    held_out: bool,
    /// The single values behind it, those that decided first.
    points: &'a [Point],
}

/// JSON.
#[derive(Debug)]
pub(super) struct AsJson;

impl Exporter<Reproduction> for AsJson {
    fn form(&self) -> Form {
        Form { name: "json", file: None, about: "One JSON object with all details" }
    }

    fn write(&self, reproduction: &Reproduction, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let rows = reproduction
            .claims
            .iter()
            .zip(&reproduction.findings)
            .map(|(claim, finding)| row(claim, finding));
        let document = Document {
            schema: SCHEMA,
            claims: rows.collect(),
            groups: &reproduction.groups,
            score: reproduction.score.all,
            score_visible: reproduction.score.visible,
            score_held_out: reproduction.score.held_out,
            modern_score: score::modern(&reproduction.groups),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

fn row<'a>(claim: &'a Claim, finding: &'a Finding) -> Row<'a> {
    let (simulated, ci95) = simulated(finding);
    Row {
        id: &claim.id,
        group: &claim.group,
        machine: &claim.texts.machine,
        workload: &claim.texts.workload,
        metric: &claim.texts.metric,
        unit: &claim.texts.unit,
        form: claim.form.word(),
        published: claim.value.json(),
        simulated,
        ci95,
        error: finding.error,
        margin: finding.margin,
        tolerance: json!({ "type": claim.tolerance.kind.word(), "value": claim.tolerance.amount }),
        verdict: finding.verdict.name(),
        reason: &finding.reason,
        uncertain: claim.uncertain.is_some(),
        held_out: is_held_out(&claim.id),
        points: &finding.points,
    }
}

fn simulated(finding: &Finding) -> (Json, Json) {
    match finding.points.as_slice() {
        [] => (Json::Null, Json::Null),
        [point] => (json!(point.value), json!(point.ci95)),
        points if finding.pairs.len() > 1 => (
            points.iter().map(|p| (p.label.clone(), json!(p.value))).collect(),
            points.iter().map(|p| (p.label.clone(), json!(p.ci95))).collect(),
        ),
        points if finding.pairs.len() == 1 => (json!(points[0].value), json!(points[0].ci95)),
        points => {
            let low = points.iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
            let high = points.iter().map(|p| p.value).fold(f64::NEG_INFINITY, f64::max);
            (json!([low, high]), Json::Null)
        }
    }
}
