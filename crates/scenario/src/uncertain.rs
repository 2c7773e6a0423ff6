//! A value that the author of a scenario knows only within a range, and the values between its ends.

use machines::Draw;
use notation::parameter::{Kind, Parameter};
use notation::units;

use crate::range::{Ends, Measure, number};

/// From this ratio of its ends on, a range has a logarithmic scale: its ends are an order of magnitude apart,
/// and on a linear scale nine tenths of the values would lie in the upper one.
const LOGARITHMIC: u64 = 10;

/// Steps into which a range is divided to state a place in it.
const STEPS: u64 = 1_000_000;

/// Millionths, in which plain decimal numbers are read, in a thousandth.
const MILLIONTHS: u64 = 1_000;

/// A value of a scenario that its author knows only within a range (key `uncertain`).
#[derive(Clone, PartialEq, Debug)]
pub struct UncertainValue {
    /// The path, as in `sweep:`.
    pub path: String,
    /// The single value that ordinary runs have: as written, or the default.
    pub value: String,
    /// The smallest value, as written.
    pub low: String,
    /// The largest value, as written.
    pub high: String,
    /// Value, smallest and largest as numbers: nanoseconds, bytes (per second), counts, thousandths or
    /// hundredths of a per cent. The first one lies between the others, which differ.
    pub numbers: [u64; 3],
    /// What the numbers are.
    measure: Measure,
}

/// What is wrong with a range or with the value that should lie in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// The range: a sentence.
    Range(String),
    /// The value is no single number.
    Value,
    /// The value lies outside.
    Outside,
}

impl UncertainValue {
    /// The value of a path within a range as written; `parameter` is what the path names, if it is one.
    pub(crate) fn read(
        path: &str,
        value: &str,
        range: &str,
        parameter: Option<&Parameter>,
    ) -> Result<Self, Wrong> {
        let (ends, rest) = Ends::read(range).map_err(Wrong::Range)?;
        if let Some(rest) = rest {
            return Err(Wrong::Range(format!("the range has `:{rest}`, and needs its two ends only")));
        }
        let (low, high) = range.split_once("..").unwrap_or_default();
        let (low, high) = (low.trim(), high.trim());
        let (measure, numbers) = match parameter.map(|parameter| parameter.kind.of_one()) {
            Some(kind) => {
                let end = |text: &str| units::parse(kind, text).map_err(Wrong::Range);
                let ends = [end(low)?, end(high)?];
                let value = units::parse(kind, value).map_err(|_| Wrong::Value)?;
                let measure = if kind == Kind::Count { Measure::Whole } else { Measure::Unit(kind) };
                (measure, [value, ends[0], ends[1]])
            }
            None => {
                let (of, value) = number(value).ok_or(Wrong::Value)?;
                let value = match (of, ends.measure) {
                    (of, measure) if of == measure => value,
                    (Measure::Whole, Measure::Decimal) => value.saturating_mul(1_000 * MILLIONTHS),
                    (Measure::Decimal, Measure::Whole) => value / (1_000 * MILLIONTHS),
                    _ => return Err(Wrong::Value),
                };
                (ends.measure, [value, ends.low, ends.high])
            }
        };
        let [held, least, most] = numbers;
        if least >= most {
            return Err(Wrong::Range(format!("`{low}` must be smaller than `{high}`")));
        }
        if held < least || held > most {
            return Err(Wrong::Outside);
        }
        let [path, value, low, high] = [path, value, low, high].map(str::to_owned);
        Ok(Self { path, value, low, high, numbers, measure })
    }

    /// Whether places in the range are on a logarithmic scale: where it begins above 0 and its ends differ by
    /// more than a factor of 10. Otherwise the scale is linear.
    #[must_use]
    pub const fn is_logarithmic(&self) -> bool {
        let [_, low, high] = self.numbers;
        low > 0 && high > low.saturating_mul(LOGARITHMIC)
    }

    /// The value at a place of the range, from 0 (the smallest) to 1 (the largest), as `--set` takes it.
    #[must_use]
    pub fn at(&self, place: f64) -> String {
        if place <= 0.0 {
            return self.low.clone();
        }
        if place >= 1.0 {
            return self.high.clone();
        }
        let [_, low, high] = self.numbers;
        Ends { measure: self.measure, low, high }.at(place, self.is_logarithmic())
    }

    /// Where in the range the value of a draw lies, from 0 to 1: the draws of a number divide the range into
    /// as many equal parts and have one value in each.
    #[must_use]
    pub fn place(&self, draw: Draw) -> f64 {
        draw.value(&self.path, 0, STEPS) as f64 / STEPS as f64
    }

    /// Value, smallest and largest in the units of results: plain decimal numbers are thousandths there.
    pub(crate) fn in_results(&self) -> [u64; 3] {
        let scale = if self.measure == Measure::Decimal { MILLIONTHS } else { 1 };
        self.numbers.map(|number| number / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(range: &str) -> UncertainValue {
        let (low, _) = range.split_once("..").unwrap();
        UncertainValue::read("apps.a.workload.x", low, range, None).unwrap()
    }

    #[test]
    fn a_range_of_more_than_a_factor_of_ten_is_logarithmic() {
        // The middle of 100 to 10,000 is 1,000 by ratios; that of 1 to 10 is 5.5 by distances.
        assert_eq!(of("100..10000").at(0.5), "1000");
        assert_eq!(of("1ms..10ms").at(0.5), "5.5ms");
        assert_eq!(of("1ms..10001us").at(0.5), "3.162ms");
        assert_eq!(of("0ns..1us").at(0.5), "500ns");
        assert_eq!(of("1GB/s..5GB/s").at(0.25), "2GB/s");
        assert_eq!(
            ["0", "0.25", "0.5", "0.99"].map(|p| of("1..4").at(p.parse().unwrap())),
            ["1", "2", "3", "4"]
        );
    }

    #[test]
    fn the_ends_are_as_written() {
        for place in [-1.0, 0.0] {
            assert_eq!(of("1000ns..1.23456ms").at(place), "1000ns");
        }
        assert_eq!(of("1000ns..1.23456ms").at(1.0), "1.23456ms");
        assert_eq!(of("0.5..1").numbers, [500_000, 500_000, 1_000_000]);
        assert_eq!(of("0.5..1").in_results(), [500, 500, 1_000]);
    }

    #[test]
    fn draws_have_one_value_in_each_part() {
        let value = of("300ns..2us");
        let mut parts: Vec<u32> =
            (0..10).map(|number| (value.place(Draw { number, of: 10 }) * 10.0) as u32).collect();
        parts.sort_unstable();
        assert_eq!(parts, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_factor_is_drawn_with_the_decimals_that_it_may_have() {
        let table = machines::Parameters::TABLE;
        let speed = table.iter().find(|parameter| parameter.name == "core_speed").unwrap();
        let value = UncertainValue::read("machine.core_speed", "1", "80%..123%", Some(speed)).unwrap();
        assert_eq!((value.numbers, value.at(0.333).as_str()), ([1_000, 800, 1_230], "0.943"));
        let wrong = |value: &str, range: &str| UncertainValue::read("x", value, range, Some(speed));
        assert_eq!(wrong("2", "0.8..1.2"), Err(Wrong::Outside));
        assert!(matches!(wrong("1", "0.8..1.2:0.1"), Err(Wrong::Range(_))));
        assert!(matches!(wrong("1", "0.80001..0.80002"), Err(Wrong::Range(_))));
    }
}
