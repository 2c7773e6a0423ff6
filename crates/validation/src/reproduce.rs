//! One reproduction: claims to cells, cells to runs, runs to findings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::claims::{Claim, Form, Value};
use crate::held_out::Shown;
use crate::lab::{self, Campaign, Cell, Lab, RunSample, simulate};
use crate::score::{self, Group, Score};
use crate::studies;
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
    let mut lab = Lab::planning().quickly(quick);
    for claim in claims {
        // What cannot be resolved is found again, and told, when claims are judged.
        let _ = studies::answer(claim, &mut lab);
    }
    lab.into_wanted()
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
    let mut lab = Lab::measured(measured.clone()).quickly(campaign.quick);
    let findings: Vec<Finding> = claims
        .iter()
        .map(|claim| judge(claim, &studies::answer(claim, &mut lab), mean_of_table(claim, &claims)))
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
    let table = |claim: &Claim| (claim.group.clone(), claim.at.metric, claim.at.policy.clone());
    let same = |other: &&Claim| {
        other.form == Form::Average && table(other) == table(claim) && other.at.machines == claim.at.machines
    };
    claims.iter().find(same).and_then(|other| match other.value {
        Value::Number(mean) => Some(mean),
        _ => None,
    })
}
