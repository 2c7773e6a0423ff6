//! The merged file does not depend on the number of threads. A thread sanitizer has something to check here.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use policies::PolicyRegistry;
use scenario::{Grid, Overrides};
use sweep::merge::{NDJSON, merge};
use sweep::plan::{Plan, Shard, Until};
use sweep::request::Request;
use sweep::store::Store;
use sweep::work::work;

const TEXT: &str = "name: threads\nmachine: core:2\npolicies: [LOAD, PIN]\nrepeat: 2\n\
    apps: { job: { workload: { spmd: { work: 1ms, intervals: 2, spread: 10% } } } }\n\
    sweep: { threads_per_core: [1, 2, 3], kernel.tick: [1ms, 4ms] }\n";

/// The merged lines, after so many threads have simulated all runs.
fn lines(until: Option<Until>, jobs: usize) -> String {
    let grid = Grid::load(&PolicyRegistry::default(), "t.yaml", TEXT, &Overrides::default()).unwrap();
    let plan = Plan::new(&grid, until).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &plan).unwrap();
    let ended = AtomicU64::new(0);
    let request = Request {
        shard: Shard::WHOLE,
        jobs,
        stop: &AtomicBool::new(false),
        limit: None,
        begin: &|_, _| (),
        progress: &|| _ = ended.fetch_add(1, Ordering::Relaxed),
        waits: &|| (),
        unlocked: &|| (),
    };
    let worked = work(&grid, &plan, &store, request).unwrap();
    assert_eq!(worked.runs, ended.into_inner());
    merge(&store, &plan).unwrap();
    fs::read_to_string(folder.path().join(NDJSON)).unwrap()
}

#[test]
fn one_thread_and_four_write_the_same_lines() {
    for until in [None, Some(Until { half_width: 0.01, most: 4 })] {
        let one = lines(until, 1);
        assert!(one.lines().count() > 36, "{one}");
        assert!(one == lines(until, 4), "of four threads");
    }
}
