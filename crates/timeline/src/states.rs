//! What a picture tells apart: states of a cpu, whose time it is, and how much of each there is in a piece of time.

use sim_core::account::{Account, Category};
use sim_core::ids::Id;

use crate::slices::{Owners, Slice};

/// What a cpu does, as it is shaded. The account's twelve categories, some of them together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Work of the programs ([`Category::Compute`]).
    Compute,
    /// What memory and siblings add: contention, remote access, refills, a busy thread of the same core.
    Stall,
    /// Polling a flag.
    Spin,
    /// `sched_yield` calls.
    Yield,
    /// Context switches.
    Switch,
    /// Moving tasks.
    Migrate,
    /// Kernel work and scheduling daemons.
    Kernel,
    /// Nothing to run.
    Idle,
}

impl State {
    /// All states, in the order in which they are stacked from below.
    pub const ALL: [Self; 8] = [
        Self::Compute,
        Self::Stall,
        Self::Spin,
        Self::Yield,
        Self::Switch,
        Self::Migrate,
        Self::Kernel,
        Self::Idle,
    ];

    /// The state that a category of the account is shown as.
    #[must_use]
    pub const fn of(category: Category) -> Self {
        match category {
            Category::Compute => Self::Compute,
            Category::MemoryStall | Category::Remote | Category::Smt | Category::Refill => Self::Stall,
            Category::Spin => Self::Spin,
            Category::Yield => Self::Yield,
            Category::Switch => Self::Switch,
            Category::Migration => Self::Migrate,
            Category::PageInit | Category::Kernel | Category::Daemon => Self::Kernel,
            Category::Idle => Self::Idle,
        }
    }

    /// The state in a few words, for legends and hover texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "computes",
            Self::Stall => "memory stall",
            Self::Spin => "spins",
            Self::Yield => "yields",
            Self::Switch => "switch",
            Self::Migrate => "migration cost",
            Self::Kernel => "kernel",
            Self::Idle => "idle",
        }
    }

    /// True where the time has the colour of an application.
    #[must_use]
    pub const fn coloured(self) -> bool {
        matches!(self, Self::Compute | Self::Stall | Self::Spin | Self::Yield)
    }
}

/// Whose time it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// An application, by its position in the run.
    App(u32),
    /// Several applications whose tasks wait in turns.
    Several,
    /// Nobody's: overhead and idle time.
    Nobody,
}

/// How much of each owner's states there is in a piece of time, in nanoseconds, in the order in which they are stacked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mix {
    parts: Vec<(Owner, State, u64)>,
}

impl Mix {
    /// Adds time.
    pub fn add(&mut self, owner: Owner, state: State, ns: u64) {
        if ns == 0 {
            return;
        }
        match self.parts.binary_search_by(|part| (part.0, part.1).cmp(&(owner, state))) {
            Ok(at) => self.parts[at].2 += ns,
            Err(at) => self.parts.insert(at, (owner, state, ns)),
        }
    }

    /// Adds another mix.
    pub fn merge(&mut self, other: &Self) {
        for (owner, state, ns) in &other.parts {
            self.add(*owner, *state, *ns);
        }
    }

    /// Owners, states and nanoseconds, stacked from below.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = (Owner, State, u64)> + use<'_> {
        self.parts.iter().copied()
    }

    /// All of it, in nanoseconds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.parts.iter().map(|part| part.2).sum()
    }

    /// The time in a state, in nanoseconds.
    #[must_use]
    pub fn of(&self, state: State) -> u64 {
        self.parts.iter().filter(|part| part.1 == state).map(|part| part.2).sum()
    }
}

/// The owner of a slice's coloured time.
#[must_use]
pub fn owner(slice: &Slice, owners: &Owners) -> Owner {
    match slice.who.app(owners) {
        Some(app) => Owner::App(app.index() as u32),
        None => Owner::Several,
    }
}

/// Tells what of a slice lies between two instants (in nanoseconds): its parts in proportion, so that they sum to the time
/// within a nanosecond for each of them.
pub fn portion(slice: &Slice, owners: &Owners, from: u64, to: u64, mut tell: impl FnMut(Owner, State, u64)) {
    let (begin, end) = (slice.from.ns().max(from), slice.to.ns().min(to));
    if end <= begin {
        return;
    }
    let owner = owner(slice, owners);
    let (part, whole) = (u128::from(end - begin), u128::from(slice.to.ns() - slice.from.ns()));
    each(&slice.parts, |state, ns| {
        let owner = if state.coloured() { owner } else { Owner::Nobody };
        let ns = if part == whole { ns } else { (u128::from(ns) * part / whole) as u64 };
        tell(owner, state, ns);
    });
}

/// The states of an account that have time.
pub fn each(account: &Account, mut tell: impl FnMut(State, u64)) {
    for category in Category::ALL {
        let ns = account.get(category).ns();
        if ns > 0 {
            tell(State::of(category), ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::Occupant;
    use sim_core::ids::{CpuId, TaskId};
    use sim_core::time::{Span, Time};

    #[test]
    fn a_portion_has_the_states_of_the_whole_in_proportion() {
        let mut parts = Account::of(Category::Compute, Span::from_ns(600));
        parts.add(Category::Remote, Span::from_ns(200));
        parts.add(Category::Refill, Span::from_ns(100));
        parts.add(Category::Switch, Span::from_ns(100));
        let (from, to) = (Time::from_ns(1000), Time::from_ns(2000));
        let slice = Slice { cpu: CpuId(0), from, to, who: Occupant::Works(TaskId(3)), parts };
        let mut mix = Mix::default();
        portion(&slice, &Owners::new([2, 4]), 1500, 9000, |owner, state, ns| mix.add(owner, state, ns));
        let found: Vec<_> = mix.parts().collect();
        let app = Owner::App(1);
        assert_eq!(
            found,
            [(app, State::Compute, 300), (app, State::Stall, 150), (Owner::Nobody, State::Switch, 50)]
        );
        assert_eq!((mix.total(), mix.of(State::Stall)), (500, 150));
    }
}
