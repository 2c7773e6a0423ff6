//! Scenario to report: reads scenario files, plans and runs the experiment, and reports what it measured.

pub mod catalogue;
pub mod compare;
pub mod configuration;
pub mod decisions;
pub mod explain;
pub mod machine_view;
pub mod metrics;
pub mod number;
pub mod plan;
pub mod provenance;
pub mod references;
pub mod report;
pub mod result;
pub mod run;
mod samples;
pub mod scenario;
pub mod scenarios;
pub mod schedule;
pub mod schema;
pub mod size;
pub mod snapshots;
pub mod statements;
pub mod statistics;
pub mod sweep;

pub use notation::{encoding, neutral, parameter, suggest, units};
pub use policies::{Entry as PolicyEntry, Level as PolicyLevel, PolicyShelf};
