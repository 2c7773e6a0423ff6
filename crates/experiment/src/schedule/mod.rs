//! Schedules: every decision of every run of an experiment, recorded, and replayed on the same experiment or
//! another one.

mod file;
pub(crate) mod replayed;

use std::collections::BTreeMap;

use notation::neutral;
use policies::{Recorder, Replayer, Schedule, Tally};
use serde::{Deserialize, Serialize};
use sim_core::outcome::RunReport;
use sim_core::policy::Policy;

pub use file::{read, write};
pub use replayed::{Replay, RunId};
use scenario::plan::{Experiment, RunPlan};

use crate::provenance::{MODEL, Provenance};
use crate::result::{Results, policy_name};
use crate::run::{RunError, each};
use crate::simulate::{own_policy, simulate_under};

/// Name and version of the form of schedule files.
pub const SCHEMA: &str = "oversim.schedule/2";

/// The schedules of all runs of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Recording {
    /// Where they come from.
    pub origin: Origin,
    /// The runs in order.
    pub runs: Vec<RecordedRun>,
}

/// The head of a schedule file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// [`SCHEMA`].
    pub schedule: String,
    /// Version of the model that ran ([`MODEL`]).
    pub model: String,
    /// Generator of random numbers.
    pub generator: String,
    /// Name of the scenario.
    pub scenario: String,
    /// SHA-256 of its text, hex.
    pub scenario_sha256: String,
    /// Overrides from the command line.
    pub overrides: Vec<String>,
    /// Number of runs.
    pub runs: usize,
}

/// What the policy did in one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedRun {
    /// Which run.
    pub id: RunId,
    /// Its seed.
    pub seed: u64,
    /// The digest of all that happened.
    pub digest: u64,
    /// The calls.
    pub schedule: Schedule,
}

impl RunId {
    /// Of a run of an experiment.
    #[must_use]
    pub fn of(experiment: &Experiment, plan: &RunPlan) -> Self {
        Self {
            configuration: experiment
                .configurations
                .get(plan.configuration)
                .map_or_else(String::new, |configuration| configuration.label.clone()),
            policy: policy_name(experiment, plan.policy).to_owned(),
            app: plan.alone.and_then(|app| experiment.apps.get(app)).cloned(),
            replicate: plan.replicate,
        }
    }

    fn text(&self) -> String {
        let at =
            if self.configuration.is_empty() { String::new() } else { format!(" at {}", self.configuration) };
        let app = self.app.as_ref().map_or_else(String::new, |app| format!(" {app}"));
        format!("{}{app}{at}, replicate {}", self.policy, self.replicate)
    }
}

/// Why a schedule could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It belongs to something else.
    #[error("{0}")]
    Foreign(String),
    /// As without a schedule.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// As [`crate::run::run`], and records what every policy did.
///
/// # Errors
/// As [`crate::run::run`].
pub fn record(
    experiment: &Experiment,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(Results, Recording), RunError> {
    let one = |plan: &RunPlan| {
        let mut recorder = Recorder::new(own_policy(plan));
        let plan = &exact(plan);
        let report = simulate_under(plan, &mut recorder, || own_policy(plan), &mut ())?;
        let end = if plan.window.is_some() { plan.options.horizon } else { report.makespan };
        let schedule = recorder.into_schedule(end)?;
        Ok((report, schedule))
    };
    let done = each(experiment, jobs, progress, &one)?;
    let (reports, schedules): (Vec<RunReport>, Vec<Schedule>) = done.into_iter().unzip();
    let results = crate::run::results(experiment, jobs, &reports)?;
    let runs = experiment.runs.iter().zip(reports.iter().zip(schedules));
    let recorded = |(plan, (report, schedule)): (&RunPlan, (&RunReport, Schedule))| RecordedRun {
        id: RunId::of(experiment, plan),
        seed: plan.options.seed,
        digest: report.digest,
        schedule,
    };
    let recording = Recording { origin: Origin::of(&results.provenance), runs: runs.map(recorded).collect() };
    Ok((results, recording))
}

/// The run with nothing extrapolated: a schedule has everything that a policy did.
fn exact(plan: &RunPlan) -> RunPlan {
    let mut plan = plan.clone();
    plan.options.sampled = false;
    plan
}

/// Runs an experiment whose policies do what a recording says, each run what the run of the same
/// configuration, policy and replicate did. `sha256` is that of the recording's file, for the record.
///
/// # Errors
/// The recording comes from another version of the model or lacks a run; or as [`crate::run::run`].
pub fn replay(
    experiment: &Experiment,
    recording: &Recording,
    sha256: &str,
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Results, ReplayError> {
    let model = &recording.origin.model;
    if model != MODEL {
        return Err(ReplayError::Foreign(format!(
            "it was recorded with {}, and this program has {MODEL}: record it again",
            neutral::line(model)
        )));
    }
    let by_id: BTreeMap<&RunId, &RecordedRun> = recording.runs.iter().map(|run| (&run.id, run)).collect();
    let find = |plan: &RunPlan| {
        let id = RunId::of(experiment, plan);
        by_id.get(&id).copied().ok_or_else(|| ReplayError::Foreign(missing(&id, recording)))
    };
    experiment.runs.iter().try_for_each(|plan| find(plan).map(|_| ()))?;
    let one = |plan: &RunPlan| {
        let recorded = find(plan).map_err(|error| error.to_string())?;
        let mut replayer = Replayer::new(&recorded.schedule);
        let again = || -> Box<dyn Policy + '_> { Box::new(Replayer::new(&recorded.schedule)) };
        let report = simulate_under(&exact(plan), &mut replayer, again, &mut ())?;
        let same = report.digest == recorded.digest;
        Ok((report, replayed(&recorded.id, plan.options.seed, same, replayer.tally())))
    };
    let done = each(experiment, jobs, progress, &one)?;
    let (reports, replays): (Vec<RunReport>, Vec<Replay>) = done.into_iter().unzip();
    let mut results = crate::run::results(experiment, jobs, &reports)?;
    results.provenance.replayed = Some(sha256.to_owned());
    results.replays = replays;
    Ok(results)
}

fn replayed(id: &RunId, seed: u64, same: bool, tally: Tally) -> Replay {
    let Tally { applied, illegal, unreached, unforeseen } = tally;
    Replay { id: id.clone(), seed, same, applied, illegal, unreached, unforeseen }
}

fn missing(id: &RunId, recording: &Recording) -> String {
    let Origin { scenario, runs, .. } = &recording.origin;
    let scenario = neutral::line(scenario);
    format!("it has no run `{}` (it holds {runs} runs of scenario `{scenario}`)", id.text())
}

impl Origin {
    fn of(provenance: &Provenance) -> Self {
        Self {
            schedule: SCHEMA.into(),
            model: provenance.model.clone(),
            generator: provenance.generator.clone(),
            scenario: provenance.scenario.clone(),
            scenario_sha256: provenance.scenario_sha256.clone(),
            overrides: provenance.overrides.clone(),
            runs: provenance.runs,
        }
    }
}
