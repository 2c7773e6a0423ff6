//! Schedulers of Linux `sched_ext` in oversim: the rules of the kernel's side, policy files in WebAssembly
//! and their build from BPF C.
#![forbid(unsafe_code)]

#[cfg(not(target_family = "wasm"))]
pub mod build;
pub mod ext;
pub mod native;
pub mod policy_file;
pub mod wasm;
