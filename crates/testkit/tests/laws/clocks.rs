//! Clocks that follow what cpus use (schedutil): the series of the averages worked out on paper. Half of a
//! utilisation is left after 32 periods of 1.024 ms, of the time at full clock; the clock is 5/4 of it.

use sim_core::machine::{Clocks, Governor};
use sim_core::program::{AppSpec, Op, Scheduling, Spread};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{Trial, app, compute, hogs, on_cpu, seconds};

/// The half-life, ms.
const HALF: f64 = 32.768;

/// Free cores of one package whose clock is at least this part of the highest one, in thousandths.
fn governed(lowest: u32, shared: bool) -> Trial {
    let mut trial = Trial::on("package:1 core:2").free();
    let rate_limit = Span::ZERO;
    trial.machine.clocks = Clocks { governor: Governor::Schedutil, lowest, shared, rate_limit };
    trial
}

/// So many rounds of computing and sleeping.
fn rounds(count: u32, computes: u64, sleeps: u64) -> Vec<Op> {
    let nap = Op::Sleep { span: Span::from_us(sleeps), spread: Spread::NONE };
    vec![Op::Repeat(count), compute(Span::from_us(computes)), nap, Op::End]
}

fn thinker(count: u32, computes: u64, sleeps: u64) -> AppSpec {
    on_cpu(0, app(1, rounds(count, computes, sleeps), WaitMode::Block))
}

/// Within so many ms of what is expected: the clock is set at ticks, a period at a time.
fn close(found: f64, expected: f64, within: f64) {
    let late = found * 1e3 - expected;
    assert!((-0.1..within).contains(&late), "{} ms, not {expected} to {}", found * 1e3, expected + within);
}

#[test]
fn a_new_hog_reaches_full_speed_by_the_series() {
    // It begins with half of the cpu (`post_init_entity_util_avg`), at 5/8 of the clock. The speed r is 5/4
    // of its use u, which follows du/dt = r (1 - u) ln 2 / half-life: from 1/2 to 4/5 in 0.8 half-lives x
    // log2 4.
    let reaches = 0.8 * HALF * 2.0;
    // Up to there it has done what halves 1 - u, from 1/2 to 1/5.
    let done = HALF * 2.5_f64.log2();
    let hog = governed(100, false).app(on_cpu(0, hogs(1, 200)));
    close(hog.seconds(), 200.0 - done + reaches, 1.5);
    let mut plain = hog;
    plain.machine.clocks.governor = Governor::Performance;
    close(plain.seconds(), 200.0, 0.01);
}

#[test]
fn a_hog_that_was_expected_to_do_little_begins_with_the_lowest_clock() {
    // Twenty short runs: what is expected of the task falls by a quarter at each, to less than a hundredth.
    let mut ops = rounds(20, 20, 100_000);
    ops.push(compute(Span::from_ms(300)));
    let hog = governed(500, false).app(on_cpu(0, app(1, ops, WaitMode::Block)));
    // At the lowest clock, 1/2, up to a use of 2/5; from there as above, up to 4/5.
    let slow = HALF * (1.0_f64 / 0.6).log2() / 0.5;
    let faster = 0.8 * HALF * (4.0_f64 * 0.6 / 0.4).log2();
    let expected = 20.0 * 100.02 + 300.0 + slow + faster - HALF * 5.0_f64.log2();
    // Each short run takes up to 20 us more.
    close(hog.seconds(), expected, 2.5);
    // A real-time task has the highest clock at once.
    let mut real_time = hog.booted("linux-6.18", &[]);
    real_time.apps[0].scheduling = Scheduling::Fifo(1);
    close(real_time.seconds(), 20.0 * 100.02 + 300.0, 0.5);
}

/// The time in ms of a round of computing and sleeping, once the clock has settled: what a thousand more
/// take.
fn round(trial: &Trial, computes: u64) -> f64 {
    let time = |count| {
        let mut trial = trial.clone();
        trial.apps.insert(0, thinker(count, computes, 200));
        seconds(&trial.run(), 0)
    };
    time(2_000) - time(1_000)
}

#[test]
fn a_program_that_sleeps_between_its_work_stretches_it_to_four_sleeps() {
    // Work W at speed r and a sleep S use u = W / (W/r + S) of the full clock, and r = 5u/4 has the solution
    // r = W / 4S: a round takes 5S, whatever the work, while r is between the lowest and the highest clock.
    for computes in [300, 400, 600] {
        let round = round(&governed(100, false), computes);
        assert!((round - 1.0).abs() < 0.025, "{computes} us of work: a round of {round} ms");
    }
    // More work than four sleeps is at full clock.
    let round = round(&governed(100, false), 1_000);
    assert!((round - 1.2).abs() < 0.02, "{round}");
}

#[test]
fn cores_of_one_clock_have_the_highest_that_one_asks_for() {
    let beside = |shared: bool| round(&governed(100, shared).app(on_cpu(1, hogs(1, 3_000))), 400);
    // 5 x 0.2 ms a round with a clock of its own, 0.4 + 0.2 ms beside a hog.
    let (own, shared) = (beside(false), beside(true));
    assert!((own - 1.0).abs() < 0.025 && (shared - 0.6).abs() < 0.01, "{own} and {shared}");
}
