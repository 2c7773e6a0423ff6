//! One reproduction: claims to cells, cells to runs, runs to findings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::answer::{Answer, Trouble, answer};
use crate::claims::{Claim, Form, Value};
use crate::held_out::Shown;
use crate::lab::{self, Campaign, Cell, Lab, RunSample, simulate};
use crate::score::{self, Group, Score};
use crate::verdict::{Finding, judge};

/// What came out.
pub struct Reproduction {
    /// The claims in the order of the file.
    pub claims: Vec<Claim>,
    /// What the simulator says of each.
    pub findings: Vec<Finding>,
    /// The groups of these claims.
    pub groups: Vec<Group>,
    /// How many are reproduced, those that are not shown included.
    pub score: Score,
    /// Every cell simulated, by key.
    pub cells: BTreeMap<String, Arc<Vec<RunSample>>>,
}

/// The cells that claims ask for, each once; those of a quick look.
#[must_use]
pub fn wanted(claims: &[Claim], quick: bool) -> Vec<Cell> {
    let asked = claims.iter().filter_map(|claim| claim.asked.as_ref());
    let cells = asked.flat_map(|asked| asked.cells(quick)).map(|cell| (cell.key(), cell));
    cells.collect::<BTreeMap<String, Cell>>().into_values().collect()
}

/// What the simulator says about a claim.
fn said(claim: &Claim, lab: &Lab, quick: bool) -> Result<Answer, Trouble> {
    match &claim.asked {
        Some(asked) => answer(asked, lab, quick),
        None => Err(Trouble::uncovered("not tested: the claim names no cells (docs/claims.md)")),
    }
}

/// Runs what the claims ask for, and with `grids` all other cells of the studies that answer them; judges the
/// claims.
///
/// # Errors
/// The threads cannot be started, or a study's file is wrong.
pub fn reproduce(claims: Vec<Claim>, campaign: &Campaign<'_>, grids: bool) -> Result<Reproduction, String> {
    let mut cells = wanted(&claims, campaign.quick);
    if grids {
        add_grids(&mut cells)?;
    }
    let measured = simulate(&cells, campaign)?;
    let lab = Lab::new(measured.clone());
    let findings: Vec<Finding> = claims
        .iter()
        .map(|claim| judge(claim, &said(claim, &lab, campaign.quick), mean_of_table(claim, &claims)))
        .collect();
    let (groups, score) = (score::groups(&claims, &findings), Score::of(&claims, &findings));
    Ok(Reproduction { claims, findings, groups, score, cells: measured })
}

impl Reproduction {
    /// The same with only some of the claims; the score stays that of all.
    #[must_use]
    pub fn showing(self, shown: Shown) -> Self {
        let kept = self.claims.into_iter().zip(self.findings).filter(|(claim, _)| shown.has(claim));
        let (claims, findings): (Vec<Claim>, Vec<Finding>) = kept.unzip();
        let groups = score::groups(&claims, &findings);
        Self { claims, findings, groups, score: self.score, cells: self.cells }
    }
}

/// Adds the rest of each study that has a cell already.
fn add_grids(cells: &mut Vec<Cell>) -> Result<(), String> {
    let mut keys: std::collections::BTreeSet<String> = cells.iter().map(Cell::key).collect();
    let mut named: Vec<String> = cells.iter().map(|cell| cell.study().to_owned()).collect();
    named.sort_unstable();
    named.dedup();
    for study in named.iter().filter_map(|name| lab::find(name)) {
        for cell in lab::grid(study)? {
            if keys.insert(cell.key()) {
                cells.push(cell);
            }
        }
    }
    Ok(())
}

/// The published mean of the table a claim belongs to: the `average` of the same group, metric, policy and
/// machine.
fn mean_of_table(claim: &Claim, claims: &[Claim]) -> Option<f64> {
    let table = |claim: &Claim| {
        let texts = &claim.texts;
        (claim.group.clone(), texts.metric.clone(), texts.policy.clone(), claim.machines())
    };
    let same = |other: &&Claim| other.form == Form::Average && table(other) == table(claim);
    claims.iter().find(same).and_then(|other| match other.value {
        Value::Number(mean) => Some(mean),
        _ => None,
    })
}
