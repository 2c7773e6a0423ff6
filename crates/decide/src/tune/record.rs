//! What is known of the settings that were tried: times over those of the default, by scenario and seed, and
//! what is refused.

use std::collections::BTreeMap;

use serde::Serialize;
use sim_core::time::Span;

use super::axes::Subject;
use crate::suite::bench::{Bench, Done};
use crate::trial::{Failed, Means, sentence};

/// Why a setting is no candidate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The scenario or the policy refuses it.
    Refused,
    /// A run did not complete: a deadlock, the horizon, or an error of the policy.
    NotCompleted,
    /// A task with work waited for a cpu for longer than allowed.
    Starved,
    /// The engine corrected decisions of the policy, and none of the default's.
    Corrected,
}

impl Refusal {
    /// In a list of counts.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Refused => "refused by a scenario or the policy",
            Self::NotCompleted => "a run did not complete",
            Self::Starved => "a task waited too long for a cpu",
            Self::Corrected => "the engine corrected decisions",
        }
    }
}

/// What is known of a setting.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Record {
    /// Logarithms of its time over that of the default, by scenario and seed.
    pub(super) logs: BTreeMap<usize, Vec<f64>>,
    /// Why it is no candidate.
    pub(super) refusal: Option<Refusal>,
}

/// What the default reached in a scenario.
#[derive(Clone, PartialEq, Debug, Default)]
struct Base {
    values: Vec<f64>,
    longest_wait: Span,
    corrections: u64,
    /// Why it counts no more: a run did not complete.
    lost: String,
}

/// The settings that were tried on the scenarios of a bench.
pub(super) struct Records<'a> {
    pub(super) bench: Bench<'a>,
    pub(super) subject: &'a Subject,
    means: Means<'a>,
    limit: Span,
    base: Vec<Base>,
    all: BTreeMap<Vec<u64>, Record>,
}

impl<'a> Records<'a> {
    /// Nothing is tried yet. `limit`: a task may wait so long for a cpu, or as long as under the default.
    pub(super) fn new(bench: Bench<'a>, subject: &'a Subject, limit: Span, means: Means<'a>) -> Self {
        let base = vec![Base::default(); bench.cells().len()];
        Self { bench, subject, means, limit, base, all: BTreeMap::new() }
    }

    /// Scenarios that the default does not complete, each with the reason.
    pub(super) fn lost(&self) -> Vec<(String, String)> {
        let cells = self.bench.cells().iter().zip(&self.base);
        cells
            .filter(|(_, base)| !base.lost.is_empty())
            .map(|(c, base)| (c.name.clone(), base.lost.clone()))
            .collect()
    }

    /// The scenarios that count.
    pub(super) fn cells(&self) -> Vec<usize> {
        (0..self.base.len()).filter(|cell| self.base[*cell].lost.is_empty()).collect()
    }

    /// The settings that were tried.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Vec<u64>, &Record)> {
        self.all.iter()
    }

    /// What is known of a setting.
    pub(super) fn get(&self, values: &[u64]) -> Option<&Record> {
        self.all.get(values)
    }

    /// Runs the default on all scenarios with so many seeds.
    pub(super) fn begin(&mut self, seeds: u32) -> Result<(), Failed> {
        for cell in self.cells() {
            self.extend_base(cell, seeds)?;
        }
        if self.cells().is_empty() {
            let why = self.base.first().map_or("there is none", |base| base.lost.as_str());
            return Err(Failed::Refused(format!(
                "{} completes no scenario of the suite with its defaults: {why}",
                self.subject.policy
            )));
        }
        Ok(())
    }

    fn extend_base(&mut self, cell: usize, seeds: u32) -> Result<(), Failed> {
        let had = self.base[cell].values.len() as u32;
        if had >= seeds || !self.base[cell].lost.is_empty() {
            return Ok(());
        }
        let item = self.subject.item(&self.subject.defaults(), None);
        let done = self.bench.run(cell, &[item], had..seeds, self.means)?;
        let Some(done) = done.into_iter().next() else { return Ok(()) };
        let base = &mut self.base[cell];
        base.longest_wait = base.longest_wait.max(done.longest_wait);
        base.corrections += done.corrections;
        match done.complete() {
            Some(values) => base.values.extend(values),
            None if done.refused.is_empty() => base.lost = done.ended,
            None => base.lost = sentence(&done.refused),
        }
        Ok(())
    }

    /// Runs settings on scenarios up to so many seeds each, those that are refused no further.
    pub(super) fn extend(
        &mut self,
        settings: &[Vec<u64>],
        cells: &[usize],
        seeds: u32,
    ) -> Result<(), Failed> {
        for cell in cells {
            self.extend_base(*cell, seeds)?;
            let mut groups: BTreeMap<u32, Vec<Vec<u64>>> = BTreeMap::new();
            for setting in settings {
                let record = self.all.entry(setting.clone()).or_default();
                if *setting == self.subject.defaults() {
                    record.logs.insert(*cell, vec![0.0; self.base[*cell].values.len()]);
                    continue;
                }
                let had = record.logs.get(cell).map_or(0, Vec::len) as u32;
                if had < seeds && record.refusal.is_none() && !groups.values().any(|g| g.contains(setting)) {
                    groups.entry(had).or_default().push(setting.clone());
                }
            }
            for (had, settings) in groups {
                let items: Vec<String> =
                    settings.iter().map(|setting| self.subject.item(setting, None)).collect();
                let done = self.bench.run(*cell, &items, had..seeds, self.means)?;
                for (setting, done) in settings.into_iter().zip(done) {
                    self.note(*cell, setting, had as usize, &done);
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, cell: usize, setting: Vec<u64>, had: usize, done: &Done) {
        let base = &self.base[cell];
        let limit = self.limit.max(base.longest_wait);
        let values = done.complete();
        let refusal = match () {
            () if !done.refused.is_empty() => Some(Refusal::Refused),
            () if values.is_none() => Some(Refusal::NotCompleted),
            () if done.longest_wait > limit => Some(Refusal::Starved),
            () if done.corrections > 0 && base.corrections == 0 => Some(Refusal::Corrected),
            () => None,
        };
        let goal = self.bench.goal(cell);
        let log = |(own, base): (&f64, &f64)| Some(libm::log(goal?.ratio(*own, *base)));
        let logs: Vec<f64> =
            values.iter().flatten().zip(base.values.iter().skip(had)).filter_map(log).collect();
        let record = self.all.entry(setting).or_default();
        record.logs.entry(cell).or_default().extend(logs);
        record.refusal = record.refusal.or(refusal);
    }

    /// The mean over scenarios of the mean logarithm over the first seeds; infinite where a run is missing
    /// or the setting is refused.
    pub(super) fn score(&self, setting: &[u64], cells: &[usize], seeds: usize) -> f64 {
        let own = self.all.get(setting).filter(|record| record.refusal.is_none());
        let of = |cell: &usize| {
            let logs = own?.logs.get(cell)?.get(..seeds)?;
            Some(logs.iter().sum::<f64>() / seeds as f64)
        };
        let all: Option<Vec<f64>> = cells.iter().map(of).collect();
        let score = all.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64);
        score.filter(|score| score.is_finite()).unwrap_or(f64::INFINITY)
    }

    /// For each seed the mean logarithm over some scenarios, as far as all have the seed.
    pub(super) fn by_seed(&self, setting: &[u64], cells: &[usize]) -> Vec<f64> {
        let Some(record) = self.all.get(setting) else { return Vec::new() };
        let seeds = cells.iter().map(|cell| record.logs.get(cell).map_or(0, Vec::len)).min().unwrap_or(0);
        let mean = |seed: usize| {
            let of = cells.iter().filter_map(|cell| record.logs.get(cell)?.get(seed));
            of.sum::<f64>() / cells.len() as f64
        };
        (0..seeds).map(mean).collect()
    }

    /// How many settings were refused, by reason.
    pub(super) fn refusals(&self) -> BTreeMap<Refusal, usize> {
        let mut counts = BTreeMap::new();
        for refusal in self.all.values().filter_map(|record| record.refusal) {
            *counts.entry(refusal).or_default() += 1;
        }
        counts
    }
}
