//! The leader board: every policy on every scenario of a suite with the same seeds, who wins where, by how
//! much, and which differences the scenarios show.

mod forms;
mod markdown;
mod standing;
mod text;

use std::collections::BTreeMap;

use experiment::PolicyRegistry;
use experiment::metrics::ALL_APPS;
use scenario::Overrides;
use serde::Serialize;

use crate::goal::Goal;
use crate::suite::bench::{Bench, Done};
use crate::suite::ratio::Ratio;
use crate::suite::{Cell, Half};
use crate::trial::{Failed, Means, sentence};

pub use forms::{COLUMNS, FORMATS};
pub(crate) use standing::observations;
pub use standing::{Pair, Standing};

/// The policy that all are compared with, where it is one of them.
pub const REFERENCE: &str = "LOAD";

/// A scenario that every policy takes.
const PLAIN: &str = "name: plain\nmachine: core:2\nkernel: linux-6.18\napps:\n  \
    a: { workload: { spmd: { work: 10ms } } }\npolicies: [PIN]\nbaseline: none\n";

/// What a board is made of.
#[derive(Clone, Debug)]
pub struct Request {
    /// The suite as the user names it.
    pub suite: String,
    /// The policies as `--policy` takes them.
    pub policies: Vec<String>,
    /// Seed of the first replicate.
    pub seed: u64,
    /// Seeds.
    pub replicates: u32,
    /// What all scenarios are judged by; none: each by its own objective.
    pub objective: Option<String>,
    /// SHA-256 of the policy files by their paths.
    pub files: BTreeMap<String, String>,
}

/// How the runs of a policy in a scenario ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All completed.
    Completed,
    /// The scenario, the policy or the simulator refuses them.
    Refused,
    /// One did not complete.
    NotCompleted,
}

/// What a policy reached in a scenario.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    /// The policy.
    pub policy: String,
    /// How its runs ended.
    pub state: State,
    /// Why they were refused or did not complete; empty where they did.
    pub why: String,
    /// The mean over the seeds, in the unit of the metric.
    pub mean: Option<f64>,
    /// Its time over that of the reference, seed by seed.
    pub ratio: Option<Ratio>,
    /// Its time over that of the best policy of the scenario.
    pub to_best: Option<Ratio>,
    /// The longest time for which a task with work waited for a cpu, s.
    pub longest_wait: f64,
    /// Decisions that the engine refused or corrected.
    pub corrections: u64,
    /// Logarithms of the time of each seed over that of the reference.
    #[serde(skip)]
    pub(crate) logs: Vec<f64>,
}

/// A scenario of the board.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Its name in the suite.
    pub cell: String,
    /// What it is for.
    pub half: Half,
    /// The command that runs it.
    pub command: String,
    /// What it is judged by.
    pub objective: String,
    /// The application whose metric counts; `all`: the whole run.
    pub app: String,
    /// The metric.
    pub metric: String,
    /// Whether it counts: the reference completed it.
    pub counts: bool,
    /// The policy with the smallest mean ratio; none where the scenario does not count.
    pub best: Option<String>,
    /// Policies that the seeds do not tell from the best one, by a hundredth or more.
    pub level: Vec<String>,
    /// The best of the others, and its time over that of the best one.
    pub next: Option<(String, Ratio)>,
    /// The policies, in their order.
    pub entries: Vec<Entry>,
}

/// A leader board.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Board {
    /// The form of this JSON.
    pub schema: &'static str,
    /// The suite as the user names it.
    pub suite: String,
    /// Seed of the first replicate.
    pub seed: u64,
    /// Seeds.
    pub replicates: u32,
    /// What all are compared with.
    pub reference: String,
    /// The policies in order of rank.
    pub standings: Vec<Standing>,
    /// The scenarios.
    pub scenarios: Vec<Row>,
    /// All pairs of policies that have a rank.
    pub pairs: Vec<Pair>,
    /// SHA-256 of the policy files by their paths.
    pub files: BTreeMap<String, String>,
    /// Runs.
    pub runs: usize,
}

/// Runs all policies on all cells.
///
/// # Errors
/// A scenario is wrong, no policy completes it, two policies have one name; the user interrupted.
pub fn board(
    cells: &[Cell],
    policies: &PolicyRegistry,
    request: &Request,
    means: Means<'_>,
) -> Result<Board, Failed> {
    let names = labels(policies, &request.policies)?;
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(Failed::Refused(format!(
                "two policies are called `{name}`: give one another name, `{{ {name}: {{}}, as: other }}`"
            )));
        }
    }
    let reference = names.iter().position(|name| name == REFERENCE).unwrap_or(0);
    let objective = request.objective.as_deref();
    let mut bench = Bench::new(cells, policies, (request.seed, objective))?;
    let mut scenarios = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        let done = bench.run(at, &request.policies, 0..request.replicates, means)?;
        if done.iter().all(|done| !done.refused.is_empty()) {
            let why = done.into_iter().next().map(|done| done.refused).unwrap_or_default();
            return Err(Failed::Refused(why));
        }
        scenarios.push(row(cell, &names, (&done, reference), bench.goal(at)));
    }
    let (standings, pairs) = standing::standings(&names, &scenarios);
    Ok(Board {
        schema: "oversim.leaderboard/1",
        suite: request.suite.clone(),
        seed: request.seed,
        replicates: request.replicates,
        reference: names.get(reference).cloned().unwrap_or_default(),
        standings,
        scenarios,
        pairs,
        files: request.files.clone(),
        runs: bench.runs,
    })
}

/// What scenarios call the policies; refuses names and parameters that no scenario could have.
fn labels(policies: &PolicyRegistry, names: &[String]) -> Result<Vec<String>, Failed> {
    let label = |name: &String| {
        let overrides = Overrides { policies: vec![name.clone()], ..Overrides::default() };
        let plain = scenario::load_with(policies, "policies", PLAIN, &overrides).map_err(Failed::Refused)?;
        Ok(plain.policies.into_iter().next().unwrap_or_default())
    };
    names.iter().map(label).collect()
}

/// What the policies did in a cell.
fn row(cell: &Cell, names: &[String], (done, reference): (&[Done], usize), goal: Option<&Goal>) -> Row {
    let base = done.get(reference).and_then(Done::complete);
    let mut entries: Vec<Entry> =
        names.iter().zip(done).map(|(name, done)| entry(name, done, base.as_deref().zip(goal))).collect();
    let mut order: Vec<usize> = (0..entries.len()).filter(|at| !entries[*at].logs.is_empty()).collect();
    let mean = |at: &usize| entries[*at].logs.iter().sum::<f64>();
    order.sort_by(|a, b| mean(a).total_cmp(&mean(b)).then(a.cmp(b)));
    let (mut best, mut level, mut next) = (None, Vec::new(), None);
    if let Some((first, rest)) = order.split_first() {
        best = Some(entries[*first].policy.clone());
        let winner = entries[*first].logs.clone();
        for at in rest {
            let logs: Vec<f64> =
                entries[*at].logs.iter().zip(&winner).map(|(own, best)| own - best).collect();
            let Some(ratio) = Ratio::of(&logs) else { continue };
            let name = entries[*at].policy.clone();
            entries[*at].to_best = Some(ratio);
            if !ratio.is_more() {
                level.push(name.clone());
            }
            next.get_or_insert((name, ratio));
        }
    }
    Row {
        cell: cell.name.clone(),
        half: cell.half,
        command: cell.command(),
        objective: goal.map_or("", |goal| goal.objective.name()).to_owned(),
        app: goal.map_or(ALL_APPS, |goal| &goal.app).to_owned(),
        metric: goal.map_or("", |goal| goal.metric).to_owned(),
        counts: base.is_some(),
        best,
        level,
        next,
        entries,
    }
}

fn entry(name: &str, done: &Done, base: Option<(&[f64], &Goal)>) -> Entry {
    let values = done.complete();
    let state = match () {
        () if !done.refused.is_empty() => State::Refused,
        () if values.is_none() => State::NotCompleted,
        () => State::Completed,
    };
    let log = |((base, goal), values): ((&[f64], &Goal), &Vec<f64>)| -> Vec<f64> {
        values.iter().zip(base).map(|(own, base)| libm::log(goal.ratio(*own, *base))).collect()
    };
    let logs = base.zip(values.as_ref()).map(log).unwrap_or_default();
    let mean = values.map(|values| values.iter().sum::<f64>() / values.len() as f64);
    Entry {
        policy: name.to_owned(),
        state,
        why: if done.refused.is_empty() { done.ended.clone() } else { sentence(&done.refused) },
        mean,
        ratio: Ratio::of(&logs),
        to_best: None,
        longest_wait: done.longest_wait.ns() as f64 / 1e9,
        corrections: done.corrections,
        logs,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use scenario::objective::Objective;

    use super::*;

    /// A row of logarithms by seed and policy; none is a refusal.
    pub(crate) fn row(cell: &str, names: &[String], seeds: &[Vec<Option<f64>>]) -> Row {
        let done = |policy: usize| {
            let values: Vec<Option<f64>> = seeds.iter().map(|seed| seed[policy].map(f64::exp)).collect();
            let refused = values.iter().any(Option::is_none);
            let refused =
                if refused { "error: the scenario refuses it\n  --> x".to_owned() } else { String::new() };
            Done { values, refused, ..Done::default() }
        };
        let cell = Cell {
            name: cell.to_owned(),
            half: Half::Train,
            scenario: cell.to_owned(),
            title: cell.to_owned(),
            text: String::new(),
            set: Vec::new(),
        };
        let goal = Goal { objective: Objective::Makespan, app: "all".to_owned(), metric: "makespan" };
        let all: Vec<Done> = (0..names.len()).map(done).collect();
        super::row(&cell, names, (&all, 0), Some(&goal))
    }

    /// So many rows of three seeds of policies called LOAD, A, B, ...
    pub(crate) fn rows<const N: usize>(
        count: usize,
        log: impl Fn(usize, usize) -> [Option<f64>; N],
    ) -> Vec<Row> {
        let names: Vec<String> =
            ["LOAD", "A", "B", "C"].iter().take(N).map(|name| (*name).to_owned()).collect();
        let row = |cell: usize| {
            let seeds: Vec<Vec<Option<f64>>> = (0..3).map(|seed| log(cell, seed).to_vec()).collect();
            row(&format!("cell{cell}"), &names, &seeds)
        };
        (0..count).map(row).collect()
    }

    /// A board of such rows.
    pub(crate) fn of<const N: usize>(rows: Vec<Row>) -> Board {
        let names: Vec<String> =
            ["LOAD", "A", "B", "C"].iter().take(N).map(|name| (*name).to_owned()).collect();
        let (standings, pairs) = standing::standings(&names, &rows);
        Board {
            schema: "oversim.leaderboard/1",
            suite: "general".to_owned(),
            seed: 1,
            replicates: 3,
            reference: "LOAD".to_owned(),
            standings,
            scenarios: rows,
            pairs,
            files: BTreeMap::new(),
            runs: 3 * N,
        }
    }

    #[test]
    fn every_policy_takes_the_plain_scenario_and_unknown_names_are_refused() {
        let policies = PolicyRegistry::default();
        let names: Vec<String> = policies.entries().map(|entry| entry.name.to_owned()).collect();
        assert_eq!(labels(&policies, &names), Ok(names));
        let given = ["SPEED/DWRR", "{ SPEED: { interval: 50ms }, as: fast }"].map(str::to_owned);
        let expected = ["SPEED-over-DWRR", "fast"].map(str::to_owned);
        assert_eq!(labels(&policies, &given), Ok(expected.to_vec()));
        let unknown = labels(&policies, &["LAOD".to_owned()]);
        assert!(matches!(unknown, Err(Failed::Refused(why)) if why.contains("LOAD")));
    }

    #[test]
    fn the_best_policy_of_a_scenario_and_those_level_with_it_are_named() {
        let rows = rows(1, |_, seed| {
            let scatter = seed as f64 * 0.001;
            [Some(0.0), Some(-1.0), Some(-1.0 + scatter)]
        });
        assert_eq!((rows[0].best.as_deref(), &rows[0].level[..]), (Some("A"), &["B".to_owned()][..]));
        let (next, ratio) = rows[0].next.clone().unwrap_or_else(|| panic!("{rows:?}"));
        assert!(next == "B" && (ratio.mean - 1.001).abs() < 1e-6, "{ratio:?}");
        assert_eq!(rows[0].entries[0].why, "");
    }
}
