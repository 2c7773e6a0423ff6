//! What uncertain inputs do to the best value: in how many draws it stays the best, how far it moves, and
//! which input it follows.

use super::ranking::{Goal, Standing};
use super::statement::{Followed, Inputs};
use super::table::Table;
use crate::result::{Cell, DrawnInput};
use crate::statistics::{correlation_p, spearman};

/// A value follows an input if chance alone would lead one of all inputs to such a rank correlation with
/// at most this probability (Bonferroni's bound).
const CHANCE: f64 = 0.05;

/// What uncertain inputs do to the best; none where they were not drawn. `rivals`: what the best is compared
/// with, itself included; `goal`: by what.
#[must_use]
pub fn inputs<'a>(
    table: &Table<'a>,
    goal: &Goal,
    best: Standing<'a>,
    rivals: &[&Standing<'_>],
) -> Option<Inputs<'a>> {
    let uncertainty = table.results.uncertainty.as_ref()?;
    let error = best.cell.input_error.as_ref()?;
    let (stays, draws) = stays_best(goal, &best, rivals);
    let machine = match table.results.provenance.machines.as_slice() {
        [machine] => Some(machine.name.as_str()),
        _ => None,
    };
    let stays_best = (rivals.len() > 1).then_some(stays);
    let change = (best.value.mean > 0.0).then(|| error.half_width / best.value.mean);
    let follows = followed(&uncertainty.inputs, best.cell).map(|(input, rank_correlation)| Followed {
        machine: &input.machine,
        input: &input.name,
        rank_correlation,
    });
    let values = uncertainty.inputs.len();
    let stated = uncertainty.inputs.iter().filter(|input| input.machine.is_empty()).count();
    (stays_best.is_some() || change.is_some()).then_some(Inputs {
        draws,
        values,
        stated: (stated > 0).then_some(stated),
        machine,
        best,
        stays_best,
        change,
        follows,
    })
}

/// In how many draws a standing is not beaten by one of its rivals, and the number of draws in which it
/// has a value.
fn stays_best(goal: &Goal, best: &Standing<'_>, rivals: &[&Standing<'_>]) -> (usize, usize) {
    let drawn = |cell: &Cell, at: usize| cell.input_error.as_ref().and_then(|error| *error.draws.get(at)?);
    let count = best.cell.input_error.as_ref().map_or(0, |error| error.draws.len());
    let own: Vec<(usize, f64)> = (0..count).filter_map(|at| Some((at, drawn(best.cell, at)?))).collect();
    let beaten = |at: usize, own: f64| {
        let others = rivals.iter().filter_map(|rival| drawn(rival.cell, at));
        let mut others = others.map(|other| if goal.higher() { other > own } else { other < own });
        others.any(|better| better)
    };
    (own.iter().filter(|(at, own)| !beaten(*at, *own)).count(), own.len())
}

/// The input that a value follows most closely, with the rank correlation.
fn followed<'a>(inputs: &'a [DrawnInput], cell: &Cell) -> Option<(&'a DrawnInput, f64)> {
    let draws = &cell.input_error.as_ref()?.draws;
    let rho = |input: &DrawnInput| {
        let pairs = input.places.iter().zip(draws).filter_map(|(place, value)| Some((*place, (*value)?)));
        spearman(&pairs.collect::<Vec<_>>())
    };
    let all = inputs.iter().filter_map(|input| Some((input, rho(input)?)));
    let best = all.rev().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let chance = correlation_p(best.1, draws.iter().flatten().count())? * inputs.len() as f64;
    (chance <= CHANCE).then_some(best)
}
