//! Shares of the variance without a complete grid: correlation ratios of classes of values.

use std::collections::BTreeMap;

use super::values::Values;
use super::{Kind, Share};
use crate::response::Response;
use crate::statistics::rounded;

/// The most classes of a parameter, and of each member of a pair.
const MOST_CLASSES: usize = 16;
const MOST_OF_PAIR: usize = 4;

/// A decomposition of the values by configuration and policy.
struct Strata<'a> {
    values: &'a Values,
    /// Means of the configurations, around the mean of all.
    points: Vec<f64>,
    /// What remains of each policy in each configuration without the means of both.
    residuals: Vec<Vec<f64>>,
    /// The sums of squares of configurations and of residuals.
    of_points: f64,
    of_residuals: f64,
    total: f64,
}

/// The shares, and the parameters that have none.
pub(super) fn shares(response: &Response, values: &Values) -> (Vec<Share>, Vec<String>) {
    let means = values.means();
    let mean = values.mean();
    let (count, policies) = (means.len() as f64, values.policies as f64);
    let replicates = values.replicates as f64;
    let (within, chance) = values.seeds(&means);
    let of_policy: Vec<f64> =
        (0..values.policies).map(|p| means.iter().map(|of| of[p]).sum::<f64>() / count - mean).collect();
    let points: Vec<f64> = means.iter().map(|of| of.iter().sum::<f64>() / policies - mean).collect();
    let residual = |(of, point): (&Vec<f64>, &f64)| -> Vec<f64> {
        of.iter().zip(&of_policy).map(|(value, policy)| value - mean - point - policy).collect()
    };
    let residuals: Vec<Vec<f64>> = means.iter().zip(&points).map(residual).collect();
    let strata = Strata {
        values,
        of_points: squares(points.iter()) * policies * replicates,
        of_residuals: squares(residuals.iter().flatten()) * replicates,
        points,
        residuals,
        total: values.total(),
    };
    let (mut shares, mut unknown) = (Vec::new(), Vec::new());
    let names = response.names();
    let known: Vec<usize> = (0..names.len()).filter(|axis| distinct(response, values, *axis) > 1).collect();
    let mut usable = Vec::new();
    for axis in known {
        match classes(response, values, axis, MOST_CLASSES) {
            Some(of) => {
                let share = strata.share(strata.between_points(&of));
                shares.push(Share { kind: Kind::Parameter, name: names[axis].clone(), share });
                usable.push(axis);
            }
            None => unknown.push(names[axis].clone()),
        }
    }
    if values.policies > 1 {
        let freedom = (count - 1.0) * (policies - 1.0);
        let error = if freedom > 0.0 { strata.of_residuals / freedom } else { 0.0 };
        let own = squares(of_policy.iter()) * count * replicates;
        let share = strata.share(own - (policies - 1.0) * error);
        shares.push(Share { kind: Kind::Policy, name: "policy".into(), share });
    }
    pairs(response, &strata, &usable, &names, &mut shares);
    let freedom = count * policies - 1.0;
    let seeds = strata.share(within + freedom * chance).min(1.0);
    let explained: f64 = shares.iter().map(|one| one.share).sum();
    let seeds = (values.replicates > 1).then_some(seeds);
    let rest = rounded((1.0 - explained - seeds.unwrap_or(0.0)).max(0.0));
    shares.push(Share {
        kind: Kind::Rest,
        name: "three factors or more, within classes".into(),
        share: rest,
    });
    shares.extend(seeds.map(|share| Share { kind: Kind::Seeds, name: "seeds".into(), share }));
    (shares, unknown)
}

/// Pairs of parameters, and of each with the policy.
fn pairs(
    response: &Response,
    strata: &Strata<'_>,
    usable: &[usize],
    names: &[String],
    shares: &mut Vec<Share>,
) {
    let values = strata.values;
    let few: BTreeMap<usize, Vec<usize>> = usable
        .iter()
        .filter_map(|axis| Some((*axis, classes(response, values, *axis, MOST_OF_PAIR)?)))
        .collect();
    for (at, a) in usable.iter().enumerate() {
        for b in &usable[at + 1..] {
            let (Some(one), Some(other)) = (few.get(a), few.get(b)) else { continue };
            let joint: Vec<usize> =
                one.iter().zip(other).map(|(a, b)| a * (values.points.len() + 1) + b).collect();
            if 2 * groups(&joint) > joint.len() || groups(&joint) < groups(one) * groups(other) {
                // Too few configurations in a cell, or the two are not crossed.
                continue;
            }
            let own = strata.between_points(&joint)
                - strata.between_points(one).max(0.0)
                - strata.between_points(other).max(0.0);
            let name = format!("{} × {}", names[*a], names[*b]);
            shares.push(Share { kind: Kind::Pair, name, share: strata.share(own) });
        }
    }
    for axis in usable.iter().filter(|_| values.policies > 1) {
        let Some(of) = classes(response, values, *axis, MOST_CLASSES) else { continue };
        let name = format!("{} × policy", names[*axis]);
        shares.push(Share { kind: Kind::Pair, name, share: strata.share(strata.between_residuals(&of)) });
    }
}

impl Strata<'_> {
    /// A sum of squares as a share.
    fn share(&self, squares: f64) -> f64 {
        rounded((squares / self.total).max(0.0))
    }

    /// The sum of squares of configurations between classes, without what chance adds.
    fn between_points(&self, classes: &[usize]) -> f64 {
        let weight = (self.values.policies * self.values.replicates) as f64;
        let between = between(classes, &self.points) * weight;
        corrected(between, self.of_points, classes, 1.0)
    }

    /// The same of the differences between policies.
    fn between_residuals(&self, classes: &[usize]) -> f64 {
        let of =
            |policy: usize| between(classes, &self.residuals.iter().map(|of| of[policy]).collect::<Vec<_>>());
        let all: f64 = (0..self.values.policies).map(of).sum::<f64>() * self.values.replicates as f64;
        corrected(all, self.of_residuals, classes, self.values.policies as f64 - 1.0)
    }
}

/// A sum of squares between classes without its degrees of freedom times the mean square within them.
fn corrected(between: f64, total: f64, classes: &[usize], contrasts: f64) -> f64 {
    let (groups, count) = (groups(classes) as f64, classes.len() as f64);
    let freedom = (count - groups) * contrasts;
    if freedom <= 0.0 {
        return 0.0;
    }
    between - (groups - 1.0) * contrasts * ((total - between) / freedom).max(0.0)
}

fn squares<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    values.map(|x| x * x).sum()
}

/// The sum of squares of class means of values whose mean is 0.
fn between(classes: &[usize], values: &[f64]) -> f64 {
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (class, value) in classes.iter().zip(values) {
        let entry = sums.entry(*class).or_default();
        *entry = (entry.0 + value, entry.1 + 1.0);
    }
    sums.values().map(|(sum, count)| sum * sum / count).sum()
}

fn groups(classes: &[usize]) -> usize {
    classes.iter().collect::<std::collections::BTreeSet<_>>().len()
}

/// How many values of an axis occur.
fn distinct(response: &Response, values: &Values, axis: usize) -> usize {
    groups(&values.points.iter().map(|at| response.points[*at].places[axis]).collect::<Vec<_>>())
}

/// The class of each configuration: its value if there are few, else about equally many configurations of
/// neighbouring numbers in each class. `None` for names with too many values.
fn classes(response: &Response, values: &Values, axis: usize, most: usize) -> Option<Vec<usize>> {
    let count = values.points.len();
    let places: Vec<usize> = values.points.iter().map(|at| response.points[*at].places[axis]).collect();
    let found = distinct(response, values, axis);
    if found <= most && 2 * found <= count {
        return Some(places);
    }
    let Some(numbers) = &response.axes[axis].numbers else {
        return (2 * found <= count).then_some(places);
    };
    let wanted = (count as f64).sqrt() as usize;
    let wanted = wanted.clamp(2, most);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| numbers[places[*a]].total_cmp(&numbers[places[*b]]));
    let mut classes = vec![0; count];
    let mut last: Option<(f64, usize)> = None;
    for (rank, at) in order.into_iter().enumerate() {
        let number = numbers[places[at]];
        // Equal numbers stay together.
        let class = match last {
            Some((known, class)) if known.total_cmp(&number).is_eq() => class,
            _ => rank * wanted / count,
        };
        classes[at] = class;
        last = Some((number, class));
    }
    Some(classes)
}
