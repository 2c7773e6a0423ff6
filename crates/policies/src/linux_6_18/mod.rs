//! `LOAD` of Linux 6.18: group types, decayed loads, new-idle pulls at every level, wake-ups that find idle
//! cpus.
//!
//! Source: kernel/sched/fair.c of Linux 6.x, simplified: utilisation is the share of time a cpu is busy, that
//! of a task its part of it; no asymmetric capacity, no NUMA balancing, no limit on the wake-up scan, no
//! chains of wakers (`wake_wide`).

mod average;
mod balance;
mod busiest;
mod domains;
mod group;
mod placement;
mod pull;
mod rules;

use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::machine::{CpuSet, Level, PerCpu};
use sim_core::policy::{CpuChoice, Placement, Policy, System, TaskState, Timer, View, Why};
use sim_core::rng::Purpose;
use sim_core::time::{Span, Time};

use crate::entry::Setting;
use crate::load::{NewIdle, Parameters};
use crate::spread::Draws;
use crate::ticks::Ticks;
use average::{Average, FINE};
use domains::{Domain, UNIT};

pub(crate) use domains::{cache_span, levels};

/// The kernel whose balancer this is.
pub(crate) const NAME: &str = "linux-6.18";

#[derive(Clone, Copy, Debug)]
struct Options {
    periodic: bool,
    newidle: bool,
    active: bool,
    affine_wakeups: bool,
    migration_cost: Span,
    newidle_cost: Span,
    nr_migrate: usize,
    interval_scale: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    /// Sum of the averages of its tasks.
    load: Average,
    /// Share of time with a task, in 1,024ths.
    busy: Average,
    /// Runnable tasks on average, in 1,024ths.
    runnable: Average,
    /// Runnable tasks.
    count: u32,
    idle_since: Time,
    /// How long it is idle on average (`avg_idle`), nanoseconds.
    avg_idle: u64,
    /// Tick number from which it balances again.
    next_balance: u64,
    /// The earliest tick asked for and not yet had.
    armed: Time,
}

/// What a cpu remembers of its domain at one level.
#[derive(Clone, Copy, Debug)]
struct Progress {
    interval_ms: u64,
    /// Tick number of the last attempt; before the run it is negative.
    last: i64,
    failed: u32,
}

/// What is remembered of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Its weight while runnable, fading while asleep.
    average: Average,
    /// The cpu whose load it is part of.
    home: Option<CpuId>,
    /// The cpu before the last one it woke on (`recent_used_cpu`).
    recent: Option<CpuId>,
}

/// The policy.
pub(crate) struct Linux618 {
    options: Options,
    domains: Vec<Domain>,
    ticks: Ticks,
    cpus: PerCpu<Cpu>,
    tasks: Vec<Task>,
    /// Per level: what each cpu remembers.
    progress: Vec<PerCpu<Progress>>,
    /// Cpus of a core and of a shared cache.
    core: u32,
    cache: u32,
    /// Idle cpus by shared cache.
    idle_in_cache: Vec<u32>,
    /// Cpus with two tasks or more (`rd->overloaded` while there is one).
    overloaded: u32,
    /// Per level: the groups that masks kept the level below from evening out (`sgc->imbalance`).
    marked: Vec<Vec<bool>>,
    /// Scratch: waiting tasks of a queue.
    waiting: Vec<TaskId>,
    /// Scratch: cpus that an attempt leaves out: their tasks are all pinned elsewhere, or their mask sent it
    /// to another cpu of the group.
    excluded: CpuSet,
    /// What the last attempt found out.
    flags: pull::Flags,
    /// Why the last look at a domain found something to pull.
    why: Why,
}

impl Linux618 {
    pub(crate) fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        let machine = setting.machine;
        let cpus = machine.cpus() as usize;
        let domains = domains::build(machine);
        let cache = cache_span(machine);
        let migration_cost = Span::from_ns(values.migration_cost.ns());
        let options = Options {
            periodic: values.periodic,
            newidle: values.newidle != NewIdle::Off,
            active: values.active,
            affine_wakeups: values.affine_wakeups,
            migration_cost,
            newidle_cost: Span::from_ns(values.newidle_cost.ns()),
            nr_migrate: values.nr_migrate,
            interval_scale: values.interval_scale.thousandths(),
        };
        let cpu = Cpu { armed: Time::NEVER, avg_idle: 2 * migration_cost.ns(), ..Cpu::default() };
        let fresh = |d: &Domain| Progress { interval_ms: options.scaled(d.span), last: 0, failed: 0 };
        Self {
            progress: domains.iter().map(|d| PerCpu::filled(cpus, fresh(d))).collect(),
            ticks: Ticks::new(setting.kernel, machine.cpus()),
            cpus: PerCpu::filled(cpus, cpu),
            tasks: Vec::new(),
            core: machine.topology.span(Level::Core),
            idle_in_cache: vec![cache; cpus.div_ceil(cache as usize)],
            cache,
            overloaded: 0,
            marked: domains.iter().map(|d| vec![false; cpus.div_ceil(d.group as usize)]).collect(),
            waiting: Vec::new(),
            excluded: CpuSet::default(),
            flags: pull::Flags::default(),
            why: Why::default(),
            options,
            domains,
        }
    }

    /// Asks for the tick at which `cpu` balances again, unless an earlier one is coming.
    fn arm(&mut self, system: &mut dyn System, cpu: CpuId) {
        let at = self.ticks.due(cpu, self.cpus[cpu].next_balance);
        if self.options.periodic && !self.domains.is_empty() && at < self.cpus[cpu].armed {
            self.cpus[cpu].armed = at;
            system.at(at, Timer::Tick(cpu));
        }
    }

    /// The queue of `cpu` has changed.
    fn note(&mut self, view: &dyn View, cpu: CpuId) {
        let (now, count) = (view.now(), view.nr_running(cpu));
        let limit = 2 * self.options.migration_cost.ns();
        let record = &mut self.cpus[cpu];
        record.load.follow(now, view.load(cpu));
        record.runnable.follow(now, UNIT * u64::from(count));
        let before = std::mem::replace(&mut record.count, count);
        let idle = &mut self.idle_in_cache[(cpu.0 / self.cache) as usize];
        if before == 0 && count > 0 {
            *idle = idle.saturating_sub(1);
            record.busy.follow(now, UNIT);
            // `update_avg`: an eighth of the difference, at most twice the highest cost of a look.
            let span = now.since(record.idle_since).ns();
            record.avg_idle = (record.avg_idle - record.avg_idle / 8 + span / 8).min(limit);
        } else if before > 0 && count == 0 {
            *idle += 1;
            record.busy.follow(now, 0);
            record.idle_since = now;
        }
        match (before >= 2, count >= 2) {
            (false, true) => self.overloaded += 1,
            (true, false) => self.overloaded = self.overloaded.saturating_sub(1),
            _ => {}
        }
    }

    fn task(&mut self, task: TaskId) -> &mut Task {
        if task.index() >= self.tasks.len() {
            self.tasks.resize(task.index() + 1, Task::default());
        }
        &mut self.tasks[task.index()]
    }
}

impl Options {
    /// Milliseconds between attempts at a level of so many cpus: one per cpu.
    fn scaled(&self, span: u32) -> u64 {
        (u64::from(span).saturating_mul(self.interval_scale) / 1_000).max(1)
    }
}

impl Policy for Linux618 {
    /// The machine has been up: the attempts of its cpus are not in step.
    fn init(&mut self, system: &mut dyn System) {
        let mut draws = Draws::new(system.seed(), Purpose::Policy, 0);
        for cpu in system.machine().cpu_ids() {
            for level in 0..self.domains.len() {
                self.progress[level][cpu].last = -(draws.below(self.interval(level, cpu, false)) as i64);
            }
            let due = (0..self.domains.len()).map(|level| self.due(level, cpu, false)).min();
            self.cpus[cpu].next_balance = due.unwrap_or(0);
            self.arm(system, cpu);
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.place(view, task, placement)
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.new_idle(system, cpu);
        self.arm(system, cpu);
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let Timer::Tick(cpu) = timer else { return };
        if system.now() < self.cpus[cpu].armed {
            return;
        }
        self.cpus[cpu].armed = Time::NEVER;
        if self.ticks.number(cpu, system.now()) >= self.cpus[cpu].next_balance {
            self.rebalance(system, cpu);
        }
        self.arm(system, cpu);
    }

    fn runnable(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let now = system.now();
        let weight = u64::from(system.task(task).weight);
        let record = self.task(task);
        let home = record.home.replace(cpu);
        if home.is_none() {
            // A new task counts in full at once (`init_entity_runnable_average`).
            record.average.follow(now, 0);
            record.average.add(now, weight << FINE);
        }
        let fine = record.average.fine(now);
        record.average.follow(now, weight);
        if home != Some(cpu) {
            if let Some(old) = home {
                self.cpus[old].load.remove(now, fine);
            }
            self.cpus[cpu].load.add(now, fine);
            // A task brings its utilisation to an idle cpu; a new one half of what is left
            // (`post_init_entity_util_avg`).
            let known = (fine * UNIT / weight.max(1)).min(UNIT << FINE);
            let record = &mut self.cpus[cpu];
            if record.count == 0 {
                record.busy.add(now, if home.is_some() { known } else { (UNIT << FINE) / 2 });
                record.busy.cap(UNIT << FINE);
            }
        }
        self.note(system, cpu);
    }

    fn quiescent(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let now = system.now();
        let state = system.task(task).state;
        let ended = state == TaskState::Exited;
        let record = self.task(task);
        record.average.follow(now, 0);
        if ended {
            let fine = record.average.fine(now);
            if let Some(home) = record.home.take() {
                self.cpus[home].load.remove(now, fine);
            }
        }
        self.note(system, cpu);
        if state != TaskState::Sleeping && system.nr_running(cpu) == 0 {
            // It takes its utilisation along; only that of sleepers stays and fades.
            self.cpus[cpu].busy.cap(0);
            self.cpus[cpu].runnable.cap(0);
        }
    }
}

#[cfg(test)]
mod tests;
