//! What a picture tells apart: states of a cpu, whose time it is, and how much of each there is in a piece of
//! time.

use sim_core::account::{Account, Category};
use sim_core::ids::Id;

use trace::slices::{Occupant, Owners, Slice};

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
    /// A thread waits in the queue of a cpu.
    Ready,
    /// A thread sleeps until it gets a lock.
    Blocked,
    /// A thread sleeps until all have come to its barrier.
    Meets,
    /// A thread sleeps: for a timer, a device, a message, an event.
    Asleep,
}

/// Number of states of cpus that have the colour of an application; they come first in [`State::ALL`].
const COLOURED: usize = 7;
/// Number of states of cpus; those of threads without a cpu come behind them.
const OF_CPUS: usize = 11;

impl State {
    /// All states, in the order in which they are stacked from below.
    pub const ALL: [Self; 15] = [
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
        Self::Ready,
        Self::Blocked,
        Self::Meets,
        Self::Asleep,
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
            Self::Ready => "queued for a cpu",
            Self::Blocked => "blocked on a lock",
            Self::Meets => "asleep at a barrier",
            Self::Asleep => "sleeps",
        }
    }

    /// True where the time has the colour of an application.
    #[must_use]
    pub const fn coloured(self) -> bool {
        (self as usize) < COLOURED || !self.on_cpu()
    }

    /// True for a state of cpus; false for one of threads that have none.
    #[must_use]
    pub const fn on_cpu(self) -> bool {
        (self as usize) < OF_CPUS
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
/// its lead first, the rest in proportion, so that they sum to the time within a nanosecond for each of them.
pub fn portion(slice: &Slice, owner: Owner, from: u64, to: u64, mut tell: impl FnMut(Owner, State, u64)) {
    let (begin, end) = (slice.from.ns().max(from), slice.to.ns().min(to));
    if end <= begin {
        return;
    }
    let mut rest = slice.parts;
    let mut at = slice.from.ns();
    for category in LEAD.into_iter().filter(|_| matches!(slice.who, Occupant::Works(_))) {
        let ns = rest.get(category).ns();
        rest = rest.since(&Account::of(category, rest.get(category)));
        let here = (at + ns).min(end).saturating_sub(at.max(begin));
        if here > 0 {
            let state = State::of(category);
            tell(if state.coloured() { owner } else { Owner::Nobody }, state, here);
        }
        at += ns;
    }
    let begin = begin.max(at);
    if end <= begin {
        return;
    }
    let (part, whole) = (u128::from(end - begin), u128::from(slice.to.ns() - at));
    each(&rest, |state, ns| {
        let owner = if state.coloured() { owner } else { Owner::Nobody };
        let ns = if part == whole { ns } else { (u128::from(ns) * part / whole) as u64 };
        tell(owner, state, ns);
    });
}

/// What a task that gets a cpu spends its time on first, in this order: the switch, and what it lost in the
/// caches while it was away.
const LEAD: [Category; 3] = [Category::Switch, Category::Migration, Category::Refill];

/// How long the lead of a slice is, in nanoseconds: what is not the task's work, and the refill of caches.
#[must_use]
pub fn lead(slice: &Slice) -> (u64, u64) {
    if !matches!(slice.who, Occupant::Works(_)) {
        return (0, 0);
    }
    let [switch, migration, refill] = LEAD.map(|category| slice.parts.get(category).ns());
    (switch + migration, refill)
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
    fn a_portion_has_what_begins_a_slice_at_its_start_and_the_rest_in_proportion() {
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
            // The switch and the refill were in the first fifth.
            [(app, State::Compute, 375), (app, State::Memory, 125)]
        );
        assert_eq!((mix.total(), mix.of(State::Memory)), (500, 125));
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
    fn switches_and_refills_come_first() {
        let slice = slice(&[(Category::Compute, 350), (Category::Refill, 100), (Category::Switch, 50)]);
        let begin = slice.from.ns();
        let seen = |from: u64, to: u64| {
            let mut mix = Mix::default();
            portion(&slice, Owner::App(0), begin + from, begin + to, |owner, state, ns| {
                mix.add(owner, state, ns);
            });
            State::ALL.map(|state| mix.of(state))
        };
        let of = |state: State, from, to| seen(from, to)[state as usize];
        assert_eq!(
            (of(State::Switch, 0, 100), of(State::Memory, 0, 100), of(State::Compute, 0, 100)),
            (50, 50, 0)
        );
        assert_eq!(seen(150, 500).iter().sum::<u64>(), of(State::Compute, 150, 500));
        assert_eq!((of(State::Compute, 140, 160), of(State::Memory, 140, 160)), (10, 10));
        assert_eq!(lead(&slice), (50, 100));
    }

    #[test]
    fn the_coloured_states_come_first() {
        for (at, state) in State::ALL.into_iter().enumerate() {
            assert_eq!((state as usize, state.coloured()), (at, !(COLOURED..OF_CPUS).contains(&at)));
        }
    }
}
