//! Polling is free for the simulator, and the ways of waiting agree where they must.

use sim_core::outcome::RunReport;
use sim_core::program::{AppSpec, Op, Spread};
use sim_core::time::Span;
use sim_core::wait::{BarrierKind, WaitMode};

use crate::support::{Trial, WAITER, app, compute, on_cpu, waits};

/// A team in which rank 0 computes for `grain` before each barrier and all others only wait, yielding.
fn waiters(per_core: u32, grain: Span, barriers: u32) -> AppSpec {
    let tasks = 4 * per_core;
    let ops = vec![Op::Repeat(barriers), compute(grain), Op::Barrier, Op::End];
    let mut team = app(tasks, ops, WaitMode::Yield);
    team.rank_scale = (0..tasks).map(|rank| if rank == 1 { 1_000 } else { WAITER }).collect();
    team
}

/// Rank 1 shares its core with nobody, the others sit on the other three.
fn trial(per_core: u32, grain: Span, barriers: u32) -> Trial {
    // No balancing: its ticks are events of their own.
    let off = [("periodic", 0), ("newidle", 2), ("active", 0)];
    let others = (1..4 * per_core).map(|rank| if rank == 1 { 1 } else { [0, 2, 3][rank as usize % 3] });
    let placed = [0].into_iter().chain(others);
    Trial::on("package:1 core:4").policy("LOAD", &off).placed(placed).app(waiters(per_core, grain, barriers))
}

fn events_per_barrier(per_core: u32, grain: Span) -> f64 {
    // The difference of two runs: forking and the first turns do not count.
    let events = |barriers| trial(per_core, grain, barriers).run().events as f64;
    (events(60) - events(20)) / 40.0
}

#[test]
fn a_thousand_times_the_polls_cost_the_same_events() {
    let (short, long) = (Span::from_ms(1), Span::from_ms(1_000));
    let polls = |grain| trial(1, grain, 60).run().apps[0].counters.polls;
    assert!(polls(long) > 300 * polls(short), "{} and {} polls", polls(short), polls(long));
    let (few, many) = (events_per_barrier(1, short), events_per_barrier(1, long));
    assert!((few - many).abs() < 0.05 * few, "{few} events per barrier of 1 ms, {many} of 1 s");
}

#[test]
fn the_price_of_a_poll_does_not_change_the_events() {
    let events = |poll: u64| {
        let mut trial = trial(2, Span::from_ms(10), 100);
        trial.machine.costs.poll = Span::from_ns(poll);
        let report = trial.run();
        (report.events as f64, report.apps[0].counters.polls)
    };
    let (cheap, dear) = (events(10), events(2_000));
    assert!(cheap.1 > 2 * dear.1, "{cheap:?} {dear:?}");
    assert!((cheap.0 / dear.0 - 1.0).abs() < 0.05, "{cheap:?} {dear:?}");
}

#[test]
fn more_pollers_per_core_cost_two_events_each_per_barrier() {
    for per_core in [1, 2, 4, 8, 16] {
        let (short, long) = (Span::from_ms(10), Span::from_ms(1_000));
        let (few, many) = (events_per_barrier(per_core, short), events_per_barrier(per_core, long));
        assert!((few - many).abs() < 0.05 * few, "{per_core} per core: {few} at 10 ms, {many} at 1 s");
        let per_task = many / f64::from(4 * per_core);
        // The end of its thousandth of the work, and the sight of the release.
        assert!(
            (per_task - 2.0).abs() < 0.05,
            "{per_core} per core: {many} events per barrier, {per_task:.2} per task"
        );
    }
}

#[test]
fn a_core_of_pollers_costs_constant_events_per_change_from_outside() {
    // k tasks poll on cpu 0 for one that computes on cpu 1; a stranger wakes up on cpu 0 every 5 ms.
    let events = |pollers: u32| {
        let mut team = app(pollers + 1, vec![compute(Span::from_ms(2_000)), Op::Barrier], WaitMode::Yield);
        team.rank_scale = (0..=pollers).map(|rank| if rank == 1 { 1_000 } else { WAITER }).collect();
        let pause = Op::Sleep { span: Span::from_ms(5), spread: Spread::NONE };
        let ops = vec![Op::Repeat(0), pause, compute(Span::from_us(100)), Op::End];
        let mut stranger = on_cpu(0, app(1, ops, WaitMode::Block));
        stranger.background = true;
        let off = [("periodic", 0), ("newidle", 2), ("active", 0)];
        let trial = Trial::on("package:1 core:2").policy("LOAD", &off);
        let placed = (0..=pollers).map(|rank| u32::from(rank == 1));
        trial.placed(placed).app(team).app(stranger).run().events as f64 / (2_000.0 / 5.1)
    };
    let per_visit = [1, 2, 4, 8, 16, 32].map(events);
    assert!(per_visit.iter().all(|events| *events < 7.0), "events per visit: {per_visit:.2?}");
}

/// A team of uneven ranks, three per core, with many barriers.
fn team(wait: WaitMode, barrier: BarrierKind) -> AppSpec {
    let ops = vec![Op::Repeat(300), compute(Span::from_us(200)), Op::Barrier, Op::End];
    let mut team = app(12, ops, wait);
    team.runtime.barrier = barrier;
    team.rank_scale = (0..12).map(|rank| 500 + 97 * rank).collect();
    team
}

/// Alone on their cores, or three on each.
fn run(wait: WaitMode, barrier: BarrierKind, alone: bool) -> RunReport {
    let machine = if alone { "package:1 core:12" } else { "package:1 core:4" };
    Trial::on(machine).policy("PIN", &[]).app(team(wait, barrier)).run()
}

/// Everything but the number of events.
fn same(a: &RunReport, b: &RunReport) -> bool {
    let strip = |report: &RunReport| RunReport { events: 0, ..report.clone() };
    strip(a) == strip(b)
}

#[test]
fn spin_then_block_contains_its_extremes() {
    for barrier in [BarrierKind::Central, BarrierKind::Tree { arity: 4 }, BarrierKind::Dissemination] {
        for yielding in [false, true] {
            let block = |limit| WaitMode::SpinThenBlock { limit, yielding };
            let never = if yielding { WaitMode::Yield } else { WaitMode::Spin };
            // Three spinners per core would take slices for microseconds.
            let alone = !yielding;
            let ends = [(Span::MAX, never), (Span::ZERO, WaitMode::Block)];
            for (limit, twin) in ends {
                let (mine, theirs) = (run(block(limit), barrier, alone), run(twin, barrier, alone));
                assert!(
                    same(&mine, &theirs),
                    "{barrier:?}, limit {limit:?}: {:?} {:?}",
                    mine.apps,
                    theirs.apps
                );
            }
            let middle = run(block(Span::from_us(20)), barrier, alone);
            for (_, twin) in ends {
                assert_ne!(middle.digest, run(twin, barrier, alone).digest, "{barrier:?}");
            }
        }
    }
}

#[test]
fn who_waits_awake_hurts_whom_it_waits_for() {
    let time = |wait| {
        let mut trial =
            Trial::on("package:1 core:4").policy("PIN", &[]).app(team(wait, BarrierKind::Central));
        trial.apps[0].runtime = waits(wait);
        trial.seconds()
    };
    let (spin, yields, block) = (time(WaitMode::Spin), time(WaitMode::Yield), time(WaitMode::Block));
    assert!(spin > 20.0 * yields, "spinning {spin} s, yielding {yields} s");
    assert!(block < 1.5 * yields, "blocking {block} s, yielding {yields} s");
}
