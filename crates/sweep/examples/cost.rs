//! What a sweep costs beside its simulations: overhead over bare runs, the gain of a second thread, and the
//! peak of memory. The command is `cargo run --release -p oversim-sweep --example cost [RUNS]`, on an idle
//! machine; RUNS (100000 unless given) is the size of the last sweep.
#![expect(clippy::print_stdout, reason = "a program for developers prints its results")]

use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use experiment::run::simulate_one;
use policies::PolicyRegistry;
use scenario::{Grid, Overrides};
use sweep::merge::merge;
use sweep::plan::{Plan, Shard};
use sweep::request::Request;
use sweep::store::Store;
use sweep::work::work;

/// Runs of about one millisecond: 16 cpus, 24 threads, a few barriers.
const SCENARIO: &str = "name: cost\nmachine: package:4 core:4\nkernel: linux-2.6.28\nbaseline: none\n\
    policies: [LOAD, PIN]\nrepeat: 10\n\
    apps: { job: { workload: { spmd: { work: 550ms, intervals: 25, spread: 5% } }, tasks: 24 } }\n";

/// Configurations of the first comparisons: 20 runs each.
const CONFIGURATIONS: u64 = 200;
/// Times that each is measured, in turn. The shortest one counts: other work on the machine only adds time.
const TIMES: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let runs: u64 = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let grid = load(CONFIGURATIONS)?;
    let mut shortest = [f64::INFINITY; 3];
    for _ in 0..TIMES {
        for (least, took) in shortest.iter_mut().zip([bare(&grid)?, swept(&grid, 1)?, swept(&grid, 2)?]) {
            *least = least.min(took);
        }
    }
    let [bare, one, two] = shortest;
    println!("a bare run: {:.2} ms", bare / (CONFIGURATIONS * 20) as f64 * 1e3);
    println!("overhead of a sweep on one thread: {:.1} %", (one / bare - 1.0) * 100.0);
    println!("two threads are {:.2} times as fast as one", one / two);
    let before = peak();
    let large = load(runs / 20)?;
    let began = Instant::now();
    let took = swept(&large, 2)?;
    println!("{runs} runs on two threads: {took:.1} s, merged after {:.1} s", began.elapsed().as_secs_f64());
    println!("peak of memory: {} MB, before them {} MB", peak() / 1000, before / 1000);
    Ok(())
}

/// The scenario with this many configurations of different work.
fn load(configurations: u64) -> Result<Grid, String> {
    let text = format!(
        "{SCENARIO}sweep: {{ sample: {{ count: {configurations}, over: {{ apps.job.workload.work: \
            540ms..560ms, kernel.tick: 900us..1100us }} }} }}\n"
    );
    Grid::load(&PolicyRegistry::default(), "cost.yaml", &text, &Overrides::default())
}

/// Seconds for the runs alone.
fn bare(grid: &Grid) -> Result<f64, String> {
    let mut plans = Vec::new();
    for number in 0..grid.combinations() {
        let configured = grid.resolve(number)?;
        plans.extend((0..grid.repeat()).flat_map(|replicate| configured.runs(replicate)));
    }
    // On a thread like those of a sweep: the allocator treats the first thread of a program differently.
    std::thread::scope(|scope| {
        let all = scope.spawn(|| {
            let began = Instant::now();
            plans.iter().try_for_each(|plan| simulate_one(plan, &mut ()).map(drop))?;
            Ok(began.elapsed().as_secs_f64())
        });
        all.join().unwrap_or_else(|_| Err("a run panicked".into()))
    })
}

/// Seconds for a sweep into a temporary directory, which is merged afterwards.
fn swept(grid: &Grid, jobs: usize) -> Result<f64, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let plan = Plan::new(grid, None)?;
    let failed = |error| format!("{error:?}");
    let store = Store::create(Path::new(&directory.path().join("sweep")), &plan).map_err(failed)?;
    let request = Request {
        shard: Shard::WHOLE,
        jobs,
        stop: &AtomicBool::new(false),
        limit: None,
        begin: &|_, _| (),
        progress: &|| (),
        waits: &|| (),
        unlocked: &|| (),
    };
    let began = Instant::now();
    work(grid, &plan, &store, request).map_err(failed)?;
    let took = began.elapsed().as_secs_f64();
    merge(&store, &plan).map_err(failed)?;
    Ok(took)
}

/// Most memory that this process has had so far, kB; 0 where the system does not say it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
