//! What `LOAD` of Linux 6.18 says of its decisions: the rules, and the reason of a pull.

use sim_core::policy::Why;

use super::group::{Amount, State, Stats};
use crate::attempt::Situation;

/// A fork finds no better group at any level.
pub(super) const FORK_STAYS: &str = "fork: stays with its parent, no group is clearly idler";
/// The mask forbids the local group.
pub(super) const FORK_FORCED: &str = "fork: the mask forbids the local group, goes to the idlest other group";
/// A group of a better type.
pub(super) const FORK_STATE: &str =
    "fork: to a group of a better type (0 spare cpus, 1 full, 3 uneven because of masks, 4 overloaded)";
/// Both groups have spare cpus.
pub(super) const FORK_SPARE: &str = "fork: to the group with more idle cpus";
/// Both groups are full.
pub(super) const FORK_LOAD: &str = "fork: to the group with clearly less load";
/// The target is idle.
pub(super) const WAKE_TARGET: &str = "wake: the target (last or waker's) cpu is idle";
/// The previous or the recent cpu is.
pub(super) const WAKE_KNOWN: &str = "wake: a cpu it used before is idle and shares the target's cache";
/// An idle core.
pub(super) const WAKE_CORE: &str = "wake: to an idle core that shares the target's cache";
/// `select_idle_smt`.
pub(super) const WAKE_THREAD: &str =
    "wake: no core is idle, to an idle hardware thread of the core it used last";
/// An idle cpu.
pub(super) const WAKE_CPU: &str = "wake: to an idle cpu that shares the target's cache";
/// `select_idle_smt` before 5.13.
pub(super) const WAKE_TARGETS_THREAD: &str = "wake: to an idle hardware thread of the target's core";
/// An idle cpu may be there, but is not looked at.
pub(super) const WAKE_LIMIT: &str =
    "wake: no cpu that the limit of the scan lets it look at is idle, goes to the target";
/// No idle cpu in reach.
pub(super) const WAKE_NONE: &str = "wake: no cpu that shares the target's cache is idle, goes to the target";
/// `task_numa_migrate` with room on the node.
pub(super) const NUMA_MOVES: &str =
    "to its pages: another node has most of its faults, and the loads allow a move";
/// The same by `migrate_swap`.
pub(super) const NUMA_CHANGES: &str =
    "to its pages: another node has most of its faults, and it changes places with a task there";
/// The other one.
pub(super) const NUMA_GIVES_WAY: &str =
    "changes places with a task whose pages are here: together they are nearer to theirs";
/// `LBF_DST_PINNED`: the pull goes on for another cpu of the group.
pub(super) const PULLED_FOR_ANOTHER: &str =
    "pulled for another cpu of the group: the task's mask forbids the cpu that balances";
/// Active balancing.
pub(super) const PUSHED: &str =
    "pushed: attempts to pull failed, the stopper thread moves the task that ran longest ago";

/// `select_idle_capacity`.
pub(super) const WAKE_FITS: &str = "wake: to an idle cpu that has the capacity that the task uses";
/// The same where none has.
pub(super) const WAKE_LARGEST: &str = "wake: no idle cpu has the capacity that the task uses, to the largest";
/// Active balancing of a misfit.
pub(super) const PUSHED_MISFIT: &str =
    "pushed: the task uses more than its cpu has, the stopper thread moves it to a larger idle cpu";
/// `asym_active_balance`.
pub(super) const PUSHED_PACKING: &str =
    "pushed: an idle core has a higher priority, the stopper thread moves the task to it";

/// The rule of a pull.
const fn pulled(as_a: Situation, state: State, amount: Amount) -> &'static str {
    if matches!(state, State::Packing) {
        return "pulled by an idle core: it has a higher priority than the group";
    }
    if matches!(amount, Amount::Misfit(_)) {
        return "pulled: the task uses more than its cpu has, this one is larger";
    }
    if matches!(state, State::Imbalanced) {
        return match as_a {
            Situation::Busy => "pulled by a busy cpu: masks keep the busiest group uneven, one task moves",
            Situation::Idle => "pulled by an idle cpu: masks keep the busiest group uneven, one task moves",
            Situation::NewlyIdle => {
                "pulled on going idle: masks keep the busiest group uneven, one task moves"
            }
        };
    }
    match (as_a, amount) {
        (Situation::Busy, Amount::Load(_)) => {
            "pulled by a busy cpu: busiest group overloaded, load over average"
        }
        (Situation::Idle, Amount::Load(_)) => {
            "pulled by an idle cpu: busiest group overloaded, load over average"
        }
        (Situation::NewlyIdle, Amount::Load(_)) => {
            "pulled on going idle: busiest group overloaded, load over average"
        }
        (Situation::Busy, Amount::Utilisation(_)) => {
            "pulled by a busy cpu: busiest group overloaded, this one has spare capacity"
        }
        (Situation::Idle, Amount::Utilisation(_)) => {
            "pulled by an idle cpu: busiest group overloaded, this one has spare capacity"
        }
        (Situation::NewlyIdle, Amount::Utilisation(_)) => {
            "pulled on going idle: busiest group overloaded, this one has spare capacity"
        }
        (Situation::Busy, Amount::Tasks(_) | Amount::Misfit(_)) => {
            "pulled by a busy cpu: busiest group has more tasks, this one has spare cpus"
        }
        (Situation::Idle, Amount::Tasks(_) | Amount::Misfit(_)) => {
            "pulled by an idle cpu: busiest group has more tasks, this one has spare cpus"
        }
        (Situation::NewlyIdle, Amount::Tasks(_) | Amount::Misfit(_)) => {
            "pulled on going idle: busiest group has more tasks, this one has spare cpus"
        }
    }
}

/// The reason of a pull: what its kind compares, and how much is to be moved.
pub(super) const fn pull(as_a: Situation, busiest: &Stats, local: &Stats, amount: Amount) -> Why {
    let why = Why::rule(pulled(as_a, busiest.state, amount));
    match amount {
        Amount::Load(load) => {
            let why = why.with("busiest load", busiest.average()).with("local load", local.average());
            why.with("load to move", load)
        }
        Amount::Utilisation(spare) => why
            .with("busiest tasks", busiest.tasks)
            .with("local tasks", local.tasks)
            .with("spare 1/1024", spare),
        Amount::Misfit(_) => why.with("load of the task", busiest.misfit).with("local idle cpus", local.idle),
        Amount::Tasks(tasks) => {
            let why = why.with("busiest tasks", busiest.tasks).with("local tasks", local.tasks);
            why.with("local idle cpus", local.idle).with("tasks to move", tasks)
        }
    }
}

/// The reason of a fork to `best` instead of the group of the parent.
pub(super) const fn fork(best: &Stats, local: &Stats) -> Why {
    match (local.state, best.state) {
        (State::HasSpare, State::HasSpare) => {
            Why::rule(FORK_SPARE).with("idle cpus there", best.idle).with("idle cpus here", local.idle)
        }
        (State::FullyBusy, State::FullyBusy) | (State::Overloaded, State::Overloaded) => {
            Why::rule(FORK_LOAD).with("load there", best.average()).with("load here", local.average())
        }
        _ => Why::rule(FORK_STATE)
            .with("type there", best.state.number())
            .with("type here", local.state.number()),
    }
}
