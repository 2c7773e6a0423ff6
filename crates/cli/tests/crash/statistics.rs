//! How many points there were, by command and by kind of fault.

use std::collections::BTreeMap;
use std::fmt;

use crate::fault::Kind;

/// Points, and how many of them changed how the program ended.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    points: u32,
    effects: u32,
}

/// What a campaign did.
#[derive(Default, Debug)]
pub(crate) struct Statistics {
    commands: BTreeMap<&'static str, Count>,
    kinds: BTreeMap<Kind, Count>,
    /// A line for each failure.
    pub(crate) failures: Vec<String>,
}

impl Statistics {
    /// Adds a point.
    pub(crate) fn add(&mut self, command: &'static str, kind: Kind, effect: bool) {
        for count in [self.commands.entry(command).or_default(), self.kinds.entry(kind).or_default()] {
            count.points += 1;
            count.effects += u32::from(effect);
        }
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, name: &str, count: &Count| {
            writeln!(f, "| {name:<26} | {:>6} | {:>9} |", count.points, count.effects)
        };
        let head = |f: &mut fmt::Formatter<'_>, name: &str| {
            writeln!(f, "| {name:<26} | points | disturbed |\n|---|---|---|")
        };
        head(f, "command")?;
        let mut all = Count::default();
        for (name, count) in &self.commands {
            line(f, name, count)?;
            all.points += count.points;
            all.effects += count.effects;
        }
        line(f, "all", &all)?;
        writeln!(f)?;
        head(f, "kind of fault")?;
        for (kind, count) in &self.kinds {
            line(f, &format!("{kind:?}"), count)?;
        }
        writeln!(f, "failures: {}", self.failures.len())
    }
}
