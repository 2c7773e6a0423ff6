//! Sums over a group of cpus, and what is pulled from it.

use std::ops::Range;

use super::domains::UNIT;
use kernels::TypeRules as Rules;

/// The state of a group (`enum group_type`), the better ones first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum State {
    HasSpare,
    FullyBusy,
    /// A task needs more than its cpu has.
    Misfit,
    /// A core with more than one task, seen by an idle cpu.
    SmtBalance,
    /// The cpu that balances is idle and has a higher priority.
    Packing,
    /// Masks kept the level below from evening it out (`sgc->imbalance`).
    Imbalanced,
    Overloaded,
}

/// How much to pull (`enum migration_type`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Amount {
    Load(u64),
    Utilisation(u64),
    Tasks(u64),
    /// One task that its cpu is too slow for; 0 once it has come.
    Misfit(u64),
}

/// Sums over a group.
#[derive(Clone, Debug)]
pub(super) struct Stats {
    pub(super) cpus: Range<u32>,
    /// Decayed load.
    pub(super) load: u64,
    /// Decayed busy time, 1,024 = one cpu.
    pub(super) busy: u64,
    pub(super) tasks: u64,
    pub(super) idle: u64,
    pub(super) capacity: u64,
    /// Smallest and largest capacity of its cpus.
    pub(super) capacities: (u64, u64),
    /// The largest load of a task that its cpu is too slow for; 0 without one.
    pub(super) misfit: u64,
    /// The highest priority of its cpus.
    pub(super) priority: u64,
    pub(super) cores: u64,
    /// Its cpus are the threads of a core.
    pub(super) smt: bool,
    /// It has room for another task (`group_has_capacity`).
    pub(super) room: bool,
    pub(super) state: State,
}

impl State {
    /// Its number in reasons.
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::HasSpare => 0,
            Self::FullyBusy => 1,
            Self::SmtBalance => 2,
            Self::Imbalanced => 3,
            Self::Overloaded => 4,
            Self::Misfit => 5,
            Self::Packing => 6,
        }
    }
}

impl Stats {
    /// Load per full capacity.
    pub(super) const fn average(&self) -> u64 {
        self.load * UNIT / self.capacity
    }

    pub(super) const fn size(&self) -> u64 {
        (self.cpus.end - self.cpus.start) as u64
    }

    /// A better place for a new task (`update_pick_idlest`).
    pub(super) fn idler_than(&self, other: &Self) -> bool {
        if self.state != other.state {
            return self.state < other.state;
        }
        match self.state {
            State::HasSpare if self.idle == other.idle => self.busy < other.busy,
            State::HasSpare => self.idle > other.idle,
            State::Misfit | State::SmtBalance | State::Packing | State::Imbalanced => false,
            State::FullyBusy | State::Overloaded => self.average() < other.average(),
        }
    }

    /// A better place to pull from than `other`, which comes earlier (`update_sd_pick_busiest`): of
    /// overloaded groups the one with the highest load, of full ones the last or the first (loads are
    /// compared only where a group is overloaded), of imbalanced ones the first.
    pub(super) fn busier_than(&self, other: &Self, rules: &Rules) -> bool {
        if self.state != other.state {
            return self.state > other.state;
        }
        let crowded = if self.idle == other.idle { self.tasks > other.tasks } else { self.idle < other.idle };
        match self.state {
            // Of a single task a core with several threads is not deprived for a core with one.
            State::HasSpare if rules.smt_balance && self.smt != other.smt => !self.smt || self.tasks > 1,
            State::HasSpare => crowded,
            State::Misfit => self.misfit > other.misfit,
            State::Packing => self.priority < other.priority,
            State::SmtBalance if self.idle > 0 || other.idle > 0 => crowded,
            State::SmtBalance | State::FullyBusy => rules.last_full_group && !other.smt,
            State::Imbalanced => false,
            State::Overloaded => self.average() > other.average(),
        }
    }
}

/// The cores that a group of so many cpus with this capacity counts as (`sg_capacity_factor`): threads of a
/// core are one, and a thread alone is one too (`fix_small_capacity`).
pub(super) fn cores(cpus: u64, capacity: u64) -> u64 {
    let threads = (UNIT * cpus).div_ceil(capacity).max(1);
    (cpus / threads).min((capacity + UNIT / 2) / UNIT).max(1)
}
