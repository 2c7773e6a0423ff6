//! What a run is like as a whole: its length, and how many slices, barriers, migrations and decisions it has.

use sim_core::ids::Id;
use sim_core::policy::{Action, Decision};
use sim_core::time::Time;

use trace::slices::{Mark, Sink, Slice};

/// The barriers of an application: how many, and when the first and the last one was complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Barriers {
    count: u64,
    first: u64,
    last: u64,
}

/// What a run is like as a whole.
#[derive(Clone, Debug)]
pub(super) struct Overview {
    /// Which cpus count.
    counted: Vec<bool>,
    /// Barriers by application.
    barriers: Vec<Barriers>,
    slices: u64,
    moves: u64,
    end: u64,
    /// Instants at which the policy did something other than to place or to move a task; the last of them.
    decisions: (u64, Option<u64>),
    /// When the first application ended.
    first_exit: Option<u64>,
}

impl Overview {
    /// Of a run of so many applications, as far as these cpus are concerned.
    #[must_use]
    pub(super) fn new(apps: usize, counted: Vec<bool>) -> Self {
        let barriers = vec![Barriers::default(); apps];
        Self { counted, barriers, slices: 0, moves: 0, end: 0, decisions: (0, None), first_exit: None }
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

    /// Slices for each counted cpu.
    #[must_use]
    pub(super) fn slices(&self) -> u64 {
        self.slices / (self.counted.iter().filter(|counted| **counted).count() as u64).max(1)
    }

    /// Migrations, and instants at which the policy decided something other than where a task is.
    #[must_use]
    pub(super) const fn events(&self) -> u64 {
        self.moves + self.decisions.0
    }

    /// The longest mean time between two barriers of an application, of those that have at least this many
    /// (and two).
    #[must_use]
    pub(super) fn interval(&self, least: u64) -> Option<u64> {
        let enough = self.barriers.iter().filter(|barriers| barriers.count >= least.max(2));
        enough.map(|barriers| (barriers.last - barriers.first) / (barriers.count - 1)).max()
    }

    /// When every application with barriers has had its first one; none without barriers.
    #[must_use]
    pub(super) fn first_barriers(&self) -> Option<u64> {
        self.barriers.iter().filter(|barriers| barriers.count > 0).map(|barriers| barriers.first).max()
    }

    fn counts(&self, cpu: usize) -> bool {
        self.counted.get(cpu).copied().unwrap_or(false)
    }
}

impl Sink for Overview {
    fn slice(&mut self, slice: &Slice) {
        self.end = self.end.max(slice.to.ns());
        self.slices += u64::from(self.counts(slice.cpu.index()));
    }

    fn mark(&mut self, at: Time, mark: &Mark) {
        match mark {
            Mark::AppExited(_) => {
                self.first_exit.get_or_insert(at.ns());
            }
            Mark::BarrierCompleted { app, .. } => {
                if let Some(barriers) = self.barriers.get_mut(app.index()) {
                    let first = if barriers.count == 0 { at.ns() } else { barriers.first };
                    *barriers = Barriers { count: barriers.count + 1, first, last: at.ns() };
                }
            }
            Mark::Decided(Decision { action: Action::Migrated { .. } | Action::Placed { .. }, .. }) => {}
            Mark::Decided(_) if self.decisions.1 != Some(at.ns()) => {
                self.decisions = (self.decisions.0 + 1, Some(at.ns()));
            }
            Mark::Migrated { from, to, .. } if self.counts(from.index()) || self.counts(to.index()) => {
                self.moves += 1;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_slowest_application_that_has_enough_barriers() {
        let mut view = Overview::new(3, vec![true]);
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
        assert_eq!(view.first_barriers(), Some(5));
        assert_eq!((view.interval(17), view.interval(0), view.interval(21)), (Some(700), Some(90_000), None));
    }
}
