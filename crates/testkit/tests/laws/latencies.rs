//! Wake-up latencies and run lengths.

use sim_core::histogram::Quantiles;
use sim_core::latency::{AppLatencies, Latencies};
use sim_core::program::{Op, Spread};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{MS, SIXTEEN, Trial, app, compute, hogs, on_cpu};

fn measured(trial: &Trial) -> Vec<AppLatencies> {
    let mut latencies = Latencies::new(16, trial.apps.iter().map(|app| app.tasks));
    trial.observed(&mut latencies);
    latencies.finish()
}

/// Number, median and maximum in microseconds.
fn us(spans: Option<Quantiles>) -> (u64, u64, u64) {
    let spans = spans.unwrap();
    let us = |span: Span| (span.ns() + 500) / 1_000;
    // The middle of a bucket is a little off.
    let near = spans.median.ns().abs_diff(spans.max.ns()) <= spans.max.ns() / 128;
    (spans.count, us(if near { spans.max } else { spans.median }), us(spans.max))
}

const fn nap(ms: u64) -> Op {
    Op::Sleep { span: Span::from_ms(ms), spread: Spread::NONE }
}

#[test]
fn a_woken_task_waits_for_the_rest_of_a_slice_and_for_those_before_it() {
    // Two hogs alternate every 10 ms. The task computes for 1 ms and sleeps for 25 ms: it wakes up when the
    // third slice has lasted 5 ms, waits for its rest of 5 ms and for a whole one, and all repeats.
    let ops = vec![Op::Repeat(10), compute(Span::from_ms(1)), nap(25), Op::End, compute(Span::from_ms(1))];
    let mut noise = on_cpu(0, hogs(2, 10_000));
    noise.background = true;
    let trial = Trial::on(SIXTEEN).free().booted("round-robin", &[("quantum", 10 * MS)]).policy("PIN", &[]);
    let apps = measured(&trial.app(on_cpu(0, app(1, ops, WaitMode::Block))).app(noise));
    assert_eq!(us(apps[0].wakeups), (10, 15_000, 15_000));
    assert_eq!(us(apps[0].runs), (11, 1_000, 1_000));
    assert_eq!(apps[1].wakeups, None);
    // Four slices between two runs of the task.
    assert_eq!(us(apps[1].runs), (40, 10_000, 10_000));
}

#[test]
fn the_exit_from_idle_and_the_switch_are_part_of_the_latency() {
    let ops = vec![Op::Repeat(4), compute(Span::from_ms(1)), nap(5), Op::End, compute(Span::from_ms(1))];
    let mut trial = Trial::on(SIXTEEN).free().booted("round-robin", &[]).policy("PIN", &[]);
    trial.machine.costs.idle_exit = Span::from_us(30);
    trial.machine.costs.switch_thread = Span::from_us(4);
    let apps = measured(&trial.app(on_cpu(3, app(1, ops, WaitMode::Block))));
    assert_eq!(us(apps[0].wakeups), (4, 34, 34));
}

#[test]
fn polling_ends_no_run_before_another_task_gets_the_cpu() {
    // Rank 1 has three times the work of rank 0, which polls 2 ms at each barrier, or sleeps.
    let mut pair =
        app(2, vec![Op::Repeat(5), compute(Span::from_ms(1)), Op::Barrier, Op::End], WaitMode::Spin);
    pair.rank_scale = vec![1_000, 3_000];
    let run = |wait| {
        let mut pair = pair.clone();
        pair.runtime.wait = wait;
        let trial = Trial::on(SIXTEEN).free().booted("round-robin", &[]).policy("PIN", &[]).app(pair);
        measured(&trial).remove(0)
    };
    for wait in [WaitMode::Spin, WaitMode::Yield] {
        let apps = run(wait);
        let runs = apps.runs.unwrap();
        assert_eq!((runs.count, apps.wakeups), (2, None), "{wait:?}");
        assert!(runs.max >= Span::from_ms(15), "{wait:?} {runs:?}");
    }
    // One sleeps at each barrier, and the other one never leaves its cpu. The poll before the sleep does not
    // end the run, and the run after the last barrier is short.
    let apps = run(WaitMode::Block);
    let (runs, wakeups) = (apps.runs.unwrap(), apps.wakeups.unwrap());
    assert_eq!((runs.count, wakeups.count), (5 + 1 + 1, 5));
    let near = |span: Span, ms: u64| span.ns().abs_diff(ms * MS) < MS / 50;
    assert!(near(runs.median, 1) && near(runs.max, 15), "{runs:?}");
}
