//! Policy files: schedulers in WebAssembly, run by an interpreter with bounds on time, memory and depth.

mod at;
mod call;
mod entry;
mod failing;
mod globals;
mod host;
mod imports;
mod kernel;
mod limits;
mod loaded;
mod memory;
mod started;
mod tasks;

pub use entry::{check, entry_of, read};
