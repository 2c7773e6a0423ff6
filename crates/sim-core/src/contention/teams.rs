//! Pages that lie on several nodes: those of an application's tasks together, or of a task that was moved
//! while it touched them.

use std::collections::BTreeMap;

use super::law::ONE;
use crate::ids::NodeId;

/// The ways in which pages lie on several nodes; each has a page slot beyond those of nodes and of pages
/// spread evenly.
pub(super) struct Teams {
    /// The first slot.
    first: u32,
    /// Shares by node, 1/65,536, that sum to one.
    all: Vec<Vec<u64>>,
    /// Which one has these shares.
    index: BTreeMap<Vec<u64>, u32>,
}

impl Teams {
    /// None yet, on a machine of so many nodes.
    pub(super) const fn new(nodes: u32) -> Self {
        Self { first: nodes + 1, all: Vec::new(), index: BTreeMap::new() }
    }

    /// The slot of pages in proportion to these counts by node: the node itself where one has all; node 0
    /// where there are none.
    pub(super) fn find(&mut self, counts: &[u64]) -> NodeId {
        let mut used = (0..).zip(counts).filter(|(_, count)| **count > 0);
        if let (Some((node, _)), None) = (used.next(), used.next()) {
            return NodeId(node);
        }
        let all = counts.iter().map(|count| u128::from(*count)).sum::<u128>().max(1);
        let (mut sum, mut before) = (0, 0);
        let mut shares = Vec::with_capacity(counts.len());
        for count in counts {
            sum += u128::from(*count);
            let until = (sum * u128::from(ONE) / all) as u64;
            shares.push(until - before);
            before = until;
        }
        if let Some(first) = shares.first_mut() {
            *first += ONE - before;
        }
        let at = *self.index.entry(shares).or_insert_with_key(|shares| {
            self.all.push(shares.clone());
            self.all.len() as u32 - 1
        });
        NodeId(self.first + at)
    }

    /// The shares of a slot by node, if it is one of these.
    #[inline]
    pub(super) fn shares(&self, slot: u32) -> Option<&[u64]> {
        self.all.get(slot.checked_sub(self.first)? as usize).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_one_and_are_found_again() {
        let mut teams = Teams::new(3);
        let thirds = teams.find(&[1, 1, 1]);
        assert_eq!(teams.shares(thirds.0).unwrap().iter().sum::<u64>(), ONE);
        let uneven = teams.find(&[6, 0, 6]);
        assert_eq!(teams.shares(uneven.0), Some(&[ONE / 2, 0, ONE / 2][..]));
        assert_eq!((teams.find(&[2, 2, 2]), teams.find(&[1, 0, 1])), (thirds, uneven));
        assert!((0..4).all(|slot| teams.shares(slot).is_none()));
        assert_eq!(teams.find(&[0, 5, 0]), NodeId(1));
        let nowhere = teams.find(&[0, 0, 0]);
        assert_eq!(teams.shares(nowhere.0), Some(&[ONE, 0, 0][..]));
    }
}
