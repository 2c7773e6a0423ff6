//! Invariants that hold in every run, checked from the outside: by an observer while it runs, and on its
//! report.

use std::collections::BTreeMap;

use sim_core::ids::{CpuId, TaskId};
use sim_core::observe::{Observation, Observer};
use sim_core::outcome::{Outcome, RunReport};
use sim_core::program::AppSpec;
use sim_core::time::Time;
use sim_core::wait::Scope;

/// Who meets whom at barriers: for each application its first task, the number of its tasks, and of those of
/// a team.
#[derive(Clone, Default)]
pub(crate) struct Scopes(Vec<(u32, u32, u32)>);

impl Scopes {
    /// Those of these applications, whose tasks are numbered in order.
    pub(crate) fn new(apps: &[AppSpec]) -> Self {
        let mut first = 0;
        let apps = apps.iter().map(|app| {
            first += app.tasks;
            (first - app.tasks, app.tasks, app.team.max(1))
        });
        Self(apps.collect())
    }

    /// The first and the number of those whom a task meets.
    pub(crate) fn of(&self, task: TaskId, scope: Scope) -> (u32, u32) {
        let found = self.0.iter().rev().find(|(first, ..)| *first <= task.0);
        let (first, size, team) = found.copied().unwrap_or((0, u32::MAX, 1));
        let before = (task.0 - first) / team * team;
        match scope {
            Scope::All => (first, size),
            Scope::Team | Scope::Join => (first + before, team.min(size - before)),
            Scope::Leaders => (first, size.div_ceil(team)),
        }
    }
}

/// Checks facts as they come: instants never go back, a cpu runs one task, a task runs on one cpu and only
/// where it was last made runnable, and nobody leaves a barrier before all have arrived.
#[derive(Default)]
pub struct Invariants {
    now: Time,
    on_cpu: BTreeMap<CpuId, TaskId>,
    place: BTreeMap<TaskId, CpuId>,
    scopes: Scopes,
    /// Arrivals by scope, first task of those who meet, and episode.
    arrivals: BTreeMap<(Scope, u32, u32), u32>,
    /// What was violated, in words.
    pub violations: Vec<String>,
}

impl Invariants {
    /// A checker for these applications, whose tasks are numbered in order.
    #[must_use]
    pub fn new(apps: &[AppSpec]) -> Self {
        Self { scopes: Scopes::new(apps), ..Self::default() }
    }

    fn require(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.violations.len() < 20 {
            let at = self.now;
            self.violations.push(format!("{at:?}: {}", what()));
        }
    }
}

impl Observer for Invariants {
    fn observe(&mut self, at: Time, what: &Observation) {
        let before = self.now;
        self.require(at >= before, || format!("time goes back to {at:?}"));
        self.now = at;
        match *what {
            Observation::Runnable { task, cpu } => {
                self.place.insert(task, cpu);
                let runs = self.on_cpu.values().any(|running| *running == task);
                self.require(!runs, || format!("{task} is queued while it runs"));
            }
            Observation::Running { task, cpu } => {
                let taken = self.on_cpu.insert(cpu, task);
                self.require(taken.is_none(), || format!("{cpu} runs {task} beside {taken:?}"));
                let place = self.place.get(&task).copied();
                self.require(place == Some(cpu), || {
                    format!("{task} runs on {cpu} but is queued on {place:?}")
                });
            }
            Observation::Stopping { task, cpu, .. } => {
                let stopped = self.on_cpu.remove(&cpu);
                self.require(stopped == Some(task), || {
                    format!("{task} stops on {cpu}, where {stopped:?} ran")
                });
            }
            Observation::Arrived { task, scope, episode } => {
                let (first, _) = self.scopes.of(task, scope);
                *self.arrivals.entry((scope, first, episode)).or_default() += 1;
            }
            Observation::Released { task, scope, episode } => {
                let (first, size) = self.scopes.of(task, scope);
                let arrived = self.arrivals.get(&(scope, first, episode)).copied().unwrap_or(0);
                // At a tree the others do not wait for the end of a region.
                let waits = scope != Scope::Join || task.0 == first;
                self.require(!waits || arrived == size, || {
                    format!("{task} leaves barrier {episode} after {arrived} of {size} arrivals")
                });
            }
            _ => {}
        }
    }
}

/// Checks a report: every cpu's account sums to the makespan, and a completed run has done the work that was
/// asked for.
#[must_use]
pub fn violations(report: &RunReport) -> Vec<String> {
    let mut found = Vec::new();
    for (cpu, account) in report.cpus.iter().enumerate() {
        let (total, makespan) = (account.total().ns(), report.makespan.ns());
        if total != makespan {
            found.push(format!("cpu{cpu} accounts for {total} ns of {makespan} ns"));
        }
    }
    let cpu_ns: u64 = report.apps.iter().map(|app| app.counters.cpu_ns).sum();
    if cpu_ns > report.makespan.ns() * report.cpus.len() as u64 {
        found.push(format!("tasks used {cpu_ns} ns, more than there was"));
    }
    for app in &report.apps {
        let (asked, done) = (app.counters.work_asked_ns, app.counters.work_done_ns);
        if done > asked || (app.end.is_some() && asked != done) {
            found.push(format!("{} did {done} ns of {asked} ns of work", app.name));
        }
    }
    for pool in &report.pools {
        let (done, passes) = (pool.jobs.iter().sum::<u64>(), pool.passes);
        if (passes > 0 && done < passes) || pool.steals > done + pool.jobs.len() as u64 {
            found.push(format!(
                "`{}` has done {done} jobs in {passes} passes, {} stolen",
                pool.name, pool.steals
            ));
        }
    }
    if matches!(report.outcome, Outcome::Livelock(_)) {
        found.push(format!("{:?}", report.outcome));
    }
    found
}
