//! SCHED_BATCH, SCHED_IDLE and weights of ranks under Linux 6.18: shares and latencies worked out on paper.

use sim_core::latency::Latencies;
use sim_core::program::{AppSpec, Op, Scheduling, Spread, WEIGHT_IDLE};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{MS, Trial, app, compute, hogs, on_cpu};

const SECONDS: u64 = 20;

/// A task that computes for 1 ms and sleeps for 9 ms, again and again, on cpu 0.
fn sleeper(scheduling: Scheduling) -> AppSpec {
    let ops = vec![
        Op::Repeat(100),
        Op::Sleep { span: Span::from_ms(9), spread: Spread::NONE },
        compute(Span::from_ms(1)),
        Op::End,
    ];
    let mut app = on_cpu(0, app(1, ops, WaitMode::Spin));
    (app.scheduling, app.background) = (scheduling, false);
    if scheduling == Scheduling::Idle {
        app.weight = WEIGHT_IDLE;
    }
    app
}

fn hog(scheduling: Scheduling) -> AppSpec {
    let mut hog = on_cpu(0, hogs(1, 100_000));
    (hog.scheduling, hog.background) = (scheduling, true);
    if scheduling == Scheduling::Idle {
        hog.weight = WEIGHT_IDLE;
    }
    hog
}

/// The median wake-up latency of the first application.
fn latency(apps: [AppSpec; 2]) -> Span {
    let trial = apps.into_iter().fold(Trial::on("package:1 core:2").booted("linux-6.18", &[]), Trial::app);
    let mut latencies = Latencies::new(2, [1, 1]);
    trial.observed(&mut latencies);
    latencies.finish()[0].wakeups.expect("it wakes").median
}

#[test]
fn ranks_have_the_shares_of_their_weights() {
    let mut three = on_cpu(0, hogs(3, 100_000));
    three.rank_weights = vec![1024, 2048, 1024];
    let report =
        Trial::on("package:1 core:2").booted("linux-6.18", &[]).app(three).until(SECONDS * 1_000).run();
    let share = |rank: usize| report.apps[0].task_cpu[rank].ns() as f64 / (SECONDS as f64 * 1e9);
    for (rank, expected) in [(0, 0.25), (1, 0.5), (2, 0.25)] {
        assert!((share(rank) - expected).abs() < 0.01, "rank {rank}: {}", share(rank));
    }
}

#[test]
fn any_task_preempts_an_idle_one_at_once() {
    let at_once = latency([sleeper(Scheduling::Other), hog(Scheduling::Idle)]);
    assert!(at_once < Span::from_us(50), "{at_once:?}");
    // An idle task waits until the tick that ends the slice of the other one, or longer.
    let late = latency([sleeper(Scheduling::Idle), hog(Scheduling::Other)]);
    assert!(late.ns() > 4 * MS, "{late:?}");
}

#[test]
fn a_batch_task_waits_for_the_tick() {
    let other = latency([sleeper(Scheduling::Other), hog(Scheduling::Other)]);
    let batch = latency([sleeper(Scheduling::Batch), hog(Scheduling::Other)]);
    // It is due by its lag, but preempts nobody: the hog runs on until a tick finds its slice used.
    assert!(batch.ns() > 1_000_000 && batch > other, "{batch:?}, {other:?}");
}
