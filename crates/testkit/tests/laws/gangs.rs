//! Gang scheduling: halves of the machine for fine-grained programs, strict slots, fewer slots, pairs, the
//! price of a change.

use std::collections::BTreeSet;

use sim_core::account::Category;
use sim_core::ids::ProfileId;
use sim_core::observe::Observer;
use sim_core::outcome::RunReport;
use sim_core::policy::Decision;
use sim_core::program::{AppSpec, Op, Spread};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::WaitMode;

use crate::support::{Setting, Trial, app, compute, hogs, seconds};

const FOUR: &str = "package:1 core:4";
const STRICT: Setting = ("alternates", 2);

fn near(value: f64, wanted: f64, part: f64) -> bool {
    (value / wanted - 1.0).abs() < part
}

/// Part of the time of all cpus that went there.
fn part(report: &RunReport, category: Category) -> f64 {
    let account = report.account();
    account.get(category).ns() as f64 / account.total().ns() as f64
}

/// A program of four tasks that spin at a barrier every half millisecond or so.
fn fine(barriers: u32) -> AppSpec {
    let work = Work::from_span(Span::from_us(500));
    let piece = Op::Compute { work, spread: Spread(6_554), profile: ProfileId(0) };
    app(4, vec![Op::Repeat(barriers), piece, Op::Barrier, Op::End], WaitMode::Spin)
}

#[test]
fn fine_grained_programs_each_run_like_a_dedicated_part() {
    // Feitelson and Rudolph, JPDC 1992: each of n gangs takes n times its time alone; mixed queues take
    // slices for a barrier.
    let alone = Trial::on(FOUR).policy("PIN", &[]).app(fine(4_000)).seconds();
    for n in [2, 3] {
        for settings in [&[][..], &[STRICT]] {
            let mut trial = Trial::on(FOUR).policy("gang", settings);
            for _ in 0..n {
                trial = trial.app(fine(4_000));
            }
            let report = trial.run();
            let last = (0..n).map(|app| seconds(&report, app)).fold(0.0, f64::max);
            assert!(near(last, n as f64 * alone, 0.02), "{n} gangs: {last} of {alone}");
        }
    }
    let mixed = Trial::on(FOUR).app(fine(400)).app(fine(400)).seconds();
    assert!(mixed > 20.0 * 2.0 * alone / 10.0, "LOAD: {mixed} of {}", alone / 10.0);
}

#[test]
fn strict_gangs_leave_empty_cells_idle() {
    // Every other slot has two of four columns empty: a quarter of the time, unless others fill in.
    let idle = |settings: &[Setting]| {
        let trial = Trial::on(FOUR).policy("gang", settings).until(2_000);
        part(&trial.app(hogs(4, 9_000)).app(hogs(2, 9_000)).run(), Category::Idle)
    };
    assert!(near(idle(&[STRICT]), 0.25, 0.02), "{}", idle(&[STRICT]));
    assert!(idle(&[]) < 0.001 && idle(&[("alternates", 1)]) < 0.001);
}

#[test]
fn united_slots_take_no_turns() {
    // a (3 x 0.5 s) and c (1 x 1 s) share a slot, b (2 x 1 s) has another one. a ends at 0.9 s after five
    // turns. b has had four and c five; united, they go on at the same time, else in turns, b last.
    let last = |unite: u64| {
        let trial = Trial::on(FOUR).free().policy("gang", &[STRICT, ("unification", unite)]);
        let report = trial.app(hogs(3, 500)).app(hogs(2, 1_000)).app(hogs(1, 1_000)).run();
        [0, 1, 2].map(|app| (seconds(&report, app) * 1_000.0).round() as u64)
    };
    assert_eq!(last(1), [900, 1_500, 1_400]);
    assert_eq!(last(0), [900, 2_000, 1_900]);
}

#[test]
fn moving_a_gang_can_save_a_slot() {
    // a and b (2 tasks each) fill a slot, c has another one, in a's columns. b ends at 0.5 s: a and c can go
    // on at once only if one of them moves to b's columns, two moves.
    let run = |migration: u64| {
        let trial = Trial::on(FOUR).free().policy("gang", &[STRICT, ("migration", migration)]);
        let report = trial.app(hogs(2, 1_000)).app(hogs(2, 300)).app(hogs(2, 1_000)).run();
        let moves: u64 = report.apps.iter().map(|app| app.counters.migrations).sum();
        ([0, 1, 2].map(|app| (seconds(&report, app) * 1_000.0).round() as u64), moves)
    };
    assert_eq!(run(1), ([1_200, 500, 1_300], 2));
    assert_eq!(run(0), ([1_900, 500, 2_000], 0));
}

#[test]
fn a_computing_gang_uses_what_a_sleeping_one_leaves() {
    // The sleepers use a fifth of their turns. Taken apart, four fifths of every other turn are idle. Paired
    // for eight turns, then measured apart for two, the same is left of one turn in ten.
    let sleeper = [Op::Repeat(10_000), compute(Span::from_ms(2)), nap(8), Op::End];
    let run = |pairing: u64| {
        let trial = Trial::on(FOUR).policy("gang", &[STRICT, ("pairing", pairing)]).until(10_000);
        trial.app(hogs(4, 60_000)).app(app(4, sleeper.to_vec(), WaitMode::Block)).run()
    };
    let (apart, paired) = (run(0), run(1));
    assert!(near(part(&apart, Category::Idle), 0.4, 0.03), "{}", part(&apart, Category::Idle));
    assert!(near(part(&paired, Category::Idle), 0.08, 0.1), "{}", part(&paired, Category::Idle));
    // Both gain: the one what the other leaves it, the other the turns that were not its own.
    let gain = |app: usize| {
        let used = |report: &RunReport| report.apps[app].counters.cpu_ns as f64;
        used(&paired) / used(&apart)
    };
    assert!(gain(0) > 1.4 && gain(1) > 1.4, "{} {}", gain(0), gain(1));
}

fn nap(ms: u64) -> Op {
    Op::Sleep { span: Span::from_ms(ms), spread: Spread::NONE }
}

#[test]
fn the_quantum_has_to_be_long_against_the_cost_of_a_change() {
    // t of each quantum is lost: all takes q / (q - t) times as long.
    let machine = Trial::on(FOUR).machine;
    let cost = (2 * machine.costs.ipi.ns() + machine.costs.switch_process.ns()) * 20;
    for us in [500, 1_000, 10_000, 100_000] {
        let settings = [STRICT, ("quantum", us * 1_000), ("switch_cost", 20_000)];
        let report = Trial::on(FOUR).policy("gang", &settings).app(hogs(4, 500)).app(hogs(4, 500)).run();
        let (took, q, t) = (seconds(&report, 0).max(seconds(&report, 1)), us as f64 * 1_000.0, cost as f64);
        assert!(near(took, q / (q - t), 0.01), "quantum {us} us, cost {t} ns: {took}");
    }
}

/// Decisions without a reason, and the rules that were given.
#[derive(Default)]
struct Reasons {
    silent: u32,
    rules: BTreeSet<&'static str>,
}

impl Observer for Reasons {
    fn decided(&mut self, _: Time, decision: &Decision) {
        self.silent += u32::from(decision.why.rule.is_empty());
        self.rules.insert(decision.why.rule);
    }
}

#[test]
fn every_decision_has_a_reason() {
    let settings = [STRICT, ("pairing", 1), ("migration", 1)];
    let trial = Trial::on(FOUR).policy("gang", &settings);
    let mut reasons = Reasons::default();
    let trial = trial.app(hogs(2, 600)).app(hogs(2, 150)).app(hogs(3, 600)).app(hogs(2, 700));
    trial.observed(&mut reasons);
    assert_eq!(reasons.silent, 0);
    for rule in [
        "column in a new slot: it fits into none",
        "slot begins: it is the next one",
        "moved: saves a slot",
        "its column",
    ] {
        assert!(reasons.rules.contains(rule), "{rule}: {:?}", reasons.rules);
    }
}

#[test]
fn slots_by_threads_give_each_task_the_same() {
    // Two per cpu against one: in equal slots the larger gang's tasks get half as much each.
    let ratio = |by: u64| {
        let trial = Trial::on(FOUR).policy("gang", &[STRICT, ("quantum_by", by)]).until(6_000);
        let report = trial.app(hogs(8, 9_000)).app(hogs(4, 9_000)).run();
        let each = |app: usize, tasks: f64| report.apps[app].counters.cpu_ns as f64 / tasks;
        each(0, 8.0) / each(1, 4.0)
    };
    assert!(near(ratio(0), 0.5, 0.02) && near(ratio(1), 1.0, 0.02), "{} {}", ratio(0), ratio(1));
}
