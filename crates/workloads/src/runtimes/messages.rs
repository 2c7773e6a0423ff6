//! How MPI libraries move messages within a node, and by which algorithms they do collectives.

use notation::declare::{Duration, Rate, Size};
use notation::parameter::Values;
use sim_core::time::Span;

use super::table::{Collectives, Parameters};

/// How a library moves messages within a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRules {
    /// Largest message, in bytes, whose sender goes on without waiting for its receiver (eager).
    pub eager: u64,
    /// Bytes in a second at which the receiver copies a larger one out of the memory of the sender. None:
    /// both copy, at the same time, through memory that they share.
    pub single_copy: Option<u64>,
    /// Work of a call for a message up to the limit, and for a larger one, beside copying.
    pub calls: (Span, Span),
    /// Bytes that a core copies in a second through shared memory, or combines in a reduction.
    pub rate: u64,
    /// By which algorithms it does collectives.
    pub algorithms: Algorithms,
}

/// From which sizes on, in bytes, a library does collectives by which algorithms. Rank 0 is the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Algorithms {
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
    long_bcast: (12_288, 8),
    long_allreduce: 2_049,
    rings: false,
    long_allgather: (524_288, 81_920),
    short_alltoall: (256, 8),
};

/// Open MPI up to 4.0, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c. The model does its bcast on a split
/// tree as a scatter and the ring algorithm, and its exchange of neighbours as the latter.
const OPEN_MPI: Algorithms = Algorithms {
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
        single_copy: None,
        calls: (
            Span::from_ns(Parameters::message_call.default),
            Span::from_ns(Parameters::large_message_call.default),
        ),
        rate: Parameters::copy_rate.default,
        algorithms: MPICH,
    };

    /// The rules of a runtime with these values.
    #[must_use]
    pub fn of(values: &Values) -> Self {
        let values = Parameters::from(values);
        let plain = Self::PLAIN;
        let copied = values.single_copy_rate.filter(|_| values.single_copy == Some(true));
        let call = |own: Option<Duration>, plain| own.map_or(plain, |call| Span::from_ns(call.ns()));
        Self {
            eager: values.eager_limit.map_or(plain.eager, Size::bytes),
            single_copy: copied.map(Rate::bytes_per_second),
            calls: (call(values.message_call, plain.calls.0), call(values.large_message_call, plain.calls.1)),
            rate: values.copy_rate.map_or(plain.rate, Rate::bytes_per_second),
            algorithms: match values.collectives {
                Some(Collectives::OpenMpi) => OPEN_MPI,
                Some(Collectives::Mpich) | None => plain.algorithms,
            },
        }
    }

    /// The work of a call for a message of so many bytes, beside copying.
    #[must_use]
    pub const fn call(&self, bytes: u64) -> Span {
        if bytes <= self.eager { self.calls.0 } else { self.calls.1 }
    }

    /// How long a core takes to copy so many bytes through shared memory, or to combine them.
    #[must_use]
    pub fn copy(&self, bytes: u64) -> Span {
        at_rate(bytes, self.rate)
    }

    /// How long a receiver takes to copy so many bytes out of the memory of the sender, if it does.
    #[must_use]
    pub fn single(&self, bytes: u64) -> Option<Span> {
        self.single_copy.map(|rate| at_rate(bytes, rate))
    }
}

/// How long so many bytes take at a rate in bytes per second.
fn at_rate(bytes: u64, rate: u64) -> Span {
    let ns = u128::from(bytes) * 1_000_000_000 / u128::from(rate.max(1));
    Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_limits_of_both_libraries() {
        let page = std::fs::read_to_string(format!("{}/../../docs/programs.md", env!("CARGO_MANIFEST_DIR")));
        let page = page.unwrap();
        let number = |n: u64| {
            let digits = n.to_string();
            match digits.len() {
                0..=3 => digits,
                length => format!("{},{}", &digits[..length - 3], &digits[length - 3..]),
            }
        };
        let (open, mpich) = (OPEN_MPI, MPICH);
        assert!(open.long_bcast.1 == 2 && open.long_allgather.0 == open.long_allgather.1);
        let [a, b, c, d, e, f, g, h] = [
            open.long_bcast.0,
            mpich.long_bcast.0,
            open.long_allreduce,
            mpich.long_allreduce,
            open.long_allgather.0,
            mpich.long_allgather.0,
            open.short_alltoall.0 + 1,
            mpich.short_alltoall.0 + 1,
        ]
        .map(number);
        let (ranks, odd) = (mpich.long_bcast.1, number(mpich.long_allgather.1));
        let (some, few) = (open.short_alltoall.1, mpich.short_alltoall.1);
        for row in [
            format!("| `bcast` | from {a} bytes | from {b} bytes and {ranks} ranks |"),
            format!("| `allreduce` | from {c} bytes | from {d} bytes |"),
            format!("| from {e} bytes | from {f} bytes, {odd} where n is no power of two |"),
            format!("| from {g} bytes, or below {some} ranks | from {h} bytes, or below {few} ranks |"),
        ] {
            assert!(page.contains(&row), "{row}");
        }
    }
}
