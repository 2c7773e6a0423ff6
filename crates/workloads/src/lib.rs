//! The shelf of workloads and parallel runtimes: parameter tables, and builders from values to programs.

pub mod hog;
pub mod npb;
mod registry;
pub mod runtimes;
pub mod small;
pub mod spmd;

pub use registry::{Built, Context, Entry, entries, names, resolve};
