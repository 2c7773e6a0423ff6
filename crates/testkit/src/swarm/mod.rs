//! A campaign over random scenario files: each case is a small scenario drawn from one seed, which is
//! simulated in several ways that have to agree.
//!
//! [`check`] is one case of a seed, [`check_bytes`] one that a fuzzer proposes, [`check_text`] one from a
//! file. [`campaign`] runs many on all cpus, shrinks what fails and keeps statistics. A case is a pure
//! function of its text: `oversim run FILE` repeats its runs outside of this crate.

mod apps;
mod campaign;
mod check;
mod chosen;
mod code;
mod coverage;
mod draw;
mod faulty;
mod program;
mod programs;
mod results;
mod shrink;
mod source;
mod statistics;
mod steps;
mod text;
mod values;

pub use campaign::{Campaign, campaign};
pub use check::{Checked, Failure, check_text, quiet};
pub use coverage::Feature;
pub use faulty::Faulty;
pub use shrink::shrink;
pub use statistics::Statistics;

use serde_json::Value;
use source::Source;

/// The scenario of a seed as a tree.
#[must_use]
pub fn scenario(seed: u64) -> Value {
    draw::scenario(&mut Source::seed(seed))
}

/// The text of a scenario file with this tree.
#[must_use]
pub fn write(tree: &Value) -> String {
    text::write(tree)
}

/// The case of a seed.
///
/// # Errors
/// The first check that fails.
pub fn check(seed: u64) -> Result<Checked, Failure> {
    check_text(&write(&scenario(seed)))
}

/// The text of the scenario whose decisions are these bytes, for fuzzers: each byte is one decision or a few
/// of its bits.
#[must_use]
pub fn drawn(bytes: &[u8]) -> String {
    write(&draw::scenario(&mut Source::bytes(bytes)))
}

/// The case whose decisions are these bytes.
///
/// # Errors
/// The first check that fails.
pub fn check_bytes(bytes: &[u8]) -> Result<Checked, Failure> {
    check_text(&drawn(bytes))
}
