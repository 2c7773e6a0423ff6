//! What each program of a run does for real: its share of a simulated run, as text for the process that
//! executes it.

use std::collections::BTreeMap;

use experiment::run::simulate_one;
use scenario::plan::RunPlan;
use serde::{Deserialize, Serialize};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::observe::{Observation, Observer};
use sim_core::os::NICE_WEIGHTS;
use sim_core::outcome::{Outcome, RunReport};
use sim_core::program::{AppSpec, Forks, MemoryProfile, Op, Spread, StartUp, release_order};
use sim_core::rng::{Purpose, key};
use sim_core::time::{Span, Time, WORK_FRACTION_BITS};
use sim_core::wait::{PollsPerYield, WaitMode};

use crate::barrier::{Polls, Wait};
use crate::facts::Others;
use crate::job::Job;
use crate::memory;
use crate::others::beside;

/// One operation of a program, as in [`sim_core::program::Op`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Step {
    /// Counted work of every thread.
    Compute(Piece),
    /// Counted work of rank 0 alone.
    Serial(Piece),
    /// All threads meet.
    Barrier,
    /// Sleeps for a mean of so many nanoseconds, varied.
    Sleep(u64, u32),
    /// Calls `sched_yield` once.
    Yield,
    /// Begin of a loop of so many passes, 0 for endless.
    Repeat(u32),
    /// End of the innermost loop.
    End,
}

/// Counted work.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// Mean work at nominal speed with the fraction bits of the simulator.
    pub work: u64,
    /// Variation as in [`Spread`].
    pub spread: u32,
    /// Share of the unloaded time that reads memory, 0 to 1.
    pub bound: f64,
}

/// A thread of a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// Cpus that it may use; empty for all.
    pub cpus: Vec<u32>,
    /// The cpu on which it sleeps before its release; none: wherever it is.
    pub slept: Option<u32>,
    /// Work in thousandths of the program's.
    pub scale: u32,
    /// Key of its draws, the one of the simulated task.
    pub noise: u64,
    /// Its nice value.
    pub nice: i32,
}

/// A program: one process with its threads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Name of the application.
    pub name: String,
    /// It begins a session, which is a task group of its own.
    #[serde(default)]
    pub session: bool,
    /// How its threads wait.
    pub wait: Wait,
    /// How they poll before each yield.
    pub polls: Polls,
    /// What each thread does.
    pub steps: Vec<Step>,
    /// The threads by rank.
    pub threads: Vec<Thread>,
    /// Ends when the others have ended.
    pub background: bool,
    /// Release after that of the run, in nanoseconds.
    pub start: u64,
    /// Speed of an unloaded core of the simulated machine relative to the nominal core.
    pub speed: f64,
    /// Iterations of the counted loop per nanosecond of an unloaded cpu of this host.
    pub rate: f64,
    /// Bytes of the array of each thread; 0 without memory-bound work.
    pub array: u64,
    /// It is executed by a real runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real: Option<Box<Job>>,
}

/// A simulated run: its report and the cpus on which each task ran.
pub struct Simulated {
    /// The report.
    pub report: RunReport,
    /// The cpus of each task, in the order of applications and ranks.
    pub cpus: Vec<Vec<u32>>,
}

/// Notes the cpus of each task.
struct Cpus(Vec<Vec<u32>>);

impl Observer for Cpus {
    fn observe(&mut self, _at: Time, what: &Observation) {
        let (Observation::Running { task: TaskId(task), cpu: CpuId(cpu) }
        | Observation::Runnable { task: TaskId(task), cpu: CpuId(cpu) }) = *what
        else {
            return;
        };
        let Some(cpus) = self.0.get_mut(task as usize) else { return };
        if !cpus.contains(&cpu) {
            cpus.push(cpu);
        }
    }
}

/// The run as it is executed: all threads of a program exist and sleep before it starts, as with the runtime
/// parameter `startup: together`.
#[must_use]
pub fn released(plan: &RunPlan) -> RunPlan {
    let mut plan = plan.clone();
    for app in &mut plan.apps {
        app.runtime.startup = StartUp { forks: Forks::Together, ..StartUp::PLAIN };
    }
    plan
}

/// Simulates a run that [`released`] has prepared, beside other tasks of the host.
///
/// # Errors
/// A sentence: the simulator refuses it, or it did not complete.
pub fn simulate(plan: &RunPlan, others: &[Others]) -> Result<Simulated, String> {
    let tasks: u32 = plan.apps.iter().map(|app| app.tasks).sum();
    let mut cpus = Cpus(vec![Vec::new(); tasks as usize]);
    let mut report = simulate_one(&beside(plan, others), &mut cpus)?;
    report.apps.truncate(plan.apps.len());
    if report.outcome != Outcome::Completed {
        return Err(format!("the simulated run did not complete: {:?}", report.outcome));
    }
    Ok(Simulated { report, cpus: cpus.0 })
}

/// Whether the policy of a run binds the tasks of an application.
fn binds(plan: &RunPlan, app: &AppSpec) -> bool {
    let choice = &plan.policy_choice;
    choice.entry.name == "PIN" && (!app.background || choice.values.number("background") == Some(1))
}

/// The programs of a simulated run. Each is released when its simulated application started; threads that
/// the policy binds are bound to the cpu of their task, and all sleep before on the cpu on which the task has
/// slept.
#[must_use]
pub fn programs(plan: &RunPlan, simulated: &Simulated) -> Vec<Program> {
    let mut first = 0;
    let mut programs = Vec::new();
    let starts = simulated.report.apps.iter().map(|app| app.start.ns());
    let earliest = starts.clone().min().unwrap_or(0);
    for ((at, app), start) in (0_u32..).zip(&plan.apps).zip(starts) {
        let ranks = first..first + app.tasks as usize;
        first = ranks.end;
        let allowed = app.allowed.as_ref().map_or_else(Vec::new, listed);
        let binds = binds(plan, app);
        let cpus = |rank: usize| match simulated.cpus.get(rank) {
            Some(cpus) if binds => cpus.clone(),
            _ => allowed.clone(),
        };
        let usable: Vec<u32> =
            if allowed.is_empty() { (0..plan.machine.cpus()).collect() } else { allowed.clone() };
        let slept: BTreeMap<u32, u32> = release_order(plan.options.seed, AppId(at), app.tasks)
            .into_iter()
            .map(|(rank, slept)| (rank, usable[slept as usize % usable.len()]))
            .collect();
        let thread = |(rank, task): (u32, usize)| Thread {
            cpus: cpus(task),
            slept: slept.get(&rank).copied(),
            nice: nice(app.weight_of(rank)),
            scale: app.rank_scale.get(rank as usize).copied().unwrap_or(1_000),
            noise: key(plan.options.seed, Purpose::WorkNoise, u64::from(at) << 32 | u64::from(rank)),
        };
        let bound = |profile: &MemoryProfile| bound(profile, plan);
        let streams = app.program.profiles().iter().any(|profile| bound(profile) > 0.0);
        programs.push(Program {
            name: app.name.clone(),
            session: app.group.is_some(),
            wait: wait(app.runtime.wait).unwrap_or(Wait::Spin),
            polls: polls(app, plan),
            steps: steps(app, &bound),
            threads: (0..app.tasks).zip(ranks).map(thread).collect(),
            background: app.background,
            start: start - earliest,
            speed: speed(plan),
            rate: 0.0,
            array: if streams { memory::array() } else { 0 },
            real: None,
        });
    }
    programs
}

/// Speed of the first core of the simulated machine.
#[must_use]
pub fn speed(plan: &RunPlan) -> f64 {
    let raw = plan.machine.core_speed.first().map_or(1 << WORK_FRACTION_BITS, |speed| speed.raw());
    raw as f64 / (1_u64 << WORK_FRACTION_BITS) as f64
}

/// Share of a task's unloaded time that it waits for memory, as the simulator derives it.
#[must_use]
pub fn bound(profile: &MemoryProfile, plan: &RunPlan) -> f64 {
    if profile.demand == 0 {
        return 0.0;
    }
    f64::from(profile.bound_on(&plan.machine.memory)) / 65_536.0
}

/// The numbers of cpus of a set.
fn listed(set: &CpuSet) -> Vec<u32> {
    set.iter().map(|cpu| cpu.0).collect()
}

/// The load weight of a nice value.
#[must_use]
pub fn weight(nice: i32) -> u32 {
    let at = (nice + 20).clamp(0, NICE_WEIGHTS.len() as i32 - 1);
    NICE_WEIGHTS[at as usize]
}

/// The nice value of a load weight; 0 for one that belongs to none.
#[must_use]
pub fn nice(weight: u32) -> i32 {
    let found = NICE_WEIGHTS.iter().position(|known| *known == weight);
    found.map_or(0, |at| at as i32 - 20)
}

/// The real way to wait; `None` for those that have none.
#[must_use]
pub fn wait(mode: WaitMode) -> Option<Wait> {
    match mode {
        WaitMode::Spin => Some(Wait::Spin),
        WaitMode::Yield => Some(Wait::Yield),
        WaitMode::Block => Some(Wait::Block),
        WaitMode::SpinThenBlock { limit, yielding } => {
            Some(Wait::SpinThenBlock { limit: limit.ns(), yielding })
        }
        WaitMode::YieldTo => None,
    }
}

/// The polls before a yield. Several polls of the machine take its time of a poll each; a single one is a
/// look at the flag.
fn polls(app: &AppSpec, plan: &RunPlan) -> Polls {
    let PollsPerYield { count, each } = app.runtime.polling.looks;
    let each = if count > 1 && each == Span::ZERO { plan.machine.costs.poll } else { each };
    Polls { count, each: each.ns() }
}

/// The operations of an application that can be executed; [`crate::refusal`] refuses programs with others.
fn steps(app: &AppSpec, bound: &dyn Fn(&MemoryProfile) -> f64) -> Vec<Step> {
    let profiles = app.program.profiles();
    let piece = |work: u64, spread: Spread, profile: u32| Piece {
        work,
        spread: spread.0,
        bound: profiles.get(profile as usize).map_or(0.0, bound),
    };
    let step = |op: &Op| {
        Some(match *op {
            Op::Compute { work, spread, profile } => Step::Compute(piece(work.raw(), spread, profile.0)),
            Op::Serial { work, spread, profile } => Step::Serial(piece(work.raw(), spread, profile.0)),
            Op::Barrier => Step::Barrier,
            Op::Sleep { span, spread } => Step::Sleep(span.ns(), spread.0),
            Op::Yield => Step::Yield,
            Op::Repeat(passes) => Step::Repeat(passes),
            Op::End => Step::End,
            _ => return None,
        })
    };
    app.program.ops().iter().filter_map(step).collect()
}

/// Whether the tasks that the policy binds were never on more than one cpu.
#[must_use]
pub fn stays(plan: &RunPlan, simulated: &Simulated) -> bool {
    let bound = plan.apps.iter().flat_map(|app| std::iter::repeat_n(binds(plan, app), app.tasks as usize));
    bound.zip(&simulated.cpus).all(|(bound, cpus)| !bound || cpus.len() <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, runs};

    #[test]
    fn a_plan_has_the_threads_draws_and_cpus_of_the_simulation() {
        let text = "{ name: t, machine: 'core:2', kernel: linux-6.18, seed: 7, policies: [PIN], apps: {\
            a: { workload: { spmd: { grain: 1ms, intervals: 3, spread: 10% } }, tasks: 3, runtime: spin },\
            h: { workload: hog, cpus: [1], nice: 5 } } }";
        let run = released(&runs(&experiment(text))[0]);
        let simulated = simulate(&run, &[]).unwrap();
        let programs = programs(&run, &simulated);
        assert_eq!(programs.len(), 2);
        let (a, hog) = (&programs[0], &programs[1]);
        assert_eq!((a.threads.len(), a.threads[0].nice, a.background, a.wait), (3, 0, false, Wait::Spin));
        assert!(a.threads.iter().all(|thread| thread.cpus.len() == 1 && thread.scale == 1_000));
        assert_eq!(a.threads[2].noise, key(7, Purpose::WorkNoise, 2));
        assert_eq!(
            (hog.threads[0].nice, hog.background, hog.threads[0].cpus.as_slice()),
            (5, true, &[1][..])
        );
        assert!(matches!(hog.steps[..], [Step::Repeat(0), Step::Compute(_), Step::End]));
        let read: Program = serde_json::from_str(&serde_json::to_string(a).unwrap()).unwrap();
        assert_eq!(read, *a);
    }

    #[test]
    fn a_waiter_polls_as_often_as_the_runtime_says() {
        let of = |runtime: &str| {
            let text = format!(
                "{{ name: t, machine: 'core:2', kernel: linux-6.18, policies: [PIN], apps: {{\
                a: {{ workload: {{ spmd: {{ grain: 1ms, intervals: 3 }} }}, runtime: {runtime} }} }} }}"
            );
            let run = released(&runs(&experiment(&text))[0]);
            (programs(&run, &simulate(&run, &[]).unwrap())[0].polls, run.machine.costs.poll.ns())
        };
        assert_eq!(of("yield").0, Polls::ONE);
        let many = |count, each| Polls { count, each };
        let (polls, poll) = of("{ yield: { polls: 20 } }");
        assert_eq!(polls, many(20, poll));
        // Two threads on two cpus: 256 polls of 25 ns.
        assert_eq!(of("{ openmp: { barrier: central, yield_off: 0 } }").0, many(256, 25));
        // More threads than cpus: each poll is followed by a yield.
        let (polls, _) = of("{ openmp: { barrier: central, yield_off: 0 } }, tasks: 4");
        assert_eq!(polls, Polls::ONE);
    }

    #[test]
    fn nice_values_have_their_weights() {
        assert_eq!((nice(1024), nice(335), nice(15), nice(88761), nice(7)), (0, 5, 19, -20, 0));
    }
}
