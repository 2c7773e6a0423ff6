//! What a barrier costs with several tasks per core, and what a program that hardly synchronises does not pay.

use crate::support::{Trial, seconds, shelf};

const COUNT: u64 = 2_000;

/// Latency of a barrier in microseconds: barriers back to back on Barcelona, pinned.
fn latency(runtime: &str, per_core: u32) -> f64 {
    let app = shelf("barriers", &[("count", COUNT)], runtime, 16 * per_core);
    // The time rank 0 needs to create the others does not count.
    let start = shelf("barriers", &[("count", 1)], runtime, 16 * per_core);
    let trial = Trial::on("barcelona").policy("PIN", &[]);
    (trial.clone().app(app).seconds() - trial.app(start).seconds()) / (COUNT - 1) as f64 * 1e6
}

#[test]
fn latency_grows_with_the_tasks_per_core() {
    let measured = [1, 2, 4, 8].map(|k| latency("upc", k));
    println!("upc: {measured:.2?} us at 1, 2, 4, 8 tasks per core");
    // log2(16 k) rounds, each the rotation of k - 1 others at a yield and a switch of 1.3 us.
    for (us, expected) in measured.iter().zip([1.4, 9.0, 26.0, 63.0]) {
        let ratio = us / expected;
        assert!((1.0 / 1.6..=1.6).contains(&ratio), "{measured:.2?} us, expected about 1.4, 9, 26, 63");
    }
}

#[test]
fn processes_pay_more_than_threads() {
    for k in [2, 4, 8] {
        let (threads, processes) = (latency("upc", k), latency("mpi", k));
        println!("k={k}: upc {threads:.2} mpi {processes:.2}");
        // Each switch costs 1.6 instead of 0.8 us, each cycle 2.1 instead of 1.3 us.
        let ratio = processes / threads;
        assert!((1.3..1.9).contains(&ratio), "{k} per core: {threads:.2} us, {processes:.2} us");
    }
    // Alone on its core a task never switches.
    let (threads, processes) = (latency("upc", 1), latency("mpi", 1));
    assert!((processes / threads - 1.0).abs() < 0.01, "{threads} us, {processes} us");
}

#[test]
fn ep_at_eight_threads_per_core_takes_the_time_of_one() {
    let time = |per_core: u32| {
        let ep = shelf("npb", &[("benchmark", 2)], "upc", 16 * per_core);
        seconds(&Trial::on("barcelona").policy("PIN", &[]).app(ep).run(), 0)
    };
    let (one, eight) = (time(1), time(8));
    assert!((eight / one - 1.0).abs() < 0.01, "ep.B: {one} s at one, {eight} s at eight per core");
}
