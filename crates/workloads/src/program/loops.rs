//! Loops whose bodies can pass without taking time.

use sim_core::program::Op;
use sim_core::time::Span;

/// Whether a body of a loop can pass without taking time; `first`: the position of its first operation.
pub(super) fn passes_at_once(body: &[Op], first: usize) -> bool {
    let mut at_once = vec![false; body.len() + 1];
    at_once[0] = true;
    let set = |at_once: &mut Vec<bool>, to: usize| {
        if let Some(there) = at_once.get_mut(to) {
            *there = true;
        }
    };
    // The end of each loop inside, for those whose passes may all be taken.
    let end_of = |start: usize| {
        let mut depth = 0;
        for (at, op) in body.iter().enumerate().skip(start) {
            match op {
                Op::Repeat(_) | Op::RepeatShared(_) => depth += 1,
                Op::End if depth == 1 => return at,
                Op::End => depth -= 1,
                _ => {}
            }
        }
        body.len()
    };
    for (at, op) in body.iter().enumerate() {
        if !at_once[at] {
            continue;
        }
        match op {
            Op::Compute { work, .. } if work.raw() > 0 => {}
            Op::Sleep { span, .. } if *span > Span::ZERO => {}
            Op::Barrier
            | Op::TeamBarrier
            | Op::Respawn
            | Op::Yield
            | Op::Until { .. }
            | Op::Io { .. }
            | Op::Work(_) => {}
            Op::Jump(to) => set(&mut at_once, usize::from(*to) - first),
            Op::Branch { to, .. } | Op::Lead(to) | Op::Apart { to, .. } => {
                set(&mut at_once, usize::from(*to) - first);
                set(&mut at_once, at + 1);
            }
            Op::RepeatShared(_) => {
                set(&mut at_once, at + 1);
                set(&mut at_once, end_of(at) + 1);
            }
            _ => set(&mut at_once, at + 1),
        }
    }
    at_once[body.len()]
}
