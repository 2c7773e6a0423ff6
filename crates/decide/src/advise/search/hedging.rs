//! What a search makes of settings that do the same, of short runs under a quota, and of what scenarios
//! rarely state: how much second hardware threads add, and one busy task beside the program.

use std::collections::BTreeSet;

use super::{LAST, PERIODS, SAME, Search};
use crate::advise::Effort;
use crate::advise::hedge::{Elsewhere, FREE, Hedge, Judge, collapses, loses, loss};
use crate::advise::known::MEMORY_BOUND;
use crate::advise::levers::Choice;
use crate::advise::race::{COLLAPSE, Tried, advised, paired};
use crate::trial::Failed;

impl Search<'_> {
    /// Choices in this order, but of those that have as many tasks and the same values only the simplest one,
    /// where it is not hopeless; the others after them.
    pub(super) fn distinct(&self, sorted: Vec<Choice>) -> Vec<Choice> {
        let near = sorted.first().map_or(0.0, |best| self.score(best) * COLLAPSE);
        let same = |a: &Choice, b: &Choice| {
            let values = |choice: &Choice| self.seen.get(choice).cloned().unwrap_or_default();
            let both = values(a).into_iter().zip(values(b));
            let alike = |(a, b): (Option<f64>, Option<f64>)| match (a, b) {
                (Some(a), Some(b)) => (self.goal.ratio(a, b) - 1.0).abs() <= SAME,
                (a, b) => a == b,
            };
            self.sizes.tasks(a) == self.sizes.tasks(b) && both.into_iter().all(alike)
        };
        let changes = |choice: &Choice| choice.iter().filter(|at| **at > 0).count();
        let mut groups: Vec<Vec<Choice>> = Vec::new();
        let mut far = Vec::new();
        for choice in sorted {
            if self.score(&choice) > near {
                far.push(choice);
            } else if let Some(group) =
                groups.iter_mut().find(|group| group.first().is_some_and(|first| same(first, &choice)))
            {
                group.push(choice);
            } else {
                groups.push(vec![choice]);
            }
        }
        let mut copies = Vec::new();
        let mut first = Vec::new();
        for mut group in groups {
            group.sort_by_key(changes);
            let mut group = group.into_iter();
            first.extend(group.next());
            copies.extend(group);
        }
        [first, copies, far].concat()
    }

    /// A sentence if the run as it is is short beside the period of a quota.
    pub(super) fn short(&self) -> Option<String> {
        let end = self.best.filter(|_| self.goal.is_end())?;
        let periods = end / self.sizes.period?;
        (periods < PERIODS).then(|| {
            format!(
                "a run lasts {} periods of a quota, of which the last one is not whole: with more work ({} \
                 periods) the limit is judged better",
                notation::number::ratio(periods),
                notation::number::ratio(PERIODS)
            )
        })
    }

    fn judge(&self) -> Judge<'_> {
        let Self { subject, means, goal, dedicated, .. } = self;
        Judge { subject, means: *means, goal, dedicated: dedicated.as_ref() }
    }

    /// Another world's runs are runs of the search.
    fn counted(&mut self, there: Elsewhere) -> Vec<Tried> {
        self.runs += there.runs;
        self.events += there.events;
        there.tried
    }

    /// Judges the best settings where second hardware threads add the least, and beside one busy task.
    /// Whether something is barred by that.
    pub(super) fn hedge(&mut self, budget: Effort) -> Result<bool, Failed> {
        Ok(self.bar_second_threads(budget)? || self.bar_full_teams(budget)?)
    }

    /// Bars teams above the cores if the best of them loses where second hardware threads add the least.
    fn bar_second_threads(&mut self, budget: Effort) -> Result<bool, Failed> {
        let Some(leader) = self.leader(self.levelled.max(budget.replicates as usize)) else {
            return Ok(false);
        };
        let above = self.sizes.above_cores(&leader.choice);
        let Some(low) = self.worlds.low.clone().filter(|_| above) else { return Ok(false) };
        // Several: one that is bound may share cores, too.
        let fewer = self.ranked().into_iter().filter(|choice| !self.sizes.above_cores(choice));
        let fewer: Vec<Choice> = fewer.take(LAST / 2).collect();
        self.try_all(&fewer, budget.replicates, budget)?;
        let fewer = fewer.iter().map(|choice| self.tried(choice));
        let all: Vec<Tried> = std::iter::once(leader).chain(fewer).collect();
        let there = self.judge().at_low(&low, &all.iter().collect::<Vec<_>>(), budget.replicates)?;
        if let [own, fewer @ ..] = &self.counted(there)[..] {
            self.barred.above_cores = fewer.iter().any(|fewer| loses(&self.goal, own, fewer));
        }
        Ok(self.barred.above_cores)
    }

    /// Bars numbers of tasks and ways to wait that collapse beside one busy task, where one that does not
    /// costs little.
    fn bar_full_teams(&mut self, budget: Effort) -> Result<bool, Failed> {
        let Some(leader) = self.leader(self.levelled.max(budget.replicates as usize)) else {
            return Ok(false);
        };
        let fills = self.sizes.fills(&leader.choice) && self.goal.is_end();
        let (Some(busy), Some(alone)) = (self.worlds.busy.clone(), leader.mean().filter(|_| fills)) else {
            return Ok(false);
        };
        let mut once = BTreeSet::from([self.sizes.group(&leader.choice)]);
        let most = self.score(&leader.choice) * (1.0 + FREE);
        let tasks = self.sizes.tasks(&leader.choice);
        let mut near = self.ranked();
        near.retain(|choice| {
            let near = self.score(choice) <= most && self.sizes.tasks(choice) <= tasks;
            near && once.insert(self.sizes.group(choice))
        });
        near.truncate(LAST);
        self.try_all(&near, budget.replicates, budget)?;
        let near = near.iter().map(|choice| self.tried(choice));
        let all: Vec<Tried> = std::iter::once(leader.clone()).chain(near).collect();
        let there = self.judge().beside(&busy, &all.iter().collect::<Vec<_>>(), budget.replicates, alone)?;
        let there = self.counted(there);
        let lost: Vec<bool> =
            all.iter().zip(&there).map(|(alone, beside)| collapses(&self.goal, alone, beside)).collect();
        let cheap =
            |tried: &Tried| paired(&self.goal, tried, &leader).is_some_and(|(mean, _)| mean <= 1.0 + FREE);
        let stays = all.iter().zip(&lost).any(|(tried, lost)| !lost && cheap(tried));
        if lost.first() != Some(&true) || !stays {
            return Ok(false);
        }
        let groups = all.iter().zip(&lost).filter(|(_, lost)| **lost);
        let lost = groups.map(|(tried, _)| &tried.choice);
        // More tasks than cpus are no way to leave one free.
        let more = self.seen.keys().filter(|choice| self.sizes.tasks(choice) > tasks);
        let more = more.filter(|choice| self.sizes.fills(choice));
        let groups: Vec<Choice> = lost.chain(more).map(|choice| self.sizes.group(choice)).collect();
        self.barred.groups.extend(groups);
        Ok(true)
    }

    /// What the answer says about the two worlds: the advised setting beside the best one that is barred, or
    /// beside the best one that does not collapse.
    pub(super) fn hedges(&mut self, seeds: u32) -> Result<Vec<Hedge>, Failed> {
        let Some(own) = self.leader(self.levelled) else { return Ok(Vec::new()) };
        let all = self.sorted(self.seen.keys().filter(|choice| self.score(choice).is_finite()).cloned());
        let threads = self.second_threads(&own, &all, seeds)?;
        let busy = self.full_team(&own, &all, seeds)?;
        Ok(threads.into_iter().chain(busy).collect())
    }

    /// A setting, and how many times as long it takes as another one.
    fn beside(&self, own: &Tried, choice: &Choice) -> Option<(Tried, f64)> {
        let other = self.tried(choice);
        let ratio = paired(&self.goal, &other, own).map(|(ratio, _)| ratio);
        ratio.map(|ratio| (other, ratio))
    }

    fn second_threads(&mut self, own: &Tried, all: &[Choice], seeds: u32) -> Result<Option<Hedge>, Failed> {
        let barred = self.barred.above_cores;
        let Some(low) = self.worlds.low.clone().filter(|_| barred) else { return Ok(None) };
        let above = all.iter().filter(|choice| self.sizes.above_cores(choice));
        let above: Vec<Tried> = above.map(|choice| self.tried(choice)).collect();
        let enough = above.iter().filter(|tried| tried.values.len() >= seeds as usize).cloned();
        let enough: Vec<Tried> = enough.collect();
        let other = enough.get(advised((&self.goal, &self.sizes), &enough));
        let Some((other, assumed)) = other.and_then(|other| self.beside(own, &other.choice)) else {
            return Ok(None);
        };
        // Memory matters only to who waits for it.
        let low = if self.memory < MEMORY_BOUND { low.of_caches() } else { low };
        let there = self.judge().at_low(&low, &[&other, own], seeds)?;
        let [theirs, own] = &self.counted(there)[..] else { return Ok(None) };
        let least = paired(&self.goal, theirs, own).map(|(least, _)| least);
        let tasks = self.sizes.tasks(&other.choice);
        let other = (tasks, other.choice);
        Ok(least.map(|least| Hedge::SecondThreads { other, ratios: [assumed, least], low }))
    }

    fn full_team(&mut self, own: &Tried, all: &[Choice], seeds: u32) -> Result<Option<Hedge>, Failed> {
        let Some(busy) = self.worlds.busy.clone().filter(|_| self.goal.is_end()) else { return Ok(None) };
        let kept = self.barred.groups.is_empty();
        let (sizes, most) = (&self.sizes, self.sizes.tasks(&own.choice));
        let other = all.iter().find(|choice| match kept {
            true => sizes.fills(&own.choice) && sizes.tasks(choice) < most && !sizes.above_cores(choice),
            false => self.barred.groups.contains(&sizes.group(choice)),
        });
        let Some((other, idle)) = other.and_then(|choice| self.beside(own, choice)) else { return Ok(None) };
        let there = self.judge().beside(&busy, &[own, &other], seeds, own.mean().unwrap_or(0.0))?;
        let [here, theirs] = &self.counted(there)[..] else { return Ok(None) };
        if kept && !collapses(&self.goal, own, here) {
            return Ok(None);
        }
        let beside = [loss(&self.goal, own, here), loss(&self.goal, &other, theirs)];
        let other = (self.sizes.tasks(&other.choice), other.choice);
        Ok(Some(Hedge::Busy { kept, other, idle, beside }))
    }
}
