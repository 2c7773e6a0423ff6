//! Random programs whose ranks tell each other in steps of collectives.

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::ids::ProfileId;
use sim_core::program::{Op, Partners, Program, Spread};
use sim_core::rng::{Purpose, stream};
use sim_core::time::{Span, Work};

use super::{Small, added, profile, spread};

/// Gives the tasks of a scenario programs of single steps and of whole collectives, with work between them.
#[must_use]
pub fn with_messages(mut small: Small, seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 61);
    let step = [1, 1, 500, 2_000][rng.random_range(0..4)];
    for (number, app) in small.apps.iter_mut().enumerate() {
        let profiles = vec![profile(&mut rng), profile(&mut rng)];
        let mut ops = vec![Op::Repeat([0, 3, 20, 40][rng.random_range(0..4)]), compute(&mut rng, step)];
        for _ in 0..rng.random_range(1..=4) {
            match rng.random_range(0..10) {
                0..=3 => ops.push(Op::Message(partners(&mut rng))),
                4 => {
                    let with = (partners(&mut rng), rng.random_range(0..2) == 0);
                    apart(&mut rng, &mut ops, with, step);
                }
                5 => collective(&mut rng, &mut ops, app.tasks, step),
                6 => ops.push(Op::Exchange { shift: rng.random_range(0..5) }),
                7 => ops.push([Op::Barrier, Op::Yield, Op::Respawn][rng.random_range(0..3)]),
                8 => ops.push(Op::Sleep { span: Span::from_ns(20_000), spread: Spread::NONE }),
                _ => ops.push(compute(&mut rng, step)),
            }
        }
        ops.push(Op::End);
        app.program = Arc::new(Program::new(ops, profiles).expect("the programs are legal"));
        app.lock = added::lock(&mut rng);
        app.background = number > 0 && rng.random_range(0..4) == 0;
    }
    small
}

fn partners(rng: &mut ChaCha8Rng) -> Partners {
    let bit = rng.random_range(0..4);
    match rng.random_range(0..6) {
        0 => Partners::Folded(rng.random_range(0..9)),
        1 => Partners::Up(bit),
        2 => Partners::Down(bit),
        3 => Partners::Fold,
        4 => Partners::Unfold,
        _ => Partners::Folded(1 << bit),
    }
}

/// All steps by which each rank of so many hears of all, now and then with work in each.
fn collective(rng: &mut ChaCha8Rng, ops: &mut Vec<Op>, ranks: u32, step: u64) {
    let doubling = (0..ranks.ilog2()).map(|round| Partners::Folded(1 << round));
    let up = (0..4).map(Partners::Up).chain((0..4).rev().map(Partners::Down));
    let steps: Vec<Partners> = if rng.random_range(0..2) == 0 {
        up.collect()
    } else {
        [Partners::Fold].into_iter().chain(doubling).chain([Partners::Unfold]).collect()
    };
    let works = rng.random_range(0..2) == 0;
    for with in steps {
        if works && rng.random_range(0..2) == 0 {
            apart(rng, ops, (with, true), step);
        }
        ops.push(Op::Message(with));
        if works {
            apart(rng, ops, (with, false), step);
        }
    }
}

/// Work of those that a step has a partner for on one side.
fn apart(rng: &mut ChaCha8Rng, ops: &mut Vec<Op>, (with, tells): (Partners, bool), step: u64) {
    ops.push(Op::Apart { with, tells, to: ops.len() as u16 + 2 });
    ops.push(compute(rng, step));
}

fn compute(rng: &mut ChaCha8Rng, step: u64) -> Op {
    let work = Work::from_span(Span::from_ns(rng.random_range(1..60_000_u64).div_ceil(step) * step));
    let profile = ProfileId(rng.random_range(0..2));
    Op::Compute { work, spread: if step == 1 { spread(rng) } else { Spread::NONE }, profile }
}
