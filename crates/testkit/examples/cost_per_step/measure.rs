//! The measurements.

use std::time::Instant;

use experiment::run::simulate_one;
use machines::resolve;
use scenario::{Overrides, load};
use sim_core::machine::Machine;
use sim_core::os::YieldMode;
use sim_core::wait::BarrierKind;
use testkit::cost::Row;
use testkit::floor::{Prices, Probe, Sum, Traffic};
use testkit::job::Job;
use testkit::policies::Fixed;
use testkit::stopwatch::Stopwatch;

/// Steps of a measurement, about.
const STEPS: u32 = 400_000;
/// Barriers at least: the first one is not measured.
const FEWEST: u32 = 3;
/// Rounds of the sizes up to [`LARGE`] cpus, and of larger ones.
const ROUNDS: [u32; 2] = [5, 2];
const LARGE: u32 = 4_096;
/// Cpus of the paths, and tasks on each.
pub(crate) const CPUS: u32 = 16;
const TASKS: u32 = 4;
/// Barriers of the short and of the long run of a scenario: start-up is in both.
const SHORT_AND_LONG: [u32; 2] = [200, 4_200];

/// A path: its name and a scenario with `INTERVALS` in place of the number of intervals.
struct Path {
    name: &'static str,
    scenario: &'static str,
}

/// Sixteen cpus with four tasks each that compute 1 ms +- 10 % between two synchronisations.
const PATHS: [Path; 4] = [
    Path {
        name: "OpenMP fork and join with sleeping waiters (PIN)",
        scenario: "\
name: fork_join
machine: barcelona
apps:
  code:
    workload: { spmd: { grain: 1ms, intervals: INTERVALS, spread: 10%, serial: 1%, demand: 1GB/s } }
    runtime: { openmp: { wait: block } }
    tasks: 64
policies: [PIN]
baseline: none
",
    },
    Path {
        name: "MPI exchanges with two neighbours (PIN)",
        scenario: "\
name: neighbours
machine: barcelona
apps:
  code:
    workload: { spmd: { grain: 1ms, intervals: INTERVALS, spread: 10%, exchanges: 2, demand: 1GB/s } }
    runtime: mpi
    tasks: 64
policies: [PIN]
baseline: none
",
    },
    Path {
        name: "two UPC programs under LOAD of Linux 2.6.28",
        scenario: "\
name: two_programs
machine: barcelona
apps:
  one: { workload: { spmd: { grain: 1ms, intervals: INTERVALS, spread: 10%, demand: 1GB/s } }, runtime: upc, tasks: 32 }
  two: { workload: { spmd: { grain: 1ms, intervals: INTERVALS, spread: 10%, demand: 1GB/s } }, runtime: upc, tasks: 32 }
policies: [LOAD]
baseline: none
",
    },
    Path {
        name: "two task groups that sleep under LOAD of Linux 6.18",
        scenario: "\
name: two_groups
machine: barcelona
kernel: linux-6.18
apps:
  one:
    workload: { spmd: { grain: 1ms, intervals: INTERVALS, spread: 10%, demand: 1GB/s } }
    runtime: block
    tasks: 32
    cgroup: one
  two:
    workload: { spmd: { grain: 1ms, intervals: INTERVALS, spread: 10%, demand: 1GB/s } }
    runtime: block
    tasks: 32
    cgroup: two
cgroups: { one: { weight: 100 }, two: { weight: 200 } }
policies: [LOAD]
baseline: none
",
    },
];

/// Seconds of one run, its steps and its events.
#[derive(Clone, Copy)]
struct Timed {
    seconds: f64,
    steps: f64,
    events: f64,
}

impl Timed {
    fn row(self, group: &str, job: &str, cpus: u32, event: f64) -> Row {
        let (ns, events) = (self.seconds * 1e9 / self.steps, self.events / self.steps);
        Row { group: group.into(), job: job.into(), cpus, ns, events, floor: events * event }
    }
}

/// A measurement that is repeated.
type Measurement<'a> = Box<dyn Fn() -> Result<Timed, String> + 'a>;

/// The least of the rounds of each measurement; the measurements take turns.
fn least(rounds: u32, all: &[Measurement<'_>]) -> Result<Vec<Timed>, String> {
    let mut best: Vec<Timed> = all.iter().map(|measure| measure()).collect::<Result<_, _>>()?;
    for _ in 1..rounds {
        for (best, measure) in best.iter_mut().zip(all) {
            let again = measure()?;
            if again.seconds < best.seconds {
                *best = again;
            }
        }
    }
    Ok(best)
}

fn base() -> Result<Machine, String> {
    Ok(resolve("barcelona")?.machine())
}

/// One run of a lower bound.
fn floor<F: Clone>(floor: &F, run: fn(F) -> Sum) -> Timed {
    let floor = floor.clone();
    let begin = Instant::now();
    let sum = run(floor);
    let seconds = begin.elapsed().as_secs_f64();
    Timed { seconds, steps: sum.steps as f64, events: sum.events as f64 }
}

/// The steady part of one run of a job.
fn job(job: &Job, base: &Machine) -> Result<Timed, String> {
    let mut watch = Stopwatch::default();
    let report = job.simulation(base)?.run(&mut Fixed, &mut watch);
    let all = job.steps() as f64;
    let steps = all - f64::from(job.cpus * job.tasks_per_cpu);
    // With few steps the events of the start weigh: the number is exact for the paths only.
    Ok(Timed { seconds: watch.elapsed().as_secs_f64(), steps, events: report.events as f64 * steps / all })
}

/// A scenario: the least of the long runs less the least of the short ones.
fn scenario(text: &str) -> Result<Timed, String> {
    let run = |intervals: u32| {
        let text = text.replace("INTERVALS", &intervals.to_string());
        let experiment = load("path", &text, &Overrides::default()).map_err(|said| said.to_string())?;
        let plan = experiment.runs.first().ok_or("no run")?;
        let begin = Instant::now();
        let report = simulate_one(plan, &mut ())?;
        Ok::<_, String>((begin.elapsed().as_secs_f64(), report.events as f64))
    };
    let [short, long] = SHORT_AND_LONG;
    let (mut less, mut more) = (run(short)?, run(long)?);
    for _ in 1..ROUNDS[0] {
        less.0 = less.0.min(run(short)?.0);
        more.0 = more.0.min(run(long)?.0);
    }
    let steps = f64::from((long - short) * CPUS * TASKS);
    Ok(Timed { seconds: more.0 - less.0, steps, events: more.1 - less.1 })
}

fn traffic(of: &Job, base: &Machine) -> Traffic {
    let costs = &base.costs;
    Traffic::new(of, 1, (costs.poll + costs.yield_call + costs.switch_thread + costs.poll).ns())
}

/// The paths, each with the lower bound of as many events as it has.
pub(crate) fn paths() -> Result<Vec<Row>, String> {
    let base = base()?;
    let central = Job::central(CPUS, STEPS / (CPUS * TASKS));
    let fair = Job { intervals: central.intervals, ..Job::dissemination(TASKS, YieldMode::Default) };
    let bound = traffic(&central, &base);
    let all: [Measurement<'_>; 3] = [
        Box::new(|| Ok(floor(&bound, Traffic::run))),
        Box::new(|| job(&central, &base)),
        Box::new(|| job(&fair, &base)),
    ];
    let mut timed = least(ROUNDS[0], &all)?;
    for path in &PATHS {
        timed.push(scenario(path.scenario)?);
    }
    let event = timed[0].seconds * 1e9 / timed[0].events;
    let names =
        ["central barrier and POSIX yields (PIN)", "UPC: dissemination barrier and fair yields (PIN)"];
    let names = names.into_iter().chain(PATHS.iter().map(|path| path.name));
    Ok(names.zip(&timed[1..]).map(|(name, timed)| timed.row("path", name, CPUS, event)).collect())
}

/// The job with a central and with a tree barrier, and the lower bounds, from 16 cpus on.
pub(crate) fn sizes(largest: u32) -> Result<Vec<Row>, String> {
    let base = base()?;
    let costs = &base.costs;
    let prices = Prices { poll: costs.poll, yield_call: costs.yield_call, switch: costs.switch_thread };
    let mut rows = Vec::new();
    let sizes = std::iter::successors(Some(CPUS), |cpus| cpus.checked_mul(4));
    for cpus in sizes.take_while(|cpus| *cpus <= largest) {
        let central = Job::central(cpus, (STEPS / (cpus * TASKS)).max(FEWEST));
        let tree = Job { barrier: BarrierKind::Tree { arity: 4 }, ..central };
        let bounds = (traffic(&central, &base), Probe::new(&central, 1, prices));
        let all: [Measurement<'_>; 4] = [
            Box::new(|| Ok(floor(&bounds.0, Traffic::run))),
            Box::new(|| Ok(floor(&bounds.1, Probe::run))),
            Box::new(|| job(&central, &base)),
            Box::new(|| job(&tree, &base)),
        ];
        let timed = least(ROUNDS[usize::from(cpus > LARGE)], &all)?;
        let event = timed[0].seconds * 1e9 / timed[0].events;
        let names = ["traffic", "probe", "central", "tree"];
        rows.extend(names.iter().zip(timed).map(|(name, timed)| timed.row("size", name, cpus, event)));
    }
    Ok(rows)
}
