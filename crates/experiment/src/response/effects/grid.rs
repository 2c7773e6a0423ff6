//! Shares of the variance on a complete grid: analysis of variance with seeds as blocks.

use std::collections::BTreeMap;

use super::values::Values;
use super::{Kind, Share};
use crate::response::Response;
use crate::statistics::rounded;

/// A factor: its kind, its name, and its level in each cell (configuration and policy).
struct Factor {
    kind: Kind,
    name: String,
    levels: Vec<usize>,
    count: usize,
}

/// The shares of axes, policy, pairs, rest and seeds.
pub(super) fn shares(response: &Response, values: &Values) -> Vec<Share> {
    let means = values.means();
    let cells: Vec<f64> = means.concat();
    let (total, mean, replicates) = (values.total(), values.mean(), values.replicates as f64);
    let (within, chance) = values.seeds(&means);
    let factors = factors(response, values);
    let squares = |levels: &[usize]| {
        let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (level, value) in levels.iter().zip(&cells) {
            let entry = sums.entry(*level).or_default();
            *entry = (entry.0 + value - mean, entry.1 + 1.0);
        }
        sums.values().map(|(sum, count)| sum * sum / count).sum::<f64>() * replicates
    };
    let share = |squares: f64, freedom: f64| rounded(((squares - freedom * chance) / total).max(0.0));
    let (mut shares, mut explained, mut used) = (Vec::new(), 0.0, 0.0);
    let mains: Vec<f64> = factors.iter().map(|factor| squares(&factor.levels)).collect();
    for (factor, squares) in factors.iter().zip(&mains) {
        let freedom = factor.count as f64 - 1.0;
        (explained, used) = (explained + squares, used + freedom);
        let (kind, name) = (factor.kind, factor.name.clone());
        shares.push(Share { kind, name, share: share(*squares, freedom) });
    }
    for (at, a) in factors.iter().enumerate() {
        for (other, b) in factors.iter().enumerate().skip(at + 1) {
            let joint: Vec<usize> =
                a.levels.iter().zip(&b.levels).map(|(a, level)| a * b.count + level).collect();
            let squares = (squares(&joint) - mains[at] - mains[other]).max(0.0);
            let freedom = (a.count as f64 - 1.0) * (b.count as f64 - 1.0);
            (explained, used) = (explained + squares, used + freedom);
            let name = format!("{} × {}", a.name, b.name);
            shares.push(Share { kind: Kind::Pair, name, share: share(squares, freedom) });
        }
    }
    let every = squares(&(0..cells.len()).collect::<Vec<_>>());
    let freedom = cells.len() as f64 - 1.0;
    if factors.len() > 2 {
        let rest = share((every - explained).max(0.0), freedom - used);
        shares.push(Share { kind: Kind::Rest, name: "three factors or more".into(), share: rest });
    }
    if values.replicates > 1 {
        let seeds = rounded(((within + freedom * chance) / total).min(1.0));
        shares.push(Share { kind: Kind::Seeds, name: "seeds".into(), share: seeds });
    }
    shares
}

/// The axes and the policy, if there are two.
fn factors(response: &Response, values: &Values) -> Vec<Factor> {
    let names = response.names();
    let mut factors = Vec::new();
    for (axis, name) in names.into_iter().enumerate() {
        let places = values.points.iter().map(|at| response.points[*at].places[axis]);
        let levels: Vec<usize> =
            places.flat_map(|place| std::iter::repeat_n(place, values.policies)).collect();
        let mut used: Vec<usize> = levels.clone();
        used.sort_unstable();
        used.dedup();
        let rank = |place: usize| used.iter().position(|known| *known == place).unwrap_or(0);
        let levels: Vec<usize> = levels.into_iter().map(rank).collect();
        if used.len() > 1 {
            factors.push(Factor { kind: Kind::Parameter, name, levels, count: used.len() });
        }
    }
    if values.policies > 1 {
        let levels = (0..values.points.len()).flat_map(|_| 0..values.policies).collect();
        factors.push(Factor { kind: Kind::Policy, name: "policy".into(), levels, count: values.policies });
    }
    factors
}
