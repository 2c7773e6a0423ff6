//! Plan to report: runs the experiments that scenarios plan, and reports what they measured.

pub mod compare;
pub mod conformance;
pub mod deadlines;
pub mod decisions;
pub mod export;
pub mod kernel_effects;
pub mod measured;
pub mod metrics;
pub mod other_seed;
pub mod provenance;
pub mod references;
pub mod report;
pub mod requests;
pub mod response;
pub mod result;
pub mod run;
mod samples;
pub mod schedule;
pub mod schema;
pub mod selftest;
pub mod setups;
mod simulate;
pub mod size;
pub mod snapshots;
pub mod statements;
pub mod statistics;
mod stop;
pub mod sweep;
mod threads;
pub mod uncertainty;

pub use notation::{encoding, lists, neutral, number, parameter, renamed, suggest, text, units};
pub use policies::{Entry as PolicyEntry, Level as PolicyLevel, PolicyRegistry, is_file as is_policy_file};
