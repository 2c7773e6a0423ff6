//! Axes: where a value stands, and which values are written beside it.

/// A value as short as its axis allows.
pub type Label = (f64, String);

/// How values become places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Equal differences are equally far.
    Linear,
    /// Equal ratios are equally far.
    Log,
}

/// An axis from a least to a largest value, on a stretch of pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Axis {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// Space beyond the values, as a part of their range.
const MARGIN: f64 = 0.06;
/// With a larger ratio of the largest to the least value an axis is logarithmic.
const WIDE: f64 = 20.0;

impl Axis {
    /// An axis that holds all `values` with a margin, logarithmic when they are positive and span more than a
    /// factor of 20;
    /// `None` without finite values.
    #[must_use]
    pub fn around(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let (low, high) = extremes(values)?;
        let kind = if low > 0.0 && high / low > WIDE { Kind::Log } else { Kind::Linear };
        Some(Self::of(kind, low, high, from, to))
    }

    /// An axis of this kind that holds `low` and `high` with a margin; not below zero unless `low` is.
    #[must_use]
    pub fn of(kind: Kind, low: f64, high: f64, from: f64, to: f64) -> Self {
        if kind == Kind::Log && low > 0.0 {
            let margin = libm::pow((high / low).max(1.2), MARGIN);
            return Self { kind, low: low / margin, high: high * margin, from, to };
        }
        let margin = ((high - low) * MARGIN).max(high.abs().max(low.abs()) * 0.02).max(1e-12);
        let lowest = if low >= 0.0 { (low - margin).max(0.0) } else { low - margin };
        Self { kind: Kind::Linear, low: lowest, high: high + margin, from, to }
    }

    /// An axis of this kind exactly from `low` to `high`.
    #[must_use]
    pub const fn exact(kind: Kind, low: f64, high: f64, from: f64, to: f64) -> Self {
        Self { kind, low, high, from, to }
    }

    /// The same axis on another stretch.
    #[must_use]
    pub const fn on(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// Whether it is logarithmic.
    #[must_use]
    pub const fn is_log(&self) -> bool {
        matches!(self.kind, Kind::Log)
    }

    /// Whether a value lies on it.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The place of a value in pixels; values beyond the ends stand at the ends.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let part = match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Log => libm::log(value / self.low) / libm::log(self.high / self.low),
        };
        self.from + (self.to - self.from) * part
    }

    /// At most about `most` round values with what to write beside them.
    #[must_use]
    pub fn labels(&self, most: usize) -> Vec<Label> {
        let most = most.max(2);
        let wide = self.high / self.low.max(f64::MIN_POSITIVE) >= 10.0;
        let values = if self.is_log() && wide { self.decades(most) } else { self.round_steps(most) };
        let smallest = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let step = if smallest.is_finite() { smallest } else { values.first().copied().unwrap_or(1.0).abs() };
        values.into_iter().map(|value| (value, short(value, step, self.is_log() && wide))).collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn round_steps(&self, most: usize) -> Vec<f64> {
        let step = round_step((self.high - self.low) / most as f64);
        let (first, last) =
            ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        (first..=last).map(|n| n as f64 * step).collect()
    }

    /// Powers of ten, with 2 and 5 times them where there is room; not every one where there is none.
    fn decades(&self, most: usize) -> Vec<f64> {
        let within = |factors: &[f64], stride: i32| {
            let first = libm::floor(libm::log10(self.low)) as i32;
            let last = libm::ceil(libm::log10(self.high)) as i32;
            let powers = (first..=last).filter(|power| power.rem_euclid(stride) == 0);
            let all = powers.flat_map(|power| factors.iter().map(move |f| f * ten_to(power)));
            all.filter(|value| self.holds(*value)).collect::<Vec<f64>>()
        };
        let finest = [
            (&[1.0, 2.0, 5.0][..], 1),
            (&[1.0, 3.0][..], 1),
            (&[1.0][..], 1),
            (&[1.0][..], 2),
            (&[1.0][..], 3),
        ];
        let fitting =
            finest.into_iter().map(|(factors, stride)| within(factors, stride)).find(|v| v.len() <= most);
        fitting.unwrap_or_else(|| within(&[1.0], 6))
    }
}

/// Round instants of a time axis in a unit that suits them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Times {
    /// Instants in nanoseconds and their labels.
    pub ticks: Vec<(u64, String)>,
    /// The unit of the labels.
    pub unit: &'static str,
}

/// Units of time and the powers of ten of their nanoseconds.
const UNITS: [(&str, u32); 4] = [("s", 9), ("ms", 6), ("µs", 3), ("ns", 0)];

/// At most about `most` round instants of a window (nanoseconds, the second later).
#[must_use]
pub fn times(from: u64, to: u64, most: u64) -> Times {
    let step = round_step((to - from) as f64 / most.max(1) as f64).max(1.0) as u64;
    // Digits behind the point; a step is 1, 2 or 5 times a power of ten.
    let decimals = |power: u32| power.saturating_sub(step.ilog10()) as usize;
    // Up to two, or three where the largest label is not below 1.
    let fits = |power: u32| decimals(power) <= if to >= 10u64.pow(power) { 3 } else { 2 };
    let (unit, power) = UNITS.into_iter().find(|unit| fits(unit.1)).unwrap_or(("ns", 0));
    let decimals = decimals(power);
    let label = |at: u64| format!("{:.decimals$}", at as f64 / ten_to(power as i32));
    let ticks = (from.div_ceil(step)..=to / step).map(|n| (n * step, label(n * step))).collect();
    Times { ticks, unit }
}

/// The least and the largest finite value.
#[must_use]
pub fn extremes(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
    })
}

/// 10 to this power, exact where a double is: by its decimal text.
fn ten_to(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::INFINITY)
}

/// The largest power of ten that is not above `value`.
fn power_below(value: f64) -> f64 {
    let value = if value > 0.0 && value.is_finite() { value } else { 1.0 };
    let text = format!("{value:e}");
    let power = text.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    ten_to(power)
}

/// The least of 1, 2 or 5 times a power of ten that is not below `least`, or by a thousandth.
fn round_step(least: f64) -> f64 {
    let power = power_below(least);
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= least * 0.999).unwrap_or(10.0);
    factor * power
}

/// A value with as many decimals as its step needs; very large and very small ones as powers of ten.
fn short(value: f64, step: f64, log: bool) -> String {
    let size = value.abs();
    if size >= 1e6 || (size < 1e-4 && size > 0.0) {
        let text = format!("{value:.1e}");
        return text.replace(".0e", "e");
    }
    let step = if log { size.max(1e-9) } else { step };
    let decimals = (0..9_usize).find(|d| {
        let scaled = step * ten_to(*d as i32);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0) && scaled.round() >= 1.0
    });
    let decimals = decimals.unwrap_or(3);
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches('-').bytes().all(|b| b == b'0' || b == b'.') { "0".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(axis: Axis, most: usize) -> Vec<String> {
        axis.labels(most).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn labels_are_round_and_as_short_as_they_can_be() {
        assert_eq!(
            written(Axis::exact(Kind::Linear, 0.0, 1.0, 0.0, 100.0), 5),
            ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            written(Axis::exact(Kind::Linear, 0.9, 3.6, 0.0, 100.0), 6),
            ["1.0", "1.5", "2.0", "2.5", "3.0", "3.5"]
        );
        assert_eq!(written(Axis::exact(Kind::Linear, 0.0, 100.0, 0.0, 100.0), 4), ["0", "50", "100"]);
    }

    #[test]
    fn wide_ranges_become_logarithmic_and_show_powers() {
        let axis = Axis::around([0.002, 900.0], 0.0, 300.0).unwrap();
        assert!(axis.is_log());
        assert_eq!(written(axis, 7), ["0.001", "0.01", "0.1", "1", "10", "100", "1000"]);
        assert_eq!(written(axis, 5), ["0.01", "1", "100"]);
        let places: Vec<f64> = [0.01, 0.1, 1.0].map(|v| axis.place(v)).to_vec();
        assert!(((places[1] - places[0]) - (places[2] - places[1])).abs() < 1e-9);
        assert!(axis.labels(2).len() <= 3);
    }

    #[test]
    fn one_value_and_no_value() {
        let axis = Axis::around([5.0], 0.0, 10.0).unwrap();
        assert!((axis.place(5.0) - 5.0).abs() < 1e-9);
        assert_eq!(Axis::around([f64::NAN], 0.0, 1.0), None);
        let zero = Axis::around([0.0, 0.0], 0.0, 10.0).unwrap();
        assert!(zero.place(0.0).is_finite());
    }

    #[test]
    fn labels_of_instants_are_round_and_have_all_digits() {
        let labels = |from: u64, to: u64| {
            let times = times(from, to, 5);
            (times.ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>(), times.unit)
        };
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
            let ticks = times(from, to, 8).ticks;
            assert!(ticks.len() <= 9, "{ticks:?}");
            assert!(ticks.iter().all(|tick| (from..=to).contains(&tick.0)), "{ticks:?}");
        }
    }

    #[test]
    fn labels_lie_on_the_axis() {
        for (low, high) in [(1.0, 1.001), (0.0, 1e-9), (3.0, 1e12), (-5.0, 7.0), (0.07, 0.9)] {
            let axis = Axis::around([low, high], 0.0, 100.0).unwrap();
            let labels = axis.labels(5);
            assert!((1..=9).contains(&labels.len()), "{low} {high}: {labels:?}");
            assert!(labels.iter().all(|(value, _)| axis.holds(*value)), "{low} {high}: {labels:?}");
        }
    }
}
