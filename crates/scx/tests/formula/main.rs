//! Orders by formula: in scenarios, as programs in C, and that the two decide alike.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "a test without clang says that it did nothing")]

mod bpf;
mod draw;
mod equal;
mod lab;
mod page;
mod scenarios;
