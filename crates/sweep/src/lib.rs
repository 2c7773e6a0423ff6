//! Sweeps of a scenario that may be larger than memory and than one machine.
//!
//! A [`plan::Plan`] numbers all runs. Workers, each with a shard of them, append what each run measured
//! to a directory ([`store::Store`]); [`merge`](mod@merge) puts the runs in order. The merged file is a
//! function of the plan: it does not depend on the number of workers, their order or their interruptions.

mod column;
pub mod estimate;
pub mod export;
pub mod merge;
pub mod plan;
pub mod read;
pub mod request;
pub mod row;
mod simulated;
pub mod status;
pub mod store;
pub mod unfinished;
mod unnamed;
mod until;
pub mod work;

#[cfg(feature = "parquet")]
mod columns;
