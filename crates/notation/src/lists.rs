//! Lists as people write them: cpus `0-3,8` or `0-15:4`, as `taskset` does, and counts `12,4`.

use std::collections::BTreeSet;

use crate::parameter::Kind;
use crate::units;

/// Longest list: as many numbers as there can be cpus on the largest machine (2^22).
pub const MAX_ITEMS: usize = 1 << 22;

/// A list that is being read: what it holds so far.
#[derive(Clone, Debug, Default)]
pub struct List {
    items: Vec<u64>,
    seen: BTreeSet<u64>,
    repeats: bool,
}

impl List {
    /// An empty list that may name a cpu several times.
    #[must_use]
    pub fn repeating() -> Self {
        Self { repeats: true, ..Self::default() }
    }

    /// An empty list with the rules of this one.
    #[must_use]
    pub(crate) fn empty(&self) -> Self {
        Self { repeats: self.repeats, ..Self::default() }
    }

    /// What was read.
    #[must_use]
    pub fn items(self) -> Vec<u64> {
        self.items
    }

    /// Adds what a text stands for: one or more parts between commas, none above `max` nor below `min`; of
    /// [`Kind::Cpus`] each at most once, ranges included, unless the list is [`Self::repeating`].
    ///
    /// # Errors
    /// A sentence that says what is wrong and, where that helps, how to write it.
    pub fn add(&mut self, kind: Kind, text: &str, min: u64, max: u64) -> Result<(), String> {
        for part in text.split(',') {
            let part = part.trim();
            match kind.of_one() {
                Kind::Cpus => self.add_cpus(part, max)?,
                _ => self.add_count(part, min, max)?,
            }
        }
        Ok(())
    }

    fn add_count(&mut self, part: &str, min: u64, max: u64) -> Result<(), String> {
        let value = units::parse(Kind::Count, part)?;
        if value < min || value > max {
            return Err(format!("{value} does not lie between {min} and {max}"));
        }
        self.push(value)
    }

    fn add_cpus(&mut self, part: &str, max: u64) -> Result<(), String> {
        let (range, stride) = part.split_once(':').map_or((part, None), |(range, step)| (range, Some(step)));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| units::parse(Kind::Count, text.trim().trim_start_matches('+'));
        let wrong = |_| format!("`{part}` is not a cpu or a range of cpus; write `3`, `0-3` or `0-15:4`");
        let (first, last) = (number(first).map_err(wrong)?, number(last).map_err(wrong)?);
        let stride = stride.map_or(Ok(1), number).map_err(wrong)?;
        if first > last {
            return Err(format!(
                "`{part}` descends; write `{last}-{first}`, or list the cpus one by one in the order you want"
            ));
        }
        if stride == 0 {
            return Err(format!("`{part}` has a step of 0; write `{first}-{last}` or a step of at least 1"));
        }
        if last > max {
            return Err(format!("cpu {last} does not exist"));
        }
        let mut cpu = first;
        while cpu <= last {
            self.add_cpu(cpu)?;
            // No overflow: at most `max` plus a step.
            cpu = cpu.saturating_add(stride);
        }
        Ok(())
    }

    /// Adds a cpu.
    pub(crate) fn add_cpu(&mut self, cpu: u64) -> Result<(), String> {
        if !self.repeats && !self.seen.insert(cpu) {
            return Err(format!("cpu {cpu} is named twice"));
        }
        self.push(cpu)
    }

    fn push(&mut self, value: u64) -> Result<(), String> {
        if self.items.len() >= MAX_ITEMS {
            return Err(format!("the list has more than {MAX_ITEMS} numbers"));
        }
        self.items.push(value);
        Ok(())
    }
}

/// The list that a text stands for, see [`List::add`].
///
/// # Errors
/// A sentence that says what is wrong.
pub fn parse(kind: Kind, text: &str, min: u64, max: u64) -> Result<Vec<u64>, String> {
    let mut list = List::default();
    list.add(kind, text, min, max)?;
    Ok(list.items())
}

/// Cpus in rising order as one writes them: `0-3,8`; empty for none.
#[must_use]
pub fn ranges(cpus: impl IntoIterator<Item = u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let text = |(first, last): (u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.into_iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(text: &str) -> Result<Vec<u64>, String> {
        parse(Kind::Cpus, text, 0, 15)
    }

    #[test]
    fn ranges_read_back_as_what_was_written() {
        assert_eq!(ranges([0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
        assert_eq!(cpus("0-3,8,10-11").unwrap(), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(ranges([]), "");
    }

    #[test]
    fn cpus_are_read_in_their_order() {
        assert_eq!(cpus("3").unwrap(), [3]);
        assert_eq!(cpus("8, 0-3").unwrap(), [8, 0, 1, 2, 3]);
        assert_eq!(cpus("0-15:4,1").unwrap(), [0, 4, 8, 12, 1]);
        assert_eq!(cpus("0-9:20").unwrap(), [0]);
        assert_eq!(cpus(" 2 - 4 ").unwrap(), [2, 3, 4]);
    }

    #[test]
    fn wrong_cpus_are_told_apart() {
        let said = |text: &str| cpus(text).unwrap_err();
        assert_eq!(said("0,16"), "cpu 16 does not exist");
        assert_eq!(said("0-99999999999"), "cpu 99999999999 does not exist");
        assert_eq!(said("0-3,2"), "cpu 2 is named twice");
        assert!(said("3-1").starts_with("`3-1` descends; write `1-3`"));
        assert!(said("0-3:0").starts_with("`0-3:0` has a step of 0"));
        for text in ["", "0,", "-1", "1-", "a", "0-3:", "1.5", "99999999999999999999999", "0 1"] {
            assert!(said(text).contains("is not a cpu or a range of cpus"), "{text}");
        }
    }

    #[test]
    fn a_repeating_list_names_a_cpu_twice() {
        let mut list = List::repeating();
        list.add(Kind::Cpus, "0,0-1", 0, 15).unwrap();
        assert_eq!(list.items(), [0, 0, 1]);
    }

    #[test]
    fn counts_keep_to_their_range_and_may_repeat() {
        assert_eq!(parse(Kind::Counts, "12,4,4", 1, 16).unwrap(), [12, 4, 4]);
        assert_eq!(parse(Kind::Counts, "12,0", 1, 16).unwrap_err(), "0 does not lie between 1 and 16");
        assert!(parse(Kind::Counts, "12,x", 1, 16).unwrap_err().contains("write a whole number"));
    }
}
