//! The search: random scenarios, hill climbing from the best ones, the reduction to what the loss needs, and
//! the measurement on fresh seeds.

use std::collections::BTreeMap;

use experiment::PolicyRegistry;
use experiment::statistics::summarise;
use notation::hash;
use scenario::Overrides;
use sim_core::rng::{Purpose, key};

use super::answer::{Duel, Request};
use super::case::{Around, Case, PROGRAMS, Program};
use super::draw::{self, Draws};
use super::smaller::smaller;
use crate::goal::Goal;
use crate::trial::{self, Failed, Means, Setting, Subject, Trial, Wanted};

/// Seeds of the search: a loss counts as large as in the seed in which it is smallest.
const SEEDS: u32 = 3;
/// Further seeds on which the best scenarios have to hold before one is reduced, and their distance.
const MORE: u32 = 5;
const NEXT: u64 = 100;
/// Seeds that the search does not see, on which the answer is measured.
const FRESH: u32 = 10;
/// Distance from the seeds of the search to the fresh ones.
const FAR: u64 = 1_000;
/// Shares of the runs: up to here random scenarios are drawn, up to there the best ones are changed.
const DRAWN: f64 = 0.3;
const CLIMBED: f64 = 0.6;
/// Best random scenarios from which climbing starts, one after another.
const STARTS: usize = 3;
/// Changes without success after which climbing goes on from the next start.
const PATIENCE: usize = 15;
/// Part of the loss that the reduced scenario keeps.
const KEPT: f64 = 0.9;
/// Losses below this are none: a hundredth.
const LEAST: f64 = 1.01;

/// What a search ends with.
#[derive(Clone, PartialEq, Debug)]
pub enum Found {
    /// A scenario in which the first policy loses.
    Lost(Box<Duel>),
    /// None was found: a sentence.
    Nothing(String),
}

/// The ratio of a scenario over some seeds: how many times as long the first policy takes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Ratio {
    /// The smallest ratio.
    Of(f64),
    /// A policy, the kernel or the simulator does not take it.
    Refused,
    /// The first policy does not end, although the second one does.
    Endless,
    /// The second policy does not end.
    Unknown,
}

/// A search in progress.
struct Search<'a> {
    policies: &'a PolicyRegistry,
    request: &'a Request,
    means: Means<'a>,
    left: usize,
    runs: usize,
    refused: usize,
    without_end: usize,
    last_refusal: String,
    reduced: bool,
    /// Ratios that are known, by the scenario and the number of seeds.
    known: BTreeMap<(Case, u32), Ratio>,
}

/// Searches the smallest scenario in which the first policy loses most to the second one.
///
/// # Errors
/// A policy, the kernel or the objective is none (a rendered text); the user interrupted.
pub fn search(request: &Request, policies: &PolicyRegistry, means: Means<'_>) -> Result<Found, Failed> {
    let mut search = Search {
        policies,
        request,
        means,
        left: request.runs,
        runs: 0,
        refused: 0,
        without_end: 0,
        last_refusal: String::new(),
        reduced: false,
        known: BTreeMap::new(),
    };
    search.check()?;
    let mut draws = Draws(key(request.seed, Purpose::Sweep, hash::text("duel")));
    let starts = search.random(&mut draws)?;
    if starts.is_empty() {
        return Ok(Found::Nothing(search.nothing()));
    }
    let best = search.climb(&mut draws, starts)?;
    let Some((best, ratio)) = search.confirmed(best)? else {
        return Ok(Found::Nothing(search.nothing()));
    };
    let (small, ratio) = search.reduce(best, ratio)?;
    search.validate(&small, ratio)
}

impl Search<'_> {
    fn around(&self) -> Around<'_> {
        let [a, b] = &self.request.policies;
        Around { kernel: &self.request.kernel, objective: &self.request.objective, policies: [a, b] }
    }

    /// The programs of the first application: those that end, and with an objective of requests users.
    fn first(&self) -> Vec<Program> {
        match self.request.objective.as_str() {
            "response" | "response_p99" => vec![Program::Interactive],
            _ => PROGRAMS.into_iter().filter(|program| program.ends()).collect(),
        }
    }

    /// Refuses names that no scenario could have.
    fn check(&self) -> Result<(), Failed> {
        let around = self.around();
        let text = format!(
            "name: duel\nmachine: \"core:2\"\nkernel: {}\napps:\n  a: {{ workload: {{ spmd: {{ work: 10ms }} \
             }} }}\npolicies: [PIN]\nobjective: makespan\nbaseline: none\n",
            around.kernel
        );
        for policy in &self.request.policies {
            let overrides = Overrides { policies: vec![policy.clone()], ..Overrides::default() };
            scenario::load_with(self.policies, "duel", &text, &overrides).map_err(Failed::Refused)?;
        }
        Ok(())
    }

    fn nothing(&self) -> String {
        let [a, b] = &self.request.policies;
        let tried = self.known.len();
        if self.refused == tried && tried > 0 {
            return format!(
                "No scenario of the search suits both {a} and {b}; the last refusal:\n{}",
                self.last_refusal
            );
        }
        let mut text = format!(
            "No scenario was found in which {a} takes longer than {b} in all seeds: {tried} \
             scenarios, {} runs.",
            self.runs
        );
        if self.without_end > 0 {
            text.push_str(&format!(" In {} of them {a} did not end and {b} did.", self.without_end));
        }
        text
    }

    /// Whether there are runs for one more scenario in all seeds.
    const fn affords(&self) -> bool {
        self.left >= 2 * SEEDS as usize
    }

    /// Whether there are runs left up to this share of all.
    fn has(&self, share: f64) -> bool {
        self.affords() && (self.runs as f64) < share * self.request.runs as f64
    }

    /// Random scenarios, each in one seed; the best ones, the best first.
    fn random(&mut self, draws: &mut Draws) -> Result<Vec<(Case, f64)>, Failed> {
        let first = self.first();
        let mut best: Vec<(Case, f64)> = Vec::new();
        // Refused scenarios take no runs: the number of draws is limited, too.
        for _ in 0..self.request.runs {
            // Without any loss so far there is nothing to change: drawing goes on.
            if !self.affords() || (!best.is_empty() && !self.has(DRAWN)) {
                break;
            }
            let case = draw::case(draws, &first);
            if let Ratio::Of(ratio) = self.ratio(&case, 1)?
                && ratio >= LEAST
                && best.iter().all(|(other, _)| *other != case)
            {
                best.push((case, ratio));
                best.sort_by(|a, b| b.1.total_cmp(&a.1));
                best.truncate(STARTS);
            }
        }
        Ok(best)
    }

    /// The best scenarios over all seeds of the search that changes of the starts lead to, the best first.
    fn climb(&mut self, draws: &mut Draws, starts: Vec<(Case, f64)>) -> Result<Vec<(Case, f64)>, Failed> {
        let first = self.first();
        let mut best: Vec<(Case, f64)> = Vec::new();
        for (case, _) in starts {
            let Ratio::Of(ratio) = self.ratio(&case, SEEDS)? else { continue };
            let (mut here, mut height) = (case, ratio);
            let mut failures = 0;
            while failures < PATIENCE && self.has(CLIMBED) {
                let next = draw::changed(draws, &here, &first);
                let better = match self.ratio_from(&next, height)? {
                    Ratio::Of(ratio) if ratio > height => Some(ratio),
                    _ => None,
                };
                match better {
                    Some(ratio) => (here, height, failures) = (next, ratio, 0),
                    None => failures += 1,
                }
            }
            best.push((here, height));
        }
        best.retain(|(_, ratio)| *ratio >= LEAST);
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(best)
    }

    /// The first of these scenarios in which the loss holds in further seeds: the interval of the logarithm
    /// of the ratio is above 0.
    fn confirmed(&mut self, best: Vec<(Case, f64)>) -> Result<Option<(Case, f64)>, Failed> {
        for (case, ratio) in best {
            let found = self.trials(&case, self.request.seed.saturating_add(NEXT), MORE)?;
            let runs = 2 * MORE as usize;
            self.runs += runs;
            self.left = self.left.saturating_sub(runs);
            if let Some([(goal, Some(a)), (_, Some(b))]) = found
                && let Some((_, [low, _])) = logarithm(&goal, &a, &b)
                && low > 0.0
            {
                return Ok(Some((case, ratio)));
            }
        }
        Ok(None)
    }

    /// The smallest scenario that keeps nine tenths of the loss.
    fn reduce(&mut self, mut case: Case, ratio: f64) -> Result<(Case, f64), Failed> {
        let enough = (1.0 + KEPT * (ratio - 1.0)).max(LEAST);
        let mut kept = ratio;
        let (mut place, mut better) = (0, false);
        loop {
            let Some(next) = smaller(&case).into_iter().nth(place) else {
                // After a round with a success, what failed before may succeed.
                if !better {
                    self.reduced = true;
                    break;
                }
                (place, better) = (0, false);
                continue;
            };
            if !self.affords() {
                break;
            }
            match self.ratio_from(&next, enough)? {
                Ratio::Of(ratio) if ratio >= enough => (case, kept, better) = (next, ratio, true),
                _ => place += 1,
            }
        }
        Ok((case, kept))
    }

    /// The ratio over all seeds of the search, or over the first one if that is below `least`: the others are
    /// not worth their runs.
    fn ratio_from(&mut self, case: &Case, least: f64) -> Result<Ratio, Failed> {
        match self.ratio(case, 1)? {
            Ratio::Of(one) if one >= least => self.ratio(case, SEEDS),
            other => Ok(other),
        }
    }

    /// The smallest ratio of a scenario over this many seeds.
    fn ratio(&mut self, case: &Case, seeds: u32) -> Result<Ratio, Failed> {
        if let Some(known) = self.known.get(&(case.clone(), seeds)) {
            return Ok(*known);
        }
        let found = match seeds {
            1 => self.measured(case, self.request.seed, 1)?,
            // The first seed is known, or is worth knowing first.
            more => match self.ratio(case, 1)? {
                Ratio::Of(first) => {
                    match self.measured(case, self.request.seed.saturating_add(1), more - 1)? {
                        Ratio::Of(others) => Ratio::Of(first.min(others)),
                        other => other,
                    }
                }
                other => other,
            },
        };
        self.known.insert((case.clone(), seeds), found);
        Ok(found)
    }

    /// Runs a scenario under both policies.
    fn measured(&mut self, case: &Case, seed: u64, seeds: u32) -> Result<Ratio, Failed> {
        let Some([first, second]) = self.trials(case, seed, seeds)? else {
            self.refused += 1;
            return Ok(Ratio::Refused);
        };
        let runs = 2 * seeds as usize;
        self.runs += runs;
        self.left = self.left.saturating_sub(runs);
        Ok(match (first.1, second.1) {
            (Some(a), Some(b)) => smallest(&first.0, &a, &b),
            (None, Some(_)) => {
                self.without_end += 1;
                Ratio::Endless
            }
            _ => Ratio::Unknown,
        })
    }

    /// What both policies reach in a scenario; none if it is refused.
    #[expect(clippy::type_complexity, reason = "the goal and the values of two sides")]
    fn trials(
        &mut self,
        case: &Case,
        seed: u64,
        seeds: u32,
    ) -> Result<Option<[(Goal, Option<Vec<f64>>); 2]>, Failed> {
        let text = case.yaml(&self.around(), seed);
        let subject =
            Subject { policies: self.policies, name: "lost.yaml", text: &text, base: Overrides::default() };
        let wanted = [0, 1].map(|side| Wanted {
            setting: Setting { set: Vec::new(), policy: Some(self.request.policies[side].clone()) },
            replicates: 0..seeds,
            draw: None,
            at_most: None,
        });
        let experiment = match subject.experiment(&wanted[0]) {
            Ok(experiment) => experiment,
            Err(refusal) => {
                self.last_refusal = refusal;
                return Ok(None);
            }
        };
        let trials = match trial::run(&subject, &wanted, None, self.means) {
            Ok(trials) => trials,
            Err(Failed::Refused(refusal)) => {
                self.last_refusal = refusal;
                return Ok(None);
            }
            Err(stopped) => return Err(stopped),
        };
        let [first, second] = &trials[..] else { return Ok(None) };
        let measured = [first, second].into_iter().flat_map(|trial| trial.values.iter().flatten()).next();
        let Some(values) = measured else { return Ok(Some([neither(), neither()])) };
        let goal = match Goal::of(&experiment, values) {
            Ok(goal) => goal,
            Err(refusal) => {
                self.last_refusal = refusal;
                return Ok(None);
            }
        };
        let reached = |trial: &Trial| -> Option<Vec<f64>> {
            trial.values.iter().map(|values| goal.value(values.as_ref()?)).collect()
        };
        Ok(Some([first, second].map(|trial| (goal.clone(), reached(trial)))))
    }

    /// Measures the scenario on seeds that the search did not see.
    fn validate(&mut self, case: &Case, searched: f64) -> Result<Found, Failed> {
        let seed = self.request.seed.saturating_add(FAR);
        let found = self.trials(case, seed, FRESH)?;
        let Some([(goal, Some(a)), (_, Some(b))]) = found else {
            return Ok(Found::Nothing(format!(
                "The scenario that was found does not complete on {FRESH} fresh seeds, although it did on \
                 those of the search."
            )));
        };
        let [policy, other] = &self.request.policies;
        let (Some((mean, [low, high])), Some(x), Some(y)) =
            (logarithm(&goal, &a, &b), summarise(&a), summarise(&b))
        else {
            return Ok(Found::Nothing(
                "The scenario that was found has no finite ratio on fresh seeds.".into(),
            ));
        };
        if low <= 0.0 {
            return Ok(Found::Nothing(format!(
                "No loss holds: the best of {} scenarios has a ratio of {searched:.2} on the seeds of the \
                 search, and on {FRESH} fresh seeds {policy} takes {:.2} times as long as {other} (95 % \
                 interval {:.2} to {:.2}).",
                self.known.len(),
                libm::exp(mean),
                libm::exp(low),
                libm::exp(high)
            )));
        }
        Ok(Found::Lost(Box::new(Duel {
            policies: self.request.policies.clone(),
            metric: goal.metric,
            app: goal.app.clone(),
            ratio: libm::exp(mean),
            ci95: [libm::exp(low), libm::exp(high)],
            values: [x, y],
            searched,
            seed,
            seeds: FRESH,
            runs: self.runs,
            tried: self.known.keys().map(|(case, _)| case).collect::<std::collections::BTreeSet<_>>().len(),
            refused: self.refused,
            without_end: self.without_end,
            reduced: self.reduced,
            scenario: case.yaml(&self.around(), seed),
        })))
    }
}

fn neither() -> (Goal, Option<Vec<f64>>) {
    let objective = scenario::objective::Objective::Makespan;
    (Goal { objective, app: "all".into(), metric: "makespan" }, None)
}

/// The mean logarithm of the ratio and its 95 % interval.
fn logarithm(goal: &Goal, a: &[f64], b: &[f64]) -> Option<(f64, [f64; 2])> {
    let logs: Vec<f64> = a.iter().zip(b).map(|(a, b)| libm::log(goal.ratio(*a, *b))).collect();
    let summary = summarise(&logs)?;
    Some((summary.mean, summary.ci95?))
}

/// The smallest ratio over the seeds; unknown where one is no finite number.
fn smallest(goal: &Goal, a: &[f64], b: &[f64]) -> Ratio {
    let ratios = a.iter().zip(b).map(|(a, b)| goal.ratio(*a, *b));
    match ratios.reduce(f64::min) {
        Some(ratio) if ratio.is_finite() && ratio > 0.0 => Ratio::Of(ratio),
        _ => Ratio::Unknown,
    }
}
