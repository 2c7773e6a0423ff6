//! What the rules in which two kernels differ do, each alone and all together: programs on machines, run
//! under each variant with the same random work.

pub mod report;

use kernels::Entry;
use rayon::prelude::*;
use scenario::Overrides;
use scenario::plan::{Experiment, RunPlan};
use sim_core::outcome::Outcome;

use crate::measured::values;
use crate::metrics::ALL_APPS;
use crate::run::{RunError, simulate_one};
use crate::threads::on_threads;

/// The machines: 4 to 252 cpus, 1 to 16 last-level caches, 1 to 4 memory nodes, with and without hardware
/// threads. The shapes are those of processors that are or were sold.
pub const MACHINES: [&str; 24] = [
    "core:4",
    "core:8",
    "core:4 thread:2",
    "core:8 thread:2",
    "cache:2 core:4",
    "cache:4 core:4",
    "cache:4 core:4 thread:2",
    "cache:8 core:8",
    "cache:8 core:8 thread:2",
    "cache:15 core:4",
    "package:2 numa:1 cache:1 core:4",
    "package:2 numa:1 cache:1 core:8",
    "package:2 numa:1 cache:1 core:8 thread:2",
    "package:2 numa:1 cache:1 core:12",
    "package:2 numa:1 cache:1 core:14 thread:2",
    "package:2 numa:1 cache:1 core:20 thread:2",
    "package:2 numa:1 cache:1 core:32",
    "package:2 numa:1 cache:4 core:8",
    "package:2 numa:1 cache:8 core:6",
    "package:2 numa:1 cache:7 core:9 thread:2",
    "package:4 numa:1 cache:1 core:4",
    "package:4 numa:1 cache:1 core:8",
    "package:4 numa:1 cache:1 core:18 thread:2",
    "package:1 numa:4 cache:2 core:4 thread:2",
];

/// A program: its name, and its applications on a machine with so many cpus.
type Program = (&'static str, fn(u32) -> String);

/// The programs.
const PROGRAMS: [Program; 6] = [
    ("threads without barriers", |cpus| {
        let tasks = cpus + cpus / 4 + 1;
        format!("a: {{ workload: {{ spmd: {{ work: {}ms, intervals: 1 }} }}, tasks: {tasks} }}", tasks * 80)
    }),
    ("barriers, polling", |cpus| {
        let tasks = cpus + 1;
        let work = tasks * 20;
        format!(
            "a: {{ workload: {{ spmd: {{ work: {work}ms, intervals: 10, spread: 15% }} }}, tasks: {tasks} }}"
        )
    }),
    ("barriers, yielding, beside threads", |cpus| {
        let work = cpus * 20;
        format!(
            "a: {{ workload: {{ spmd: {{ work: {work}ms, intervals: 20, spread: 15% }} }}, runtime: yield, \
             tasks: {cpus} }}\n  hogs: {{ workload: hog, tasks: {} }}",
            cpus / 2
        )
    }),
    ("barriers, blocking", |cpus| {
        let (tasks, work) = (cpus + cpus / 2, cpus * 30);
        format!(
            "a: {{ workload: {{ spmd: {{ work: {work}ms, intervals: 20, spread: 15% }} }}, runtime: block, \
             tasks: {tasks} }}"
        )
    }),
    ("short requests beside threads", |cpus| {
        format!(
            "a: {{ workload: {{ interactive: {{ requests: 10 }} }}, tasks: {cpus} }}\n  hogs: {{ workload: \
             hog, tasks: {cpus} }}"
        )
    }),
    ("pool of chunks, blocking", |cpus| {
        let (work, chunks) = (cpus * 20, cpus * 8);
        format!(
            "a: {{ workload: {{ pool: {{ work: {work}ms, chunks: {chunks}, variation: exponential }} }}, \
             runtime: block, tasks: {} }}",
            cpus + cpus / 2
        )
    }),
];

/// What is run under each variant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subject {
    /// The program: one of the built-in ones, or the name of a scenario.
    pub program: String,
    /// Its machine as a scenario names it; empty for that of the scenario.
    pub machine: String,
    /// The file name in messages.
    pub name: String,
    /// The scenario.
    pub text: String,
}

/// The built-in programs on the built-in machines, programs first.
#[must_use]
pub fn subjects() -> Vec<Subject> {
    let cpus = |machine: &str| -> u32 {
        let counts = machine.split([' ', ':']).filter_map(|part| part.parse::<u32>().ok());
        counts.product()
    };
    let subject = |(program, apps): &Program, machine: &str| Subject {
        program: (*program).to_owned(),
        machine: machine.to_owned(),
        name: format!("{program} on {machine}"),
        text: format!(
            "name: effects\nmachine: \"{machine}\"\napps:\n  {}\npolicies: [LOAD]\nrepeat: 1\n",
            apps(cpus(machine))
        ),
    };
    PROGRAMS
        .iter()
        .flat_map(|program| MACHINES.iter().map(move |machine| subject(program, machine)))
        .collect()
}

/// A kernel between the two: the first with some rules of the second.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// The rule that differs from the first kernel; none for the second kernel itself.
    pub rule: Option<&'static str>,
    /// As a scenario writes it.
    kernel: String,
    /// Its own placement and balancing.
    policy: &'static str,
}

impl Variant {
    /// A kernel as it is.
    fn whole(kernel: &Entry) -> Self {
        Self { rule: None, kernel: kernel.name.to_owned(), policy: kernel.own.policy }
    }
}

/// The variants of two kernels: each rule that both have and in which they differ, alone, and the second
/// kernel. No single rule if they have one difference only.
#[must_use]
pub fn variants(first: &Entry, second: &Entry) -> Vec<Variant> {
    let single = first.parameters.iter().filter_map(|rule| {
        let other = second.parameters.iter().find(|other| other.name == rule.name)?;
        // Rules of two schedulers may share a name: `yield` has other words under each.
        (other.kind == rule.kind && other.default != rule.default).then(|| Variant {
            rule: Some(rule.name),
            kernel: format!("{{ {}: {{ {}: {} }} }}", first.name, rule.name, other.kind.show(other.default)),
            policy: first.own.policy,
        })
    });
    let single: Vec<Variant> = single.collect();
    let all = Variant::whole(second);
    let alone = if single.len() > 1 { single } else { Vec::new() };
    [all].into_iter().chain(alone).collect()
}

/// What one run measured; none where the program has no such thing, and nothing if the run did not complete.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sample {
    /// The run completed.
    pub completed: bool,
    /// Time from start to end of the foreground programs, s.
    pub run_time: Option<f64>,
    /// The longest p99 of the times from a wake-up until the task continues, s.
    pub wakeup_p99: Option<f64>,
    /// Moves of tasks to another cpu.
    pub migrations: Option<f64>,
}

/// A subject under the first kernel and under each variant.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The program.
    pub program: String,
    /// The machine.
    pub machine: String,
    /// Its cpus.
    pub cpus: u32,
    /// Under the first kernel.
    pub first: Sample,
    /// Under the variants, in their order; means over the replicates.
    pub variants: Vec<Sample>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// A scenario cannot be read, rendered with file and line.
    #[error("{0}")]
    Scenario(String),
    /// A run cannot be made.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Runs all subjects under the first kernel and all variants, each under its own balancer, on `jobs` threads
/// (0 = as many as this process may use). `progress` is called after each subject and kernel with the number
/// of finished ones and of all.
///
/// # Errors
/// A subject that cannot be read or simulated.
pub fn measure(
    first: &Entry,
    variants: &[Variant],
    subjects: &[Subject],
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Row>, Trouble> {
    let first = Variant::whole(first);
    let kernels: Vec<&Variant> = std::iter::once(&first).chain(variants).collect();
    let all: Vec<(&Subject, &Variant)> =
        subjects.iter().flat_map(|subject| kernels.iter().map(move |kernel| (subject, *kernel))).collect();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let one = |(subject, kernel): &(&Subject, &Variant)| -> Result<(u32, Sample), Trouble> {
        let found = under(subject, kernel)?;
        progress(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1, all.len());
        Ok(found)
    };
    let work = || all.par_iter().map(one).collect::<Result<Vec<_>, Trouble>>();
    let samples = on_threads(all.len(), jobs, work).map_err(RunError::threads(jobs))??;
    let row = |(subject, found): (&Subject, &[(u32, Sample)])| Row {
        program: subject.program.clone(),
        machine: subject.machine.clone(),
        cpus: found[0].0,
        first: found[0].1,
        variants: found[1..].iter().map(|(_, sample)| *sample).collect(),
    };
    Ok(subjects.iter().zip(samples.chunks(kernels.len())).map(row).collect())
}

/// The number of cpus of a subject, and what its replicates measure under a kernel with its own balancer.
fn under(subject: &Subject, kernel: &Variant) -> Result<(u32, Sample), Trouble> {
    let overrides = Overrides {
        set: vec!["baseline=none".into(), format!("kernel={}", kernel.kernel)],
        policies: vec![kernel.policy.into()],
        without_sweep: true,
        ..Overrides::default()
    };
    let experiment = load(subject, &overrides).map_err(Trouble::Scenario)?;
    let samples = experiment.runs.iter().map(|plan| {
        sample(&experiment, plan).map_err(|reason| RunError::Refused {
            run: "a run".into(),
            scenario: subject.name.clone(),
            reason,
        })
    });
    Ok((experiment.cpus(), mean(&samples.collect::<Result<Vec<_>, _>>()?)))
}

/// A subject with wake-up latencies; without them if they cannot be had, because only samples are simulated.
fn load(subject: &Subject, overrides: &Overrides) -> Result<Experiment, String> {
    let mut with = overrides.clone();
    with.set.push("latencies=true".into());
    let load = |overrides: &Overrides| scenario::load(&subject.name, &subject.text, overrides);
    load(&with).or_else(|_| load(overrides))
}

/// One run; nothing of a run that did not complete.
fn sample(experiment: &Experiment, plan: &RunPlan) -> Result<Sample, String> {
    let report = simulate_one(plan, &mut ())?;
    if report.outcome != Outcome::Completed {
        return Ok(Sample::default());
    }
    let values = values(&experiment.apps, plan, &report);
    let foreground =
        experiment.apps.iter().zip(&experiment.background).filter(|(_, background)| !**background);
    let of = |metric: &str| -> Vec<f64> {
        let found = foreground.clone().filter_map(|(app, _)| values.get(app)?.get(metric).copied());
        found.collect()
    };
    let largest = |all: Vec<f64>| all.into_iter().reduce(f64::max);
    let migrations = of("migrations");
    Ok(Sample {
        completed: true,
        run_time: values
            .get(ALL_APPS)
            .and_then(|all| all.get("makespan").or(all.get("time_per_work")).copied()),
        wakeup_p99: largest(of("wakeup_latency_p99")),
        migrations: (!migrations.is_empty()).then(|| migrations.iter().sum()),
    })
}

/// The mean of each value over those runs that have it; none unless all have it.
fn mean(all: &[Sample]) -> Sample {
    let of = |value: fn(&Sample) -> Option<f64>| -> Option<f64> {
        let values: Option<Vec<f64>> = all.iter().map(value).collect();
        values.filter(|values| !values.is_empty()).map(|v| v.iter().sum::<f64>() / v.len() as f64)
    };
    Sample {
        completed: all.iter().all(|sample| sample.completed),
        run_time: of(|s| s.run_time),
        wakeup_p99: of(|s| s.wakeup_p99),
        migrations: of(|s| s.migrations),
    }
}
