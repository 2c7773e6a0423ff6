//! Schedulers of Linux `sched_ext` in oversim: the rules of the kernel's side, policy files in WebAssembly
//! and their build from BPF C, and orders by formula.
#![forbid(unsafe_code)]

#[cfg(not(target_family = "wasm"))]
pub mod build;
pub mod ext;
pub mod formula;
pub mod native;
pub mod policy_file;
mod read;
pub mod wasm;

pub use read::read;
