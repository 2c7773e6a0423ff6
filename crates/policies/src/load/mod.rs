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

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{CpuId, TaskId};
use sim_core::kernel_model::KernelModel;
use sim_core::machine::{CpuSet, Machine, PerCpu};
use sim_core::policy::{Placement, Policy, System, View, Why};
use sim_core::time::{Span, Time};

use crate::domain_level::DomainLevel;
use crate::entry::{Entry, Level, Setting, Showcase};
use cpu_load::Loads;
use domains::Domain;
use releases::Release;

/// Its place on the shelf.
pub(crate) const ENTRY: Entry = Entry {
    name: "LOAD",
    summary: "load balancing of the scenario's Linux release (2.6.28 for other kernels): queue lengths, domains, idle and active balancing",
    source: "Linux 2.6.27.57, 2.6.28.2, 2.6.30.4 kernel/sched.c, kernel/sched_fair.c, include/linux/topology.h; Linux 6.x kernel/sched/fair.c, topology.c",
    level: Level::Kernel,
    parameters: PARAMETERS,
    about: "Every cpu looks, at its timer ticks and more often when idle, for the busiest group of cpus at each level \
of the machine (threads of a core, cores that share a cache, a node, all nodes) and pulls waiting tasks from its longest \
queue, one designated cpu per group. It works on integers: an excess below 25 % is no imbalance, so two tasks on one cpu \
beside one on the next are moved, five beside four never.\n\n\
Tasks that ran within the last half millisecond are cache-hot and are left alone for the first attempts; after several \
failed attempts the migration thread pushes even a running task. New tasks go to the idlest group by averages that are \
refreshed at ticks only, so many forks within a tick land on the same cpus. A woken task stays on its last cpu or \
follows its waker; nobody looks for an idle cpu.\n\n\
The rules are those of the kernel in the scenario. linux-2.6.18 spreads forks over nodes only, lets every cpu balance \
and looks for an idle thread of the core at a wake-up (reconstructed, uncertain); linux-2.6.27 pulls inside a socket as \
soon as a cpu goes idle and moves 6 against 4; linux-2.6.28 does neither; linux-2.6.30 looks at all levels when going \
idle. linux-6.18 is another balancer: decayed loads (half-life 32 ms), groups that have spare cpus, are full or \
overloaded, new-idle pulls at every level, forks and wake-ups that find an idle cpu (first in the waker's or the last \
cpu's shared cache).\n\n\
What the releases have as constants: a busy cpu of 2.6 looks every 64 to 256 ms at the levels MC and CPU and every 256 to 1024 ms \
at NODE (1 to 4 and 8 to 32 ms when idle; 64 to 128 ms at SMT, 8 to 16 in 2.6.18), one of 6.18 every 16 to 32 ms per cpu \
of the level (1 to 2 ms when idle). Tolerated are 25 % (33 % over ALLNODES, 10 % between threads; 17 and 10 % in 6.18). A \
small imbalance moves one task when the excess and F tasks make two: F is 0 in 2.6.18, 2 in 2.6.27, 1 since; since \
2.6.20 one cpu balances for its group, since 2.6.24 uneven queues inside a group count. `mc` and `imbalance` act on the releases \
to 2.6.30, `newidle_cost` on 6.18, where `newidle` knows on and off only.\n\n\
Simplifications: idle cpus keep their own tick instead of one nominated idle cpu balancing for all; a wake-up is never \
`sync`; the global lock of the NODE level is always free; processes are not balanced again at exec; automatic NUMA \
balancing of linux-6.18 is absent. Use it as the baseline: what an untuned system does.",
    sees: "Run-queue lengths and load weights of every cpu, sampled at ticks; masks; the last time a task ran (cache-hot rule); the domain tree of the machine. It knows nothing of applications, barriers or polling: a spinning task is load like any other.",
    costs: "A look at a tick is part of the tick's cost; a pull costs the migration on the receiving cpu, an active balance an interrupt for the migration thread on top. Placement costs nothing beyond the fork or wake it belongs to.",
    wins: Showcase {
        scenario: "short_and_long",
        label: "LOAD",
        against: "PIN",
        app: "all",
        point: "",
        about: "Five jobs of three tasks on eight cores: PIN binds each of them to the same three cores, LOAD spreads the tasks and refills every core that a short job leaves.",
    },
    loses: Showcase {
        scenario: "one_thread_per_core",
        label: "LOAD",
        against: "PIN",
        app: "code",
        point: "",
        about: "Sixteen threads for sixteen cores, created within a tick: forks go by the loads of the last tick and pile up on the parent's core, and idle cores take until the next looks, 8 to 25 ms, to pull them off, while every barrier waits for the fullest core.",
    },
    build,
    example: "Cpu 0 has two equal tasks (load 2 x 1024), cpu 1 one (1024). 2048 is 200 % of 1024, over the 125 % at which an \
imbalance begins, so at its next look cpu 1 pulls the task that waits on cpu 0. Now cpu 0 has less and pulls \
later: the odd task wanders, and over many looks each of the three gets 2/3 of a cpu. With five tasks on cpu 0 \
and four on cpu 1 the loads are 5120 and 4096: exactly 125 %, not more. Nothing moves, ever: five tasks get 1/5 \
of a cpu each, four get 1/4, and a program with barriers among them advances at 1/5.",
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "release",
        kind: Kind::Choice(&[
            "kernel",
            "linux-2.6.18",
            "linux-2.6.27",
            "linux-2.6.28",
            "linux-2.6.30",
            "linux-6.18",
        ]),
        default: 0,
        min: 0,
        max: 5,
        about: "Whose balancer: that of the scenario's kernel (2.6.28 where that is no Linux), or that of another release.",
    },
    Parameter {
        name: "mc",
        kind: Kind::Choice(&["auto", "on", "off"]),
        default: 0,
        min: 0,
        max: 2,
        about: "Releases to 2.6.30: are cores that share a cache a level, and such a group one unit of capacity? auto: as the release knows (2.6.27 only with one memory node); on: the cores of a package, too, if the tree names no caches.",
    },
    Parameter {
        name: "newidle_cost",
        kind: Kind::Duration,
        default: 100,
        min: 0,
        max: 1_000_000,
        about: "linux-6.18: assumed cost of a new-idle look per cpu of the level; a cpu that is idle for less on average does not look (uncertain).",
    },
    Parameter {
        name: "periodic",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        about: "Balance at timer ticks.",
    },
    Parameter {
        name: "newidle",
        kind: Kind::Choice(&["kernel", "all", "off"]),
        default: 0,
        min: 0,
        max: 2,
        about: "Levels at which a cpu about to go idle pulls at once: as in the release, all, or none.",
    },
    Parameter {
        name: "active",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        about: "After cache_nice_tries + 2 failed attempts the migration thread moves a task, even the running one.",
    },
    Parameter {
        name: "affine_wakeups",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        about: "A woken task may follow its waker (AFFINE_WAKEUPS and SD_WAKE_BALANCE); otherwise it stays.",
    },
    Parameter {
        name: "migration_cost",
        kind: Kind::Duration,
        default: 500_000,
        min: 0,
        max: 1_000_000_000,
        about: "A task that ran within this time is cache-hot (sched_migration_cost, 0.5 ms).",
    },
    Parameter {
        name: "imbalance",
        kind: Kind::Percent,
        default: 2_500,
        min: 0,
        max: 40_000,
        about: "Releases to 2.6.30: excess of the busiest group that is tolerated at the levels MC, CPU and NODE (imbalance_pct 125).",
    },
    Parameter {
        name: "interval_scale",
        kind: Kind::Factor,
        default: 1_000,
        min: 1,
        max: 1_000_000,
        about: "Stretches all balancing intervals.",
    },
    Parameter {
        name: "nr_migrate",
        kind: Kind::Count,
        default: 32,
        min: 1,
        max: 1_000_000,
        about: "Tasks looked at in one attempt (sched_nr_migrate).",
    },
];

fn build(values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    if is_modern(values, setting.kernel) {
        Box::new(crate::modern::Modern::new(values, setting))
    } else {
        Box::new(Load::new(values, setting))
    }
}

fn is_modern(values: &Values, kernel: &KernelModel) -> bool {
    match values.choice("release") {
        "kernel" => kernel.name == crate::modern::NAME,
        other => other == crate::modern::NAME,
    }
}

/// The levels `LOAD` with default values balances on this machine under this kernel, lowest first.
pub(crate) fn levels(machine: &Machine, kernel: &KernelModel) -> Vec<DomainLevel> {
    let values = Values::defaults(PARAMETERS);
    if is_modern(&values, kernel) {
        return crate::modern::levels(machine);
    }
    let release = releases::of(&values, kernel);
    domains_of(&values, machine, &release).iter().map(Domain::level).collect()
}

/// Which levels pull when a cpu is about to go idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NewIdle {
    Kernel,
    All,
    Off,
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
    fn new(values: &Values, setting: &Setting<'_>) -> Self {
        let cpus = setting.machine.cpus() as usize;
        let release = releases::of(values, setting.kernel);
        let domains = domains_of(values, setting.machine, &release);
        let options = Options {
            periodic: values.flag("periodic"),
            newidle: match values.choice("newidle") {
                "all" => NewIdle::All,
                "off" => NewIdle::Off,
                _ => NewIdle::Kernel,
            },
            active: values.flag("active"),
            affine_wakeups: values.flag("affine_wakeups"),
            migration_cost: Span::from_ns(values.get("migration_cost")),
            nr_migrate: usize::try_from(values.get("nr_migrate")).unwrap_or(usize::MAX),
        };
        let fresh = |d: &Domain| Progress { interval_ms: d.template.min_ms, last: 0, failed: 0 };
        Self {
            release,
            options,
            loads: Loads::new(setting.kernel, setting.machine.cpus()),
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
            system.at_tick(cpu, at);
        }
    }
}

fn domains_of(values: &Values, machine: &Machine, release: &Release) -> Vec<Domain> {
    let cache = release.cache_span(&machine.topology, values.choice("mc"));
    let mut domains = domains::build(&machine.topology, &release.templates, cache);
    let scale = |ms: u64| (ms.saturating_mul(values.get("interval_scale")) / 1_000).max(1);
    for domain in &mut domains {
        let template = &mut domain.template;
        template.min_ms = scale(template.min_ms);
        template.max_ms = scale(template.max_ms);
        if template.imbalance_pct == 125 {
            template.imbalance_pct = 100 + values.get("imbalance") / 100;
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

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, why: Placement) -> CpuId {
        self.place(view, task, why)
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.new_idle(system, cpu);
        self.arm(system, cpu);
    }

    fn tick(&mut self, system: &mut dyn System, cpu: CpuId) {
        if system.now() < self.armed[cpu] {
            return;
        }
        self.armed[cpu] = Time::NEVER;
        if self.loads.ticks(cpu, system.now()) >= self.next_balance[cpu] {
            self.rebalance(system, cpu);
        }
        self.arm(system, cpu);
    }

    fn runnable(&mut self, view: &dyn View, _: TaskId, cpu: CpuId) {
        self.loads.set(cpu, view.now(), view.load(cpu));
        for (domain, counts) in self.domains.iter().zip(&mut self.runnable) {
            counts[domain.instance(cpu)] += 1;
        }
    }

    fn quiescent(&mut self, view: &dyn View, _: TaskId, cpu: CpuId) {
        self.loads.set(cpu, view.now(), view.load(cpu));
        for (domain, counts) in self.domains.iter().zip(&mut self.runnable) {
            let count = &mut counts[domain.instance(cpu)];
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests;
