//! What uncertain inputs do to the best value: in how many draws it stays the best, how far it moves, and which
//! input it follows.

use super::answer::{Extremes, Line};
use super::ranking::Standing;
use super::table::Table;
use crate::number::{self, plural};
use crate::result::{Cell, DrawnInput};
use crate::statistics::spearman;

/// A value follows an input if their rank correlation is at least this. With 20 draws, one of 40 inputs without any
/// effect reaches 0.6 in 19 % of the cases; the critical value for a single one is 0.45 (5 %).
const FOLLOWS: f64 = 0.6;
/// Fewer draws correlate by chance.
const LEAST_DRAWS: usize = 10;

/// The line about uncertain inputs; none where they were not drawn.
#[must_use]
pub fn line(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<Line> {
    let uncertainty = table.results.uncertainty.as_ref()?;
    let best = &extremes.best;
    let error = best.cell.input_error.as_ref()?;
    let (stays, draws, rivals) = stays_best(extremes, best);
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
    match (rivals > 1, change) {
        (true, Some(change)) => text.push_str(&format!(" stays the best in {stays}. Its value {change}")),
        (true, None) => text.push_str(&format!(" stays the best in {stays}.")),
        (false, change) => text.push_str(&format!(" {}", change?)),
    }
    if let Some((input, rho)) = followed(&uncertainty.inputs, best.cell) {
        let of = if many { format!(" of {}", input.machine) } else { String::new() };
        text.push_str(&format!(" It follows {}{of} (rank correlation {rho:.2}).", input.name));
    }
    Some(Line { label: "Inputs", text })
}

/// In how many draws a standing is not beaten by another one of those that it is compared with, the number of draws in
/// which it has a value, and how many are compared.
fn stays_best(extremes: &Extremes<'_>, best: &Standing<'_>) -> (usize, usize, usize) {
    let rivals: Vec<&Standing<'_>> = if extremes.comparable {
        extremes.rankings.iter().flatten().collect()
    } else {
        extremes.rankings[best.configuration].iter().collect()
    };
    let drawn = |cell: &Cell, at: usize| cell.input_error.as_ref().and_then(|error| *error.draws.get(at)?);
    let count = best.cell.input_error.as_ref().map_or(0, |error| error.draws.len());
    let own: Vec<(usize, f64)> = (0..count).filter_map(|at| Some((at, drawn(best.cell, at)?))).collect();
    let beaten = |at: usize, own: f64| {
        let others = rivals.iter().filter_map(|rival| drawn(rival.cell, at));
        let mut others = others.map(|other| if extremes.goal.higher() { other > own } else { other < own });
        others.any(|better| better)
    };
    (own.iter().filter(|(at, own)| !beaten(*at, *own)).count(), own.len(), rivals.len())
}

/// The input that a value follows most closely, with the rank correlation.
fn followed<'a>(inputs: &'a [DrawnInput], cell: &Cell) -> Option<(&'a DrawnInput, f64)> {
    let draws = &cell.input_error.as_ref()?.draws;
    let rho = |input: &DrawnInput| {
        let pairs: Vec<(f64, f64)> =
            input.places.iter().zip(draws).filter_map(|(place, value)| Some((*place, (*value)?))).collect();
        if pairs.len() < LEAST_DRAWS { None } else { spearman(&pairs) }
    };
    let all = inputs.iter().filter_map(|input| Some((input, rho(input)?)));
    let best = all.rev().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    (best.1.abs() >= FOLLOWS).then_some(best)
}
