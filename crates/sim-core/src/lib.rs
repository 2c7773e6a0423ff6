//! The physics of oversim: how machines, time, tasks and waiting behave.
//!
//! This crate knows no policy, workload or machine by name; it reads no file, no clock and no environment,
//! starts no thread, and holds no floating-point state.

pub mod account;
pub mod admission;
mod affinity;
pub mod command;
mod contention;
mod counted;
pub mod decay;
pub mod engine;
mod event;
pub mod histogram;
pub mod ids;
mod jobs;
pub mod latency;
pub mod limits;
pub mod lock;
pub mod machine;
pub mod observe;
pub mod os;
pub mod outcome;
pub mod policy;
pub mod program;
pub mod reservations;
pub mod rng;
mod run_queue;
mod spread;
mod sync;
mod task_group;
pub mod time;
pub mod topology;
pub mod wait;
pub mod wrap;

/// Steps of a random test: Miri, which takes some hundred times as long, makes fewer.
#[cfg(test)]
pub(crate) const fn steps(of: u64) -> u64 {
    if cfg!(miri) { of / 50 } else { of }
}
