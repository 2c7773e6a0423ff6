//! How MPI libraries move messages within a node, and by which algorithms they do collectives.

use notation::declare::{Rate, Size};
use notation::parameter::Values;
use sim_core::time::Span;

use super::Entry;
use super::table::Parameters;

/// How a library moves messages within a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRules {
    /// Largest message, in bytes, whose sender goes on without waiting for its receiver (eager).
    pub eager: u64,
    /// True where the receiver of a larger one copies it out of the memory of the sender; else both copy, at
    /// the same time, through memory that they share.
    pub single_copy: bool,
    /// Work of a call for a message, beside copying.
    pub call: Span,
    /// Bytes that a core copies in a second, or combines in a reduction.
    pub rate: u64,
    /// By which algorithms it does collectives.
    pub algorithms: Algorithms,
}

/// From which sizes on, in bytes, a library does collectives by which algorithms. Rank 0 is the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Algorithms {
    /// The runtime that has them.
    name: &'static str,
    /// From this size and so many ranks on `bcast` scatters the data and gathers it by the
    /// ring algorithm.
    pub(crate) long_bcast: (u64, u32),
    /// From this size on `allreduce` scatters the result and gathers it again.
    pub(crate) long_allreduce: u64,
    /// It does so by the ring algorithm, else by halving and doubling.
    pub(crate) rings: bool,
    /// From this size of all blocks on `allgather` takes the ring algorithm: with a power of two of ranks,
    /// and with other numbers.
    long_allgather: (u64, u64),
    /// Up to this size of a block, and from so many ranks on, `alltoall` takes logarithmically many steps.
    pub(crate) short_alltoall: (u64, u32),
}

/// MPICH 2 to 3.4: the limits of its collectives (`MPIR_CVAR_BCAST_SHORT_MSG_SIZE` and `_MIN_PROCS`,
/// `ALLREDUCE_SHORT_MSG_SIZE`, `ALLGATHER_LONG_MSG_SIZE` and `_SHORT_MSG_SIZE`, `ALLTOALL_SHORT_MSG_SIZE`;
/// src/mpi/coll; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005).
const MPICH: Algorithms = Algorithms {
    name: "mpich2",
    long_bcast: (12_288, 8),
    long_allreduce: 2_049,
    rings: false,
    long_allgather: (524_288, 81_920),
    short_alltoall: (256, 8),
};

/// Open MPI up to 4.0, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c. The model does its bcast on a split
/// tree as a scatter and the ring algorithm, and its exchange of neighbours as the latter.
const OPEN_MPI: Algorithms = Algorithms {
    name: "openmpi",
    long_bcast: (2_048, 2),
    long_allreduce: 10_000,
    rings: true,
    long_allgather: (50_000, 50_000),
    short_alltoall: (199, 13),
};

impl Algorithms {
    /// From which size of all blocks of so many ranks on `allgather` takes the ring algorithm.
    pub(crate) const fn ring_of(&self, ranks: u32) -> u64 {
        if ranks.is_power_of_two() { self.long_allgather.0 } else { self.long_allgather.1 }
    }
}

impl MessageRules {
    /// Those of `mpi` without parameters: what runtimes have that have none of their own.
    pub const PLAIN: Self = Self {
        eager: Parameters::eager_limit.default,
        single_copy: Parameters::single_copy.default != 0,
        call: Span::from_ns(Parameters::message_call.default),
        rate: Parameters::copy_rate.default,
        algorithms: MPICH,
    };

    /// The rules of a runtime with these values.
    #[must_use]
    pub fn of(entry: &Entry, values: &Values) -> Self {
        let values = Parameters::from(values);
        let known = [OPEN_MPI].into_iter().find(|known| known.name == entry.name);
        let plain = Self::PLAIN;
        Self {
            eager: values.eager_limit.map_or(plain.eager, Size::bytes),
            single_copy: values.single_copy.unwrap_or(plain.single_copy),
            call: values.message_call.map_or(plain.call, |call| Span::from_ns(call.ns())),
            rate: values.copy_rate.map_or(plain.rate, Rate::bytes_per_second),
            algorithms: known.unwrap_or(plain.algorithms),
        }
    }

    /// How long a core takes to copy so many bytes.
    #[must_use]
    pub fn copy(&self, bytes: u64) -> Span {
        let ns = u128::from(bytes) * 1_000_000_000 / u128::from(self.rate.max(1));
        Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}
