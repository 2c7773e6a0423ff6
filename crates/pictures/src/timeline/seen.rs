//! What can be seen in a picture: the legend explains that and nothing else.

use std::collections::BTreeMap;

use crate::timeline::states::{Owner, State};

/// Pieces narrower or lower than this many pixels cannot be told apart.
const PIXEL: f64 = 1.0;
/// Pieces that together cover fewer square pixels than this are not noticed.
const AREA: f64 = 80.0;

/// What has been drawn.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Seen {
    /// Square pixels of the pieces that are large enough.
    areas: BTreeMap<(Owner, State), f64>,
    /// Numbers of threads.
    pub(crate) numbers: bool,
    /// Pieces that hold several slices.
    pub(crate) stacks: bool,
    pub(crate) moves: bool,
    pub(crate) barriers: bool,
    pub(crate) decisions: bool,
    pub(crate) ends: bool,
    /// Lengths of queues.
    pub(crate) queues: bool,
    /// Arrows from threads to those that they wake.
    pub(crate) wakes: bool,
    /// Marks of threads that another one wakes.
    pub(crate) woken: bool,
    /// Marks of threads that no thread wakes.
    pub(crate) timers: bool,
}

impl Seen {
    /// A piece of a row.
    pub(crate) fn piece(&mut self, owner: Owner, state: State, width: f64, height: f64) {
        if width >= PIXEL && height >= PIXEL {
            *self.areas.entry((owner, state)).or_default() += width * height;
        }
    }

    /// Owners and states that are noticed, in order.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Owner, State)> + use<'_> {
        self.areas.iter().filter(|(_, area)| **area >= AREA).map(|(key, _)| *key)
    }

    /// True when something of this kind is noticed, of all owners together.
    pub(crate) fn any(&self, what: impl Fn(Owner, State) -> bool) -> bool {
        let areas = self.areas.iter().filter(|((owner, state), _)| what(*owner, *state));
        areas.map(|(_, area)| area).sum::<f64>() >= AREA
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slivers_are_not_seen_and_small_pieces_only_together() {
        let mut seen = Seen::default();
        for rank in 0..100 {
            seen.piece(Owner::Thread(rank), State::Compute, 2.0, 5.0);
            seen.piece(Owner::Nobody, State::Switch, 0.4, 20.0);
        }
        assert!(seen.any(|_, state| state == State::Compute));
        assert!(!seen.any(|_, state| state == State::Switch));
        assert_eq!(seen.pieces().count(), 0);
        seen.piece(Owner::Thread(7), State::Compute, 20.0, 5.0);
        assert_eq!(seen.pieces().collect::<Vec<_>>(), [(Owner::Thread(7), State::Compute)]);
    }
}
