//! The built-in machines: data files, synthetic descriptions, parameter tables; and machines imported from
//! descriptions of hwloc and Linux, or with values that benchmarks measured.
//!
//! [`resolve`] turns a machine's name or a synthetic description into an [`Entry`]; [`build`] turns its
//! topology and values, with a scenario's overrides, into a [`sim_core::machine::Machine`]. [`import`] makes
//! a machine file of what hwloc or Linux states, [`benchmarks`] one with measured values.

pub mod benchmarks;
mod built_in;
pub mod contention;
mod datum;
mod entry;
mod file;
pub mod import;
mod parameters;
mod topology;
mod uncertain;

pub use built_in::{entries, names, resolve};
pub use entry::{DISTURBED, Entry, Note};
pub use file::read as read_file;
pub use parameters::{GENERIC_NOTES, Lists, Parameters, build, generic_values};
pub use topology::{LEVEL_NAMES, parse_topology};
pub use uncertain::{Draw, Input};
