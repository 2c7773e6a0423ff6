//! `LOAD` of Linux 3.16 and later: group types or loads, decayed averages, new-idle pulls at every level,
//! wake-ups that find idle cpus.
//!
//! Source: kernel/sched/fair.c of Linux 3.16 to 7.1, simplified: no wake-ups by a task that is about to sleep
//! (`WF_SYNC`). Where releases differ: [`Rules`].

mod average;
mod balance;
mod busiest;
mod domains;
mod group;
mod idle;
mod loads;
mod newidle;
mod numa;
mod placement;
mod pull;
mod rules;
mod unequal;
mod wake;

pub(crate) use kernels::TypeRules as Rules;
use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::machine::{CpuSet, Division, Level, PerCpu};
use sim_core::policy::{CpuChoice, Placement, Policy, System, TaskState, Timer, View, Why};
use sim_core::program::{AppSpec, Forks, WEIGHT_IDLE};
use sim_core::rng::Purpose;
use sim_core::time::{Span, Time};

use crate::entry::Setting;
use crate::spread::Draws;
use crate::ticks::Ticks;
use average::{Average, FINE, Utilisation};
use domains::{Domain, UNIT};
use unequal::{Rule, Unequal, fits};

pub(crate) use domains::levels;
pub(crate) use unequal::UnequalCores;

/// What may be changed of it; the parameters of `LOAD` describe each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) periodic: bool,
    pub(crate) newidle: bool,
    pub(crate) active: bool,
    pub(crate) affine_wakeups: bool,
    pub(crate) migration_cost: Span,
    pub(crate) newidle_cost: Span,
    pub(crate) scan_cost: Span,
    pub(crate) nr_migrate: usize,
    /// In thousandths.
    pub(crate) interval_scale: u64,
    pub(crate) kernel_threads: Span,
    pub(crate) unequal_cores: UnequalCores,
    /// The domains were built at time zero: no level has a pass before its first interval is over. Tasks that
    /// exist and sleep until they are woken for the first time have no utilisation.
    pub(crate) just_booted: bool,
    /// The limit of scans at wake-ups is that of new domains: none is scanned (`nr_idle_scan`).
    pub(crate) rebuilt: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    /// Sum of the averages of its tasks.
    load: Average,
    /// The same of its runnable tasks only (`runnable_load_avg`), kept where sleepers do not count.
    queued: Average,
    /// What follows that at ticks (`cpu_load[]`).
    followers: loads::Followers,
    /// Sum of the utilisations of its tasks, those that sleep included: follows the time with a task
    /// (`util_avg`).
    busy: Average,
    /// Sum of what is expected of its runnable tasks (`util_est`), in fine units.
    expected: u64,
    /// Runnable tasks on average, in 1,024ths (`runnable_avg`).
    runnable: Average,
    /// Runnable tasks.
    count: u32,
    /// The weights of the tasks that sleep and still compete here.
    delayed: u64,
    /// The load of its task, if the cpu is too slow for it (`misfit_task_load`).
    misfit: u64,
    idle_since: Time,
    /// How long it is idle on average (`avg_idle`), nanoseconds.
    avg_idle: u64,
    /// What a scan for an idle cpu costs its wakers on average (`avg_scan_cost`), nanoseconds.
    scan_cost: u64,
    /// Tick number from which it balances again.
    next_balance: u64,
    /// The earliest tick asked for and not yet had.
    armed: Time,
}

/// What a cpu remembers of its domain at one level.
#[derive(Clone, Copy, Debug)]
struct Progress {
    interval_ms: u64,
    /// Tick number of the last attempt. None yet: the machine was idle for longer than any interval.
    last: Option<u64>,
    failed: u32,
}

/// What is remembered of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Its weight while runnable, fading while asleep. A task whose dequeue is delayed is on its queue: it
    /// counts in full, though not as runnable (`__update_load_avg_se`, `se_runnable`).
    average: Average,
    /// Its weight while its dequeue is delayed, else 0.
    delayed: u64,
    /// 1,024 while runnable, fading while asleep.
    runnable: Average,
    utilisation: Utilisation,
    /// The cpu whose averages it is part of.
    home: Option<CpuId>,
    /// A cpu that it or its wakers used before (`recent_used_cpu`).
    recent: Option<CpuId>,
    wakes: wake::Wakes,
}

/// The policy.
pub(crate) struct GroupTypes {
    options: Options,
    rules: Rules,
    domains: Vec<Domain>,
    ticks: Ticks,
    cpus: PerCpu<Cpu>,
    tasks: Vec<Task>,
    /// Per level: what each cpu remembers.
    progress: Vec<PerCpu<Progress>>,
    /// Per level: what each cpu remembers of its looks when it goes idle.
    looks: Vec<PerCpu<newidle::Looks>>,
    /// Random streams that decide about such looks.
    dice: PerCpu<Draws>,
    /// The cores, and the cpus that share a cache.
    cores: Division,
    caches: Division,
    /// By application: its tasks come out of a sleep and have no utilisation.
    slept: Vec<bool>,
    /// The clusters that wake-ups look at first.
    clusters: Option<Division>,
    /// The cpus of each memory node.
    nodes: Division,
    /// The kernel balances memory: the faults of tasks count.
    balances_memory: bool,
    /// Idle cpus by shared cache.
    idle_in_cache: Vec<u32>,
    /// How many cpus a woken task looks at in each shared cache (`nr_idle_scan`).
    scanned: Vec<u32>,
    /// Shared caches with two busy cpus or more.
    crowded: u32,
    idle: idle::Idle,
    /// A task of `SCHED_IDLE` has run.
    idle_class: bool,
    /// Cpus with two tasks or more (`rd->overloaded` while there is one).
    overloaded: u32,
    unequal: Unequal,
    /// Busy cpus without the largest capacity.
    small_busy: u32,
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

impl GroupTypes {
    pub(crate) fn new(options: Options, rules: Rules, setting: &Setting<'_>) -> Self {
        let machine = setting.machine;
        let cpus = machine.cpus() as usize;
        let domains = domains::build(machine, &rules);
        let caches = machine.topology.last_caches(machine.memory.shared_cache > 0);
        let sizes = || (0..caches.count()).map(|cache| caches.members(cache).len() as u32).collect();
        let cost = |d: &Domain, cpu| newidle::Looks::new(options.newidle_cost.ns() * u64::from(d.span(cpu)));
        let cpu = Cpu { armed: Time::NEVER, avg_idle: 2 * options.migration_cost.ns(), ..Cpu::default() };
        let last = options.just_booted.then_some(0);
        let fresh = |d: &Domain, cpu| Progress { interval_ms: options.scaled(d.span(cpu)), last, failed: 0 };
        Self {
            progress: domains.iter().map(|d| machine.cpu_ids().map(|cpu| fresh(d, cpu)).collect()).collect(),
            ticks: Ticks::new(setting.kernel, machine.cpus()),
            cpus: PerCpu::filled(cpus, cpu),
            tasks: Vec::new(),
            cores: machine.topology.division(Level::Core),
            clusters: domains
                .iter()
                .find(|d| d.kind == domains::Kind::Cls && rules.cluster_first)
                .map(|d| d.domains.clone()),
            nodes: machine.topology.division(Level::Node),
            balances_memory: setting.kernel.numa_balancing.is_some_and(|rules| rules.moves_tasks),
            idle_in_cache: sizes(),
            scanned: if options.rebuilt { vec![0; caches.count() as usize] } else { sizes() },
            looks: domains.iter().map(|d| machine.cpu_ids().map(|cpu| cost(d, cpu)).collect()).collect(),
            dice: PerCpu::filled(cpus, Draws::new(0, Purpose::Policy, 0)),
            crowded: 0,
            slept: setting.apps.iter().map(|app| options.just_booted && wakes_first(app)).collect(),
            idle: idle::Idle::new(machine),
            caches,
            overloaded: 0,
            idle_class: false,
            unequal: Unequal::new(machine, options.unequal_cores),
            small_busy: 0,
            marked: domains.iter().map(|d| vec![false; d.groups.count() as usize]).collect(),
            waiting: Vec::new(),
            excluded: CpuSet::default(),
            flags: pull::Flags::default(),
            why: Why::default(),
            options,
            rules,
            domains,
        }
    }

    /// Asks for the tick at which a busy cpu balances again, unless an earlier one is coming.
    fn arm(&mut self, system: &mut dyn System, cpu: CpuId) {
        if self.rules.idle_ticks {
            return self.arm_tick(system);
        }
        if self.cpus[cpu].count == 0 {
            return;
        }
        let coming = self.ticks.number(cpu, system.now()) + 1;
        let at = self.ticks.due(cpu, self.cpus[cpu].next_balance.max(coming));
        if self.options.periodic && !self.domains.is_empty() && at < self.cpus[cpu].armed {
            self.cpus[cpu].armed = at;
            system.at(at, Timer::Tick(cpu));
        }
    }

    /// The queue of `cpu` has changed.
    fn note(&mut self, view: &dyn View, cpu: CpuId) {
        let (now, count) = (view.now(), view.nr_running(cpu));
        self.follow_ticks(now, cpu);
        let limit = 2 * self.options.migration_cost.ns();
        let capacity = self.unequal.capacity(cpu);
        let record = &mut self.cpus[cpu];
        record.load.follow(now, view.load(cpu) + record.delayed);
        if !self.rules.sleepers_count {
            record.queued.follow(now, view.load(cpu));
            if count == 0 {
                record.queued.clear(now);
            }
        }
        record.runnable.follow(now, UNIT * u64::from(count));
        let before = std::mem::replace(&mut record.count, count);
        let cache = self.caches.part(cpu);
        let size = self.caches.members(cache).len() as u32;
        let idle = &mut self.idle_in_cache[cache as usize];
        if before == 0 && count > 0 {
            *idle = idle.saturating_sub(1);
            self.crowded += u32::from(*idle + 2 == size);
            self.idle.leave(cpu);
            record.busy.follow(now, capacity);
            self.small_busy += u32::from(self.unequal.is_small(cpu));
            // `update_avg`: an eighth of the difference, at most twice the highest cost of a look.
            let span = now.since(record.idle_since).ns();
            record.avg_idle = (record.avg_idle - record.avg_idle / 8 + span / 8).min(limit);
        } else if before > 0 && count == 0 {
            self.crowded -= u32::from(*idle + 2 == size);
            *idle += 1;
            self.idle.enter(cpu);
            record.busy.follow(now, 0);
            self.small_busy -= u32::from(self.unequal.is_small(cpu));
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

impl Policy for GroupTypes {
    fn init(&mut self, system: &mut dyn System) {
        let seed = system.seed();
        self.idle.draws = Draws::new(seed, Purpose::Policy, 0);
        let cpus = system.machine().cpu_ids();
        self.dice = cpus.map(|cpu| Draws::new(seed, Purpose::Policy, (1 << 32) + u64::from(cpu.0))).collect();
        if self.rules.idle_ticks {
            self.arm_tick(system);
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        self.place(view, task, placement)
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.new_idle(system, cpu);
        self.stops_ticking(system, cpu);
    }

    fn misplaced(&mut self, system: &mut dyn System, task: TaskId) {
        self.goes_home(system, task);
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let cpu = match timer {
            Timer::Tick(cpu) => cpu,
            Timer::Token(idle::KERNEL_THREAD) => return self.kernel_thread(system),
            Timer::Token(idle::TICK) => return self.tick_all(system),
            _ => return self.balance_idle(system),
        };
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
        self.end_delay(task);
        let weight = u64::from(system.task(task).weight);
        self.idle_class |= weight == u64::from(WEIGHT_IDLE);
        let home = self.task(task).home;
        if home.is_none() {
            let slept = self.slept.get(system.task(task).app.index()).copied().unwrap_or(false);
            self.start(now, task, (weight, cpu), slept);
        }
        if home != Some(cpu) {
            let carried = self.carried(system, task);
            if let Some(old) = home {
                self.cpus[old].part(now, carried);
            }
            self.cpus[cpu].join(now, carried);
        }
        let record = self.task(task);
        record.home = Some(cpu);
        record.average.follow(now, weight);
        let load = record.average.fine(now);
        record.runnable.follow(now, UNIT);
        let expected = record.utilisation.expected();
        self.queue_load(now, cpu, load, true);
        self.cpus[cpu].expected += expected;
        let was_idle = self.cpus[cpu].count == 0;
        self.note(system, cpu);
        if was_idle {
            self.arm(system, cpu);
        }
        self.kick(system);
    }

    fn quiescent(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let now = system.now();
        let carried = self.carried(system, task);
        let state = system.task(task).state;
        self.queue_load(now, cpu, carried[0], false);
        let delayed = if system.is_delayed(task) { u64::from(system.task(task).weight) } else { 0 };
        self.cpus[cpu].delayed += delayed;
        let record = self.task(task);
        record.delayed = delayed;
        record.average.follow(now, delayed);
        record.runnable.follow(now, 0);
        let expected = record.utilisation.expected();
        match state {
            TaskState::Sleeping => record.utilisation.sleeps(),
            TaskState::Exited => {
                if let Some(home) = record.home.take() {
                    self.cpus[home].part(now, carried);
                }
            }
            _ => {}
        }
        self.cpus[cpu].expected = self.cpus[cpu].expected.saturating_sub(expected);
        self.note(system, cpu);
    }

    fn dequeued(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let now = system.now();
        if self.end_delay(task) {
            self.task(task).average.follow(now, 0);
            let load = system.load(cpu) + self.cpus[cpu].delayed;
            self.cpus[cpu].load.follow(now, load);
        }
    }
}

/// Its tasks exist and sleep before it starts.
fn wakes_first(app: &AppSpec) -> bool {
    matches!(app.runtime.startup.forks, Forks::Together | Forks::Woken(_))
}

/// What a task brings to a cpu and takes along: load, utilisation, runnable time, in fine units.
type Carried = [u64; 3];

impl Cpu {
    /// Takes a task's part out of the averages (`detach_entity_load_avg`).
    fn part(&mut self, now: Time, [load, busy, runnable]: Carried) {
        self.load.remove(now, load);
        self.busy.remove(now, busy);
        self.runnable.remove(now, runnable);
    }

    /// Adds it (`attach_entity_load_avg`).
    fn join(&mut self, now: Time, [load, busy, runnable]: Carried) {
        self.load.add(now, load);
        self.busy.add(now, busy);
        self.runnable.add(now, runnable);
    }

    /// `cpu_util_cfs`, in 1,024ths of the largest cpu.
    fn utilisation(&mut self, now: Time, capacity: u64) -> u64 {
        (self.busy.fine(now).max(self.expected) >> FINE).min(capacity)
    }

    /// `cpu_util_cfs_boost`, in 1,024ths.
    fn boosted(&mut self, now: Time, capacity: u64) -> u64 {
        self.utilisation(now, capacity).max(self.runnable.get(now)).min(capacity)
    }
}

impl GroupTypes {
    /// A new task: its load counts in full at once (`init_entity_runnable_average`), its utilisation follows
    /// from that of the cpu, unless it slept, and it was runnable as long as it ran.
    fn start(&mut self, now: Time, task: TaskId, (weight, cpu): (u64, CpuId), slept: bool) {
        let there = &mut self.cpus[cpu];
        let there = (there.busy.fine(now), there.load.fine(now));
        let capacity = self.unequal.capacity(cpu);
        let record = self.task(task);
        record.average.follow(now, 0);
        record.average.add(now, weight << FINE);
        let capacity = if slept { 0 } else { capacity };
        record.utilisation.start(now, weight, there, capacity);
        let utilisation = record.utilisation.fine(now, Span::ZERO);
        record.runnable.add(now, utilisation);
    }

    /// The dequeue of a task is delayed no more. Whether it was.
    fn end_delay(&mut self, task: TaskId) -> bool {
        let record = self.task(task);
        let (weight, home) = (std::mem::take(&mut record.delayed), record.home);
        if let Some(home) = home {
            self.cpus[home].delayed -= weight;
        }
        weight > 0
    }

    /// Whether each of these cpus is too slow for the task that has it, and some cpu that its mask allows is
    /// not (`update_misfit_status`).
    fn mark_misfits(&mut self, system: &mut dyn System, cpus: std::ops::Range<u32>) -> bool {
        if self.unequal.rule != Rule::Capacity {
            return false;
        }
        let mut any = false;
        for cpu in cpus.map(CpuId) {
            let misfit = self.misfit(system, cpu);
            self.cpus[cpu].misfit = misfit;
            any |= misfit > 0;
        }
        any
    }

    fn misfit(&mut self, system: &mut dyn System, cpu: CpuId) -> u64 {
        let capacity = self.unequal.capacity(cpu);
        let Some(task) = system.current(cpu).filter(|_| self.unequal.is_small(cpu)) else { return 0 };
        let [load, used, _] = self.carried(system, task);
        let used = used.max(self.task(task).utilisation.expected()) >> FINE;
        let larger = |other: CpuId| self.unequal.capacity(other) > capacity && system.allowed(task, other);
        let helped = !fits(used, capacity) && system.machine().cpu_ids().any(larger);
        if helped { (load >> FINE).max(1) } else { 0 }
    }

    /// The load of a cpu (`cpu_load`, before 5.5 `runnable_load_avg`); with task groups what the kernel
    /// knows, in which groups count.
    fn load(&mut self, view: &dyn View, cpu: CpuId) -> u64 {
        if let Some(load) = view.load_average(cpu) {
            return load;
        }
        if self.rules.sleepers_count {
            return self.cpus[cpu].load.get(view.now());
        }
        self.follow_ticks(view.now(), cpu);
        self.cpus[cpu].queued.get(view.now())
    }

    fn carried(&mut self, system: &mut dyn System, task: TaskId) -> Carried {
        let (now, ran) = (system.now(), system.cpu_time(task));
        let home = self.task(task).home;
        let capacity = home.map_or(UNIT, |home| self.unequal.capacity(home));
        let record = self.task(task);
        let utilisation = record.utilisation.fine_on(now, ran, capacity);
        [record.average.fine(now), utilisation, record.runnable.fine(now)]
    }
}

#[cfg(test)]
mod loads_tests;
#[cfg(test)]
mod numa_tests;
#[cfg(test)]
mod release_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wake_tests;
