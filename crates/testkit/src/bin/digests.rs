//! The digest of every run of every scenario in a short form, of the benchmark's jobs, and of random
//! scenarios: the same bytes before and after a change that must not change results.
//!
//! `cargo run --release -p testkit --bin digests` compares with `golden/digests.txt`; `OVERSIM_ONLY=cg_ft`
//! runs what has that in its name; `OVERSIM_UPDATE=1` writes the file anew, after a change that is meant to
//! move results.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "a program for the command line")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use experiment::run::simulate_one;
use policies::{ALL, Choice};
use scenario::plan::{Experiment, NO_POLICY, RunPlan};
use scenario::{Overrides, load};
use sim_core::engine::Simulation;
use sim_core::os::YieldMode;
use sim_core::outcome::{Options, RunReport};
use sim_core::policy::{Order, Policy};
use sim_core::time::{Span, Time};
use sim_core::wait::{BarrierKind, WaitMode};
use testkit::job::Job;
use testkit::policies::{Fixed, Restless};
use testkit::scenarios::random;

/// Scenarios that take long: changes that make them short, every how many-th run, and after how many
/// milliseconds runs are cut. What is not in the table runs in full, one repetition.
const SHORT: &[(&str, &[&str], usize, u64)] = &[
    ("cg_ft_share", &["apps.cg.workload.class=A", "apps.ft.workload.class=A"], 1, 600),
    ("thousand_cores", &["apps.fine.workload.intervals=40"], 1, 150),
    ("job_queue", &[], 1, 1_200),
    ("barrier_latency", &[], 1, 100),
    ("spin_yield_block", &[], 1, 200),
    ("cfs_vs_posix_yield", &[], 1, 500),
    ("hybrid_mpi_openmp", &[], 1, 500),
    ("dedicated", &[], 19, 500),
    ("speed", &[], 29, 700),
    ("swomps_pairs", &[], 17, 2_000),
    ("sharing", &[], 7, 1_000),
    ("parbench_sequential", &[], 5, 4_000),
    ("swomps_binding", &[], 1, 2_000),
    ("imbalanced", &[], 3, 1_000),
    ("gang", &[], 5, 1_000),
    ("speed_pool", &[], 5, 1_000),
    ("speed_beside", &[], 3, 1_000),
    ("parbench_jobs", &[], 5, 10_000),
    ("swomps_queue3", &[], 2, 3_000),
    ("sequence", &[], 3, 1_000),
    ("parbench_homes", &[], 3, 10_000),
    ("swomps_queue11", &[], 3, 3_000),
    ("parbench_mixture", &[], 3, 10_000),
    ("speed_make", &[], 2, 2_000),
    ("speed_hog", &[], 3, 1_000),
    ("uneven", &[], 2, 1_000),
    ("partition", &[], 5, 1_000),
];
/// Random scenarios, and how many of them make a line.
const RANDOM: (u64, u64) = (600, 25);

/// One line of the file and how to make it.
struct Line {
    name: String,
    make: Box<dyn Fn() -> String + Send + Sync>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Fields of a report in runs that do not have them: a new one does not change the digests of all others.
const ABSENT: &[&str] = &[
    ", latencies: None",
    ", deadline: None",
    ", late_responses: 0",
    ", skipped: 0",
    ", waits: None",
    ", first_late: None",
    ", skips: false",
];

/// Of the whole report, accounts and counters included. Events are left out, and so are measurements that
/// only some runs have ([`ABSENT`]).
fn hash(report: &RunReport) -> u64 {
    struct Fnv(u64);
    impl std::fmt::Write for Fnv {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            for byte in text.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
    let RunReport { outcome, makespan, apps, cpus, corrections, events: _, digest, .. } = report;
    let mut apps = format!("{apps:?}");
    for absent in ABSENT {
        apps = apps.replace(absent, "");
    }
    write!(fnv, "{outcome:?} {makespan:?} {apps} {cpus:?} {corrections} {digest}").unwrap();
    fnv.0
}

fn told(report: &RunReport) -> String {
    format!(
        "digest {:016x} report {:016x} makespan {} {:?}",
        report.digest,
        hash(report),
        report.makespan.ns(),
        report.outcome
    )
}

fn name(experiment: &Experiment, number: usize, plan: &RunPlan) -> String {
    let policy = if plan.policy == NO_POLICY { "dedicated" } else { &experiment.policies[plan.policy] };
    let configuration = experiment.configurations[plan.configuration].label.replace(' ', "");
    format!("{}/{number} {policy} [{configuration}]", experiment.name)
}

/// All runs of a scenario file, in their short form.
fn scenario(path: &Path, lines: &mut Vec<Line>) {
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    let row = SHORT.iter().find(|row| row.0 == stem);
    let (_, set, every, cut) = *row.unwrap_or(&("", &[], 1, u64::MAX));
    let set = set.iter().map(|&pair| pair.to_owned()).collect();
    let overrides = Overrides { set, repeat: Some(1), ..Overrides::default() };
    let text = fs::read_to_string(path).unwrap();
    let experiment = load(&path.to_string_lossy(), &text, &overrides).unwrap_or_else(|said| panic!("{said}"));
    for (number, plan) in experiment.runs.iter().enumerate().step_by(every) {
        let mut plan = plan.clone();
        let cut = Time::from_ns(cut.saturating_mul(1_000_000));
        plan.options.horizon = plan.options.horizon.min(cut);
        let name = name(&experiment, number, &plan);
        lines.push(Line { name, make: Box::new(move || told(&simulate_one(&plan, &mut ()).unwrap())) });
    }
}

/// The benchmark's jobs, small.
fn jobs(lines: &mut Vec<Line>) {
    let central = Job::central(16, 100);
    let jobs = [
        ("16", central),
        ("256", Job::central(256, 8)),
        ("1024", Job::central(1_024, 2)),
        ("no-contention", Job { contention: false, ..central }),
        ("domain-16", Job { domain: 16, ..central }),
        ("domain-64", Job { domain: 64, ..Job::central(64, 30) }),
        ("10s", Job { grain: Span::from_ms(10_000), ..Job::central(16, 3) }),
        ("block", Job { wait: WaitMode::Block, ..central }),
        ("spin", Job { wait: WaitMode::Spin, ..Job::central(16, 10) }),
        ("fair", Job { yields: YieldMode::Default, ..central }),
        ("tree", Job { barrier: BarrierKind::Tree { arity: 4 }, ..central }),
        ("dissemination", Job { intervals: 100, ..Job::dissemination(4, YieldMode::Posix) }),
        ("dissemination-fair", Job { intervals: 100, ..Job::dissemination(4, YieldMode::Default) }),
        ("odd", Job { tasks_per_cpu: 3, ..Job::central(20, 100) }),
        ("hogs", Job::hogs(16, 4, 10)),
    ];
    for (name, job) in jobs {
        for entry in ALL {
            // A job of one application on one node says nothing more about policies.
            let every = ["16", "256", "odd", "domain-64", "hogs"].contains(&name);
            if !every && !["LOAD", "PIN"].contains(&entry.name) {
                continue;
            }
            // A policy that orders the queues has each poll simulated: one job is enough.
            let orders = || {
                let base = machines::resolve("barcelona").unwrap().machine();
                let (machine, kernel) = (job.machine(&base).unwrap(), job.kernel());
                let policy = Choice::new(entry).build(&machine, &kernel, &[job.app().unwrap()]);
                policy.order() == Order::Policy
            };
            if name != "16" && orders() {
                continue;
            }
            let make = move || {
                let base = machines::resolve("barcelona").unwrap().machine();
                let (machine, kernel) = (job.machine(&base).unwrap(), job.kernel());
                let mut policy = Choice::new(entry).build(&machine, &kernel, &[job.app().unwrap()]);
                told(&job.simulation(&base).unwrap().run(policy.as_mut(), &mut ()))
            };
            lines.push(Line { name: format!("job/{name} {}", entry.name), make: Box::new(make) });
        }
    }
}

/// Policies that are drawn: the first ones of the list. A new policy comes behind them, so that it moves none
/// of these digests.
const DRAWN: usize = 22;

/// A random scenario under a policy that does nothing, one that does everything, or a built-in one.
fn drawn(seed: u64) -> u64 {
    let small = random(seed);
    let entry = &ALL[(seed / 3) as usize % DRAWN];
    let mut policy: Box<dyn Policy> = match seed % 3 {
        0 => Box::new(Fixed),
        1 => Box::new(Restless::new(seed, Span::from_us(1 + seed % 300))),
        _ => Choice::new(entry).build(&small.machine, &small.model, &small.apps),
    };
    let options = Options { stepwise: false, ..small.options };
    let simulation = Simulation::new(small.machine, small.model, small.apps, options).unwrap();
    hash(&simulation.run(policy.as_mut(), &mut ()))
}

fn swarm(lines: &mut Vec<Line>) {
    for first in (0..RANDOM.0).step_by(RANDOM.1 as usize) {
        let make =
            move || (first..first + RANDOM.1).map(|seed| format!("{:04x} ", drawn(seed) >> 48)).collect();
        lines.push(Line { name: format!("random/{first}"), make: Box::new(make) });
    }
}

fn all() -> Vec<Line> {
    let mut lines = Vec::new();
    for folder in
        ["scenarios", "scenarios/lessons", "scenarios/ostep", "scenarios/policies", "scenarios/studies"]
    {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        paths.sort();
        paths.iter().for_each(|path| scenario(path, &mut lines));
    }
    jobs(&mut lines);
    swarm(&mut lines);
    lines
}

/// The lines, made on all cores, in order; with the time each took if `OVERSIM_TIMES` is set.
fn made(lines: &[Line]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let times = std::env::var_os("OVERSIM_TIMES").is_some();
    let work = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(line) = lines.get(at) else { return made };
            let begin = Instant::now();
            made.push((at, format!("{} {}", line.name, (line.make)().trim_end())));
            if times {
                eprintln!("{:6} ms {}", begin.elapsed().as_millis(), line.name);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, String)> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort();
    all.into_iter().map(|(_, line)| line).collect()
}

fn main() -> ExitCode {
    let path = root().join("crates/testkit/tests/golden/digests.txt");
    let only = std::env::var("OVERSIM_ONLY").unwrap_or_default();
    let wanted = |line: &str| line.contains(&only);
    let mut lines = all();
    lines.retain(|line| wanted(&line.name));
    let made = made(&lines);
    if std::env::var_os("OVERSIM_UPDATE").is_some() && only.is_empty() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, made.join("\n") + "\n").unwrap();
        return ExitCode::SUCCESS;
    }
    let golden = fs::read_to_string(&path).unwrap();
    let golden: Vec<&str> = golden.lines().filter(|line| wanted(line)).collect();
    let differs = |(new, old): &(&String, &&str)| new != *old;
    let different: Vec<String> =
        made.iter().zip(&golden).filter(differs).map(|(new, old)| format!("was {old}\nis  {new}")).collect();
    if different.is_empty() && made.len() == golden.len() {
        eprintln!("{} lines are the same bytes as before", made.len());
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "{} of {} lines differ ({} in the file); if that is meant: \
         OVERSIM_UPDATE=1 cargo run --release -p testkit --bin digests\n{}",
        different.len(),
        made.len(),
        golden.len(),
        different.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n")
    );
    ExitCode::FAILURE
}
