//! What a directory has of its plan.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::plan::{Place, Plan};
use crate::row::{COMPLETED, Row};
use crate::store::{Index, Store, StoreError};
use crate::until::{self, Known, Need};

/// Ranges of missing runs that a message names.
const SHOWN: usize = 20;

/// How far a sweep is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Status {
    /// Runs that are there.
    pub runs: u64,
    /// Runs that did not complete, by outcome.
    pub not_completed: BTreeMap<String, u64>,
    /// Configurations with all their runs.
    pub complete: u64,
    /// Runs that are missing, as far as is known: with a rule for more replicates, those that are needed
    /// next.
    pub missing: u64,
    /// The missing runs as ranges of numbers, both ends included.
    pub ranges: Vec<(u64, u64)>,
}

impl Status {
    /// How far the sweep in a directory is.
    ///
    /// # Errors
    /// The directory cannot be read, or a part in it is damaged or of another plan.
    pub fn of(store: &Store, plan: &Plan) -> Result<Self, StoreError> {
        Ok(Self::with_index(store, plan)?.0)
    }

    /// The same, and where the runs are.
    pub(crate) fn with_index(store: &Store, plan: &Plan) -> Result<(Self, Index), StoreError> {
        let mut status = Self::default();
        let mut known = Known::new();
        let mut runs: Vec<u64> = Vec::new();
        let mut wrong = None;
        let index = store.index(&mut |run, line| {
            runs.push(run);
            match Row::read(line) {
                Ok(row) => {
                    until::add(plan, &mut known, &row);
                    if row.outcome != COMPLETED {
                        *status.not_completed.entry(row.outcome).or_default() += 1;
                    }
                }
                Err(why) => wrong = Some(why),
            }
        })?;
        if let Some(why) = wrong {
            return Err(StoreError::Failed(format!("a line cannot be read: {why}")));
        }
        runs.sort_unstable();
        runs.dedup();
        status.runs = runs.len() as u64;
        status.count(plan, &runs, &known);
        Ok((status, index))
    }

    fn count(&mut self, plan: &Plan, runs: &[u64], known: &Known) {
        let mut there = runs.iter().copied().peekable();
        for configuration in 0..plan.configurations {
            let replicates = match plan.until {
                None => plan.provenance.repeat,
                Some(until) => match until::need(plan, until, configuration, known) {
                    Need::Enough(replicates) | Need::More(replicates) => replicates,
                },
            };
            let first = plan.number(Place { configuration, replicate: 0, slot: 0 });
            let end = first + u64::from(replicates) * plan.slots() as u64;
            let before = self.missing;
            for run in first..end {
                while there.next_if(|found| *found < run).is_some() {}
                if there.next_if_eq(&run).is_none() {
                    self.missing += 1;
                    match self.ranges.last_mut() {
                        Some((_, last)) if *last + 1 == run => *last = run,
                        _ => self.ranges.push((run, run)),
                    }
                }
            }
            self.complete += u64::from(self.missing == before);
        }
    }

    /// True when no run is missing.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// The missing runs: `12 to 17, 20`, at most twenty ranges.
    #[must_use]
    pub fn missing_runs(&self) -> String {
        let mut text = String::new();
        for (at, (first, last)) in self.ranges.iter().take(SHOWN).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let range = if first == last { first.to_string() } else { format!("{first} to {last}") };
            // Nothing here can fail to be written.
            let _ = write!(text, "{comma}{range}");
        }
        if self.ranges.len() > SHOWN {
            text.push_str(" and others");
        }
        text
    }
}
