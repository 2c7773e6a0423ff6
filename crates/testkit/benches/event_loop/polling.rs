//! Polling is free: the cost of a step with barriers 1 ms to 10 s apart, a thousand to ten million polls per wait.

use criterion::Criterion;
use sim_core::program::Spread;
use sim_core::time::Span;
use testkit::job::Job;

use crate::support::{add, group};

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = group(criterion, "polling");
    // Without contention and with waits as long as the work: nothing but polls grows with the grain.
    let job = Job { contention: false, spread: Spread(32_768), ..Job::central(16, 500) };
    for (name, ms) in [("1ms", 1), ("10ms", 10), ("100ms", 100), ("1s", 1_000), ("10s", 10_000)] {
        add(&mut group, "PIN", name, Job { grain: Span::from_ms(ms), ..job });
    }
    group.finish();
}
