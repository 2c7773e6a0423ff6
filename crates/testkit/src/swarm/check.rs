//! Everything that is checked of a case.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use experiment::run::{run, simulate};
use policies::{Choice, PolicyRegistry, Recorder, Replayer};
use scenario::plan::{Experiment, RunPlan};
use scenario::{Overrides, load_with};
use sim_core::engine::Simulation;
use sim_core::observe::Observer;
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::policy::Policy;
use sim_core::program::{AppSpec, Op, Scheduling};
use sim_core::time::Span;

use super::coverage::{Feature, features};
use super::faulty::Faulty;
use super::results;
use super::steps;
use crate::contract::TURN;
use crate::differences::differences;
use crate::reference;
use crate::scenarios::Small;
use crate::trial::observed;

/// Runs of a case that are repeated in other ways; the others are only observed.
const DEEP: usize = 4;
/// Most runs of a case: a larger one is refused.
const MOST_RUNS: usize = 64;
/// Most polls of a run that is repeated poll by poll.
const POLLS: u64 = 200_000;
/// Most polls, timer ticks and events of a run that is repeated on the reference engine, where each takes
/// a pass over all cpus and tasks.
const STEPS: u64 = 30_000;

/// What is wrong with a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The check that failed.
    pub kind: &'static str,
    /// What it found.
    pub detail: String,
}

impl Failure {
    fn new(kind: &'static str, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }

    /// Whether another failure has the same cause, as far as that can be compared: the same check, and for
    /// panics and invariants the same words without numbers.
    #[must_use]
    pub fn alike(&self, other: &Self) -> bool {
        let words = |failure: &Self| -> String {
            let line = failure.detail.lines().next().unwrap_or_default();
            line.chars().filter(|c| !c.is_ascii_digit()).take(60).collect()
        };
        let worded = matches!(self.kind, "panic" | "invariant" | "faulty: invariant" | "faulty: panic");
        self.kind == other.kind && (!worded || words(self) == words(other))
    }
}

/// What was done with a case that passed.
#[derive(Clone, Default, Debug)]
pub struct Checked {
    /// Why the scenario is refused; nothing was simulated then.
    pub refused: Option<String>,
    /// Names of the checks, one entry for each time.
    pub checks: Vec<&'static str>,
    /// What occurred in each run.
    pub features: Vec<Vec<Feature>>,
    /// How the runs ended.
    pub outcomes: Vec<&'static str>,
    /// Decisions of faulty policies that were refused or corrected.
    pub corrections: u64,
}

/// Checks the scenario of a text.
///
/// # Errors
/// The first check that fails.
pub fn check_text(text: &str) -> Result<Checked, Failure> {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let policies = PolicyRegistry::default().reading_files(Arc::new(scx::read));
        let experiment = match load_with(&policies, "swarm.yaml", text, &Overrides::default()) {
            Ok(experiment) if experiment.runs.len() <= MOST_RUNS => experiment,
            Ok(experiment) => return Ok(refused(&format!("{} runs", experiment.runs.len()))),
            Err(why) => return Ok(refused(&why)),
        };
        let mut checked = Checked::default();
        whole(&experiment, &mut checked)?;
        Ok(checked)
    }));
    caught.unwrap_or_else(|payload| Err(Failure::new("panic", message(payload.as_ref()))))
}

thread_local! {
    /// Where the last panic of this thread was, if [`quiet`] was called.
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

/// From now on panics print nothing: checks catch and report them.
pub fn quiet() {
    std::panic::set_hook(Box::new(|panic| PLACE.set(panic.location().map(ToString::to_string))));
}

/// The text of a panic, and where it was.
fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text");
    PLACE.take().map_or_else(|| text.to_owned(), |place| format!("{text} ({place})"))
}

fn refused(why: &str) -> Checked {
    Checked { refused: Some(why.to_owned()), ..Checked::default() }
}

/// All runs of an experiment, and its results.
fn whole(experiment: &Experiment, checked: &mut Checked) -> Result<(), Failure> {
    let reports = catch_unwind(AssertUnwindSafe(|| simulate(experiment, 1, &|_, _| ())));
    let reports = reports.or_else(|payload| {
        // Each run alone, with its steps.
        for run in experiment.runs.iter().map(Run::of) {
            run.guarded("panic", &|| run.policy(), || {
                Ok(run.run(run.policy().as_mut(), Way::Engine, &mut ()))
            })?;
        }
        Err(Failure::new("panic", message(payload.as_ref())))
    })?;
    let reports = reports.map_err(|why| Failure::new("not simulated", why.to_string()))?;
    checked.checks.push("simulated");
    for (number, (plan, report)) in experiment.runs.iter().zip(&reports).enumerate() {
        let run = Run::of(plan);
        let watched = run.guarded("panic", &|| run.policy(), || {
            let watched = run.observed(plan, report, checked)?;
            if number < DEEP {
                run.repeated(&watched, checked)?;
            }
            Ok(watched)
        })?;
        checked.features.push(features(plan, &watched));
        checked.outcomes.push(outcome(&watched));
    }
    if let Some(plan) = experiment.runs.iter().rfind(|plan| plan.alone.is_none()) {
        Run::of(plan).faulty(checked)?;
    }
    let results = run(experiment, 1, &|_, _| ());
    let results = results.map_err(|why| Failure::new("not simulated", why.to_string()))?;
    checked.checks.push("results");
    if let Some(wrong) = results::wrong(&results) {
        return Err(Failure::new("results", wrong));
    }
    if experiment.policies.len() > 1 {
        checked.checks.push("order");
        reversed(experiment, &results)?;
    }
    Ok(())
}

/// The policies in another order.
fn reversed(experiment: &Experiment, results: &experiment::result::Results) -> Result<(), Failure> {
    let mut other = experiment.clone();
    other.policies.reverse();
    let last = experiment.policies.len() - 1;
    other
        .runs
        .iter_mut()
        .filter(|plan| plan.alone.is_none())
        .for_each(|plan| plan.policy = last - plan.policy);
    // Runs are in order of configuration, policy and replicate.
    let place =
        |plan: &RunPlan| (plan.alone.is_none(), plan.alone, plan.configuration, plan.policy, plan.replicate);
    let first = other.runs.iter().position(|plan| plan.alone.is_none()).unwrap_or(0);
    other.runs[first..].sort_by_key(place);
    let other = run(&other, 1, &|_, _| ());
    let other = other.map_err(|why| Failure::new("not simulated", why.to_string()))?;
    results::differ(results, &other).map_or(Ok(()), |wrong| Err(Failure::new("order", wrong)))
}

const fn outcome(report: &RunReport) -> &'static str {
    match report.outcome {
        Outcome::Completed => "completed",
        Outcome::Horizon => "horizon",
        Outcome::Deadlock(_) => "deadlock",
        Outcome::Livelock(_) => "livelock",
        Outcome::Failed(_) => "failed",
    }
}

/// A run without what differs between ways to simulate it.
fn plain(report: RunReport) -> RunReport {
    let mut report = RunReport { events: 0, ..report };
    report.apps.iter_mut().for_each(|app| app.latencies = None);
    report
}

/// Where two runs differ, in words.
fn difference(one: &RunReport, other: &RunReport) -> Option<String> {
    if one == other {
        return None;
    }
    let mut lines = differences(one, other);
    lines.truncate(MOST_DIFFERENCES);
    Some(lines.join("\n"))
}

/// Differences between two reports that a failure shows.
const MOST_DIFFERENCES: usize = 16;

fn equal(kind: &'static str, one: &RunReport, other: &RunReport) -> Result<(), Failure> {
    difference(one, other).map_or(Ok(()), |lines| Err(Failure::new(kind, lines)))
}

/// A way to simulate a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Engine,
    Stepwise,
    Reference,
}

/// A run of a plan, which is repeated in several ways.
struct Run<'a> {
    plan: &'a RunPlan,
    small: Small,
}

impl<'a> Run<'a> {
    fn of(plan: &'a RunPlan) -> Self {
        let (machine, model) = (plan.machine.clone(), plan.kernel.clone());
        let (apps, objects, options) = (plan.apps.clone(), (*plan.objects).clone(), plan.options);
        Self { plan, small: Small { machine, model, apps, objects, options } }
    }

    fn policy(&self) -> Box<dyn Policy> {
        self.plan.policy_choice.build(&self.small.machine, &self.small.model, &self.small.apps)
    }

    /// The longest wait that is no starvation; none where random parameters allow any.
    fn patience(&self) -> Span {
        let plan = self.plan;
        let choice = &plan.policy_choice;
        // A real-time task has its cpu as long as it likes, and other tasks change their weights or cpus.
        let ranked = |app: &AppSpec| {
            let real_time = |one: &Scheduling| one.priority().is_some();
            real_time(&app.scheduling)
                || app.rank_scheduling.iter().any(real_time)
                || app.slice.is_some()
                || app.program.ops().iter().any(|op| matches!(op, Op::Set(_)))
        };
        if plan.apps.iter().any(ranked) {
            return Span::MAX;
        }
        let defaults =
            choice.values.changed().is_empty() && choice.perturb.is_none() && choice.over.is_none();
        let model = &plan.kernel;
        let equals = plan.apps.iter().all(|app| app.weight == 1024 && app.rank_weights.is_empty());
        let known = kernels::KERNELS.entries.iter().find(|entry| entry.name == model.name);
        let values = known.map(|entry| notation::parameter::Values::defaults(entry.parameters));
        let stock =
            known.zip(values).map(|(entry, values)| kernels::build(entry, &values, plan.machine.cpus()));
        let typical =
            plan.machine.costs.tick <= Span::from_us(60) && plan.machine.costs.poll <= Span::from_us(60);
        if defaults && equals && typical && stock.as_ref() == Some(&**model) {
            let tasks: u32 = plan.apps.iter().map(|app| app.tasks).sum();
            // Each other task may have the cpu once, and kernel work delays each of them.
            return TURN * u64::from(2 * tasks + 2);
        }
        Span::MAX
    }

    /// The run as observed by all checkers; `report` is the same run without an observer.
    fn observed(
        &self,
        plan: &RunPlan,
        report: &RunReport,
        checked: &mut Checked,
    ) -> Result<RunReport, Failure> {
        let trial = observed(&self.small, self.policy().as_mut(), self.patience());
        let trial = trial.map_err(|why| Failure::new("not simulated", why))?;
        checked.checks.push("observed");
        let mut found = trial.found;
        if trial.report.corrections > 0 {
            found.push(format!("{} decisions were refused or corrected", trial.report.corrections));
        }
        if let Outcome::Deadlock(text) = &trial.report.outcome
            && !self.may_wait(text)
        {
            found.push(format!("deadlock: {text}"));
        }
        if let Some(first) = found.first() {
            return Err(Failure::new("invariant", first.clone()));
        }
        let watched = plain(trial.report);
        if plan.window.is_none() && !plan.options.sampled {
            equal("observed", &watched, &plain(report.clone()))?;
        }
        Ok(watched)
    }

    /// Whether a deadlock with this message may be: one of a program, whose tasks are named.
    fn may_wait(&self, text: &str) -> bool {
        let apps = &self.small.apps;
        let named = apps.iter().any(|app| text.contains(&format!("{} rank ", app.name)));
        apps.iter().any(|app| app.named_locks) && named && text.contains(" wait")
    }

    /// The run in this way under a policy.
    fn run(&self, policy: &mut dyn Policy, way: Way, observer: &mut dyn Observer) -> RunReport {
        let Small { machine, model, apps, objects, options } = self.small.clone();
        let options = Options { stepwise: way == Way::Stepwise, sampled: false, ..options };
        if way == Way::Reference {
            return plain(reference::run_observed(machine, model, apps, &objects, options, policy, observer));
        }
        // What is refused was refused before.
        let simulation = Simulation::with_objects(machine, model, apps, objects, options);
        let mut observer = observer;
        plain(simulation.unwrap_or_else(|why| panic!("{why}")).run(policy, &mut observer))
    }

    /// The run in this way again, which has to give this report; else where the steps of both first differ.
    fn again(
        &self,
        kind: &'static str,
        expected: &RunReport,
        policy: &dyn Fn() -> Box<dyn Policy>,
        way: Way,
    ) -> Result<(), Failure> {
        let run = self.run(policy().as_mut(), way, &mut ());
        equal(kind, expected, &run).map_err(|failure| {
            let of = |way| {
                steps::of(policy(), |policy, observer| {
                    self.run(policy, way, observer);
                })
            };
            let one = of(Way::Engine);
            let text = steps::first_difference(&one, &of(way)).unwrap_or_else(|| {
                format!("all steps are the same and the results are not; the last:{}", steps::last(&one))
            });
            Failure::new(kind, format!("{text}\n{}", failure.detail))
        })
    }

    /// Whether a run is short enough for the other ways: poll by poll, and on the reference engine.
    fn short(&self, report: &RunReport) -> (bool, bool) {
        let polls: u64 = report.apps.iter().map(|app| app.counters.polls).sum();
        let ticks = report.makespan.ns() / self.small.model.tick.ns().max(1);
        let cpus = u64::from(self.small.machine.cpus());
        let tasks: u64 = self.small.apps.iter().map(|app| u64::from(app.tasks)).sum();
        let steps = polls.saturating_add(ticks.saturating_mul(cpus));
        (polls <= POLLS, steps.saturating_mul(cpus + tasks) <= STEPS * 6)
    }

    /// The same run again, in each way in which it can be made.
    fn repeated(&self, watched: &RunReport, checked: &mut Checked) -> Result<(), Failure> {
        let (stepwise, reference) = self.short(watched);
        let policy = || self.policy();
        checked.checks.push("again");
        self.again("again", watched, &policy, Way::Engine)?;
        if stepwise {
            checked.checks.push("stepwise");
            self.again("stepwise", watched, &policy, Way::Stepwise)?;
        }
        if reference {
            checked.checks.push("reference");
            self.again("reference", watched, &policy, Way::Reference)?;
        }
        let mut recorder = Recorder::new(self.policy());
        equal("recorded", watched, &self.run(&mut recorder, Way::Engine, &mut ()))?;
        // A run with too many decisions has no schedule.
        let Ok(schedule) = recorder.into_schedule(watched.makespan) else { return Ok(()) };
        checked.checks.push("replayed");
        let mut replayer = Replayer::new(&schedule);
        // A schedule knows what its policy decided, not what that counted.
        let decided = RunReport { policy_counters: Vec::new(), ..watched.clone() };
        equal("replayed", &decided, &self.run(&mut replayer, Way::Engine, &mut ()))?;
        match replayer.tally() {
            tally if tally.missed() > 0 => Err(Failure::new("replayed", format!("{tally:?}"))),
            _ => Ok(()),
        }
    }

    /// The run under a policy that makes faults.
    fn faulty(&self, checked: &mut Checked) -> Result<(), Failure> {
        let dwrr = |choice: &Choice| choice.entry.name == "DWRR";
        let choice = &self.plan.policy_choice;
        let spared = dwrr(choice) || choice.over.as_deref().is_some_and(dwrr);
        let policy = || -> Box<dyn Policy> {
            Box::new(Faulty::new(self.policy(), self.plan.options.seed).sparing_priorities(spared))
        };
        self.guarded("faulty: panic", &policy, || {
            let trial = observed(&self.small, policy().as_mut(), Span::MAX);
            let trial = trial.map_err(|why| Failure::new("not simulated", why))?;
            checked.checks.push("faulty");
            checked.corrections += trial.report.corrections;
            if let Some(first) = trial.found.first() {
                return Err(Failure::new("faulty: invariant", first.clone()));
            }
            let watched = plain(trial.report);
            let (stepwise, reference) = self.short(&watched);
            if stepwise {
                checked.checks.push("faulty: stepwise");
                self.again("faulty: stepwise", &watched, &policy, Way::Stepwise)?;
            }
            if reference {
                checked.checks.push("faulty: reference");
                self.again("faulty: reference", &watched, &policy, Way::Reference)?;
            }
            Ok(())
        })
    }

    /// Checks; after a panic the steps of the run under this policy are part of the failure.
    fn guarded<T>(
        &self,
        kind: &'static str,
        policy: &dyn Fn() -> Box<dyn Policy>,
        checks: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        catch_unwind(AssertUnwindSafe(checks)).unwrap_or_else(|payload| {
            let text = message(payload.as_ref());
            let all = steps::of(policy(), |policy, observer| {
                self.run(policy, Way::Engine, observer);
            });
            let last = steps::last(&all);
            Err(Failure::new(kind, format!("{text}\nthe last steps before it:{last}")))
        })
    }
}
