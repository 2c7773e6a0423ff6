//! The balancers of one application: what they know of its cores and threads, and how they pull.

use std::collections::BTreeSet;

use sim_core::ids::{AppId, CpuId, Id, TaskId};
use sim_core::machine::{Distance, Machine};
use sim_core::policy::{Affinity, System, TaskState, View, Why};
use sim_core::rng::Purpose;

use super::{FULL, Measure, Speed, thousandths};
use crate::measure::{Gauge, Reading, deal, speed};
use crate::spread::{Draws, allowed_cpus};

/// One balancer per core, and the threads they share.
pub(super) struct Balancers {
    cores: Vec<Core>,
    threads: Vec<Thread>,
    /// Positions of the cores of each node.
    nodes: Vec<Vec<usize>>,
    /// The sum of all published speeds.
    speeds: u64,
    /// Speeds and positions of all cores, slowest first; kept where cores of all nodes are looked at.
    order: BTreeSet<(u64, usize)>,
    /// Ties and jitter.
    pub(super) draws: Draws,
}

struct Core {
    cpu: CpuId,
    /// As last published.
    speed: u64,
    /// Its own looks until it may pull or be pulled from again.
    rest: u64,
    /// Looks so far.
    rounds: u64,
    /// Its threads, in order.
    threads: Vec<usize>,
}

struct Thread {
    gauge: Gauge,
    /// Position of its core.
    core: usize,
    migrations: u32,
}

/// How often a core at this distance is considered: every 2^n-th look.
pub(super) fn level_of(machine: &Machine, a: CpuId, b: CpuId) -> u32 {
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

impl Speed {
    const fn reading(&self) -> Reading {
        match self.measure {
            Measure::Share | Measure::Queue => Reading::CpuTime,
            Measure::Progress => Reading::Work,
        }
    }

    /// True when a thread counts for the speed of its core and may be pulled.
    fn counts(&self, view: &dyn View, thread: &Thread) -> bool {
        match view.task(thread.gauge.task).state {
            TaskState::Exited => false,
            TaskState::Sleeping => !self.skip_sleepers,
            _ => true,
        }
    }
}

impl Balancers {
    /// Deals the threads of an application round the cores it may use.
    pub(super) fn start(policy: &Speed, system: &mut dyn System, app: AppId) -> Self {
        let view = system.app(app);
        let cpus = allowed_cpus(system, TaskId(view.tasks.start));
        let dealt = deal(system.machine(), &cpus, view.tasks.len());
        let thread = |(task, core)| Thread { gauge: Gauge::new(task), core, migrations: 0 };
        let threads: Vec<Thread> = view.task_ids().zip(dealt).map(thread).collect();
        for thread in &threads {
            let why = Why::rule("bound at start: threads are spread round-robin over the cores")
                .with("threads", threads.len() as u64)
                .with("cores", cpus.len() as u64);
            system.set_affinity(thread.gauge.task, Affinity::One(cpus[thread.core]), why);
        }
        let core = |cpu| Core { cpu, speed: FULL, rest: 0, rounds: 0, threads: Vec::new() };
        let draws = Draws::new(system.seed(), Purpose::Policy, u64::from(app.0));
        let mut cores: Vec<Core> = cpus.into_iter().map(core).collect();
        for (number, thread) in threads.iter().enumerate() {
            cores[thread.core].threads.push(number);
        }
        let mut nodes = Vec::new();
        for (at, core) in cores.iter().enumerate() {
            let node = system.machine().node_of(core.cpu).index();
            if node >= nodes.len() {
                nodes.resize_with(node + 1, Vec::new);
            }
            nodes[node].push(at);
        }
        let all = (0..cores.len()).filter(|_| policy.cross_nodes);
        let order = all.map(|at| (FULL, at)).collect();
        Self { speeds: FULL * cores.len() as u64, cores, threads, nodes, order, draws }
    }

    /// All threads exist: measuring begins.
    pub(super) fn begin(&mut self, speed: &Speed, system: &mut dyn System) {
        for thread in &mut self.threads {
            thread.gauge.look(system, speed.reading());
        }
    }

    pub(super) const fn cores(&self) -> usize {
        self.cores.len()
    }

    pub(super) fn cpu(&self, core: usize) -> CpuId {
        self.cores[core].cpu
    }

    /// The mean speed of all cores, as published.
    pub(super) const fn global(&self) -> u64 {
        self.speeds / if self.cores.is_empty() { 1 } else { self.cores.len() as u64 }
    }

    /// A core publishes its speed.
    fn publish(&mut self, core: usize, speed: u64) {
        let before = std::mem::replace(&mut self.cores[core].speed, speed);
        self.speeds = self.speeds - before + speed;
        if before != speed && self.order.remove(&(before, core)) {
            self.order.insert((speed, core));
        }
    }

    /// Measures the threads of a core and publishes its speed: the mean over those that count, 1 without any.
    pub(super) fn measure(&mut self, policy: &Speed, system: &mut dyn System, core: usize) {
        let (mut sum, mut count) = (0u64, 0);
        for number in &self.cores[core].threads {
            let thread = &mut self.threads[*number];
            let (gained, real) = thread.gauge.look(system, policy.reading());
            if let Some(speed) = speed(gained, real).filter(|_| policy.counts(system, thread)) {
                sum += speed;
                count += 1;
            }
        }
        let cpu = self.cores[core].cpu;
        let mean = match policy.measure {
            Measure::Queue => Some(FULL / u64::from(system.nr_running(cpu).max(1))),
            _ => sum.checked_div(count),
        };
        self.publish(core, mean.unwrap_or(FULL));
        self.cores[core].rounds += 1;
        self.cores[core].rest = self.cores[core].rest.saturating_sub(1);
    }

    /// True for a core that is faster than all on the mean and does not rest.
    pub(super) fn may_pull(&self, me: usize, global: u64) -> bool {
        self.cores[me].speed > global && self.cores[me].rest == 0
    }

    /// The slowest cores that may be pulled from, all of the same speed: those of its node, or of all.
    pub(super) fn slowest(&self, policy: &Speed, view: &dyn View, me: usize, global: u64) -> Vec<usize> {
        let limit = global * policy.threshold;
        let mut best: Vec<usize> = Vec::new();
        let least = |best: &[usize]| best.first().map_or(u64::MAX, |b| self.cores[*b].speed);
        if policy.cross_nodes {
            // Slowest first, those of the same speed in order.
            let slow = self.order.iter().take_while(|(speed, _)| speed * 10_000 < limit);
            for (speed, at) in slow.copied() {
                if speed > least(&best) {
                    break;
                }
                if self.may_give(policy, view, me, at) {
                    best.push(at);
                }
            }
            return best;
        }
        let node = view.machine().node_of(self.cores[me].cpu).index();
        for at in self.nodes.get(node).into_iter().flatten().copied() {
            let speed = self.cores[at].speed;
            if speed * 10_000 >= limit || speed > least(&best) || !self.may_give(policy, view, me, at) {
                continue;
            }
            if speed < least(&best) {
                best.clear();
            }
            best.push(at);
        }
        best
    }

    /// True when a core is considered at this look of `me`, does not rest, and has a thread that counts.
    fn may_give(&self, policy: &Speed, view: &dyn View, me: usize, at: usize) -> bool {
        let (core, mine) = (&self.cores[at], &self.cores[me]);
        let due = || mine.rounds.is_multiple_of(1 << level_of(view.machine(), core.cpu, mine.cpu));
        let some = || core.threads.iter().any(|t| policy.counts(view, &self.threads[*t]));
        at != me && core.rest == 0 && due() && some()
    }

    /// Takes the least migrated thread of a core to another one (`cores`: to, from); both rest.
    pub(super) fn pull(
        &mut self,
        policy: &Speed,
        system: &mut dyn System,
        cores: (usize, usize),
        global: u64,
    ) {
        let (me, from) = cores;
        let there = self.cores[from].threads.iter().copied();
        let mut candidates: Vec<usize> = there.filter(|t| policy.counts(system, &self.threads[*t])).collect();
        let least = candidates.iter().map(|t| self.threads[*t].migrations).min();
        candidates.retain(|t| Some(self.threads[*t].migrations) == least);
        let Some(victim) = candidates.get(self.draws.below(candidates.len() as u64) as usize) else {
            return;
        };
        let cpu = self.cores[me].cpu;
        let thread = &mut self.threads[*victim];
        let why = Why::rule("pulled: the least migrated thread of the slowest core below the threshold")
            .with("speed here, 1/1000", thousandths(self.cores[me].speed))
            .with("speed there, 1/1000", thousandths(self.cores[from].speed))
            .with("global speed, 1/1000", thousandths(global))
            .with("its migrations so far", u64::from(thread.migrations));
        if system.set_affinity(thread.gauge.task, Affinity::One(cpu), why) {
            thread.core = me;
            thread.migrations += 1;
            thread.gauge.look(system, policy.reading());
            self.cores[from].threads.retain(|other| other != victim);
            let threads = &mut self.cores[me].threads;
            threads.insert(threads.partition_point(|other| other < victim), *victim);
            self.cores[me].rest = policy.block;
            self.cores[from].rest = policy.block;
        }
    }
}
