//! What observing costs: the bare engine, and a run reduced to all default metrics.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use experiment::plan::Experiment;
use experiment::run::{run, simulate};
use experiment::scenario::{Overrides, load};

use crate::support::group;

const SCENARIO: &str = "\
name: observed
machine: barcelona
kernel: { linux-2.6.28: { yield: posix } }
apps:
  a: { workload: { spmd: { work: 2s, intervals: 500, spread: 15% } }, runtime: upc, threads_per_core: 2 }
  b: { workload: { spmd: { work: 2s, intervals: 500, spread: 15% } }, runtime: upc, threads_per_core: 2 }
policies: [PIN]
baseline: none
";

fn experiment() -> Experiment {
    load("observed", SCENARIO, &Overrides::default()).expect("a legal scenario")
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let experiment = experiment();
    let plan = &experiment.runs[0];
    let steps: u64 = plan.apps.iter().map(|app| u64::from(app.tasks) * 500).sum();
    let mut group = group(criterion, "observation");
    group.throughput(Throughput::Elements(steps));
    let quiet = |_: usize, _: usize| {};
    group.bench_function("none", |bencher| {
        bencher.iter(|| black_box(simulate(&experiment, 1, &quiet).expect("a legal run")));
    });
    group.bench_function("metrics", |bencher| {
        bencher.iter(|| black_box(run(&experiment, 1, &quiet).expect("a legal run")));
    });
    group.finish();
}
