//! Whole runs under schedulers of `sched_ext`: one to eight cpus without costs, a tick of 1 ms.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod lab;
mod native;
mod operations;
mod probe;
mod random;
mod rules;
