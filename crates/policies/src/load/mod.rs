//! `LOAD`: the balancing of the Linux release in the scenario; this folder holds that of 2.6.18 to 2.6.30.
//!
//! Idea: keep the *load* (sum of weights) of every queue near the average, by pulling from the busiest group at each
//! level of a hierarchy of scheduling domains. Source: kernel/sched.c and sched_fair.c of the releases, 2.6.28.2 first.

mod balance;
mod busiest;
mod cpu_load;
mod domains;
mod placement;
mod releases;
mod rules;

use notation::declare::{Duration, Factor, Percent};
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::{CpuSet, Machine, PerCpu};
use sim_core::os::OsModel;
use sim_core::policy::{CpuChoice, Placement, Policy, System, Timer, View, Why};
use sim_core::time::{Span, Time};

use crate::domain_level::DomainLevel;
use crate::entry::{Entry, Level, Setting, Showcase};
use crate::queues::Queues;
use cpu_load::Loads;
use domains::Domain;
use releases::Release;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "LOAD",
    summary: "the load balancer of the scenario's Linux release (2.6.28 for other kernels): queue lengths, domains, idle and \
active balancing",
    source: "Linux 2.6.27.57, 2.6.28.2, 2.6.30.4 kernel/sched.c, kernel/sched_fair.c, include/linux/topology.h; Linux 6.x kernel/sched/fair.c, topology.c",
    level: Level::InKernel,
    parameters: Parameters::TABLE,
    about: "Every cpu runs a balancing pass at its timer ticks, more often when it is idle. At each level of the machine \
(threads of a core, cores that share a cache, a node, all nodes) it finds the busiest group of cpus. It pulls waiting tasks \
from the longest queue of that group. One designated cpu balances for its group. LOAD compares loads as integers and ignores \
differences of up to 25 %. With two tasks on one cpu and one on the next it moves a task. With five and four it never does.\n\n\
A task that ran within the last half millisecond is cache-hot, and the first attempts do not move it. After several failed \
attempts the migration thread pushes even a running task. A new task goes to the idlest group. LOAD compares groups by load \
averages that change only at ticks. Many forks within one tick therefore land on the same cpus. A woken task stays on its \
last cpu or follows its waker. LOAD does not search for an idle cpu at a wake-up.\n\n\
The rules above are those of linux-2.6.28; LOAD uses the rules of the kernel in the scenario. linux-2.6.18 spreads forks \
over nodes only, lets every cpu balance, and searches for an idle thread of the core at a wake-up (reconstructed, \
uncertain). linux-2.6.27 pulls inside a socket as soon as a cpu goes idle, and it moves a task when two sockets have 6 and 4 \
tasks. linux-2.6.28 does neither. When a cpu goes idle, linux-2.6.30 checks every level that allows it \
(`SD_BALANCE_NEWIDLE`). linux-6.18 is a different balancer. It averages loads with a half-life of 32 ms and classifies \
groups as having spare cpus, full or overloaded. A cpu that goes idle pulls at every level. Forks and wake-ups search for an \
idle cpu, wake-ups only in the shared cache of the waker's or the last cpu.\n\n\
The releases have these constants. A busy cpu of 2.6 balances every 64 to 256 ms at the levels MC (cores that share a cache) \
and CPU (such groups of one node). At NODE it balances every 256 to 1024 ms. An idle cpu balances every 1 to 4 ms at MC and \
CPU, and every 8 to 32 ms at NODE. At the level SMT (threads of a core) a busy cpu balances every 64 to 128 ms, in 2.6.18 \
every 8 to 16 ms. In 6.18 a busy cpu balances every 16 to 32 ms per cpu of the level, an idle one every 1 to 2 ms per cpu. \
LOAD tolerates an imbalance of 25 %, over ALLNODES (all nodes of a machine with more than 16 nodes) 33 %, and between \
threads of a core 10 %. In 6.18 it tolerates 17 %, and 10 % between threads. A small imbalance moves one task when the \
excess plus F tasks is at least two tasks. F is 0 in 2.6.18, 2 in 2.6.27, and 1 in later releases. Since 2.6.20 one cpu \
balances for its group. Since 2.6.24 a group with uneven queues counts as busy. `mc` and `imbalance` apply to the releases \
up to 2.6.30. `newidle_cost` applies to 6.18, where `newidle` distinguishes only on and off.\n\n\
Simplifications: idle cpus keep their own tick, while in Linux one nominated idle cpu balances for all. A wake-up is never \
`sync`. The global lock of the NODE level is always free. LOAD does not balance processes again at exec. The automatic NUMA \
balancing of linux-6.18 is absent. Use LOAD as the baseline: it is what an untuned system does.",
    sees: "LOAD observes the run-queue length and load weight of every cpu, sampled at ticks. It also reads masks, the last \
time a task ran (for the cache-hot rule) and the domain tree of the machine. It cannot observe applications, barriers or \
polling: a spinning task counts as load like any other task.",
    costs: "A balancing pass at a tick is part of the cost of the tick. A pull costs a migration on the receiving cpu. \
Active balancing also costs an interrupt for the migration thread. Placement costs nothing beyond the fork or wake-up that \
it belongs to.",
    wins: Showcase {
        scenario: "short_and_long",
        label: "LOAD",
        against: "PIN",
        app: "all",
        point: "",
        about: "Five jobs of three tasks run on eight cores. PIN binds each job to the same three cores. LOAD spreads the \
tasks and fills every core that a short job leaves.",
    },
    loses: Showcase {
        scenario: "one_thread_per_core",
        label: "LOAD",
        against: "PIN",
        app: "code",
        point: "",
        about: "Sixteen threads for sixteen cores are created within one tick. Forks follow the loads of the last tick, so \
the threads pile up on the parent's core. Idle cores pull them away at their next balancing passes, which takes \
64 to 96 ms. Until then every barrier waits for the core with the most threads.",
    },
    build,
    example: "Cpu 0 has two equal tasks (load 2 x 1024), and cpu 1 has one (1024). 2048 is 200 % of 1024 and exceeds the \
limit of 125 %. At its next balancing pass cpu 1 therefore pulls the task that waits on cpu 0. Now cpu 0 has less load and \
pulls later. The odd task moves back and forth, and over many passes each of the three tasks gets 2/3 of a cpu. With five \
tasks on cpu 0 and four on cpu 1 the loads are 5120 and 4096. That is exactly 125 % and does not exceed the limit, so no \
task ever moves. Five tasks get 1/5 of a cpu each and four get 1/4. A program with barriers among these tasks advances at \
1/5 of its speed.",
};

choices! {
    /// The words of `release`.
    pub(crate) enum Kernel {
        Kernel = "kernel",
        Linux2618 = "linux-2.6.18",
        Linux2627 = "linux-2.6.27",
        Linux2628 = "linux-2.6.28",
        Linux2630 = "linux-2.6.30",
        Linux618 = "linux-6.18",
    }
}

choices! {
    /// The words of `mc`.
    pub(crate) enum CacheLevel { Auto = "auto", On = "on", Off = "off" }
}

choices! {
    /// Which levels pull when a cpu is about to go idle.
    pub(crate) enum NewIdle { Kernel = "kernel", All = "all", Off = "off" }
}

parameters! {
    /// Parameters of `LOAD`.
    pub(crate) struct Parameters {
        /// The release whose balancer LOAD uses: that of the scenario's kernel (2.6.28 if that is not Linux),
        /// or the named one.
        release: Kernel = Kernel::Kernel;
        /// Releases up to 2.6.30: whether cores that share a cache form a level, and whether such a group is
        /// one unit of capacity. `auto`: as the release detects it (2.6.27 only with one memory node). `on`:
        /// also the cores of a package, if the machine's tree names no caches.
        mc: CacheLevel = CacheLevel::Auto;
        /// linux-6.18: assumed cost of a new-idle balancing pass per cpu of the level. A cpu whose mean idle
        /// time is shorter skips the pass (uncertain).
        newidle_cost: Duration = 100, in 0..=ms(1);
        /// Balance at timer ticks.
        periodic: bool = true;
        /// Levels at which a cpu that is about to go idle pulls at once: those of the release, all, or none.
        newidle: NewIdle = NewIdle::Kernel;
        /// After cache_nice_tries + 2 failed attempts the migration thread moves a task, even the running one.
        active: bool = true;
        /// A woken task may follow its waker (AFFINE_WAKEUPS and SD_WAKE_BALANCE); otherwise it stays.
        affine_wakeups: bool = true;
        /// A task that ran within this time is cache-hot (sched_migration_cost, 0.5 ms).
        migration_cost: Duration = us(500), in 0..=s(1);
        /// Releases up to 2.6.30: tolerated excess of the busiest group at the levels MC, CPU and NODE
        /// (imbalance_pct 125).
        imbalance: Percent = percent(25), in 0..=percent(400);
        /// Factor by which all balancing intervals are multiplied.
        interval_scale: Factor = 1_000, in 1..=1_000_000;
        /// Maximum number of tasks examined in one attempt (sched_nr_migrate).
        nr_migrate: usize = 32, in 1..=1_000_000;
    }
}

fn build(values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    let values = &Parameters::from(values);
    if is_linux_6_18(values, setting.kernel) {
        Box::new(crate::linux_6_18::Linux618::new(values, setting))
    } else {
        Box::new(Load::new(values, setting))
    }
}

fn is_linux_6_18(values: &Parameters, kernel: &OsModel) -> bool {
    match values.release {
        Kernel::Kernel => kernel.balancer.release == crate::linux_6_18::NAME,
        other => other == Kernel::Linux618,
    }
}

/// The levels `LOAD` with default values balances on this machine under this kernel, lowest first.
pub(crate) fn levels(machine: &Machine, kernel: &OsModel) -> Vec<DomainLevel> {
    let values = Parameters::from(&Values::defaults(Parameters::TABLE));
    if is_linux_6_18(&values, kernel) {
        return crate::linux_6_18::levels(machine);
    }
    let release = releases::of(&values, kernel);
    domains_of(&values, machine, &release).iter().map(Domain::level).collect()
}

#[derive(Clone, Copy, Debug)]
struct Options {
    periodic: bool,
    newidle: NewIdle,
    active: bool,
    affine_wakeups: bool,
    migration_cost: Span,
    nr_migrate: usize,
}

/// What a cpu remembers of its domain at one level.
#[derive(Clone, Copy, Debug)]
struct Progress {
    interval_ms: u64,
    /// Tick number of the last attempt.
    last: u64,
    failed: u32,
}

/// The policy.
struct Load {
    release: Release,
    options: Options,
    domains: Vec<Domain>,
    loads: Loads,
    /// Lengths of all queues, so that balancing passes skip idle cpus.
    queues: Queues,
    /// Per level: what each cpu remembers.
    progress: Vec<PerCpu<Progress>>,
    /// Per level: runnable tasks in each domain.
    runnable: Vec<Vec<u32>>,
    /// Tick number from which a cpu balances again (`rq->next_balance`).
    next_balance: PerCpu<u64>,
    /// The earliest tick asked for and not yet had; a tick before it is a leftover of a later request.
    armed: PerCpu<Time>,
    /// Scratch: waiting tasks of a queue.
    waiting: Vec<TaskId>,
    /// Scratch: cpus whose tasks are all pinned elsewhere.
    excluded: CpuSet,
    /// Why the last look at a domain found something to pull.
    why: Why,
}

impl Load {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        let cpus = setting.machine.cpus() as usize;
        let release = releases::of(values, setting.kernel);
        let domains = domains_of(values, setting.machine, &release);
        let options = Options {
            periodic: values.periodic,
            newidle: values.newidle,
            active: values.active,
            affine_wakeups: values.affine_wakeups,
            migration_cost: Span::from_ns(values.migration_cost.ns()),
            nr_migrate: values.nr_migrate,
        };
        let fresh = |d: &Domain| Progress { interval_ms: d.template.min_ms, last: 0, failed: 0 };
        Self {
            release,
            options,
            loads: Loads::new(setting.kernel, setting.machine.cpus()),
            queues: Queues::new(setting.machine.cpus(), 1),
            progress: domains.iter().map(|d| PerCpu::filled(cpus, fresh(d))).collect(),
            runnable: domains.iter().map(|d| vec![0; d.instances()]).collect(),
            next_balance: PerCpu::filled(cpus, 0),
            armed: PerCpu::filled(cpus, Time::NEVER),
            waiting: Vec::new(),
            excluded: CpuSet::default(),
            why: Why::default(),
            domains,
        }
    }

    /// Asks for the tick at which `cpu` balances again, unless an earlier one is coming.
    fn arm(&mut self, system: &mut dyn System, cpu: CpuId) {
        let at = self.loads.due(cpu, self.next_balance[cpu]);
        if self.options.periodic && !self.domains.is_empty() && at < self.armed[cpu] {
            self.armed[cpu] = at;
            system.at(at, Timer::Tick(cpu));
        }
    }
}

fn domains_of(values: &Parameters, machine: &Machine, release: &Release) -> Vec<Domain> {
    let cache = release.cache_span(&machine.topology, values.mc);
    let mut domains = domains::build(&machine.topology, &release.templates, cache);
    let scale = |ms: u64| (ms.saturating_mul(values.interval_scale.thousandths()) / 1_000).max(1);
    for domain in &mut domains {
        let template = &mut domain.template;
        template.min_ms = scale(template.min_ms);
        template.max_ms = scale(template.max_ms);
        if template.imbalance_pct == 125 {
            template.imbalance_pct = 100 + values.imbalance.hundredths() / 100;
        }
    }
    domains
}

impl Policy for Load {
    fn init(&mut self, system: &mut dyn System) {
        for cpu in system.machine().cpu_ids() {
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
        if system.now() < self.armed[cpu] {
            return;
        }
        self.armed[cpu] = Time::NEVER;
        if self.loads.ticks(cpu, system.now()) >= self.next_balance[cpu] {
            self.rebalance(system, cpu);
        }
        self.arm(system, cpu);
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
        self.loads.set(cpu, system.now(), system.load(cpu));
        for (domain, counts) in self.domains.iter().zip(&mut self.runnable) {
            counts[domain.instance(cpu)] += 1;
        }
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
        self.loads.set(cpu, system.now(), system.load(cpu));
        for (domain, counts) in self.domains.iter().zip(&mut self.runnable) {
            let count = &mut counts[domain.instance(cpu)];
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests;
