//! Which mechanism makes the difference between two runs: each cost, rule, latency, bandwidth, way to wait
//! and property of the work is moved alone on both sides, under common random numbers, and what is left of
//! the difference is measured.

mod answer;
mod differ;
mod measure;
mod moves;
mod report;
mod sentences;
mod side;

pub use answer::{Answer, Kind, Row, Share, Together};
pub use measure::explain;
pub use report::{json, markdown, text};
pub use sentences::{reason, sentences, signed_percent, title};
pub use side::{Pair, of_files, of_policies, of_values};
