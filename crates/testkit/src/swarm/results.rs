//! Sums and bounds of results, and results of the same policies in another order.

use std::collections::BTreeMap;

use experiment::metrics::Metric;
use experiment::references::{FAIR_SHARE, FAIR_SHARE_TOLERANCE, LOWER_BOUND, REFERENCES};
use experiment::result::{Cell, DEDICATED, Results};

/// What rounding may add to a sum of shares or take from a bound.
const ROUNDING: f64 = 1e-6;

/// The first thing that is wrong with the numbers of a result.
pub(super) fn wrong(results: &Results) -> Option<String> {
    let mut shares: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for cell in &results.cells {
        let at = || format!("{} {} {} {}", cell.configuration, cell.policy, cell.app, cell.metric);
        let s = &cell.summary;
        if s.n == 0 {
            continue;
        }
        let all = [s.mean, s.median, s.min, s.max];
        if all.iter().any(|value| !value.is_finite()) {
            return Some(format!("{}: {all:?} is no number", at()));
        }
        let room = ROUNDING * s.max.abs().max(s.min.abs());
        if s.min > s.mean + room || s.mean > s.max + room || s.min > s.median || s.median > s.max {
            return Some(format!("{}: {all:?} are out of order", at()));
        }
        let signed = cell.metric == "recovered" || Metric::is_signed(&cell.metric);
        if s.min < 0.0 && !signed {
            return Some(format!("{}: {} is negative", at(), s.min));
        }
        if cell.unit == "share" && s.max > 1.0 + ROUNDING {
            return Some(format!("{}: {} is more than all", at(), s.max));
        }
        if cell.metric.starts_with("breakdown_") {
            *shares.entry((&cell.configuration, &cell.policy)).or_default() += s.mean;
        }
    }
    let sum = shares.iter().find(|(_, sum)| (**sum - 1.0).abs() > ROUNDING && **sum != 0.0);
    if let Some(((configuration, policy), sum)) = sum {
        return Some(format!("{configuration} {policy}: the breakdown sums to {sum}"));
    }
    bound(results, LOWER_BOUND.label, ROUNDING)
        .or_else(|| bound(results, FAIR_SHARE.label, FAIR_SHARE_TOLERANCE + ROUNDING))
}

/// A policy that is faster than a reference allows, by more than this part of it.
fn bound(results: &Results, label: &str, tolerance: f64) -> Option<String> {
    let makespans = || results.cells.iter().filter(|cell| cell.metric == "makespan" && cell.summary.n > 0);
    for least in makespans().filter(|cell| cell.policy == label) {
        let reference = |cell: &&Cell| REFERENCES.iter().any(|reference| reference.label == cell.policy);
        let others = makespans().filter(|cell| cell.configuration == least.configuration && !reference(cell));
        for cell in others.filter(|cell| cell.policy != DEDICATED) {
            if cell.summary.mean < least.summary.mean * (1.0 - tolerance) && cell.summary.n == least.summary.n
            {
                return Some(format!(
                    "{}: the makespan {} is below the {label} of {}",
                    cell.policy, cell.summary.mean, least.summary.mean
                ));
            }
        }
    }
    None
}

/// The first value that differs between two results with the same runs.
pub(super) fn differ(one: &Results, other: &Results) -> Option<String> {
    // What is measured from the first policy on depends on the order.
    let cells = |results: &Results| -> BTreeMap<[String; 4], Vec<Option<f64>>> {
        let cells = results.cells.iter().filter(|cell| cell.metric != "recovered");
        let key = |cell: &Cell| {
            [cell.configuration.clone(), cell.policy.clone(), cell.app.clone(), cell.metric.clone()]
        };
        cells.map(|cell| (key(cell), cell.values.clone())).collect()
    };
    let (one, other) = (cells(one), cells(other));
    let first = one.iter().find(|(key, values)| other.get(*key) != Some(values));
    let found = first.map(|(key, values)| format!("{key:?}: {values:?} / {:?}", other.get(key)));
    found.or_else(|| (one.len() != other.len()).then(|| "another number of cells".to_owned()))
}
