//! Parameters of a policy, or changes of the formulas of an order, found by a search over one half of a
//! suite, and tried once on the other half: the answer is the default unless that shows a gain.

mod axes;
mod forms;
mod record;
mod search;
mod text;

use std::collections::BTreeMap;

use experiment::PolicyRegistry;
use notation::hash;
use serde::Serialize;
use sim_core::rng::{Purpose, key};
use sim_core::time::Span;

use crate::board::observations;
use crate::suite::bench::Bench;
use crate::suite::ratio::Ratio;
use crate::suite::{Cell, Half};
use crate::trial::{Failed, Means};

pub use axes::{Formulas, Subject, parts};
pub use forms::{FORMATS, snippet};
pub use record::Refusal;

use record::Records;
use search::Draws;

/// Runs of a search where nobody states another number: a few minutes on a desktop for the built-in suite.
pub const RUNS: u32 = 2_000;
/// A task with work may wait so long for a cpu where nobody states another time: as long as Linux lets a task
/// of the fair class wait behind real-time tasks (`sched_rt_period_us`).
pub const LONGEST_WAIT: u64 = 1_000_000_000;
/// Distance from the seeds of the search to those on which the answer is tried.
const FAR: u64 = 1_000;

/// What is searched.
#[derive(Clone, Debug)]
pub struct Request {
    /// The suite as the user names it.
    pub suite: String,
    /// What all scenarios are judged by; none: each by its own objective.
    pub objective: Option<String>,
    /// Runs of the search, about.
    pub budget: u32,
    /// Seeds of the last comparisons.
    pub replicates: u32,
    /// Seed of the search and of the first replicate.
    pub seed: u64,
    /// A task with work may wait so long for a cpu, or as long as under the default, ns.
    pub longest_wait: u64,
}

/// A parameter and what was found for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Found {
    /// The parameter.
    pub parameter: &'static str,
    /// Its default, as a scenario writes it.
    pub default: String,
    /// The values that the search may try: `1ms to 1s`, `0, 10 to 99`, `even, domain, none`.
    pub searched: String,
    /// The value of the candidate.
    pub value: String,
}

/// A scenario: the time of the candidate over that of the default.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Place {
    /// Its name in the suite.
    pub scenario: String,
    /// The ratio; none where a run is missing.
    pub ratio: Option<Ratio>,
}

/// What was found on some scenarios.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tried {
    /// Seeds.
    pub seeds: usize,
    /// The time of the candidate over that of the default, geometric mean with its interval: over the
    /// scenarios where they are others than those of the search, else over the seeds.
    pub ratio: Option<Ratio>,
    /// Each scenario.
    pub scenarios: Vec<Place>,
}

/// What a search found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tuned {
    /// The form of this JSON.
    pub schema: &'static str,
    /// The policy.
    pub policy: String,
    /// The suite as the user names it.
    pub suite: String,
    /// What all scenarios are judged by; none: each by its own objective.
    pub objective: Option<String>,
    /// Seed of the search and of the first replicate.
    pub seed: u64,
    /// The parameters.
    pub parameters: Vec<Found>,
    /// Parameters that were not searched.
    pub left_out: Vec<&'static str>,
    /// The policy with the values of the best setting of the search, as a scenario writes it.
    pub candidate: String,
    /// Where formulas are searched: the text of the order of the candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Whether the candidate is the answer; else it is the default.
    pub gains: bool,
    /// Why.
    pub why: String,
    /// The candidate on the scenarios on which it was chosen; none where the default was chosen.
    pub train: Option<Tried>,
    /// The candidate on the hold-out: other scenarios, or other seeds of the same ones; none where it was not
    /// run.
    pub holdout: Option<Tried>,
    /// Whether the hold-out has other scenarios.
    pub other_scenarios: bool,
    /// Settings that were tried, besides the default.
    pub tried: usize,
    /// Settings that were refused, by reason.
    pub refusals: BTreeMap<Refusal, usize>,
    /// The longest wait of a task that is allowed, s.
    pub longest_wait: f64,
    /// Scenarios that the default does not complete, which do not count, each with the reason.
    pub lost: Vec<(String, String)>,
    /// Runs of the search.
    pub runs: usize,
    /// Runs of the hold-out.
    pub holdout_runs: usize,
}

/// Searches the parameters of a policy over the first half of a suite and tries the best setting on the
/// second one; without one, on other seeds of the same scenarios.
///
/// # Errors
/// A scenario is wrong; the default completes none; the user interrupted.
pub fn tune(
    cells: &[Cell],
    policies: &PolicyRegistry,
    (subject, request): (&Subject, &Request),
    means: Means<'_>,
) -> Result<Tuned, Failed> {
    let half = |half: Half| cells.iter().filter(|cell| cell.half == half).cloned().collect::<Vec<_>>();
    let (train, holdout) = (half(Half::Train), half(Half::Holdout));
    if train.is_empty() {
        return Err(Failed::Refused(format!(
            "{} has hold-out scenarios only: a search needs scenarios outside of the folder `holdout`",
            request.suite
        )));
    }
    let limit = Span::from_ns(request.longest_wait);
    let objective = request.objective.as_deref();
    let bench = Bench::new(&train, policies, (request.seed, objective))?;
    let mut records = Records::new(bench, subject, limit, means);
    let mut draws = Draws(key(request.seed, Purpose::Sweep, hash::text("tune")));
    let best = records.search(&mut draws, request.budget as usize)?;
    let chosen = records.race(&best, request.replicates, request.budget as usize)?;
    let mut tuned = begin(subject, request, &chosen);
    let settings = records.all().filter(|(setting, _)| **setting != subject.defaults());
    (tuned.tried, tuned.refusals) = (settings.count(), records.refusals());
    (tuned.runs, tuned.lost) = (records.bench.runs, records.lost());
    if chosen == subject.defaults() {
        tuned.why =
            "no setting of the search is shown to be better on the scenarios of the search".to_owned();
        return Ok(tuned);
    }
    tuned.train = Some(tried(&records, &chosen, false));
    tuned.other_scenarios = !holdout.is_empty();
    let other = if tuned.other_scenarios { &holdout } else { &train };
    let seed = request.seed.wrapping_add(FAR);
    let bench = Bench::new(other, policies, (seed, objective))?;
    let mut records = Records::new(bench, subject, limit, means);
    records.begin(request.replicates)?;
    let all = records.cells();
    records.extend(std::slice::from_ref(&chosen), &all, request.replicates)?;
    tuned
        .lost
        .extend(records.lost().into_iter().filter(|lost| !tuned.lost.contains(lost)).collect::<Vec<_>>());
    tuned.holdout_runs = records.bench.runs;
    let found = tried(&records, &chosen, tuned.other_scenarios);
    let refusal = records.get(&chosen).and_then(|record| record.refusal);
    (tuned.gains, tuned.why) = verdict(found.ratio, refusal);
    tuned.holdout = Some(found);
    Ok(tuned)
}

/// Whether a candidate is the answer, and why.
fn verdict(ratio: Option<Ratio>, refusal: Option<Refusal>) -> (bool, String) {
    match (refusal, ratio) {
        (Some(refusal), _) => {
            (false, format!("the candidate is refused on the hold-out: {}", refusal.words()))
        }
        (None, Some(ratio)) if ratio.is_less() => (true, "the hold-out shows a gain".to_owned()),
        (None, Some(ratio)) if ratio.is_more() => {
            (false, "the hold-out shows a loss: the gain of the search does not carry over".to_owned())
        }
        _ => (false, "the hold-out does not show a gain".to_owned()),
    }
}

/// A result without what is measured.
fn begin(subject: &Subject, request: &Request, chosen: &[u64]) -> Tuned {
    let found = |(axis, value): (&axes::Axis, &u64)| Found {
        parameter: axis.parameter.name,
        default: axis.written(axis.parameter.default),
        searched: axis.searched(),
        value: axis.written(*value),
    };
    Tuned {
        schema: "oversim.tune/1",
        policy: subject.policy.clone(),
        suite: request.suite.clone(),
        objective: request.objective.clone(),
        seed: request.seed,
        parameters: subject
            .axes
            .iter()
            .zip(chosen)
            .filter(|(axis, _)| axis.is_parameter())
            .map(found)
            .collect(),
        left_out: subject.left_out.clone(),
        candidate: subject.shown(chosen, None),
        order: subject.formulas.as_ref().map(|all| all.text(&subject.changes_of_formulas(chosen))),
        gains: false,
        why: String::new(),
        train: None,
        holdout: None,
        other_scenarios: false,
        tried: 0,
        refusals: BTreeMap::new(),
        longest_wait: request.longest_wait as f64 / 1e9,
        lost: Vec::new(),
        runs: 0,
        holdout_runs: 0,
    }
}

/// What a setting reached on the scenarios of a bench. `over_scenarios`: the interval is over them.
fn tried(records: &Records<'_>, setting: &[u64], over_scenarios: bool) -> Tried {
    let cells = records.cells();
    let logs = |cell: &usize| records.get(setting).and_then(|record| record.logs.get(cell));
    let all: Vec<&[f64]> = cells.iter().filter_map(|cell| logs(cell).map(Vec::as_slice)).collect();
    let whole = all.len() == cells.len() && all.iter().all(|logs| !logs.is_empty());
    let seeds = records.by_seed(setting, &cells);
    let over = if over_scenarios { observations(&all) } else { seeds.clone() };
    let names = records.bench.cells();
    let place = |cell: &usize| Place {
        scenario: names.get(*cell).map_or_else(String::new, |cell| cell.name.clone()),
        ratio: logs(cell).and_then(|logs| Ratio::of(logs)),
    };
    Tried {
        seeds: seeds.len(),
        ratio: if whole { Ratio::of(&over) } else { None },
        scenarios: cells.iter().map(place).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// Threads that sleep at barriers beside a hog: short slices of VTIME are much better than long ones.
    const TEAM: &str = "name: team\nmachine: core:2\nkernel: linux-6.18\npolicies: [LOAD]\nbaseline: none\n\
        objective: makespan\napps:\n  team: { workload: { spmd: { work: 40ms, intervals: 20, spread: 10% \
        } }, runtime: block, tasks: 2 }\n  hogs: { workload: hog, tasks: 2 }\n";

    fn cell(name: &str, half: Half, text: &str) -> Cell {
        Cell {
            name: name.to_owned(),
            half,
            scenario: name.to_owned(),
            title: format!("{name}.yaml"),
            text: text.to_owned(),
            set: Vec::new(),
        }
    }

    fn request() -> Request {
        Request {
            suite: "mine".to_owned(),
            objective: None,
            budget: 60,
            replicates: 3,
            seed: 1,
            longest_wait: LONGEST_WAIT,
        }
    }

    fn run(cells: &[Cell], request: &Request, jobs: usize) -> Result<Tuned, Failed> {
        let policies = PolicyRegistry::default();
        let subject = Subject::of(&policies, "VTIME", &["slice".to_owned()], None).unwrap();
        let stop = AtomicBool::new(false);
        tune(cells, &policies, (&subject, request), Means { jobs, progress: &|| (), stop: &stop })
    }

    #[test]
    fn a_gain_is_found_and_holds_on_other_seeds_whatever_the_threads() {
        let cells = [cell("team", Half::Train, TEAM)];
        let tuned = run(&cells, &request(), 1).unwrap();
        assert!(tuned.gains && !tuned.other_scenarios, "{tuned:#?}");
        let ratio = tuned.holdout.as_ref().and_then(|tried| tried.ratio).unwrap();
        assert!(ratio.is_less() && tuned.candidate.starts_with("{ VTIME: { slice: "), "{tuned:#?}");
        assert_eq!(tuned, run(&cells, &request(), 2).unwrap());
    }

    #[test]
    fn what_does_not_hold_on_the_hold_out_is_not_the_answer() {
        // One task for each cpu: no slice makes a difference.
        let idle =
            TEAM.replace("hogs: { workload: hog, tasks: 2 }", "far: { workload: { hog: { work: 1ms } } }");
        let cells = [cell("team", Half::Train, TEAM), cell("idle", Half::Holdout, &idle)];
        let tuned = run(&cells, &request(), 0).unwrap();
        assert!(!tuned.gains && tuned.other_scenarios, "{tuned:#?}");
        assert!(tuned.train.unwrap().ratio.unwrap().is_less(), "the search found a gain");
        assert!(tuned.why.contains("does not show a gain"), "{}", tuned.why);
    }

    #[test]
    fn settings_under_which_tasks_starve_are_refused() {
        let request = Request { longest_wait: 1, ..request() };
        let longer = TEAM.replace("objective: makespan", "objective: rate\nwindow: 500ms");
        let longer = longer.replace("intervals: 20", "grain: 1ms, intervals: 100000");
        let tuned = run(&[cell("team", Half::Train, &longer)], &request, 0).unwrap();
        let starved = tuned.refusals.get(&Refusal::Starved).copied().unwrap_or(0);
        assert!(starved > 0 && starved < tuned.tried, "{tuned:#?}");
    }

    #[test]
    fn verdicts_follow_the_interval() {
        let ratio = |logs: &[f64]| Ratio::of(logs);
        assert!(verdict(ratio(&[-0.2, -0.21, -0.19]), None).0);
        assert!(!verdict(ratio(&[-0.2, 0.21, -0.19]), None).0);
        assert!(!verdict(ratio(&[-0.2, -0.21, -0.19]), Some(Refusal::Starved)).0);
        assert!(verdict(ratio(&[0.2, 0.21, 0.19]), None).1.contains("loss"));
        assert!(!verdict(None, None).0);
    }

    #[test]
    fn a_suite_needs_scenarios_to_search_on() {
        let cells = [cell("team", Half::Holdout, TEAM)];
        assert!(matches!(run(&cells, &request(), 0), Err(Failed::Refused(why)) if why.contains("hold-out")));
    }
}
