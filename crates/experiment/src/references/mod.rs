//! References that the results of policies are compared with: the fair share of the machine, a lower bound,
//! the best partition.

mod bound;
mod fluid;
mod grouped;
mod job;
mod partition;

use std::collections::BTreeMap;

use sim_core::ids::CpuId;
use sim_core::machine::{CpuSet, Level, Machine};
use sim_core::outcome::{AppReport, RunReport};
use sim_core::program::{AppSpec, Op};

use fluid::Stay;
use grouped::Capacity;
use job::{Arrival, Job};
pub use partition::BestPartition;
pub(crate) use partition::{Found, search};
use scenario::labels;
use scenario::plan::{NO_POLICY, RunPlan};

/// Something to compare policies with; results list its cells like those of a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Its label in cells and tables; no policy may be called so.
    pub label: &'static str,
    /// Its definition.
    pub about: &'static str,
    /// Its place among the policies of samples.
    pub(crate) policy: usize,
}

/// The fair share.
pub const FAIR_SHARE: Reference = Reference {
    label: labels::FAIR_SHARE,
    about: "an ideal scheduler that divides the cpus evenly among all tasks at every instant, at no cost: \
        each application \
advances as in its dedicated run, slowed down by its share of the cpus",
    policy: NO_POLICY - 1,
};

/// The lower bound.
pub const LOWER_BOUND: Reference = Reference {
    label: labels::LOWER_BOUND,
    about: "the shortest possible time: all work divided by the speed of all cpus, or the longest chain of \
        work on the fastest cpus that it may use",
    policy: NO_POLICY - 2,
};

/// The best static partition; only where the experiment asks for the search
/// ([`scenario::plan::Experiment::best_partition`]).
pub const BEST_PARTITION: Reference = Reference {
    label: labels::BEST_PARTITION,
    about: "each application pinned on separate cores, in the division that ends first in a search by \
        simulation",
    policy: NO_POLICY - 3,
};

/// All references, in the order of tables.
pub const REFERENCES: [Reference; 3] = [BEST_PARTITION, FAIR_SHARE, LOWER_BOUND];

/// A dedicated run of an application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Dedicated {
    /// Run time, seconds.
    pub(crate) time: f64,
    /// Its tasks.
    pub(crate) tasks: f64,
    /// Cpus they kept busy on average.
    pub(crate) cpus: f64,
    /// Nominal work of its operations, seconds.
    pub(crate) work: f64,
}

impl Dedicated {
    /// Of a run that went on until its application ended.
    pub(crate) fn of(app: &AppReport) -> Option<Self> {
        let time = app.run_time()?.ns() as f64 / NS_PER_S;
        let cpus = app.counters.cpu_ns as f64 / NS_PER_S / time;
        let work = asked(app);
        (time > 0.0 && cpus > 0.0).then_some(Self { time, tasks: app.task_cpu.len() as f64, cpus, work })
    }

    /// Of a window of this length: its time is that of a second of its work.
    pub(crate) fn in_window(app: &AppReport, length: f64) -> Option<Self> {
        let (work, used) =
            (app.counters.work_done_ns as f64 / NS_PER_S, app.counters.cpu_ns as f64 / NS_PER_S);
        let (tasks, cpus) = (app.task_cpu.len() as f64, used / length);
        (work > 0.0).then_some(Self { time: length / work, tasks, cpus, work })
    }
}

/// The values of a reference for a run: run time of each application and the makespan, seconds.
pub(crate) struct Reading {
    pub(crate) reference: Reference,
    pub(crate) run_times: Vec<Option<f64>>,
    pub(crate) makespan: Option<f64>,
}

impl Reading {
    fn of(reference: Reference, stays: &[Option<Stay>], makespan: Option<f64>) -> Self {
        let run_times = stays.iter().map(|stay| stay.map(|stay| stay.end - stay.start)).collect();
        Self { reference, run_times, makespan }
    }

    /// The smaller one of each value of two readings.
    pub(crate) fn least(mut self, other: Self) -> Self {
        let least = |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).reduce(f64::min);
        for (mine, its) in self.run_times.iter_mut().zip(other.run_times) {
            *mine = least(*mine, its);
        }
        self.makespan = least(self.makespan, other.makespan);
        self
    }
}

/// The applications of a run that completed by their nominal work.
fn nominal(plan: &RunPlan, run: &RunReport, size: &Size) -> Vec<Job> {
    plan.apps.iter().zip(&run.apps).map(|(spec, app)| job(spec, app, size)).collect()
}

/// The lower bound for the applications of a run that completed.
pub(crate) fn lower_bound(plan: &RunPlan, run: &RunReport) -> Reading {
    let size = Size::of(&plan.machine);
    let (earliest, all) = bound::stays(&nominal(plan, run, &size), size.capacity(None));
    Reading::of(LOWER_BOUND, &earliest, Some(all))
}

/// The fair share for the applications of a run that completed. `dedicated`: by entry of the scenario;
/// without one for each foreground application it is that of the nominal work, without memory contention and
/// waiting.
pub(crate) fn fair_share(plan: &RunPlan, run: &RunReport, dedicated: &BTreeMap<usize, Dedicated>) -> Reading {
    let size = Size::of(&plan.machine);
    let nominal = nominal(plan, run, &size);
    let alone = |(at, spec): (usize, &AppSpec)| {
        if spec.background { Some(None) } else { Some(Some(dedicated.get(&plan.entries[at])?)) }
    };
    let alone: Option<Vec<Option<&Dedicated>>> = plan.apps.iter().enumerate().map(alone).collect();
    let (groups, admission) = (&plan.kernel.groups, plan.options.admission);
    let shares = match alone {
        Some(alone) => {
            let jobs: Vec<Job> =
                nominal.iter().zip(alone).map(|(job, alone)| as_alone(*job, alone)).collect();
            fluid::stays(&jobs, groups, Capacity { all: size.lone_cores(), cpu: 1.0 }, admission)
        }
        None => {
            let capacity = Capacity { all: size.capacity(None), cpu: size.fastest() };
            fluid::stays(&nominal, groups, capacity, admission)
        }
    };
    let foreground = |at: usize| !plan.apps[at].background;
    let ends = |stays: &[Option<Stay>]| {
        let ends = stays
            .iter()
            .enumerate()
            .filter(|(at, _)| foreground(*at))
            .map(|(_, stay)| Some(stay.as_ref()?.end));
        ends.collect::<Option<Vec<f64>>>().and_then(|ends| ends.into_iter().reduce(f64::max))
    };
    Reading::of(FAIR_SHARE, &shares, ends(&shares))
}

const NS_PER_S: f64 = 1e9;

/// What a machine can do at most.
#[derive(Clone, PartialEq, Debug)]
struct Size {
    /// Seconds of nominal work per second of each core with one busy hardware thread, at the highest turbo
    /// clock.
    cores: Vec<f64>,
    /// What hardware threads of a core do together against one alone, by the number of busy ones, at their
    /// best.
    together: Vec<f64>,
}

impl Size {
    fn of(machine: &Machine) -> Self {
        let threads = machine.topology.span(Level::Core).max(1);
        let kept = f64::from(machine.smt.compute.max(machine.smt.memory)) / 1_000.0;
        // Each busy sibling leaves this part of a thread's speed; some may as well idle.
        let mut together = vec![0.0];
        let mut each = 1.0;
        for busy in 1..=threads {
            let best = f64::max(together[busy as usize - 1], f64::from(busy) * each);
            together.push(best);
            each *= kept;
        }
        let turbo = machine.turbo.iter().map(|t| f64::from(*t) / 1_000.0).reduce(f64::max).unwrap_or(1.0);
        let nominal = sim_core::time::Speed::NOMINAL.raw() as f64;
        let firsts = machine.cpu_ids().step_by(threads as usize);
        let cores = firsts.map(|cpu| machine.speed_of(cpu).raw() as f64 / nominal * turbo).collect();
        Self { cores, together }
    }

    /// The work per second of the cpus that a mask allows.
    fn capacity(&self, allowed: Option<&CpuSet>) -> f64 {
        let threads = self.together.len() as u32 - 1;
        let busy = |core: usize| {
            let cpus = core as u32 * threads..(core as u32 + 1) * threads;
            cpus.filter(|cpu| allowed.is_none_or(|set| set.contains(CpuId(*cpu)))).count()
        };
        self.cores.iter().enumerate().map(|(core, speed)| speed * self.together[busy(core)]).sum()
    }

    /// The work per second of the fastest cpu.
    fn fastest(&self) -> f64 {
        self.cores.iter().copied().fold(0.0, f64::max)
    }

    /// Cores, each counted with what its hardware threads together are worth against one alone.
    fn lone_cores(&self) -> f64 {
        self.cores.len() as f64 * self.together.last().copied().unwrap_or(1.0)
    }
}

/// An application by its nominal work.
fn job(spec: &AppSpec, app: &AppReport, size: &Size) -> Job {
    let arrival = match spec.after {
        Some(before) => Arrival::After(before.0 as usize, spec.start.ns() as f64 / NS_PER_S),
        None => Arrival::At(app.arrived.ns() as f64 / NS_PER_S),
    };
    // A mask that changes counts with all cpus that it ever allows.
    let ever = spec
        .allowed
        .as_ref()
        .map(|first| CpuSet::of(first.iter().chain(spec.rebinds.iter().flat_map(|(_, later)| later.iter()))));
    let most = size.capacity(ever.as_ref()).min(size.fastest() * f64::from(spec.tasks));
    let want = if spec.background { duty(spec) } else { most / f64::from(spec.tasks) };
    let demand = if spec.background { f64::INFINITY } else { asked(app) };
    // Of several weights the mean counts: all tasks of an application want the same.
    let weights: f64 = (0..spec.tasks).map(|rank| f64::from(spec.weight_of(rank))).sum();
    let weight =
        if spec.rank_weights.is_empty() { spec.weight.into() } else { weights / f64::from(spec.tasks) };
    Job { arrival, tasks: spec.tasks, weight, want, demand, group: spec.group }
}

/// The same by its dedicated run: it can keep as many cpus busy as it did there, and needs as much cpu time
/// for each second of nominal work.
fn as_alone(job: Job, dedicated: Option<&Dedicated>) -> Job {
    dedicated.map_or(job, |alone| {
        let want = alone.cpus / f64::from(job.tasks).max(alone.tasks);
        // A program without work, of barriers alone, takes the cpu time of its dedicated run.
        let work = if alone.work > 0.0 { job.demand / alone.work } else { 1.0 };
        Job { want, demand: alone.time * alone.cpus * work, ..job }
    })
}

/// Nominal work of the operations of an application, seconds.
fn asked(app: &AppReport) -> f64 {
    app.counters.work_asked_ns as f64 / NS_PER_S
}

/// The part of the time that a task of a background application computes when no other task delays it.
fn duty(spec: &AppSpec) -> f64 {
    let (mut busy, mut asleep) = (0.0, 0.0);
    for op in spec.program.ops() {
        match op {
            Op::Compute { work, .. } | Op::Serial { work, .. } => busy += work.floor_ns() as f64,
            Op::Sleep { span, .. } => asleep += span.ns() as f64,
            _ => {}
        }
    }
    if busy > 0.0 { busy / (busy + asleep) } else { 1.0 }
}

/// A time on a scale from that of the first policy (0) to the fair share (100), in per cent; `None` when the
/// two differ by less than one per cent of the fair share.
pub(crate) fn recovered(first: f64, other: f64, ideal: f64) -> Option<f64> {
    let gap = first - ideal;
    (gap > 0.01 * ideal).then(|| (first - other) / gap * 100.0)
}

#[cfg(test)]
mod tests;
