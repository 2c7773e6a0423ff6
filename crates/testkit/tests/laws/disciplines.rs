//! Who runs how long on one cpu under the other kernels: O(1), ULE, the time-sharing class, and the releases
//! of CFS.

use sim_core::ids::{CpuId, LockId, TaskId};
use sim_core::lock::LockOrder;
use sim_core::observe::{LeaveReason, Observation};
use sim_core::program::{AppSpec, Op, Spread};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{Log, MS, SIXTEEN, Setting, Trial, WAITER, app, compute, hogs, on_cpu, seconds};

const TOGETHER: Setting = ("tick_skew", 0);

/// A program that sleeps and then computes, for ever.
fn daemon(sleep: u64, work: u64) -> AppSpec {
    let nap = Op::Sleep { span: Span::from_ns(sleep * MS), spread: Spread::NONE };
    let ops = vec![Op::Repeat(0), nap, compute(Span::from_ns(work * MS)), Op::End];
    AppSpec { background: true, ..on_cpu(0, app(1, ops, WaitMode::Block)) }
}

/// Lengths of the turns that were cut short, in ms.
fn cut(log: &Log) -> Vec<f64> {
    let turns = log.turns(0);
    let cut = turns.iter().filter(|turn| turn.reason == LeaveReason::Preempted);
    cut.map(|turn| turn.length.ns() as f64 / 1e6).collect()
}

/// All turns but the first few last about this many ms.
fn all_last(log: &Log, skipped: usize, wanted: f64, slack: f64) {
    let turns = cut(log);
    assert!(turns.len() > skipped + 5, "{turns:?}");
    assert!(turns[skipped..].iter().all(|ms| (ms - wanted).abs() <= slack), "{wanted} ms wanted: {turns:?}");
}

/// The longest time in ms between two turns of a task, up to the end of the log.
fn longest_pause(log: &Log, task: TaskId) -> f64 {
    let end = log.0.last().map_or(0, |(at, _)| at.ns());
    let (mut last, mut longest) = (0, 0);
    for turn in log.turns(0).iter().filter(|turn| turn.task == task) {
        longest = longest.max(turn.start.ns().saturating_sub(last));
        last = turn.start.ns() + turn.length.ns();
    }
    longest.max(end - last) as f64 / 1e6
}

/// How long the wake-ups of a task have to wait for the cpu, in ms; the creation is left out.
fn waits_of(log: &Log, task: TaskId) -> Vec<f64> {
    let (mut since, mut waits) = (None, Vec::new());
    for (at, what) in &log.0 {
        match *what {
            Observation::Runnable { task: t, cpu: CpuId(0) } if t == task => since = Some(*at),
            Observation::Running { task: t, cpu: CpuId(0) } if t == task => {
                waits.extend(since.take().map(|since| (*at - since).ns() as f64 / 1e6));
            }
            _ => {}
        }
    }
    waits.split_off(1)
}

fn worker_and_yielder() -> AppSpec {
    let mut pair = app(2, vec![compute(Span::from_ms(2_000)), Op::Barrier], WaitMode::Yield);
    pair.rank_scale = vec![1_000, WAITER];
    on_cpu(0, pair)
}

#[test]
fn o1_yield_goes_to_the_expired_array() {
    let report = Trial::on(SIXTEEN).under("linux-2.6.18", &[TOGETHER]).app(worker_and_yielder()).run();
    let time = seconds(&report, 0);
    assert!((2.0..2.01).contains(&time), "2 s of work took {time} s beside a waiter that yields");
    // One look per time slice of 100 ms of the worker, which began with half of one.
    let yields = report.apps[0].counters.yields;
    assert!((20..=23).contains(&yields), "{yields} yields");
}

#[test]
fn o1_hogs_alternate_every_100_ms() {
    let (_, log) = Trial::on(SIXTEEN).under("linux-2.6.18", &[TOGETHER]).app(on_cpu(0, hogs(2, 1_500))).log();
    // The child first uses the half of its parent's slice.
    let turns = cut(&log);
    assert!((turns[0] - 50.0).abs() < 1.5 && (turns[1] - 50.0).abs() < 1.5, "{turns:?}");
    all_last(&log, 2, 100.0, 1.1);
}

#[test]
fn o1_sleepers_preempt_by_their_bonus() {
    let trial = |bonus| {
        let kernel = [TOGETHER, ("bonus", bonus)];
        let trial = Trial::on(SIXTEEN).under("linux-2.6.18", &kernel);
        trial.app(on_cpu(0, hogs(1, 5_000))).app(daemon(170, 1)).log().1
    };
    let with = waits_of(&trial(1), TaskId(1));
    assert!(with.len() > 20 && with.iter().all(|ms| *ms < 0.1), "{with:?}");
    // Without it the sleeper is an equal and waits for the end of the hog's slice.
    let without = waits_of(&trial(0), TaskId(1));
    assert!(without.iter().any(|ms| *ms > 20.0), "{without:?}");
}

#[test]
fn ule_slices_are_constant_in_freebsd_7_and_shrink_with_the_load_later() {
    let later = [("min_slice", 2 * 1_000_000_000 / 127)];
    let now: &[(&str, u64)] = &[];
    for (tasks, settings, wanted) in
        [(2, now, 12.0), (5, now, 12.0), (3, &later, 6.0), (5, &later, 3.0), (8, &later, 2.0)]
    {
        let (_, log) = Trial::on(SIXTEEN).under("freebsd-7", settings).app(on_cpu(0, hogs(tasks, 800))).log();
        let turns = cut(&log);
        // Leave out the start, when all are interactive, and the end, when there are fewer.
        let middle = &turns[turns.len() / 3..turns.len() / 2];
        let tick = 1e3 / 127.0;
        assert!(middle.iter().all(|ms| (ms - wanted * tick).abs() < 0.1), "{tasks} tasks: {turns:?}");
    }
}

#[test]
fn ule_runs_an_interactive_sleeper_at_once() {
    let trial = Trial::on(SIXTEEN).under("freebsd-7", &[]);
    let (_, log) = trial.app(on_cpu(0, hogs(1, 5_000))).app(daemon(40, 4)).log();
    let waits = waits_of(&log, TaskId(1));
    assert!(waits.len() > 50 && waits[3..].iter().all(|ms| *ms < 0.1), "{waits:?}");
    // One that computes more than it sleeps is not interactive.
    let trial = Trial::on(SIXTEEN).under("freebsd-7", &[]);
    let (_, log) = trial.app(on_cpu(0, hogs(1, 5_000))).app(daemon(40, 60)).log();
    let waits = waits_of(&log, TaskId(1));
    assert!(waits.iter().any(|ms| *ms > 40.0), "{waits:?}");
}

#[test]
fn ts_hogs_sink_to_priority_0() {
    let kernel = [("update", 3_600_000 * MS)];
    let (_, log) = Trial::on(SIXTEEN).under("solaris-9", &kernel).app(on_cpu(0, hogs(2, 2_500))).log();
    let turns = cut(&log);
    // Both sink together: 20, 40, 80, 120, 160 and then 200 ms each.
    let wanted = [20.0, 20.0, 40.0, 40.0, 80.0, 80.0, 120.0, 120.0, 160.0, 160.0];
    assert!(wanted.iter().zip(&turns).all(|(a, b)| (a - b).abs() < 0.2), "{turns:?}");
    all_last(&log, wanted.len(), 200.0, 0.2);
    // The large-server table ends at 400 ms.
    let kernel = [("update", 3_600_000 * MS), ("table", 1)];
    let (_, log) = Trial::on(SIXTEEN).under("solaris-9", &kernel).app(on_cpu(0, hogs(2, 9_000))).log();
    assert!((cut(&log).last().unwrap() - 400.0).abs() < 0.2);
}

#[test]
fn ts_daemons_preempt_at_once() {
    let trial = Trial::on(SIXTEEN).under("solaris-9", &[("lift_running", 0)]);
    let (_, log) = trial.app(on_cpu(0, hogs(1, 8_000))).app(daemon(100, 5)).log();
    let waits = waits_of(&log, TaskId(1));
    assert!(waits.len() > 70 && waits[10..].iter().all(|ms| *ms < 0.1), "{waits:?}");
}

#[test]
fn ts_lifts_whoever_starves() {
    let log = |update| {
        let kernel = [("update", update * MS)];
        let daemons = (0..5).fold(Trial::on(SIXTEEN).until(12_000), |trial, i| trial.app(daemon(10 + i, 39)));
        daemons.under("solaris-9", &kernel).app(on_cpu(0, hogs(1, 6_000))).log().1
    };
    let (with, without) = (longest_pause(&log(1_000), TaskId(5)), longest_pause(&log(100_000), TaskId(5)));
    assert!(with < 1_300.0, "the hog waited {with} ms in spite of the lift every second");
    assert!(without > 5_000.0, "the hog waited only {without} ms without it");
}

#[test]
fn a_new_task_starts_a_period_late_in_2_6_27_and_a_slice_late_after() {
    // 100 ms and half of it, reached in slices of 50 ms that end at the next tick.
    for (kernel, wanted) in [("linux-2.6.27", 102.0), ("linux-2.6.28", 51.0), ("linux-2.6.30", 51.0)] {
        let trial = Trial::on(SIXTEEN).under(kernel, &[TOGETHER]);
        let (_, log) = trial.app(on_cpu(0, hogs(2, 1_000))).log();
        let first = cut(&log)[0];
        assert!((first - wanted).abs() <= 1.1, "{kernel}: {first} ms");
    }
}

#[test]
fn who_wakes_others_often_preempts_sooner_in_2_6_30() {
    // Two ranks hand a lock to each other, one among hogs for 0.2 ms at a time; it wakes when a hog has run
    // 20 ms more than the other, which is less than the granularity of 25 ms. So it waits for the end of the
    // hog's slice, or not at all.
    let time = |kernel| {
        let section = [Op::Lock(LockId(0)), compute(Span::from_ms(1)), Op::Unlock(LockId(0))];
        let ops = [vec![Op::Repeat(300)], section.to_vec(), vec![Op::End]].concat();
        let mut pair = app(2, ops, WaitMode::Block);
        pair.lock.order = LockOrder::Arrival;
        pair.rank_scale = vec![200, 20_000];
        let hogs = AppSpec { background: true, ..on_cpu(0, hogs(2, 100_000)) };
        let trial = Trial::on("package:1 core:16").under(kernel, &[TOGETHER, ("sleeper_credit", 0)]);
        trial.policy("PIN", &[]).app(pair).app(hogs).seconds()
    };
    let (older, newer) = (time("linux-2.6.28"), time("linux-2.6.30"));
    assert!(newer < 0.8 * older, "{newer} s against {older} s");
}
