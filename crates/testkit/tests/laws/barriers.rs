//! What a barrier costs with several tasks per core, and what a program that hardly synchronises does not
//! pay.

use sim_core::program::StartUp;
use sim_core::time::Span;
use sim_core::wait::Polling;

use crate::support::{Setting, Trial, registry, seconds};

/// Barriers of a run.
const COUNT: u64 = 400;
/// Barcelona's price of a poll, ns.
const POLL: u64 = 100;
/// Classes of the NAS benchmarks, as numbers of the registry's choices.
const A: u64 = 2;
const B: u64 = 3;
const C: u64 = 4;

/// Latency of a barrier in microseconds: barriers back to back on Barcelona, pinned, a poll taking `poll` ns.
fn latency(runtime: &str, per_core: u32, poll: u64) -> f64 {
    let barriers = |count: u64| {
        let mut app = registry("barriers", &[("count", count)], runtime, 16 * per_core);
        // All runtimes come up alike: barriers back to back keep the step they begin in.
        app.runtime.startup = StartUp::PLAIN;
        // The run is shorter than the first 200 ms, in which waiters of Intel's runtime do not yield.
        app.runtime.polling = Polling::PLAIN;
        app
    };
    // The time rank 0 needs to create the others does not count.
    let (app, start) = (barriers(COUNT), barriers(1));
    let mut trial = Trial::on("barcelona").policy("PIN", &[]);
    trial.machine.costs.poll = Span::from_ns(poll);
    (trial.clone().app(app).seconds() - trial.app(start).seconds()) / (COUNT - 1) as f64 * 1e6
}

#[test]
fn latency_grows_with_the_tasks_per_core() {
    let measured = [1, 2, 4, 8].map(|k| latency("upc", k, POLL));
    // log2(16 k) rounds, each the rotation of k - 1 others at a poll, a yield and a switch, 1.3 us. Alone: 4
    // rounds of a cache line and a cycle of poll and yield.
    for (us, expected) in measured.iter().zip([1.4, 9.0, 26.0, 63.0]) {
        let ratio = us / expected;
        assert!((1.0 / 1.5..=1.5).contains(&ratio), "{measured:.2?} us, expected about 1.4, 9, 26, 63");
    }
}

/// Latencies between processes over those between threads: the geometric mean over several prices of a poll.
/// One price alone says little: barriers back to back fall into step, and a round may take one rotation more
/// or less.
fn dearer(per_core: u32) -> f64 {
    let polls = [80, 90, 100, 110, 120];
    let ratios = polls.map(|poll| latency("mpi", per_core, poll) / latency("upc", per_core, poll));
    ratios.iter().product::<f64>().powf(1.0 / polls.len() as f64)
}

#[test]
fn processes_pay_more_than_threads() {
    for k in [2, 4, 8] {
        // A switch costs 1.6 instead of 0.8 us, a turn of switch, poll and yield 2.1 instead of 1.3 us.
        let ratio = dearer(k);
        assert!((1.5..2.1).contains(&ratio), "{k} per core: {ratio:.2}");
    }
    // Alone on its core a task never switches.
    let (threads, processes) = (latency("upc", 1, POLL), latency("mpi", 1, POLL));
    assert!((processes / threads - 1.0).abs() < 0.01, "{threads} us, {processes} us");
}

#[test]
fn a_barrier_grows_from_microseconds_to_tens_and_processes_pay_most() {
    for (runtime, few) in [("upc", 1.0..5.0), ("openmp", 1.0..8.0), ("yield", 1.0..8.0), ("mpi", 1.0..5.0)] {
        let measured = [1, 2, 4].map(|k| latency(runtime, k, POLL));
        assert!(few.contains(&measured[0]), "{runtime}: {measured:.1?} us");
        assert!(measured.is_sorted() && (10.0..100.0).contains(&measured[2]), "{runtime}: {measured:.1?} us");
    }
    for k in [2, 4] {
        let threads = ["upc", "openmp", "yield"].map(|runtime| latency(runtime, k, POLL));
        let processes = latency("mpi", k, POLL);
        assert!(
            threads.iter().all(|us| *us < processes),
            "{k} per core: {threads:.1?} against {processes:.1} us"
        );
    }
}

/// EP at one and at eight threads per core, on Barcelona, pinned: seconds from the first fork, and of the
/// section that it times itself, behind its first barrier.
fn ep(class: u64, kernel: &[Setting]) -> [(f64, f64); 2] {
    [1, 8].map(|per_core| {
        let ep = registry("npb", &[("benchmark", 2), ("class", class)], "upc", 16 * per_core);
        let mut trial = Trial::on("barcelona").kernel(kernel).policy("PIN", &[]).app(ep);
        // What page faults add to the start is another law's matter.
        (trial.machine.costs.page_fault, trial.machine.costs.fault_lock) = (Span::ZERO, Span::ZERO);
        let report = trial.run();
        let timed = report.apps[0].timed_run_time().unwrap();
        (seconds(&report, 0), timed.ns() as f64 / 1e9)
    })
}

/// Rank 0 creates 112 more threads, 50 us each.
const CREATING: f64 = 112.0 * 50e-6;

#[test]
fn ep_at_eight_threads_per_core_takes_the_time_of_one() {
    for (class, kernel) in [(A, &[][..]), (B, &[]), (C, &[]), (A, &[("yield", 1)]), (C, &[("yield", 1)])] {
        let [(_, one), (_, eight)] = ep(class, kernel);
        assert!((eight / one - 1.0).abs() < 0.01, "class {class}, {kernel:?}: {eight} s against {one} s");
    }
    // If waiting threads give way, it is all but the same from the first fork on, too.
    for class in [A, B, C] {
        let [(one, _), (eight, _)] = ep(class, &[("yield", 1)]);
        // All wait until rank 0 has created the others, and the last ones have touched their data.
        assert!((0.0..0.004).contains(&(eight - one - CREATING)), "class {class}, posix: {eight} s, {one} s");
    }
}

#[test]
fn what_ep_pays_for_eight_threads_per_core_is_a_matter_of_its_start() {
    // A thread is created on a core whose others sleep until all are there, so it begins a whole slice of one
    // task, the latency of 100 ms, ahead of the queue's minimum, which follows it. When all are woken, the
    // last one created stands there, and the seven others are put at most one latency behind it. At EP's
    // first barrier, behind which it starts its clock, these poll, with the default yield, until they have
    // caught up: 7 x 100 ms, however long the program.
    let extra = |class, kernel: &[Setting]| {
        let [(one, _), (eight, _)] = ep(class, kernel);
        eight - one - CREATING
    };
    let costs = [A, B, C].map(|class| extra(class, &[]));
    assert!(costs.iter().all(|s| (s / 0.7 - 1.0).abs() < 0.01), "{costs:?}");
    assert!((costs[2] - costs[0]).abs() < 0.005, "{costs:?}");
    // Without the debit all stand where the queue is, and no sleeper is further behind than it was.
    let undebited = extra(A, &[("start_debit", 0)]);
    assert!((0.0..0.06).contains(&undebited), "{undebited} s without the debit");
}
