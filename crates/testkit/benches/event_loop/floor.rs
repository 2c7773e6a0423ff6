//! The floors under a task-step at the sizes of `task_steps`: the unavoidable traffic alone, and a bare
//! scheduler on top of it.

use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use testkit::floor::{Prices, Probe, Sum, Traffic};
use testkit::job::Job;

use crate::support::{base, group};

/// Times runs without setting them up. All must give the same.
fn add<F: Clone>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    (name, cpus): (&str, u32),
    floor: &F,
    run: fn(F) -> Sum,
) {
    let expected = run(floor.clone());
    group.bench_function(BenchmarkId::new(name, cpus), |bencher| {
        bencher.iter_custom(|times| {
            let mut whole = Duration::ZERO;
            for _ in 0..times {
                let floor = floor.clone();
                let begin = Instant::now();
                let sum = run(floor);
                whole += begin.elapsed();
                assert_eq!(sum, expected);
            }
            whole
        });
    });
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let costs = base().costs;
    let prices = Prices { poll: costs.poll, yield_call: costs.yield_call, switch: costs.switch_thread };
    let gap = (costs.poll + costs.yield_call + costs.switch_thread + costs.poll).ns();
    let mut group = group(criterion, "floor");
    for (cpus, intervals) in [(16, 2_000), (256, 200), (4_096, 20), (65_536, 5)] {
        let job = Job::central(cpus, intervals);
        group.throughput(Throughput::Elements(job.steps()));
        add(&mut group, ("traffic", cpus), &Traffic::new(&job, 1, gap), Traffic::run);
        add(&mut group, ("probe", cpus), &Probe::new(&job, 1, prices), Probe::run);
    }
    group.finish();
}
