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
//!   degrees of freedom times the mean square of the residual, is subtracted (epsilon squared; Kelley, PNAS 21,
//!   1935) and belongs to the seeds.
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
        let values = Values::of(self)?;
        let complete = values.is_grid(self);
        let mut effects = Effects {
            estimator: if complete { Estimator::Grid } else { Estimator::Classes },
            logarithm: values.logarithm,
            configurations: values.points.len(),
            replicates: values.replicates,
            policies: values.policies,
            left_out: self.points.len() - values.points.len(),
            unknown: Vec::new(),
            shares: Vec::new(),
        };
        if complete {
            effects.shares = grid::shares(self, &values);
        } else {
            (effects.shares, effects.unknown) = sample::shares(self, &values);
        }
        Ok(effects)
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
    pub fn title(&self, response: &Response) -> String {
        let main = self.of(&[Kind::Parameter, Kind::Policy]);
        let named = named(&main);
        let first: Vec<String> =
            named.iter().take(3).map(|one| format!("{} {}", percent(one.share), one.name)).collect();
        let first = if first.is_empty() { "no parameter explains 1 %".into() } else { first.join("; ") };
        format!("{} of {}: {first}", self.variance(), response.what())
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
        let explained =
            named(&main).into_iter().map(|one| format!("{} explains {}", one.name, percent(one.share)));
        let explained: Vec<String> = explained.collect();
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
        let top: Vec<String> = named(&pairs)
            .iter()
            .take(MOST_PAIRS)
            .map(|one| format!("{} adds {}", one.name, percent(one.share)))
            .collect();
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
        if !self.unknown.is_empty() {
            all.push(format!("The share of {} cannot be estimated.", listed(&self.unknown)));
        }
        all
    }
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
