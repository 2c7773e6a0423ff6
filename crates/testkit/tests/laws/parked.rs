//! Parked tasks: they never run, their cpu is idle, and the policy is asked for work there as ever.

use std::sync::Arc;

use sim_core::account::Category;
use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, TaskId};
use sim_core::outcome::{Outcome, RunReport};
use sim_core::policy::{
    CpuChoice, Placement, Policy, Preemption, System, THROTTLED, Timer, View, Watches, Why,
};
use sim_core::program::AppSpec;
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;
use testkit::invariants::violations;

use crate::support::{MS, Trial, app, compute, hogs, on_cpu};

/// Parks the first task at 100 ms and lets it go on at 300 ms, if at all. Counts the calls of `idle`, and
/// notes when it is told that a task was lifted.
struct Parking {
    lets_go: bool,
    idle: u32,
    lifted: Vec<Time>,
}

impl Policy for Parking {
    fn init(&mut self, system: &mut dyn System) {
        system.at(Time::from_ns(100 * MS), Timer::Token(u64::from(THROTTLED)));
        if self.lets_go {
            system.at(Time::from_ns(300 * MS), Timer::Token(0));
        }
    }
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        let mut cpus = view.machine().cpu_ids();
        cpus.find(|cpu| view.allowed(task, *cpu)).unwrap_or(CpuId(0)).into()
    }
    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let Timer::Token(token) = timer else { return };
        assert!(system.set_priority(TaskId(0), token as u8, Why::NONE));
        assert_eq!(system.nr_running(CpuId(0)), system.nr_running(CpuId(0)).max(1), "parked tasks count");
    }
    fn idle(&mut self, _: &mut dyn System, _: CpuId) {
        self.idle += 1;
    }
    fn watches(&self) -> Watches {
        Watches { preemptions: true, ..Watches::default() }
    }
    fn preempted(&mut self, system: &mut dyn System, _: TaskId, _: CpuId, why: Preemption) {
        if why == Preemption::Boosted {
            self.lifted.push(system.now());
        }
    }
}

fn run(kernel: &str, apps: Vec<AppSpec>, lets_go: bool) -> (RunReport, u32) {
    let (report, policy) = park(kernel, apps, lets_go);
    (report, policy.idle)
}

fn park(kernel: &str, apps: Vec<AppSpec>, lets_go: bool) -> (RunReport, Parking) {
    let trial = Trial::on("package:1 core:1").free().under(kernel, &[]);
    let (machine, model) = (Arc::new(trial.machine.clone()), Arc::new(trial.model.clone()));
    let mut policy = Parking { lets_go, idle: 0, lifted: Vec::new() };
    let report = Simulation::new(machine, model, apps, trial.options).unwrap().run(&mut policy, &mut ());
    assert!(violations(&report).is_empty(), "{:?}", violations(&report));
    (report, policy)
}

const KERNELS: [&str; 6] =
    ["linux-2.6.18", "linux-2.6.28", "linux-6.18", "freebsd-7", "solaris-9", "round-robin"];

#[test]
fn a_cpu_with_parked_tasks_only_is_idle() {
    for kernel in KERNELS {
        let (report, idle) = run(kernel, vec![hogs(1, 500)], true);
        let end = report.apps[0].end.unwrap().ns() as f64 / MS as f64;
        // 100 ms of work, 200 ms parked, the rest; ticks take their time.
        assert!((699.9..702.0).contains(&end), "{kernel}: {end} ms");
        let idles = report.account().get(Category::Idle).ns() as f64 / MS as f64;
        assert!((199.9..200.1).contains(&idles), "{kernel}: idle for {idles} ms");
        assert_eq!(idle, 2, "{kernel}: when it was parked and at its end");
    }
}

#[test]
fn others_run_while_one_is_parked() {
    for kernel in KERNELS {
        let (report, idle) = run(kernel, vec![hogs(1, 500), on_cpu(0, hogs(1, 150))], true);
        // Both share 100 ms; then the other one has the cpu to itself until it ends at about 200 ms.
        let end = report.apps[1].end.unwrap().ns() as f64 / MS as f64;
        assert!((149.9..=300.0).contains(&end), "{kernel}: {end} ms");
        let idles = report.account().get(Category::Idle).ns() as f64 / MS as f64;
        assert!((idles - (300.0 - end)).abs() < 0.1, "{kernel}: idle for {idles} ms, {end} ms");
        assert_eq!(idle, 2, "{kernel}: at the end of the other one and at its own");
    }
}

#[test]
fn who_is_never_let_go_waits_to_the_horizon() {
    let polls = |wait| app(2, vec![compute(Span::from_ms(150)), sim_core::program::Op::Barrier], wait);
    for apps in [
        vec![hogs(1, 500)],
        vec![polls(WaitMode::Yield)],
        vec![polls(WaitMode::Block)],
        vec![polls(WaitMode::Spin)],
    ] {
        for kernel in KERNELS {
            let (report, _) = run(kernel, apps.clone(), false);
            assert_eq!(report.outcome, Outcome::Horizon, "{kernel}");
        }
    }
}

#[test]
fn who_is_lifted_while_parked_is_told_of_at_once() {
    // No cpu has anything to decide then. The priority has sunk to 39 and rises to 54 and 59, one update
    // after the other.
    let (_, policy) = park("solaris-9", vec![hogs(1, 500)], false);
    assert_eq!(policy.lifted, [1_000, 2_000].map(|ms| Time::from_ns(ms * MS)));
}
