//! A stretch with what the rules of a kernel look at: levels, groups, masks, weights.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use policies::DomainLevel;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::time::{Span, Time};

use super::{Case, Cpus, Kernel, Stretch};

/// A stretch longer than two balancing intervals.
#[derive(Clone, Debug)]
pub struct Report {
    /// The stretch.
    pub stretch: Stretch,
    /// Two balancing intervals of an idle cpu at the level that spans the masks of the waiting tasks.
    pub patience: Span,
    /// The levels of the machine, lowest first.
    pub levels: Vec<DomainLevel>,
    /// The lowest level that holds the idle cpu and a cpu with a waiting task that may run there.
    pub level: usize,
    /// The cpus with a waiting task that may run on the idle one.
    pub crowded: Vec<CpuId>,
    /// The mask of each task.
    pub masks: Vec<Cpus>,
    /// The weight of each task.
    pub weights: Vec<u32>,
    /// Whether each task sleeps now and then.
    pub sleeps: Vec<bool>,
    /// The kernel acts at once in such a state.
    pub overdue: bool,
    /// Hardware threads of a core.
    pub siblings: u32,
    /// Ticks at which a look of the idle cpu would find a task to take, in time; under Linux only. Under 6.18
    /// the longest such time without a pull to its group.
    pub ripe: Span,
    /// Ticks at which a mark that masks set would bring the idle cpu a task, in time; under 6.18 only.
    pub helped: Span,
}

impl Report {
    pub(super) fn new(case: &Case, levels: &[DomainLevel], masks: &[Cpus], stretch: Stretch) -> Self {
        let may = |task: &TaskId| masks[task.index()] >> stretch.cpu.0 & 1 == 1;
        let crowded: Vec<CpuId> = (0..stretch.tasks.len())
            .filter(|cpu| stretch.tasks[*cpu].len() > 1 && stretch.tasks[*cpu].iter().any(may))
            .map(CpuId::new)
            .collect();
        let holds = |level: &DomainLevel, cpu: CpuId| cpu.0 / level.span == stretch.cpu.0 / level.span;
        let top = levels.len().saturating_sub(1);
        let near = levels.iter().position(|level| crowded.iter().any(|cpu| holds(level, *cpu)));
        let waiting = crowded.iter().flat_map(|cpu| &stretch.tasks[cpu.index()]).filter(|task| may(task));
        let wide = waiting.fold(0, |all: Cpus, task| all | masks[task.index()]);
        let spans = |level: &DomainLevel| {
            (0..Cpus::BITS).filter(|cpu| wide >> cpu & 1 == 1).all(|cpu| holds(level, CpuId(cpu)))
        };
        let spanning = levels.iter().find(|level| spans(level)).or(levels.last());
        let apps = || case.apps.iter().flat_map(|app| (0..app.tasks).map(move |rank| (app, rank)));
        Self {
            patience: spanning.map_or(Span::MAX, |level| case.kernel.patience(level)),
            levels: levels.to_vec(),
            level: near.unwrap_or(top),
            crowded,
            masks: masks.to_vec(),
            weights: apps().map(|(app, rank)| app.weight_of(rank)).collect(),
            sleeps: apps().map(|(app, _)| case.sleeps(app)).collect(),
            siblings: case.machine.topology.span(sim_core::machine::Level::Core),
            ripe: Span::ZERO,
            helped: Span::ZERO,
            overdue: false,
            stretch,
        }
    }

    /// PollsPerYield at the queues as they were at each tick of the stretch.
    pub(super) fn look(&mut self, kernel: Kernel, ticks: &[(Time, Vec<Vec<TaskId>>)], tick: Span) {
        if kernel.policy != "LOAD" {
            return;
        }
        let shown = self.stretch.tasks.clone();
        let from = ticks.partition_point(|(at, _)| *at <= self.stretch.from);
        let until = ticks.partition_point(|(at, _)| *at <= self.stretch.to);
        let group = self.group(self.level, self.stretch.cpu);
        let (mut ripe, mut before): (Span, Option<Vec<TaskId>>) = (Span::ZERO, None);
        for (_, tasks) in &ticks[from..until.max(from)] {
            self.stretch.tasks.clone_from(tasks);
            let members = tasks[group.start as usize..group.end as usize].concat();
            // Since 3.5 a look also pulls for the other cpus of its group: then the next look begins.
            let pulled = |before: &Vec<TaskId>| members.iter().any(|task| !before.contains(task));
            if kernel.name == "linux-6.18" && before.as_ref().is_some_and(pulled) {
                ripe = Span::ZERO;
            }
            before = Some(members);
            if self.reasons(kernel).is_none() {
                ripe += tick;
                self.ripe = self.ripe.max(ripe);
            } else if kernel.name == "linux-6.18" && self.is_helped() {
                self.helped += tick;
            }
        }
        self.stretch.tasks = shown;
    }

    /// The mask of a task allows a cpu.
    #[must_use]
    pub fn allows(&self, task: TaskId, cpu: u32) -> bool {
        self.masks[task.index()] >> cpu & 1 == 1
    }

    /// How long it lasts.
    #[must_use]
    pub fn length(&self) -> Span {
        self.stretch.to - self.stretch.from
    }

    /// The number of runnable tasks of a range of cpus.
    #[must_use]
    pub fn count(&self, cpus: Range<u32>) -> usize {
        cpus.map(|cpu| self.stretch.tasks[cpu as usize].len()).sum()
    }

    /// The group of a cpu at a level.
    #[must_use]
    pub fn group(&self, level: usize, cpu: CpuId) -> Range<u32> {
        let size = self.levels[level].group_cpus;
        let start = cpu.0 / size * size;
        start..start + size
    }

    /// The domain of a cpu at a level.
    #[must_use]
    pub fn domain(&self, level: usize, cpu: CpuId) -> Range<u32> {
        let size = self.levels[level].span;
        let start = cpu.0 / size * size;
        start..(start + size).min(self.stretch.tasks.len() as u32)
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (cpu, from, to) = (self.stretch.cpu, self.stretch.from, self.stretch.to);
        writeln!(
            f,
            "{cpu} idle from {from:?} to {to:?} ({:?}, {} changes)",
            self.length(),
            self.stretch.changes
        )?;
        let names: Vec<String> =
            self.levels.iter().map(|l| format!("{} {}/{}", l.name, l.span, l.group_cpus)).collect();
        writeln!(
            f,
            "  {}; level {}; patience {:?}; still {:?}; ripe {:?}; helped {:?}",
            names.join(", "),
            self.level,
            self.patience,
            self.stretch.still,
            self.ripe,
            self.helped
        )?;
        for (cpu, tasks) in self.stretch.tasks.iter().enumerate() {
            let said = tasks.iter().map(|task| {
                let (mask, weight) = (self.masks[task.index()], self.weights[task.index()]);
                let sleeps = if self.sleeps[task.index()] { " sleeps" } else { "" };
                format!("{task} {mask:#x} w{weight}{sleeps}")
            });
            writeln!(f, "  cpu {cpu}: {}", said.collect::<Vec<_>>().join("; "))?;
        }
        Ok(())
    }
}
