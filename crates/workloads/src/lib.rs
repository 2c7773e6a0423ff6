//! The registry of workloads and parallel runtimes: parameter tables, and builders from values to programs.

mod entry;
pub mod hog;
mod hybrid;
mod locks;
mod make;
pub mod npb;
pub mod parbench;
mod pool;
mod profile;
pub mod program;
mod registry;
pub mod runtimes;
mod sleepers;
pub mod small;
pub mod spec_omp;
pub mod spmd;
mod variation;

pub use entry::{Build, Built, Context, Entry};
pub use locks::{LOCK_KINDS, LockKind};
pub use profile::{Profile, Trial};
pub use registry::WORKLOADS;
