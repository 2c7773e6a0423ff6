//! Statistics over replicates: mean, median, Student-t 95 % confidence interval, extremes. Floating-point
//! numbers start here.

use std::sync::OnceLock;

use notation::number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Confidence level of every interval.
const CONFIDENCE: f64 = 0.95;

/// Probability with which [`needed`] values show a difference.
const POWER: f64 = 0.8;

/// The most values that [`needed`] names: the largest number of replicates.
pub const MOST_NEEDED: u32 = 10_000;

/// Significant decimal digits of every published number: few enough that the last bit of a platform's
/// mathematical library does not show, many more than any measurement deserves.
const SIGNIFICANT_DIGITS: usize = 10;

/// Significant decimal digits of a p-value: more are not needed.
const P_DIGITS: usize = 3;

/// Statistics of a sample.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Middle value; the mean of the two middle ones when their number is even.
    pub median: f64,
    /// 95 % confidence interval of the mean (Student's t with n - 1 degrees of freedom); `None` when n < 2.
    pub ci95: Option<[f64; 2]>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Number of values.
    pub n: usize,
    /// What extrapolation may have added to or taken from the mean (`fidelity: sampled`), relative to it:
    /// half of a 95 % interval. It is part of `ci95`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sampling_error: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(error: &f64) -> bool {
    *error == 0.0
}

impl Summary {
    /// Half the width of the confidence interval; `None` when n < 2.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        self.ci95.map(|[lo, hi]| (hi - lo) / 2.0)
    }

    /// Mean and half-width of the confidence interval, both over `scale`: `10.10 ±0.25`.
    #[must_use]
    pub fn shown(&self, scale: f64) -> String {
        let mean = self.mean / scale;
        let decimals = number::decimals(mean);
        let half =
            self.half_width().map_or_else(String::new, |half| format!(" ±{:.decimals$}", half / scale));
        format!("{mean:.decimals$}{half}")
    }

    /// True when the confidence intervals of two means overlap (a mean without interval is a single point).
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let [a_lo, a_hi] = self.ci95.unwrap_or([self.mean; 2]);
        let [b_lo, b_hi] = other.ci95.unwrap_or([other.mean; 2]);
        a_lo <= b_hi && b_lo <= a_hi
    }
}

/// Summarises a sample; sums run in the order given, so equal samples give equal bytes. `None` for an empty
/// sample or one that holds a value that is not finite.
#[must_use]
pub fn summarise(sample: &[f64]) -> Option<Summary> {
    summarise_by(sample, 0.0)
}

/// The same of values whose mean has a relative error besides ([`Summary::sampling_error`]).
#[must_use]
pub fn summarise_with(sample: &[f64], sampling_error: f64) -> Option<Summary> {
    let mean = summarise(sample)?.mean;
    let summary = summarise_by(sample, sampling_error * mean.abs())?;
    Some(Summary { sampling_error: rounded(sampling_error), ..summary })
}

/// As [`summarise`]; `error`: half of the 95 % interval of an error of the mean that is independent of the
/// variation of the values.
pub(crate) fn summarise_by(sample: &[f64], error: f64) -> Option<Summary> {
    if sample.is_empty() || sample.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    let middle = sorted.len() / 2;
    let median = if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    };
    // The mean of equal values is that value: rounding in the sum must not move it outside min..max.
    let mean = (sample.iter().sum::<f64>() / sample.len() as f64).clamp(min, max);
    let ci95 = interval(sample, mean, error).map(|[lo, hi]| [rounded(lo), rounded(hi)]);
    Some(Summary {
        mean: rounded(mean),
        median: rounded(median),
        ci95,
        min: rounded(min),
        max: rounded(max),
        n: sample.len(),
        sampling_error: 0.0,
    })
}

/// A quantity that one sample of `n` values has once (such as their variation): every statistic is the value
/// itself.
#[must_use]
pub fn single(value: f64, n: usize) -> Option<Summary> {
    let value = rounded(value);
    let summary =
        Summary { mean: value, median: value, ci95: None, min: value, max: value, n, sampling_error: 0.0 };
    value.is_finite().then_some(summary)
}

/// max / min - 1 in per cent; `None` when the sample is empty or its smallest value is not positive.
#[must_use]
pub fn variation_percent(sample: &[f64]) -> Option<f64> {
    let min = sample.iter().copied().reduce(f64::min)?;
    let max = sample.iter().copied().reduce(f64::max)?;
    (min > 0.0).then(|| (max / min - 1.0) * 100.0)
}

/// The standard error of the mean of at least two values.
fn standard_error(sample: &[f64], mean: f64) -> f64 {
    let n = sample.len() as f64;
    let squares: f64 = sample.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares / (n - 1.0) / n).sqrt()
}

/// The 95 % confidence interval of the mean; `error`: half of the interval of an independent error.
fn interval(sample: &[f64], mean: f64, error: f64) -> Option<[f64; 2]> {
    if sample.len() < 2 {
        return None;
    }
    let half = quantile(sample.len())? * total_error(sample, mean, error)?;
    Some([mean - half, mean + half])
}

/// The standard error of the mean of at least two values, with that of an independent error; `error`: half of
/// its 95 % interval.
fn total_error(sample: &[f64], mean: f64, error: f64) -> Option<f64> {
    let own = standard_error(sample, mean);
    Some(if error == 0.0 { own } else { libm::hypot(own, error / quantile(sample.len())?) })
}

/// The two-sided 95 % quantile of Student's t for a sample of this size.
pub(crate) fn quantile(n: usize) -> Option<f64> {
    /// Those of small samples, which are asked for again and again.
    static SMALL: [OnceLock<Option<f64>>; 32] = [const { OnceLock::new() }; 32];
    let compute =
        || Some(StudentsT::new(0.0, 1.0, n as f64 - 1.0).ok()?.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)));
    SMALL.get(n).map_or_else(compute, |known| *known.get_or_init(compute))
}

/// Half the width of the 95 % confidence interval of the mean of `n` values in units of their standard
/// deviation: t / sqrt(n). Infinite for fewer than two values.
#[must_use]
pub fn half_widths(n: usize) -> f64 {
    quantile(n).map_or(f64::INFINITY, |t| t / (n as f64).sqrt())
}

/// The two-sided p-value of "the mean is zero" by Student's t-test, to three significant digits; `None` when
/// n < 2 or a value is not finite. A sample without any variation is as certain as can be: 1 when it is all
/// zero, else 0. `error`: half of the 95 % interval of an independent error of the mean.
#[must_use]
pub fn p_value(sample: &[f64], error: f64) -> Option<f64> {
    if sample.len() < 2 || sample.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mean = sample.iter().sum::<f64>() / sample.len() as f64;
    let error = total_error(sample, mean, error)?;
    // Equal values leave some dust of rounding behind.
    if error <= mean.abs() * f64::EPSILON {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let t = StudentsT::new(0.0, 1.0, sample.len() as f64 - 1.0).ok()?;
    Some(digits(2.0 * t.sf((mean / error).abs()), P_DIGITS))
}

/// P-values corrected for their number, in the same order: with those below 0.05 taken as differences, one
/// wrong difference or more is found in 5 % of the cases at most (Holm, Scandinavian Journal of Statistics 6,
/// 1979).
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]).then(a.cmp(b)));
    let (mut corrected, mut least) = (vec![1.0; p.len()], 0.0_f64);
    for (place, at) in order.into_iter().enumerate() {
        least = least.max((p[at] * (p.len() - place) as f64).min(1.0));
        corrected[at] = least;
    }
    corrected
}

/// `value` to `SIGNIFICANT_DIGITS` significant decimal digits, halves away from the even digit as formatting
/// does.
#[must_use]
#[inline]
pub fn rounded(value: f64) -> f64 {
    // Whole numbers of up to nine digits, as most counts are. The sum makes 0 of negative zero.
    if value.fract() == 0.0 && value.abs() < 1e9 {
        return value + 0.0;
    }
    digits(value, SIGNIFICANT_DIGITS)
}

/// Powers of ten that a floating-point number holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// [`digits`] without text, in a twentieth of its time. `None` near a tie and for very large or small
/// values. The scaled value is wrong by less than a millionth, so it is rounded as the exact one. Both
/// numbers of the last operation are exact, so its result is the number nearest to the decimal one (Clinger,
/// PLDI 1990).
fn digits_by_scaling(value: f64, significant: usize) -> Option<f64> {
    let magnitude = value.abs();
    let above = |power: &f64| magnitude >= *power;
    let exponent = if magnitude >= 1.0 {
        POWERS.iter().take_while(|power| above(power)).count() as i32 - 1
    } else {
        -(POWERS.iter().skip(1).take_while(|power| magnitude * **power < 1.0).count() as i32) - 1
    };
    let shift = significant as i32 - 1 - exponent;
    let power = *POWERS.get(shift.unsigned_abs() as usize)?;
    let scaled = if shift >= 0 { magnitude * power } else { magnitude / power };
    let whole = libm::floor(scaled);
    let rest = scaled - whole;
    let limits = POWERS[significant - 1]..POWERS[significant] - 1.0;
    if (rest - 0.5).abs() < 1e-4 || !limits.contains(&whole) {
        return None;
    }
    let whole = if rest > 0.5 { whole + 1.0 } else { whole };
    let near = if shift >= 0 { whole / power } else { whole * power };
    Some(near.copysign(value))
}

/// `value` to this number of significant decimal digits.
fn digits(value: f64, significant: usize) -> f64 {
    if let Some(near) = digits_by_scaling(value, significant) {
        return near;
    }
    let decimals = significant - 1;
    let text = format!("{value:.decimals$e}");
    let near = text.parse().unwrap_or(value);
    // Negative zero would print as "-0.0".
    if near == 0.0 { 0.0 } else { near }
}

/// About how many values a sample with this mean and variation needs for its mean to differ significantly
/// from zero with a probability of 80 % (two-sided t-test at 5 %); `None` when n < 2, the mean is zero, or
/// more than [`MOST_NEEDED`] are needed.
#[must_use]
pub fn needed(sample: &[f64]) -> Option<u32> {
    if sample.len() < 2 || sample.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mean = sample.iter().sum::<f64>() / sample.len() as f64;
    let deviation = standard_error(sample, mean) * (sample.len() as f64).sqrt();
    let relative = deviation / mean.abs();
    // The quantiles of Student's t fall with the number of values: it is enough from some number on.
    let is_enough = |values: u32| {
        let t = StudentsT::new(0.0, 1.0, f64::from(values - 1)).ok()?;
        let quantiles = t.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)) + t.inverse_cdf(POWER);
        Some((quantiles * relative).powi(2) <= f64::from(values))
    };
    let (mut too_few, mut enough) = (1, MOST_NEEDED);
    if !is_enough(enough)? {
        return None;
    }
    while enough - too_few > 1 {
        let middle = u32::midpoint(too_few, enough);
        if is_enough(middle)? {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Some(enough)
}

/// The two-sided p-value of "these pairs are not correlated" for a correlation of `n` pairs, by Student's
/// t with n - 2 degrees of freedom; `None` for fewer than three pairs. Of a perfect one, the share of the
/// orders of ranks that are perfect.
#[must_use]
pub fn correlation_p(correlation: f64, n: usize) -> Option<f64> {
    let freedom = n.checked_sub(2).filter(|freedom| *freedom > 0)? as f64;
    let rest = 1.0 - correlation * correlation;
    if rest <= 0.0 {
        // By chance, ranks agree or are reversed in 2 of n! orders.
        return Some((2..=n).map(|k| k as f64).fold(2.0, |p, k| p / k));
    }
    let t = correlation.abs() * (freedom / rest).sqrt();
    Some(2.0 * StudentsT::new(0.0, 1.0, freedom).ok()?.sf(t))
}

/// Spearman's rank correlation, ties sharing their mean rank; `None` when one side does not vary.
#[must_use]
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let first = ranks(&pairs.iter().map(|(a, _)| *a).collect::<Vec<_>>());
    let second = ranks(&pairs.iter().map(|(_, b)| *b).collect::<Vec<_>>());
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let (mut both, mut one, mut two) = (0.0, 0.0, 0.0);
    for (a, b) in first.iter().zip(&second) {
        both += (a - mean) * (b - mean);
        one += (a - mean) * (a - mean);
        two += (b - mean) * (b - mean);
    }
    (one > 0.0 && two > 0.0).then(|| both / (one * two).sqrt())
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |x: f64| values.iter().filter(|y| **y < x).count() as f64;
    let equal = |x: f64| values.iter().filter(|y| y.total_cmp(&x).is_eq()).count() as f64;
    values.iter().map(|x| below(*x) + (equal(*x) + 1.0) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_decimals_of_their_mean() {
        assert_eq!(summarise(&[10.0, 10.1, 10.2]).unwrap().shown(1.0), "10.10 ±0.25");
        assert_eq!(summarise(&[0.5]).unwrap().shown(1e-3), "500.0");
    }

    #[test]
    fn the_number_of_values_needed_is_that_of_tables() {
        // Cohen 1988, one sample, two-sided 5 %, power 80 %: 10 values for d = 1, 34 for d = 0.5.
        let sample = |d: f64| -> Vec<f64> { [-1.0, 0.0, 1.0].iter().map(|x| x + d).collect() };
        assert_eq!((needed(&sample(1.0)), needed(&sample(0.5))), (Some(10), Some(34)));
        assert_eq!(needed(&sample(0.0)), None);
        assert_eq!(needed(&sample(0.001)), None, "more than anyone runs");
        assert_eq!((needed(&[1.0]), needed(&[2.0, 2.0])), (None, Some(2)));
    }

    #[test]
    fn few_values_are_needed_for_large_differences() {
        // ((t(0.975) + t(0.8)) / d)^2 by a table of Student's t. d = 2.5: 4.6 > 3, 2.8 <= 4; d = 5: 7.9 > 2,
        // 1.2 <= 3.
        let sample = |d: f64| -> Vec<f64> { [-1.0, 0.0, 1.0].iter().map(|x| x + d).collect() };
        assert_eq!((needed(&sample(2.5)), needed(&sample(5.0))), (Some(4), Some(3)));
    }

    #[test]
    fn interval_of_a_textbook_sample() {
        // Student's t, 9 degrees of freedom: t(0.975) = 2.262157; sample standard deviation of 1..10 is
        // 3.027650.
        let sample: Vec<f64> = (1..=10).map(f64::from).collect();
        let s = summarise(&sample).unwrap();
        assert!((s.mean - 5.5).abs() < 1e-12 && (s.median - 5.5).abs() < 1e-12);
        let half = 2.262_157_163 * 3.027_650_354 / 10f64.sqrt();
        let [lo, hi] = s.ci95.unwrap();
        assert!((lo - (5.5 - half)).abs() < 1e-6, "{lo}");
        assert!((hi - (5.5 + half)).abs() < 1e-6, "{hi}");
        assert!((s.half_width().unwrap() - half).abs() < 1e-6);
        assert_eq!((s.n, s.min.to_bits(), s.max.to_bits()), (10, 1f64.to_bits(), 10f64.to_bits()));
    }

    #[test]
    fn correlations_by_chance() {
        // Tables of the critical values of r: 0.444 for 20 pairs, 0.632 for 10 pairs (two-sided 5 %).
        for (r, n) in [(0.4438, 20), (0.6319, 10)] {
            assert!((correlation_p(r, n).unwrap() - 0.05).abs() < 1e-4, "{r} of {n}");
        }
        assert_eq!((correlation_p(0.9, 2), correlation_p(1.0, 4)), (None, Some(2.0 / 24.0)));
    }

    #[test]
    fn two_values_use_the_widest_t() {
        // One degree of freedom: t(0.975) = 12.7062; standard error of {0, 2} is 1.
        let [lo, hi] = summarise(&[0.0, 2.0]).unwrap().ci95.unwrap();
        assert!((hi - 13.706_204_7).abs() < 1e-5 && (lo + 11.706_204_7).abs() < 1e-5, "{lo} {hi}");
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_no_summary() {
        assert_eq!(summarise(&[3.0]).unwrap().ci95, None);
        assert_eq!(summarise(&[]), None);
        assert_eq!(summarise(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        let s = summarise(&[0.1; 7]).unwrap();
        assert_eq!(s.ci95, Some([0.1, 0.1]));
        assert!(s.overlaps(&s));
        assert!(!s.overlaps(&summarise(&[0.2; 7]).unwrap()));
    }

    #[test]
    fn the_correction_is_that_of_holm() {
        // Four hypotheses: the smallest times 4, the next times 3, never less than the one before.
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(corrected.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{corrected:?}");
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn order_of_the_sample_does_not_move_the_median() {
        let a = summarise(&[5.0, 1.0, 9.0, 2.0]).unwrap();
        assert!((a.median - 3.5).abs() < 1e-12 && (a.min - 1.0).abs() < 1e-12 && (a.max - 9.0).abs() < 1e-12);
    }

    #[test]
    fn spread_is_max_over_min_minus_one() {
        assert!((variation_percent(&[10.0, 12.0, 11.0]).unwrap() - 20.0).abs() < 1e-9);
        assert_eq!(variation_percent(&[]), None);
        assert_eq!(variation_percent(&[0.0, 1.0]), None);
    }

    #[test]
    fn rounding_by_scaling_and_by_text_agree() {
        let by_text = |value: f64| format!("{value:.9e}").parse::<f64>().unwrap();
        let (mut scaled, mut key) = (0, sim_core::rng::key(1, sim_core::rng::Purpose::Test, 7));
        for _ in 0..200_000 {
            let mut draw = || f64::from(sim_core::rng::next(&mut key)) / 4_294_967_296.0;
            let value = (draw() - 0.5) * libm::pow(10.0, libm::floor(draw() * 30.0) - 15.0);
            // Some have few digits, as measured times have.
            let value = if draw() < 0.3 { libm::round(value * 1e9) / 1e9 } else { value };
            scaled += u32::from(digits_by_scaling(value, 10).is_some());
            assert_eq!(digits(value, 10).to_bits(), (by_text(value) + 0.0).to_bits(), "{value:e}");
        }
        assert!(scaled > 150_000, "{scaled}");
    }

    #[test]
    fn published_numbers_have_ten_digits() {
        assert_eq!(rounded(1.0 / 3.0).to_string(), "0.3333333333");
        assert_eq!(rounded(123_456_789_012.0).to_string(), "123456789000");
        assert_eq!(rounded(-0.0).to_string(), "0");
    }

    #[test]
    fn rank_correlation_of_known_samples() {
        let rho = |pairs: &[(f64, f64)]| spearman(pairs).unwrap();
        assert!((rho(&[(1.0, 10.0), (2.0, 100.0), (3.0, 1000.0)]) - 1.0).abs() < 1e-12);
        assert!((rho(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]) + 1.0).abs() < 1e-12);
        // Kendall and Gibbons, ties share their mean rank: 1, 2.5, 2.5, 4 against 1, 2, 3, 4 gives 0.9487.
        let tied = [(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (3.0, 4.0)];
        assert!((rho(&tied) - 0.948_683).abs() < 1e-6);
        assert_eq!(spearman(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }
}
