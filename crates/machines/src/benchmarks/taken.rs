//! What is taken into a machine file: values with their sources, and remarks on everything else.

use notation::parameter::Kind;

use super::Log;
use super::lines::{At, Found};
use super::measured::Run;
use crate::parameters::Parameters;

/// Rates from here on are whole megabytes per second: the last digits of a measurement say nothing.
const ROUNDED: f64 = 1e9;

/// A new value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Value {
    pub(super) name: &'static str,
    pub(super) value: u64,
    pub(super) source: String,
    pub(super) uncertain: bool,
    /// The smallest and the largest value that the measurement allows.
    pub(super) range: Option<(u64, u64)>,
}

/// New distances of NUMA nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Distances {
    /// Row by row, in thousandths.
    pub(super) factors: Vec<u32>,
    pub(super) source: String,
    pub(super) uncertain: bool,
}

/// All that is taken.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Taken {
    pub(super) values: Vec<Value>,
    pub(super) distances: Option<Distances>,
    /// What was not taken, and what to know of what was: sentences without full stop.
    pub(super) remarks: Vec<String>,
}

impl Taken {
    pub(super) fn remark(&mut self, text: String) {
        if !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }

    /// Adds a rate in bytes per second that lies between two others, or is uncertain for another reason.
    ///
    /// # Errors
    /// It is beyond the range of its parameter.
    pub(super) fn rate(
        &mut self,
        name: &'static str,
        rate: f64,
        (low, high): (f64, f64),
        uncertain: bool,
        source: String,
        at: At,
    ) -> Found<()> {
        let most = Parameters::TABLE.iter().find(|p| p.name == name).map_or(u64::MAX, |p| p.max);
        let value = rounded(rate);
        if value == 0 || value > most {
            let shown = Kind::Rate.show(value);
            let message =
                format!("{shown} is beyond the range of `{name}`: 1B/s to {}", Kind::Rate.show(most));
            return Err(at.wrong(message, "choose the part of the output that is right"));
        }
        let (low, high) = (rounded(low).clamp(1, value), rounded(high).clamp(value, most));
        let range = (low < high).then_some((low, high));
        self.values.push(Value { name, value, source, uncertain: uncertain || range.is_some(), range });
        Ok(())
    }
}

fn rounded(rate: f64) -> u64 {
    if rate >= ROUNDED { ((rate / 1e6).round() * 1e6) as u64 } else { rate.round() as u64 }
}

/// The source of a run: `STREAM, Triad with 16 threads: 98,765 MB/s, in FILE line 23`.
pub(super) fn source_of(run: &Run, logs: &[Log<'_>]) -> String {
    let threads = match run.threads {
        None => String::new(),
        Some(1) => " with 1 thread".into(),
        Some(threads) => format!(" with {threads} threads"),
    };
    format!("{}{threads}: {}, {}", run.what, megabytes(run.rate), place(run.at, logs))
}

/// `in FILE line 23`.
pub(super) fn place(at: At, logs: &[Log<'_>]) -> String {
    let name = logs.get(at.place.source as usize).map_or("", |log| log.name);
    format!("in {name} line {}", at.line)
}

/// `98,765 MB/s`.
pub(super) fn megabytes(rate: f64) -> String {
    let digits = ((rate / 1e6).round() as u64).to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    format!("{shown} MB/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_for_people() {
        assert_eq!((megabytes(98_765.4e6), megabytes(999e6)), ("98,765 MB/s".into(), "999 MB/s".into()));
        assert_eq!(megabytes(1_234_567e6), "1,234,567 MB/s");
        assert_eq!((rounded(14_479.33e6), rounded(0.4), rounded(12.6)), (14_479_000_000, 0, 13));
    }
}
