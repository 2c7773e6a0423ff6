//! The benchmarks, one group per goal of docs/performance.md; all on one core, comparisons as ratios in one
//! run.
//!
//! `cargo bench -p testkit --bench event_loop`, or one group: `... -- 'task_steps/'`; summed up by
//! `crates/testkit/examples/summarise.rs`.

mod contention;
mod observation;
mod peers;
mod policies;
mod polling;
mod slopes;
mod steps;
mod support;

use criterion::{criterion_group, criterion_main};

criterion_group!(
    benches,
    steps::bench,
    polling::bench,
    contention::bench,
    observation::bench,
    policies::bench,
    slopes::bench,
    peers::bench
);
criterion_main!(benches);
