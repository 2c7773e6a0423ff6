//! Two programs on the same cpus: turns of gangs, mixed queues, partitions.

use sim_core::ids::ProfileId;
use sim_core::program::{AppSpec, Op, Spread};
use sim_core::time::{Span, Work};
use sim_core::wait::WaitMode;

use crate::support::{Trial, app, compute, hogs, registry, seconds};

const MACHINE: &str = "package:2 core:2";
const DEFAULT: u64 = 0;
const POSIX: u64 = 1;

/// A program of four tasks with a barrier every half millisecond or so.
fn fine(barriers: u32, wait: WaitMode) -> AppSpec {
    let work = Work::from_span(Span::from_us(500));
    let piece = Op::Compute { work, spread: Spread(6_554), profile: ProfileId(0) };
    app(4, vec![Op::Repeat(barriers), piece, Op::Barrier, Op::End], wait)
}

/// Times of two programs together on four cpus, each over that of the first alone and pinned.
fn slowdowns(policy: &'static str, yield_mode: u64, first: &AppSpec, second: &AppSpec) -> [f64; 2] {
    let trial = Trial::on(MACHINE).kernel(&[("yield", yield_mode)]);
    let alone = trial.clone().policy("PIN", &[]).app(first.clone()).seconds();
    let report = trial.policy(policy, &[]).app(first.clone()).app(second.clone()).run();
    [seconds(&report, 0) / alone, seconds(&report, 1) / alone]
}

#[test]
fn gangs_take_turns() {
    for wait in [WaitMode::Spin, WaitMode::Yield] {
        let fine = fine(8_000, wait);
        let both = slowdowns("gang", DEFAULT, &fine, &fine);
        assert!(both.iter().all(|times| (1.9..2.1).contains(times)), "{wait:?}: {both:?}");
    }
}

#[test]
fn in_mixed_queues_spinners_stall_each_other_and_yielders_use_what_the_others_wait() {
    for policy in ["LOAD", "PIN"] {
        // A spinning waiter keeps the cpu from whom it waits for, for a slice at a time.
        let spinning = fine(1_000, WaitMode::Spin);
        let both = slowdowns(policy, DEFAULT, &spinning, &spinning);
        assert!(both.iter().all(|times| *times > 20.0), "{policy}: spinning {both:?}");
        // Two programs that both yield change places at each barrier: the time one waits, the other works, so
        // that each takes a little less than twice its time. Gangs have no advantage then.
        for mode in [DEFAULT, POSIX] {
            for wait in [WaitMode::Yield, WaitMode::Block] {
                let fine = fine(8_000, wait);
                let both = slowdowns(policy, mode, &fine, &fine);
                let about = format!("{policy}, {wait:?}, yield mode {mode}: {both:?}");
                assert!(both.iter().all(|times| (1.7..2.0).contains(times)), "{about}");
            }
        }
    }
}

#[test]
fn beside_a_program_that_only_computes_a_fine_one_needs_a_gang_or_sleep() {
    let coarse = hogs(4, 200_000);
    let beside = |policy, mode, wait| slowdowns(policy, mode, &fine(2_000, wait), &coarse)[0];
    // A slot each.
    let gang = beside("gang", POSIX, WaitMode::Yield);
    assert!((1.8..2.2).contains(&gang), "gang: {gang}");
    // Behind the hog at each yield: about one barrier per slice of the hog, 31 ms on four cpus.
    let posix = beside("PIN", POSIX, WaitMode::Yield);
    assert!((25.0..65.0).contains(&posix), "posix yield: {posix}");
    // Half of each cpu, but seldom the same half on all four.
    let default = beside("PIN", DEFAULT, WaitMode::Yield);
    assert!(default > 8.0, "default yield: {default}");
    // Sleepers get their credit, and pre-empt the hogs as long as they use less than their half.
    let block = beside("PIN", DEFAULT, WaitMode::Block);
    assert!(block < default / 2.0 && block < posix / 2.0, "block: {block}");
}

#[test]
fn partitions_isolate() {
    // Two tasks per cpu of its package, whatever runs on the other one.
    let mine = || fine(8_000, WaitMode::Yield);
    let neighbours = [
        fine(100, WaitMode::Spin),
        hogs(7, 9_000),
        registry("hog", &[("work", 5_000_000_000), ("demand", 4_000_000_000)], "spin", 4),
        app(4, vec![Op::Repeat(5_000), compute(Span::from_us(900)), Op::Barrier, Op::End], WaitMode::Block),
    ];
    let times: Vec<u64> = neighbours
        .into_iter()
        .map(|other| {
            let trial = Trial::on(MACHINE).policy("PARTITION", &[]).app(mine()).app(other);
            trial.run().apps[0].run_time().unwrap().ns()
        })
        .collect();
    assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
    // Shared, the neighbours matter.
    let shared =
        |other: AppSpec| Trial::on(MACHINE).app(mine()).app(other).run().apps[0].run_time().unwrap().ns();
    assert!(shared(hogs(7, 9_000)) > shared(fine(100, WaitMode::Spin)) * 11 / 10);
}
