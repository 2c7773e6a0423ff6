//! The floors under a task-step at the sizes of `task_steps`: the unavoidable traffic alone, and a bare scheduler on top of it.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use testkit::floor::{Prices, Probe, Sum, Traffic};
use testkit::job::Job;

use crate::support::{base, group};

/// The time of a run without setting it up. Every run gives the same.
fn timed(times: u64, run: &dyn Fn() -> (Duration, Sum)) -> Duration {
    let (mut whole, first) = run();
    for _ in 1..times {
        let (time, sum) = run();
        assert_eq!(sum, first);
        whole += time;
    }
    whole
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let costs = base().costs;
    let prices = Prices { poll: costs.poll, yield_call: costs.yield_call, switch: costs.switch_thread };
    let gap = (costs.poll + costs.yield_call + costs.switch_thread + costs.poll).ns();
    let mut group = group(criterion, "floor");
    for (cpus, intervals) in [(16, 2_000), (256, 200), (4_096, 20), (65_536, 5)] {
        let job = Job::central(cpus, intervals);
        group.throughput(Throughput::Elements(job.steps()));
        let traffic = || {
            let floor = Traffic::new(&job, 1, gap);
            let begin = Instant::now();
            let sum = floor.run();
            (begin.elapsed(), sum)
        };
        let probe = || {
            let floor = Probe::new(&job, 1, prices);
            let begin = Instant::now();
            let sum = floor.run();
            (begin.elapsed(), sum)
        };
        let forms: [(&str, &dyn Fn() -> (Duration, Sum)); 2] = [("traffic", &traffic), ("probe", &probe)];
        for (name, run) in forms {
            group.bench_function(BenchmarkId::new(name, cpus), |bencher| {
                bencher.iter_custom(|times| timed(times, run));
            });
        }
    }
    group.finish();
}
