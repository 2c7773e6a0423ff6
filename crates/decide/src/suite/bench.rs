//! Runs policies on the cells of a suite, all with the same seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use experiment::PolicyRegistry;
use experiment::metrics::ALL_APPS;
use notation::yaml::{Content, tree};
use policies::is_file;
use scenario::objective::Objective;
use sim_core::time::Span;

use super::Cell;
use crate::advise::search::needs_dedicated;
use crate::goal::Goal;
use crate::trial::{self, Dedicated, Failed, Means, Setting, Subject, Trial, Wanted};

/// What one policy did in one cell.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Done {
    /// What each seed reached; none where the run did not complete.
    pub values: Vec<Option<f64>>,
    /// Why the scenario, the policy or the simulator refuses the runs: a sentence or a rendered text; empty
    /// where they ran.
    pub refused: String,
    /// Why the first run that did not complete ended: a sentence; empty where all completed.
    pub ended: String,
    /// The longest time for which a task with work waited for a cpu.
    pub longest_wait: Span,
    /// Decisions of the policy that the engine refused or corrected.
    pub corrections: u64,
}

impl Done {
    /// What all seeds reached; none where one is missing.
    #[must_use]
    pub fn complete(&self) -> Option<Vec<f64>> {
        let all: Option<Vec<f64>> = self.values.iter().copied().collect();
        all.filter(|all| !all.is_empty())
    }
}

/// The cells of a suite, read and ready to run.
pub struct Bench<'a> {
    cells: &'a [Cell],
    subjects: Vec<Subject<'a>>,
    objectives: Vec<(Objective, bool)>,
    goals: Vec<Option<Goal>>,
    dedicated: Vec<BTreeMap<(u32, u32), Dedicated>>,
    /// Runs so far.
    pub runs: usize,
}

/// The policies of the registry, and those of the files that these texts name; files are relative to the
/// working directory. Returns the SHA-256 of each file, too.
///
/// # Errors
/// A sentence about a file.
pub fn read_files(
    policies: &PolicyRegistry,
    names: &[String],
) -> Result<(PolicyRegistry, BTreeMap<String, String>), String> {
    let (mut known, mut sums) = (policies.clone(), BTreeMap::new());
    let files: BTreeSet<String> = names.iter().filter_map(|name| file(name)).collect();
    for name in files {
        let sum = known.read_file(&name, Path::new(&name)).map_err(|(problem, hint)| {
            let hint = if hint.is_empty() { String::new() } else { format!(": {hint}") };
            format!("cannot use the policy file {name}: {problem}{hint}")
        })?;
        sums.insert(name, sum);
    }
    Ok((known, sums))
}

/// The file that a policy of the command line names, `./x.wasm` or `{ ./x.wasm: { slice: 1 } }`.
fn file(name: &str) -> Option<String> {
    let written = match tree(0, name).ok()?.content {
        Content::Scalar(text) => text,
        Content::Map(entries) => {
            let beside = entries.iter().find(|entry| entry.key == "policy");
            match beside.map(|entry| &entry.value.content) {
                Some(Content::Scalar(text)) => text.clone(),
                _ => entries.first()?.key.clone(),
            }
        }
        Content::List(_) | Content::Null => return None,
    };
    // A slash in a name of the command line also puts a policy on another one.
    let last = written.rsplit_once('/').map_or(written.as_str(), |(_, last)| last);
    is_file(last).then_some(written)
}

impl<'a> Bench<'a> {
    /// Reads the scenarios of the cells. `seed`: of the first replicate of each; `objective`: what all are
    /// judged by, in place of their own.
    ///
    /// # Errors
    /// A scenario is wrong: rendered with its place.
    pub fn new(
        cells: &'a [Cell],
        policies: &'a PolicyRegistry,
        (seed, objective): (u64, Option<&str>),
    ) -> Result<Self, Failed> {
        let of = |cell: &'a Cell| cell.subject(policies, Some(seed), objective);
        let subjects: Vec<Subject<'a>> = cells.iter().map(of).collect();
        let wanted = Wanted { setting: Setting::default(), replicates: 0..1, draw: None, at_most: None };
        let mut objectives = Vec::new();
        for subject in &subjects {
            let experiment = subject.experiment(&wanted).map_err(Failed::Refused)?;
            objectives.push((experiment.objective, experiment.baseline));
        }
        Ok(Self {
            cells,
            subjects,
            objectives,
            goals: vec![None; cells.len()],
            dedicated: vec![BTreeMap::new(); cells.len()],
            runs: 0,
        })
    }

    /// The cells.
    #[must_use]
    pub fn cells(&self) -> &'a [Cell] {
        self.cells
    }

    /// What a cell is judged by, as soon as a run has completed there.
    #[must_use]
    pub fn goal(&self, cell: usize) -> Option<&Goal> {
        self.goals.get(cell)?.as_ref()
    }

    /// Runs policies, as `--policy` takes them, on a cell.
    ///
    /// # Errors
    /// The dedicated runs of the cell are refused; no run that completed measured its objective; the user
    /// interrupted. What is refused of a single policy is in [`Done::refused`].
    pub fn run(
        &mut self,
        cell: usize,
        policies: &[String],
        replicates: Range<u32>,
        means: Means<'_>,
    ) -> Result<Vec<Done>, Failed> {
        let wanted: Vec<Wanted> = policies
            .iter()
            .map(|policy| Wanted {
                setting: Setting { set: Vec::new(), policy: Some(policy.clone()) },
                replicates: replicates.clone(),
                draw: None,
                at_most: None,
            })
            .collect();
        let (subject, (objective, baseline)) = (&self.subjects[cell], self.objectives[cell]);
        let key = (replicates.start, replicates.end);
        if baseline && needs_dedicated(objective) && !self.dedicated[cell].contains_key(&key) {
            let plain = Wanted {
                setting: Setting::default(),
                replicates: replicates.clone(),
                draw: None,
                at_most: None,
            };
            let runs = trial::dedicated(subject, &plain, means)?;
            self.dedicated[cell].insert(key, runs);
        }
        let trials = trial::run_each(subject, &wanted, self.dedicated[cell].get(&key), means)?;
        let completed = trials.iter().flatten().flat_map(|trial| &trial.values).flatten().next();
        if let (Some(values), None) = (completed, &self.goals[cell]) {
            let experiment = subject.experiment(&wanted[0]).or_else(|_| {
                let plain = Wanted { setting: Setting::default(), ..wanted[0].clone() };
                subject.experiment(&plain)
            });
            let goal = experiment.and_then(|experiment| Goal::of(&experiment, values));
            let goal = goal.map_err(|why| Failed::Refused(format!("{}: {why}", self.cells[cell].title)))?;
            self.goals[cell] = Some(goal);
        }
        self.runs += trials.iter().flatten().map(|trial| trial.values.len()).sum::<usize>();
        let goal = self.goals[cell].as_ref();
        Ok(trials.into_iter().map(|trial| done(trial, goal, replicates.len())).collect())
    }
}

/// What a trial means for a goal.
fn done(trial: Result<Trial, String>, goal: Option<&Goal>, seeds: usize) -> Done {
    let trial = match trial {
        Ok(trial) => trial,
        Err(refused) => return Done { values: vec![None; seeds], refused, ..Done::default() },
    };
    let value = |values: &Option<_>| goal?.value(values.as_ref()?);
    let counted = trial.values.iter().flatten().filter_map(|values| values.get(ALL_APPS)?.get("corrections"));
    let values: Vec<Option<f64>> = trial.values.iter().map(value).collect();
    let without = trial.ended.is_empty() && values.iter().any(Option::is_none);
    let ended = if without { "a run did not measure the objective".to_owned() } else { trial.ended };
    Done {
        values,
        refused: String::new(),
        ended,
        longest_wait: trial.longest_wait,
        corrections: counted.sum::<f64>() as u64,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::suite::Half;

    fn cell(text: &str) -> Cell {
        Cell {
            name: "one".into(),
            half: Half::Train,
            scenario: "one.yaml".into(),
            title: "one.yaml".into(),
            text: text.into(),
            set: Vec::new(),
        }
    }

    #[test]
    fn policies_run_with_the_same_seeds_and_refusals_do_not_stop_the_others() {
        let head = "name: one\nmachine: core:2\nkernel: linux-6.18\npolicies: [LOAD]\nbaseline: none\n";
        let text = "objective: makespan\napps:\n  far: { workload: { hog: { work: 20ms } }, session: s }\n  \
            team: { workload: { spmd: { work: 100ms, intervals: 10 } }, runtime: block, tasks: 4 }\n";
        let text = &format!("{head}{text}");
        let cells = [cell(text)];
        let policies = PolicyRegistry::default();
        let mut bench = Bench::new(&cells, &policies, (1, None)).unwrap();
        let stop = AtomicBool::new(false);
        let means = Means { jobs: 1, progress: &|| (), stop: &stop };
        let names = ["LOAD", "VTIME", "PIN", "LOAD"].map(str::to_owned);
        let done = bench.run(0, &names, 0..2, means).unwrap();
        assert!(done[1].refused.contains("VTIME"), "{}", done[1].refused);
        assert_eq!(done[0], done[3]);
        assert!(done[0].complete().unwrap().iter().all(|value| *value > 0.0));
        assert!(done[0].longest_wait > Span::ZERO && done[0].corrections == 0);
        assert_eq!((bench.runs, bench.goal(0).unwrap().metric), (6, "makespan"));
        let later = bench.run(0, &names[..1], 1..2, means).unwrap();
        assert_eq!(later[0].values[0], done[0].values[1]);
    }

    #[test]
    fn a_wrong_scenario_is_named() {
        let cells = [cell("name: one\nmachine: core:2\n")];
        let policies = PolicyRegistry::default();
        assert!(matches!(Bench::new(&cells, &policies, (1, None)), Err(Failed::Refused(why)) if
            why.contains("one.yaml")));
    }

    #[test]
    fn files_are_found() {
        for (policy, path) in [
            ("LOAD", None),
            ("SPEED/DWRR", None),
            ("./a/x.wasm", Some("./a/x.wasm")),
            ("{ SPEED: { interval: 50ms }, as: fast }", None),
            ("{ ./x.wasm: { slice: 1 } }", Some("./x.wasm")),
            ("{ policy: ./x.wasm, slice: 1, label: s }", Some("./x.wasm")),
        ] {
            assert_eq!(file(policy).as_deref(), path, "{policy}");
        }
        let missing = read_files(&PolicyRegistry::default(), &["./none.wasm".to_owned()]);
        assert!(missing.unwrap_err().starts_with("cannot use the policy file ./none.wasm"));
    }
}
