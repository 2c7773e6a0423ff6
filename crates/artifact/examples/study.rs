//! What packing and verifying a sweep of 10,000 runs costs: `cargo run --release -p oversim-artifact --example
//! study [RUNS]`. Everything is written to a directory that is removed at the end.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it prints measurements, and stops at any error"
)]

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use artifact::archive::unpack;
use artifact::gather::gather;
use artifact::verify::verify;
use artifact::{Sample, Work};
use experiment::PolicyRegistry;
use scenario::inputs::Inputs;
use scenario::{Grid, Overrides};
use sweep::plan::{Plan, Shard};
use sweep::request::Request;
use sweep::store::Store;
use sweep::unfinished::UnfinishedDirectory;

/// 250 configurations, 5 policies; 8 seeds make 10,000 runs.
const SCENARIO: &str = "name: ten_thousand
machine: core:4
kernel: linux-6.18
baseline: none
policies: [LOAD, PIN, SPEED, DWRR, JUGGLE]
apps:
  job: { workload: { spmd: { work: 4ms, intervals: 10, spread: 10% } }, runtime: yield }
sweep:
  threads_per_core: [1, 2, 3, 4, 5]
  apps.job.workload.intervals: 2..32:*2
  apps.job.workload.spread: [0%, 5%, 10%, 20%, 40%]
  kernel.tick: [1ms, 4ms]
";

fn timed<T>(what: &str, done: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let value = done();
    println!("{what}: {:.1} s", began.elapsed().as_secs_f64());
    value
}

fn swept(directory: &Path, repeat: u32, jobs: usize, registry: &PolicyRegistry) -> u64 {
    let overrides = Overrides { repeat: Some(repeat), ..Overrides::default() };
    let grid = Grid::load(registry, "scenario.yaml", SCENARIO, &overrides).unwrap();
    let plan = Plan::new(&grid, None).unwrap();
    let store = Store::create(directory, &plan).unwrap();
    store.keep(&Inputs::of(SCENARIO, &grid.trial, &overrides, None)).unwrap();
    let request = Request {
        shard: Shard::WHOLE,
        jobs,
        stop: &AtomicBool::new(false),
        limit: None,
        begin: &|_, _| {},
        progress: &|| {},
        waits: &|| {},
        unlocked: &|| {},
    };
    sweep::work::work(&grid, &plan, &store, request).unwrap().runs
}

fn main() {
    let runs: u32 = std::env::args().nth(1).map_or(10_000, |text| text.parse().unwrap());
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let room = UnfinishedDirectory::new(&std::env::temp_dir()).unwrap();
    let (directory, archive) = (room.path().join("grid"), room.path().join("study.tar.gz"));
    let registry = PolicyRegistry::default();
    let simulated = timed("sweep", || swept(&directory, runs.div_ceil(250 * 5).max(1), jobs, &registry));
    let work = Work { policies: &registry, jobs, progress: &|_, _| () };
    let manifest = timed("pack", || {
        let work_room = UnfinishedDirectory::new(room.path()).unwrap();
        let gathered = gather(std::slice::from_ref(&directory), &work_room, &work).unwrap();
        gathered.write(&mut fs::File::create(&archive).unwrap()).unwrap();
        gathered.manifest
    });
    let packed = fs::metadata(&archive).unwrap().len() as f64;
    println!(
        "{simulated} runs: {:.1} MB unpacked, {:.1} MB packed, {} files",
        manifest.size() as f64 / 1e6,
        packed / 1e6,
        manifest.files.len()
    );
    fs::remove_dir_all(&directory).unwrap();
    let into = UnfinishedDirectory::new(room.path()).unwrap();
    let unpacked = timed("unpack with checksums", || unpack(&archive, &registry, 1 << 34, &into).unwrap());
    for (what, sample) in [
        ("verify a sample of 25 of 250 configurations", Sample::Some { count: 25, seed: 0 }),
        ("verify in full", Sample::Full),
    ] {
        let room = UnfinishedDirectory::new(room.path()).unwrap();
        let done = timed(what, || {
            verify(into.path(), &unpacked.manifest, (sample, room.path()), &work, &mut |_| ()).unwrap()
        });
        println!("  {} runs again, {} differences", done[0].runs, done[0].differences.len());
    }
}
