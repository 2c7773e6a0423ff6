//! `RUSTY`: a queue of virtual time for each cache, and a balancer between them, in the manner of scx_rusty.

use std::collections::BTreeSet;

use notation::declare::Duration;
use notation::parameters;
use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::Division;
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, Timer, View, Why};
use sim_core::time::Span;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::ordering::queue::{DispatchQueue, FILL, Servers};
use crate::ordering::{LEAST_SLICE, SCX_SLICE, Used, slot};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "RUSTY",
    summary: "a queue of virtual time for each last-level cache, and a central balancer that moves tasks \
        between them",
    source: "scx_rusty of https://github.com/sched-ext/scx, in outline: dispatch queue per domain, load \
        balancer, greedy idle cpus",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("rusty.md"),
    wins: Showcase { scenario: "urgent_and_bulk", label: "RUSTY", against: "FIFO", app: "urgent", point: "" },
    loses: Showcase { scenario: "one_queue_or_many", label: "RUSTY", against: "VTIME", app: "ep", point: "" },
    build: &|values, setting| Box::new(Rusty::new(&values.into(), setting)),
};

parameters! {
    /// Parameters of `RUSTY`.
    struct Parameters {
        /// How long a task runs, up to the next timer tick (slice_us_overutil and -underutil: 20 ms).
        slice: Duration = SCX_SLICE, in LEAST_SLICE..=s(1000);
        /// Time between passes of the balancer (option -i of scx_rusty, 2 s).
        interval: Duration = s(2), in ms(1)..=s(1000);
        /// Whether a cpu without tasks in its own domain takes one of another (option -g).
        greedy: bool = true;
    }
}

struct Rusty {
    slice: Span,
    interval: Span,
    greedy: bool,
    /// Cpus per domain.
    caches: Division,
    servers: Servers,
    domains: Vec<Domain>,
    /// The domain of the last created task that found no idle cpu (`dom_rr_cur`).
    next: usize,
    /// The domain of each task and its virtual time there.
    tasks: Vec<(u32, i64)>,
    used: Used,
}

/// The cpus of a last-level cache.
#[derive(Default)]
struct Domain {
    queue: DispatchQueue,
    /// The largest virtual time with which a task has begun to run.
    now: i64,
}

impl Rusty {
    fn new(values: &Parameters, setting: &Setting<'_>) -> Self {
        let caches = setting.machine.topology.last_caches(setting.machine.memory.shared_cache > 0);
        let cpus = setting.machine.cpus();
        let reach = if values.greedy { Division::equal(cpus, cpus) } else { caches.clone() };
        Self {
            slice: Span::from_ns(values.slice.ns()),
            interval: Span::from_ns(values.interval.ns()),
            greedy: values.greedy,
            servers: Servers::new(setting.machine, caches.clone()).within(reach),
            domains: (0..caches.count()).map(|_| Domain::default()).collect(),
            caches,
            next: 0,
            tasks: Vec::new(),
            used: Used::default(),
        }
    }

    /// The virtual time of a task in the domain of a cpu: one that comes from another domain keeps its
    /// distance to the clock there.
    fn enter(&mut self, task: TaskId, cpu: CpuId) -> i64 {
        let (domain, slice) = (self.caches.part(cpu), self.slice.ns() as i64);
        let (from, vtime) = *slot(&mut self.tasks, task);
        let now = self.domains[domain as usize].now;
        let vtime = (vtime - self.domains[from as usize].now + now).max(now - slice);
        *slot(&mut self.tasks, task) = (domain, vtime);
        vtime
    }

    /// The cpus of a domain.
    fn cpus(&self, domain: usize) -> impl Iterator<Item = CpuId> + use<> {
        self.caches.members(domain as u32).map(CpuId)
    }

    /// Gives idle cpus held tasks: of their own domain, or of any.
    fn fill(&mut self, system: &mut dyn System) {
        loop {
            let held = self.domains.iter().flat_map(|domain| domain.queue.tasks().map(|(_, task)| task));
            let Some((_, cpu)) = self.servers.fill(system, held) else { return };
            self.dispatch(system, cpu);
            self.servers.note(system, cpu);
        }
    }

    /// Moves held tasks, each from the domain with the most load to the one with the least, as long as that
    /// makes loads more equal.
    fn balance(&mut self, system: &mut dyn System) {
        let load = |domain| self.cpus(domain).map(|cpu| system.load(cpu)).sum();
        let mut loads: Vec<u64> = (0..self.domains.len()).map(load).collect();
        let mut moved = BTreeSet::new();
        loop {
            let most = (0..loads.len()).max_by_key(|at| loads[*at]).unwrap_or(0);
            let least = (0..loads.len()).min_by_key(|at| loads[*at]).unwrap_or(0);
            let fitting = self.domains[most].queue.tasks().find_map(|(_, task)| {
                let weight = u64::from(system.task(task).weight);
                let better = loads[most] > loads[least] + weight && !moved.contains(&task);
                let mut cpus = self.cpus(least).filter(|_| better);
                cpus.find(|cpu| system.allowed(task, *cpu)).map(|cpu| (task, weight, cpu))
            });
            let Some((task, weight, cpu)) = fitting else { return };
            let why = Why::rule("balanced: from the domain with the most load to the one with the least");
            system.migrate(task, cpu, why.with("most", loads[most]).with("least", loads[least]));
            moved.insert(task);
            loads[most] -= weight;
            loads[least] += weight;
        }
    }
}

impl Policy for Rusty {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn init(&mut self, system: &mut dyn System) {
        system.at(system.now() + self.interval, Timer::Token(0));
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let choice = self.servers.place(view, task, placement, None);
        if self.servers.sends(task) || !matches!(placement, Placement::Fork { .. }) {
            return choice;
        }
        // A created task that finds no idle cpu waits in the next domain.
        self.next = (self.next + 1) % self.domains.len();
        let cpu = self.cpus(self.next).find(|cpu| view.allowed(task, *cpu));
        cpu.map_or(choice, |cpu| CpuChoice::new(cpu, Why::rule("placed: no cpu is idle, the next domain")))
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let vtime = self.enter(task, cpu);
        if self.servers.takes(task, cpu) {
            return Some(QueueEntry::new(vtime, self.slice));
        }
        let queue = &mut self.domains[self.caches.part(cpu) as usize].queue;
        self.servers.went_back(system, task, why, !queue.is_empty());
        queue.hold(vtime, task);
        None
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let (own, domains, slice) = (self.caches.part(cpu) as usize, self.domains.len(), self.slice);
        let why = Why::rule("dispatched: the least virtual time of the domain");
        let mut found = self.domains[own].queue.dispatch(system, cpu, why, |_| slice);
        for other in (1..domains).take_while(|_| self.greedy) {
            let queue = &mut self.domains[(own + other) % domains].queue;
            found = found || queue.dispatch(system, cpu, Why::rule("taken from another domain"), |_| slice);
        }
    }

    fn running(&mut self, _: &mut dyn System, task: TaskId, _: CpuId) {
        let (domain, vtime) = *slot(&mut self.tasks, task);
        let now = &mut self.domains[domain as usize].now;
        *now = (*now).max(vtime);
    }

    fn stopping(&mut self, system: &mut dyn System, task: TaskId, _: CpuId) {
        let (used, weight) = (self.used.since(system, task), system.task(task).weight);
        slot(&mut self.tasks, task).1 += (u128::from(used.ns()) * 1024 / u128::from(weight)) as i64;
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        if timer == FILL {
            return self.fill(system);
        }
        self.balance(system);
        system.at(system.now() + self.interval, Timer::Token(0));
    }

    fn runnable(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
        let (from, to) = (slot(&mut self.tasks, task).0 as usize, self.caches.part(cpu) as usize);
        if from != to && system.task(task).held && self.domains[from].queue.remove(task) {
            let vtime = self.enter(task, cpu);
            self.domains[to].queue.hold(vtime, task);
        }
    }

    fn quiescent(&mut self, system: &mut dyn System, _: TaskId, cpu: CpuId) {
        self.servers.note(system, cpu);
    }
}
