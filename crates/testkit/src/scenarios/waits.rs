//! Operations that wait under runtimes of their own, and parts for the first threads of teams.

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::program::{AppSpec, Op, Program, Runtime};
use sim_core::rng::{Purpose, stream};

use super::{Small, polling, runtime};

/// Gives each application one to three more runtimes, under which two thirds of its operations that wait do
/// so, and a half of those without jumps teams with parts for their first threads.
#[must_use]
pub fn with_own_runtimes(mut small: Small, seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 53);
    small.apps.iter_mut().for_each(|app| wait_by(&mut rng, app));
    small
}

fn wait_by(rng: &mut ChaCha8Rng, app: &mut AppSpec) {
    let program = &app.program;
    let jumps = program.ops().iter().any(|op| matches!(op, Op::Branch { .. } | Op::Jump(_)));
    let (profiles, changes) = (|| program.profiles().to_vec(), || program.changes().to_vec());
    let mut ops = program.ops().to_vec();
    if !jumps && rng.random_range(0..2) == 0 {
        let with_leads = led(rng, &ops);
        // Not where the others would go around a loop in no time.
        if Program::with(with_leads.clone(), profiles(), program.tables().to_vec(), changes()).is_ok() {
            app.team = if app.team == 0 { rng.random_range(2..=3) } else { app.team };
            app.teams_share = rng.random_range(0..2) == 0;
            ops = with_leads;
        }
    }
    let own = rng.random_range(1..=3_u8);
    app.own_runtimes = (0..own).map(|_| Runtime { polling: polling(rng), ..runtime(rng) }).collect();
    let by = ops.iter().map(|op| if op.waits() { rng.random_range(0..=own) } else { 0 }).collect();
    let changed = Program::with(ops, profiles(), program.tables().to_vec(), changes());
    let changed = changed.and_then(|program| program.waiting(by));
    app.program = Arc::new(changed.expect("it was legal before"));
}

/// Some computations are for the first thread of each team alone.
fn led(rng: &mut ChaCha8Rng, ops: &[Op]) -> Vec<Op> {
    let mut all = Vec::new();
    for op in ops {
        if matches!(op, Op::Compute { .. }) && rng.random_range(0..3) == 0 {
            all.push(Op::Lead(all.len() as u16 + 2));
        }
        all.push(*op);
    }
    all
}
