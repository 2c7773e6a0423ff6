//! Cores of different speeds under Linux 6.18: capacities without, priorities with a second hardware thread.

use sim_core::ids::CpuId;
use sim_core::program::{AppSpec, Op, Spread};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{MS, Trial, app, compute, hogs};

/// The words of `unequal_cores`.
const OFF: (&str, u64) = ("unequal_cores", 1);
const CAPACITY: (&str, u64) = ("unequal_cores", 2);
/// Two cores with two hardware threads, cpus 0 to 3, and two with one.
const HYBRID: &str = "package:1 cache:1 core:2 pu:2 + core:2";

/// A trial of 6.18 whose cores from this one on have half the speed; tasks begin on these cpus.
fn on(machine: &str, slow: u32, placed: &[u32]) -> Trial {
    Trial::on(machine).under("linux-6.18", &[]).slow_from(slow).placed(placed.iter().copied())
}

/// Computes and sleeps in turn, in milliseconds.
fn naps(works: u64, sleeps: u64) -> AppSpec {
    let nap = Op::Sleep { span: Span::from_ms(sleeps), spread: Spread::NONE };
    app(1, vec![Op::Repeat(100), compute(Span::from_ms(works)), nap, Op::End], WaitMode::Spin)
}

/// The cpus to which tasks were moved, and when the first was, in ms.
fn moved(trial: &Trial) -> (Vec<u32>, u64) {
    let (_, log) = trial.log();
    let moves: Vec<_> = log.moves().collect();
    (moves.iter().map(|(.., to)| to.0).collect(), moves.first().map_or(0, |(at, ..)| at.ns() / MS))
}

#[test]
fn a_task_too_large_for_its_core_goes_to_an_idle_faster_one() {
    for (slow, idle) in [(2, 0..2), (3, 0..3)] {
        let trial = on("core:4", slow, &[3]).app(hogs(1, 4_000)).until(1_000);
        let (to, at) = moved(&trial);
        assert!(to.len() == 1 && idle.contains(&to[0]), "{to:?}");
        // It uses more than four fifths of its core at once; an idle cpu is sent for at the tick after the
        // next but one, and balances at intervals of 4 ms.
        assert!(at <= 30, "after {at} ms");
        assert!(moved(&trial.policy("LOAD", &[OFF])).0.is_empty());
    }
}

#[test]
fn no_larger_core_helps_when_all_have_a_task_or_the_task_is_small() {
    let full = on("core:4", 2, &[0, 1, 2]).app(hogs(3, 4_000)).until(1_000);
    assert!(moved(&full).0.is_empty());
    // A millisecond of work takes two there: 40 % of the core.
    let small = on("core:4", 2, &[2]).app(naps(1, 3)).until(300);
    assert!(moved(&small).0.is_empty());
}

#[test]
fn four_long_tasks_follow_four_short_ones_to_the_fast_cores() {
    // 0.5 s on slow cores do a quarter of the work of 1 s; the rest takes 0.75 s.
    let trial = on("core:8", 4, &[0, 1, 2, 3, 4, 5, 6, 7]).app(hogs(4, 500)).app(hogs(4, 1_000));
    let report = trial.run();
    let long = crate::support::seconds(&report, 1);
    assert!((1.25..1.30).contains(&long), "{long} s");
    let off = trial.policy("LOAD", &[OFF]).run();
    assert!(crate::support::seconds(&off, 1) > 1.9);
}

#[test]
fn a_woken_task_looks_for_a_core_with_the_capacity_it_uses() {
    // It works for 16 ms of 20 on a slow core: more than four fifths of it, on any count.
    let trial = on("core:4", 2, &[2]).app(naps(8, 2)).until(400);
    let (_, log) = trial.log();
    let last = log.0.iter().rev().find_map(|(_, what)| match what {
        sim_core::observe::Observation::Running { cpu, .. } => Some(*cpu),
        _ => None,
    });
    assert!(last.is_some_and(|cpu| cpu < CpuId(2)), "{last:?}");
}

#[test]
fn idle_cores_of_higher_priority_take_tasks_where_cores_have_two_threads() {
    // Cpus 4 and 5 are slow cores of one thread.
    let trial = on(HYBRID, 2, &[4]).app(hogs(1, 4_000)).until(1_000);
    let (to, at) = moved(&trial);
    assert!(to.len() == 1 && to[0] < 4 && at <= 30, "{to:?} after {at} ms");
    // A fast core with a busy thread has no priority: two tasks stay apart on two kinds of cores.
    let busy = on(HYBRID, 2, &[0, 2, 4]).app(hogs(3, 4_000)).until(1_000);
    assert!(moved(&busy).0.is_empty());
    // Two tasks on one fast core: a slow idle core relieves it.
    let crowded = on(HYBRID, 2, &[0, 1, 2]).app(hogs(3, 4_000)).until(1_000);
    assert!(moved(&crowded).0.iter().all(|cpu| *cpu >= 4) && !moved(&crowded).0.is_empty());
}

#[test]
fn equal_cores_know_no_such_rules() {
    for machine in ["core:4", "package:2 core:4", "package:1 core:2 pu:2"] {
        let trial = on(machine, 64, &[]).app(hogs(5, 300)).app(naps(2, 1));
        let plain = trial.run();
        assert_eq!(trial.policy("LOAD", &[CAPACITY]).run(), plain, "{machine}");
    }
}
