//! Random programs whose tasks share jobs: pools with any rules, and graphs of any shape.

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use sim_core::ids::{LockId, PoolId, ProfileId};
use sim_core::program::{
    Job, JobEnd, JobQueues, Op, Pool, PoolRules, Program, Quantiles, Roots, Spread, Victims,
};
use sim_core::rng::{Purpose, stream};
use sim_core::time::{Span, Work};

use super::{Small, added, profile, spread};

/// Gives the tasks of a scenario programs that work in one or two pools, alone or together with those of the
/// other applications.
#[must_use]
pub fn with_pools(mut small: Small, seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 60);
    let step = [1, 1, 500, 2_000][rng.random_range(0..4)];
    let pools = rng.random_range(1..=2);
    small.objects.pools = (0..pools).map(|_| pool(&mut rng, step)).collect();
    for (number, app) in small.apps.iter_mut().enumerate() {
        let profiles = vec![profile(&mut rng), profile(&mut rng)];
        let mut ops = vec![Op::Repeat([0, 1, 4, 20][rng.random_range(0..4)])];
        for _ in 0..rng.random_range(1..=3) {
            ops.push(Op::Work(PoolId(rng.random_range(0..pools) as u32)));
            between(&mut rng, &mut ops, step);
        }
        ops.push(Op::End);
        let tables = vec![Quantiles::new(vec![0, 1 << 15, 3 << 16]).expect("in ascending order")];
        let program = Program::with(ops, profiles, tables, Vec::new());
        app.program = Arc::new(program.expect("the programs are legal"));
        app.lock = added::lock(&mut rng);
        app.background = number > 0 && rng.random_range(0..4) == 0;
    }
    small
}

/// What tasks do between two passes, if anything.
fn between(rng: &mut ChaCha8Rng, ops: &mut Vec<Op>, step: u64) {
    let span = Span::from_ns(rng.random_range(1..30_000_u64).div_ceil(step) * step);
    let compute = Op::Compute { work: Work::from_span(span), spread: Spread::NONE, profile: ProfileId(1) };
    match rng.random_range(0..8) {
        0 => ops.push(Op::Barrier),
        1 => ops.push(Op::Sleep { span, spread: Spread::NONE }),
        2 => {
            ops.push(Op::Serial { work: Work::from_span(span), spread: Spread::NONE, profile: ProfileId(0) });
        }
        3 => ops.extend([Op::Lock(LockId(0)), compute, Op::Unlock(LockId(0))]),
        4 => ops.push(Op::Exchange { shift: 1 }),
        5 => {}
        6 => ops.push(Op::Yield),
        _ => ops.push(compute),
    }
}

/// A pool of up to 24 jobs, each of which comes after some of those before it in a random order.
fn pool(rng: &mut ChaCha8Rng, step: u64) -> Pool {
    let count = rng.random_range(1..=24_usize);
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(rng);
    let mut next = vec![Vec::new(); count];
    // How many of the jobs before it a job comes after, in 1,000.
    let share = [0, 60, 200, 500][rng.random_range(0..4)];
    for (at, job) in order.iter().enumerate() {
        for before in &order[..at] {
            if rng.random_range(0..1_000) < share {
                next[*before].push(*job as u32);
            }
        }
    }
    let longest = [3_000, 20_000, 60_000][rng.random_range(0..3)];
    let mut job = |next| {
        let longest = longest_of(rng, longest);
        let ns = rng.random_range(0..=longest).div_ceil(step) * step;
        let drawn = if rng.random_range(0..3) == 0 { Spread::table(0) } else { spread(rng) };
        Job {
            work: Work::from_span(Span::from_ns(ns)),
            spread: if step > 1 { Spread::NONE } else { drawn },
            profile: ProfileId(rng.random_range(0..2)),
            next,
        }
    };
    let mut jobs: Vec<Job> = next.into_iter().map(&mut job).collect();
    // At least one of them has work.
    jobs[0].work = jobs[0].work.max(Work::from_span(Span::from_ns(step)));
    Pool { name: "pool".into(), jobs: jobs.into(), rules: rules(rng) }
}

/// A tenth of the jobs have no work.
fn longest_of(rng: &mut ChaCha8Rng, longest: u64) -> u64 {
    if rng.random_range(0..10) == 0 { 0 } else { longest }
}

fn rules(rng: &mut ChaCha8Rng) -> PoolRules {
    let mut end = || [JobEnd::Newest, JobEnd::Oldest][rng.random_range(0..2)];
    let (own, steal) = (end(), end());
    PoolRules {
        queues: if rng.random_range(0..3) == 0 { JobQueues::One } else { JobQueues::OnePerWorker },
        own,
        steal,
        victims: [Victims::Next, Victims::Random][rng.random_range(0..2)],
        roots: [Roots::First, Roots::InTurns][rng.random_range(0..2)],
    }
}
