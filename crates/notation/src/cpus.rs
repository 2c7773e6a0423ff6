//! The cpus of a machine as lists name them: by the simulator's numbers, or by those of Linux.

use std::collections::{BTreeMap, BTreeSet};

use crate::lists::{self, List};
use crate::parameter::Kind;

/// Begins a list in the numbers of Linux: `linux:0-7`.
pub const LINUX: &str = "linux:";
/// Most numbers that a message lists.
const SHOWN: usize = 8;

/// The cpus of a machine, and how Linux numbers them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Numbering {
    /// Name of the machine.
    pub machine: String,
    /// Number of its cpus, from 1; the simulator numbers them from 0.
    pub cpus: u32,
    /// The Linux number of each cpu in the order of the simulator; empty where both are the same.
    pub linux: Vec<u32>,
}

/// The list behind `linux:`, if the text begins so.
#[must_use]
pub fn linux(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(LINUX)
}

impl Numbering {
    /// Adds the cpus that a text names, such as `0-3,8` or `linux:0-3,8`, in the order written.
    ///
    /// # Errors
    /// A sentence: no list, or a cpu that the machine does not have; [`Self::hint`] tells those it has.
    pub fn add(&self, list: &mut List, text: &str) -> Result<(), String> {
        let last = u64::from(self.cpus.saturating_sub(1));
        let Some(numbers) = linux(text) else { return list.add(Kind::Cpus, text, 0, last) };
        if self.linux.is_empty() {
            return list.add(Kind::Cpus, numbers, 0, last).map_err(|why| of_linux(&why));
        }
        let own: BTreeMap<u64, u64> = self.linux.iter().map(|cpu| u64::from(*cpu)).zip(0..).collect();
        let last = own.keys().last().copied().unwrap_or(last);
        let mut named = list.empty();
        named.add(Kind::Cpus, numbers, 0, last).map_err(|why| of_linux(&why))?;
        for number in named.items() {
            let cpu = own.get(&number).ok_or_else(|| format!("Linux cpu {number} does not exist"))?;
            list.add_cpu(*cpu).map_err(|why| format!("{why} (Linux cpu {number})"))?;
        }
        Ok(())
    }

    /// The numbers that exist, as a hint.
    #[must_use]
    pub fn hint(&self) -> String {
        let (name, last) = (&self.machine, self.cpus.saturating_sub(1));
        if self.linux.is_empty() {
            return format!("the cpus of {name} are numbered 0 to {last}");
        }
        let sorted: BTreeSet<u32> = self.linux.iter().copied().collect();
        format!(
            "the cpus of {name} are numbered 0 to {last}, or in Linux's numbers, as `{LINUX}LIST`, {}",
            few(sorted)
        )
    }

    /// What to say of a list in the simulator's numbers that means other cpus in those of Linux; with
    /// `ordered`, their order counts.
    #[must_use]
    pub fn remark(&self, text: &str, cpus: &[u64], ordered: bool) -> Option<String> {
        if self.linux.is_empty() || linux(text).is_some() {
            return None;
        }
        let of_linux = |cpu: &u64| self.linux.get(*cpu as usize).copied();
        let numbers: Vec<u32> = cpus.iter().filter_map(of_linux).collect();
        let same = if ordered {
            numbers.iter().map(|number| u64::from(*number)).eq(cpus.iter().copied())
        } else {
            let set: BTreeSet<u64> = numbers.iter().map(|number| u64::from(*number)).collect();
            set == cpus.iter().copied().collect()
        };
        let word = if cpus.len() == 1 { "cpu" } else { "cpus" };
        let are = if cpus.len() == 1 { "is oversim's number" } else { "are oversim's numbers" };
        let text = text.trim();
        (!same).then(|| {
            format!("{word} {text} {are}: Linux {}; write `{LINUX}{text}` for Linux's", few(numbers))
        })
    }
}

/// A message on the cpus of a list in Linux's numbers.
fn of_linux(why: &str) -> String {
    if why.starts_with("cpu ") { format!("Linux {why}") } else { why.to_owned() }
}

/// Some numbers as one writes them.
fn few(numbers: impl IntoIterator<Item = u32>) -> String {
    let all = lists::ranges(numbers);
    let mut parts = all.split(',');
    let first: Vec<&str> = parts.by_ref().take(SHOWN).collect();
    let rest = if parts.next().is_some() { ",..." } else { "" };
    format!("{}{rest}", first.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packages of four cores with two threads: siblings are neighbours here and 8 apart for Linux.
    fn numbering() -> Numbering {
        let linux = (0..8).flat_map(|core| [core, core + 8]).collect();
        Numbering { machine: "mine".into(), cpus: 16, linux }
    }

    fn read(text: &str) -> Result<Vec<u64>, String> {
        let mut list = List::default();
        numbering().add(&mut list, text)?;
        Ok(list.items())
    }

    #[test]
    fn lists_are_in_either_numbers() {
        assert_eq!(read("0-3").unwrap(), [0, 1, 2, 3]);
        assert_eq!(read("linux:0-3").unwrap(), [0, 2, 4, 6]);
        assert_eq!(read(" linux: 8, 0").unwrap(), [1, 0]);
        assert_eq!(read("linux:0-15:8").unwrap(), [0, 1]);
        let same = Numbering { linux: Vec::new(), ..numbering() };
        let mut list = List::default();
        same.add(&mut list, "linux:0-3").unwrap();
        assert_eq!(list.items(), [0, 1, 2, 3]);
    }

    #[test]
    fn wrong_cpus_are_named_in_the_numbers_of_the_list() {
        assert_eq!(read("16").unwrap_err(), "cpu 16 does not exist");
        assert_eq!(read("linux:16").unwrap_err(), "Linux cpu 16 does not exist");
        assert_eq!(read("linux:1,1").unwrap_err(), "Linux cpu 1 is named twice");
        assert!(read("linux:x").unwrap_err().starts_with("`x` is not a cpu"));
        let holes = Numbering { cpus: 2, linux: vec![0, 9], ..numbering() };
        let said = holes.add(&mut List::default(), "linux:0-9").unwrap_err();
        assert_eq!(said, "Linux cpu 1 does not exist");
        assert!(holes.hint().ends_with("as `linux:LIST`, 0,9"), "{}", holes.hint());
    }

    #[test]
    fn only_a_list_that_means_other_cpus_for_linux_is_remarked() {
        let remark = |text: &str, ordered| numbering().remark(text, &read(text).unwrap(), ordered);
        let said = remark("0-7", false).unwrap();
        assert_eq!(
            said,
            "cpus 0-7 are oversim's numbers: Linux 0,8,1,9,2,10,3,11; write `linux:0-7` for Linux's"
        );
        assert!(remark("3", false).unwrap().starts_with("cpu 3 is oversim's number: Linux 9;"));
        assert_eq!(remark("0-15", false), None);
        assert!(remark("0-15", true).unwrap().contains("Linux 0,8,1,9,2,10,3,11,...;"));
        assert_eq!(remark("linux:0-7", false), None);
        assert_eq!(remark("0,15", false), None);
    }
}
