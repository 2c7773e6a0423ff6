//! `ULE`: placement and balancing of FreeBSD: the last cpu or an idle one, a long-term balancer about once a
//! second, idle steals.
//!
//! Sources: sys/kern/sched_ule.c of FreeBSD 7.3 ([`longest`]) and 14 ([`nearest`]); the rules are those of
//! the kernel ([`UleRules`]). Priorities are not seen: a thread "could run now" on an idle cpu only, and the
//! cpu with the lowest priority is the one with the fewest threads.

mod longest;
mod nearest;

use notation::declare::Duration;
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::{Division, Level as Tree, Machine, PerCpu};
use sim_core::policy::{CpuChoice, Placement, Policy, System, Timer, View, Why};
use sim_core::rng::Purpose;
use sim_core::time::Span;

use crate::domain_level::DomainLevel;
use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::queues::Queues;
use crate::spread::Draws;
use kernels::{Balances, Places, Steals, UleRules};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "ULE",
    summary: "FreeBSD's placement and balancing: idle cpus first, one move about every second, idle cpus \
        steal",
    source: "FreeBSD 7.3 and 14, sys/kern/sched_ule.c",
    level: Level::InKernel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("ule.md"),
    wins: Showcase {
        scenario: "odd_thread",
        label: "ULE",
        against: "LGROUP",
        app: "ep",
        point: "kernel=freebsd-7",
    },
    loses: Showcase {
        scenario: "odd_thread",
        label: "ULE",
        against: "DWRR",
        app: "ep",
        point: "kernel=freebsd-7",
    },
    build: &|values, setting| Box::new(Ule::new(&values.into(), setting)),
};

parameters! {
    /// Parameters of `ULE`.
    struct Parameters {
        /// Mean time between passes of the long-term balancer. The time to each pass is drawn from half to
        /// one and a half of it (balance_interval).
        interval: Duration = s(1), in ms(1)..=s(1000);
        /// Whether the long-term balancer runs (kern.sched.balance).
        balance: bool = true;
        /// Whether idle cpus steal (kern.sched.steal_idle).
        steal: bool = true;
        /// Time per cache level during which a thread keeps its affinity (kern.sched.affinity, 1 ms): twice
        /// this time for its cpu, three times for its cache. It acts with `places: nearest`.
        affinity: Duration = ms(1), in 0..=s(1);
    }
}

/// Timer tokens: the long-term balancer over all cpus, and the one within cores.
const ALL: u64 = 0;
const SIBLINGS: u64 = 1;

struct Ule {
    rules: UleRules,
    interval: Span,
    balance: bool,
    steal: bool,
    threshold: u32,
    affinity: Span,
    /// Cpus per group, nearest level first, the machine last.
    spans: Vec<Division>,
    /// Cpus per core.
    cores: Division,
    queues: Queues,
    /// Idle cpus that look again at their next tick.
    looking: PerCpu<bool>,
    draws: Option<Draws>,
    waiting: Vec<TaskId>,
}

impl Ule {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        let machine = setting.machine;
        // Under the kernel of another system ULE has the defaults, those of FreeBSD 7.
        let otherwise = || UleRules::from(&Values::defaults(UleRules::TABLE));
        let rules = UleRules::of(&setting.kernel.balancer).unwrap_or_else(otherwise);
        let threshold = match rules.steal_threshold {
            0 => u64::from(machine.cpus().max(1).ilog2()).min(3),
            set => set,
        };
        Self {
            rules,
            interval: Span::from_ns(values.interval.ns()),
            balance: values.balance,
            steal: values.steal,
            threshold: u32::try_from(threshold).unwrap_or(u32::MAX).max(2),
            affinity: Span::from_ns(values.affinity.ns()),
            spans: spans(machine),
            cores: machine.topology.division(Tree::Core),
            queues: Queues::by(machine.cpus(), machine.topology.last_caches(machine.memory.shared_cache > 0)),
            looking: PerCpu::filled(machine.cpus() as usize, false),
            draws: None,
            waiting: Vec::new(),
        }
    }

    fn draw(&mut self, view: &dyn View, below: u64) -> u64 {
        let draws = self.draws.get_or_insert_with(|| Draws::new(view.seed(), Purpose::Policy, 0));
        draws.below(below)
    }

    fn arm(&mut self, system: &mut dyn System, token: u64) {
        if self.balance && !self.spans.is_empty() {
            let late = self.draw(system, self.interval.ns());
            let at = system.now().saturating_add(Span::from_ns(self.interval.ns() / 2 + late));
            system.at(at, Timer::Token(token));
        }
    }

    /// Moves a waiting thread of `from` that may go to `to`: the second in the queue, or the only one
    /// (`runq_steal_from` passes over the first).
    fn take(&mut self, system: &mut dyn System, from: CpuId, to: CpuId, why: Why) -> bool {
        let mut waiting = std::mem::take(&mut self.waiting);
        system.queued(from, usize::MAX, &mut waiting);
        let mut movable = waiting.iter().rev().copied().filter(|task| system.allowed(*task, to));
        let first = movable.next();
        let task = movable.next().or(first);
        self.waiting = waiting;
        let Some(task) = task else { return false };
        let (there, here) = (system.nr_running(from).into(), system.nr_running(to).into());
        system.migrate(task, to, why.with("threads there", there).with("threads here", here))
    }
}

impl Policy for Ule {
    fn init(&mut self, system: &mut dyn System) {
        self.arm(system, ALL);
        if self.rules.balances == Balances::Pair && self.cores.largest() > 1 {
            self.arm(system, SIBLINGS);
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let (previous, waker) = match placement {
            Placement::Fork { parent } => (parent, None),
            Placement::Wake { waker, previous } => (previous, Some(waker)),
        };
        if self.rules.places == Places::Nearest {
            self.pick_nearest(view, task, previous, waker)
        } else {
            self.pick_lowest_idle(view, task, previous)
        }
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        if !self.steal || self.queues.overloaded() == 0 {
            return;
        }
        if self.rules.steals == Steals::Nearest {
            self.steal_near(system, cpu);
        } else {
            self.steal_longest(system, cpu);
            self.look_again(system, cpu);
        }
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        if let Timer::Tick(cpu) = timer {
            self.looking[cpu] = false;
            if system.nr_running(cpu) == 0 {
                self.steal_longest(system, cpu);
                self.look_again(system, cpu);
            }
        }
        let Timer::Token(token) = timer else { return };
        if self.rules.balances == Balances::All {
            self.balance_all(system);
        } else if token == SIBLINGS {
            self.balance_siblings(system);
        } else {
            self.balance_pair(system);
        }
        self.arm(system, token);
    }

    fn runnable(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
        let least = if self.cores.largest() > 1 { 2 } else { self.threshold };
        let looks = self.steal && self.rules.steals == Steals::Longest;
        if looks && self.queues.idle() > 0 && system.nr_running(cpu) >= least {
            let cpus = system.machine().cpus();
            let mut next = self.queues.first_at_most(0..cpus, 0);
            while let Some(idle) = next {
                self.look_again(system, idle);
                next = self.queues.first_at_most(idle.0 + 1..cpus, 0);
            }
        }
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.queues.note(system, cpu);
    }
}

/// The groups an idle cpu searches, nearest first: core, shared cache, package or node, machine.
fn spans(machine: &Machine) -> Vec<Division> {
    let topology = &machine.topology;
    let mut spans =
        vec![topology.division(Tree::Core), machine.topology.last_caches(machine.memory.shared_cache > 0)];
    spans.extend([Tree::Package, Tree::Node].map(|level| topology.division(level)));
    spans.push(Division::equal(topology.cpus(), topology.cpus()));
    spans.sort_by_key(Division::largest);
    spans.dedup();
    spans.retain(|span| span.largest() > 1);
    spans
}

/// The levels as data for people.
pub(crate) fn levels(machine: &Machine) -> Vec<DomainLevel> {
    let mut below = 1;
    let level = |span: u32| {
        let group = std::mem::replace(&mut below, span);
        DomainLevel {
            name: if span == machine.cpus() { "TOP" } else { "GROUP" },
            span,
            groups: span / group,
            group_cpus: group,
            power: 1024 * u64::from(group),
            min_interval_ms: if span == machine.cpus() { 500 } else { 0 },
            max_interval_ms: if span == machine.cpus() { 1_500 } else { 0 },
            busy_factor: 1,
            imbalance_pct: 100,
            flags: vec!["IDLE_STEAL"],
        }
    };
    spans(machine).iter().map(Division::largest).map(level).collect()
}

#[cfg(test)]
mod tests;
