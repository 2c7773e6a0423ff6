//! References that the results of policies are compared with: the fair share of the machine, a lower bound,
//! the best partition.

mod bound;
mod fluid;
mod grouped;
mod job;
mod limits;
mod partition;
mod size;

use std::collections::BTreeMap;

use sim_core::outcome::{AppReport, RunReport};

use fluid::Stay;
use job::Job;
use limits::Limits;
pub use partition::BestPartition;
pub(crate) use partition::{Found, search};
use scenario::labels;
use scenario::plan::{NO_POLICY, RunPlan};
use size::Size;

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
    about: "an ideal scheduler that divides the cpus evenly among the tasks that do not sleep, at every \
        instant and at no cost; one task at a time does serial parts and holds a lock. No program advances \
        faster than in its dedicated run, unless a policy shows that it can. It is left out where a \
        policy still ended more than 2 % sooner",
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

/// The fair share is no worse than what any policy of the same configuration reached, up to this part of it;
/// otherwise it is left out. A program that is favoured by its order, its place in the memory or its partner
/// can end sooner than equal shares allow.
pub const FAIR_SHARE_TOLERANCE: f64 = 0.02;

/// A dedicated run of an application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Dedicated {
    /// Run time, seconds.
    pub(crate) time: f64,
    /// Its tasks.
    pub(crate) tasks: f64,
    /// Nominal work of its operations, seconds.
    pub(crate) work: f64,
}

impl Dedicated {
    /// Of a run that went on until its application ended.
    pub(crate) fn of(app: &AppReport) -> Option<Self> {
        let time = app.run_time()?.ns() as f64 / NS_PER_S;
        (time > 0.0).then(|| Self { time, tasks: app.task_cpu.len() as f64, work: asked(app) })
    }

    /// Of a window of this length: its time is that of a second of its work.
    pub(crate) fn in_window(app: &AppReport, length: f64) -> Option<Self> {
        let work = app.counters.work_done_ns as f64 / NS_PER_S;
        (work > 0.0).then(|| Self { time: length / work, tasks: app.task_cpu.len() as f64, work })
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
    plan.apps
        .iter()
        .zip(&run.apps)
        .map(|(spec, app)| Job::of(spec, app, &plan.machine.memory, size))
        .collect()
}

/// The lower bound for the applications of a run that completed.
pub(crate) fn lower_bound(plan: &RunPlan, run: &RunReport) -> Reading {
    let size = Size::of(&plan.machine, 1.0);
    let (earliest, all) = bound::stays(&nominal(plan, run, &size), size.capacity(None));
    Reading::of(LOWER_BOUND, &earliest, Some(all))
}

/// The fair share for the applications of a run that completed. `dedicated`: by entry of the scenario; of an
/// application without one only its work and its sleeps count, not what it waits for. None where nothing is
/// known of a program that does no work.
pub(crate) fn fair_share(
    plan: &RunPlan,
    run: &RunReport,
    dedicated: &BTreeMap<usize, Dedicated>,
) -> Option<Reading> {
    let size = Size::of(&plan.machine, job::most_bound(&plan.apps, &plan.machine.memory));
    let mut jobs = nominal(plan, run, &size);
    for ((job, spec), entry) in jobs.iter_mut().zip(&plan.apps).zip(&plan.entries) {
        *job = job.clone().within_itself(spec, &plan.machine, &size);
        if let Some(alone) = dedicated.get(entry).filter(|_| !spec.background) {
            *job = job.clone().beside_alone(alone);
        }
    }
    if jobs.iter().any(|job| job.demand <= 0.0) {
        return None;
    }
    let limits = Limits::of(&jobs, &size);
    let shares = fluid::stays(&jobs, &plan.kernel.groups, &limits, plan.options.admission);
    let ends = shares.iter().zip(&jobs).filter(|(_, job)| job.foreground());
    let ends: Option<Vec<f64>> = ends.map(|(stay, _)| Some(stay.as_ref()?.end)).collect();
    let makespan = ends.and_then(|ends| ends.into_iter().reduce(f64::max));
    Some(Reading::of(FAIR_SHARE, &shares, makespan))
}

const NS_PER_S: f64 = 1e9;

/// Nominal work of the operations of an application, seconds.
fn asked(app: &AppReport) -> f64 {
    app.counters.work_asked_ns as f64 / NS_PER_S
}

/// A time on a scale from that of the first policy (0) to the fair share (100), in per cent; `None` when the
/// two differ by less than one per cent of the fair share.
pub(crate) fn recovered(first: f64, other: f64, ideal: f64) -> Option<f64> {
    let gap = first - ideal;
    (gap > 0.01 * ideal).then(|| (first - other) / gap * 100.0)
}

#[cfg(test)]
mod tests;
