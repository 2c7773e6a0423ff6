//! Two programs on the same cpus: turns of gangs, mixed queues, partitions.

use sim_core::program::{AppSpec, Op, Spread};
use sim_core::ids::ProfileId;
use sim_core::time::{Span, Work};
use sim_core::wait::WaitMode;

use crate::support::{Trial, app, seconds};

/// A program of four tasks with a barrier every half millisecond or so, 10 s in all.
fn fine(wait: WaitMode) -> AppSpec {
    let work = Op::Compute {
        work: Work::from_span(Span::from_us(500)),
        spread: Spread(6_554),
        profile: ProfileId(0),
    };
    app(4, vec![Op::Repeat(20_000), work, Op::Barrier, Op::End], wait)
}

/// Time of each of two such programs on four cpus over that of one alone under the same policy.
fn slowdowns(policy: &'static str, wait: WaitMode, yield_mode: u64) -> [f64; 2] {
    let trial = Trial::on("package:2 core:2").kernel(&[("yield", yield_mode)]);
    let alone = trial.clone().policy("PIN", &[]).app(fine(wait)).seconds();
    let report = trial.policy(policy, &[]).app(fine(wait)).app(fine(wait)).run();
    [seconds(&report, 0) / alone, seconds(&report, 1) / alone]
}

#[test]
fn gangs_take_turns() {
    for wait in [WaitMode::Spin, WaitMode::Yield] {
        let both = slowdowns("gang", wait, 0);
        println!("gang {wait:?} {both:?}");
        assert!(both.iter().all(|times| (1.9..2.1).contains(times)), "{wait:?}: {both:?}");
    }
}

#[test]
fn mixed_queues_are_worse_than_turns_for_fine_grained_programs() {
    for policy in ["LOAD", "PIN"] {
        for wait in [WaitMode::Spin, WaitMode::Yield, WaitMode::Block] {
            for mode in [0, 1] {
                println!("{policy} {wait:?} {mode} {:?}", slowdowns(policy, wait, mode));
            }
        }
    }
}

#[test]
fn partitions_isolate() {
    let trial = Trial::on("package:2 core:2").policy("PARTITION", &[]);
    let fine = || fine(WaitMode::Yield);
    let pair = trial.clone().app(fine()).app(fine()).run();
    println!("partition {} {}", seconds(&pair, 0), seconds(&pair, 1));
}
