//! Policy files in scenarios: what they may do, what ends a run, and that they decide as those in Rust do.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "a test without clang says that it did nothing")]

mod bounds;
mod equal;
mod module;
mod refused;
mod scenarios;
