//! Cores: hardware threads share one, packages clock up while cores idle, and not all cores are alike.

use std::sync::Arc;

use sim_core::account::Category;
use sim_core::ids::CpuId;
use sim_core::machine::{CpuSet, Smt};
use sim_core::program::{AppSpec, MemoryProfile, Op, Program};
use sim_core::time::{Span, Speed};
use sim_core::wait::{Polling, WaitMode, YieldCycle};

use crate::memory::second;
use crate::support::{Trial, WAITER, app, compute, hogs, on_cpu, seconds};

const TWO_CORES: &str = "package:1 core:2 pu:2";
const CORE: u64 = 15_000_000_000;

fn near(found: f64, law: f64) {
    assert!((found / law - 1.0).abs() < 0.001, "{found} s, not {law}");
}

/// Run times of these applications on two cores of two threads each; of two threads that compute 0.6 are
/// left, of two that wait for memory 0.9, beside one that polls 0.8.
fn threads(apps: Vec<AppSpec>) -> (Vec<f64>, u64) {
    let mut trial = Trial::on(TWO_CORES).free();
    trial.machine.smt = Smt { compute: 600, memory: 900, poll: 800 };
    trial.machine.memory.core_bandwidth = CORE;
    trial.machine.memory.node_bandwidth = 0;
    trial.apps = apps;
    let report = trial.run();
    let smt = report.account().get(Category::Smt).ns();
    ((0..report.apps.len()).map(|i| seconds(&report, i)).collect(), smt)
}

/// A second of memory-bound work that draws this much.
fn stream(cpu: u32, demand: u64) -> AppSpec {
    second(cpu, MemoryProfile { demand, bound: Some(1 << 16), ..MemoryProfile::NONE })
}

#[test]
fn threads_of_a_core_slow_each_other_by_what_they_do() {
    let (apart, smt) = threads(vec![on_cpu(0, hogs(1, 1_000)), on_cpu(2, hogs(1, 1_000))]);
    near(apart[0], 1.0);
    assert_eq!(smt, 0);
    let (compute_both, smt) = threads(vec![on_cpu(0, hogs(1, 1_000)), on_cpu(1, hogs(1, 1_000))]);
    near(compute_both[0], 1.0 / 0.6);
    near(smt as f64 / 2e9, 1.0 / 0.6 - 1.0);
    near(threads(vec![stream(0, 1_000), stream(1, 1_000)]).0[1], 1.0 / 0.9);
    // One of each: the mean.
    near(threads(vec![stream(0, 1_000), on_cpu(1, hogs(1, 1_000))]).0[0], 1.0 / 0.75);
}

#[test]
fn a_polling_thread_takes_a_little_of_its_sibling_and_a_yielding_one_more() {
    let mut pair = app(2, vec![compute(Span::from_ms(1_000)), Op::Barrier], WaitMode::Spin);
    pair.rank_scale = vec![1_000, WAITER];
    pair.allowed = Some(CpuSet::of([CpuId(0), CpuId(1)]));
    let mut trial = Trial::on(TWO_CORES).free().placed([0, 1]).app(pair);
    trial.machine.smt = Smt { compute: 600, memory: 900, poll: 800 };
    near(seconds(&trial.run(), 0), 1.0 / 0.8);
    // Kernel code has no `pause`: of a cycle of 100 ns of polling and 400 ns in the call, a fifth leaves 0.8
    // and four fifths leave 0.6, in the mean 0.64.
    trial.apps[0].runtime.wait = WaitMode::Yield;
    trial.machine.costs.poll = Span::from_ns(100);
    trial.machine.costs.yield_call = Span::from_ns(400);
    near(seconds(&trial.run(), 0), 1.0 / 0.64);
    // Beside work that waits for memory, kernel code leaves (0.6 + 0.9) / 2: 0.2 x 0.8 + 0.8 x 0.75 = 0.76.
    let waiting = MemoryProfile { demand: 1_000, bound: Some(1 << 16), ..MemoryProfile::NONE };
    let program = Program::new(vec![compute(Span::from_ms(1_000)), Op::Barrier], vec![waiting]);
    trial.apps[0].program = Arc::new(program.unwrap());
    near(seconds(&trial.run(), 0), 1.0 / 0.76);
    // Asleep it takes nothing, but for its own millisecond.
    trial.apps[0].runtime.wait = WaitMode::Block;
    assert!((seconds(&trial.run(), 0) - 1.0).abs() < 0.002);
}

#[test]
fn a_thread_whose_yields_are_off_now_and_then_takes_less_in_the_meantime() {
    let mut pair = app(2, vec![compute(Span::from_ms(1_000)), Op::Barrier], WaitMode::Yield);
    pair.rank_scale = vec![1_000, WAITER];
    pair.allowed = Some(CpuSet::of([CpuId(0), CpuId(1)]));
    let cycle = YieldCycle { on: Span::from_us(300), off: Span::from_us(100), random: false };
    pair.runtime.polling = Polling { cycle: Some(cycle), ..Polling::PLAIN };
    let mut trial = Trial::on(TWO_CORES).free().placed([0, 1]).app(pair);
    trial.machine.smt = Smt { compute: 600, memory: 900, poll: 800 };
    (trial.machine.costs.poll, trial.machine.costs.yield_call) = (Span::from_ns(100), Span::from_ns(400));
    // 0.64 in three quarters of the time, as above, and 0.8 in the fourth: 0.68.
    near(seconds(&trial.run(), 0), 1.0 / 0.68);
}

#[test]
fn a_sibling_that_ends_gives_the_core_back() {
    let (times, _) = threads(vec![on_cpu(0, hogs(1, 1_000)), on_cpu(1, hogs(1, 300))]);
    // 0.3 s of work at 0.6, then alone.
    near(times[1], 0.5);
    near(times[0], 0.5 + 0.7);
}

#[test]
fn threads_of_a_core_share_what_it_can_draw() {
    near(threads(vec![stream(0, CORE)]).0[0], 1.0);
    near(threads(vec![stream(0, CORE), stream(2, CORE)]).0[0], 1.0);
    // 0.9 of twice as long.
    near(threads(vec![stream(0, CORE), stream(1, CORE)]).0[0], 2.0 / 0.9);
    near(threads(vec![stream(0, CORE / 2), stream(1, CORE / 2)]).0[0], 1.0 / 0.9);
}

#[test]
fn a_package_clocks_up_while_cores_idle() {
    let run = |lengths: &[u64]| {
        let mut trial = Trial::on("package:2 core:4").free();
        trial.machine.turbo = vec![vec![1_500, 1_200, 1_000]];
        for (cpu, ms) in (0u32..).zip(lengths) {
            trial = trial.app(on_cpu(cpu, hogs(1, *ms)));
        }
        let report = trial.run();
        (0..lengths.len()).map(|i| seconds(&report, i)).collect::<Vec<_>>()
    };
    near(run(&[1_000])[0], 1.0 / 1.5);
    near(run(&[1_000; 2])[1], 1.0 / 1.2);
    near(run(&[1_000; 4])[3], 1.0);
    // The fifth cpu is on the other package.
    near(run(&[1_000; 5])[4], 1.0 / 1.5);
    // Beside one that ends after 0.5 s of work: 0.5 / 1.2 with it, the other half at 1.5.
    near(run(&[1_000, 500])[0], 0.5 / 1.2 + 0.5 / 1.5);
}

#[test]
fn each_kind_of_core_has_its_own_turbo_steps() {
    let run = |fast: u32, slow: u32| {
        let mut trial = Trial::on("package:1 core:4").free();
        let (big, little) = (Speed::NOMINAL, Speed::ratio(1, 2));
        trial.machine.core_speed = vec![big, big, little, little];
        trial.machine.turbo = vec![vec![1_500, 1_250], vec![2_000, 1_600]];
        for cpu in (0..fast).chain(2..2 + slow) {
            trial = trial.app(on_cpu(cpu, hogs(1, 1_000)));
        }
        let report = trial.run();
        (0..(fast + slow) as usize).map(|i| seconds(&report, i)).collect::<Vec<_>>()
    };
    near(run(1, 0)[0], 1.0 / 1.5);
    near(run(2, 0)[1], 1.0 / 1.25);
    near(run(0, 1)[0], 1.0 / (0.5 * 2.0));
    // Busy cores of the other kind do not count.
    let both = run(1, 1);
    near(both[0], 1.0 / 1.5);
    near(both[1], 1.0);
    // Of two slow cores neither is at its highest clock, whatever the fast ones do.
    let all = run(2, 2);
    near(all[0], 1.0 / 1.25);
    near(all[3], 1.0 / (0.5 * 1.6));
}

#[test]
fn cores_may_differ() {
    let mut trial = Trial::on("package:1 core:2").free();
    trial.machine.core_speed = vec![Speed::NOMINAL, Speed::ratio(1, 2)];
    let report = trial.app(on_cpu(0, hogs(1, 1_000))).app(on_cpu(1, hogs(1, 1_000))).run();
    near(seconds(&report, 0), 1.0);
    near(seconds(&report, 1), 2.0);
}
