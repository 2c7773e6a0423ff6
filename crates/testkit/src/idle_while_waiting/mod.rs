//! A cpu does not idle while a task waits that may run there: every long stretch in which one does is a named
//! rule of the kernel, or a fault. Of tasks that only poll on one cpu each counts as waiting.
//!
//! [`Watch`] observes a run and keeps the stretches, [`case`] draws a random run of a kernel, [`findings`]
//! returns its stretches, and [`rules`] has the rules that account for one.

mod draw;
mod looks;
mod promptly;
mod report;
pub mod rules;
mod ule;

use std::sync::Arc;

use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::policy::{Action, Decision, Placement};
use sim_core::program::AppSpec;
use sim_core::time::{Span, Time};

use promptly::{Prompt, Reach};

pub use draw::{Case, KERNELS, Kernel, case};
pub use promptly::Late;
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
    /// When the part without a change began that lasts now, and how many changes the run had had by then.
    part: (Time, u64),
    /// The cpu went idle as it began, and would have taken a task at once.
    pub takes: bool,
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
    /// How often tasks came to a cpu or left one.
    changes: u64,
    /// The tasks of each cpu at the timer ticks at which a cpu idled beside a waiting task, and the period of
    /// these ticks.
    ticks: Vec<(Time, Vec<Vec<TaskId>>)>,
    tick: Span,
    /// Stretches at least this long are kept.
    least: Span,
    /// Those that have ended.
    pub found: Vec<Stretch>,
    /// Woken tasks that were put behind others beside an idle cpu.
    pub late: Vec<Late>,
    prompt: Prompt,
}

impl Watch {
    /// Watches runs of these applications on so many cpus with ticks of this period.
    fn new(apps: &[AppSpec], (cpus, tick): (u32, Span), least: Span, reach: Reach) -> Self {
        Self {
            late: Vec::new(),
            prompt: Prompt::new(reach, cpus as usize, apps),
            ticks: Vec::new(),
            changes: 0,
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
            let ended = open.take().filter(|stretch| stretch.lasts(self.least));
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
                    part: (from, self.changes),
                    takes: self.prompt.takes(from, &self.tasks, &self.masks, cpu_id),
                });
                open.to = at;
                if open.part.1 != self.changes {
                    open.part = (from, self.changes);
                    open.changes += 1;
                }
                if at - open.part.0 > open.still {
                    open.still = at - open.part.0;
                    open.tasks.clone_from(&self.tasks);
                }
            } else if let Some(ended) = self.open[cpu].take()
                && ended.lasts(self.least)
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
        let tasks = &mut self.tasks[cpu.index()];
        let before = tasks.len();
        tasks.retain(|other| *other != task);
        let after = tasks.len();
        if after != before {
            self.changes += 1;
            self.prompt.changed(self.last, cpu, before, after);
        }
    }
}

impl Observer for Watch {
    fn observe(&mut self, at: Time, what: &Observation) {
        match *what {
            Observation::Runnable { task, cpu } => {
                self.advance(at);
                self.leave(task, cpu);
                let tasks = &mut self.tasks[cpu.index()];
                tasks.push(task);
                self.changes += 1;
                self.prompt.changed(at, cpu, tasks.len() - 1, tasks.len());
            }
            Observation::Migrated { task, from, .. } => {
                self.advance(at);
                self.leave(task, from);
            }
            Observation::Running { task, cpu } => {
                self.advance(at);
                self.current[cpu.index()] = Some(task);
                self.prompt.ran(task, at);
            }
            Observation::Stopping { task, cpu, reason } => {
                self.advance(at);
                self.current[cpu.index()] = None;
                self.prompt.ran(task, at);
                if matches!(reason, LeaveReason::Slept | LeaveReason::Exited) {
                    self.leave(task, cpu);
                }
            }
            _ => {}
        }
    }

    fn decided(&mut self, at: Time, decision: &Decision) {
        let (Some(task), &Action::Placed { placement: Placement::Wake { .. }, cpu }) =
            (decision.task, &decision.action)
        else {
            return;
        };
        if let Some(idle) = self.prompt.overlooked(&self.tasks, self.masks[task.index()], cpu) {
            self.late.push(Late { at, task, cpu, idle });
        }
    }
}

/// A stretch that a cpu began with a look that takes a task may last as long as switches do.
const AT_ONCE: Span = Span::from_ms(1);

impl Stretch {
    fn lasts(&self, least: Span) -> bool {
        let length = self.to - self.from;
        length >= least || (self.takes && length > AT_ONCE)
    }
}

/// The cpus that the tasks of an application may use.
fn mask(app: &AppSpec, cpus: u32) -> Cpus {
    let all = (0..cpus).map(CpuId);
    all.filter(|cpu| app.allowed.as_ref().is_none_or(|set| set.contains(*cpu)))
        .fold(0, |mask, cpu| mask | 1 << cpu.0)
}

/// What is to be explained of a run.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The stretches that are longer than two balancing intervals, or than a look that would end them.
    pub stretches: Vec<Report>,
    /// Woken tasks that were put behind others beside an idle cpu.
    pub late: Vec<Late>,
}

/// Runs a case.
///
/// # Errors
/// Why the simulator refuses the case.
pub fn findings(case: &Case) -> Result<Findings, String> {
    let (machine, model) = (Arc::new(case.machine.clone()), Arc::new(case.model.clone()));
    let mut policy = case.policy();
    let levels = case.levels();
    let tick = case.model.tick;
    let two_intervals = levels.iter().map(|level| case.kernel.patience(level)).min().unwrap_or(Span::MAX);
    let least = if case.kernel.policy == "ULE" { tick * 3 } else { two_intervals };
    let mut watch = Watch::new(&case.apps, (machine.cpus(), tick), least, Reach::of(case, &levels));
    let simulation = Simulation::new(machine, model, case.apps.clone(), case.options)?;
    let report = simulation.run(&mut *policy, &mut watch);
    watch.end(report.makespan);
    let reports = watch.found.into_iter().map(|stretch| Report::new(case, &levels, &watch.masks, stretch));
    let judged = reports.map(|mut report| {
        report.overdue = report.stretch.takes || report.steals(case.kernel, tick);
        report
    });
    let mut stretches: Vec<Report> =
        judged.filter(|report| report.overdue || report.length() > report.patience).collect();
    for report in &mut stretches {
        report.look(case.kernel, &watch.ticks, watch.tick);
    }
    Ok(Findings { stretches, late: watch.late })
}
