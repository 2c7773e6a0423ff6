//! The parameters of `gang`, with the source of each, or that it is a choice made here.

use notation::declare::{Duration, Factor, Percent};
use notation::{choices, parameters};

use super::matrix::Packing;

/// The shortest slot, ns.
pub(super) const SHORTEST: u64 = 100_000;

choices! {
    /// The words of `quantum_by`.
    pub(super) enum QuantumBy { Equal = "equal", Threads = "threads" }
}

choices! {
    /// Which tasks run in idle cells.
    pub(super) enum Alternates { JobsFirst = "jobs-first", Any = "any", None = "none" }
}

parameters! {
    /// Parameters of GANG.
    pub(super) struct Parameters {
        /// Length of a slot (at least 100 ms on production systems such as the CM-5).
        quantum: Duration = ms(100), in SHORTEST..=s(1000);
        /// `equal`: all slots are equally long. `threads`: the length of a slot is proportional to its number
        /// of tasks; `quantum` is then the length for one task per cpu, and a slot lasts at least 100 us. A
        /// task then gets the same time in a large gang as in a small one (a choice made here).
        quantum_by: QuantumBy = QuantumBy::Equal;
        /// Columns of a new gang. `first-fit`: the first free ones of the first slot that has enough.
        /// `buddy`: a whole block whose size is a power of two, the one with the fewest tasks (distributed
        /// hierarchical control, Feitelson and Rudolph, IEEE Computer 1990).
        packing: Packing = Packing::FirstFit;
        /// Which tasks fill idle cells. `jobs-first`: applications that fit as a whole come first. `any`: all
        /// tasks are equal. `none`: no tasks (strict gangs).
        alternates: Alternates = Alternates::JobsFirst;
        /// Merge slots with disjoint columns when an application ends (Feitelson, JSSPP 1996).
        unification: bool = true;
        /// When an application ends, move gangs to free columns of other slots if that saves a slot (Zhang
        /// and others, TPDS 2003; moving only then is a choice made here).
        migration: bool = false;
        /// A slot that leaves its cpus idle runs together with a busy one (Wiseman and Feitelson, TPDS 2003).
        pairing: bool = false;
        /// Two slots are paired if together they use at most this share of a cpu, each measured while it runs
        /// unpaired. At 150% a slot that always computes keeps half of the cpu next to its partner, as much
        /// as with alternating slots. Uncertain: the paper's own limit could not be checked.
        pair_limit: Percent = percent(150), in 0..=percent(200);
        /// Cycles of all slots for which pairs last, before every slot is measured unpaired for one cycle (a
        /// choice made here).
        pair_cycles: u64 = 8, in 1..=1_000_000;
        /// Scales the cost of a slot change: t_ipi (one interrupt) * ceil(log2 cpus) + one context switch on
        /// every cpu.
        switch_cost: Factor = 1_000, in 0..=1_000_000;
    }
}
