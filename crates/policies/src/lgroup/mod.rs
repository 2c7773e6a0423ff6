//! `LGROUP`: placement of Solaris: a home board (locality group) per thread, idle cpus anywhere, steals
//! within microseconds.
//!
//! Source: illumos (of 2005 and later) lgrp.c `lgrp_choose`, disp.c `setbackdq`, `disp_lowpri_cpu`,
//! `disp_getwork`, and the sun4u Starcat platform file; that Solaris 9 had the same constants is uncertain.

mod load;

use notation::declare::{Duration, Factor};
use notation::{choices, parameters};
use sim_core::ids::{CpuId, Id, NodeId, TaskId};
use sim_core::machine::{Level as Tree, Machine};
use sim_core::policy::{
    CpuChoice, Placement, Policy, Preemption, System, TaskState, Timer, View, Watches, Why,
};
use sim_core::rng::Purpose;
use sim_core::time::{Span, Time};

use crate::domain_level::DomainLevel;
use crate::queues::Queues;
use load::{AGING, Group, THREAD};

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::spread::{Draws, first_allowed};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "LGROUP",
    summary: "Solaris's placement: a home locality group per thread, idle cpus first, idle cpus steal at \
        once",
    source: "illumos lgrp.c, disp.c and sun4u starcat platform file; Solaris 9 alike (uncertain)",
    level: Level::InKernel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("lgroup.md"),
    wins: Showcase {
        scenario: "moved_memory",
        label: "LGROUP",
        against: "DWRR",
        app: "stream",
        point: "kernel=solaris-9",
    },
    loses: Showcase {
        scenario: "odd_thread",
        label: "LGROUP",
        against: "DWRR",
        app: "ep",
        point: "kernel=solaris-9",
    },
    build: &|values, setting| Box::new(Lgroup::new(&values.into(), setting)),
};

choices! {
    /// The words of `ties`.
    enum Ties { Random = "random", Last = "last" }
}

parameters! {
    /// Parameters of `LGROUP`.
    struct Parameters {
        /// Load in threads above which a program expands to another group (lgrp_expand_proc_thresh: 3 x 65516
        /// on Starcat, else 62250).
        threshold: Factor = 3_000, in 0..=1_000_000;
        /// Threads by which the load of the other group must be lower (lgrp_expand_proc_diff: 65516 on
        /// Starcat, else 60000).
        difference: Factor = 1_000, in 0..=1_000_000;
        /// A thread that ran within this time keeps its cpu (rechoose_interval, 3 clock ticks).
        rechoose: Duration = ms(30), in 0..=s(10);
        /// Where a thread goes. `last`, as in the source: to its last cpu if it left that a short while ago,
        /// otherwise to the lowest priority at home. `random`: to any idle cpu, otherwise to one of the
        /// shortest queues of the machine at random.
        ties: Ties = Ties::Last;
        /// Whether a cpu that goes idle takes a waiting thread (disp_getwork).
        steal: bool = true;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    home: Option<u32>,
    homed: Time,
    runnable: bool,
    /// A timer is set for the end of its quantum.
    watched: bool,
}

struct Lgroup {
    threshold: u64,
    difference: u64,
    rechoose: Span,
    sticky: bool,
    steal: bool,
    /// The period of the timer tick.
    tick: Span,
    /// Cpus of a group.
    span: u32,
    groups: Vec<Group>,
    threads: Vec<Thread>,
    /// Threads by application and group.
    used: Vec<Vec<u32>>,
    choices: u64,
    queues: Queues,
    draws: Option<Draws>,
    waiting: Vec<TaskId>,
}

impl Lgroup {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        let machine = setting.machine;
        let span = machine.topology.span(Tree::Node);
        Self {
            threshold: values.threshold.thousandths() * THREAD / 1_000,
            difference: values.difference.thousandths() * THREAD / 1_000,
            rechoose: Span::from_ns(values.rechoose.ns()),
            sticky: values.ties == Ties::Last,
            steal: values.steal,
            tick: setting.kernel.tick,
            span,
            groups: vec![Group::default(); machine.cpus().div_ceil(span) as usize],
            threads: Vec::new(),
            used: Vec::new(),
            choices: 0,
            queues: Queues::new(machine.cpus(), span),
            draws: None,
            waiting: Vec::new(),
        }
    }

    fn thread(&mut self, task: TaskId) -> &mut Thread {
        if task.index() >= self.threads.len() {
            self.threads.resize(task.index() + 1, Thread::default());
        }
        &mut self.threads[task.index()]
    }

    fn used(&mut self, view: &dyn View, task: TaskId) -> &mut Vec<u32> {
        let app = view.task(task).app.index();
        if app >= self.used.len() {
            let groups = self.groups.len();
            self.used.resize_with(app + 1, || vec![0; groups]);
        }
        &mut self.used[app]
    }

    /// Gives a thread its home (`lgrp_choose`, `lgrp_move_thread`).
    fn home(&mut self, view: &dyn View, task: TaskId) -> u32 {
        if let Some(home) = self.thread(task).home {
            return home;
        }
        let now = view.now();
        for group in &mut self.groups {
            group.age(now);
        }
        let used = self.used(view, task).clone();
        let fresh = used.iter().all(|threads| *threads == 0);
        let best = self.lightest(|group| fresh || used[group] > 0);
        let other = self.lightest(|group| !fresh && used[group] == 0);
        let home = match (best, other) {
            (Some(best), Some(other)) => {
                let load = self.groups[best].load;
                let spreads = load > self.threshold && self.groups[other].load + self.difference < load;
                if spreads { other } else { best }
            }
            (best, other) => best.or(other).unwrap_or(0),
        };
        self.choices += 1;
        self.groups[home].chosen = self.choices;
        self.groups[home].load += THREAD;
        self.used(view, task)[home] += 1;
        let watched = self.thread(task).watched;
        *self.thread(task) = Thread { home: Some(home as u32), homed: now, runnable: false, watched };
        home as u32
    }

    /// The group with the least load; loads closer than one thread are equal, then the longest not chosen.
    fn lightest(&self, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let mut best: Option<usize> = None;
        for group in (0..self.groups.len()).filter(|group| fits(*group)) {
            let Some(other) = best else {
                best = Some(group);
                continue;
            };
            let (this, that) = (&self.groups[group], &self.groups[other]);
            let lighter = this.load + THREAD <= that.load;
            let alike = this.load.abs_diff(that.load) < THREAD;
            if lighter || (alike && this.chosen < that.chosen) {
                best = Some(group);
            }
        }
        best
    }

    /// `setbackdq` of a thread that is created or wakes. Where the source leaves it in the queue of a cpu
    /// that does not take it for an idle one to steal within microseconds, it goes to that idle cpu directly.
    fn dispatch(&mut self, view: &dyn View, task: TaskId, last: Option<CpuId>) -> CpuChoice {
        self.queues.refresh(view);
        let home = self.home(view, task);
        let recent = view.now().since(view.task(task).last_ran) <= self.rechoose;
        let kept = last.filter(|cpu| recent && self.queues.group(*cpu) == home && view.allowed(task, *cpu));
        let (cpu, rule) = if self.sticky {
            let (cpu, rule) = match kept {
                Some(cpu) => (
                    cpu,
                    "placed: returns to its last cpu, which it left a short while ago and which is at home",
                ),
                None => self.lowest(view, task, home, last),
            };
            let takes =
                view.best_dispatch_priority(cpu).is_none_or(|best| best < view.task(task).dispatch_priority);
            let idle = if takes { None } else { self.idle_near(view, task, cpu) };
            match idle {
                Some(idle) => (idle, "placed: no lower priority on the chosen cpu, idle cpu nearby"),
                None => self.balanced(view, task, cpu, rule, view.nr_running(cpu).saturating_sub(1)),
            }
        } else {
            self.idle_cpu(view, task, home, kept).unwrap_or_else(|| {
                (
                    self.shortest(view, task, 0..view.machine().cpus()),
                    "placed: no idle cpu, shortest queue of the machine",
                )
            })
        };
        CpuChoice { cpu, why: self.reason(view, home, cpu, rule), memory_node: Some(NodeId(home)) }
    }

    fn reason(&self, view: &dyn View, home: u32, cpu: CpuId, rule: &'static str) -> Why {
        let threads = self.groups[home as usize].load * 1_000 / THREAD;
        let why = Why::rule(rule).with("home group", home.into());
        let why = why.with("load of its home, thousandths of a thread", threads);
        why.with("threads on the cpu", view.nr_running(cpu).into())
    }

    /// `disp_lowpri_cpu`: the cpu at home with the lowest priority if that is idle or lower than the
    /// thread's, else the one of all others, else the best one at home, where it will wait. Among equals at
    /// home the search begins with `hint`.
    fn lowest(&self, view: &dyn View, task: TaskId, home: u32, hint: Option<CpuId>) -> (CpuId, &'static str) {
        let (start, cpus, mine) =
            (home * self.span, view.machine().cpus(), view.task(task).dispatch_priority);
        let size = self.span.min(cpus - start);
        let first = hint.filter(|hint| self.queues.group(*hint) == home).map_or(0, |hint| hint.0 - start);
        let near = (0..size).map(|i| CpuId(start + (first + i) % size));
        let far = (0..cpus).map(CpuId).filter(|cpu| self.queues.group(*cpu) != home);
        let best = |cpus: &mut dyn Iterator<Item = CpuId>| {
            let allowed = cpus.filter(|cpu| view.allowed(task, *cpu));
            allowed
                .map(|cpu| (view.best_dispatch_priority(cpu).unwrap_or(-1), cpu))
                .reduce(|a, b| if b.0 < a.0 { b } else { a })
        };
        let at_home = best(&mut near.into_iter());
        if let Some((priority, cpu)) = at_home.filter(|(priority, _)| *priority < mine) {
            return (
                cpu,
                if priority < 0 { "placed: idle cpu at home" } else { "placed: lowest priority at home" },
            );
        }
        let fits = |cpu: CpuId| view.allowed(task, cpu);
        let idle = || {
            let below = self.queues.idle_from(0..start, 0, fits);
            below.or_else(|| self.queues.idle_from(start + size..cpus, start + size, fits))
        };
        let elsewhere = if self.far_is_hopeless(mine) {
            None
        } else if let Some(cpu) = idle() {
            Some((-1, cpu))
        } else if mine <= 0 {
            None
        } else {
            best(&mut far.into_iter())
        };
        match (elsewhere.filter(|(priority, _)| *priority < mine), at_home) {
            (Some((_, cpu)), _) => (cpu, "placed: no lower priority at home, lowest priority elsewhere"),
            (None, Some((_, cpu))) => (cpu, "placed: no lower priority anywhere, lowest priority at home"),
            (None, None) => (first_allowed(view, task), "placed: the mask allows no cpu at home"),
        }
    }

    /// Nothing is below priority 0 but an idle cpu.
    fn far_is_hopeless(&self, priority: i64) -> bool {
        priority <= 0 && self.queues.idle() == 0
    }

    /// `setbackdq` balances: the next cpu of the group if fewer wait there. Threads of priority 16 and more
    /// bear two more (`RUNQ_MATCH_PRI`, `RUNQ_MAX_DIFF`); threads of all priorities are counted, not only its
    /// own.
    fn balanced(
        &self,
        view: &dyn View,
        task: TaskId,
        cpu: CpuId,
        rule: &'static str,
        waiting: u32,
    ) -> (CpuId, &'static str) {
        let start = self.queues.group(cpu) * self.span;
        let next = CpuId(start + (cpu.0 - start + 1) % self.span.min(view.machine().cpus() - start));
        let slack = if view.task(task).dispatch_priority >= 16 { 2 } else { 0 };
        let there = view.nr_running(next).saturating_sub(1);
        if there + slack < waiting && view.allowed(task, next) {
            (next, "placed: fewer threads wait on the next cpu of the group")
        } else {
            (cpu, rule)
        }
    }

    /// An idle cpu, of the group of `cpu` if there is one: it steals what waits there.
    fn idle_near(&self, view: &dyn View, task: TaskId, cpu: CpuId) -> Option<CpuId> {
        if !self.steal || self.queues.idle() == 0 {
            return None;
        }
        let start = self.queues.group(cpu) * self.span;
        self.queues.idle_from(0..view.machine().cpus(), start, |cpu| view.allowed(task, cpu))
    }

    /// Its last cpu, one at home, one anywhere, if it is idle; and why.
    fn idle_cpu(
        &self,
        view: &dyn View,
        task: TaskId,
        home: u32,
        kept: Option<CpuId>,
    ) -> Option<(CpuId, &'static str)> {
        if let Some(cpu) = kept.filter(|cpu| view.nr_running(*cpu) == 0) {
            return Some((cpu, "placed: its last cpu is idle and at home"));
        }
        let cpus = view.machine().cpus();
        let start = home * self.span;
        if self.queues.idle() == 0 {
            return None;
        }
        let cpu = self.queues.idle_from(0..cpus, start, |cpu| view.allowed(task, cpu))?;
        let rule = if self.queues.group(cpu) == home {
            "placed: idle cpu at home"
        } else {
            "placed: no idle cpu at home, idle cpu of another group"
        };
        Some((cpu, rule))
    }

    /// A cpu with the fewest threads, at random among equals.
    fn shortest(&mut self, view: &dyn View, task: TaskId, cpus: std::ops::Range<u32>) -> CpuId {
        let draws = self.draws.get_or_insert_with(|| Draws::new(view.seed(), Purpose::Policy, 0));
        let (mut best, mut ties) = (None, 0);
        for cpu in cpus.map(CpuId).filter(|cpu| view.allowed(task, *cpu)) {
            let threads = view.nr_running(cpu);
            match best {
                Some((least, _)) if threads > least => {}
                Some((least, _)) if threads == least => {
                    ties += 1;
                    if draws.below(ties) == 0 {
                        best = Some((threads, cpu));
                    }
                }
                _ => {
                    ties = 1;
                    best = Some((threads, cpu));
                }
            }
        }
        best.map_or_else(|| first_allowed(view, task), |(_, cpu)| cpu)
    }

    /// A thread that runs away from home looks for a cpu at home whenever its quantum ends (`ts_tick`,
    /// `setbackdq`, `cpu_choose`): from now on it is looked after.
    fn look_after(&mut self, system: &mut dyn System, task: TaskId) {
        if self.thread(task).watched {
            return;
        }
        if let Some((_, left)) = system.slice(task) {
            self.thread(task).watched = true;
            system.at(system.now() + left.max(Span::from_ns(1)), Timer::Token(u64::from(task.0)));
        }
    }

    /// The group that is home to a thread with one, if it runs or waits elsewhere.
    fn away(&self, task: TaskId, cpu: CpuId) -> Option<u32> {
        let home = self.threads.get(task.index()).and_then(|thread| thread.home)?;
        (self.queues.group(cpu) != home).then_some(home)
    }

    /// Moves a thread that waits in the queue of `cpu` to where the dispatcher puts it, or to an idle cpu
    /// that steals it there.
    fn requeue(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId, why: Preemption) {
        let Some(home) = self.threads.get(task.index()).and_then(|thread| thread.home) else { return };
        self.queues.refresh(system);
        let stale =
            why == Preemption::Boosted && system.now().since(system.task(task).last_ran) > self.rechoose;
        let (mut to, mut rule) = (cpu, "moved: preempted, expired or boosted");
        if stale || self.queues.group(cpu) != home {
            (to, rule) = self.lowest(system, task, home, Some(cpu));
        }
        if why != Preemption::Preempted {
            // Where it was displaced it does not count itself, but the one that runs there by now waited.
            let waiting = system.nr_running(to).saturating_sub(1);
            (to, rule) = self.balanced(system, task, to, rule, waiting);
        }
        if system.nr_running(to) > 0
            && let Some(idle) = self.idle_near(system, task, to)
        {
            (to, rule) = (idle, "taken: preempted, expired or boosted, an idle cpu steals it");
        }
        if to != cpu {
            let why = self.reason(system, home, to, rule);
            system.migrate(task, to, why);
        }
    }

    /// Takes the thread that waits longest on one of these cpus, searched from the one after `to` on.
    fn take(
        &mut self,
        system: &mut dyn System,
        cpus: std::ops::Range<u32>,
        to: CpuId,
        rule: &'static str,
    ) -> bool {
        self.queues.refresh(system);
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut taken = false;
        let (mut at, mut end) = (to.0 + 1, cpus.end);
        loop {
            let Some(cpu) = self.queues.first_at_least(at..end, 2) else {
                if end <= to.0 {
                    break;
                }
                (at, end) = (cpus.start, to.0);
                continue;
            };
            at = cpu.0 + 1;
            system.queued(cpu, usize::MAX, &mut waiting);
            let task = waiting.iter().rev().copied().find(|task| system.allowed(*task, to));
            if let Some(task) = task {
                let home = self.threads.get(task.0 as usize).and_then(|thread| thread.home);
                let why = Why::rule(rule).with("threads there", system.nr_running(cpu).into());
                let why = why.with("group here", self.queues.group(to).into());
                let why = home.map_or(why, |home| why.with("its home group", home.into()));
                taken = system.migrate(task, to, why);
            }
            if taken {
                break;
            }
        }
        self.waiting = waiting;
        taken
    }

    fn count(&mut self, view: &dyn View, task: TaskId, runnable: bool) {
        let now = view.now();
        let thread = self.thread(task);
        let (home, homed) = (thread.home, thread.homed);
        let changed = std::mem::replace(&mut thread.runnable, runnable) != runnable;
        let Some(home) = home else {
            return;
        };
        let group = &mut self.groups[home as usize];
        group.age(now);
        if changed {
            group.runnable = if runnable { group.runnable + 1 } else { group.runnable.saturating_sub(1) };
        }
        if view.task(task).state == TaskState::Exited && !runnable {
            if now.since(homed).ns() < AGING {
                // It was only expected to be a load.
                group.load = group.load.saturating_sub(THREAD);
            }
            self.thread(task).home = None;
            let count = &mut self.used(view, task)[home as usize];
            *count = count.saturating_sub(1);
        }
    }
}

impl Policy for Lgroup {
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        match placement {
            Placement::Fork { .. } => self.dispatch(view, task, None),
            Placement::Wake { previous, .. } => self.dispatch(view, task, Some(previous)),
        }
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        if !self.steal || self.queues.overloaded() == 0 {
            return;
        }
        let (cpus, group) = (system.machine().cpus(), self.queues.group(cpu));
        let start = group * self.span;
        let near = start..cpus.min(start + self.span);
        if self.queues.overloaded_in(group) > 0
            && self.take(system, near, cpu, "taken: it waited on a cpu of this group")
        {
            return;
        }
        if self.queues.overloaded() > self.queues.overloaded_in(group) {
            self.take(system, 0..cpus, cpu, "taken: no thread waits in this group, it waited in another one");
        }
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let Timer::Token(token) = timer else { return };
        let task = TaskId(token as u32);
        self.thread(task).watched = false;
        let seen = system.task(task);
        let runs = seen.state == TaskState::Running;
        let Some(home) = self.away(task, seen.cpu).filter(|_| runs || seen.state == TaskState::Queued) else {
            return;
        };
        let Some((used, _)) = system.slice(task) else { return };
        // Quanta end at ticks: what began within the last one has just begun.
        if runs && used < self.tick {
            self.queues.refresh(system);
            let (to, rule) = self.lowest(system, task, home, Some(seen.cpu));
            let best = system.best_dispatch_priority(to);
            // Elsewhere its own cpu counts as idle to it: only an idle one that comes before it is as good.
            let better = if self.queues.group(to) == home {
                best.is_none_or(|best| best < system.task(task).dispatch_priority)
            } else {
                best.is_none() && to < seen.cpu
            };
            if better {
                let why = self.reason(system, home, to, rule);
                system.migrate(task, to, why);
            }
        }
        let cpu = system.task(task).cpu;
        if self.away(task, cpu).is_some() {
            self.look_after(system, task);
        }
    }

    fn watches(&self) -> Watches {
        Watches { preemptions: self.sticky, ..Watches::default() }
    }

    fn preempted(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId, why: Preemption) {
        self.requeue(system, task, cpu, why);
    }

    fn runnable(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
        self.count(system, task, true);
        if self.sticky && self.away(task, cpu).is_some() {
            self.look_after(system, task);
        }
    }

    fn quiescent(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
        self.count(system, task, false);
    }
}

/// The levels as data for people.
pub(crate) fn levels(machine: &Machine) -> Vec<DomainLevel> {
    let (cpus, node) = (machine.cpus(), machine.topology.span(Tree::Node));
    let levels = [("LGROUP", node, 1), ("ROOT", cpus, node)];
    let useful = levels.into_iter().filter(|(_, span, group)| span > group);
    let level = |(name, span, group_cpus): (&'static str, u32, u32)| DomainLevel {
        name,
        span,
        groups: span / group_cpus,
        group_cpus,
        power: 1024 * u64::from(group_cpus),
        min_interval_ms: 0,
        max_interval_ms: 0,
        busy_factor: 1,
        imbalance_pct: 100,
        flags: vec!["IDLE_STEAL"],
    };
    useful.map(level).collect()
}

#[cfg(test)]
mod tests;
