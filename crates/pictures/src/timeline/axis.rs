//! A time axis: round instants in a unit that suits the window.

/// An axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// Instants in nanoseconds and their labels.
    pub ticks: Vec<(u64, String)>,
    /// The unit of the labels.
    pub unit: &'static str,
}

/// Units and their nanoseconds.
const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000), ("ns", 1)];

/// The axis of a window (nanoseconds, the second later) with at most this many ticks.
#[must_use]
pub fn axis(from: u64, to: u64, most: u64) -> Axis {
    let least = (to - from).div_ceil(most.max(1)).max(1);
    let ten = 10u64.saturating_pow(least.ilog10());
    let step = [1, 2, 5, 10].into_iter().map(|times| ten.saturating_mul(times)).find(|step| *step >= least);
    let step = step.unwrap_or(u64::MAX);
    // Digits behind the point: up to two, or three where the largest label is not below 1.
    let fits = |size: u64| decimals(step, size) <= if to >= size { 3 } else { 2 };
    let (unit, size) = UNITS.into_iter().find(|unit| fits(unit.1)).unwrap_or(("ns", 1));
    let decimals = decimals(step, size);
    let label = |at: u64| {
        let (whole, rest) = (at / size, at % size);
        if decimals == 0 {
            return whole.to_string();
        }
        let digits = format!("{rest:0width$}", width = size.ilog10() as usize);
        format!("{whole}.{}", &digits[..decimals])
    };
    let first = from.div_ceil(step);
    let ticks = (first..=to / step).map(|n| (n * step, label(n * step))).collect();
    Axis { ticks, unit }
}

/// Digits behind the point that multiples of a step need in a unit.
fn decimals(step: u64, unit: u64) -> usize {
    if step >= unit {
        return 0;
    }
    // Steps are 1, 2 or 5 times a power of ten, units powers of ten.
    (unit.ilog10() - step.ilog10()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: u64, to: u64) -> (Vec<String>, &'static str) {
        let axis = axis(from, to, 5);
        (axis.ticks.into_iter().map(|tick| tick.1).collect(), axis.unit)
    }

    #[test]
    fn labels_are_round_and_tell_all_digits() {
        assert_eq!(labels(0, 4_000_000_000), (["0", "1", "2", "3", "4"].map(String::from).to_vec(), "s"));
        let (found, unit) = labels(12_300_000_000, 12_400_000_000);
        assert_eq!((found[0].as_str(), found[1].as_str(), unit), ("12.30", "12.32", "s"));
        assert_eq!(
            labels(1_500_000, 1_900_000),
            (["1.5", "1.6", "1.7", "1.8", "1.9"].map(String::from).to_vec(), "ms")
        );
        let (found, unit) = labels(10_000_000_000, 10_020_000_000);
        assert_eq!((found[1].as_str(), unit), ("10.005", "s"));
        let (found, unit) = labels(3, 7);
        assert_eq!((found[0].as_str(), unit), ("3", "ns"));
        for (from, to) in [(0, 1), (7, 1_000_007), (0, u64::MAX), (u64::MAX - 5, u64::MAX)] {
            let ticks = axis(from, to, 8).ticks;
            assert!(ticks.len() <= 9, "{ticks:?}");
            assert!(ticks.iter().all(|tick| (from..=to).contains(&tick.0)), "{ticks:?}");
        }
    }
}
