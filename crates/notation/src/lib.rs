//! Words to values: units, declared parameters, YAML with good diagnostics.
//!
//! This crate knows nothing of simulation; it reads no file and no environment.

pub mod cpus;
pub mod declare;
pub mod diagnostics;
pub mod encoding;
pub mod former_keys;
pub mod hash;
pub mod lists;
pub mod neutral;
pub mod number;
pub mod parameter;
pub mod prose;
pub mod reader;
pub mod registry;
pub mod renamed;
pub mod suggest;
pub mod text;
pub mod typed;
pub mod units;
pub mod yaml;
