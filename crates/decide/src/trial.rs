//! Trials: a scenario with settings, some seeds, and what each run measured. Trials of one call share their
//! seeds (common random numbers) and run in parallel; the results do not depend on the number of threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use experiment::PolicyRegistry;
use experiment::measured::{self, Measured, Values, refer_to_dedicated};
use experiment::run::{on_threads, simulate_one, stoppable};
use rayon::prelude::*;
use scenario::plan::{Experiment, RunPlan};
use scenario::{Draw, Overrides, load_with};
use sim_core::observe::Observer;
use sim_core::outcome::Outcome;
use sim_core::time::{Span, Time};

use crate::longest_wait::LongestWait;

/// What runs need besides their plans.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Threads; 0: as many as this process may use.
    pub jobs: usize,
    /// Called after each run.
    pub progress: &'a (dyn Fn() + Sync),
    /// Set to end early, also amid a run.
    pub stop: &'a AtomicBool,
}

/// Settings on top of a scenario: `path=value` pairs as `--set` takes them, applied in order, and a policy as
/// `--policy` takes it, or the scenario's first one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Setting {
    /// `path=value` pairs.
    pub set: Vec<String>,
    /// The policy; none: the first one of the scenario.
    pub policy: Option<String>,
}

/// One trial that is wanted.
#[derive(Clone, PartialEq, Debug)]
pub struct Wanted {
    /// The settings.
    pub setting: Setting,
    /// Replicates, counted from the scenario's seed.
    pub replicates: Range<u32>,
    /// The draw that replaces uncertain values.
    pub draw: Option<Draw>,
    /// The run ends here at the latest, if that is before the scenario's horizon.
    pub at_most: Option<Span>,
}

/// What a trial measured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trial {
    /// For each replicate the values of its run; none where the run did not complete.
    pub values: Vec<Option<Values>>,
    /// Events that the simulator took for its runs.
    pub events: u64,
    /// Why the first run that did not complete ended: a sentence, empty if all completed.
    pub ended: String,
    /// The longest time for which a task with work waited for a cpu in one of the runs.
    pub longest_wait: Span,
}

/// Why trials could not be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failed {
    /// A setting does not fit the scenario, or the simulator refuses a run: a text for the user.
    Refused(String),
    /// The user interrupted.
    Stopped,
}

/// A scenario on which settings are tried.
#[derive(Clone)]
pub struct Subject<'a> {
    /// The policies that it can name.
    pub policies: &'a PolicyRegistry,
    /// Its name in messages; machine files are relative to it.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The changes of the command line. Sweeps are left out: the scenario has its single values.
    pub base: Overrides,
}

impl Subject<'_> {
    /// The scenario with settings.
    ///
    /// # Errors
    /// What is wrong with it, rendered with its place.
    pub fn experiment(&self, wanted: &Wanted) -> Result<Experiment, String> {
        let Range { start, end } = wanted.replicates;
        if start == 0 {
            return self.load(wanted, None, end);
        }
        // Plans of the replicates before these would only take memory.
        let seed = self.load(wanted, None, 1)?.seed;
        let shifted = |first: u64| self.load(wanted, Some(first), end.saturating_sub(start)).ok();
        let Some(mut experiment) = seed.checked_add(u64::from(start)).and_then(shifted) else {
            return self.load(wanted, None, end);
        };
        experiment.seed = seed;
        experiment.runs.iter_mut().for_each(|run| run.replicate += start);
        Ok(experiment)
    }

    /// The scenario with the settings of a trial: so many replicates, the first one with this seed or the
    /// scenario's.
    fn load(&self, wanted: &Wanted, seed: Option<u64>, replicates: u32) -> Result<Experiment, String> {
        let Setting { set, policy } = &wanted.setting;
        let mut overrides = Overrides {
            without_sweep: true,
            warn: false,
            draw: wanted.draw.or(self.base.draw),
            repeat: Some(replicates.max(1)),
            seed: seed.or(self.base.seed),
            ..self.base.clone()
        };
        overrides.set.extend(set.iter().cloned());
        if let Some(policy) = policy {
            overrides.policies = vec![policy.clone()];
        }
        load_with(self.policies, self.name, self.text, &overrides)
    }
}

/// A run to do, and where its values belong.
struct Job {
    plan: RunPlan,
    trial: usize,
    replicate: u32,
    alone: bool,
}

/// The plans of the runs of a trial: those of its first policy.
fn plans(experiment: &Experiment, wanted: &Wanted, trial: usize) -> Vec<Job> {
    let own = |plan: &&RunPlan| plan.alone.is_some() || plan.policy == 0;
    let kept = experiment.runs.iter().filter(own).filter(|plan| wanted.replicates.contains(&plan.replicate));
    kept.map(|plan| {
        let mut plan = plan.clone();
        if let (Some(at_most), None) = (wanted.at_most, plan.window) {
            plan.options.horizon = plan.options.horizon.min(Time::ZERO + at_most);
        }
        Job { trial, replicate: plan.replicate, alone: plan.alone.is_some(), plan }
    })
    .collect()
}

/// What one run measured.
#[derive(Default)]
struct Done {
    values: Values,
    /// Why it ended, if it did not complete.
    ended: String,
    events: u64,
    longest_wait: Span,
}

/// What the dedicated runs of a scenario as it is measured: what `throughput` and `slowdown` refer to.
#[derive(Clone, Debug, Default)]
pub struct Dedicated {
    runs: Vec<Measured>,
    background: Vec<String>,
}

impl Dedicated {
    /// Adds those of other replicates.
    pub fn extend(&mut self, other: Self) {
        self.runs.extend(other.runs);
    }
}

/// The dedicated runs of a trial; those of the trial itself are left out.
///
/// # Errors
/// As [`run`].
pub fn dedicated(subject: &Subject<'_>, wanted: &Wanted, means: Means<'_>) -> Result<Dedicated, Failed> {
    let experiment = subject.experiment(wanted).map_err(Failed::Refused)?;
    let mut jobs = plans(&experiment, wanted, 0);
    jobs.retain(|job| job.alone);
    let background =
        experiment.apps.iter().zip(&experiment.background).filter(|(_, background)| **background);
    let background = background.map(|(app, _)| app.clone()).collect();
    let done = simulate(&jobs, std::slice::from_ref(&experiment), means)?;
    let run = |(job, done): (&Job, Result<Done, String>)| Ok(measured(job, None, done?.values));
    let runs = jobs.iter().zip(done).map(run).collect::<Result<_, String>>().map_err(Failed::Refused)?;
    Ok(Dedicated { runs, background })
}

/// Runs trials. `refer`: the dedicated runs that `throughput` and `slowdown` refer to; without them no trial
/// has these metrics.
///
/// # Errors
/// A setting does not fit the scenario; the simulator refuses a run; the user interrupted.
pub fn run(
    subject: &Subject<'_>,
    wanted: &[Wanted],
    refer: Option<&Dedicated>,
    means: Means<'_>,
) -> Result<Vec<Trial>, Failed> {
    let experiment = |one: &Wanted| subject.experiment(one).map_err(Failed::Refused);
    let experiments: Vec<Experiment> = wanted.iter().map(experiment).collect::<Result<_, Failed>>()?;
    let trials = run_all(&experiments, wanted, refer, means)?;
    trials.into_iter().collect::<Result<_, String>>().map_err(Failed::Refused)
}

/// As [`run`], of settings that may not fit: what the scenario or the simulator refuses has the reason in its
/// place.
///
/// # Errors
/// Threads cannot be started; the user interrupted.
pub fn run_each(
    subject: &Subject<'_>,
    wanted: &[Wanted],
    refer: Option<&Dedicated>,
    means: Means<'_>,
) -> Result<Vec<Result<Trial, String>>, Failed> {
    let read: Vec<Result<Experiment, String>> = wanted.iter().map(|one| subject.experiment(one)).collect();
    let fitting = wanted.iter().zip(&read).filter(|(_, read)| read.is_ok()).map(|(one, _)| one.clone());
    let fitting: Vec<Wanted> = fitting.collect();
    let (mut refused, mut experiments) = (Vec::new(), Vec::new());
    for read in read {
        match read {
            Ok(experiment) => {
                experiments.push(experiment);
                refused.push(None);
            }
            Err(why) => refused.push(Some(why)),
        }
    }
    let mut trials = run_all(&experiments, &fitting, refer, means)?.into_iter();
    let all = refused.into_iter().map(|refused| match refused {
        Some(why) => Err(why),
        None => trials.next().unwrap_or_else(|| Ok(Trial::default())),
    });
    Ok(all.collect())
}

/// The trials of scenarios with their settings; what the simulator refuses has the reason in its place.
fn run_all(
    experiments: &[Experiment],
    wanted: &[Wanted],
    refer: Option<&Dedicated>,
    means: Means<'_>,
) -> Result<Vec<Result<Trial, String>>, Failed> {
    let jobs: Vec<Job> = experiments
        .iter()
        .zip(wanted)
        .enumerate()
        .flat_map(|(trial, (experiment, wanted))| plans(experiment, wanted, trial))
        .filter(|job| !job.alone)
        .collect();
    let done = simulate(&jobs, experiments, means)?;
    let mut trials: Vec<Trial> = wanted
        .iter()
        .map(|one| Trial { values: vec![None; one.replicates.len()], ..Trial::default() })
        .collect();
    let mut refused: BTreeMap<usize, String> = BTreeMap::new();
    for (job, done) in jobs.iter().zip(done) {
        let (trial, one) = (&mut trials[job.trial], &wanted[job.trial]);
        match done {
            Err(why) => drop(refused.entry(job.trial).or_insert(why)),
            Ok(done) => {
                trial.events += done.events;
                trial.longest_wait = trial.longest_wait.max(done.longest_wait);
                if done.ended.is_empty() {
                    let place = (job.replicate - one.replicates.start) as usize;
                    trial.values[place] = Some(done.values);
                } else if trial.ended.is_empty() {
                    trial.ended = done.ended;
                }
            }
        }
    }
    if let Some(dedicated) = refer {
        add(&mut trials, wanted, dedicated, &jobs, experiments);
    }
    let all = trials.into_iter().enumerate();
    Ok(all.map(|(at, trial)| refused.remove(&at).map_or(Ok(trial), Err)).collect())
}

fn measured(job: &Job, policy: Option<usize>, values: Values) -> Measured {
    Measured { configuration: 0, policy, replicate: job.replicate, error: 0.0, values }
}

/// Simulates everything, in any order; the results are in the order of the jobs. What the simulator refuses
/// has the reason in its place.
fn simulate(
    jobs: &[Job],
    experiments: &[Experiment],
    means: Means<'_>,
) -> Result<Vec<Result<Done, String>>, Failed> {
    each(jobs.len(), means, |at, end| {
        let Some(job) = jobs.get(at) else { return Ok(Done::default()) };
        let mut longest = LongestWait::default();
        let report = simulate_one(&job.plan, &mut (end, &mut longest))?;
        let (_, ended) = measured::outcome(&job.plan, &report);
        let values = measured::values(&experiments[job.trial].apps, &job.plan, &report);
        debug_assert_eq!(ended.is_empty(), report.outcome == Outcome::Completed);
        Ok(Done { values, ended, events: report.events, longest_wait: longest.at(report.makespan) })
    })
}

/// Does so many pieces of work on the threads, each with the observer that its runs have to have; the answers
/// are in their order, and what the simulator refuses has the reason in its place.
///
/// # Errors
/// Threads cannot be started; the user interrupted.
pub(crate) fn each<T: Send>(
    count: usize,
    means: Means<'_>,
    work: impl Fn(usize, &mut dyn Observer) -> Result<T, String> + Sync,
) -> Result<Vec<Result<T, String>>, Failed> {
    let one = |at: usize| {
        let answer = stoppable(means.stop, |end| work(at, end));
        if matches!(answer, Ok(Some(_))) {
            (means.progress)();
        }
        answer
    };
    let all = || (0..count).into_par_iter().with_max_len(1).map(one).collect::<Vec<_>>();
    let done = on_threads(count, means.jobs, all)
        .map_err(|error| Failed::Refused(format!("cannot start threads: {error}")))?;
    if means.stop.load(Ordering::Relaxed) {
        return Err(Failed::Stopped);
    }
    let refused = |reason| format!("a run cannot be simulated: {reason}");
    done.into_iter().map(|answer| answer.map_err(refused).transpose().ok_or(Failed::Stopped)).collect()
}

/// The sentence of a rendered error, without its place.
pub(crate) fn sentence(rendered: &str) -> String {
    let line = rendered.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).trim_end_matches('.').to_owned()
}

/// Adds the metrics that refer to dedicated runs.
fn add(
    trials: &mut [Trial],
    wanted: &[Wanted],
    dedicated: &Dedicated,
    jobs: &[Job],
    experiments: &[Experiment],
) {
    for (at, trial) in trials.iter_mut().enumerate() {
        let plan = jobs.iter().find(|job| job.trial == at).map(|job| &job.plan);
        let Some(plan) = plan else { continue };
        let copies = measured::several(&experiments[at].apps, plan);
        let mut runs = dedicated.runs.clone();
        for (replicate, values) in wanted[at].replicates.clone().zip(&trial.values) {
            let values = values.clone().unwrap_or_default();
            runs.push(Measured { configuration: 0, policy: Some(0), replicate, error: 0.0, values });
        }
        let counted = vec![copies; runs.len()];
        refer_to_dedicated(&mut runs, &counted, &dedicated.background, plan.window.is_some());
        for (values, run) in trial.values.iter_mut().zip(runs.split_off(dedicated.runs.len())) {
            if values.is_some() {
                *values = Some(run.values);
            }
        }
    }
}
