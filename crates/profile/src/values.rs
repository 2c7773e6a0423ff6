//! Numbers as a scenario writes them, with the origin and the range of each.

use notation::parameter::Kind;

/// Significant digits of what is written: measurements of jobs vary in the third one from run to run.
const DIGITS: i32 = 4;
/// The longest time that is written, in s: the horizon of a scenario has at most 240 h, and the work of a
/// parallel job is its sum over all tasks.
const LONGEST: f64 = 315_360_000.0;
/// The largest memory traffic of a task that a scenario takes, in bytes/s.
const FASTEST: f64 = 1e12;
/// The largest count that a workload takes.
const MOST: f64 = 4_294_967_295.0;

/// What a number measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    /// In s.
    Time,
    /// In bytes/s.
    Rate,
    /// A whole number from 1 on.
    Count,
    /// 0 to 1.
    Share,
}

impl Unit {
    /// As a scenario writes it, rounded and kept within what it takes.
    pub(crate) fn show(self, value: f64) -> String {
        let value = rounded(value.max(0.0));
        match self {
            Self::Time => Kind::Duration.show((value.min(LONGEST) * 1e9).round().max(1.0) as u64),
            Self::Rate => Kind::Rate.show(value.min(FASTEST).round() as u64),
            Self::Count => (value.clamp(1.0, MOST).round() as u64).to_string(),
            Self::Share => Kind::Percent.show((value.min(1.0) * 10_000.0).round() as u64),
        }
    }
}

/// A number with four significant digits.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let power = DIGITS - 1 - value.log10().floor() as i32;
    // Dividing by a power of ten is exact where multiplying by its inverse is not.
    if power >= 0 {
        let scale = 10_f64.powi(power);
        (value * scale).round() / scale
    } else {
        let scale = 10_f64.powi(-power);
        (value / scale).round() * scale
    }
}

/// A number of a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Number {
    /// Its place within its application: `workload.demand`, `tasks`.
    pub path: &'static str,
    /// As the scenario has it.
    pub value: String,
    /// Both ends of its range, where it has one; a draw takes values between them.
    pub range: Option<(String, String)>,
    /// Where it is from: file, line and field, a flag, a formula, or `assumed`.
    pub origin: String,
}

impl Number {
    /// A number that is known.
    pub(crate) fn exact(path: &'static str, unit: Unit, value: f64, origin: impl Into<String>) -> Self {
        Self { path, value: unit.show(value), range: None, origin: origin.into() }
    }

    /// A number that lies between two ends.
    pub(crate) fn between(
        path: &'static str,
        unit: Unit,
        (value, low, high): (f64, f64, f64),
        origin: impl Into<String>,
    ) -> Self {
        let (low, high) = (unit.show(low.min(value)), unit.show(high.max(value)));
        let range = (low != high).then_some((low, high));
        Self { path, value: unit.show(value), range, origin: origin.into() }
    }

    /// The last part of its path.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }
}

/// The geometric middle of two ends: as many times the lower one as the upper one is of it.
pub(crate) fn middle(low: f64, high: f64) -> f64 {
    (low * high).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_scenarios_have_them() {
        assert_eq!(Unit::Time.show(1.754_569_85), "1.755s");
        assert_eq!([Unit::Time.show(0.0), Unit::Time.show(200e-6)], ["1ns", "200us"]);
        assert_eq!([Unit::Rate.show(1.5e9), Unit::Rate.show(1e300)], ["1.5GB/s", "1000GB/s"]);
        assert_eq!([Unit::Count.show(0.2), Unit::Count.show(1e12)], ["1", "4294967295"]);
        assert_eq!([Unit::Share.show(0.123_456), Unit::Share.show(2.0)], ["12.35%", "100%"]);
        assert_eq!(rounded(123_456.0).to_bits(), 123_500.0_f64.to_bits());
        assert_eq!(Unit::Time.show(f64::NAN), "1ns");
    }

    #[test]
    fn a_range_without_width_is_none() {
        let number = Number::between("workload.demand", Unit::Rate, (1e9, 1e9, 1e9), "x");
        assert_eq!(number.range, None);
        assert_eq!(number.key(), "demand");
    }
}
