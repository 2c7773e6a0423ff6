//! Which parameters a metric depends on: the shares of its variance that belong to each swept parameter, to
//! the policy, to pairs of them, and to the seeds.
//!
//! The share of a factor A is its first-order Sobol index Var(E\[y|A\]) / Var(y) with equal weight for each
//! value (Sobol, Math. Comput. Simul. 55, 2001; Saltelli et al., Global Sensitivity Analysis: The Primer,
//! 2008, chapter 4). That of a pair is its second-order index. Two estimators:
//!
//! * A complete grid: the sums of squares of the analysis of variance over their total, which add up to 1.
//!   Seeds are blocks, because replicate i has the same seed everywhere (randomised complete block design;
//!   Montgomery, Design and Analysis of Experiments, chapter 4). What chance adds to a sum of squares, its
//!   degrees of freedom times the mean square of the residual, is subtracted (epsilon squared; Kelley, PNAS
//!   21, 1935) and belongs to the seeds.
//! * Sampled parameters, and grids with holes: the correlation ratio of classes of values (Pearson, 1905;
//!   as an estimate of Sobol indices from any data: Plischke, Borgonovo and Smith, EJOR 226, 2013), with the
//!   same subtraction; the mean square within the classes takes the place of the residual. Every policy ran
//!   in every configuration, so the part of the policy and of pairs with it are estimated from differences
//!   between policies of the same configuration.

mod grid;
mod sample;
mod values;

use super::Response;
use crate::number::{listed, plural};
use crate::statements::title::{Piece, Title};
use values::Values;

/// The values have this ratio of the largest to the smallest one: more, and logarithms are analysed.
pub const WIDE: f64 = 10.0;
/// Shares below this are summed up in sentences.
const SMALL: f64 = 0.01;
/// The most pairs that a sentence names.
const MOST_PAIRS: usize = 3;

/// What a share belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A swept parameter.
    Parameter,
    /// The policy.
    Policy,
    /// A pair: what remains of its joint effect without those of its two members.
    Pair,
    /// What neither factors nor pairs nor seeds explain: effects of three or more, and in samples of what
    /// varies within a class.
    Rest,
    /// The seeds.
    Seeds,
}

/// A share of the variance.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// What it belongs to.
    pub kind: Kind,
    /// Its name: `threads_per_core`, `policy`, `threads_per_core × policy`, `seeds`.
    pub name: String,
    /// From 0 to 1. Estimates below 0 are 0, so that the sum can be a little above 1.
    pub share: f64,
}

/// How shares are estimated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimator {
    /// Analysis of variance of a complete grid.
    Grid,
    /// Correlation ratio of classes.
    Classes,
}

/// The effects of a sweep on a metric.
#[derive(Clone, PartialEq, Debug)]
pub struct Effects {
    /// The estimator.
    pub estimator: Estimator,
    /// Whether the logarithms of the values are analysed: they are positive and span more than [`WIDE`].
    pub logarithm: bool,
    /// Configurations that count, each with every policy and this number of replicates.
    pub configurations: usize,
    /// Replicates that count.
    pub replicates: usize,
    /// Number of policies.
    pub policies: usize,
    /// Configurations that are left out, because a run did not complete or replicates are missing.
    pub left_out: usize,
    /// Parameters without a share of their own, each with the earlier one whose values change with it.
    pub joined: Vec<(String, String)>,
    /// Parameters whose share cannot be estimated: names with about as many values as configurations.
    pub unknown: Vec<String>,
    /// The shares: parameters in the order of the scenario, the policy, pairs, the rest, the seeds (with two
    /// replicates or more).
    pub shares: Vec<Share>,
}

impl Response {
    /// The shares of the variance.
    ///
    /// # Errors
    /// A half-sentence: fewer than two configurations count, or all values are equal.
    pub fn effects(&self) -> Result<Effects, String> {
        let (response, joined) = self.independent();
        let values = Values::of(&response)?;
        let complete = values.is_grid(&response);
        let mut effects = Effects {
            estimator: if complete { Estimator::Grid } else { Estimator::Classes },
            logarithm: values.logarithm,
            configurations: values.points.len(),
            replicates: values.replicates,
            policies: values.policies,
            left_out: response.points.len() - values.points.len(),
            joined,
            unknown: Vec::new(),
            shares: Vec::new(),
        };
        if complete {
            effects.shares = grid::shares(&response, &values);
        } else {
            (effects.shares, effects.unknown) = sample::shares(&response, &values);
        }
        Ok(effects)
    }

    /// The response without axes whose values change one to one with those of an earlier axis, as in a `zip`:
    /// the names of these and of the earlier ones.
    fn independent(&self) -> (Self, Vec<(String, String)>) {
        let names = self.names();
        let (mut kept, mut joined): (Vec<usize>, Vec<(String, String)>) = (Vec::new(), Vec::new());
        for axis in 0..self.axes.len() {
            let varies = self.used(axis).len() > 1;
            let same = |other: &&usize| self.follows(axis, **other);
            match kept.iter().find(same).filter(|_| varies) {
                Some(earlier) => joined.push((names[axis].clone(), names[*earlier].clone())),
                None => kept.push(axis),
            }
        }
        let mut response = self.clone();
        response.axes = kept.iter().map(|axis| self.axes[*axis].clone()).collect();
        for point in &mut response.points {
            point.places = kept.iter().filter_map(|axis| point.places.get(*axis).copied()).collect();
        }
        (response, joined)
    }

    /// Whether the values of one axis change one to one with those of another; of numbers, always in the same
    /// direction, which those of a sample do not.
    fn follows(&self, one: usize, other: usize) -> bool {
        if !self.determines(other, one) || !self.determines(one, other) {
            return false;
        }
        let (Some(a), Some(b)) = (&self.axes[one].numbers, &self.axes[other].numbers) else { return true };
        let mut pairs: Vec<(f64, f64)> =
            self.points.iter().map(|point| (a[point.places[one]], b[point.places[other]])).collect();
        pairs.sort_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
        pairs.windows(2).all(|two| two[0].1 <= two[1].1) || pairs.windows(2).all(|two| two[0].1 >= two[1].1)
    }
}

impl Effects {
    /// The shares of one kind, the largest first.
    #[must_use]
    pub fn of(&self, kinds: &[Kind]) -> Vec<&Share> {
        let mut all: Vec<&Share> = self.shares.iter().filter(|share| kinds.contains(&share.kind)).collect();
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        all
    }

    /// The title of a figure: `Variance of run_time: 62 % threads_per_core; 12 % policy`.
    #[must_use]
    pub fn title(&self, response: &Response) -> Title {
        let main = self.of(&[Kind::Parameter, Kind::Policy]);
        let named = named(&main);
        let what = format!("{} of {}: ", self.variance(), response.what());
        let mut first = named.iter().take(3).map(|one| format!("{} {}", percent(one.share), one.name));
        let largest = first.next().unwrap_or_else(|| "no parameter explains 1 %".into());
        first.fold(Title::from(what + &largest), |title, one| title.and(vec![Piece::Words(one)]))
    }

    /// `Variance`, or that of the logarithm.
    fn variance(&self) -> &'static str {
        if self.logarithm { "Variance of the logarithm" } else { "Variance" }
    }

    /// The sentences about the effects.
    #[must_use]
    pub fn sentences(&self, response: &Response) -> Vec<String> {
        let runs = self.configurations * self.replicates * self.policies;
        let mut all = Vec::new();
        let main = self.of(&[Kind::Parameter, Kind::Policy]);
        let explained = listing(&named(&main), "explains");
        let small = main.len() - explained.len();
        let small = match (small, explained.is_empty()) {
            (0, _) => String::new(),
            (_, true) => "no parameter explains 1 %".into(),
            (1, _) => "; the other one explains less than 1 %".into(),
            (_, false) => format!("; each of the other {small} explains less than 1 %"),
        };
        let (variance, what) = (self.variance().to_lowercase(), response.what());
        all.push(format!(
            "Of the {variance} of {what} over {}, {}{small}.",
            plural(runs, "run", "runs"),
            listed(&explained)
        ));
        let pairs = self.of(&[Kind::Pair]);
        let mut top = named(&pairs);
        top.truncate(MOST_PAIRS);
        let top = listing(&top, "adds");
        if !top.is_empty() {
            all.push(format!("Of interactions, {}.", listed(&top)));
        } else if !pairs.is_empty() {
            all.push("No interaction of two of them adds 1 %.".into());
        }
        match self.of(&[Kind::Seeds])[..] {
            [seeds] => all.push(format!("Seeds cause {}.", percent(seeds.share))),
            _ => all.push("With one seed, the part of the seeds is not known; the others contain it.".into()),
        }
        all.extend(self.remarks());
        all
    }

    /// What limits these numbers.
    fn remarks(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.estimator == Estimator::Classes {
            all.push(
                "The configurations are no complete grid: shares are estimated from classes of values, and \
                    parameters that vary together share their effect."
                    .into(),
            );
        }
        if self.left_out > 0 {
            let left = plural(self.left_out, "configuration is", "configurations are");
            all.push(format!("{left} left out of these shares, because values are missing there."));
        }
        for (name, with) in &self.joined {
            all.push(format!("{name} changes together with {with}, whose share is that of both."));
        }
        if !self.unknown.is_empty() {
            all.push(format!("The share of {} cannot be estimated.", listed(&self.unknown)));
        }
        all
    }
}

/// `a explains 38 %`, `b 17 %`: the verb once.
fn listing(shares: &[&Share], verb: &str) -> Vec<String> {
    let each = shares.iter().enumerate().map(|(at, one)| match at {
        0 => format!("{} {verb} {}", one.name, percent(one.share)),
        _ => format!("{} {}", one.name, percent(one.share)),
    });
    each.collect()
}

/// The shares that sentences name.
fn named<'a>(shares: &[&'a Share]) -> Vec<&'a Share> {
    shares.iter().copied().filter(|one| one.share >= SMALL).collect()
}

/// A share in per cent: whole from 10 % on, else with a decimal.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", crate::number::variation(share * 100.0))
}
