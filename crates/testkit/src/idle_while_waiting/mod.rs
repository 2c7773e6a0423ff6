//! A cpu does not idle while a task waits that may run there: every long stretch in which one does is a named
//! rule of the kernel, or a fault. Of tasks that only poll on one cpu each counts as waiting.
//!
//! [`Watch`] observes a run and keeps the stretches, [`case`] draws a random run of a kernel, and [`unnamed`]
//! returns the stretches of it that no rule of [`rules`] accounts for.

mod draw;
mod looks;
mod report;
pub mod rules;

use std::sync::Arc;

use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::program::AppSpec;
use sim_core::time::{Span, Time};

pub use draw::{Case, KERNELS, Kernel, case};
pub use report::Report;

/// Cpus as a set of bits; the machines of this module have at most 64.
pub type Cpus = u64;

/// A stretch of time in which a cpu was idle while a task that may run there waited on another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The idle cpu.
    pub cpu: CpuId,
    /// When it began.
    pub from: Time,
    /// When it ended.
    pub to: Time,
    /// The tasks of each cpu in the longest part of it without a change.
    pub tasks: Vec<Vec<TaskId>>,
    /// How long that part was.
    pub still: Span,
    /// How often tasks came to a cpu, left one or moved meanwhile.
    pub changes: u32,
}

/// Observes the stretches of a run.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The mask of each task.
    masks: Vec<Cpus>,
    /// The runnable tasks of each cpu.
    tasks: Vec<Vec<TaskId>>,
    /// The task that has each cpu, where it has work to do.
    current: Vec<Option<TaskId>>,
    /// The stretch of each cpu that has begun.
    open: Vec<Option<Stretch>>,
    last: Time,
    /// The tasks of each cpu at the timer ticks at which a cpu idled beside a waiting task, and the period of
    /// these ticks.
    ticks: Vec<(Time, Vec<Vec<TaskId>>)>,
    tick: Span,
    /// Stretches at least this long are kept.
    least: Span,
    /// Those that have ended.
    pub found: Vec<Stretch>,
}

impl Watch {
    /// Watches runs of these applications on so many cpus with ticks of this period.
    #[must_use]
    pub fn new(apps: &[AppSpec], (cpus, tick): (u32, Span), least: Span) -> Self {
        Self {
            ticks: Vec::new(),
            tick,
            masks: apps.iter().flat_map(|app| vec![mask(app, cpus); app.tasks as usize]).collect(),
            tasks: vec![Vec::new(); cpus as usize],
            current: vec![None; cpus as usize],
            open: vec![None; cpus as usize],
            last: Time::ZERO,
            least,
            found: Vec::new(),
        }
    }

    /// The stretches that last at `end` end too.
    pub fn end(&mut self, end: Time) {
        self.advance(end);
        for open in &mut self.open {
            let ended = open.take().filter(|stretch| stretch.to - stretch.from >= self.least);
            self.found.extend(ended);
        }
    }

    /// Nothing has changed until `at`.
    fn advance(&mut self, at: Time) {
        if at <= self.last {
            return;
        }
        let mut wanted: Cpus = 0;
        let mut idles = false;
        for (tasks, current) in self.tasks.iter().zip(&self.current).filter(|(tasks, _)| tasks.len() > 1) {
            let waiting = tasks.iter().filter(|task| Some(**task) != *current);
            wanted |= waiting.map(|task| self.masks[task.index()]).fold(0, |all, mask| all | mask);
        }
        for cpu in 0..self.tasks.len() {
            if self.tasks[cpu].is_empty() && wanted >> cpu & 1 == 1 {
                idles = true;
                let (cpu_id, from) = (CpuId::new(cpu), self.last);
                let open = self.open[cpu].get_or_insert_with(|| Stretch {
                    cpu: cpu_id,
                    from,
                    to: from,
                    tasks: Vec::new(),
                    still: Span::ZERO,
                    changes: 0,
                });
                open.to = at;
                open.changes += 1;
                if at - self.last > open.still {
                    open.still = at - self.last;
                    open.tasks.clone_from(&self.tasks);
                }
            } else if let Some(ended) = self.open[cpu].take()
                && ended.to - ended.from >= self.least
            {
                self.found.push(ended);
            }
        }
        let next = |number: u64| Time::from_ns(number * self.tick.ns());
        let first = self.last.ns() / self.tick.ns() + 1;
        for number in first..=at.ns() / self.tick.ns() {
            if idles {
                self.ticks.push((next(number), self.tasks.clone()));
            }
        }
        self.last = at;
    }

    fn leave(&mut self, task: TaskId, cpu: CpuId) {
        self.tasks[cpu.index()].retain(|other| *other != task);
    }
}

impl Observer for Watch {
    fn observe(&mut self, at: Time, what: &Observation) {
        match *what {
            Observation::Runnable { task, cpu } => {
                self.advance(at);
                self.leave(task, cpu);
                self.tasks[cpu.index()].push(task);
            }
            Observation::Migrated { task, from, .. } => {
                self.advance(at);
                self.leave(task, from);
            }
            Observation::Running { task, cpu } => {
                self.advance(at);
                self.current[cpu.index()] = Some(task);
            }
            Observation::Stopping { task, cpu, reason } => {
                self.advance(at);
                self.current[cpu.index()] = None;
                if matches!(reason, LeaveReason::Slept | LeaveReason::Exited) {
                    self.leave(task, cpu);
                }
            }
            _ => {}
        }
    }
}

/// The cpus that the tasks of an application may use.
fn mask(app: &AppSpec, cpus: u32) -> Cpus {
    let all = (0..cpus).map(CpuId);
    all.filter(|cpu| app.allowed.as_ref().is_none_or(|set| set.contains(*cpu)))
        .fold(0, |mask, cpu| mask | 1 << cpu.0)
}

/// The stretches of a case that are longer than two balancing intervals.
///
/// # Errors
/// Why the simulator refuses the case.
pub fn stretches(case: &Case) -> Result<Vec<Report>, String> {
    let (machine, model) = (Arc::new(case.machine.clone()), Arc::new(case.model.clone()));
    let mut policy = case.policy();
    let levels = case.levels();
    let least = levels.iter().map(|level| case.kernel.patience(level)).min().unwrap_or(Span::MAX);
    let mut watch = Watch::new(&case.apps, (machine.cpus(), case.model.tick), least);
    let simulation = Simulation::new(machine, model, case.apps.clone(), case.options)?;
    let report = simulation.run(&mut *policy, &mut watch);
    watch.end(report.makespan);
    let reports = watch.found.into_iter().map(|stretch| Report::new(case, &levels, &watch.masks, stretch));
    let mut long: Vec<Report> = reports.filter(|report| report.length() > report.patience).collect();
    for report in &mut long {
        report.look(case.kernel, &watch.ticks, watch.tick);
    }
    Ok(long)
}

/// The stretches of a case that no rule of its kernel accounts for.
///
/// # Errors
/// Why the simulator refuses the case.
pub fn unnamed(case: &Case) -> Result<Vec<Report>, String> {
    let mut reports = stretches(case)?;
    reports.retain(|report| rules::name(case.kernel, report).is_none());
    Ok(reports)
}
