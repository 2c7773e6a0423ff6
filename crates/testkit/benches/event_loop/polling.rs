//! Polling is free: the cost of a step with barriers 1 ms to 10 s apart, a thousand to ten million polls per
//! wait.

use criterion::Criterion;
use sim_core::program::Spread;
use sim_core::time::Span;
use testkit::job::Job;

use crate::support::{add, group};

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = group(criterion, "polling");
    // Without contention and balancing, with waits half as long as the work: nothing but polls grows with the
    // grain while each cpu has one task. With four the slices of those that compute at the same time grow,
    // too: a tick each, which is no poll.
    let alone =
        Job { tasks_per_cpu: 1, contention: false, spread: Spread(32_768), ..Job::central(16, 2_000) };
    let shared = Job { tasks_per_cpu: 4, intervals: 100, ..alone };
    for (grain, ms) in [("1ms", 1), ("10ms", 10), ("100ms", 100), ("1s", 1_000), ("10s", 10_000)] {
        for (tasks, job) in [("alone", alone), ("four", shared)] {
            add(&mut group, "fixed", &format!("{tasks}-{grain}"), Job { grain: Span::from_ms(ms), ..job });
        }
    }
    group.finish();
}
