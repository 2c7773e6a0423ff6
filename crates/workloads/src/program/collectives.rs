//! The collectives of MPI as steps in which each rank sends to at most one and receives from at most one.

use sim_core::limits::MAX_OPS;
use sim_core::program::Partners;

use crate::runtimes::MessageRules;

/// A collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collective {
    /// From rank 0 to all.
    Bcast,
    /// Combined on the way from all to rank 0.
    Reduce,
    /// The same, and all have the result.
    Allreduce,
    /// A block of each rank from rank 0.
    Scatter,
    /// A block of each rank to rank 0.
    Gather,
    /// A block of each rank to all.
    Allgather,
    /// A block from each rank to each other one.
    Alltoall,
}

/// Collectives with their words, which are those of MPI.
pub const COLLECTIVES: [(&str, Collective); 7] = [
    ("bcast", Collective::Bcast),
    ("reduce", Collective::Reduce),
    ("allreduce", Collective::Allreduce),
    ("scatter", Collective::Scatter),
    ("gather", Collective::Gather),
    ("allgather", Collective::Allgather),
    ("alltoall", Collective::Alltoall),
];

/// Who sends to whom in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hop {
    /// To the rank so much further on.
    Shift(u32),
    /// As in a step of a tree or of recursive doubling.
    With(Partners),
}

impl Hop {
    /// From the receivers to the senders, of so many ranks.
    pub(super) const fn reverse(self, ranks: u32) -> Self {
        match self {
            Self::Shift(by) => Self::Shift((ranks - by % ranks) % ranks),
            Self::With(with) => Self::With(with.reverse()),
        }
    }
}

/// A step: each rank sends to at most one and receives from at most one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) hop: Hop,
    /// Bytes of a message.
    pub(super) bytes: u64,
    /// The receiver combines them with its own.
    pub(super) combines: bool,
}

/// The steps of a collective of so many ranks: `bytes` are those of the buffer that MPI calls count, so of
/// each block where every rank has one. Of more steps than a program can have there are as many as it can.
pub(super) fn steps(what: Collective, ranks: u32, bytes: u64, rules: &MessageRules) -> Vec<Step> {
    let of = &rules.algorithms;
    if ranks <= 1 {
        return Vec::new();
    }
    let rounds = ranks.next_power_of_two().trailing_zeros();
    let n = u64::from(ranks);
    let part = bytes.div_ceil(n);
    let mut steps = Steps(Vec::new());
    match what {
        Collective::Bcast if bytes >= of.long_bcast.0 && ranks >= of.long_bcast.1 => {
            steps.tree(rounds, true, |bit| blocks(part, bit, n));
            steps.ring(ranks - 1, part, false);
        }
        Collective::Bcast => steps.tree(rounds, true, |_| bytes),
        Collective::Scatter => steps.tree(rounds, true, |bit| blocks(bytes, bit, n)),
        Collective::Gather => steps.tree(rounds, false, |bit| blocks(bytes, bit, n)),
        Collective::Reduce => {
            steps.tree(rounds, false, |_| bytes);
            steps.0.iter_mut().for_each(|step| step.combines = true);
        }
        Collective::Allreduce if bytes >= of.long_allreduce && of.rings => {
            steps.ring(ranks - 1, part, true);
            steps.ring(ranks - 1, part, false);
        }
        Collective::Allreduce => {
            let scatters = bytes >= of.long_allreduce;
            steps.doubling(ranks, bytes, scatters);
        }
        Collective::Allgather if bytes.saturating_mul(n) >= of.ring_of(ranks) => {
            steps.ring(ranks - 1, bytes, false);
        }
        Collective::Allgather => {
            for round in 0..rounds {
                steps.push(Hop::Shift(ranks - (1 << round)), blocks(bytes, round, n), false);
            }
        }
        Collective::Alltoall if bytes <= of.short_alltoall.0 && ranks >= of.short_alltoall.1 => {
            for round in 0..rounds {
                let moved = (1..n).filter(|block| block >> round & 1 == 1).count() as u64;
                steps.push(Hop::Shift(1 << round), bytes.saturating_mul(moved), false);
            }
        }
        Collective::Alltoall => {
            (1..ranks).take(MAX_OPS).for_each(|by| steps.push(Hop::Shift(by), bytes, false));
        }
    }
    steps.0
}

/// Bytes of the blocks below the largest branch of a tree at a bit, of so many ranks.
fn blocks(bytes: u64, bit: u32, ranks: u64) -> u64 {
    bytes.saturating_mul((1 << bit).min(ranks - (1 << bit)))
}

struct Steps(Vec<Step>);

impl Steps {
    fn push(&mut self, hop: Hop, bytes: u64, combines: bool) {
        self.0.push(Step { hop, bytes, combines });
    }

    /// A binomial tree from rank 0, or towards it; `bytes` of the step with a bit.
    fn tree(&mut self, rounds: u32, from: bool, bytes: impl Fn(u32) -> u64) {
        let towards = (0..rounds).map(|bit| (Partners::Up(bit), bytes(bit)));
        let mut all: Vec<_> = towards.collect();
        if from {
            all.reverse();
        }
        for (with, bytes) in all {
            let with = if from { with.reverse() } else { with };
            self.push(Hop::With(with), bytes, false);
        }
    }

    fn ring(&mut self, times: u32, bytes: u64, combines: bool) {
        (0..times).take(MAX_OPS).for_each(|_| self.push(Hop::Shift(1), bytes, combines));
    }

    /// Recursive doubling with all the data in each step; or, where it `scatters`, halving and doubling.
    fn doubling(&mut self, ranks: u32, bytes: u64, scatters: bool) {
        let folds = !ranks.is_power_of_two();
        if folds {
            self.push(Hop::With(Partners::Fold), bytes, true);
        }
        let rounds: Vec<u32> = (0..ranks.ilog2()).collect();
        let with = |round: u32| Hop::With(Partners::Folded(1 << round));
        for round in &rounds {
            let bytes = if scatters { bytes.div_ceil(2 << round) } else { bytes };
            self.push(with(*round), bytes, true);
        }
        for round in rounds.iter().rev().filter(|_| scatters) {
            self.push(with(*round), bytes.div_ceil(2 << round), false);
        }
        if folds {
            self.push(Hop::With(Partners::Unfold), bytes, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtimes::RUNTIMES;
    use notation::parameter::Values;

    fn libraries() -> Vec<MessageRules> {
        let of = |name| {
            let entry = RUNTIMES.resolve(name).unwrap();
            MessageRules::of(&Values::defaults(entry.parameters))
        };
        ["openmpi", "mpich2"].map(of).into()
    }

    /// From which ranks each one has heard, itself included, one bit each.
    fn heard(ranks: u32, steps: &[Step]) -> Vec<u64> {
        let mut known: Vec<u64> = (0..ranks).map(|rank| 1 << rank).collect();
        for step in steps {
            let before = known.clone();
            for rank in 0..ranks {
                let from = match step.hop {
                    Hop::Shift(by) => Some((rank + ranks - by % ranks) % ranks),
                    Hop::With(with) => with.from(rank, ranks),
                };
                known[rank as usize] |= from.map_or(0, |from| before[from as usize]);
            }
        }
        known
    }

    #[test]
    fn whoever_is_to_receive_data_hears_of_those_that_have_it() {
        for rules in libraries() {
            for (word, what) in COLLECTIVES {
                for (ranks, bytes) in (1..=20).flat_map(|ranks| [(ranks, 8), (ranks, 1 << 20)]) {
                    let known = heard(ranks, &steps(what, ranks, bytes, &rules));
                    let all = (1_u64 << ranks) - 1;
                    let at = format!("{word} of {ranks}, {bytes} bytes");
                    match what {
                        Collective::Bcast | Collective::Scatter => {
                            assert!(known.iter().all(|known| known & 1 == 1), "{at}");
                        }
                        Collective::Reduce | Collective::Gather => assert_eq!(known[0], all, "{at}"),
                        _ => assert!(known.iter().all(|known| *known == all), "{at}"),
                    }
                }
            }
        }
    }

    /// The most bytes that one rank sends, if it sends in each step.
    fn sent(what: Collective, ranks: u32, bytes: u64, rules: &MessageRules) -> (usize, u64) {
        let steps = steps(what, ranks, bytes, rules);
        (steps.len(), steps.iter().map(|step| step.bytes).sum())
    }

    #[test]
    fn algorithms_have_the_steps_and_bytes_of_their_analyses() {
        // Thakur, Rabenseifner, Gropp 2005, sections 4.1 to 4.5, for 16 ranks.
        let [open, mpich] = libraries().try_into().unwrap();
        for rules in [open, mpich] {
            assert_eq!(sent(Collective::Allreduce, 16, 8, &rules), (4, 4 * 8));
            assert_eq!(sent(Collective::Bcast, 16, 8, &rules), (4, 4 * 8));
            assert_eq!(sent(Collective::Allgather, 16, 8, &rules), (4, 15 * 8));
            assert_eq!(sent(Collective::Allgather, 16, 1 << 20, &rules), (15, 15 << 20));
            assert_eq!(sent(Collective::Alltoall, 16, 8, &rules), (4, 4 * 8 * 8));
            assert_eq!(sent(Collective::Alltoall, 16, 1 << 20, &rules), (15, 15 << 20));
            assert_eq!(sent(Collective::Gather, 16, 10, &rules), (4, 150));
            assert_eq!(sent(Collective::Bcast, 16, 1 << 20, &rules), (4 + 15, 2 * (15 << 16)));
        }
        assert_eq!(sent(Collective::Allreduce, 16, 1 << 20, &open), (30, 2 * (15 << 16)));
        assert_eq!(sent(Collective::Allreduce, 16, 1 << 20, &mpich), (8, 2 * (15 << 16)));
        // Two more steps with all the data where the ranks are no power of two.
        assert_eq!(sent(Collective::Allreduce, 20, 1 << 20, &mpich), (10, (2 << 20) + 2 * (15 << 16)));
        assert_eq!(sent(Collective::Allreduce, 1, 1 << 20, &mpich), (0, 0));
        // All blocks but one's own, also where the largest branch has fewer ranks than its bit.
        assert_eq!(sent(Collective::Gather, 6, 10, &mpich), (3, 50));
        assert_eq!(sent(Collective::Allgather, 6, 10, &mpich), (3, 50));
    }

    #[test]
    fn a_step_back_goes_from_the_receivers_to_the_senders() {
        let hops = [Hop::Shift(3), Hop::With(Partners::Up(1)), Hop::With(Partners::Fold)];
        for (hop, ranks) in hops.into_iter().flat_map(|hop| [(hop, 2), (hop, 6), (hop, 7)]) {
            let step = |hop| Step { hop, bytes: 0, combines: false };
            let (one, other) = (heard(ranks, &[step(hop)]), heard(ranks, &[step(hop.reverse(ranks))]));
            for (a, b) in (0..ranks).flat_map(|a| (0..ranks).map(move |b| (a, b))) {
                assert_eq!(one[a as usize] >> b & 1, other[b as usize] >> a & 1, "{hop:?} {ranks}");
            }
        }
    }
}
