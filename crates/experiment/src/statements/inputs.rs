//! What uncertain inputs do to the best value: in how many draws it stays the best, how far it moves, and
//! which input it follows.

use super::ranking::{Goal, Standing};
use super::table::Table;
use crate::number::{self, plural};
use crate::result::{Cell, DrawnInput};
use crate::statistics::{correlation_p, spearman};

/// A value follows an input if chance alone would lead one of all inputs to such a rank correlation with
/// at most this probability (Bonferroni's bound).
const CHANCE: f64 = 0.05;

/// The sentences about uncertain inputs; none where they were not drawn. `rivals`: what the best is
/// compared with, itself included; `goal`: by what.
#[must_use]
pub fn sentences(
    table: &Table<'_>,
    goal: &Goal,
    best: &Standing<'_>,
    rivals: &[&Standing<'_>],
) -> Option<String> {
    let uncertainty = table.results.uncertainty.as_ref()?;
    let error = best.cell.input_error.as_ref()?;
    let (stays, draws) = stays_best(goal, best, rivals);
    let many = table.results.provenance.machines.len() > 1;
    let of = match table.results.provenance.machines.as_slice() {
        [machine] => format!(" of {}", machine.name),
        _ => String::new(),
    };
    let values = plural(uncertainty.inputs.len(), "estimated value", "estimated values");
    let mut text = format!(
        "{} of {values}{of}: {}{}",
        plural(draws, "draw", "draws"),
        best.policy,
        table.with(best.configuration)
    );
    let part = (best.value.mean > 0.0).then(|| error.half_width / best.value.mean * 100.0);
    let change = part.map(|part| format!("changes by ±{} % of itself.", number::variation(part)));
    match (rivals.len() > 1, change) {
        (true, Some(change)) => text.push_str(&format!(" stays the best in {stays}. Its value {change}")),
        (true, None) => text.push_str(&format!(" stays the best in {stays}.")),
        (false, change) => text.push_str(&format!(" {}", change?)),
    }
    if let Some((input, rho)) = followed(&uncertainty.inputs, best.cell) {
        let of = if many { format!(" of {}", input.machine) } else { String::new() };
        text.push_str(&format!(" It follows {}{of} (rank correlation {rho:.2}).", input.name));
    }
    Some(text)
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
