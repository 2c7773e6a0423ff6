//! The schedulers that are written in Rust.

use scx::native::{Central, Llc, Simple};
use sim_core::ids::LockId;
use sim_core::machine::Level;
use sim_core::outcome::Outcome;
use sim_core::program::Op;

use crate::lab::{compute, counter, ends, machine, run, run_on, shares, sleep};

#[test]
fn two_hogs_have_a_cpu_each_on_four_cpus() {
    let hogs = || vec![("hog", 0, 1024, 2, vec![compute(500)])];
    for fifo in [true, false] {
        assert_eq!(ends(&run(4, Simple::new(fifo), hogs(), 10_000)), [500]);
    }
    // The central cpu learns at the first timer that another one is idle.
    assert_eq!(ends(&run(4, Central::default(), hogs(), 10_000)), [501]);
    assert_eq!(ends(&run(4, Llc::new(), hogs(), 10_000)), [500]);
}

#[test]
fn fifo_runs_one_slice_of_each_in_turn() {
    let apps = vec![
        ("a", 0, 1024, 1, vec![compute(50)]),
        ("b", 1, 1024, 1, vec![compute(10)]),
        ("c", 2, 1024, 1, vec![compute(30)]),
    ];
    assert_eq!(ends(&run(1, Simple::new(true), apps, 1_000)), [90, 30, 80]);
}

#[test]
fn vtime_shares_by_weight() {
    let apps = vec![("a", 0, 2048, 4, vec![compute(9_000)]), ("b", 0, 1024, 4, vec![compute(9_000)])];
    let shares = shares(&run(1, Simple::new(false), apps, 6_000));
    assert!(shares[..4].iter().all(|ms| ms.abs_diff(1_000) <= 40), "{shares:?}");
    assert!(shares[4..].iter().all(|ms| ms.abs_diff(500) <= 40), "{shares:?}");
}

#[test]
fn of_two_tasks_the_one_that_has_had_its_slice_goes_behind_the_other() {
    // A cpu looks for its next task before its last one is in the queue.
    let apps = vec![("a", 0, 2048, 1, vec![compute(9_000)]), ("b", 0, 1024, 1, vec![compute(9_000)])];
    assert_eq!(shares(&run(1, Simple::new(false), apps, 600)), [300, 300]);
    let apps = vec![("a", 0, 1024, 3, vec![compute(9_000)])];
    assert_eq!(shares(&run(2, Simple::new(false), apps, 60)), [40, 40, 40]);
}

#[test]
fn tasks_that_sleep_and_wake_get_all_their_work_done() {
    let phases = || (0..40).flat_map(|_| [compute(3), sleep(2)]).collect::<Vec<_>>();
    let apps = || vec![("naps", 0, 1024, 7, phases()), ("hog", 0, 1024, 2, vec![compute(300)])];
    let done = [vec![120; 7], vec![300; 2]].concat();
    assert_eq!(shares(&run(3, Simple::new(true), apps(), 5_000)), done);
    assert_eq!(shares(&run(3, Simple::new(false), apps(), 5_000)), done);
    assert_eq!(shares(&run(3, Central::default(), apps(), 5_000)), done);
    let caches = machine(&[(Level::Cache, 2), (Level::Core, 2), (Level::Thread, 2)]);
    assert_eq!(shares(&run_on(caches, Llc::new(), apps(), 5_000)), done);
}

#[test]
fn only_the_central_cpu_dispatches() {
    let apps = vec![("a", 0, 1024, 9, vec![compute(100)])];
    let report = run(4, Central::default(), apps, 10_000);
    assert_eq!(counter(&report, "dispatched_by_others"), 0);
    assert!(counter(&report, "dispatched_by_central") >= 9);
    // 900 ms of work on four cpus, and each task in turn.
    assert!(ends(&report)[0] <= 260, "{:?}", ends(&report));
}

#[test]
fn a_cpu_takes_tasks_of_other_caches_when_its_own_has_none() {
    let caches = machine(&[(Level::Cache, 2), (Level::Core, 2)]);
    let apps = vec![("a", 0, 1024, 8, vec![compute(90), compute(10)])];
    let report = run_on(caches, Llc::new(), apps, 10_000);
    assert!((200..=240).contains(&ends(&report)[0]), "{:?}", ends(&report));
}

#[test]
fn tasks_that_wait_for_each_other_for_ever_are_found() {
    // The watchdog looks only while a runnable task waits.
    let (one, other) = (Op::Lock(LockId(0)), Op::Lock(LockId(1)));
    let apps = vec![("a", 0, 1024, 3, vec![one, compute(3), other, compute(3), one])];
    let report = run(2, Simple::new(true), apps, 100_000);
    assert!(matches!(&report.outcome, Outcome::Deadlock(_)), "{:?}", report.outcome);
}
