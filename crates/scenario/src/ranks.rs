//! Weights and scheduling policies of the ranks of an application.

use sim_core::program::{AppSpec, Scheduling, WEIGHT_IDLE};

/// Gives the tasks of an application these load weights and scheduling policies, which ranks take in turn.
pub(crate) fn apply(spec: &mut AppSpec, weights: &[u32], scheduling: &[Scheduling]) {
    let tasks = spec.tasks as usize;
    let of_ranks = weights.iter().copied().cycle().zip(scheduling.iter().copied().cycle());
    let each = of_ranks.map(|(weight, scheduling)| match scheduling {
        Scheduling::Idle => WEIGHT_IDLE,
        _ => weight,
    });
    spec.weight = each.clone().next().unwrap_or(1024);
    let idle = |scheduling: &Scheduling| *scheduling == Scheduling::Idle;
    let several = weights.len() > 1 || scheduling.iter().any(idle);
    let several = several && !scheduling.iter().all(idle);
    spec.rank_weights = if several { each.take(tasks).collect() } else { Vec::new() };
    spec.scheduling = scheduling.first().copied().unwrap_or_default();
    let in_turn = scheduling.iter().copied().cycle().take(tasks);
    spec.rank_scheduling = if scheduling.len() > 1 { in_turn.collect() } else { Vec::new() };
}
