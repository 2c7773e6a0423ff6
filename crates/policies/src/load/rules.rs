//! What `LOAD` of Linux 2.6.18 to 2.6.30 says of its decisions: the rules, and the reason of a pull.

use sim_core::policy::Why;

use crate::attempt::Situation;

/// A fork finds no better group at any level.
pub(super) const FORK_STAYS: &str =
    "fork: stays with its parent, no group was clearly less loaded at the last tick";
/// A fork at releases that do not look here.
pub(super) const FORK_ALONE: &str = "fork: stays with its parent, no level of this machine balances forks";
/// A fork follows the averages.
pub(super) const FORK_IDLEST: &str =
    "fork: to the group least loaded at the last tick, and its cpu with the least load";
/// Nothing to choose.
pub(super) const WAKE_SAME: &str = "wake: its last cpu is the waker's";
/// Affine wake-ups are off, the mask forbids the waker's cpu, or no level holds both.
pub(super) const WAKE_NOT_AFFINE: &str =
    "wake: stays on its last cpu, following the waker is disabled or not allowed";
/// The averages speak against the waker's cpu.
pub(super) const WAKE_STAYS: &str = "wake: stays on its last cpu, the waker's is not clearly less loaded";
/// `wake_affine`, balanced.
pub(super) const WAKE_BALANCED: &str = "wake: follows its waker, the loads stay balanced";
/// `wake_affine`, light.
pub(super) const WAKE_LIGHT: &str =
    "wake: follows its waker, both cpus together have at most the load of one task";
/// `SD_WAKE_BALANCE`.
pub(super) const WAKE_PASSIVE: &str = "wake: follows its waker, the last cpu is over imbalance_pct";
/// `wake_idle`.
pub(super) const WAKE_IDLE: &str = "wake: to an idle thread of the core";
/// Active balancing.
pub(super) const PUSHED: &str = "pushed: attempts to pull failed, the migration thread moves the newest task";

/// How the amount of a pull came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Amount {
    /// At least one task brings both groups to the average.
    Excess,
    /// Less than one task is missing; one is moved all the same, or what fits.
    Small,
}

/// The rule of a pull.
pub(super) const fn pulled(as_a: Situation, amount: Amount) -> &'static str {
    match (as_a, amount) {
        (Situation::Busy, Amount::Excess) => {
            "pulled by a busy cpu: busiest group over imbalance_pct of local"
        }
        (Situation::Busy, Amount::Small) => {
            "pulled by a busy cpu: busiest group over imbalance_pct of local, by about one task"
        }
        (Situation::Idle, Amount::Excess) => {
            "pulled by an idle cpu: busiest group over imbalance_pct of local"
        }
        (Situation::Idle, Amount::Small) => {
            "pulled by an idle cpu: busiest group over imbalance_pct of local, by about one task"
        }
        (Situation::NewlyIdle, Amount::Excess) => {
            "pulled on going idle: busiest group over imbalance_pct of local"
        }
        (Situation::NewlyIdle, Amount::Small) => {
            "pulled on going idle: busiest group over imbalance_pct of local, by about one task"
        }
    }
}

/// The reason of a pull: loads per unit of power of both groups, what is tolerated, and how much is to be
/// moved.
pub(super) const fn pull(rule: &'static str, busiest: u64, local: u64, tolerated: u64, amount: u64) -> Why {
    let why = Why::rule(rule).with("busiest load", busiest).with("local load", local);
    why.with("tolerated %", tolerated).with("load to move", amount)
}
