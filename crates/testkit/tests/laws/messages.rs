//! Steps of collectives: who waits for whom, and how many steps there are one after another.

use sim_core::account::Category;
use sim_core::ids::ProfileId;
use sim_core::program::{Op, Partners, Spread};
use sim_core::time::{Span, Work};
use sim_core::wait::WaitMode;

use crate::support::{SIXTEEN, Trial, app, compute};

/// Each rank has a core and polls.
fn on_cores(ranks: u32, ops: Vec<Op>) -> Trial {
    Trial::on(SIXTEEN).free().placed(0..ranks).app(app(ranks, ops, WaitMode::Spin))
}

/// The steps of a binomial tree of up to 16 ranks towards rank 0.
fn up() -> Vec<Op> {
    (0..4).map(|bit| Op::Message(Partners::Up(bit))).collect()
}

fn down() -> Vec<Op> {
    (0..4).rev().map(|bit| Op::Message(Partners::Down(bit))).collect()
}

/// Recursive doubling, with the ranks that are more than a power of two folded in.
fn doubling(ranks: u32) -> Vec<Op> {
    let rounds = (0..ranks.ilog2()).map(|round| Partners::Folded(1 << round));
    let steps = [Partners::Fold].into_iter().chain(rounds).chain([Partners::Unfold]);
    steps.map(Op::Message).collect()
}

#[test]
fn all_wait_for_a_late_root_that_tells_them_and_none_for_one_that_hears() {
    let late =
        Op::Serial { work: Work::from_span(Span::from_ms(1)), spread: Spread::NONE, profile: ProfileId(0) };
    for ranks in [2, 6, 8, 11, 16] {
        let spins = |steps: Vec<Op>| -> Vec<f64> {
            let report = on_cores(ranks, [vec![late], steps].concat()).run();
            let of = |cpu: u32| report.cpus[cpu as usize].get(Category::Spin).ns() as f64 / 1e6;
            (0..ranks).map(of).collect()
        };
        let hears = spins(up());
        assert!(hears.iter().all(|ms| *ms < 0.01), "{ranks}: {hears:?}");
        for steps in [down(), doubling(ranks)] {
            let tells = spins(steps);
            assert!(tells[0] < 0.01, "{ranks}: {tells:?}");
            assert!(tells[1..].iter().all(|ms| (0.99..1.01).contains(ms)), "{ranks}: {tells:?}");
        }
    }
}

#[test]
fn a_ring_takes_as_many_steps_as_ranks_and_doubling_their_logarithm() {
    // What a rank does behind each step it does before the next one, so the steps add up.
    let time = |ranks: u32, steps: Vec<Op>| {
        let each = steps.into_iter().flat_map(|step| [step, compute(Span::from_us(10))]);
        on_cores(ranks, each.collect()).seconds() * 1e6
    };
    for (ranks, rounds) in [(2, 1.0), (4, 2.0), (8, 3.0), (16, 4.0)] {
        let ring = vec![Op::Exchange { shift: 1 }; 2 * (ranks as usize - 1)];
        let ring = time(ranks, ring);
        assert!((ring / (10.0 * 2.0 * f64::from(ranks - 1)) - 1.0).abs() < 0.05, "{ranks}: {ring}");
        let doubled: Vec<Op> =
            (0..ranks.ilog2()).map(|round| Op::Message(Partners::Folded(1 << round))).collect();
        let doubled = time(ranks, doubled);
        assert!((doubled / (10.0 * rounds) - 1.0).abs() < 0.05, "{ranks}: {doubled}");
    }
}
