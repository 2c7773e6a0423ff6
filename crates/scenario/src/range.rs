//! Ranges of values in one text: `1..10`, `1..10:3`, `1..64:*2`, `1ms..1s:log7`, `0%..20%:lin5`.

use notation::parameter::Kind;
use notation::units;

use crate::limits::MAX_CONFIGURATIONS;

/// How a range is written, as the end of a sentence.
pub(crate) const HOW: &str = "write `1..10`, `0%..20%:5%` (a step), `1..64:*2` (a factor), `1ms..1s:log7` \
    (7 values at equal ratios) or `0%..20%:lin5` (5 at equal distances)";

/// Computed values are rounded to this number of significant digits, so that they can be read.
const DIGITS: i32 = 4;
/// Plain decimal numbers are held in units of this.
const MILLIONTHS: f64 = 1e6;

/// What the numbers of a range are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Measure {
    /// Whole numbers without unit.
    Whole,
    /// Numbers with decimals and without unit, in millionths.
    Decimal,
    /// Numbers with a unit, in that of their kind.
    Unit(Kind),
}

/// Two ends of the same measure, the first below the second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Ends {
    pub(crate) measure: Measure,
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// Which values of a range count.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Which {
    Step(u64),
    Factor(f64),
    Logarithmic(u64),
    Linear(u64),
}

/// Whether a text is written like a range: it begins with a digit and has `..`.
pub(crate) fn is_range(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.contains("..")
}

/// The values of a range as a scenario would write them, in increasing order.
///
/// # Errors
/// A sentence, and how a range is written.
pub(crate) fn values(text: &str) -> Result<Vec<String>, String> {
    let (ends, rest) = Ends::read(text)?;
    let which = which(&ends, rest)?;
    let numbers = ends.numbers(which)?;
    Ok(numbers.into_iter().map(|number| ends.measure.show(number)).collect())
}

impl Ends {
    /// The ends of a range, and what follows its colon.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn read(text: &str) -> Result<(Self, Option<&str>), String> {
        let (range, rest) = match text.split_once(':') {
            Some((range, rest)) => (range, Some(rest.trim())),
            None => (text, None),
        };
        let (low, high) = range.split_once("..").ok_or_else(|| format!("`{text}` is no range"))?;
        let (low, high) = (low.trim(), high.trim());
        let read = |text: &str| number(text).ok_or_else(|| format!("`{text}` is no number"));
        let ((first, low_number), (second, high_number)) = (read(low)?, read(high)?);
        let measure = match (first, second) {
            (Measure::Whole, Measure::Decimal) | (Measure::Decimal, Measure::Whole) => Measure::Decimal,
            (a, b) if a == b => a,
            _ => return Err(format!("`{low}` and `{high}` have different units")),
        };
        let scaled = |measured: Measure, number: u64| {
            let factor =
                if (measured, measure) == (Measure::Whole, Measure::Decimal) { 1_000_000 } else { 1 };
            number.checked_mul(factor).ok_or_else(|| format!("an end of `{text}` is too large"))
        };
        let (low_number, high_number) = (scaled(first, low_number)?, scaled(second, high_number)?);
        if low_number >= high_number {
            return Err(format!("`{low}` must be smaller than `{high}`"));
        }
        Ok((Self { measure, low: low_number, high: high_number }, rest))
    }

    /// The value at a place between 0 and 1 of the range, as a scenario would write it; `logarithmic`: equal
    /// steps of the place are equal ratios, else equal distances.
    pub(crate) fn at(&self, place: f64, logarithmic: bool) -> String {
        let (low, high) = (self.low as f64, self.high as f64);
        let number = match (logarithmic, self.measure) {
            (true, _) => low * libm::pow(high / low, place),
            // Each whole number has the same share of the range.
            (false, Measure::Whole) => libm::floor(low + (high - low + 1.0) * place),
            (false, _) => low + (high - low) * place,
        };
        self.measure.show(self.measure.rounded(number).clamp(self.low, self.high))
    }

    fn numbers(&self, which: Which) -> Result<Vec<u64>, String> {
        let (low, high) = (self.low as f64, self.high as f64);
        let between = |count: u64, at: u64| match at {
            0 => self.low,
            last if last + 1 == count => self.high,
            _ => {
                let part = at as f64 / (count - 1) as f64;
                let value = match which {
                    Which::Logarithmic(_) => low * libm::pow(high / low, part),
                    _ => low + (high - low) * part,
                };
                self.measure.rounded(value)
            }
        };
        let mut numbers: Vec<u64> = match which {
            Which::Step(step) => {
                let steps = (self.high - self.low) / step;
                limited(steps + 1)?;
                (0..=steps).map(|at| self.low + at * step).collect()
            }
            Which::Factor(factor) => {
                let steps = libm::floor(libm::log(high / low) / libm::log(factor) + 1e-9);
                limited(steps as u64 + 1)?;
                let power = |at: u64| self.measure.rounded(low * libm::pow(factor, at as f64));
                (0..=steps as u64).map(|at| if at == 0 { self.low } else { power(at) }).collect()
            }
            Which::Logarithmic(count) | Which::Linear(count) => {
                limited(count)?;
                (0..count).map(|at| between(count, at)).collect()
            }
        };
        // Whole numbers may be closer than the rule asks.
        numbers.dedup();
        Ok(numbers)
    }
}

impl Measure {
    /// A computed number of this measure.
    pub(crate) fn rounded(self, number: f64) -> u64 {
        if self == Self::Whole {
            return libm::round(number) as u64;
        }
        let magnitude = libm::pow(10.0, libm::floor(libm::log10(number.max(1.0))) - f64::from(DIGITS - 1));
        let magnitude = magnitude.max(1.0);
        libm::round(libm::round(number / magnitude) * magnitude) as u64
    }

    /// A number as a scenario would write it.
    pub(crate) fn show(self, number: u64) -> String {
        match self {
            Self::Whole => number.to_string(),
            Self::Decimal => (number as f64 / MILLIONTHS).to_string(),
            Self::Unit(kind) => kind.show(number),
        }
    }
}

/// The number that a text is.
pub(crate) fn number(text: &str) -> Option<(Measure, u64)> {
    if text.is_empty() || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if text.chars().all(|c| c.is_ascii_digit()) {
        return Some((Measure::Whole, text.parse().ok()?));
    }
    if text.chars().all(|c| c.is_ascii_digit() || c == '.') {
        let number: f64 = text.parse().ok()?;
        let held = libm::round(number * MILLIONTHS);
        return (held < 1e18).then_some((Measure::Decimal, held as u64));
    }
    let kinds = [Kind::Percent, Kind::Duration, Kind::Rate, Kind::Size];
    let read = |kind: Kind| Some((Measure::Unit(kind), units::parse(kind, text).ok()?));
    kinds.into_iter().find_map(read).filter(|(_, value)| *value != u64::MAX)
}

fn which(ends: &Ends, rest: Option<&str>) -> Result<Which, String> {
    let count = |text: &str, what: &str| {
        let count: Option<u64> = text.trim().parse().ok();
        count
            .filter(|count| *count >= 2)
            .ok_or_else(|| format!("`{what}` needs a number of values, at least 2"))
    };
    match rest {
        None if ends.measure == Measure::Whole => Ok(Which::Step(1)),
        None => Err("the range has no step".into()),
        Some(rest) => {
            if let Some(factor) = rest.strip_prefix('*') {
                let factor: Option<f64> = factor.trim().parse().ok();
                let factor = factor.filter(|factor| *factor > 1.0 && factor.is_finite());
                let factor = factor.ok_or_else(|| "the factor must be a number above 1".to_owned())?;
                return above_zero(ends).map(|()| Which::Factor(factor));
            }
            if let Some(number) = rest.strip_prefix("log") {
                let number = count(number, "log")?;
                return above_zero(ends).map(|()| Which::Logarithmic(number));
            }
            if let Some(number) = rest.strip_prefix("lin") {
                return count(number, "lin").map(Which::Linear);
            }
            match number(rest) {
                Some((measure, step)) if step > 0 => {
                    let fits = measure == ends.measure;
                    let whole = (measure, ends.measure) == (Measure::Whole, Measure::Decimal);
                    let step = if whole { step.saturating_mul(1_000_000) } else { step };
                    (fits || whole)
                        .then_some(Which::Step(step))
                        .ok_or_else(|| format!("the step `{rest}` has another unit than the range"))
                }
                _ => Err(format!("`{rest}` is no step")),
            }
        }
    }
}

/// Refuses a range from 0 where ratios count.
pub(crate) fn above_zero(ends: &Ends) -> Result<(), String> {
    if ends.low > 0 { Ok(()) } else { Err("a range of equal ratios must begin above 0".into()) }
}

fn limited(count: u64) -> Result<(), String> {
    let most = MAX_CONFIGURATIONS as u64;
    if count <= most { Ok(()) } else { Err(format!("the range has {count} values; at most {most} are read")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_the_values_of_a_calculation_by_hand() {
        let all = |text: &str| values(text).unwrap().join(" ");
        assert_eq!(all("1..4"), "1 2 3 4");
        assert_eq!(all("1..10:4"), "1 5 9");
        assert_eq!(all("1..64:*2"), "1 2 4 8 16 32 64");
        assert_eq!(all("1..10:*1.5"), "1 2 3 5 8");
        assert_eq!(all("0%..20%:5%"), "0% 5% 10% 15% 20%");
        assert_eq!(all("0..1.5:lin4"), "0 0.5 1 1.5");
        assert_eq!(all("0.5..2:0.5"), "0.5 1 1.5 2");
        assert_eq!(all("1ms..1s:*10"), "1ms 10ms 100ms 1s");
        // The square root of 10 ms times 1 ms is 3.162 ms.
        assert_eq!(all("1ms..10ms:log3"), "1ms 3.162ms 10ms");
        assert_eq!(all("1..3:log9"), "1 2 3");
        assert_eq!(all("1MiB..3MiB:1MiB"), "1MiB 2MiB 3MiB");
    }

    #[test]
    fn what_is_wrong_with_a_range_is_said() {
        let wrong = |text: &str| values(text).unwrap_err();
        assert!(wrong("1ms..1s").contains("no step"));
        assert!(wrong("4..1").contains("smaller"));
        assert!(wrong("1ms..4").contains("different units"));
        assert!(wrong("0..8:*2").contains("above 0"));
        assert!(wrong("1..8:*1").contains("above 1"));
        assert!(wrong("1..8:log1").contains("at least 2"));
        assert!(wrong("1..8:0").contains("no step"));
        assert!(wrong("1..8:2ms").contains("another unit"));
        assert!(wrong("1..x").contains("no number"));
        assert!(wrong("1..100000000").contains("at most"));
        assert!(wrong("1ns..500y:1ns").contains("at most"));
        assert!(!is_range("../file.yaml") && is_range("1..2"));
    }
}
