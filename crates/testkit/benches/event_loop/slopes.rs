//! How the time of a run grows with its size: tasks per cpu, cpus of a machine without packages,
//! applications. Each at n, 2n and 4n; the time should double with the size.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkGroup, BenchmarkId, Criterion, measurement::WallTime};
use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::group;

/// Adds whole runs of a scenario, its report included.
fn add(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, size: u32, scenario: &str) {
    let experiment = load("slopes", scenario, &Overrides::default()).expect("a legal scenario");
    group.bench_function(BenchmarkId::new(name, size), |bencher| {
        bencher.iter(|| black_box(run(&experiment, 1, &|_, _| {}).expect("a legal run")));
    });
}

fn scenario(machine: &str, policy: &str, apps: &str) -> String {
    format!("name: slopes\nmachine: \"{machine}\"\nkernel: linux-2.6.28\npolicies: [{policy}]\napps:\n{apps}")
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = group(criterion, "slopes");
    for tasks in [1_000, 2_000, 4_000] {
        let app =
            format!("  app: {{ workload: {{ spmd: {{ work: 64ms, intervals: 1 }} }}, tasks: {tasks} }}\n");
        add(&mut group, "tasks", tasks, &scenario("core:2", "PIN", &app));
    }
    for cpus in [4_096, 8_192, 16_384] {
        let app = "  app: { workload: { hog: { work: 64ms } }, tasks: 1 }\n";
        add(&mut group, "flat_machine", cpus, &scenario(&format!("core:{cpus}"), "LOAD", app));
    }
    for count in [500, 1_000, 2_000] {
        let mut apps = String::new();
        for app in 0..count {
            writeln!(apps, "  a{app}: {{ workload: {{ hog: {{ work: 1ms }} }} }}").expect("room in a string");
        }
        add(&mut group, "applications", count, &scenario("core:2", "PIN", &apps));
    }
    for kernel in ["linux-2.6.28", "linux-6.18"] {
        for tasks in [4_096, 8_192, 16_384] {
            let app = format!(
                "  app: {{ workload: {{ hog: {{ work: 1ms }} }}, runtime: block, tasks: {tasks} }}\n"
            );
            let text = scenario("core:4", "PIN", &app).replace("linux-2.6.28", kernel);
            add(&mut group, &format!("queue_{kernel}"), tasks, &text);
        }
    }
    for copies in [1_024, 2_048, 4_096] {
        let app = format!(
            "  app: {{ workload: {{ hog: {{ work: 1ms }} }}, copies: {copies}, arrival: {{ every: 1us }} }}\n"
        );
        add(&mut group, "copies", copies, &scenario("core:4", "LOAD", &app));
    }
    group.finish();
}
