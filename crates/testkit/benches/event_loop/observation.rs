//! What observing costs: the bare engine, a run reduced to all default metrics, and full traces streamed to a
//! file.

use std::fs::File;
use std::hint::black_box;
use std::io::BufWriter;
use std::path::Path;

use criterion::{Criterion, Throughput};
use experiment::run::{run, simulate};
use scenario::plan::Experiment;
use scenario::{Overrides, load};
use testkit::job::OBSERVED;
use trace::{self, About, Form};

use crate::support::group;

fn experiment() -> Experiment {
    load("observed", OBSERVED, &Overrides::default()).expect("a legal scenario")
}

/// Simulates the only run and writes its trace over a file.
fn traced(experiment: &Experiment, form: Form, path: &Path) {
    let mut out = BufWriter::new(File::create(path).expect("a file in a new folder"));
    trace::run(&experiment.runs[0], &About::default(), form, &mut out).expect("a legal run");
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
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trace");
    for (name, form) in [("trace-perfetto", Form::Perfetto), ("trace-ftrace", Form::Ftrace)] {
        group.bench_function(name, |bencher| bencher.iter(|| traced(&experiment, form, &path)));
    }
    group.finish();
}
