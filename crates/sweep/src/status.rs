//! What a directory has of its plan.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::plan::{Place, Plan, Shard};
use crate::row::{Brief, COMPLETED, Row};
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
    /// Into how many shards the runs that are there were divided, the largest number; 0 if they were not.
    pub of: u32,
    /// The missing runs by shard, where there are shards.
    pub shards: BTreeMap<u32, u64>,
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
        let mut wrong = None;
        let index = store.index(&mut |_, line| {
            let outcome = if plan.until.is_some() {
                Row::read(line).map(|row| {
                    until::add(plan, &mut known, &row);
                    Cow::from(row.outcome)
                })
            } else {
                Brief::read(line).map(|row| row.outcome)
            };
            match outcome {
                Ok(outcome) if outcome == COMPLETED => {}
                Ok(outcome) => *status.not_completed.entry(outcome.into_owned()).or_default() += 1,
                Err(why) => wrong = Some(why),
            }
        })?;
        if let Some(why) = wrong {
            return Err(StoreError::Failed(format!("a line cannot be read: {why}")));
        }
        status.count(plan, &index, &known);
        Ok((status, index))
    }

    fn count(&mut self, plan: &Plan, index: &Index, known: &Known) {
        let mut there = index.runs().peekable();
        self.runs = index.runs().count() as u64;
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
        let Some(of) = index.shards.last().copied().filter(|of| *of > 1) else { return };
        for run in self.ranges.iter().flat_map(|(first, last)| *first..=*last) {
            let place = plan.place(run);
            let index = Shard::holder(plan, of, place.configuration, place.replicate);
            *self.shards.entry(index).or_default() += 1;
        }
        self.of = of;
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
