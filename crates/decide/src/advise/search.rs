//! The search: every setting once where there are few, else a first look and a climb; then successive halving
//! (Jamieson and Talwalkar, AISTATS 2016): a third of the settings goes on, with three times as many seeds,
//! or more where there are runs for them. A race (`race.rs`) decides between those that are left, and the
//! best ones are judged by what scenarios rarely state (`hedge.rs`). All settings meet the same seeds, so
//! differences are paired.

mod hedging;

use std::collections::{BTreeMap, BTreeSet};

use experiment::measured::Values;
use experiment::metrics::ALL_APPS;
use scenario::objective::Objective;
use scenario::plan::Experiment;
use sim_core::account::Category;
use sim_core::time::Span;

use super::Effort;
use super::hedge::{Barred, Hedge, Worlds};
use super::levers::{Choice, Kind, Lever, Sizes, habit, programs, setting, shared};
pub use super::race::{COLLAPSE, THREE, Tried, WORTH, advised, paired};
use super::race::{undecided, worst};
use crate::goal::Goal;
use crate::trial::{self, Dedicated, Failed, Means, Setting, Subject, Wanted};

/// A third of the settings goes on with three times as many seeds.
const ETA: usize = 3;
/// So many settings are left for the last comparison.
const LAST: usize = 8;
/// Settings in one batch: the next batch is cut off by what this one found. It must not depend on the number
/// of threads.
const BATCH: usize = 16;
/// A first look is cut off at this multiple of the best time so far: such a setting is out of the question.
const HOPELESS: f64 = 8.0;
/// Other seeds are cut off only at this multiple: a setting that is good with most seeds and bad with a few
/// may have the best mean.
const ENDLESS: f64 = 100.0;
/// Two amounts of work within this part of each other are the same problem; as in the ranking of
/// `oversim run`, more threads communicate and start a little more.
const SAME_WORK: f64 = 0.1;
/// Up to so many changes all subsets of them are tried: 32 settings.
const SUBSETS: usize = 5;
/// A neighbour of the best setting gets all seeds if its first one is within this factor.
const NEAR: f64 = 1.02;
/// Seeds of the settings that an answer shows, if there are runs for them: with these an event of one seed in
/// twenty is missed with a probability of 13 % (0.95^40).
const CONFIRMED: usize = 40;
/// Rounds of the halving of which each has as many runs: from one seed by thirds to the seeds of the last
/// comparison, of which 5 to 10 are usual.
const ROUNDS: usize = 3;
/// A race has at most this part of the events of a search, or, where a user states the runs of the search, as
/// many runs again.
const RACE: u64 = 8;
/// Setting up a run and reading it out takes as long as so many events: 0.4 ms, and 6 million events in a
/// second, both on one core in a search of short runs (release build, 2026).
const START: u64 = 2_000;
/// Values of a seed within this part of each other are those of settings that do the same, such as bindings
/// of a team that has a core for each thread.
const SAME: f64 = 0.001;
/// Numbers of tasks whose best settings are looked at beside those of the last comparison.
const SIZES: usize = 6;
/// A run of fewer periods of a quota says little about it: its last period is up to this share of it.
const PERIODS: f64 = 20.0;
/// Seeds of a setting at most: an event of one run in 500 is missed with a probability of 2 % (0.998^2000).
const MOST: usize = 2_000;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// What is judged.
    pub goal: Goal,
    /// The levers that were searched.
    pub levers: Vec<Lever>,
    /// The dedicated runs that `throughput` and slowdowns refer to, where the goal needs them.
    pub dedicated: Option<Dedicated>,
    /// Share of the busy cpu time, as it is, in which memory makes programs wait.
    pub memory: f64,
    /// Everything as it is.
    pub as_it_is: Tried,
    /// The usual habit, where it is another setting.
    pub habit: Option<Tried>,
    /// The settings of the last comparison: the advised one first, then by mean. Those that were hard to tell
    /// apart have more seeds than the others, from the same first one.
    pub last: Vec<Tried>,
    /// Settings that exist.
    pub size: usize,
    /// Settings that were tried.
    pub tried: usize,
    /// Runs.
    pub runs: usize,
    /// Events of these runs.
    pub events: u64,
    /// How many times its median a run of one of the settings took at most.
    pub worst: f64,
    /// How much was searched.
    pub effort: Effort,
    /// Levers that were left out, each with the reason.
    pub left_out: Vec<String>,
    /// What is not advised although it may be better as the scenario is stated.
    pub barred: Barred,
    /// Why, and other doubts about what nobody states.
    pub hedges: Vec<Hedge>,
    sizes: Sizes,
}

impl Found {
    /// Whether a setting may be advised.
    #[must_use]
    pub fn admits(&self, choice: &[usize]) -> bool {
        admits(&self.barred, &self.sizes, choice)
    }

    /// The tasks of a setting.
    #[must_use]
    pub fn tasks(&self, choice: &[usize]) -> u64 {
        self.sizes.tasks(choice)
    }
}

/// Whether a setting may be advised.
fn admits(barred: &Barred, sizes: &Sizes, choice: &[usize]) -> bool {
    let above = barred.above_cores && sizes.above_cores(choice);
    !(above || barred.groups.contains(&sizes.group(choice)))
}

/// A search in progress.
struct Search<'a> {
    subject: &'a Subject<'a>,
    means: Means<'a>,
    goal: Goal,
    dedicated: Option<Dedicated>,
    levers: Vec<Lever>,
    seen: BTreeMap<Choice, Vec<Option<f64>>>,
    memory: f64,
    /// The work of each program as it is.
    work: BTreeMap<String, f64>,
    /// Best value so far of a time that can be cut off, in s.
    best: Option<f64>,
    runs: usize,
    /// Seeds of the dedicated runs.
    referred: u32,
    /// Events so far.
    events: u64,
    /// Seeds that an answer's settings have at least.
    levelled: usize,
    sizes: Sizes,
    worlds: Worlds,
    barred: Barred,
    /// The runs and the events at which the races end.
    most: Option<(usize, u64)>,
}

/// Searches the settings of levers.
///
/// `worlds`: what the best settings are judged by besides.
///
/// # Errors
/// The scenario as it is does not complete or does not measure its objective; the user interrupted.
pub fn search(
    subject: &Subject<'_>,
    (experiment, worlds): (&Experiment, Worlds),
    levers: Vec<Lever>,
    budget: Effort,
    means: Means<'_>,
) -> Result<Found, Failed> {
    let base = Wanted {
        setting: Setting::default(),
        replicates: 0..budget.replicates.max(1),
        draw: None,
        at_most: None,
    };
    let first = Wanted { replicates: 0..1, ..base.clone() };
    let dedicated = if experiment.baseline && needs_dedicated(experiment.objective) {
        Some(trial::dedicated(subject, &base, means)?)
    } else {
        None
    };
    let trials = trial::run(subject, &[first], dedicated.as_ref(), means)?;
    let budget = budget.within(trials.first().map_or(0, |trial| trial.events));
    let values = trials.first().and_then(|trial| trial.values.first().cloned().flatten());
    let Some(values) = values else {
        let why = trials.first().map_or("", |trial| trial.ended.as_str());
        return Err(Failed::Refused(format!("the scenario as it is does not complete: {why}")));
    };
    let goal = Goal::of(experiment, &values).map_err(Failed::Refused)?;
    let best = goal.value(&values);
    let mut search = Search {
        subject,
        means,
        memory: memory(&values),
        work: work(&values),
        best: best.filter(|_| goal.is_end()),
        goal,
        dedicated,
        levers: Vec::new(),
        seen: BTreeMap::new(),
        runs: 1,
        referred: base.replicates.end,
        events: trials.first().map_or(0, |trial| trial.events),
        levelled: 1,
        sizes: Sizes::default(),
        worlds,
        barred: Barred::default(),
        most: None,
    };
    let mut left_out = search.begin(levers)?;
    let known = programs(experiment, &[]);
    if let Some(plan) = shared(experiment) {
        search.sizes = Sizes::of(plan, &known, &search.levers);
    }
    left_out.extend(search.short());
    let habit = shared(experiment).and_then(|plan| habit(&plan.machine, &known, &search.levers));
    search.explore(budget)?;
    if let Some(habit) = &habit {
        search.try_all(std::slice::from_ref(habit), budget.replicates, budget)?;
    }
    search.halve(budget)?;
    // Before the race, which then has no settings that are not advised; its winner may be another one.
    while search.hedge(budget)? {}
    search.decide(habit.as_ref(), budget)?;
    while search.hedge(budget)? {
        search.decide(habit.as_ref(), budget)?;
    }
    search.finish(left_out, habit, budget)
}

/// Whether an objective refers to dedicated runs.
pub(crate) const fn needs_dedicated(objective: Objective) -> bool {
    matches!(objective, Objective::Throughput | Objective::WorstSlowdown)
}

/// The share of the busy cpu time in which memory makes programs wait.
fn memory(values: &Values) -> f64 {
    let Some(all) = values.get(ALL_APPS) else { return 0.0 };
    let share =
        |category: Category| all.get(&format!("breakdown_{}", category.name())).copied().unwrap_or(0.0);
    let waits = [Category::Idle, Category::Spin, Category::LockWait, Category::Yield];
    let busy = 1.0 - waits.into_iter().map(share).sum::<f64>();
    if busy > 1e-9 { (share(Category::MemoryStall) + share(Category::Remote)) / busy } else { 0.0 }
}

/// A choice without some of its changes; of a choice with many changes, without one of them.
fn simpler(choice: &Choice) -> Vec<Choice> {
    let changed: Vec<usize> = (0..choice.len()).filter(|at| choice[*at] > 0).collect();
    let without = |left_out: &dyn Fn(usize) -> bool| {
        let mut simpler = choice.clone();
        for (number, at) in changed.iter().enumerate() {
            if left_out(number) {
                simpler[*at] = 0;
            }
        }
        simpler
    };
    if changed.len() <= SUBSETS {
        (1..1_usize << changed.len()).map(|set| without(&|number| set >> number & 1 == 1)).collect()
    } else {
        (0..changed.len()).map(|one| without(&|number| number == one)).collect()
    }
}

/// The work of each application of a run.
fn work(values: &Values) -> BTreeMap<String, f64> {
    values.iter().filter_map(|(app, of)| Some((app.clone(), *of.get("work")?))).collect()
}

impl Search<'_> {
    fn as_it_is(&self) -> Choice {
        vec![0; self.levers.len()]
    }

    /// Tries each value of each lever alone, and leaves out those that cannot be set or change the amount of
    /// work. Returns sentences about them.
    fn begin(&mut self, levers: Vec<Lever>) -> Result<Vec<String>, Failed> {
        let mut left_out = Vec::new();
        for mut lever in levers {
            let mut refused = 0;
            let mut kept = Vec::new();
            for (at, value) in lever.values.drain(..).enumerate() {
                let setting = Setting { set: value.set.clone(), policy: value.policy.clone() };
                let wanted = Wanted { setting, replicates: 0..1, draw: None, at_most: None };
                match self.subject.experiment(&wanted) {
                    // The user named the path and the value.
                    Err(why) if at > 0 && lever.kind == Kind::Path => return Err(Failed::Refused(why)),
                    Err(_) if at > 0 => refused += 1,
                    _ => kept.push(value),
                }
            }
            if refused > 0 {
                left_out.push(format!(
                    "{} cannot be set for {}",
                    lever.kind.refused(refused),
                    lever.app.as_deref().unwrap_or("these programs")
                ));
            }
            lever.values = kept;
            if lever.values.len() > 1 {
                self.levers.push(lever);
            }
        }
        left_out.extend(self.same_problem()?);
        Ok(left_out)
    }

    /// Leaves out sizes of programs of which more tasks have more work: their times are of other problems.
    fn same_problem(&mut self) -> Result<Vec<String>, Failed> {
        let mut left_out = Vec::new();
        let mut kept = Vec::new();
        for lever in std::mem::take(&mut self.levers) {
            let size = matches!(lever.kind, Kind::Threads | Kind::Ranks);
            let (Some(app), true) = (&lever.app, size) else {
                kept.push(lever);
                continue;
            };
            let two: Vec<Wanted> = lever
                .values
                .iter()
                .skip(1)
                .take(1)
                .map(|value| Wanted {
                    setting: Setting { set: value.set.clone(), policy: None },
                    replicates: 0..1,
                    draw: None,
                    at_most: None,
                })
                .collect();
            let trials = trial::run(self.subject, &two, None, self.means)?;
            self.runs += two.len();
            let now = trials.first().and_then(|trial| trial.values.first()?.as_ref()).map(work);
            let ratio = now.and_then(|now| Some(now.get(app)? / self.work.get(app)?));
            if ratio.is_some_and(|ratio| (ratio - 1.0).abs() > SAME_WORK) {
                left_out.push(format!("the number of tasks of {app} is its amount of work, so it stays"));
            } else {
                kept.push(lever);
            }
        }
        self.levers = kept;
        Ok(left_out)
    }

    /// Has dedicated runs of so many seeds, if the goal needs them.
    fn refer_to(&mut self, seeds: u32) -> Result<(), Failed> {
        let (Some(known), true) = (&mut self.dedicated, seeds > self.referred) else { return Ok(()) };
        let replicates = self.referred..seeds;
        let wanted = Wanted { setting: Setting::default(), replicates, draw: None, at_most: None };
        known.extend(trial::dedicated(self.subject, &wanted, self.means)?);
        self.referred = seeds;
        Ok(())
    }

    /// Tries choices with the first `seeds` seeds, those that were tried already only with the others.
    fn try_all(&mut self, choices: &[Choice], seeds: u32, budget: Effort) -> Result<(), Failed> {
        self.refer_to(seeds)?;
        let mut once = BTreeSet::new();
        let choices: Vec<&Choice> = choices.iter().filter(|choice| once.insert(*choice)).collect();
        for batch in choices.chunks(BATCH) {
            if seeds == 1 && self.events > budget.events / 2 {
                break;
            }
            let most = if seeds == 1 { HOPELESS } else { ENDLESS };
            let at_most = self.best.map(|best| Span::from_ns((best * most * 1e9) as u64));
            let mut wanted = Vec::new();
            let mut of = Vec::new();
            for choice in batch.iter().copied() {
                let done = self.seen.get(choice).map_or(0, Vec::len) as u32;
                let hopeless = self.seen.get(choice).is_some_and(|values| values.contains(&None));
                let Some(setting) = setting(&self.levers, choice).filter(|_| done < seeds && !hopeless)
                else {
                    continue;
                };
                let at_most = at_most.filter(|_| choice.iter().any(|at| *at > 0));
                wanted.push(Wanted { setting, replicates: done..seeds, draw: None, at_most });
                of.push(choice.clone());
            }
            // Combinations that the scenario refuses count as those that do not complete.
            let one_seed = |one: &Wanted| Wanted { replicates: 0..1, ..one.clone() };
            let valid: Vec<bool> =
                wanted.iter().map(|one| self.subject.experiment(&one_seed(one)).is_ok()).collect();
            let mut run: Vec<Wanted> = Vec::new();
            for (one, valid) in wanted.iter().zip(&valid) {
                run.extend(valid.then(|| one.clone()));
            }
            self.runs += run.iter().map(|one| one.replicates.len()).sum::<usize>();
            let trials = trial::run(self.subject, &run, self.dedicated.as_ref(), self.means)?;
            self.events += trials.iter().map(|trial| trial.events).sum::<u64>();
            let mut trials = trials.into_iter();
            for ((choice, one), valid) in of.into_iter().zip(&wanted).zip(valid) {
                let trial = if valid { trials.next() } else { None };
                let values: Vec<Option<f64>> = match trial {
                    Some(trial) => trial.values.iter().map(|v| self.goal.value(v.as_ref()?)).collect(),
                    None => vec![None; one.replicates.len()],
                };
                self.seen.entry(choice).or_default().extend(values);
            }
            self.note_best();
        }
        Ok(())
    }

    fn note_best(&mut self) {
        if self.best.is_none() {
            return;
        }
        let slowest = |values: &Vec<Option<f64>>| {
            values.iter().copied().collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
        };
        let best = self.seen.values().filter_map(slowest).reduce(f64::min);
        self.best = best.or(self.best);
    }

    /// The ratio of the mean to that of what is as it is; infinite where a run is missing.
    fn score(&self, choice: &Choice) -> f64 {
        let mean = |choice: &Choice| {
            let all: Option<Vec<f64>> = self.seen.get(choice)?.iter().copied().collect();
            all.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64)
        };
        match (mean(choice), mean(&self.as_it_is())) {
            (Some(own), Some(base)) => self.goal.ratio(own, base),
            _ => f64::INFINITY,
        }
    }

    /// Choices, the better one first; of equals the one with fewer changes.
    fn sorted(&self, choices: impl IntoIterator<Item = Choice>) -> Vec<Choice> {
        let changes = |choice: &Choice| choice.iter().filter(|at| **at > 0).count();
        let mut all: Vec<(f64, usize, Choice)> =
            choices.into_iter().map(|choice| (self.score(&choice), changes(&choice), choice)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        all.into_iter().map(|(.., choice)| choice).collect()
    }

    /// A first look with one seed: all choices where the budget allows it, else each value alone, then all
    /// pairs of the best values, then steps from the best one while they help.
    fn explore(&mut self, budget: Effort) -> Result<(), Failed> {
        let base = self.as_it_is();
        self.try_all(std::slice::from_ref(&base), budget.replicates, budget)?;
        // Half of the budget is for the seeds that follow.
        if self.size() <= budget.runs / 2 {
            let all = self.all();
            return self.try_all(&all, 1, budget);
        }
        let alone: Vec<Choice> = self.neighbours(&base);
        self.try_all(&alone, 1, budget)?;
        let pairs = self.pairs(budget.runs / 4);
        self.try_all(&pairs, 1, budget)?;
        while self.runs < budget.runs / 2 {
            let Some(best) = self.ranked().into_iter().next() else { break };
            let before = self.seen.len();
            let next: Vec<Choice> =
                self.neighbours(&best).into_iter().filter(|c| !self.seen.contains_key(c)).collect();
            let room = (budget.runs / 2).saturating_sub(self.runs).max(1);
            self.try_all(&next[..next.len().min(room)], 1, budget)?;
            if self.seen.len() == before || self.ranked().first() == Some(&best) {
                break;
            }
        }
        Ok(())
    }

    /// Settings that exist.
    fn size(&self) -> usize {
        self.levers.iter().fold(1_usize, |size, lever| size.saturating_mul(lever.values.len()))
    }

    /// All choices, in order.
    fn all(&self) -> Vec<Choice> {
        let mut all = vec![Vec::new()];
        for lever in &self.levers {
            all = all
                .into_iter()
                .flat_map(|choice: Choice| {
                    (0..lever.values.len()).map(move |at| [choice.as_slice(), &[at]].concat())
                })
                .collect();
        }
        all
    }

    /// All choices that differ in one value.
    fn neighbours(&self, from: &Choice) -> Vec<Choice> {
        let mut near = Vec::new();
        for (at, lever) in self.levers.iter().enumerate() {
            for value in (0..lever.values.len()).filter(|value| from.get(at) != Some(value)) {
                let mut choice = from.clone();
                choice[at] = value;
                near.push(choice);
            }
        }
        near
    }

    /// Pairs of values of two levers, those first that were best alone; at most so many.
    fn pairs(&self, most: usize) -> Vec<Choice> {
        let base = self.as_it_is();
        let mut pairs = BTreeSet::new();
        for (a, first) in self.levers.iter().enumerate() {
            for (b, second) in self.levers.iter().enumerate().skip(a + 1) {
                for x in 1..first.values.len() {
                    for y in 1..second.values.len() {
                        let mut choice = base.clone();
                        (choice[a], choice[b]) = (x, y);
                        pairs.insert(choice);
                    }
                }
            }
        }
        let alone = |choice: &Choice| {
            choice.iter().enumerate().filter(|(_, at)| **at > 0).fold(1.0, |product, (lever, at)| {
                let mut one = base.clone();
                one[lever] = *at;
                product * self.score(&one)
            })
        };
        let mut pairs: Vec<(f64, Choice)> =
            pairs.into_iter().map(|choice| (alone(&choice), choice)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        pairs.truncate(most);
        pairs.into_iter().map(|(_, choice)| choice).collect()
    }

    /// What was tried, completed and may be advised, the best first.
    fn ranked(&self) -> Vec<Choice> {
        let may = |choice: &&Choice| admits(&self.barred, &self.sizes, choice);
        self.sorted(self.seen.keys().filter(may).filter(|choice| self.score(choice).is_finite()).cloned())
    }

    /// The best choice of each number of tasks, the best number first.
    fn of_each_size(&self, choices: Vec<Choice>) -> Vec<Choice> {
        let mut once = BTreeSet::new();
        choices.into_iter().filter(|choice| once.insert(self.sizes.tasks(choice))).collect()
    }

    /// Successive halving, then the neighbours of the best one.
    fn halve(&mut self, budget: Effort) -> Result<(), Failed> {
        let mut seeds = 1_u32;
        let mut left = self.distinct(self.ranked());
        while left.len() > LAST || seeds < budget.replicates {
            let more = (seeds * ETA as u32).min(budget.replicates);
            let affordable = budget.runs / ROUNDS / (more - seeds).max(1) as usize;
            left.truncate((left.len() / ETA).max(LAST).max(affordable));
            seeds = more;
            self.try_all(&left, seeds, budget)?;
            left = self.distinct(self.sorted(left));
            if seeds == budget.replicates {
                break;
            }
        }
        let Some(best) = left.first().cloned() else { return Ok(()) };
        let next: Vec<Choice> =
            self.neighbours(&best).into_iter().filter(|c| !self.seen.contains_key(c)).collect();
        self.try_all(&next, 1, budget)?;
        let best_score = self.score(&best);
        let near: Vec<Choice> =
            next.into_iter().filter(|choice| self.score(choice) < best_score * NEAR).collect();
        self.try_all(&near, budget.replicates, budget)
    }

    /// Gives the settings that an answer shows the same seeds, and decides between the best ones; again
    /// where another one leads then.
    fn decide(&mut self, habit: Option<&Choice>, budget: Effort) -> Result<(), Failed> {
        let mut leader = None;
        for _ in 0..ROUNDS {
            self.level(habit, budget)?;
            let room = self.room(budget);
            let most = *self.most.get_or_insert(room);
            self.race(budget, most)?;
            let now = self.ranked().into_iter().next();
            if now == leader {
                break;
            }
            leader = now;
        }
        Ok(())
    }

    /// The runs and the events at which a race that begins now ends.
    fn room(&self, budget: Effort) -> (usize, u64) {
        let stated = budget.events == u64::MAX;
        let runs = if stated { self.runs + budget.runs } else { usize::MAX };
        (runs, self.spent().saturating_add(budget.events / RACE))
    }

    /// Events so far, those that stand for the beginning of each run included.
    const fn spent(&self) -> u64 {
        self.events.saturating_add((self.runs as u64).saturating_mul(START))
    }

    /// More seeds for the settings whose order the seeds do not show yet, twice as many each time, those with
    /// the fewest first, up to so many runs and events of the search.
    fn race(&mut self, budget: Effort, (runs, events): (usize, u64)) -> Result<(), Failed> {
        loop {
            let ranked = self.whole(budget.replicates as usize);
            let open = undecided((&self.goal, &self.sizes), &ranked, self.worst(), (self.levelled, LAST));
            let open: Vec<&Tried> = open.into_iter().filter_map(|at| ranked.get(at)).collect();
            let fewest = open.iter().map(|tried| tried.values.len()).min().unwrap_or(0);
            let seeds = (fewest * 2).max(self.levelled).min(MOST);
            let mut next: Vec<Choice> = Vec::new();
            let (mut more, each) = (0, self.spent() / self.runs.max(1) as u64);
            for tried in open.into_iter().filter(|tried| tried.values.len() < seeds) {
                more += seeds - tried.values.len();
                let cost = each.saturating_mul(more as u64);
                if self.runs + more <= runs && self.spent().saturating_add(cost) <= events {
                    next.push(tried.choice.clone());
                }
            }
            if next.is_empty() {
                return Ok(());
            }
            // The plans of all runs of one call are in memory together.
            for begun in (fewest..seeds).step_by(CONFIRMED) {
                self.try_all(&next, (begun + CONFIRMED).min(seeds) as u32, budget)?;
            }
        }
    }

    /// The settings with so many seeds at least, the best one first.
    fn whole(&self, seeds: usize) -> Vec<Tried> {
        let ranked = self.ranked().into_iter().map(|choice| self.tried(&choice));
        ranked.filter(|tried| tried.values.len() >= seeds).collect()
    }

    fn worst(&self) -> f64 {
        let all: Vec<Tried> = self.seen.keys().map(|choice| self.tried(choice)).collect();
        worst(&self.goal, &all)
    }

    /// The same seeds for all that an answer shows: the first settings, what is as it is, and the habit; and
    /// for the best setting without some of its changes, which may all do without.
    fn level(&mut self, habit: Option<&Choice>, budget: Effort) -> Result<(), Failed> {
        let ranked = self.distinct(self.ranked());
        let mut shown: Vec<Choice> = ranked.iter().take(LAST).cloned().collect();
        let simpler = shown.first().map(simpler).unwrap_or_default();
        self.try_all(&simpler, 1, budget)?;
        let best = shown.first().map_or(f64::INFINITY, |choice| self.score(choice));
        shown.extend(simpler.into_iter().filter(|choice| self.score(choice) < best * NEAR));
        shown.push(self.as_it_is());
        shown.extend(habit.cloned());
        let mut sizes = self.of_each_size(ranked);
        sizes.truncate(SIZES);
        self.try_all(&sizes, budget.replicates, budget)?;
        // As many seeds again as the search had runs: one seed in twenty may be many times as long as the
        // others.
        let affordable = if self.events < budget.events { budget.runs / shown.len().max(1) } else { 0 };
        self.levelled = affordable.min(CONFIRMED).max(budget.replicates as usize).max(self.levelled);
        self.try_all(&shown, self.levelled as u32, budget)
    }

    fn tried(&self, choice: &Choice) -> Tried {
        Tried {
            setting: setting(&self.levers, choice).unwrap_or_default(),
            values: self.seen.get(choice).cloned().unwrap_or_default(),
            choice: choice.clone(),
        }
    }

    /// The setting that would be advised now.
    fn leader(&self, seeds: usize) -> Option<Tried> {
        let whole = self.whole(seeds);
        let at = advised((&self.goal, &self.sizes), &whole);
        whole.into_iter().nth(at)
    }

    fn finish(
        mut self,
        left_out: Vec<String>,
        habit: Option<Choice>,
        effort: Effort,
    ) -> Result<Found, Failed> {
        let hedges = self.hedges(effort.replicates)?;
        let own = self.leader(self.levelled);
        // The advised one first, then different ones before copies, then the best of other sizes.
        let ranked = self.distinct(self.ranked());
        let whole = ranked.iter().map(|choice| self.tried(choice));
        let whole = whole.filter(|tried| tried.values.len() >= self.levelled);
        let of_each = self.of_each_size(self.ranked()).into_iter().map(|choice| self.tried(&choice));
        let enough = |tried: &Tried| tried.values.len() >= effort.replicates as usize;
        let mut once = BTreeSet::new();
        let last = own.into_iter().chain(whole).chain(of_each.filter(enough).take(SIZES));
        let last = last.filter(|tried| once.insert(tried.choice.clone())).collect();
        Ok(Found {
            as_it_is: self.tried(&self.as_it_is()),
            habit: habit.map(|habit| self.tried(&habit)),
            last,
            size: self.size(),
            tried: self.seen.len(),
            runs: self.runs,
            events: self.events,
            worst: self.worst(),
            left_out,
            effort,
            goal: self.goal,
            levers: self.levers,
            memory: self.memory,
            dedicated: self.dedicated,
            barred: self.barred,
            hedges,
            sizes: self.sizes,
        })
    }
}
