//! `ULE`: placement and balancing of FreeBSD: recent cpu, least loaded cpu, a long-term balancer about once a second, idle steals.
//!
//! Source: sys/kern/sched_ule.c of FreeBSD 12 (`sched_pickcpu`, `sched_balance`, `tdq_idled`); that 7.x did the same in
//! every detail is uncertain. Priorities are not seen: a thread "could run now" on an idle cpu only.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::{CpuSet, Level as Tree, Machine};
use sim_core::policy::{Placement, Policy, System, View};
use sim_core::rng::Purpose;
use sim_core::time::Span;

use crate::domains::DomainLevel;
use crate::queues::Queues;
use crate::registry::{Entry, Level, Setting, Showcase};
use crate::spread::{Draws, first_allowed};

/// Its place on the shelf.
pub(crate) const ENTRY: Entry = Entry {
    name: "ULE",
    summary: "FreeBSD's placement and balancing: recent cpu, least loaded cpu, one pass about every second, idle steals",
    source: "FreeBSD 12, sys/kern/sched_ule.c (7.x alike, details uncertain)",
    level: Level::Kernel,
    parameters: PARAMETERS,
    about: "A thread goes back to its last cpu when that is idle and it ran there a moment ago; else to an idle cpu that \
shares the cache, else to the least loaded cpu of the machine, ties broken at random; when nothing is idle a woken thread \
prefers its waker's cpu if that is not longer by more than one.\n\n\
A cpu that goes idle steals one thread from the most loaded queue, nearest level first, if that queue has at least \
`steal_threshold` threads. Once every half to one and a half intervals, at random, a long-term balancer goes over the \
machine: the longest queue gives one thread to the shortest, and so on down; a receiver gives nothing in the same pass.\n\n\
So an odd thread moves about once a second: fair over seconds, not over the intervals of a program with barriers. It is \
the kernel policy of freebsd-7; with another kernel it is an experiment.",
    sees: "Run-queue lengths, whether a cpu is idle, masks, the last cpu of a task and the cache tree. The periodic balancer runs on one cpu and looks at all.",
    costs: "The balancer's pass is part of that cpu's tick; a move costs the migration on the receiving cpu and an interrupt when the task runs.",
    wins: Showcase { scenario: "", label: "ULE", against: "", app: "all", point: "", about: "" },
    loses: Showcase { scenario: "", label: "ULE", against: "", app: "all", point: "", about: "" },
    build: |values, setting| Box::new(Ule::new(values, setting)),
    example: "Three threads that never sleep, two cpus: two share cpu 0, one has cpu 1. A pass of the long-term balancer finds \
2 against 1 and moves one thread from the longer to the shorter queue; the next pass, 0.5 to 1.5 s later, finds \
the same the other way round. In 12 s there are about 12 passes, and each thread gets about 8 s of cpu: 2/3. \
Within one second, though, two threads run at 1/2 and one at full speed, so a program with barriers every \
millisecond advances at 1/2 all the time.",
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "interval",
        kind: Kind::Duration,
        default: 1_000_000_000,
        min: 1_000_000,
        max: 1_000_000_000_000,
        about: "Mean time between passes of the long-term balancer, drawn from half to one and a half of it (balance_interval).",
    },
    Parameter {
        name: "balance",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        about: "The long-term balancer (kern.sched.balance).",
    },
    Parameter {
        name: "steal",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        about: "Idle cpus steal (kern.sched.steal_idle).",
    },
    Parameter {
        name: "steal_threshold",
        kind: Kind::Count,
        default: 2,
        min: 2,
        max: 1_000,
        about: "Threads a queue must have to be stolen from (kern.sched.steal_thresh).",
    },
    Parameter {
        name: "affinity",
        kind: Kind::Duration,
        default: 1_000_000,
        min: 0,
        max: 1_000_000_000,
        about: "Time per cache level for which a thread counts as at home there: twice for its cpu, three times for its cache (kern.sched.affinity, 1 ms).",
    },
];

/// Weight of a thread in the comparison of queues, of the preferred cpu, and the range of the random part (`cpu_search`).
const THREAD: u64 = 256;
const PREFERRED: u64 = 64;
const NOISE: u64 = 32;

struct Ule {
    interval: Span,
    balance: bool,
    steal: bool,
    threshold: u32,
    affinity: Span,
    /// Cpus per group, nearest level first, the machine last.
    spans: Vec<u32>,
    cache: u32,
    queues: Queues,
    draws: Option<Draws>,
    waiting: Vec<TaskId>,
}

impl Ule {
    fn new(values: &Values, setting: &Setting<'_>) -> Self {
        let machine = setting.machine;
        let cache = crate::modern::cache_span(machine);
        Self {
            interval: Span::from_ns(values.get("interval")),
            balance: values.flag("balance"),
            steal: values.flag("steal"),
            threshold: u32::try_from(values.get("steal_threshold")).unwrap_or(u32::MAX),
            affinity: Span::from_ns(values.get("affinity")),
            spans: spans(machine),
            cache,
            queues: Queues::new(machine.cpus(), cache),
            draws: None,
            waiting: Vec::new(),
        }
    }

    fn draw(&mut self, view: &dyn View, below: u64) -> u64 {
        let draws = self.draws.get_or_insert_with(|| Draws::new(view.seed(), Purpose::Policy, 0));
        draws.below(below)
    }

    fn arm(&mut self, system: &mut dyn System) {
        if self.balance && !self.spans.is_empty() {
            let late = self.draw(system, self.interval.ns());
            let at = system.now().saturating_add(Span::from_ns(self.interval.ns() / 2 + late));
            system.at(at, 0);
        }
    }

    /// `sched_pickcpu`.
    fn pick(&mut self, view: &dyn View, task: TaskId, previous: CpuId, waker: Option<CpuId>) -> CpuId {
        let idle = |cpu: CpuId| view.nr_running(cpu) == 0 && view.allowed(task, cpu);
        // A forked thread counts as having run where its parent runs.
        let away = if waker.is_none() { Span::ZERO } else { view.now().since(view.task(task).last_ran) };
        if away <= self.affinity * 2 && idle(previous) {
            return previous;
        }
        let group = self.queues.group(previous);
        if away <= self.affinity * 3 && self.queues.idle_in(group) > 0 {
            let first = group * self.cache;
            let near = first..(first + self.cache).min(view.machine().cpus());
            if let Some(cpu) = self.lowest(view, near, previous, idle) {
                return cpu;
            }
        }
        let all = 0..view.machine().cpus();
        let Some(lowest) = self.lowest(view, all, previous, |cpu| view.allowed(task, cpu)) else {
            return first_allowed(view, task);
        };
        let load = view.nr_running(lowest);
        match waker {
            Some(waker) if load > 0 && view.allowed(task, waker) && view.nr_running(waker) <= load + 1 => {
                waker
            }
            _ => lowest,
        }
    }

    /// The least loaded cpu that will do; a thread weighs more than any preference, ties fall at random.
    fn lowest(
        &mut self,
        view: &dyn View,
        cpus: std::ops::Range<u32>,
        preferred: CpuId,
        fits: impl Fn(CpuId) -> bool,
    ) -> Option<CpuId> {
        let mut best: Option<(u64, CpuId)> = None;
        for cpu in cpus.map(CpuId).filter(|cpu| fits(*cpu)) {
            let load = THREAD * (1 + u64::from(view.nr_running(cpu))) + self.draw(view, NOISE);
            let load = if cpu == preferred { load - PREFERRED } else { load };
            if best.is_none_or(|(least, _)| load < least) {
                best = Some((load, cpu));
            }
        }
        best.map(|(_, cpu)| cpu)
    }

    /// The most loaded cpu of a group with at least `least` threads, not among `done`.
    fn highest(view: &dyn View, cpus: std::ops::Range<u32>, least: u32, done: &CpuSet) -> Option<CpuId> {
        let candidates = cpus.map(CpuId).filter(|cpu| view.nr_running(*cpu) >= least && !done.contains(*cpu));
        candidates.max_by_key(|cpu| (view.nr_running(*cpu), std::cmp::Reverse(cpu.0)))
    }

    /// Moves the first waiting thread of `from` that may go to `to`.
    fn take(&mut self, system: &mut dyn System, from: CpuId, to: CpuId) -> bool {
        let mut waiting = std::mem::take(&mut self.waiting);
        system.queued(from, &mut waiting);
        let task = waiting.iter().rev().copied().find(|task| system.allowed(*task, to));
        self.waiting = waiting;
        task.is_some_and(|task| system.migrate(task, to))
    }
}

impl Policy for Ule {
    fn init(&mut self, system: &mut dyn System) {
        self.arm(system);
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, why: Placement) -> CpuId {
        match why {
            Placement::Fork { parent } => self.pick(view, task, parent, None),
            Placement::Wake { waker, previous } => self.pick(view, task, previous, Some(waker)),
        }
    }

    /// `tdq_idled`.
    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        if !self.steal || self.queues.crowded() == 0 {
            return;
        }
        let mut done = CpuSet::default();
        for level in 0..self.spans.len() {
            let start = cpu.0 / self.spans[level] * self.spans[level];
            let group = start..(start + self.spans[level]).min(system.machine().cpus());
            while let Some(victim) = Self::highest(system, group.clone(), self.threshold, &done) {
                if self.take(system, victim, cpu) {
                    return;
                }
                done.insert(victim);
            }
        }
    }

    /// `sched_balance_group` over the machine.
    fn timer(&mut self, system: &mut dyn System, _: u64) {
        let all = 0..system.machine().cpus();
        let mut done = CpuSet::default();
        while let Some(high) = Self::highest(system, all.clone(), 2, &done) {
            done.insert(high);
            let most = system.nr_running(high);
            let view: &dyn View = system;
            let lowest = self
                .lowest(view, all.clone(), high, |cpu| !done.contains(cpu) && view.nr_running(cpu) < most);
            let Some(low) = lowest else {
                break;
            };
            if self.take(system, high, low) {
                done.insert(low);
            }
        }
        self.arm(system);
    }

    fn runnable(&mut self, view: &dyn View, _: TaskId, cpu: CpuId) {
        self.queues.note(view, cpu);
    }

    fn quiescent(&mut self, view: &dyn View, _: TaskId, cpu: CpuId) {
        self.queues.note(view, cpu);
    }
}

/// The groups an idle cpu searches, nearest first: core, shared cache, package or node, machine.
fn spans(machine: &Machine) -> Vec<u32> {
    let topology = &machine.topology;
    let mut spans = vec![topology.span(Tree::Core), crate::modern::cache_span(machine)];
    spans.extend([topology.span(Tree::Package), topology.span(Tree::Node), topology.cpus()]);
    spans.sort_unstable();
    spans.dedup();
    spans.retain(|span| *span > 1);
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
    spans(machine).into_iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeSystem;
    use sim_core::policy::{Affinity, TaskState};
    use sim_core::time::Time;

    const SOCKETS: [(Tree, u32); 3] = [(Tree::Package, 2), (Tree::Cache, 1), (Tree::Core, 4)];

    fn steady(counts: &[u32]) -> (FakeSystem, Ule) {
        let mut system = FakeSystem::new(&SOCKETS);
        let setting = Setting { machine: &system.machine, kernel: &system.kernel, apps: &[] };
        let mut policy = Ule::new(&Values::defaults(PARAMETERS), &setting);
        system.fill(&mut policy, counts);
        system.now = Time::from_ns(10_000_000_000);
        (system, policy)
    }

    #[test]
    fn the_long_term_balancer_comes_every_half_to_one_and_a_half_seconds() {
        let (mut system, mut policy) = steady(&[0; 8]);
        policy.init(&mut system);
        for i in 0..200 {
            system.now = system.timers[i].0;
            policy.timer(&mut system, 0);
        }
        let gaps: Vec<u64> =
            system.timers.windows(2).map(|w| w[1].0.since(w[0].0).ns() / 1_000_000).collect();
        assert!(gaps.iter().all(|gap| (500..1_500).contains(gap)), "{gaps:?}");
        assert!(gaps.iter().any(|gap| *gap < 600) && gaps.iter().any(|gap| *gap > 1_400));
    }

    #[test]
    fn a_pass_moves_one_thread_per_long_queue_and_even_an_odd_one() {
        let (mut system, mut policy) = steady(&[1, 1, 1, 2, 1, 1, 1, 1]);
        policy.timer(&mut system, 0);
        assert_eq!(system.moves.len(), 1, "the odd thread moves");
        let (mut system, mut policy) = steady(&[5, 1, 1, 3, 1, 1, 1, 1]);
        policy.timer(&mut system, 0);
        assert_eq!(system.moves.len(), 2, "one thread from each");
        assert_eq!(&system.counts()[..1], [4]);
        let (mut system, mut policy) = steady(&[1; 8]);
        policy.timer(&mut system, 0);
        assert!(system.moves.is_empty());
    }

    #[test]
    fn an_idle_cpu_steals_from_the_nearest_queue_of_two() {
        let (mut system, mut policy) = steady(&[1, 2, 1, 1, 6, 1, 1, 1]);
        system.leave(&mut policy, TaskId(0), TaskState::Exited);
        policy.idle(&mut system, CpuId(0));
        assert_eq!(system.counts(), [1, 1, 1, 1, 6, 1, 1, 1]);
        let (mut system, mut policy) = steady(&[1, 1, 1, 1, 3, 2, 1, 1]);
        system.leave(&mut policy, TaskId(0), TaskState::Exited);
        policy.idle(&mut system, CpuId(0));
        assert_eq!(system.counts(), [1, 1, 1, 1, 2, 2, 1, 1], "the most loaded one further away");
    }

    #[test]
    fn threads_go_to_idle_cpus_near_first_and_may_be_pinned() {
        let wake = |counts: &[u32], ran_ms_ago: u64| {
            let (mut system, mut policy) = steady(counts);
            let task = TaskId(system.tasks.len() as u32);
            system.add_app(1, false);
            system.tasks[task.0 as usize].view.last_ran =
                Time::from_ns(system.now.ns() - ran_ms_ago * 1_000_000);
            policy.pick(&system, task, CpuId(1), Some(CpuId(5))).0
        };
        assert_eq!(wake(&[1, 0, 0, 0, 0, 0, 0, 0], 1), 1);
        assert_eq!(wake(&[1, 1, 1, 0, 0, 0, 0, 0], 1), 3, "its cache is warm: stays in the group");
        assert_eq!(wake(&[1, 1, 1, 1, 1, 1, 1, 0], 1), 7);
        assert_eq!(wake(&[1, 1, 1, 1, 1, 1, 1, 1], 1), 5, "nothing is idle: the waker's");
        assert_eq!(wake(&[1, 1, 1, 1, 1, 4, 1, 1], 1), 1, "unless it is longer by more than one");
        let (mut system, mut policy) = steady(&[0; 8]);
        system.add_app(1, false);
        system.tasks[0].affinity = Affinity::One(CpuId(6));
        assert_eq!(policy.select_cpu(&system, TaskId(0), Placement::Fork { parent: CpuId(0) }), CpuId(6));
    }
}
