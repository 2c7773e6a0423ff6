//! Statistics of pairs: two quantities measured with the same random numbers, their difference, and how
//! certain it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::metrics::Metric;
use crate::statistics::{Summary, needed, p_value, rounded, summarise, summarise_by};

/// Decimals of a published ratio near 1: its significant digits are the ones of [`rounded`].
const PUBLISHED: f64 = 12.0;

/// Most decimals that only show how small the interval is.
const SMALL_ERROR: f64 = 5.0;

/// The ratio of two quantities.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// Geometric mean over the pairs.
    pub mean: f64,
    /// Its 95 % confidence interval (Student's t on the logarithms); `None` with fewer than two pairs.
    pub ci95: Option<[f64; 2]>,
}

impl Ratio {
    /// The same the other way round.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { mean: 1.0 / self.mean, ci95: self.ci95.map(|[lo, hi]| [1.0 / hi, 1.0 / lo]) }
    }

    /// The mean with its interval in brackets, `1.34 (1.29 to 1.39)`: as many decimals as show on which side
    /// of 1 mean and ends lie, and a digit of the half-width.
    #[must_use]
    pub fn written(self) -> String {
        let digits =
            |size: f64, most: f64| if size > 0.0 { (-size.log10()).ceil().clamp(2.0, most) } else { 2.0 };
        let ends = self.ci95.into_iter().flatten();
        let distances =
            std::iter::once(self.mean).chain(ends).map(|value| digits((value - 1.0).abs(), PUBLISHED));
        let error = digits(self.ci95.map_or(0.0, |[lo, hi]| (hi - lo) / 2.0), SMALL_ERROR);
        let decimals = distances.fold(error, f64::max) as usize;
        match self.ci95 {
            Some([lo, hi]) => format!("{:.decimals$} ({lo:.decimals$} to {hi:.decimals$})", self.mean),
            None => format!("{:.decimals$}", self.mean),
        }
    }

    /// The verdict on a speed-up: whether 1 is in the interval, and how far the interval reaches.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        match self.ci95 {
            None => Verdict::Undecided,
            Some([lo, _]) if lo > 1.0 => Verdict::Faster,
            Some([_, hi]) if hi < 1.0 => Verdict::Slower,
            Some([lo, hi]) if lo * EQUAL < 1.0 || hi > EQUAL => Verdict::Undecided,
            Some(_) => Verdict::NoDifference,
        }
    }
}

/// Two quantities count as equal if the whole interval of their ratio lies within this factor of 1 (an
/// equivalence test; Schuirmann 1987). An interval that reaches farther decides nothing. The same tenth makes
/// an interval wide.
const EQUAL: f64 = 1.1;

/// Two samples, paired.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Paired {
    /// Means over the pairs.
    pub(crate) means: [f64; 2],
    /// b - a over the pairs.
    pub(crate) difference: Summary,
    /// a / b over the pairs; `None` when one of the values is not positive, of a metric that may be negative,
    /// or when the interval exceeds what a number can hold.
    pub(crate) ratio: Option<Ratio>,
    /// Two-sided p-value of "there is no difference" (paired t-test, on the logarithms where there is a
    /// ratio); `None` with fewer than two pairs.
    pub(crate) p: Option<f64>,
    /// About how many pairs show a difference of this size with a probability of 80 %.
    pub(crate) needed: Option<u32>,
}

impl Paired {
    /// The verdict on b against a, of times: faster if b takes less.
    pub(crate) fn verdict(&self) -> Verdict {
        if let Some(ratio) = self.ratio {
            return ratio.verdict();
        }
        let size = self.means[0].abs().max(self.means[1].abs());
        match self.difference.ci95 {
            None => Verdict::Undecided,
            Some([lo, _]) if lo > 0.0 => Verdict::Slower,
            Some([_, hi]) if hi < 0.0 => Verdict::Faster,
            Some([lo, hi]) if hi.max(-lo) > (EQUAL - 1.0) * size => Verdict::Undecided,
            Some(_) => Verdict::NoDifference,
        }
    }
}

/// Compares pairs of a and b, as [`compared`], and says how certain that is; `None` without pairs.
pub(crate) fn paired(metric: &str, pairs: &[(f64, f64)], sampling: [f64; 2]) -> Option<Paired> {
    let mut paired = compared(metric, pairs, sampling)?;
    let [relative, absolute] = errors(paired.means, sampling);
    let pairs = pairs.iter().map(|(a, b)| (rounded(*a), rounded(*b)));
    // Where there is a ratio, both are positive.
    let (tested, error): (Vec<f64>, f64) = match paired.ratio {
        Some(_) => (pairs.map(|(a, b)| libm::log(a / b)).collect(), relative),
        None => (pairs.map(|(a, b)| b - a).collect(), absolute),
    };
    (paired.p, paired.needed) = (p_value(&tested, error), needed(&tested));
    Some(paired)
}

/// The errors of the ratio and of the difference of two means by extrapolation.
fn errors(means: [f64; 2], sampling: [f64; 2]) -> [f64; 2] {
    [libm::hypot(sampling[0], sampling[1]), libm::hypot(sampling[0] * means[0], sampling[1] * means[1])]
}

/// Compares pairs of a and b, without p-value and the number of pairs needed; `None` without pairs.
/// `sampling`: the relative errors of the two means because of extrapolation ([`Summary::sampling_error`]).
pub(crate) fn compared(metric: &str, pairs: &[(f64, f64)], sampling: [f64; 2]) -> Option<Paired> {
    // Published digits only, so that two files compare like two policies of one run.
    let pairs: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (rounded(*a), rounded(*b))).collect();
    let mean_of = |side: fn(&(f64, f64)) -> f64| -> Option<f64> {
        Some(summarise(&pairs.iter().map(side).collect::<Vec<f64>>())?.mean)
    };
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
    let signed = Metric::is_signed(metric);
    let logs: Option<Vec<f64>> =
        pairs.iter().map(|(a, b)| (*a > 0.0 && *b > 0.0 && !signed).then(|| libm::log(a / b))).collect();

    let means = [mean_of(|pair| pair.0)?, mean_of(|pair| pair.1)?];
    let [relative, absolute] = errors(means, sampling);
    let ratio = logs.as_deref().and_then(|logs| ratio(logs, relative));
    let difference = summarise_by(&differences, absolute)?;
    Some(Paired { means, difference, ratio, p: None, needed: None })
}

/// From logarithms back to ratios; `None` when one of the numbers is too large or too small to be written.
fn ratio(logs: &[f64], error: f64) -> Option<Ratio> {
    let of_logs = summarise_by(logs, error)?;
    let back = |log: f64| Some(rounded(libm::exp(log))).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let ci95 = match of_logs.ci95 {
        Some([lo, hi]) => Some([back(lo)?, back(hi)?]),
        None => None,
    };
    Some(Ratio { mean: back(of_logs.mean)?, ci95 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &[f64], b: &[f64]) -> Paired {
        let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
        paired("run_time", &pairs, [0.0; 2]).unwrap()
    }

    fn verdict_of(a: &[f64], b: &[f64]) -> Verdict {
        of(a, b).ratio.unwrap().verdict()
    }

    #[test]
    fn pairing_sees_what_the_noise_between_replicates_hides() {
        // Times vary threefold between replicates, yet the second policy always wins by about a tenth.
        let load = [1.0, 3.0, 2.0, 1.5];
        let pin = [0.91, 2.70, 1.80, 1.36];
        assert_eq!(verdict_of(&load, &pin), Verdict::Faster);
        assert_eq!(verdict_of(&pin, &load), Verdict::Slower);
    }

    #[test]
    fn noise_around_one_is_no_difference() {
        assert_eq!(verdict_of(&[1.0, 1.0, 1.0], &[1.01, 0.99, 1.0]), Verdict::NoDifference);
        assert_eq!(verdict_of(&[1.0, 1.0, 1.0], &[1.1, 0.9, 1.0]), Verdict::Undecided);
        assert_eq!(verdict_of(&[2.0, 3.0], &[2.0, 3.0]), Verdict::NoDifference);
        assert_eq!(verdict_of(&[2.0], &[1.0]), Verdict::Undecided);
        let same = of(&[2.0, 3.0], &[2.0, 3.0]);
        assert_eq!((same.p, same.ratio.unwrap().ci95), (Some(1.0), Some([1.0, 1.0])));
    }

    #[test]
    fn a_pair_by_hand() {
        // Differences 1, 2, 3: mean 2, standard error 1/sqrt(3), t(0.975; 2) = 4.302653.
        let pair = of(&[1.0, 1.0, 0.0], &[2.0, 3.0, 3.0]);
        let [lo, hi] = pair.difference.ci95.unwrap();
        let half = 4.302_652_730 / 3f64.sqrt();
        assert!((pair.difference.mean - 2.0).abs() < 1e-9 && (hi - 2.0 - half).abs() < 1e-6, "{lo} {hi}");
        // A zero has no ratio; t = 2 / 0.57735 = 3.4641 has p = 0.07418 with two degrees of freedom.
        assert_eq!(pair.ratio, None);
        assert!((pair.p.unwrap() - 0.0742).abs() < 1e-4, "{:?}", pair.p);
    }

    #[test]
    fn the_other_way_round_is_the_inverse_with_the_same_p() {
        let (a, b) = ([1.0, 3.0, 2.0], [0.7, 2.5, 1.9]);
        let (there, back) = (of(&a, &b), of(&b, &a));
        let (ratio, inverse) = (there.ratio.unwrap(), back.ratio.unwrap().inverse());
        assert!((ratio.mean - inverse.mean).abs() < 1e-8);
        let ([lo, hi], [other_lo, other_hi]) = (ratio.ci95.unwrap(), inverse.ci95.unwrap());
        assert!((lo - other_lo).abs() < 1e-8 && (hi - other_hi).abs() < 1e-8);
        assert_eq!(there.p, back.p);
    }

    #[test]
    fn extrapolation_widens_intervals_and_raises_p() {
        let pairs = [(1.1, 1.0), (1.11, 1.0), (1.09, 1.0)];
        let exact = paired("run_time", &pairs, [0.0; 2]).unwrap();
        let sampled = paired("run_time", &pairs, [0.03, 0.04]).unwrap();
        assert_eq!((exact.means, exact.ratio.unwrap().mean), (sampled.means, sampled.ratio.unwrap().mean));
        let half = |pair: &Paired| {
            let [lo, hi] = pair.ratio.unwrap().ci95.unwrap();
            (libm::log(hi) - libm::log(lo)) / 2.0
        };
        // 3 % and 4 % are 5 % together, at a right angle to what the replicates show.
        assert!((libm::hypot(half(&exact), 0.05) - half(&sampled)).abs() < 1e-9);
        assert!(exact.p.unwrap() < 0.05 && sampled.p.unwrap() > exact.p.unwrap());
        let doubtful = paired("run_time", &pairs, [0.1, 0.0]).unwrap();
        assert!(doubtful.p.unwrap() > 0.05 && doubtful.ratio.unwrap().verdict() == Verdict::Undecided);
    }

    #[test]
    fn significance_and_interval_agree() {
        for wobble in [0.01, 0.05, 0.1, 0.12, 0.15, 0.2, 0.3] {
            let pair = of(&[1.1 - wobble, 1.1, 1.1 + wobble, 1.1], &[1.0; 4]);
            let verdict = pair.ratio.unwrap().verdict();
            let apart = verdict != Verdict::NoDifference && verdict != Verdict::Undecided;
            assert_eq!(apart, pair.p.unwrap() < 0.05, "{wobble}: {pair:?}");
        }
    }
}
