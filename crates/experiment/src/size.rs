//! How much memory an experiment takes, estimated before anything large is allocated, and what to change
//! where that is too much.

use std::mem::size_of;

use notation::number::{bytes as shown, plural};
use scenario::memory::Limit;
use scenario::plan::{Experiment, RunPlan};
use sim_core::account::Account;
use sim_core::outcome::{AppReport, RunReport};
use sim_core::program::{AppSpec, Op};
use sim_core::time::Span;

use crate::metrics::{METRICS, Scope};

// The constants below were measured in November 2026 as peak resident memory (`/usr/bin/time -v oversim run`)
// of one program of `spmd` with 65,536 to 1,048,576 tasks on 4 cpus, with 4 tasks on as many cpus, and with
// 4,096 copies, under every policy and kernel. A test (`crates/testkit/tests/size.rs`) compares them with the
// allocations of real runs.

/// Bytes of the program itself before it runs anything. Measured for the release build: 15 MB in memory, and
/// up to 30 MB of address space (`ulimit -v 30000; oversim list scenarios`); [`ADDRESSED`] adds to these.
const BASE: u64 = 28 << 20;
/// Bytes of a task while its run is simulated: measured 830 under LOAD and linux-6.18, freebsd-14 or
/// solaris-9, 463 under linux-2.6.28 and linux-6.5 (200,000 and 400,000 tasks on 4 cpus).
const TASK: u64 = 850;
/// Bytes of a cpu while its run is simulated: measured 1,089 under LOAD and linux-6.18, 917 under
/// linux-2.6.28 (100,000 and 200,000 cpus with 4 tasks).
const CPU: u64 = 1_110;
/// Bytes of what a run reports of a task.
const REPORTED_TASK: u64 = size_of::<Span>() as u64;
/// Bytes of an application of a run, its barriers and locks included.
const APP: u64 = 1_000;
/// Bytes of a value of a result, from the sample to the report, besides its labels: measured 400 to 650.
const CELL: u64 = 600;
/// Bytes of one more replicate of a value.
const REPLICATE: u64 = 48;
/// Bytes of address space that a thread reserves and mostly does not use: its stack, and room for its
/// allocations.
const ADDRESSES: u64 = 66 << 20;
/// Threads besides those that simulate: the one that receives signals.
const OTHER_THREADS: u64 = 1;
/// Address space that memory in use takes, in per cent: a block that grows is in two places for a moment.
const ADDRESSED: u64 = 130;
/// Metrics that every application under a policy has at least. This constant and the next two were measured
/// with the built-in scenarios; the test `the_room_that_results_need_is_estimated` of the command line
/// compares them with real files.
const WRITTEN_METRICS: u64 = 20;
/// Bytes of a metric in the files of a result, mostly JSON.
const WRITTEN: u64 = 500;
/// Bytes of each of its values there.
const WRITTEN_VALUE: u64 = 70;
/// Policies whose cells references and dedicated runs are worth.
const REFERENCES: u64 = 1;

/// The estimate of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Size {
    /// Bytes of the plan of all runs.
    pub plan: u64,
    /// Bytes of what all runs report, and of the results.
    pub results: u64,
    /// Bytes of each run while it is simulated, the largest first.
    pub runs: Vec<u64>,
    /// Operations that all tasks of all runs execute at most: compute, wait at a barrier and the like;
    /// endless programs count once. Most are one to three events.
    pub operations: f64,
    /// Tasks and cpus of the largest run.
    tasks: u64,
    cpus: u64,
    /// Bytes in all for each of them, with what other runs report of theirs.
    task_bytes: f64,
    cpu_bytes: f64,
    configurations: u64,
}

impl Size {
    /// The estimate of an experiment.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let mut runs: Vec<(u64, &RunPlan)> =
            experiment.runs.iter().map(|plan| (simulated(plan), plan)).collect();
        runs.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        let largest = runs.first().map(|(_, plan)| *plan);
        let tasks = largest.map_or(0, tasks_of);
        let cpus = largest.map_or(0, |plan| u64::from(plan.machine.cpus()));
        let all = |count: fn(&RunPlan) -> u64| experiment.runs.iter().map(count).sum::<u64>() as f64;
        let (all_tasks, all_cpus) = (all(tasks_of), all(|plan| u64::from(plan.machine.cpus())));
        let searched = if experiment.best_partition { 48 * reported_most(experiment) } else { 0 };
        Self {
            plan: experiment.runs.iter().map(planned).sum(),
            results: experiment.runs.iter().map(reported).sum::<u64>() + cells(experiment) + searched,
            operations: experiment
                .runs
                .iter()
                .map(|plan| plan.apps.iter().map(operations).sum::<f64>())
                .sum(),
            task_bytes: TASK as f64 + REPORTED_TASK as f64 * all_tasks / tasks.max(1) as f64,
            cpu_bytes: CPU as f64 + size_of::<Account>() as f64 * all_cpus / cpus.max(1) as f64,
            tasks,
            cpus,
            runs: runs.into_iter().map(|(bytes, _)| bytes).collect(),
            configurations: experiment.configurations.len() as u64,
        }
    }

    /// Bytes in all with so many runs at the same time, at least 1.
    #[must_use]
    pub fn bytes(&self, jobs: usize) -> u64 {
        BASE + self.plan + self.results + self.runs.iter().take(jobs.max(1)).sum::<u64>()
    }

    /// Bytes that count against a limit.
    fn against(&self, jobs: usize, limit: &Limit) -> u64 {
        if !limit.addresses {
            return self.bytes(jobs);
        }
        let threads = jobs.clamp(1, self.runs.len().max(1)) as u64;
        self.bytes(jobs) * ADDRESSED / 100 + (OTHER_THREADS + threads) * ADDRESSES
    }

    /// The largest number of runs at the same time, up to `most`, that a limit allows; 0 when not even one
    /// fits.
    #[must_use]
    pub fn jobs(&self, most: usize, limit: &Limit) -> usize {
        // More jobs take more memory.
        let (mut fits, mut too_many) = (0, most.max(1) + 1);
        while fits + 1 < too_many {
            let middle = usize::midpoint(fits, too_many);
            if self.against(middle, limit) <= limit.bytes {
                fits = middle;
            } else {
                too_many = middle;
            }
        }
        fits
    }

    /// Whether so many runs at the same time fit (none: any number, so one must fit).
    ///
    /// # Errors
    /// A sentence: the estimate, the limit and what would fit.
    pub fn check(&self, jobs: Option<usize>, limit: &Limit) -> Result<(), String> {
        let wanted = jobs.unwrap_or(1);
        let needed = self.against(wanted, limit);
        if needed <= limit.bytes {
            return Ok(());
        }
        let at_once = wanted.min(self.runs.len());
        let with = if at_once > 1 { format!(" with {at_once} runs at the same time") } else { String::new() };
        Err(format!(
            "the scenario needs about {}{with}, and {} is {}: {}",
            shown(needed),
            limit.source,
            shown(limit.bytes),
            self.fitting(wanted, limit)
        ))
    }

    /// What would fit.
    fn fitting(&self, jobs: usize, limit: &Limit) -> String {
        let fits = self.jobs(jobs, limit);
        if fits > 0 {
            return format!("`--jobs {fits}` fits");
        }
        let (factor, threads) =
            if limit.addresses { (ADDRESSED, (OTHER_THREADS + 1) * ADDRESSES) } else { (100, 0) };
        let least = BASE * factor / 100 + threads;
        if least > limit.bytes {
            return format!("the program itself needs about {}", shown(least));
        }
        let part = factor as f64 / 100.0;
        let (task, cpu) = (self.task_bytes * part, self.cpu_bytes * part);
        let (of_tasks, of_cpus) = (self.tasks as f64 * task, self.cpus as f64 * cpu);
        let room = limit.bytes as f64 - (self.against(1, limit) as f64 - of_tasks - of_cpus);
        if room > 0.0 {
            let (tasks, cpus) = ((room - of_cpus) / task, (room - of_tasks) / cpu);
            let part = room / (of_tasks + of_cpus);
            return if of_tasks >= of_cpus && tasks >= 1.0 {
                format!("{} in a run fit", plural(tasks as usize, "task", "tasks"))
            } else if of_cpus > of_tasks && cpus >= 1.0 {
                format!("a machine with {} fits", plural(cpus as usize, "cpu", "cpus"))
            } else {
                let tasks = plural((self.tasks as f64 * part) as usize, "task", "tasks");
                format!("{tasks} on {} fit", plural((self.cpus as f64 * part) as usize, "cpu", "cpus"))
            };
        }
        // What is left for configurations beside the largest run.
        let room = limit.bytes.saturating_sub(least + self.runs.first().copied().unwrap_or(0) * factor / 100);
        let each = (self.plan + self.results) * factor / 100 / self.configurations.max(1);
        match room / each.max(1) {
            0 => "use fewer policies, applications, copies or replicates".to_owned(),
            fits => format!("a sweep of {} fits", plural(fits as usize, "configuration", "configurations")),
        }
    }
}

/// Bytes of a run while it is simulated, with the program itself.
#[must_use]
pub fn of_run(plan: &RunPlan) -> u64 {
    BASE + simulated(plan)
}

/// Bytes of a run while it is simulated.
fn simulated(plan: &RunPlan) -> u64 {
    tasks_of(plan) * TASK + u64::from(plan.machine.cpus()) * CPU + plan.apps.len() as u64 * APP
}

fn tasks_of(plan: &RunPlan) -> u64 {
    plan.apps.iter().map(|app| u64::from(app.tasks)).sum()
}

/// Bytes of the plan of a run.
fn planned(plan: &RunPlan) -> u64 {
    let app = |app: &AppSpec| {
        let cpus = app.allowed.as_ref().map_or(0, |_| u64::from(plan.machine.cpus()) / 8);
        (size_of::<AppSpec>() + 32 + app.name.len() + 4 * app.rank_scale.len()) as u64 + cpus
    };
    size_of::<RunPlan>() as u64
        + 512
        + 8 * (plan.entries.len() + plan.serves.len()) as u64
        + plan.apps.iter().map(app).sum::<u64>()
}

/// Bytes of what a run reports, which are held until all runs have ended.
fn reported(plan: &RunPlan) -> u64 {
    let apps = plan.apps.len() * (size_of::<AppReport>() + 32);
    let cpus = plan.machine.cpus() as usize * size_of::<Account>();
    (size_of::<RunReport>() + apps + cpus) as u64 + REPORTED_TASK * tasks_of(plan)
}

fn reported_most(experiment: &Experiment) -> u64 {
    experiment.runs.iter().map(reported).max().unwrap_or(0)
}

/// Bytes of all values of the results.
fn cells(experiment: &Experiment) -> u64 {
    let latencies = experiment.runs.iter().any(|run| run.latencies);
    let measured = || METRICS.iter().filter(|metric| latencies || !metric.needs_latencies);
    let of = |scope| measured().filter(|metric| metric.scope == scope).count() as u64;
    let places = experiment.apps.len() as u64 * of(Scope::App) + of(Scope::All);
    let labels = experiment.configurations.iter().map(|c| c.label.len() as u64 + CELL).sum::<u64>();
    let each = labels + experiment.configurations.len() as u64 * u64::from(experiment.repeat - 1) * REPLICATE;
    (experiment.policies.len() as u64 + REFERENCES) * places * each
}

/// Bytes that the results need on disk in all forms, estimated: between a third of them and all.
#[must_use]
pub fn on_disk(experiment: &Experiment) -> u64 {
    let places = experiment.configurations.len() * experiment.policies.len() * (experiment.apps.len() + 1);
    let written = WRITTEN + WRITTEN_VALUE * u64::from(experiment.repeat);
    (places as u64).saturating_mul(WRITTEN_METRICS).saturating_mul(written)
}

/// Operations that the tasks of an application execute in a run.
fn operations(app: &AppSpec) -> f64 {
    let mut repeated = vec![1.0_f64];
    let mut count = 0.0;
    for op in app.program.ops() {
        let around = repeated.last().copied().unwrap_or(1.0);
        match op {
            Op::Repeat(times) => repeated.push(around * f64::from(*times).max(1.0)),
            // Its tasks divide the passes among them.
            Op::RepeatShared(times) => {
                repeated.push(around * (f64::from(*times) / f64::from(app.tasks)).max(1.0));
            }
            Op::End => {
                repeated.pop();
            }
            _ => count += around,
        }
    }
    count * f64::from(app.tasks)
}
