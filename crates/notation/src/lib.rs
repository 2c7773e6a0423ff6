//! Words to values: units, declared parameters, YAML with good diagnostics.
//!
//! This crate knows nothing of simulation; it reads no file and no environment.

pub mod parameter;
pub mod yaml;
