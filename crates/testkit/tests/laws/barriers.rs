//! What a barrier costs with several tasks per core, and what a program that hardly synchronises does not pay.

use crate::support::{Trial, shelf};

/// Barriers of a run.
const COUNT: u64 = 400;

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
    // log2(16 k) rounds, each the rotation of k - 1 others at a poll, a yield and a switch, 1.3 us. Alone: 4 rounds of a
    // cache line and a cycle of poll and yield.
    for (us, expected) in measured.iter().zip([1.4, 9.0, 26.0, 63.0]) {
        let ratio = us / expected;
        assert!((1.0 / 1.5..=1.5).contains(&ratio), "{measured:.2?} us, expected about 1.4, 9, 26, 63");
    }
}

#[test]
fn probe() {
 for count in [100, 400, 2000, 10000, 40000] { for y in [0,1] {
 let lat = |runtime: &str, k: u32| { let t = Trial::on("barcelona").kernel(&[("yield", y)]).policy("PIN", &[]);
   (t.clone().app(shelf("barriers", &[("count", count)], runtime, 16*k)).seconds() - t.app(shelf("barriers", &[("count", 1)], runtime, 16*k)).seconds())/(count-1) as f64*1e6 };
 for k in [2,3,4,5,6,8] { let (a,b)=(lat("upc",k),lat("mpi",k)); eprintln!("{count} yield {y} k {k}: {a:.2} {b:.2} {:.2}", b/a); } } }
}

#[test]
fn processes_pay_more_than_threads() {
    for k in [2, 4, 8] {
        let (threads, processes) = (latency("upc", k), latency("mpi", k));
        // Each switch costs 1.6 instead of 0.8 us, each cycle 2.1 instead of 1.3 us.
        let ratio = processes / threads;
        assert!((1.3..1.9).contains(&ratio), "{k} per core: {threads:.2} us, {processes:.2} us");
    }
    // Alone on its core a task never switches.
    let (threads, processes) = (latency("upc", 1), latency("mpi", 1));
    assert!((processes / threads - 1.0).abs() < 0.01, "{threads} us, {processes} us");
}

/// Time of EP at eight threads per core over that at one, on Barcelona, pinned.
fn ep(class: u64, yield_mode: u64) -> f64 {
    let time = |per_core: u32| {
        let ep = shelf("npb", &[("benchmark", 2), ("class", class)], "upc", 16 * per_core);
        Trial::on("barcelona").kernel(&[("yield", yield_mode)]).policy("PIN", &[]).app(ep).seconds()
    };
    time(8) / time(1)
}

#[test]
fn ep_at_eight_threads_per_core_takes_the_time_of_one() {
    for class in [2, 3, 4] {
        let ratio = ep(class, 1);
        assert!((ratio - 1.0).abs() < 0.01, "class {class}: {ratio}");
    }
}

#[test]
fn under_the_default_yield_fairness_to_waiters_costs_ep_something() {
    // A waiter that has run less than its peers (its own work was shorter, or it was forked at an earlier virtual time)
    // polls until it has caught up with them before any of them runs again. The longer the program, the less.
    let (b, c) = (ep(3, 0), ep(4, 0));
    assert!(1.0 < c && c < b && b < 1.25, "class B {b}, class C {c}");
}
