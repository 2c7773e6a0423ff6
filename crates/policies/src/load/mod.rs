//! `LOAD`: the balancing of the Linux release in the scenario, one of two balancers ([`releases`]). This
//! folder holds the one of 2.6.18 to 2.6.30, which compares the loads of queues.
//!
//! Idea: keep the *load* (sum of weights) of every queue near the average, by pulling from the busiest group
//! at each level of a hierarchy of scheduling domains. Source: kernel/sched.c and sched_fair.c of the
//! releases, 2.6.28.2 first.

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
use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::group_types::{self, GroupTypes, UnequalCores};
use crate::queues::Queues;
use cpu_load::{Loads, load_of};
use domains::Domain;
use kernels::{Balance, LoadRules, TypeRules};
use releases::Named;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "LOAD",
    summary: "the load balancer of the scenario's Linux release (2.6.28 for other kernels): queue lengths, \
        domains, idle and \
active balancing",
    source: "Linux 2.6.27.57, 2.6.28.2, 2.6.30.4 kernel/sched.c, kernel/sched_fair.c, \
        include/linux/topology.h; Linux 3.18 to 7.1 kernel/sched/fair.c, topology.c",
    level: Level::InKernel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("load.md"),
    wins: Showcase { scenario: "short_and_long", label: "LOAD", against: "PIN", app: "all", point: "" },
    loses: Showcase {
        scenario: "one_thread_per_core",
        label: "LOAD",
        against: "PIN",
        app: "code",
        point: "",
    },
    build: &build,
};

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
        release: Named = 0;
        /// Releases up to 2.6.30: whether cores that share a cache form a level, and whether such a group is
        /// one unit of capacity. `auto`: as the release detects it (2.6.27 only with one memory node). `on`:
        /// also the cores of a package, if the machine's tree names no caches.
        mc: CacheLevel = CacheLevel::Auto;
        /// linux-6.18: assumed cost of a new-idle balancing pass per cpu of the level. A cpu whose mean idle
        /// time is shorter skips the pass (uncertain).
        newidle_cost: Duration = 100, in 0..=ms(1);
        /// Releases from 4.13 to 5.19: assumed cost of a look at one cpu when a woken task searches for an
        /// idle one. The more a search costs, the fewer cpus it looks at (SIS_PROP; uncertain).
        scan_cost: Duration = 50, in 0..=ms(1);
        /// linux-6.18: mean time between two runs of kernel threads (softirqs, work queues) on an idle cpu.
        /// After each the cpu looks for tasks like any that goes idle; `0s`: they do not run. Measured with
        /// sched_switch under 6.18.15: 47 runs a second on 13 idle cpus of 16, those of RCU's thread, which
        /// stays on one cpu, not counted.
        kernel_threads: Duration = ms(280), in 0..=s(60);
        /// linux-6.18: the rule for cores of different speeds. `capacity`: a task that uses more than four
        /// fifths of its cpu goes to a larger idle one, when it wakes and at balancing (SD_ASYM_CPUCAPACITY:
        /// Arm, and x86 without a second hardware thread). `packing`: idle cores of higher priority take the
        /// tasks of slower cores (SD_ASYM_PACKING: x86 with SMT). `machine`: packing where a core of the
        /// machine has several hardware threads, else capacity. `off`: all cores count as equal.
        unequal_cores: UnequalCores = UnequalCores::Machine;
        /// Balance at timer ticks.
        periodic: bool = true;
        /// Levels at which a cpu that is about to go idle pulls at once: those of the release, all, or none.
        newidle: NewIdle = NewIdle::Kernel;
        /// After cache_nice_tries + 2 failed attempts the migration thread moves a task, even the running
        /// one.
        active: bool = true;
        /// A woken task may follow its waker (AFFINE_WAKEUPS and SD_WAKE_BALANCE); otherwise it stays.
        affine_wakeups: bool = true;
        /// A task that ran within this time is cache-hot (sched_migration_cost). 0.5ms stands for the value
        /// of the kernel, where it has one.
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
    match releases::of(values, setting.kernel) {
        Balance::Types(rules) => {
            let options = by_group_types(values, &rules);
            Box::new(GroupTypes::new(options, rules, setting))
        }
        Balance::Loads(rules) => Box::new(Load::new(values, rules, setting)),
    }
}

/// `LOAD` on a kernel whose scheduling domains have just been built (`sd->last_balance = jiffies` in
/// `sd_init`), so that the first pass of a level is due after one interval; no look costs anything, and no
/// kernel threads run. `rebuilt`: no wake-up looks for an idle cpu before the first periodic look at its
/// caches either (`nr_idle_scan`). On a machine that has been up for long, the last pass of each level is
/// long ago.
pub(crate) fn just_booted(setting: &Setting<'_>, rebuilt: bool) -> Box<dyn Policy> {
    let mut values = Values::defaults(Parameters::TABLE);
    for cost in ["newidle_cost", "scan_cost", "kernel_threads"] {
        debug_assert!(values.set(cost, 0).is_ok(), "`{cost}` may be 0");
        let _ = values.set(cost, 0);
    }
    let values = &Parameters::from(&values);
    match releases::of(values, setting.kernel) {
        Balance::Types(rules) => {
            let options =
                group_types::Options { just_booted: true, rebuilt, ..by_group_types(values, &rules) };
            Box::new(GroupTypes::new(options, rules, setting))
        }
        Balance::Loads(rules) => Box::new(Load::new(values, rules, setting)),
    }
}

/// The parameters of the balancer by group types.
pub(crate) fn by_group_types(values: &Parameters, rules: &TypeRules) -> group_types::Options {
    group_types::Options {
        periodic: values.periodic,
        newidle: values.newidle != NewIdle::Off,
        active: values.active,
        affine_wakeups: values.affine_wakeups,
        migration_cost: migration_cost(values, rules),
        newidle_cost: Span::from_ns(values.newidle_cost.ns()),
        scan_cost: Span::from_ns(values.scan_cost.ns()),
        nr_migrate: values.nr_migrate,
        interval_scale: values.interval_scale.thousandths(),
        kernel_threads: Span::from_ns(values.kernel_threads.ns()),
        unequal_cores: values.unequal_cores,
        just_booted: false,
        rebuilt: false,
    }
}

/// How long a task is cache-hot: as the kernel says, unless the policy has a value of its own.
fn migration_cost(values: &Parameters, rules: &TypeRules) -> Span {
    let own = values.migration_cost.ns();
    Span::from_ns(if own == Parameters::migration_cost.default { rules.migration_cost.ns() } else { own })
}

/// The levels `LOAD` with default values balances on this machine under this kernel, lowest first.
pub(crate) fn levels(machine: &Machine, kernel: &OsModel) -> Vec<DomainLevel> {
    let values = Parameters::from(&Values::defaults(Parameters::TABLE));
    match releases::of(&values, kernel) {
        Balance::Types(rules) => group_types::levels(machine, &rules),
        Balance::Loads(rules) => domains_of(&values, machine, &rules).iter().map(Domain::level).collect(),
    }
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
    rules: LoadRules,
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
    fn new(values: &Parameters, rules: LoadRules, setting: &Setting<'_>) -> Self {
        let cpus = setting.machine.cpus() as usize;
        let domains = domains_of(values, setting.machine, &rules);
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
            rules,
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

fn domains_of(values: &Parameters, machine: &Machine, rules: &LoadRules) -> Vec<Domain> {
    let cache = releases::caches(rules, &machine.topology, values.mc);
    let mut domains = domains::build(&machine.topology, releases::templates(rules), &cache);
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
        self.loads.set(cpu, system.now(), load_of(system, cpu));
        for (domain, counts) in self.domains.iter().zip(&mut self.runnable) {
            counts[domain.instance(cpu)] += 1;
        }
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
        self.loads.set(cpu, system.now(), load_of(system, cpu));
        for (domain, counts) in self.domains.iter().zip(&mut self.runnable) {
            let count = &mut counts[domain.instance(cpu)];
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests;
