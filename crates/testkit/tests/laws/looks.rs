//! Waiters that look often before they yield, and runtimes that switch yields off now and then.

use sim_core::program::{AppSpec, Op};
use sim_core::time::Span;
use sim_core::wait::{Polling, PollsPerYield, WaitMode, YieldCycle};

use crate::support::{SIXTEEN, Trial, WAITER, app, compute, on_cpu, seconds};

/// Nemesis: 1,000 looks of 600 ns before a yield.
const MANY: PollsPerYield = PollsPerYield { count: 1_000, each: Span::from_ns(600) };

/// The same program with other looks, or a clock of yields.
fn polling(polling: Polling, mut app: AppSpec) -> AppSpec {
    app.runtime.polling = polling;
    app
}

/// A yield puts its caller behind the others, and nothing but looks costs time.
fn posix() -> Trial {
    Trial::on(SIXTEEN).kernel(&[("yield", 1)]).free()
}

#[test]
fn a_waiter_alone_sees_the_flag_at_the_end_of_a_look_and_never_switches() {
    // Rank 1 waits from 1 us on for rank 0, which computes for 1 ms. Ticks take nothing. The look that ends
    // 1,666 x 600 ns later is the first to end after the flag is set; before it there was one yield.
    let run = |looks| {
        let mut pair = app(2, vec![compute(Span::from_ms(1)), Op::Exchange { shift: 1 }], WaitMode::Yield);
        pair.rank_scale = vec![1_000, WAITER];
        let pair = polling(Polling { message_looks: looks, ..Polling::PLAIN }, pair);
        posix().placed([0, 1]).app(pair).run()
    };
    let report = run(MANY);
    let counters = report.apps[0].counters;
    assert!((seconds(&report, 0) - 1_000.6e-6).abs() < 0.3e-6, "{}", seconds(&report, 0));
    assert_eq!((counters.yields, counters.voluntary_switches), (1, 2), "each task leaves once, at its end");
    // A look of 100 ns: a yield after each.
    let often = run(PollsPerYield { count: 1, each: Span::from_ns(100) }).apps[0].counters.yields;
    assert!((9_900..10_000).contains(&often), "{often}");
}

#[test]
fn a_waiter_holds_its_core_for_all_its_looks() {
    // Two ranks take turns on one core. In a turn a rank finds the message of the interval before and that
    // of the next one, so it computes twice, sends twice, and polls 1,000 times without success before it
    // yields.
    let ops = || vec![Op::Repeat(100), compute(Span::from_us(100)), Op::Exchange { shift: 1 }, Op::End];
    let run = |message_looks| {
        let pair = polling(Polling { message_looks, ..Polling::PLAIN }, app(2, ops(), WaitMode::Yield));
        posix().app(on_cpu(0, pair)).seconds()
    };
    let (plain, many) = (run(PollsPerYield::ONE), run(MANY));
    assert!((plain - 0.020).abs() < 0.000_1, "{plain}");
    assert!((many - (0.020 + 100.0 * 600e-6)).abs() < 0.002, "{many}");
    // At a barrier these looks do not count.
    let ops = vec![Op::Repeat(100), compute(Span::from_us(100)), Op::Barrier, Op::End];
    let pair = app(2, ops, WaitMode::Yield);
    let pair = polling(Polling { message_looks: MANY, ..Polling::PLAIN }, pair);
    let time = posix().app(on_cpu(0, pair)).seconds();
    assert!((time - 0.020).abs() < 0.000_1, "{time}");
}

#[test]
fn while_yields_are_off_a_waiter_holds_its_core_for_a_slice() {
    // Two tasks on a core, 1 ms of work before each of 1,000 barriers: 2 s while they yield. While yields are
    // off, in the first 200 ms, each slice of 50 ms, up to the tick after it, ends one barrier and begins the
    // next: 4 barriers or one less. The others follow at 2 ms each.
    let ops = || vec![Op::Repeat(1_000), compute(Span::from_ms(1)), Op::Barrier, Op::End];
    let run = |cycle, apart: bool| {
        let pair = polling(Polling { cycle, ..Polling::PLAIN }, app(2, ops(), WaitMode::Yield));
        let trial = Trial::on(SIXTEEN).kernel(&[("yield", 1), ("start_debit", 0)]);
        if apart { trial.placed([0, 1]).app(pair) } else { trial.app(on_cpu(0, pair)) }.seconds()
    };
    let (on, off) = (Span::from_ms(2_000), Span::from_ms(200));
    let cycle = Some(YieldCycle { on, off, random: false });
    let (always, cycled) = (run(None, false), run(cycle, false));
    assert!((always - 2.0).abs() < 0.02, "{always}");
    let gained = cycled - always;
    assert!((0.190..0.197).contains(&gained), "{cycled} and {always}");
    // A random phase of a cycle of two long parts: the whole run lies in one of them.
    let long = Span::from_ms(1_000_000);
    let half = |seed| {
        let cycle = Some(YieldCycle { on: long, off: long, random: true });
        let pair = polling(Polling { cycle, ..Polling::PLAIN }, app(2, ops(), WaitMode::Yield));
        let trial = Trial::on(SIXTEEN).kernel(&[("yield", 1), ("start_debit", 0)]).seed(seed);
        trial.app(on_cpu(0, pair)).seconds() > 40.0
    };
    let slow = (0..20).filter(|seed| half(*seed)).count();
    assert!((4..=16).contains(&slow), "{slow} of 20 runs without yields");
    // With a cpu for each task yields change nothing.
    let (always, cycled) = (run(None, true), run(cycle, true));
    assert!((cycled / always - 1.0).abs() < 1e-3, "{cycled} and {always}");
}
