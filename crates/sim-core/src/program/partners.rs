//! Who tells whom in a step of a collective operation of messages.

/// For each rank the one that it tells, and the one for which it waits. Who tells nobody only waits; who
/// waits for nobody goes on at once.
///
/// Such steps make up the trees and the recursive doubling by which MPI libraries do collectives (MPICH,
/// `bcast_intra_binomial.c` and `allreduce_intra_recursive_doubling.c`; Open MPI, `coll_base_allreduce.c`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Partners {
    /// A step of a binomial tree towards rank 0: a rank whose lowest set bit is this one, 0 to 31, tells the
    /// rank without it.
    Up(u32),
    /// The reverse: a step of a binomial tree from rank 0.
    Down(u32),
    /// Of the first 2e ranks the even ones tell the next rank, where e ranks are more than the greatest power
    /// of two. The odd ones and the ranks behind them are then numbered from 0 on for [`Self::Folded`].
    Fold,
    /// The reverse: the odd ones of the first 2e ranks tell the rank before.
    Unfold,
    /// Two ranks whose numbers differ in these bits tell each other. The numbers are those that
    /// [`Self::Fold`] gives, which for a power of two are the ranks. The even ones of the first 2e ranks have
    /// none.
    Folded(u32),
}

/// The greatest power of two that is no more than this many ranks, and how many are left.
const fn folded(ranks: u32) -> (u32, u32) {
    let main = if ranks == 0 { 0 } else { 1 << ranks.ilog2() };
    (main, ranks - main)
}

impl Partners {
    /// True for a step that can be: its bit is one of a rank.
    #[must_use]
    pub const fn is_legal(self) -> bool {
        !matches!(self, Self::Up(bit) | Self::Down(bit) if bit >= u32::BITS)
    }

    /// The rank that a rank tells, of this many ranks.
    #[must_use]
    pub fn to(self, rank: u32, ranks: u32) -> Option<u32> {
        let (main, extra) = folded(ranks);
        let pairs = u64::from(rank) < 2 * u64::from(extra);
        let other = match self {
            Self::Up(bit) => {
                let bit = 1_u32.checked_shl(bit)?;
                (rank.trailing_zeros() == bit.trailing_zeros()).then(|| rank - bit)?
            }
            Self::Down(bit) => (rank.trailing_zeros() > bit).then(|| rank.checked_add(1 << bit))??,
            Self::Fold => (pairs && rank.is_multiple_of(2)).then_some(rank + 1)?,
            Self::Unfold => (pairs && !rank.is_multiple_of(2)).then(|| rank - 1)?,
            Self::Folded(bits) => {
                let number = match (pairs, rank.is_multiple_of(2)) {
                    (true, true) => return None,
                    (true, false) => rank / 2,
                    (false, _) => rank - extra,
                };
                let partner = number ^ bits;
                match partner {
                    _ if partner >= main => return None,
                    _ if partner < extra => 2 * partner + 1,
                    _ => partner + extra,
                }
            }
        };
        (other < ranks).then_some(other)
    }

    /// The step in which those that are told tell those that told them.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::Folded(_) => self,
            Self::Up(bit) => Self::Down(bit),
            Self::Down(bit) => Self::Up(bit),
            Self::Fold => Self::Unfold,
            Self::Unfold => Self::Fold,
        }
    }

    /// The rank for which a rank waits, of this many ranks: the one that tells it.
    #[must_use]
    pub fn from(self, rank: u32, ranks: u32) -> Option<u32> {
        self.reverse().to(rank, ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whose data each rank has, one bit each, after these steps; at first it has its own. Also how many
    /// steps the rank with most of them waits in.
    fn after(ranks: u32, steps: &[Partners]) -> (Vec<u32>, usize) {
        let mut known: Vec<u32> = (0..ranks).map(|rank| 1 << rank).collect();
        let mut waits = vec![0; ranks as usize];
        for step in steps {
            let before = known.clone();
            for rank in 0..ranks {
                if let Some(from) = step.from(rank, ranks) {
                    known[rank as usize] |= before[from as usize];
                    waits[rank as usize] += 1;
                }
            }
        }
        (known, waits.into_iter().max().unwrap_or(0))
    }

    /// Rounds of so many ranks: the least r with 2^r >= ranks.
    fn rounds(ranks: u32) -> u32 {
        ranks.next_power_of_two().trailing_zeros()
    }

    #[test]
    fn who_is_told_is_who_waits() {
        for ranks in 1..=17 {
            let steps = (0..32).map(Partners::Folded);
            let trees = (0..32).flat_map(|bit| [Partners::Up(bit), Partners::Down(bit)]);
            for step in steps.chain(trees).chain([Partners::Fold, Partners::Unfold]) {
                for rank in 0..ranks {
                    let there = |to: Option<u32>| to.is_none_or(|to| to < ranks);
                    assert!(there(step.to(rank, ranks)) && there(step.from(rank, ranks)), "{step:?}");
                    let told: Vec<u32> =
                        (0..ranks).filter(|other| step.to(*other, ranks) == Some(rank)).collect();
                    assert_eq!(told, step.from(rank, ranks).into_iter().collect::<Vec<_>>(), "{step:?}");
                }
            }
        }
    }

    #[test]
    fn trees_bring_all_to_the_root_and_back() {
        for ranks in 1..=17 {
            let bits = 0..rounds(ranks);
            let (known, waits) = after(ranks, &bits.clone().map(Partners::Up).collect::<Vec<_>>());
            assert_eq!((known[0], waits), ((1 << ranks) - 1, rounds(ranks) as usize), "{ranks}");
            // From the root each rank hears once.
            let (known, waits) = after(ranks, &bits.rev().map(Partners::Down).collect::<Vec<_>>());
            assert!(known.iter().all(|known| known & 1 == 1), "{ranks}: {known:?}");
            assert_eq!(waits, usize::from(ranks > 1), "{ranks}");
        }
    }

    #[test]
    fn recursive_doubling_tells_each_rank_of_all() {
        for ranks in 1..=17_u32 {
            let all = vec![(1 << ranks) - 1; ranks as usize];
            let doubling = (0..ranks.ilog2()).map(|round| Partners::Folded(1 << round));
            let folds: Vec<Partners> =
                [Partners::Fold].into_iter().chain(doubling).chain([Partners::Unfold]).collect();
            let (known, waits) = after(ranks, &folds);
            assert_eq!(known, all, "{ranks}");
            assert_eq!(waits, (ranks.ilog2() + u32::from(!ranks.is_power_of_two())) as usize, "{ranks}");
        }
    }

    #[test]
    fn a_bit_beyond_those_of_ranks_is_refused() {
        assert!(
            Partners::Up(31).is_legal() && !Partners::Up(32).is_legal() && !Partners::Down(32).is_legal()
        );
        assert!(Partners::Folded(u32::MAX).is_legal());
    }
}
