//! Who runs how long on one cpu under CFS: equal shares, slices, yields, the sleeper's credit.

use std::collections::BTreeMap;

use sim_core::account::Category;
use sim_core::observe::{LeaveReason, Observation};
use sim_core::program::{AppSpec, Op};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{MS, SIXTEEN, Setting, Trial, WAITER, app, compute, hogs, on_cpu, seconds};

const DEFAULT: u64 = 0;
const POSIX: u64 = 1;

#[test]
fn two_equal_hogs_on_one_core_take_twice_as_long() {
    let alone = Trial::on("barcelona").app(on_cpu(0, hogs(1, 5_000))).seconds();
    let report = Trial::on("barcelona").app(on_cpu(0, hogs(2, 5_000))).run();
    let ratio = seconds(&report, 0) / alone;
    assert!((ratio - 2.0).abs() < 0.002, "{ratio}");
    let shares = &report.apps[0].task_cpu;
    let apart = shares[0].ns().abs_diff(shares[1].ns());
    assert!(apart < MS, "cpu times {shares:?}");
}

/// A worker of 2 s of work and a rank that has nothing to do but wait for it, yielding, on cpu 0.
fn worker_and_yielder() -> AppSpec {
    let mut pair = app(2, vec![compute(Span::from_ms(2_000)), Op::Barrier], WaitMode::Yield);
    pair.rank_scale = vec![1_000, WAITER];
    on_cpu(0, pair)
}

#[test]
fn by_default_a_yielding_waiter_gets_half_the_core() {
    let trial = Trial::on(SIXTEEN).kernel(&[("yield", DEFAULT)]).app(worker_and_yielder());
    let (report, log) = trial.log();
    let time = seconds(&report, 0);
    assert!((3.85..4.15).contains(&time), "2 s of work took {time} s beside a waiter that yields");
    // A switch at each slice of the worker, 50 ms rounded up to the tick, not at each of its peer's million
    // yields.
    let cut: Vec<u64> = log
        .turns(0)
        .iter()
        .filter(|turn| turn.reason == LeaveReason::Preempted)
        .map(|turn| turn.length.ns())
        .collect();
    assert!((36..=44).contains(&cut.len()), "{} turns were cut short", cut.len());
    assert!(cut.iter().all(|ns| (50 * MS..=52 * MS).contains(ns)), "{cut:?}");
    let counters = report.apps[0].counters;
    assert!(counters.yields > 1_000_000, "{counters:?}");
    let switches = counters.voluntary_switches + counters.involuntary_switches;
    assert!(switches < 150, "{counters:?}");
}

#[test]
fn under_posix_yield_the_worker_gets_the_core() {
    let trial = Trial::on(SIXTEEN).kernel(&[("yield", POSIX)]).app(worker_and_yielder());
    let report = trial.run();
    let time = seconds(&report, 0);
    // The waiter looks once per slice of 51 ms.
    assert!((2.0..2.01).contains(&time), "2 s of work took {time} s");
    let counters = report.apps[0].counters;
    assert!((35..=60).contains(&counters.yields), "{counters:?}");
}

#[test]
fn two_yielders_alternate_at_each_yield_in_both_modes() {
    for mode in [DEFAULT, POSIX] {
        // Ranks 0 and 2 wait on cpu 0 for rank 1 on cpu 1.
        let mut team = app(3, vec![compute(Span::from_ms(1_000)), Op::Barrier], WaitMode::Yield);
        team.rank_scale = vec![WAITER, 1_000, WAITER];
        // Without the debit of a new task, which one of them would first use up alone.
        let kernel = [("yield", mode), ("start_debit", 0)];
        let trial = Trial::on("package:1 core:2").kernel(&kernel).policy("PIN", &[]).app(team);
        let costs = trial.machine.costs.clone();
        let (report, log) = trial.log();
        let mut sum = (0, 0);
        for (_, what) in &log.0 {
            if let Observation::Polled { cpu, polls, switches } = what
                && cpu.0 == 0
            {
                sum = (sum.0 + polls, sum.1 + switches);
            }
        }
        let (polls, switches) = sum;
        let cycle = costs.poll + costs.yield_call + costs.switch_thread;
        let expected = 1_000 * MS / cycle.ns();
        assert!(polls.abs_diff(expected) <= expected / 100, "mode {mode}: {polls} polls, not {expected}");
        assert!(polls - switches <= polls / 100, "mode {mode}: {switches} switches of {polls} polls");
        let switching = report.cpus[0].get(Category::Switch);
        assert!(switching >= costs.switch_thread * switches, "mode {mode}: {switching:?} of switches");
    }
}

#[test]
fn explicit_yields_alternate_too() {
    for mode in [DEFAULT, POSIX] {
        let yields = app(2, vec![Op::Repeat(10_000), Op::Yield, Op::End], WaitMode::Spin);
        let trial = Trial::on(SIXTEEN).kernel(&[("yield", mode)]).app(on_cpu(0, yields));
        let counters = trial.run().apps[0].counters;
        assert_eq!(counters.yields, 20_000);
        // Under the default yield the start debit of the second task, a slice of 50 ms, is used up first: the
        // run is over before. Under posix each yield goes behind the other task.
        let switches = counters.voluntary_switches;
        let alternates = switches > 19_900;
        assert_eq!(alternates, mode == POSIX, "mode {mode}: {switches} switches");
    }
    // Without the debit they alternate by default, too.
    let yields = app(2, vec![Op::Repeat(10_000), Op::Yield, Op::End], WaitMode::Spin);
    let trial = Trial::on(SIXTEEN).kernel(&[("start_debit", 0)]).app(on_cpu(0, yields));
    let counters = trial.run().apps[0].counters;
    assert!(counters.voluntary_switches > 19_000, "{counters:?}");
}

/// Lengths of the turns of n hogs on one of sixteen cpus, start and end left out, in ms.
fn slices(n: u32, settings: &[Setting]) -> Vec<u64> {
    let trial = Trial::on(SIXTEEN).free().kernel(settings).app(on_cpu(0, hogs(n, 10_000))).until(8_000);
    let (_, log) = trial.log();
    let late = log.turns(0).into_iter().filter(|turn| turn.start.ns() > 2_000 * MS);
    late.map(|turn| {
        assert_eq!(turn.reason, LeaveReason::Preempted);
        assert!(turn.length.ns().is_multiple_of(MS), "{:?} is not whole ticks", turn.length);
        turn.length.ns() / MS
    })
    .collect()
}

#[test]
fn slices_end_at_the_first_tick_past_the_share_of_the_latency() {
    // Latency 100 ms shared by up to five, 20 ms each beyond. The tick looks for strictly more than the
    // slice.
    for (n, at_1000_hz, at_250_hz) in [(2, 51, 52), (3, 34, 36), (4, 26, 28), (5, 21, 24), (8, 21, 24)] {
        for (tick, expected) in [(MS, at_1000_hz), (4 * MS, at_250_hz)] {
            let lengths = slices(n, &[("tick", tick)]);
            assert!(lengths.len() > 100, "{} turns", lengths.len());
            assert!(lengths.iter().all(|ms| *ms == expected), "{n} tasks, tick {tick} ns: {lengths:?}");
        }
    }
}

#[test]
fn turns_go_round_fairly() {
    let trial = Trial::on(SIXTEEN).app(on_cpu(0, hogs(5, 10_000))).until(10_500);
    let mut turns: BTreeMap<u32, u64> = BTreeMap::new();
    for turn in trial.log().1.turns(0) {
        *turns.entry(turn.task.0).or_default() += 1;
    }
    // Five tasks take turns of 21 ms: 100 each in 10.5 s.
    assert!(turns.values().all(|n| n.abs_diff(100) <= 2), "{turns:?}");
}

/// From wake-up to running, of a task that sleeps a second at a time beside a hog: one delay per wake-up.
fn wake_delays(settings: &[Setting]) -> Vec<u64> {
    let ops = vec![
        Op::Repeat(10),
        Op::Sleep { span: Span::from_ms(1_000), spread: sim_core::program::Spread::NONE },
        compute(Span::from_ms(1)),
        Op::End,
    ];
    let mut hog =
        on_cpu(0, app(1, vec![Op::Repeat(0), compute(Span::from_ms(1_000)), Op::End], WaitMode::Spin));
    hog.background = true;
    let sleeper = on_cpu(0, app(1, ops, WaitMode::Block));
    let (_, log) = Trial::on(SIXTEEN).kernel(settings).app(sleeper).app(hog).log();
    let (mut woken, mut delays) = (None, Vec::new());
    for (at, what) in &log.0 {
        match what {
            Observation::Runnable { task, .. } if task.0 == 0 && at.ns() > 500 * MS => woken = Some(*at),
            Observation::Running { task, .. } if task.0 == 0 => {
                delays.extend(woken.take().map(|woken| (*at - woken).ns()));
            }
            _ => {}
        }
    }
    assert_eq!(delays.len(), 10);
    delays
}

#[test]
fn a_long_sleeper_preempts_at_once_if_its_credit_exceeds_the_granularity() {
    // Credit 100 ms, granularity 25 ms.
    let delays = wake_delays(&[]);
    assert!(delays.iter().all(|ns| *ns < 20_000), "{delays:?}");
    // A granularity beyond the credit, or no credit at all: it waits for the end of the hog's slice. The hog
    // was alone and past its slice of 50 ms, so that is the next tick.
    for settings in [("wakeup_granularity", 150 * MS), ("sleeper_credit", 0)] {
        let delays = wake_delays(&[settings]);
        assert!(delays.iter().any(|ns| *ns > 50_000), "{settings:?}: {delays:?}");
        assert!(delays.iter().all(|ns| *ns < 52 * MS), "{settings:?}: {delays:?}");
    }
}
