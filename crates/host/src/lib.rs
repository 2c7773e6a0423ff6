//! Runs scenarios for real on this Linux host, beside their predictions, and measures the costs of the host.
//!
//! The crate is outside the deterministic core: nothing here flows back into a simulation except through a
//! machine file. On other systems it is empty.

#![cfg(target_os = "linux")]

pub mod barrier;
pub mod calibrate;
pub mod facts;
pub mod fair;
pub mod job;
pub mod load;
pub mod measure;
pub mod memory;
pub mod operations;
pub mod others;
pub mod page;
pub mod parent;
mod places;
pub mod plan;
pub mod predictions;
pub mod process;
pub mod real;
pub mod real_suite;
pub mod recorder;
pub mod refusal;
pub mod result;
pub mod statistics;
pub mod suite;
#[cfg(test)]
mod testing;
pub mod text;
pub mod work;
