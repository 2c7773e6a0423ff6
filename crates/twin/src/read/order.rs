//! Events in order of time. Recorders write one buffer per cpu, and merge them by time but for a little.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::gate::Gate;
use super::kept::Kept;
use crate::event::Event;

/// How far an event may stand behind later ones, in ns.
pub(super) const MOST_LATE: u64 = 10_000_000;
/// How many events wait at most for earlier ones.
const MOST_WAITING: usize = 1 << 16;
/// How many events of binary files wait at most: those of two passes of the recorder over its buffers.
const MOST_OF_ROUNDS: usize = 1 << 24;

/// An event stands too far behind a later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Back {
    /// The time of the later one, in ns.
    pub(super) from: u64,
}

/// Sorts events, those of the same instant in the order in which they come.
pub(super) struct Order<'a> {
    pub(super) gate: Gate<'a>,
    /// Those that came in order.
    waiting: VecDeque<Kept>,
    /// Those that came late.
    late: BinaryHeap<Reverse<Kept>>,
    turn: u64,
    /// The latest time so far.
    newest: u64,
    /// The time of the last event that was given on.
    given: u64,
    /// By passes of the recorder, which tells of them, not by a span of time.
    rounds: bool,
}

impl<'a> Order<'a> {
    /// For files that are in order but for a little.
    pub(super) fn near(gate: Gate<'a>) -> Self {
        Self::new(gate, false)
    }

    /// For files that say up to where they are complete: [`Self::complete`].
    pub(super) fn in_rounds(gate: Gate<'a>) -> Self {
        Self::new(gate, true)
    }

    fn new(gate: Gate<'a>, rounds: bool) -> Self {
        let (waiting, late) = (VecDeque::new(), BinaryHeap::new());
        Self { gate, waiting, late, turn: 0, newest: 0, given: 0, rounds }
    }

    /// The latest time so far, in ns.
    pub(super) const fn newest(&self) -> u64 {
        self.newest
    }

    /// Nothing that is still to come is wanted.
    pub(super) const fn enough(&self) -> bool {
        self.gate.enough()
    }

    /// An event of this time can still be put in its place.
    pub(super) const fn takes(&self, at: u64) -> bool {
        at >= self.given && (self.rounds || at.saturating_add(MOST_LATE) >= self.newest)
    }

    /// Takes an event.
    pub(super) fn push(&mut self, event: &Event<'_>) -> Result<(), Back> {
        let at = event.at;
        let limit = if self.rounds { MOST_OF_ROUNDS } else { MOST_WAITING };
        if !self.takes(at) {
            return Err(Back { from: if self.rounds { self.given } else { self.newest } });
        }
        self.turn += 1;
        let kept = Kept::new(event, self.turn);
        if self.waiting.back().is_none_or(|last| last.at() <= at) {
            self.waiting.push_back(kept);
        } else {
            self.late.push(Reverse(kept));
        }
        self.newest = self.newest.max(at);
        if !self.rounds {
            self.complete(self.newest.saturating_sub(MOST_LATE));
        }
        while self.waiting.len() + self.late.len() > limit {
            self.give();
        }
        Ok(())
    }

    /// No event before this time is still to come.
    pub(super) fn complete(&mut self, until: u64) {
        while self.first().is_some_and(|at| at < until) {
            self.give();
        }
    }

    /// No event is still to come.
    pub(super) fn done(&mut self) {
        while self.first().is_some() {
            self.give();
        }
    }

    /// The time of the earliest one.
    fn first(&self) -> Option<u64> {
        match (self.waiting.front(), self.late.peek()) {
            (Some(one), Some(Reverse(other))) => Some(one.at().min(other.at())),
            (Some(one), None) | (None, Some(Reverse(one))) => Some(one.at()),
            (None, None) => None,
        }
    }

    /// Gives the earliest one on.
    fn give(&mut self) {
        let late = match (self.waiting.front(), self.late.peek()) {
            (Some(one), Some(Reverse(other))) => other < one,
            (one, _) => one.is_none(),
        };
        let earliest =
            if late { self.late.pop().map(|Reverse(kept)| kept) } else { self.waiting.pop_front() };
        if let Some(kept) = earliest {
            self.given = kept.at();
            self.gate.event(&kept.event());
        }
    }
}
