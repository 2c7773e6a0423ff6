//! The one SPMD program everything reuses: a fixed problem in intervals of compute, exchange, transfer and
//! barrier.

pub mod inline;
mod shape;

#[cfg(test)]
pub(crate) use shape::tests::census;
pub use shape::{HandedOut, Long, Spmd, Transfers, Variation};
