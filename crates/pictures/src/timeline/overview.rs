//! A run at low resolution, in bounded memory: per bin of time, what the cpus did and how much happened.

use sim_core::ids::Id;
use sim_core::policy::{Action, Decision};
use sim_core::time::Time;

use crate::timeline::states::{COLOURED, Owner, State, owner, portion};
use trace::slices::{Mark, Owners, Sink, Slice};

/// Numbers that all bins together hold at most: 16 MiB.
const NUMBERS: usize = 1 << 21;
/// Most bins; as many as it takes to find a window within a thousandth of a run, and some more.
const MOST_BINS: usize = 1 << 14;
/// Fewest bins, whatever the number of applications.
const FEWEST_BINS: usize = 1 << 10;
/// Width of a bin at the start of a run, in nanoseconds; doubled whenever the run outgrows the bins.
const FIRST_WIDTH: u64 = 1 << 14;

/// What a bin's number stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key {
    /// Whose time.
    pub(super) owner: Owner,
    /// Spent how.
    pub(super) state: State,
}

/// The barriers of an application: how many, and when the first and the last one was complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Barriers {
    count: u64,
    first: u64,
    last: u64,
}

/// A run at low resolution.
#[derive(Clone, Debug)]
pub(super) struct Overview {
    owners: Owners,
    /// Which cpus count.
    counted: Vec<bool>,
    width: u64,
    bins: usize,
    /// Nanoseconds by bin and key.
    spent: Vec<u64>,
    /// Migrations, barriers and begins of slices by bin.
    events: Vec<[u64; 3]>,
    /// Barriers by application.
    barriers: Vec<Barriers>,
    moves: u64,
    slices: u64,
    end: u64,
    /// Instants at which the policy did something other than to place or to move a task; the last of them.
    decisions: (u64, Option<u64>),
    /// When the first application ended.
    first_exit: Option<u64>,
}

impl Overview {
    /// Of a run of these tasks, as far as these cpus are concerned.
    #[must_use]
    pub(super) fn new(owners: Owners, counted: Vec<bool>) -> Self {
        let keys = keys(owners.apps());
        let fit = (NUMBERS / keys).max(1).ilog2();
        let bins = (1usize << fit).clamp(FEWEST_BINS, MOST_BINS);
        let (spent, events) = (vec![0; bins * keys], vec![[0; 3]; bins]);
        Self {
            barriers: vec![Barriers::default(); owners.apps()],
            owners,
            counted,
            width: FIRST_WIDTH,
            bins,
            spent,
            events,
            moves: 0,
            slices: 0,
            end: 0,
            decisions: (0, None),
            first_exit: None,
        }
    }

    /// Width of a bin in nanoseconds.
    #[must_use]
    pub(super) const fn width(&self) -> u64 {
        self.width
    }

    /// When the last slice ended, in nanoseconds: the length of the run.
    #[must_use]
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// When the first application ended, in nanoseconds; the end of the run if none did.
    #[must_use]
    pub(super) fn first_exit(&self) -> u64 {
        self.first_exit.unwrap_or(self.end)
    }

    /// Slices of all counted cpus, and how many cpus that are.
    #[must_use]
    pub(super) fn slices(&self) -> (u64, u64) {
        (self.slices, self.counted.iter().filter(|counted| **counted).count() as u64)
    }

    /// What the numbers of a bin stand for, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        let apps = self.owners.apps() as u32;
        let owners = (0..apps).map(Owner::App).chain([Owner::Several]);
        let coloured =
            owners.flat_map(|owner| State::ALL[..COLOURED].iter().map(move |state| (owner, *state)));
        let rest = State::ALL[COLOURED..].iter().map(|state| (Owner::Nobody, *state));
        coloured.chain(rest).map(|(owner, state)| Key { owner, state })
    }

    /// Nanoseconds of a bin by key; nothing beyond the end.
    #[must_use]
    pub(super) fn bin(&self, bin: usize) -> &[u64] {
        let keys = keys(self.owners.apps());
        self.spent.get(bin * keys..(bin + 1) * keys).unwrap_or(&[])
    }

    /// Migrations, barriers and begins of slices in a bin.
    #[must_use]
    pub(super) fn events(&self, bin: usize) -> [u64; 3] {
        self.events.get(bin).copied().unwrap_or_default()
    }

    /// Migrations of the whole run.
    #[must_use]
    pub(super) const fn moves(&self) -> u64 {
        self.moves
    }

    /// The longest mean time between two barriers of an application, of those that have at least this many
    /// (and two).
    #[must_use]
    pub(super) fn interval(&self, least: u64) -> Option<u64> {
        let enough = self.barriers.iter().filter(|barriers| barriers.count >= least.max(2));
        enough.map(|barriers| (barriers.last - barriers.first) / (barriers.count - 1)).max()
    }

    /// This run with the bins of another overview of it, which is finer and need not go as far.
    #[must_use]
    pub(super) fn refined(self, finer: Self) -> Self {
        let Self { width, bins, spent, events, .. } = finer;
        Self { width, bins, spent, events, ..self }
    }

    /// Instants at which the policy decided something other than where a task is.
    #[must_use]
    pub(super) const fn decisions(&self) -> u64 {
        self.decisions.0
    }

    /// Makes the bins at least this wide.
    pub(super) fn widen(&mut self, width: u64) {
        while self.width < width {
            self.double();
        }
    }

    fn double(&mut self) {
        let keys = keys(self.owners.apps());
        let half = self.bins / 2;
        for bin in 0..half {
            let (one, two) = (self.events[2 * bin], self.events[2 * bin + 1]);
            self.events[bin] = std::array::from_fn(|kind| one[kind] + two[kind]);
            for key in 0..keys {
                self.spent[bin * keys + key] =
                    self.spent[2 * bin * keys + key] + self.spent[(2 * bin + 1) * keys + key];
            }
        }
        self.events[half..].fill([0; 3]);
        self.spent[half * keys..].fill(0);
        self.width = self.width.saturating_mul(2);
    }

    /// The bin of an instant, after widening them if it lies beyond all of them.
    fn reach(&mut self, at: u64) -> usize {
        while at / self.width >= self.bins as u64 {
            self.double();
        }
        (at / self.width) as usize
    }

    /// A barrier of an application is complete.
    fn completed(&mut self, at: u64, app: usize) {
        let bin = self.reach(at);
        self.events[bin][1] += 1;
        if let Some(barriers) = self.barriers.get_mut(app) {
            if barriers.count == 0 {
                barriers.first = at;
            }
            *barriers = Barriers { count: barriers.count + 1, last: at, ..*barriers };
        }
    }

    fn counts(&self, cpu: usize) -> bool {
        self.counted.get(cpu).copied().unwrap_or(false)
    }
}

/// Numbers in a bin.
const fn keys(apps: usize) -> usize {
    (apps + 1) * COLOURED + State::ALL.len() - COLOURED
}

/// The place of a number in its bin.
const fn slot(apps: usize, owner: Owner, state: State) -> usize {
    let state = state as usize;
    match owner {
        Owner::App(app) => app as usize * COLOURED + state,
        // Threads are not distinguished here.
        Owner::Several | Owner::Thread(_) | Owner::Nobody => apps * COLOURED + state,
    }
}

impl Sink for Overview {
    fn slice(&mut self, slice: &Slice) {
        self.end = self.end.max(slice.to.ns());
        if !self.counts(slice.cpu.index()) {
            return;
        }
        self.slices += 1;
        let last = self.reach(slice.to.ns() - 1);
        let first = (slice.from.ns() / self.width) as usize;
        let (apps, keys, width) = (self.owners.apps(), keys(self.owners.apps()), self.width);
        self.events[first][2] += 1;
        let (owner, spent) = (owner(slice, &self.owners), &mut self.spent);
        for bin in first..=last {
            let begin = bin as u64 * width;
            let cell = &mut spent[bin * keys..(bin + 1) * keys];
            portion(slice, owner, begin, begin + width, |owner, state, ns| {
                cell[slot(apps, owner, state)] += ns;
            });
        }
    }

    fn mark(&mut self, at: Time, mark: &Mark) {
        match mark {
            Mark::AppExited(_) => {
                self.first_exit.get_or_insert(at.ns());
            }
            Mark::BarrierCompleted { app, .. } => self.completed(at.ns(), app.index()),
            Mark::Decided(Decision { action: Action::Migrated { .. } | Action::Placed { .. }, .. }) => {}
            Mark::Decided(_) if self.decisions.1 != Some(at.ns()) => {
                self.decisions = (self.decisions.0 + 1, Some(at.ns()));
            }
            _ => {}
        }
        if let Mark::Migrated { from, to, .. } = mark
            && (self.counts(from.index()) || self.counts(to.index()))
        {
            let bin = self.reach(at.ns());
            self.events[bin][0] += 1;
            self.moves += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::account::{Account, Category};
    use sim_core::ids::{CpuId, TaskId};
    use sim_core::time::Span;
    use trace::slices::Occupant;

    fn slice(cpu: u32, from: u64, to: u64, category: Category) -> Slice {
        let who = if category == Category::Idle { Occupant::Idle } else { Occupant::Works(TaskId(1)) };
        let parts = Account::of(category, Span::from_ns(to - from));
        Slice { cpu: CpuId(cpu), from: Time::from_ns(from), to: Time::from_ns(to), who, parts }
    }

    #[test]
    fn every_key_has_its_own_place() {
        for apps in [1, 3, 40] {
            let view = Overview::new(Owners::new(vec![1; apps]), vec![true]);
            let slots: Vec<usize> = view.keys().map(|key| slot(apps, key.owner, key.state)).collect();
            assert_eq!(slots, (0..keys(apps)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_bins_hold_all_time_however_long_the_run() {
        let mut view = Overview::new(Owners::new([1, 1]), vec![true, false]);
        let end = 3_600_000_000_000;
        view.slice(&slice(0, 0, 1_000, Category::Idle));
        view.mark(Time::from_ns(1_000), &Mark::Migrated { task: TaskId(1), from: CpuId(1), to: CpuId(0) });
        view.slice(&slice(0, 1_000, end, Category::Compute));
        view.slice(&slice(1, 0, end, Category::Idle));
        let mut sum = vec![0; view.keys().count()];
        for bin in 0..MOST_BINS {
            for (sum, ns) in sum.iter_mut().zip(view.bin(bin)) {
                *sum += ns;
            }
        }
        let of = |owner, state| sum[slot(2, owner, state)];
        assert_eq!(of(Owner::App(1), State::Compute), end - 1_000);
        // The second cpu does not count.
        assert_eq!(of(Owner::Nobody, State::Idle), 1_000);
        assert_eq!((view.end(), view.slices(), view.moves()), (end, (2, 1), 1));
        assert_eq!(view.events(0), [1, 0, 2]);
        assert!(view.width() as usize >= end as usize / MOST_BINS);
    }

    #[test]
    fn the_interval_is_that_of_the_slowest_application_that_has_enough_barriers() {
        let mut view = Overview::new(Owners::new([1, 1, 1]), vec![true]);
        let mut barrier = |at: u64, app: u32, episode: u32| {
            let scope = sim_core::wait::Scope::All;
            let app = sim_core::ids::AppId(app);
            view.mark(Time::from_ns(at), &Mark::BarrierCompleted { app, scope, episode });
        };
        for n in 0..20 {
            barrier(n * 100, 0, n as u32);
            barrier(n * 700, 1, n as u32);
        }
        barrier(5, 2, 0);
        barrier(90_005, 2, 1);
        assert_eq!((view.interval(17), view.interval(0), view.interval(21)), (Some(700), Some(90_000), None));
        assert_eq!((view.events(0)[1], view.events(5)[1]), (41, 1));
    }

    #[test]
    fn a_finer_overview_gives_its_bins_only() {
        let run = |to: u64| {
            let mut view = Overview::new(Owners::new([1]), vec![true]);
            view.slice(&slice(0, 0, to, Category::Compute));
            view
        };
        let (long, short) = (run(3_600_000_000_000), run(1_000_000));
        let both = long.clone().refined(short.clone());
        assert_eq!((both.width(), both.end()), (short.width(), long.end()));
    }
}
