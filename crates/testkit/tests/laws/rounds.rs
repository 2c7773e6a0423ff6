//! What DWRR promises: rounds that differ by at most one, service that differs by at most a slice, shares by
//! weight.

use std::collections::BTreeMap;

use sim_core::ids::CpuId;
use sim_core::machine::CpuSet;
use sim_core::observe::{Observation, Observer};
use sim_core::outcome::RunReport;
use sim_core::policy::{Action, Decision};
use sim_core::program::{AppSpec, Op};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{MS, SIXTEEN, Trial, app, compute, hogs};

/// The round of each cpu, from the remarks; the greatest difference ever between cpus that have begun one.
#[derive(Default)]
struct Rounds {
    rounds: BTreeMap<u64, u64>,
    apart: u64,
    begun: u64,
    pulled: u64,
    /// Moves to another cpu.
    moves: u64,
    unexplained: u64,
}

impl Observer for Rounds {
    fn observe(&mut self, _: Time, what: &Observation) {
        self.moves += u64::from(matches!(what, Observation::Migrated { .. }));
    }
    fn decided(&mut self, _: Time, decision: &Decision) {
        self.unexplained += u64::from(decision.why.rule.is_empty());
        if decision.action != Action::Remarked {
            return;
        }
        let fact = |name: &str| decision.why.facts.iter().find(|(fact, _)| *fact == name).unwrap().1;
        self.rounds.insert(fact("cpu"), fact("round"));
        self.begun += 1;
        self.pulled += u64::from(decision.why.rule.contains("moved forward"));
        let (least, most) = (self.rounds.values().min().unwrap(), self.rounds.values().max().unwrap());
        self.apart = self.apart.max(most - least);
    }
}

/// Tasks that compute for ever.
fn endless(tasks: u32) -> AppSpec {
    app(tasks, vec![Op::Repeat(0), compute(Span::from_ms(1_000)), Op::End], WaitMode::Spin)
}

fn run(trial: &Trial) -> (RunReport, Rounds) {
    let mut rounds = Rounds::default();
    let report = trial.clone().policy("DWRR", &[]).observed(&mut rounds);
    (report, rounds)
}

/// Cpu time of the tasks of an application, in ms.
fn served(report: &RunReport, app: usize) -> Vec<f64> {
    report.apps[app].task_cpu.iter().map(|cpu| cpu.ns() as f64 / MS as f64).collect()
}

#[test]
fn rounds_differ_by_one_and_service_by_a_slice_and_a_tick() {
    for (machine, cpus, tasks) in [
        ("package:1 core:2", 2, 3),
        ("package:1 core:4", 4, 5),
        (SIXTEEN, 16, 17),
        ("package:1 core:4", 4, 10),
    ] {
        let (report, rounds) = run(&Trial::on(machine).app(endless(tasks)).until(10_000));
        let served = served(&report, 0);
        let fair = 10_000.0 * f64::from(cpus) / f64::from(tasks);
        let (low, high) =
            served.iter().fold((f64::MAX, 0.0f64), |(low, high), ms| (low.min(*ms), high.max(*ms)));
        // The tick is 4 ms at most.
        assert!(high - low <= 104.0, "{tasks} on {cpus}: from {low} to {high} ms, fair {fair}");
        assert!(
            high < fair + 104.0 && low > 0.99 * fair - 104.0,
            "{tasks} on {cpus}: from {low} to {high} ms, fair {fair}"
        );
        assert_eq!(rounds.apart, 1, "{tasks} on {cpus}");
        // Each cpu is in each round: as many rounds as slices in the service of a task.
        let wanted = f64::from(cpus) * fair / 100.0;
        assert!(
            (rounds.begun as f64 - wanted).abs() <= 2.0 * f64::from(cpus),
            "{tasks} on {cpus}: {} rounds, {wanted} slices",
            rounds.begun
        );
        assert_eq!(rounds.unexplained, 0);
    }
}

#[test]
fn weights_are_shares() {
    // Nice 0 and nice 5 (1024 and 335), two of each on two cpus: 1024 / 2718 of two cpus each, and 335 /
    // 2718.
    let mut light = endless(2);
    light.weight = 335;
    let (report, rounds) = run(&Trial::on("package:1 core:2").app(endless(2)).app(light).until(20_000));
    for (app, weight) in [(0, 1024.0), (1, 335.0)] {
        let fair = 40_000.0 * weight / 2718.0;
        for ms in served(&report, app) {
            assert!((ms - fair).abs() < 0.02 * fair + 100.0, "weight {weight}: {ms} ms, fair {fair}");
        }
    }
    assert_eq!(rounds.apart, 1);
    // A weight that is more than a cpu's worth gets one cpu, and no more: three of nice 0 share the other.
    let mut heavy = endless(1);
    heavy.weight = 9_548;
    let (report, rounds) = run(&Trial::on("package:1 core:2").app(heavy).app(endless(3)).until(20_000));
    assert!(served(&report, 0)[0] > 0.95 * 20_000.0, "{:?}", served(&report, 0));
    assert_eq!(rounds.apart, 1);
}

#[test]
fn nobody_gets_more_than_the_machine_has() {
    // Seventeen tasks of 2 s that meet at the end: no sooner than 17/16 of 2 s, and within a slice or two of
    // that.
    let (report, _) = run(&Trial::on(SIXTEEN).app(hogs(17, 2_000)));
    let seconds = report.apps[0].run_time().unwrap().ns() as f64 / 1e9;
    assert!((2.125..2.125 + 0.2).contains(&seconds), "{seconds} s");
}

#[test]
fn bound_threads_hold_nobody_up() {
    // Two bound to cpu 0 and one to cpu 1: the one runs all the time, the round of cpu 0 is pulled along.
    let mut both = endless(2);
    both.allowed = Some(CpuSet::of([CpuId(0)]));
    let mut one = endless(1);
    one.allowed = Some(CpuSet::of([CpuId(1)]));
    let trial = Trial::on("package:1 core:2").app(both.clone()).app(one.clone());
    let (report, rounds) = run(&trial.clone().until(5_000));
    assert!(served(&report, 1)[0] > 0.99 * 5_000.0);
    assert!(served(&report, 0).iter().all(|ms| (ms - 2_500.0).abs() < 110.0), "{:?}", served(&report, 0));
    assert!(rounds.apart == 1 && rounds.pulled > 10, "{} {}", rounds.apart, rounds.pulled);
    assert_eq!(rounds.moves, 0);
    // A free one beside them is shared between both cpus: two and two halves.
    let (report, _) = run(&trial.app(endless(1)).until(5_000));
    let free = served(&report, 2)[0];
    assert!(free > 2_300.0, "{free} ms of 5000");
}
