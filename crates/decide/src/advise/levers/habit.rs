//! What manuals recommend.

use sim_core::machine::Machine;

use super::{Choice, Effect, Layout, Lever, Program, hybrid, one_per_core};

/// The usual habit, where it is another setting than what is there: one task for each core that a program may
/// use, bound far apart, as manuals of computing centres and of OpenMP recommend, and processes with threads
/// each in a block of cores (one process for each piece of the machine, its threads close); all else as it
/// is.
#[must_use]
pub fn habit(machine: &Machine, programs: &[Program], levers: &[Lever]) -> Option<Choice> {
    let blocks = programs.iter().any(hybrid::is_hybrid);
    let layout = if blocks { Layout::Blocks } else { Layout::Spread };
    let mut choice = vec![0; levers.len()];
    for (lever, at) in levers.iter().zip(&mut choice) {
        let own = programs.iter().find(|program| lever.app.as_ref() == Some(&program.name));
        let cores = own.map(|program| one_per_core(machine, &program.cpus).len() as u32);
        let usual = |effect: &Effect| match effect {
            Effect::Threads(count) => Some(*count) == cores,
            Effect::Ranks(count, threads) => {
                let now = own.map_or(1, |program| program.team.max(1));
                Some(count * threads) == cores && *threads == now
            }
            Effect::Bound(known) => *known == layout,
            _ => false,
        };
        *at = lever.values.iter().position(|value| usual(&value.effect)).unwrap_or(0);
    }
    choice.iter().any(|at| *at > 0).then_some(choice)
}
