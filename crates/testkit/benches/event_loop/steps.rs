//! Task-steps per second under PIN and LOAD on more and more cpus, with other barriers and yields, and hogs
//! on their own.

use criterion::{BenchmarkId, Criterion, Throughput};
use sim_core::os::YieldMode;
use sim_core::wait::BarrierKind;
use testkit::job::Job;

use crate::support::{add, base, group, policy};

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = group(criterion, "task_steps");
    for (cpus, intervals) in [(16, 2_000), (256, 200), (4_096, 20), (65_536, 5)] {
        // LOAD puts new tasks on the first 64 cpus or so; where they begin evenly spread (LOAD+) there is
        // only its balancing.
        for name in ["PIN", "LOAD+", "LOAD"] {
            if cpus < 65_536 || name != "LOAD" {
                add(&mut group, name, &cpus.to_string(), Job::central(cpus, intervals));
            }
        }
    }
    let forms = [
        ("tree", Job { barrier: BarrierKind::Tree { arity: 4 }, ..Job::central(16, 1_000) }),
        ("dissemination-1", Job::dissemination(1, YieldMode::Posix)),
        ("dissemination-4", Job::dissemination(4, YieldMode::Posix)),
        ("dissemination-4-fair", Job::dissemination(4, YieldMode::Default)),
        ("dissemination-8", Job::dissemination(8, YieldMode::Posix)),
    ];
    for (form, job) in forms {
        add(&mut group, "PIN", form, job);
    }
    group.finish();
    hogs(criterion);
}

/// 64 hogs on 16 cpus; the throughput is simulated seconds per second.
fn hogs(criterion: &mut Criterion) {
    let mut group = group(criterion, "hogs");
    // Four hogs per cpu and 20 s of work each: 80 s at least.
    let job = Job::hogs(16, 4, 20);
    for name in ["PIN", "LOAD"] {
        let run = || job.simulation(&base()).expect("a legal run").run(policy(name, &job).as_mut(), &mut ());
        group.throughput(Throughput::Elements(run().makespan.ns() / 1_000_000_000));
        group.bench_function(BenchmarkId::new(name, 16), |bencher| bencher.iter(run));
    }
    group.finish();
}
