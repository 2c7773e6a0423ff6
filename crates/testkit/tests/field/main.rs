//! Cases that people reported in public, each with the outcome that they had.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a panic is a failed test")]

mod answers;
mod cautions;
mod deadlines;
mod kernels;
mod locks;
mod machines;
mod masks;
mod ordering;
mod ostep;
mod periodic;
mod programs;
mod references;
mod reservations;
mod runtimes;
mod shares;
mod sizes;
mod support;
mod teams;
mod waits;
