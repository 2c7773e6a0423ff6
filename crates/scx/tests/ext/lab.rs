//! Machines, programs and runs of the tests.

use std::sync::Arc;

use scx::ext::{Ext, Scheduler};
use sim_core::engine::Simulation;
use sim_core::ids::ProfileId;
use sim_core::machine::{Level, Machine};
use sim_core::os::{Balancer, CfsParams, Discipline, OsModel};
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

#[path = "../../src/ext/testing.rs"]
mod testing;

pub(crate) use testing::machine;

/// An application: name, start in ms, weight, tasks, and what each of them does.
pub(crate) type Submitted<'a> = (&'a str, u64, u32, u32, Vec<Op>);

pub(crate) fn compute(ms: u64) -> Op {
    let work = Work::from_span(Span::from_ms(ms));
    Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) }
}

pub(crate) fn sleep(ms: u64) -> Op {
    Op::Sleep { span: Span::from_ms(ms), spread: Spread::NONE }
}

pub(crate) fn linux() -> OsModel {
    OsModel {
        name: "linux-6.12".into(),
        tick: Span::from_ms(1),
        tick_skew: false,
        discipline: Discipline::Cfs(CfsParams::scaled(2)),
        balancer: Balancer { policy: "LOAD", rules: Vec::new() },
        groups: Vec::new(),
        autogroup: false,
        numa_balancing: None,
        real_time: None,
    }
}

/// Applications as the engine takes them.
pub(crate) fn submitted(apps: Vec<Submitted<'_>>) -> Vec<AppSpec> {
    let runtime = Runtime {
        name: "none".into(),
        barrier: BarrierKind::Central,
        wait: WaitMode::Block,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    let app = |(name, start, weight, tasks, ops): Submitted<'_>| {
        let program = Program::new(ops, vec![MemoryProfile::NONE]).unwrap();
        let spec = AppSpec::new(name, tasks, Arc::new(program), runtime.clone());
        AppSpec { weight, start: Time::from_ns(start * 1_000_000), ..spec }
    };
    apps.into_iter().map(app).collect()
}

/// Runs applications under a scheduler, for so many ms at most.
pub(crate) fn run_apps<S: Scheduler>(
    machine: Machine,
    scheduler: S,
    apps: Vec<AppSpec>,
    horizon: u64,
) -> RunReport {
    let mut policy = Ext::new(scheduler, &machine).unwrap();
    let options = Options { horizon: Time::from_ns(horizon * 1_000_000), ..Options::default() };
    let simulation = Simulation::new(Arc::new(machine), Arc::new(linux()), apps, options).unwrap();
    let report = simulation.run(&mut policy, &mut ());
    assert_eq!(report.corrections, 0);
    report
}

pub(crate) fn run_on<S: Scheduler>(
    machine: Machine,
    scheduler: S,
    apps: Vec<Submitted<'_>>,
    horizon: u64,
) -> RunReport {
    run_apps(machine, scheduler, submitted(apps), horizon)
}

pub(crate) fn run<S: Scheduler>(
    cpus: u32,
    scheduler: S,
    apps: Vec<Submitted<'_>>,
    horizon: u64,
) -> RunReport {
    run_on(machine(&[(Level::Core, cpus)]), scheduler, apps, horizon)
}

/// When each application ended, in whole ms.
pub(crate) fn ends(report: &RunReport) -> Vec<u64> {
    report.apps.iter().map(|app| app.end.map_or(u64::MAX, |end| end.ns() / 1_000_000)).collect()
}

/// The cpu time of each task, in whole ms.
pub(crate) fn shares(report: &RunReport) -> Vec<u64> {
    report.apps.iter().flat_map(|app| app.task_cpu.iter().map(|span| span.ns() / 1_000_000)).collect()
}

pub(crate) fn counter(report: &RunReport, name: &str) -> u64 {
    report.policy_counters.iter().find(|(found, _)| found == name).unwrap().1
}

pub(crate) fn failure(report: &RunReport) -> String {
    match &report.outcome {
        Outcome::Failed(text) => text.clone(),
        other => format!("{other:?}"),
    }
}
