//! What limits the trust in a result: seeds, runs that did not complete, uncertain inputs, shortened
//! programs.

use std::collections::BTreeSet;

use super::answer::Extremes;
use super::ranking::Standing;
use super::table::Table;
use crate::number::{self, listed, plural};
use crate::statistics::half_widths;

/// An interval wider than this part of its mean is a doubt.
const WIDE: f64 = 0.1;
/// Numbers of seeds that are recommended.
const ROUND: [usize; 8] = [3, 5, 10, 15, 20, 30, 50, 100];
/// Names in a list before the rest becomes a number.
const NAMED: usize = 4;

/// Whether the interval of a value is wider than a tenth of it.
#[must_use]
pub fn is_wide(standing: &Standing<'_>) -> bool {
    relative(standing).is_some_and(|width| width > WIDE)
}

/// Half the width of the interval over the mean.
fn relative(standing: &Standing<'_>) -> Option<f64> {
    let half = standing.value.half_width()?;
    (standing.value.mean > 0.0).then(|| half / standing.value.mean)
}

/// The doubts, each a few sentences; the most serious first.
#[must_use]
pub fn doubts(table: &Table<'_>, extremes: Option<&Extremes<'_>>) -> Vec<String> {
    let mut doubts: Vec<String> = Vec::new();
    doubts.extend(incomplete(table));
    doubts.extend(extremes.and_then(|extremes| seeds(table, extremes)));
    doubts.extend(shortened(table));
    doubts.extend(sampled(table));
    doubts.extend(uncertain(table));
    doubts
}

/// Runs that did not complete.
fn incomplete(table: &Table<'_>) -> Option<String> {
    let notes = &table.results.notes;
    let first = notes.first()?;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let policies: Vec<&str> =
        notes.iter().map(|note| note.policy.as_str()).filter(|policy| seen.insert(policy)).collect();
    Some(format!(
        "{} of {} did not complete ({}) and count in no number. Seed {}: {}.",
        notes.len(),
        plural(table.results.provenance.runs, "run", "runs"),
        listed(&policies),
        first.seed,
        first.text
    ))
}

/// How many seeds there are, and which intervals are wide.
fn seeds(table: &Table<'_>, extremes: &Extremes<'_>) -> Option<String> {
    let repeat = table.results.provenance.repeat;
    let all: Vec<&Standing<'_>> = extremes.rankings.iter().flatten().collect();
    if repeat < 2 {
        let differ = all.len() > 1;
        return differ.then(|| {
            "There is one seed, so there are no intervals. Small differences may be chance: try --repeat \
                5."
            .to_owned()
        });
    }
    let widest =
        *all.iter().max_by(|a, b| relative(a).unwrap_or(0.0).total_cmp(&relative(b).unwrap_or(0.0)))?;
    let width = relative(widest).filter(|width| *width > WIDE)?;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let wide = all.iter().filter(|s| is_wide(s)).map(|s| s.policy);
    let mut policies: Vec<&str> = wide.filter(|policy| seen.insert(policy)).collect();
    // The width follows Student's t for the number of seeds over its root, with the variation that was seen.
    let width_of = |seeds: usize| width * half_widths(seeds) / half_widths(repeat as usize);
    let count = ROUND.into_iter().find(|count| *count > repeat as usize && width_of(*count) <= WIDE);
    let advice = match count {
        Some(count) => format!("--repeat {count} gives about ±10 %"),
        None => "±10 % needs more than 100 seeds".to_owned(),
    };
    policies.retain(|policy| *policy != widest.policy);
    let also =
        if policies.is_empty() { String::new() } else { format!(" Also wide: {}.", listed(&policies)) };
    Some(format!(
        "{repeat} seeds: ±{} % for {}{}; {advice}.{also}",
        number::variation(width * 100.0),
        widest.policy,
        table.with(widest.configuration)
    ))
}

/// Programs of which only a part is simulated.
fn shortened(table: &Table<'_>) -> Option<String> {
    let all = &table.results.provenance.shortened;
    let least = all.iter().map(|s| s.share).reduce(f64::min)?;
    let names: Vec<&str> = all.iter().map(|s| s.app.as_str()).collect();
    let (verb, names) = match names.as_slice() {
        names if names.len() > NAMED => ("simulate", plural(names.len(), "program", "programs")),
        [one] => ("simulates", (*one).to_owned()),
        names => ("simulate", listed(names)),
    };
    Some(format!("{names} {verb} {} % of the iterations; whole programs differ.", least * 100.0))
}

/// Runs of which a part is extrapolated.
fn sampled(table: &Table<'_>) -> Option<String> {
    let sampled = table.results.provenance.sampled?;
    if sampled.runs == 0 {
        return Some(
            "`fidelity: sampled` could extrapolate nothing: every run is simulated as a whole.".into(),
        );
    }
    Some(format!(
        "{} % of the time of all runs is extrapolated, in {} of {}, with an estimated error of at most {} % \
         of a run.",
        number::percent(sampled.extrapolated),
        sampled.runs,
        plural(table.results.provenance.runs, "run", "runs"),
        number::variation(sampled.error * 100.0)
    ))
}

/// Values of machines that are estimates, unless a line of the answer is about them.
fn uncertain(table: &Table<'_>) -> Option<String> {
    if table.results.uncertainty.is_some() {
        return None;
    }
    let machines = table.results.provenance.machines.iter();
    let each: Vec<String> = machines
        .clone()
        .filter_map(|machine| {
            let (uncertain, values) = (machine.uncertain.filter(|n| *n > 0)?, machine.values?);
            Some(format!("{uncertain} of {values} values of {}", machine.name))
        })
        .collect();
    let shown = each.len().min(NAMED);
    if shown == 0 {
        return None;
    }
    let more = if each.len() > shown {
        format!(" and values of {} more machines", each.len() - shown)
    } else {
        String::new()
    };
    let inputs = machines.flat_map(|machine| &machine.inputs).map(|input| input.name.as_str());
    let act = match inputs.collect::<BTreeSet<&str>>().len() {
        0 => String::new(),
        acting => format!("; {acting} can act here (--uncertainty)"),
    };
    Some(format!("{}{more} are estimates{act}.", listed(&each[..shown])))
}
