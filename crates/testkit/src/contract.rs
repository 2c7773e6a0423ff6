//! The small scenario in which every policy keeps to the contract, for all shapes of machines, kernels and
//! ways of waiting.

use std::sync::Arc;

use sim_core::ids::{CpuId, ProfileId};
use sim_core::machine::{CpuSet, Machine};
use sim_core::os::OsModel;
use sim_core::outcome::{Options, Outcome};
use sim_core::policy::Policy;
use sim_core::program::{AppSpec, MemoryProfile, Objects, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

use crate::scenarios::Small;
use crate::trial::{Trial, watched};

/// The longest turn that a queue gives a task while others wait: the quantum of the round-robin kernel and
/// the timeslice of O(1) at nice 0. ULE's slices and the quanta of the time-sharing class from priority 10 on
/// are no longer.
pub(crate) const TURN: Span = Span::from_ms(100);

/// Flat; sockets with shared caches; nodes of cores with two threads.
pub const SHAPES: [&str; 3] = ["core:3", "package:2 cache:1 core:2", "package:2 numa:1 core:1 thread:2"];

/// Ways of waiting with their names.
pub const WAITS: [(&str, WaitMode); 5] = [
    ("spin", WaitMode::Spin),
    ("yield", WaitMode::Yield),
    ("block", WaitMode::Block),
    ("spin then block", WaitMode::SpinThenBlock { limit: Span::from_us(200), yielding: false }),
    ("yield to", WaitMode::YieldTo),
];

/// A program of so many steps: each task works, then all meet.
///
/// # Errors
/// The program is not legal.
pub fn app(name: &str, tasks: u32, steps: u32, work: Span, wait: WaitMode) -> Result<AppSpec, String> {
    let profile = MemoryProfile { demand: 1_000_000_000, working_set: 1 << 20, ..MemoryProfile::NONE };
    let compute = Op::Compute { work: Work::from_span(work), spread: Spread(6_554), profile: ProfileId(0) };
    let ops = vec![Op::Repeat(steps), compute, Op::Barrier, Op::End];
    let runtime = Runtime {
        name: "test".into(),
        barrier: BarrierKind::Dissemination,
        wait,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    Ok(AppSpec::new(name, tasks, Arc::new(Program::new(ops, vec![profile])?), runtime))
}

/// One task too many for the cpus, a late program, one that computes at length, a pinned hog, and somebody
/// who sleeps.
fn apps(cpus: u32, wait: WaitMode) -> Result<Vec<AppSpec>, String> {
    let mut late = app("late", cpus / 2 + 1, 6, Span::from_ms(5), wait)?;
    late.start = Time::from_ns(30_000_000);
    let mut hog = app("hog", 1, 0, Span::from_ms(100), wait)?;
    hog.background = true;
    hog.allowed = Some(CpuSet::of([CpuId(0)]));
    let nap = Op::Sleep { span: Span::from_ms(3), spread: Spread(6_554) };
    let work = Work::from_span(Span::from_us(400));
    let serve = Op::Compute { work, spread: Spread::EXPONENTIAL, profile: ProfileId(0) };
    let mut service = app("service", 2, 0, Span::from_ms(1), wait)?;
    let ops = vec![Op::Repeat(0), nap, serve, Op::End];
    service.program = Arc::new(Program::new(ops, vec![MemoryProfile::NONE])?);
    service.background = true;
    let fine = app("fine", cpus + 1, 30, Span::from_ms(1), wait)?;
    Ok(vec![fine, late, hog, app("long", cpus.min(3), 3, Span::from_ms(25), wait)?, service])
}

/// The scenario on this machine under this kernel.
///
/// # Errors
/// A program is not legal.
pub fn scenario(machine: Machine, model: OsModel, wait: WaitMode, seed: u64) -> Result<Small, String> {
    let apps = apps(machine.cpus(), wait)?;
    let horizon = Time::from_ns(20_000_000_000);
    let options = Options { seed, horizon, start_jitter: model.tick, ..Options::default() };
    let objects = Objects::default();
    Ok(Small { machine: Arc::new(machine), model: Arc::new(model), apps, objects, options })
}

/// A run of the scenario; what is wrong with it includes that it does not end.
///
/// # Errors
/// Why the simulator refuses it.
pub fn trial(small: &Small, policy: &mut dyn Policy) -> Result<Trial, String> {
    // The watchdog: everybody else may have the cpu once, for the longest turn.
    let tasks: u32 = small.apps.iter().map(|app| app.tasks).sum();
    let mut trial = watched(small, policy, TURN * u64::from(tasks))?;
    if trial.report.outcome != Outcome::Completed {
        trial.found.push(format!("{:?}", trial.report.outcome));
    }
    Ok(trial)
}
