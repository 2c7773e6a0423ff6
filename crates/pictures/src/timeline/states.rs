//! What a picture tells apart: states of a cpu, whose time it is, and how much of each there is in a piece of
//! time.

use sim_core::account::{Account, Category};
use sim_core::ids::Id;

use trace::slices::{Owners, Slice};

/// What a cpu does, as it is shaded. The categories of the account, some of them together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Work of the programs ([`Category::Compute`]).
    Compute,
    /// What a busy hardware thread of the same core takes ([`Category::Smt`]).
    SharedCore,
    /// What memory adds: contention, remote access, refilled caches.
    Memory,
    /// First writes to fresh pages when a program starts.
    PageInit,
    /// Polling a flag.
    Spin,
    /// Polling for a lock.
    LockWait,
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

/// Number of states that have the colour of an application; they come first in [`State::ALL`].
const COLOURED: usize = 7;

impl State {
    /// All states, in the order in which they are stacked from below.
    pub const ALL: [Self; 11] = [
        Self::Compute,
        Self::SharedCore,
        Self::Memory,
        Self::PageInit,
        Self::Spin,
        Self::LockWait,
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
            Category::Smt => Self::SharedCore,
            Category::MemoryStall | Category::Remote | Category::Refill => Self::Memory,
            Category::PageInit => Self::PageInit,
            Category::Spin => Self::Spin,
            Category::LockWait => Self::LockWait,
            Category::Yield => Self::Yield,
            Category::Switch => Self::Switch,
            Category::Migration => Self::Migrate,
            Category::Kernel | Category::Daemon => Self::Kernel,
            Category::Idle => Self::Idle,
        }
    }

    /// The state in a few words, for legends and hover texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "computes",
            Self::SharedCore => "shared core (SMT)",
            Self::Memory => "memory stall",
            Self::PageInit => "page initialisation",
            Self::Spin => "spins",
            Self::LockWait => "spins for a lock",
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
        (self as usize) < COLOURED
    }

    /// True for the ways to wait by polling.
    #[must_use]
    pub const fn waits(self) -> bool {
        matches!(self, Self::Spin | Self::LockWait | Self::Yield)
    }
}

/// Whose time it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// An application, by its position among those of the timeline.
    App(u32),
    /// A thread of the only application, by its rank.
    Thread(u32),
    /// Several applications, or threads of the only one, that wait one after the other.
    Several,
    /// Nobody's: overhead and idle time.
    Nobody,
}

/// How much of each owner's states there is in a piece of time, in nanoseconds, in the order in which they
/// are stacked.
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

/// The application that owns a slice's coloured time.
#[must_use]
pub fn owner(slice: &Slice, owners: &Owners) -> Owner {
    match slice.who.app(owners) {
        Some(app) => Owner::App(app.index() as u32),
        None => Owner::Several,
    }
}

/// The thread that owns a slice's coloured time, where there is one application.
#[must_use]
pub fn thread(slice: &Slice, owners: &Owners) -> Owner {
    slice.who.task().map_or(Owner::Several, |task| Owner::Thread(owners.rank(task)))
}

/// Reports what of a slice lies between two instants (in nanoseconds), with the owner of its coloured time:
/// its parts in proportion, so that they sum to the time within a nanosecond for each of them.
pub fn portion(slice: &Slice, owner: Owner, from: u64, to: u64, mut tell: impl FnMut(Owner, State, u64)) {
    let (begin, end) = (slice.from.ns().max(from), slice.to.ns().min(to));
    if end <= begin {
        return;
    }
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
    use sim_core::ids::{CpuId, TaskId};
    use sim_core::time::{Span, Time};
    use trace::slices::Occupant;

    fn slice(parts: &[(Category, u64)]) -> Slice {
        let mut account = Account::default();
        for (category, ns) in parts {
            account.add(*category, Span::from_ns(*ns));
        }
        let (from, to) = (Time::from_ns(1000), Time::from_ns(1000) + account.total());
        Slice { cpu: CpuId(0), from, to, who: Occupant::Works(TaskId(3)), parts: account }
    }

    fn mix(slice: &Slice, owner: Owner, from: u64) -> Mix {
        let mut mix = Mix::default();
        portion(slice, owner, from, 9000, |owner, state, ns| mix.add(owner, state, ns));
        mix
    }

    #[test]
    fn a_portion_has_the_states_of_the_whole_in_proportion() {
        let slice = slice(&[
            (Category::Compute, 600),
            (Category::Remote, 200),
            (Category::Refill, 100),
            (Category::Switch, 100),
        ]);
        let owners = Owners::new([2, 4]);
        let mix = mix(&slice, owner(&slice, &owners), 1500);
        let app = Owner::App(1);
        assert_eq!(
            mix.parts().collect::<Vec<_>>(),
            [(app, State::Compute, 300), (app, State::Memory, 150), (Owner::Nobody, State::Switch, 50)]
        );
        assert_eq!((mix.total(), mix.of(State::Memory)), (500, 150));
        assert_eq!(thread(&slice, &Owners::new([8])), Owner::Thread(3));
    }

    #[test]
    fn a_busy_sibling_is_no_memory_stall_and_fresh_pages_are_the_applications() {
        let slice = slice(&[(Category::Smt, 30), (Category::PageInit, 20), (Category::Kernel, 10)]);
        let app = Owner::App(0);
        assert_eq!(
            mix(&slice, app, 0).parts().collect::<Vec<_>>(),
            [(app, State::SharedCore, 30), (app, State::PageInit, 20), (Owner::Nobody, State::Kernel, 10)]
        );
    }

    #[test]
    fn the_coloured_states_come_first() {
        for (at, state) in State::ALL.into_iter().enumerate() {
            assert_eq!((state as usize, state.coloured()), (at, at < COLOURED));
        }
    }
}
