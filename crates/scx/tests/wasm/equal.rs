//! The examples in BPF C decide as the schedulers in Rust do: the digests of their runs are the same. Where
//! there is no clang, a test says so and ends.

use std::fs;
use std::path::Path;

use policies::{Entry, Level, PolicyRegistry, Setting, Showcase, TaskGroups};
use scenario::Overrides;
use scx::build::{Failed, Request, build};
use scx::ext::{Ext, Scheduler};
use scx::native::{Central, Llc, Simple};
use sim_core::outcome::Outcome;
use sim_core::policy::Policy;

use crate::module::{registry, runs_with};

fn native<S: Scheduler + 'static>(name: &'static str, make: fn(&Setting<'_>) -> S) -> &'static Entry {
    Box::leak(Box::new(Entry {
        name,
        summary: "",
        source: "",
        level: Level::InKernel,
        task_groups: TaskGroups::Refused,
        parameters: &[],
        text: "",
        wins: Showcase::NONE,
        loses: Showcase::NONE,
        build: Box::leak(Box::new(move |_: &_, setting: &Setting<'_>| -> Box<dyn Policy> {
            Box::new(Ext::new(make(setting), setting.machine).unwrap())
        })),
    }))
}

/// The file that an example gives; none where there is no clang.
fn example(name: &str) -> Option<Vec<u8>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/scx/{name}.bpf.c"));
    match build(&Request { sources: vec![source], ..Request::default() }) {
        Ok(built) => Some(built.bytes),
        Err(Failed::Tools(why)) if why.contains("not found") || why.contains("wasm64") => {
            eprintln!("skipped: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// Machines and programs: cores with one and two cpus, one and several nodes and caches, more and fewer tasks
/// than cpus, tasks that sleep, wait, yield and compute, and those of other weights.
const CASES: [&str; 4] = [
    "machine: package:1 core:4\napps: { job: { tasks: 9, runtime: block, \
     workload: { spmd: { work: 30ms, grain: 5ms, spread: 30% } } } }",
    "machine: package:2 numa:1 cache:2 core:4 pu:2\napps: { a: { tasks: 40, runtime: block, \
     workload: { spmd: { work: 20ms, grain: 2ms, spread: 50% } } }, \
     b: { tasks: 8, nice: 5, start: 7ms, workload: { spmd: { work: 40ms } } } }",
    "machine: package:1 core:8 pu:2\nhorizon: 25ms\napps: { a: { tasks: 12, runtime: yield, \
     workload: { spmd: { work: 30ms, grain: 10ms, imbalance: 20% } } }, \
     b: { tasks: 6, nice: -3, workload: { spmd: { work: 50ms } } } }",
    "machine: package:2 numa:1 core:32\napps: { a: { tasks: 100, runtime: block, \
     workload: { spmd: { work: 10ms, grain: 1ms, spread: 10% } } } }",
];

fn compare(example_name: &str, entry: &'static Entry) {
    let Some(file) = example(example_name) else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("compiled.wasm"), file).unwrap();
    let policies = PolicyRegistry::with(&[entry]).unwrap();
    let policies = policies.reading_files(std::sync::Arc::new(scx::wasm::read));
    assert!(registry().find(entry.name).is_none());
    for case in CASES {
        let text = format!(
            "name: equal\nkernel: linux-6.18\nbaseline: none\npolicies: [{}, ./compiled.wasm]\n{case}\n",
            entry.name
        );
        let runs = runs_with(&policies, folder.path(), &text, &Overrides::default()).unwrap();
        let good = if case.contains("horizon") { Outcome::Horizon } else { Outcome::Completed };
        assert_eq!((&runs[0].outcome, &runs[1].outcome), (&good, &good), "{case}");
        assert_eq!(runs[0].digest, runs[1].digest, "{case}");
    }
}

#[test]
fn a_queue_by_virtual_time_decides_as_the_one_in_rust() {
    compare("vtime", native("NATIVE-VTIME", |_| Simple::new(false)));
}

#[test]
fn queues_of_caches_decide_as_those_in_rust() {
    compare("per_llc", native("NATIVE-LLC", |_| Llc::new()));
}

#[test]
fn a_central_cpu_decides_as_the_one_in_rust() {
    compare("central", native("NATIVE-CENTRAL", |_| Central::default()));
}
