//! What policies that know who waits can do: a directed yield passes a core on, and an idle core works for
//! somebody else.

use sim_core::account::Category;
use sim_core::ids::CpuId;
use sim_core::machine::CpuSet;
use sim_core::program::{AppSpec, Op};
use sim_core::time::Span;
use sim_core::wait::WaitMode;

use crate::support::{MS, SIXTEEN, Trial, app, compute, on_cpu, seconds};

/// Two spinning threads on one core with 50 barriers, each after a millisecond of work.
fn spinning_pair() -> AppSpec {
    let ops = vec![Op::Repeat(50), compute(Span::from_ms(1)), Op::Barrier, Op::End];
    on_cpu(0, app(2, ops, WaitMode::Spin))
}

#[test]
fn a_spinner_holds_its_core_for_a_slice_unless_it_yields_to_the_late_one() {
    let trial = |policy, debit| {
        Trial::on(SIXTEEN).kernel(&[("start_debit", debit)]).policy(policy, &[]).app(spinning_pair())
    };
    // Each slice of 50 ms, up to the tick after it, ends one barrier and begins the next: the rest of it is
    // spun away.
    let time = trial("LOAD", 0).seconds();
    assert!((50.0 * 0.050..51.0 * 0.052).contains(&time), "{time}");
    // Directed, the core changes hands after the millisecond: 2 ms of work per barrier, a switch and a call
    // for each.
    let report = trial("YIELD_TO", 0).run();
    let time = seconds(&report, 0);
    assert!((0.100..0.102).contains(&time), "{time}");
    let counters = report.apps[0].counters;
    assert!((50..=100).contains(&counters.yields), "{counters:?}");
    assert!(report.account().get(Category::Yield) > Span::ZERO);
    // Within the fairness of the queue: a new thread starts a slice behind, 50 ms, and a yield makes up for
    // one wake-up granularity of it, 25 ms. The first barrier has to wait for the rest.
    let time = trial("YIELD_TO", 1).seconds();
    assert!((time - 0.125).abs() < 0.002, "{time}");
}

#[test]
fn a_core_whose_tasks_wait_takes_one_from_a_crowded_core() {
    // Tasks of 10, 10, 30 and 30 ms, two per core, in turns of 0.1 ms. The first core is done after 20 ms,
    // when the others have 20 ms left each. Together they take 20 ms more, one after the other 40.
    let run = |grain: u64| {
        let mut four = app(4, vec![compute(Span::from_ms(10)), Op::Barrier], WaitMode::Block);
        four.rank_scale = vec![1_000, 1_000, 3_000, 3_000];
        four.allowed = Some(CpuSet::of([CpuId(0), CpuId(1)]));
        let trial = Trial::on(SIXTEEN).free().booted("round-robin", &[("quantum", MS / 10)]);
        let report = trial.policy("LEWI", &[("cost", 0), ("grain", grain)]).app(four).run();
        (seconds(&report, 0), report.apps[0].counters.migrations)
    };
    let (lent, moves) = run(0);
    let (kept, none) = run(10_000 * MS);
    assert!((lent - 0.040).abs() < 0.000_3, "{lent}");
    assert!((kept - 0.060).abs() < 0.000_3, "{kept}");
    // There, and home again when it waits itself.
    assert_eq!((moves, none), (2, 0));
}
