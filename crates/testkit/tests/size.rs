//! The estimate of the memory of a run holds for real runs: a test binary of its own, with a counting
//! allocator.

use std::alloc::System;

use experiment::run::simulate_one;
use experiment::size::Size;
use scenario::{Overrides, load};
use sim_core::observe::{Observation, Observer};
use sim_core::time::Time;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are allocated now.
fn allocated() -> i64 {
    let stats = ALLOCATOR.stats();
    // Growing and shrinking are in both numbers.
    stats.bytes_allocated as i64 - stats.bytes_deallocated as i64
}

/// The most bytes at any event.
#[derive(Default)]
struct Most(i64);

impl Observer for Most {
    fn observe(&mut self, _at: Time, _what: &Observation) {
        self.0 = self.0.max(allocated());
    }
}

// One test only: others would ask for memory at the same time.
#[test]
fn estimates_are_within_a_factor_of_two_of_what_runs_allocate() {
    let shapes = [
        ("tasks", "core:4", 60_000, 1, "LOAD", "1us"),
        ("tasks that run", "core:4", 60_000, 1, "LOAD", "2ms"),
        ("tasks of another policy", "core:4", 60_000, 1, "LEWI", "1us"),
        ("cpus", "core:60000", 4, 1, "LOAD", "1us"),
        ("cpus of another policy", "\"numa:16 core:4096\"", 4, 1, "DWRR", "1us"),
        ("both", "core:30000", 60_000, 1, "PIN", "1us"),
        ("copies", "core:4", 16, 2_000, "LOAD", "1us"),
    ];
    let mut wrong = Vec::new();
    for (name, machine, tasks, copies, policy, horizon) in shapes {
        let text = format!(
            "name: size\nmachine: {machine}\napps:\n  a: {{ workload: {{ spmd: {{ intervals: 3, grain: 1ms \
                }} }}, tasks: {tasks}, \
             copies: {copies} }}\npolicies: [{policy}]\nbaseline: none\nhorizon: {horizon}\nstart_jitter: \
             0ns\n"
        );
        let before = allocated();
        let experiment =
            load("size.yaml", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
        let size = Size::of(&experiment);
        let mut most = Most::default();
        let report = simulate_one(&experiment.runs[0], &mut most).expect("a legal run");
        let measured = (most.0.max(allocated()) - before) as f64;
        let estimated = (size.plan + size.runs[0]) as f64;
        let factor = estimated / measured;
        if !(0.5..=2.0).contains(&factor) {
            wrong.push(format!("{name}: estimated {estimated:.0}, measured {measured:.0}: {factor:.2}"));
        }
        drop(report);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
