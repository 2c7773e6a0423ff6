//! What a sweep costs beside its simulations, in cpu time for each run: planning, rows, journal, parts and
//! the merged file. The command is `cargo run --release -p oversim-sweep --example cost [RUNS]`; RUNS is
//! 100000 unless given. It counts cpu time, so that other work on the machine disturbs it less.
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
use sweep::status::Status;
use sweep::store::Store;
use sweep::work::work;

/// A program of three tasks that shares two cpus with an endless task: runs of some dozens of microseconds.
const SCENARIO: &str = "name: cost\nmachine: core:2\nkernel: linux-2.6.28\nbaseline: none\n\
    policies: [LOAD, PIN]\nrepeat: 50\n\
    apps: { job: { workload: { spmd: { work: 20ms, intervals: 4, spread: 10% } }, tasks: 3,\n\
    \x20 runtime: block }, hog: { workload: hog, tasks: 1 } }\n";
/// Runs of each configuration.
const EACH: u64 = 100;
/// Configurations of which all runs are planned at once, and then simulated without a sweep.
const SAMPLE: u64 = 200;
/// Times that each part is measured. The least counts: other work on the machine only adds time.
const TIMES: usize = 3;

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let runs: u64 = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let grid = load(runs / EACH)?;
    let mut least = Parts { simulated: f64::INFINITY, swept: f64::INFINITY, ..Parts::default() };
    for _ in 0..TIMES {
        let parts = Parts::of(&grid)?;
        let sum = |parts: &Parts| parts.swept - parts.simulated;
        if sum(&parts) < sum(&least) || least.swept.is_infinite() {
            least = parts;
        }
    }
    let each = |seconds: f64| seconds / runs as f64 * 1e6;
    println!("| part | us per run |\n|---|---|");
    println!("| simulation | {:.1} |", each(least.simulated));
    println!("| planning of its runs | {:.1} |", each(least.planned));
    let rest = least.swept - least.simulated - least.planned;
    println!("| metrics, row, journal, part | {:.1} |", each(rest));
    println!("| merge | {:.1} |", each(least.merged));
    let beside = least.swept + least.merged - least.simulated;
    println!("| all beside the simulation | {:.1} |", each(beside));
    println!("| status, apart | {:.1} |", each(least.status));
    println!("bytes of a run in the merged file: {}", least.bytes / runs);
    println!("two threads are {:.2} times as fast as one", least.one / least.two);
    println!("peak of memory: {} MB", peak() / 1000);
    Ok(())
}

/// What each part of a sweep takes: cpu seconds, but for `one` and `two`.
#[derive(Default)]
struct Parts {
    planned: f64,
    simulated: f64,
    swept: f64,
    merged: f64,
    status: f64,
    bytes: u64,
    /// Seconds of the sweep on one thread and on two.
    one: f64,
    two: f64,
}

impl Parts {
    fn of(grid: &Grid) -> Done<Self> {
        let mut parts = Self::default();
        let mut plans = Vec::new();
        let before = cpu()?;
        for number in 0..grid.combinations().min(SAMPLE) {
            let configured = grid.resolve(number)?;
            plans.extend((0..grid.repeat()).flat_map(|replicate| configured.runs(replicate)));
        }
        let share = (grid.combinations() * EACH) as f64 / plans.len().max(1) as f64;
        parts.planned = (cpu()? - before) * share;
        // On a thread like those of a sweep: the allocator treats the first thread of a program differently.
        let before = cpu()?;
        std::thread::scope(|scope| {
            let all = scope.spawn(|| plans.iter().try_for_each(|plan| simulate_one(plan, &mut ()).map(drop)));
            all.join().unwrap_or_else(|_| Err("a run panicked".into()))
        })?;
        parts.simulated = (cpu()? - before) * share;
        (parts.two, ..) = swept(grid, 2, &mut parts)?;
        (parts.one, parts.swept) = swept(grid, 1, &mut parts)?;
        Ok(parts)
    }
}

/// A scenario with this many configurations of different work.
fn load(configurations: u64) -> Result<Grid, String> {
    let text = format!(
        "{SCENARIO}sweep: {{ sample: {{ count: {configurations}, over: {{ apps.job.workload.work: \
            10ms..30ms, kernel.tick: 500us..1500us }} }} }}\n"
    );
    Grid::load(&PolicyRegistry::default(), "cost.yaml", &text, &Overrides::default())
}

/// Seconds and cpu seconds of a sweep into a temporary directory, which is then counted and merged.
fn swept(grid: &Grid, jobs: usize, parts: &mut Parts) -> Done<(f64, f64)> {
    let directory = tempfile::tempdir()?;
    let plan = Plan::new(grid, None)?;
    let failed = |error| format!("{error:?}");
    let path = directory.path().join("sweep");
    let store = Store::create(Path::new(&path), &plan).map_err(failed)?;
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
    let (began, before) = (Instant::now(), cpu()?);
    work(grid, &plan, &store, request).map_err(failed)?;
    let took = (began.elapsed().as_secs_f64(), cpu()? - before);
    let before = cpu()?;
    Status::of(&store, &plan).map_err(failed)?;
    parts.status = cpu()? - before;
    let before = cpu()?;
    merge(&store, &plan).map_err(failed)?;
    parts.merged = cpu()? - before;
    parts.bytes = std::fs::metadata(path.join("runs.ndjson"))?.len();
    Ok(took)
}

/// Processor time of this process so far, seconds: fields 14 and 15 of proc(5), in hundredths.
fn cpu() -> Done<f64> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    let ticks = behind.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / 100.0)
}

/// Most memory that this process has had so far, kB; 0 where the system does not say it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
