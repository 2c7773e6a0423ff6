//! A histogram of durations with buckets of bounded relative width: exact counts, quantiles within 0.8 %.

use crate::time::Span;

/// Buckets per octave: each is at most 1/64 of its lower bound wide.
const PER_OCTAVE: u64 = 1 << PER_OCTAVE_BITS;
const PER_OCTAVE_BITS: u32 = 6;

/// Counts of durations. Durations below 128 ns have a bucket each, and every octave above has 64 buckets of
/// equal width (as in Tene, HdrHistogram). A quantile is the middle of its bucket and therefore at most
/// 1/128 = 0.8 % of the duration away from it. Memory is bounded: at most 3,776 buckets of 8 bytes, and only
/// those up to the longest duration exist.
///
/// # Examples
/// ```
/// use sim_core::histogram::Histogram;
/// use sim_core::time::Span;
///
/// let mut spans = Histogram::default();
/// (1..=100).for_each(|us| spans.add(Span::from_us(us)));
/// let quantiles = spans.quantiles().ok_or("no durations")?;
/// assert!(quantiles.median.ns().abs_diff(50_000) <= 50_000 / 128);
/// assert_eq!(quantiles.max, Span::from_us(100));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    /// Sum of all durations, ns.
    sum: u128,
    max: Span,
}

/// What a histogram is reduced to. `mean` and `max` are exact, the others are within 1/128.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quantiles {
    /// Number of durations, at least 1.
    pub count: u64,
    /// Arithmetic mean, rounded down.
    pub mean: Span,
    /// Median.
    pub median: Span,
    /// 90th percentile.
    pub p90: Span,
    /// 99th percentile.
    pub p99: Span,
    /// The longest duration.
    pub max: Span,
}

/// The bucket of a duration in nanoseconds.
const fn bucket(ns: u64) -> usize {
    if ns < 2 * PER_OCTAVE {
        return ns as usize;
    }
    let shift = ns.ilog2() - PER_OCTAVE_BITS;
    (shift as u64 * PER_OCTAVE + (ns >> shift)) as usize
}

/// The middle of a bucket in nanoseconds, rounded down.
const fn middle(bucket: u64) -> u64 {
    if bucket < 2 * PER_OCTAVE {
        return bucket;
    }
    let shift = bucket / PER_OCTAVE - 1;
    let lowest = (bucket - shift * PER_OCTAVE) << shift;
    lowest + (1 << (shift - 1))
}

impl Histogram {
    /// Counts a duration.
    pub fn add(&mut self, span: Span) {
        let at = bucket(span.ns());
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.count += 1;
        self.sum += u128::from(span.ns());
        self.max = self.max.max(span);
    }

    /// Counts all durations of another one.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, more)| *own += more);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Forgets what an earlier state of the same histogram had counted. If the longest duration was among
    /// that, the new maximum is known within 1/128.
    pub fn subtract(&mut self, earlier: &Self) {
        self.counts.iter_mut().zip(&earlier.counts).for_each(|(own, before)| *own -= before);
        while self.counts.last() == Some(&0) {
            self.counts.pop();
        }
        self.count -= earlier.count;
        self.sum -= earlier.sum;
        if self.max == earlier.max {
            let longest = self.counts.len().checked_sub(1).map_or(0, |bucket| middle(bucket as u64));
            self.max = self.max.min(Span::from_ns(longest));
        }
    }

    /// Each duration that occurs, within 1/128 of it, in ascending order, and how often it does.
    pub fn each(&self) -> impl Iterator<Item = (Span, u64)> + '_ {
        let occurring = self.counts.iter().zip(0..).filter(|(count, _)| **count > 0);
        occurring.map(|(count, bucket)| (Span::from_ns(middle(bucket)).min(self.max), *count))
    }

    /// The quantiles; `None` without durations.
    #[must_use]
    pub fn quantiles(&self) -> Option<Quantiles> {
        Some(Quantiles {
            count: self.count,
            mean: Span::from_ns((self.sum / u128::from(self.count.max(1))) as u64),
            median: self.quantile(500)?,
            p90: self.quantile(900)?,
            p99: self.quantile(990)?,
            max: self.max,
        })
    }

    /// The shortest duration that `thousandths` (0 to 1,000) of all do not exceed (nearest rank), within
    /// 1/128 of it; `None` without durations.
    #[must_use]
    pub fn quantile(&self, thousandths: u64) -> Option<Span> {
        let rank = (u128::from(self.count) * u128::from(thousandths)).div_ceil(1_000).max(1);
        let mut below = 0;
        let at = self.counts.iter().position(|count| {
            below += u128::from(*count);
            below >= rank
        })?;
        Some(Span::from_ns(middle(at as u64)).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_near_each_of_its_durations() {
        let around = |ns: u64| [ns.saturating_sub(1), ns, ns.saturating_add(1)];
        let powers = (0..64).flat_map(|bit| around(1 << bit));
        for ns in powers.chain((0..crate::steps(4_000)).map(|i| i * i * i + 7 * i)).chain([u64::MAX]) {
            let near = middle(bucket(ns) as u64);
            assert!(near.abs_diff(ns) <= ns / 128, "{ns} is counted as {near}");
        }
        assert_eq!(bucket(u64::MAX), 3_775);
        assert_eq!((bucket(127), bucket(128), bucket(129), bucket(130)), (127, 128, 128, 129));
    }

    #[test]
    fn quantiles_have_the_nearest_rank() {
        let mut spans = Histogram::default();
        assert_eq!(spans.quantiles(), None);
        [10, 20, 30, 40, 1_000_003].into_iter().for_each(|ns| spans.add(Span::from_ns(ns)));
        let quantile = |thousandths| spans.quantile(thousandths).unwrap().ns();
        assert_eq!(
            (quantile(0), quantile(200), quantile(201), quantile(500), quantile(800)),
            (10, 10, 20, 30, 40)
        );
        assert!(quantile(990).abs_diff(1_000_003) <= 1_000_003 / 128);
        let all = spans.quantiles().unwrap();
        assert_eq!((all.count, all.median.ns(), all.max.ns()), (5, 30, 1_000_003));
        assert_eq!(all.mean.ns(), 1_000_103 / 5);
    }

    #[test]
    fn what_is_added_can_be_taken_away() {
        let of = |all: &[u64]| {
            let mut spans = Histogram::default();
            all.iter().for_each(|ns| spans.add(Span::from_ns(*ns)));
            spans
        };
        let mut both = of(&[10, 1_000_003]);
        both.merge(&of(&[20, 5_000_000]));
        assert_eq!(both, of(&[10, 20, 1_000_003, 5_000_000]));
        both.subtract(&of(&[10, 5_000_000]));
        let left = both.quantiles().unwrap();
        assert_eq!((left.count, left.mean.ns()), (2, 1_000_023 / 2));
        assert!(left.max.ns().abs_diff(1_000_003) <= 1_000_003 / 128);
        both.subtract(&both.clone());
        assert_eq!(both.quantiles(), None);
    }
}
