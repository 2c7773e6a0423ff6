//! `SPEED`: a user-level balancer that equalises the *speed* of an application's threads, not queue lengths.
//!
//! Idea: on an uneven number of threads per core, rotate the threads so that each gets the same share of cpu time.
//! Source: Hofmeyr, Iancu, Blagojevic, "Load Balancing on Speed" (PPoPP 2010).

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::{Distance, Machine};
use sim_core::policy::{Affinity, Placement, Policy, System, TaskState, View};
use sim_core::rng::Purpose;
use sim_core::time::{Span, Time};

use crate::registry::{Entry, Level, Setting, Showcase};
use crate::spread::{Draws, allowed_cpus};

/// Its place on the shelf.
pub(crate) const ENTRY: Entry = Entry {
    name: "SPEED",
    summary: "user-level balancing of the threads' shares of cpu time, by pulls from slow cores",
    source: "Hofmeyr, Iancu, Blagojevic: Load Balancing on Speed, PPoPP 2010",
    level: Level::User,
    parameters: PARAMETERS,
    about: "Each application brings one balancer per core it may use. Threads start bound round-robin, the nodes filled \
evenly. Every interval, lengthened by a random part, the balancer of a core measures its threads' speed: cpu time over \
real time since the last look. The speed of a core is the mean over its threads (1 without threads), the global speed the \
mean over cores as last published. A core faster than that takes one thread from the slowest core below the threshold: \
the thread that has migrated least, ties at random, by binding it to itself. Both cores then rest for two intervals. \
Cores beyond the shared cache are considered every second interval, each level farther half as often; NUMA nodes are not \
crossed by default.\n\n\
It repairs uneven thread counts and cores slowed by strangers, provided the time between barriers exceeds the balancing \
interval; it cannot exceed the share cores / threads. Threads that sleep at barriers look slow and mislead it. Background \
applications are not balanced.",
    sees: "Cpu time of each thread of its own application from `/proc` or taskstats, the topology, and what it has moved itself. Other applications show only as missing cpu time.",
    costs: "`cost` of daemon time on the balancer's core at each look; a pull is a `sched_setaffinity`: an interrupt if the thread runs, and the migration on the receiving core.",
    wins: Showcase { scenario: "", label: "SPEED", against: "", app: "all", point: "", about: "" },
    loses: Showcase { scenario: "", label: "SPEED", against: "", app: "all", point: "", about: "" },
    build,
    example: "Three threads of one program on two cores, bound 2 + 1. After an interval the threads of core 0 ran half the \
time, the one of core 1 all of it: speeds 0.5 and 1, global speed 0.75. Core 1 is faster than 0.75, and 0.5 is \
below 0.9 x 0.75 = 0.675: core 1 pulls the thread of core 0 that has migrated least. After two intervals of rest \
core 0 pulls one back, again the least moved. Over time each thread has had 2/3 of a core; bound for good, two \
of them would have had 1/2, so a program with long intervals ends 4/3 times as fast.",
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "interval",
        kind: Kind::Duration,
        default: 100_000_000,
        min: 1_000_000,
        max: 100_000_000_000,
        about: "Time between two looks of a balancer (0.1 s in the paper).",
    },
    Parameter {
        name: "jitter",
        kind: Kind::Percent,
        default: 10_000,
        min: 0,
        max: 100_000,
        about: "Each interval grows by a uniform random part of up to this (one interval): breaks lock step.",
    },
    Parameter {
        name: "threshold",
        kind: Kind::Percent,
        default: 9_000,
        min: 1,
        max: 10_000,
        about: "A core is pulled from when its speed is below this part of the global one (T_s = 0.9).",
    },
    Parameter {
        name: "block",
        kind: Kind::Count,
        default: 2,
        min: 0,
        max: 1_000,
        about: "Intervals for which both cores rest after a migration.",
    },
    Parameter {
        name: "startup",
        kind: Kind::Duration,
        default: 0,
        min: 0,
        max: 1_000_000_000_000,
        about: "Delay from the existence of all threads to the first interval.",
    },
    Parameter {
        name: "cross_nodes",
        kind: Kind::Flag,
        default: 0,
        min: 0,
        max: 1,
        about: "Also pull across NUMA nodes.",
    },
    Parameter {
        name: "cost",
        kind: Kind::Duration,
        default: 5_000,
        min: 0,
        max: 1_000_000_000,
        about: "Cpu time of one look (reading the times of a core's threads: some system calls of about 1 us).",
    },
];

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    let interval = Span::from_ns(values.get("interval"));
    Box::new(Speed {
        interval,
        jitter_ns: (u128::from(interval.ns()) * u128::from(values.get("jitter")) / 10_000) as u64,
        threshold: values.get("threshold"),
        block: interval * values.get("block"),
        startup: Span::from_ns(values.get("startup")),
        cross_nodes: values.flag("cross_nodes"),
        cost: Span::from_ns(values.get("cost")),
        balancers: Vec::new(),
    })
}

/// Speed 1 (a whole cpu) in fixed point.
const FULL: u64 = 1 << 16;

struct Speed {
    interval: Span,
    jitter_ns: u64,
    /// In hundredths of a per cent.
    threshold: u64,
    block: Span,
    startup: Span,
    cross_nodes: bool,
    cost: Span,
    /// One per application; `None` before it starts, after it ended and for background ones.
    balancers: Vec<Option<Balancers>>,
}

/// The balancers of one application.
struct Balancers {
    cores: Vec<Core>,
    threads: Vec<Thread>,
    draws: Draws,
}

struct Core {
    cpu: CpuId,
    /// As last published.
    speed: u64,
    blocked_until: Time,
    /// Looks so far.
    rounds: u64,
}

struct Thread {
    task: TaskId,
    /// Position of its core.
    core: usize,
    migrations: u32,
    sampled: Time,
    cpu_time: Span,
}

/// The cores of an application in the order in which they are filled: in cpu order when every core gets a thread anyway,
/// else taking the nodes in turn so that they fill evenly.
fn fill_order(machine: &Machine, mut cpus: Vec<CpuId>, threads: usize) -> Vec<CpuId> {
    if threads < cpus.len() && machine.nodes() > 1 {
        let per_node = machine.cpus() / machine.nodes();
        cpus.sort_by_key(|cpu| (cpu.0 % per_node, cpu.0));
    }
    cpus
}

/// How often a core at this distance is considered: every 2^n-th look.
fn level_of(machine: &Machine, a: CpuId, b: CpuId) -> u32 {
    use sim_core::machine::Level as Tree;
    let tree = &machine.topology;
    // Without a cache level of its own the package is the shared-cache domain.
    let shared_by_package = tree.span(Tree::Cache) == tree.span(Tree::Core);
    match tree.distance(a, b) {
        Distance::Same | Distance::Core | Distance::Cache => 0,
        Distance::Near => u32::from(!shared_by_package),
        Distance::Far => 1 + u32::from(!shared_by_package),
    }
}

impl Balancers {
    /// Measures the threads of a core and publishes their mean speed.
    fn measure(&mut self, system: &mut dyn System, core: usize) {
        let now = system.now();
        let (mut sum, mut count) = (0u64, 0);
        for thread in self.threads.iter_mut().filter(|thread| thread.core == core) {
            if system.task(thread.task).state == TaskState::Exited {
                continue;
            }
            let used = system.cpu_time(thread.task);
            let real = now.since(thread.sampled);
            let share = u128::from(used.saturating_sub(thread.cpu_time).ns()) * u128::from(FULL)
                / u128::from(real.ns().max(1));
            sum += (share as u64).min(FULL);
            count += 1;
            (thread.sampled, thread.cpu_time) = (now, used);
        }
        self.cores[core].speed = sum.checked_div(count).unwrap_or(FULL);
    }

    /// The slowest cores that may be pulled from, all of the same speed.
    fn slowest(&self, speed: &Speed, view: &dyn View, me: usize, global: u64) -> Vec<usize> {
        let machine = view.machine();
        let mine = &self.cores[me];
        let mut best: Vec<usize> = Vec::new();
        for (i, core) in self.cores.iter().enumerate() {
            let slow = core.speed * 10_000 < global * speed.threshold;
            let rested = core.blocked_until <= view.now();
            let near = speed.cross_nodes || machine.node_of(core.cpu) == machine.node_of(mine.cpu);
            let due = mine.rounds.is_multiple_of(1 << level_of(machine, core.cpu, mine.cpu));
            if i == me || !slow || !rested || !near || !due || !self.has_thread(view, i) {
                continue;
            }
            let least = best.first().map_or(u64::MAX, |b| self.cores[*b].speed);
            if core.speed < least {
                best.clear();
            }
            if core.speed <= least {
                best.push(i);
            }
        }
        best
    }

    fn has_thread(&self, view: &dyn View, core: usize) -> bool {
        self.threads.iter().any(|t| t.core == core && view.task(t.task).state != TaskState::Exited)
    }

    /// Takes the least migrated thread of `from` to core `me`.
    fn pull(&mut self, system: &mut dyn System, me: usize, from: usize, blocked_until: Time) {
        let live = |t: &Thread| t.core == from && system.task(t.task).state != TaskState::Exited;
        let least = self.threads.iter().filter(|t| live(t)).map(|t| t.migrations).min();
        let candidates: Vec<usize> = (0..self.threads.len())
            .filter(|i| live(&self.threads[*i]) && Some(self.threads[*i].migrations) == least)
            .collect();
        let Some(victim) = candidates.get(self.draws.below(candidates.len() as u64) as usize) else {
            return;
        };
        let cpu = self.cores[me].cpu;
        let thread = &mut self.threads[*victim];
        if system.set_affinity(thread.task, Affinity::One(cpu)) {
            thread.core = me;
            thread.migrations += 1;
            (thread.sampled, thread.cpu_time) = (system.now(), system.cpu_time(thread.task));
            self.cores[me].blocked_until = blocked_until;
            self.cores[from].blocked_until = blocked_until;
        }
    }
}

impl Speed {
    /// One look of the balancer of one core.
    fn look(&self, system: &mut dyn System, balancers: &mut Balancers, me: usize) {
        balancers.measure(system, me);
        balancers.cores[me].rounds += 1;
        let global =
            balancers.cores.iter().map(|core| core.speed).sum::<u64>() / balancers.cores.len() as u64;
        let mine = &balancers.cores[me];
        if mine.speed > global && mine.blocked_until <= system.now() {
            let slowest = balancers.slowest(self, system, me, global);
            let pick = balancers.draws.below(slowest.len() as u64) as usize;
            if let Some(from) = slowest.get(pick) {
                let blocked_until = system.now().saturating_add(self.block);
                balancers.pull(system, me, *from, blocked_until);
            }
        }
        system.charge(balancers.cores[me].cpu, self.cost, true);
    }

    fn next_look(&self, now: Time, draws: &mut Draws) -> Time {
        let extra = draws.below(self.jitter_ns.saturating_add(1));
        now.saturating_add(self.interval).saturating_add(Span::from_ns(extra))
    }
}

const fn token(app: AppId, core: usize) -> u64 {
    (app.0 as u64) << 32 | core as u64
}

impl Policy for Speed {
    fn init(&mut self, system: &mut dyn System) {
        self.balancers = (0..system.apps()).map(|_| None).collect();
    }

    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let view = system.app(app);
        if view.background {
            return;
        }
        let cpus = allowed_cpus(system, TaskId(view.tasks.start));
        let cpus = fill_order(system.machine(), cpus, view.tasks.len());
        let now = system.now();
        let thread = |(i, task)| Thread {
            task,
            core: i % cpus.len().max(1),
            migrations: 0,
            sampled: now,
            cpu_time: Span::ZERO,
        };
        let threads: Vec<Thread> = view.task_ids().enumerate().map(thread).collect();
        for thread in &threads {
            if let Some(cpu) = cpus.get(thread.core) {
                system.set_affinity(thread.task, Affinity::One(*cpu));
            }
        }
        let core = |cpu| Core { cpu, speed: FULL, blocked_until: Time::ZERO, rounds: 0 };
        let draws = Draws::new(system.seed(), Purpose::Policy, u64::from(app.0));
        if let Some(slot) = self.balancers.get_mut(app.0 as usize) {
            *slot = Some(Balancers { cores: cpus.into_iter().map(core).collect(), threads, draws });
        }
    }

    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        let Some(mut balancers) = self.balancers.get_mut(app.0 as usize).and_then(Option::take) else {
            return;
        };
        let start = system.now().saturating_add(self.startup);
        for thread in &mut balancers.threads {
            (thread.sampled, thread.cpu_time) = (system.now(), system.cpu_time(thread.task));
        }
        for core in 0..balancers.cores.len() {
            let at = self.next_look(start, &mut balancers.draws);
            system.at(at, token(app, core));
        }
        self.balancers[app.0 as usize] = Some(balancers);
    }

    fn app_exited(&mut self, _: &mut dyn System, app: AppId) {
        if let Some(slot) = self.balancers.get_mut(app.0 as usize) {
            *slot = None;
        }
    }

    fn timer(&mut self, system: &mut dyn System, token: u64) {
        let (app, core) = ((token >> 32) as usize, (token & u64::from(u32::MAX)) as usize);
        let Some(mut balancers) = self.balancers.get_mut(app).and_then(Option::take) else {
            return;
        };
        if core < balancers.cores.len() {
            self.look(system, &mut balancers, core);
            let at = self.next_look(system.now(), &mut balancers.draws);
            system.at(at, token);
        }
        self.balancers[app] = Some(balancers);
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuId {
        view.task(task).cpu
    }
}

#[cfg(test)]
mod tests;
