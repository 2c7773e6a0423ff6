//! The search: an evolution strategy. From the best settings so far new ones are made by crossing two of them
//! and changing some values by a normal draw whose width shrinks ((mu + lambda) selection, Beyer and
//! Schwefel, Natural Computing 1, 2002); successive halving (Jamieson and Talwalkar, AISTATS 2016) tries them
//! on a third of the scenarios first, a third of them on all, and a third of those with a second seed. The
//! race of `oversim advise` decides between the best ones, on more seeds where they are not told apart.

use scenario::objective::Objective;
use sim_core::rng::next;

use super::axes::Subject;
use super::record::Records;
use crate::advise::levers::Sizes;
use crate::advise::search::{Tried, advised};
use crate::advise::undecided;
use crate::goal::Goal;
use crate::trial::{Failed, Setting};

/// Settings from which new ones are made.
const PARENTS: usize = 4;
/// New settings of a generation: seven for each two parents are usual (Beyer and Schwefel: 7 to 1), fewer
/// where each takes many runs.
const CHILDREN: usize = 12;
/// A third goes on.
const ETA: usize = 3;
/// Seeds of the settings that new ones are made from.
const SEEDS: u32 = 2;
/// Width of the draws on a scale from 0 to 1, at first, from one generation to the next, and at last.
const WIDTH: f64 = 0.3;
const SHRINKS: f64 = 0.9;
const LEAST: f64 = 0.03;
/// Draws of a new setting that was not tried yet; after these all are taken as tried.
const DRAWS: usize = 200;
/// The part of the runs that is left for the race.
const RACE: f64 = 0.25;
/// Seeds of a setting at most in the race.
const MOST: usize = 40;

/// A stream of draws.
pub(super) struct Draws(pub(super) u64);

impl Draws {
    /// Evenly from 0 to 1, 1 excluded.
    fn part(&mut self) -> f64 {
        f64::from(next(&mut self.0)) / (f64::from(u32::MAX) + 1.0)
    }

    fn below(&mut self, bound: usize) -> usize {
        ((self.part() * bound as f64) as usize).min(bound.saturating_sub(1))
    }

    /// About normal, with a standard deviation of 1: the sum of twelve even draws.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.part()).sum::<f64>() - 6.0
    }
}

/// The settings of the first generation: in each parameter every part of its scale once (a Latin hypercube).
fn spread(subject: &Subject, draws: &mut Draws, count: usize) -> Vec<Vec<u64>> {
    let mut columns: Vec<Vec<u64>> = Vec::new();
    for axis in &subject.axes {
        let mut order: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            order.swap(at, draws.below(at + 1));
        }
        let place = |part: usize, draws: &mut Draws| (part as f64 + draws.part()) / count as f64;
        columns.push(order.into_iter().map(|part| axis.value(place(part, draws))).collect());
    }
    (0..count).map(|at| columns.iter().map(|column| column[at]).collect()).collect()
}

/// Each value alone: of words all, of numbers a larger and a smaller one.
fn alone(subject: &Subject) -> Vec<Vec<u64>> {
    let defaults = subject.defaults();
    let mut all = Vec::new();
    for (at, axis) in subject.axes.iter().enumerate() {
        let values: Vec<u64> = if axis.is_number() {
            let here = axis.place(axis.parameter.default);
            vec![axis.value(here - WIDTH), axis.value(here + WIDTH)]
        } else {
            (axis.low..=axis.high.min(axis.low + CHILDREN as u64)).collect()
        };
        for value in values {
            let mut setting = defaults.clone();
            setting[at] = value;
            all.push(setting);
        }
    }
    all
}

/// A new setting from two others.
fn child(subject: &Subject, draws: &mut Draws, parents: &[Vec<u64>], width: f64) -> Vec<u64> {
    let [one, other] = [draws.below(parents.len()), draws.below(parents.len())];
    let mut setting: Vec<u64> = (0..subject.axes.len())
        .map(|at| if draws.part() < 0.5 { parents[one][at] } else { parents[other][at] })
        .collect();
    let sure = draws.below(setting.len());
    let share = 1.0 / setting.len() as f64;
    for (at, axis) in subject.axes.iter().enumerate() {
        if at != sure && draws.part() >= share {
            continue;
        }
        // Sometimes back to the default: an answer with fewer changes is easier to type and to trust.
        setting[at] = match draws.part() {
            part if part < 0.1 => axis.parameter.default,
            _ if axis.is_number() => axis.value(axis.place(setting[at]) + width * draws.normal()),
            _ => axis.value(draws.part()),
        };
    }
    setting
}

impl Records<'_> {
    /// Searches with about so many runs in all. Returns the settings that the race is about, the best first.
    pub(super) fn search(&mut self, draws: &mut Draws, budget: usize) -> Result<Vec<Vec<u64>>, Failed> {
        let subject = self.subject;
        let room = (budget as f64 * (1.0 - RACE)) as usize;
        self.begin(SEEDS)?;
        let cells = self.cells();
        let mut first = alone(subject);
        first.extend(spread(subject, draws, CHILDREN));
        let mut children = self.fresh(first);
        // What the first look costs must leave runs for what follows.
        children.truncate((room / 2 / cells.len().div_ceil(ETA).max(1)).max(ETA));
        let mut width = WIDTH;
        for generation in 0.. {
            if children.is_empty() {
                break;
            }
            self.halve(children, generation, &cells)?;
            if self.bench.runs + self.cost(cells.len()) > room {
                break;
            }
            let parents = self.parents(&cells);
            children = Vec::new();
            for _ in 0..DRAWS {
                let next = child(subject, draws, &parents, width);
                if self.get(&next).is_none() && !children.contains(&next) && next != subject.defaults() {
                    children.push(next);
                }
                if children.len() == CHILDREN {
                    break;
                }
            }
            width = (width * SHRINKS).max(LEAST);
        }
        Ok(self.parents(&cells))
    }

    /// About how many runs a generation takes.
    fn cost(&self, cells: usize) -> usize {
        let third = CHILDREN.div_ceil(ETA);
        CHILDREN * cells.div_ceil(ETA) + third * cells + third.div_ceil(ETA) * cells
    }

    /// Settings that were not tried, each once.
    fn fresh(&self, settings: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
        let mut fresh: Vec<Vec<u64>> = Vec::new();
        for setting in settings {
            if setting != self.subject.defaults() && self.get(&setting).is_none() && !fresh.contains(&setting)
            {
                fresh.push(setting);
            }
        }
        fresh
    }

    /// Tries settings on a third of the scenarios, which is another one in each generation, the best third of
    /// them on all, and the best third of those with a second seed.
    fn halve(&mut self, children: Vec<Vec<u64>>, generation: usize, cells: &[usize]) -> Result<(), Failed> {
        let some: Vec<usize> = cells
            .iter()
            .copied()
            .enumerate()
            .filter(|(at, _)| at % ETA == generation % ETA)
            .map(|(_, c)| c)
            .collect();
        let some = if some.is_empty() { cells.to_vec() } else { some };
        self.extend(&children, &some, 1)?;
        let left = self.best(children, &some, 1);
        self.extend(&left, cells, 1)?;
        let left = self.best(left, cells, 1);
        self.extend(&left, cells, SEEDS)
    }

    /// The best third of some settings, those left out that are refused.
    fn best(&self, settings: Vec<Vec<u64>>, cells: &[usize], seeds: usize) -> Vec<Vec<u64>> {
        let count = settings.len().div_ceil(ETA);
        let mut left = self.sorted(settings, cells, seeds);
        left.truncate(count);
        left
    }

    /// Settings by their score; of equals the one with fewer changes.
    fn sorted(&self, settings: Vec<Vec<u64>>, cells: &[usize], seeds: usize) -> Vec<Vec<u64>> {
        let scored = settings.into_iter().map(|setting| (self.score(&setting, cells, seeds), setting));
        let mut scored: Vec<(f64, Vec<u64>)> = scored.filter(|(score, _)| score.is_finite()).collect();
        let changes = |setting: &[u64]| self.subject.changes(setting);
        scored
            .sort_by(|a, b| a.0.total_cmp(&b.0).then(changes(&a.1).cmp(&changes(&b.1))).then(a.1.cmp(&b.1)));
        scored.into_iter().map(|(_, setting)| setting).collect()
    }

    /// The best settings with all seeds of the search, the default among them where it is one.
    fn parents(&self, cells: &[usize]) -> Vec<Vec<u64>> {
        let tried: Vec<Vec<u64>> = self.all().map(|(setting, _)| setting.clone()).collect();
        let mut best = self.sorted(tried, cells, SEEDS as usize);
        let default =
            best.iter().take_while(|setting| self.score(setting, cells, SEEDS as usize) < 0.0).count();
        best.insert(default, self.subject.defaults());
        best.truncate(PARENTS);
        best
    }

    /// More seeds for the best settings and the default as long as they are not told apart and there are
    /// runs, and which one is the answer on these scenarios: of those that are level with the best one, that
    /// with the fewest changes.
    pub(super) fn race(
        &mut self,
        settings: &[Vec<u64>],
        seeds: u32,
        budget: usize,
    ) -> Result<Vec<u64>, Failed> {
        let goal = suite_goal();
        let mut last: Vec<Vec<u64>> = settings.to_vec();
        if !last.contains(&self.subject.defaults()) {
            last.push(self.subject.defaults());
        }
        self.extend(&last, &self.cells(), seeds)?;
        let mut had = 0;
        loop {
            let cells = self.cells();
            let tried = self.tried(&last, &cells);
            let sizes = Sizes::default();
            let open = undecided((&goal, &sizes), &tried, 1.0, (seeds as usize, PARENTS));
            let have = tried.iter().map(|one| one.values.len()).max().unwrap_or(0);
            let more = (have * 2).min(MOST);
            // All get the same seeds: pairs of all of them are compared.
            let cost = (more - have) * cells.len() * tried.len();
            if open.is_empty() || more <= have || have <= had || self.bench.runs + cost > budget {
                let at = advised((&goal, &sizes), &tried);
                let found = tried.get(at).map(|one| setting_of(one, &last));
                return Ok(found.unwrap_or_else(|| self.subject.defaults()));
            }
            had = have;
            self.extend(&last, &cells, more as u32)?;
        }
    }

    /// The settings with their times over those of the default by seed, the best first.
    fn tried(&self, settings: &[Vec<u64>], cells: &[usize]) -> Vec<Tried> {
        let one = |(at, setting): (usize, &Vec<u64>)| {
            let refused = self.get(setting).is_some_and(|record| record.refusal.is_some());
            let logs = if refused { Vec::new() } else { self.by_seed(setting, cells) };
            let values = logs.into_iter().map(|log| Some(libm::exp(log))).collect();
            // A place for each setting, so that no two are alike, and a number for each changed value.
            let changed = self.subject.axes.iter().zip(setting);
            let changed =
                changed.map(|(axis, value)| usize::from(axis.parameter.default != *value) * (at + 1));
            Tried {
                choice: changed.collect(),
                setting: Setting { set: vec![at.to_string()], policy: None },
                values,
            }
        };
        let mut tried: Vec<Tried> = settings.iter().enumerate().map(one).collect();
        tried.retain(|one| !one.values.is_empty());
        let mean = |one: &Tried| one.mean().unwrap_or(f64::INFINITY);
        tried.sort_by(|a, b| mean(a).total_cmp(&mean(b)).then(a.changes().cmp(&b.changes())));
        tried
    }
}

/// The setting of a [`Tried`].
fn setting_of(tried: &Tried, settings: &[Vec<u64>]) -> Vec<u64> {
    let at = tried.setting.set.first().and_then(|at| at.parse::<usize>().ok());
    at.and_then(|at| settings.get(at)).cloned().unwrap_or_default()
}

/// What a suite is judged by: times over those of the default, which are smaller where they are better.
fn suite_goal() -> Goal {
    Goal { objective: Objective::RunTime, app: String::new(), metric: "run_time" }
}

#[cfg(test)]
mod tests {
    use experiment::PolicyRegistry;

    use super::*;

    #[test]
    fn the_first_settings_spread_over_every_scale_and_children_keep_to_their_ranges() {
        let subject = Subject::of(&PolicyRegistry::default(), "SPEED", &[], None).unwrap();
        let mut draws = Draws(7);
        let all = spread(&subject, &mut draws, 10);
        let axis = &subject.axes[0];
        let mut parts: Vec<usize> =
            all.iter().map(|values| (axis.place(values[0]) * 10.0) as usize).collect();
        parts.sort_unstable();
        parts.dedup();
        assert!(parts.len() >= 8, "{parts:?}");
        for _ in 0..100 {
            let child = child(&subject, &mut draws, &all, 0.3);
            for (axis, value) in subject.axes.iter().zip(child) {
                assert!(axis.parameter.min <= value && value <= axis.parameter.max);
            }
        }
        let normal: Vec<f64> = (0..1_000).map(|_| draws.normal()).collect();
        let mean = normal.iter().sum::<f64>() / 1e3;
        assert!(mean.abs() < 0.15, "{mean}");
    }

    #[test]
    fn each_value_is_tried_alone() {
        let subject =
            Subject::of(&PolicyRegistry::default(), "SPEED", &["measure".to_owned()], None).unwrap();
        let Some(notation::parameter::Kind::Choice(words)) =
            subject.axes.first().map(|axis| axis.parameter.kind.of_one())
        else {
            panic!("it is a word");
        };
        assert_eq!(alone(&subject).len(), words.len());
    }
}
