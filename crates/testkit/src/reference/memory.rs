//! The laws of memory, worked out from scratch from the list of running tasks.

use std::sync::Arc;

use sim_core::ids::{CpuId, NodeId};
use sim_core::machine::{Level, Machine};
use sim_core::program::{MemoryProfile, Pages};

/// One in the fixed-point format of stretches, shares and factors.
pub(super) const ONE: u64 = 1 << 16;
/// The law is tabulated at this many points per unit of rho, up to rho = 8; between them it is linear, beyond
/// it is rho.
const STEPS: u64 = 256;
const REACH: u64 = 8;

/// What a computing task asks of memory.
#[derive(Clone)]
pub(super) struct Job {
    /// Bytes per second at the speed of its cpu, before growth.
    bytes: u64,
    /// Memory-bound share, 1/65,536.
    pub(super) bound: u64,
    /// Node of its own pages; `None` = all are spread.
    node: Option<usize>,
    /// Shares of its own pages by node, 1/65,536, where they are those of its team.
    team: Option<Arc<[u64]>>,
    /// Share of the accesses that are spread over all nodes, 1/65,536.
    shared: u64,
    /// Node, package and cache group of its cpu.
    here: usize,
    package: usize,
    group: usize,
    working_set: u64,
    /// The package whose tasks serve it, when it reads a block of an all-to-all transfer.
    pub(super) server: Option<usize>,
    /// It has nothing to do with memory at all.
    none: bool,
}

impl Job {
    pub(super) const NONE: Self = Self {
        bytes: 0,
        bound: 0,
        node: None,
        team: None,
        shared: 0,
        here: 0,
        package: 0,
        group: 0,
        working_set: 0,
        server: None,
        none: true,
    };
}

/// The memory system.
pub(super) struct RefMemory {
    table: Vec<u64>,
    controllers: Vec<u64>,
    links: Vec<u64>,
    packages: Vec<u64>,
    /// By package, where cores wait for each load: the mean demand of a waiting task, and how many wait at
    /// once in the mean, 1/65,536.
    waiting: Vec<(u64, u64)>,
    servers: Vec<u64>,
    crossbar: u64,
    /// Working sets per cache group.
    sets: Vec<u128>,
}

/// The cpus that share a cache: an instance of the cache level, of the package without one.
pub(super) fn cache_level(machine: &Machine) -> Level {
    let given = machine.topology.levels().iter().any(|(level, _)| *level == Level::Cache);
    if given { Level::Cache } else { Level::Package }
}

/// Time of an access to a node's pages over that of a local one.
pub(super) fn distance(machine: &Machine, here: usize, node: usize) -> u64 {
    let memory = &machine.memory;
    let nodes = machine.nodes() as usize;
    let thousandths = if memory.distances.len() == nodes * nodes {
        memory.distances[here * nodes + node]
    } else if here == node {
        1_000
    } else {
        memory.remote_factor
    };
    (u64::from(thousandths.max(1_000)) << 16) / 1_000
}

/// The mean of that over all nodes, each factor rounded down as a whole.
pub(super) fn mean_distance(machine: &Machine, here: usize) -> u64 {
    let nodes = machine.nodes() as usize;
    (0..nodes).map(|node| distance(machine, here, node)).sum::<u64>() / nodes as u64
}

/// Shares of nodes that hold so many pages, 1/65,536; the sums over the first nodes are rounded down.
pub(super) fn shares(pages: &[u64]) -> Arc<[u64]> {
    let all: u64 = pages.iter().sum();
    let until = |node: usize| pages[..node].iter().sum::<u64>() * ONE / all;
    (0..pages.len()).map(|node| until(node + 1) - until(node)).collect()
}

/// The mean of that over pages in these shares of 1/65,536 by node.
pub(super) fn mean_of(machine: &Machine, here: usize, shares: &[u64]) -> u64 {
    (0..).zip(shares).map(|(node, share)| distance(machine, here, node) * share).sum::<u64>() / ONE
}

/// Node of a task's own pages, if they are on one.
pub(super) fn pages(machine: &Machine, profile: &MemoryProfile, home: u32) -> Option<usize> {
    match profile.pages {
        Pages::FirstTouch | Pages::NextTouch | Pages::Master | Pages::Team => Some(home as usize),
        Pages::Interleaved => None,
        Pages::Node(NodeId(node)) if node < machine.nodes() => Some(node as usize),
        Pages::Node(_) => Some(0),
    }
}

/// Memory-bound share of a profile.
pub(super) fn bound(machine: &Machine, profile: &MemoryProfile) -> u64 {
    if let Some(bound) = profile.bound {
        return u64::from(bound).min(ONE);
    }
    let memory = &machine.memory;
    let full = u128::from(memory.node_bandwidth) * u128::from(memory.bound_demand) / 1_000;
    // Without a limit nothing is memory-bound; with a threshold of zero everything that has a demand is.
    let unlimited = memory.node_bandwidth == 0 || profile.demand == 0;
    match (u128::from(profile.demand) << 16).checked_div(full) {
        Some(share) => share.min(u128::from(ONE)) as u64,
        None if unlimited => 0,
        None => ONE,
    }
}

/// What a profile draws on a core of this speed (raw) that it has for itself.
pub(super) fn draw(machine: &Machine, profile: &MemoryProfile, own: u64) -> u64 {
    let drawn = (u128::from(profile.demand) * u128::from(own)) >> 20;
    drawn.min(u128::from(machine.memory.core_bandwidth)) as u64
}

impl RefMemory {
    pub(super) fn new(machine: &Machine) -> Self {
        let p = f64::from(machine.memory.stretch_exponent.clamp(1, 16));
        let point = |i: u64| {
            let rho = i as f64 / STEPS as f64;
            libm::round(libm::pow(1.0 + libm::pow(rho, p), 1.0 / p) * ONE as f64) as u64
        };
        let nodes = machine.nodes() as usize;
        Self {
            table: (0..=STEPS * REACH).map(point).collect(),
            controllers: vec![ONE; nodes],
            links: vec![ONE; nodes],
            packages: vec![ONE; machine.topology.count(Level::Package) as usize],
            waiting: vec![(0, 0); machine.topology.count(Level::Package) as usize],
            servers: vec![ONE; machine.topology.count(Level::Package) as usize],
            crossbar: ONE,
            sets: vec![0; machine.topology.count(cache_level(machine)) as usize],
        }
    }

    /// What a task with this profile and home demands on a cpu whose core has this speed (raw) and leaves it
    /// this share.
    pub(super) fn job(
        machine: &Machine,
        profile: &MemoryProfile,
        (home, team): (u32, Option<Arc<[u64]>>),
        cpu: u32,
        (own, factor): (u64, u64),
    ) -> Job {
        let node = pages(machine, profile, home);
        let mut job = Job {
            bytes: (draw(machine, profile, own) * factor) >> 16,
            bound: bound(machine, profile),
            node,
            team,
            shared: if node.is_none() { ONE } else { u64::from(profile.shared).min(ONE) },
            here: machine.node_of(CpuId(cpu)).0 as usize,
            package: machine.topology.group(Level::Package, CpuId(cpu)) as usize,
            group: machine.topology.group(cache_level(machine), CpuId(cpu)) as usize,
            working_set: profile.working_set,
            server: None,
            none: profile.demand == 0 && bound(machine, profile) == 0,
        };
        // Whose accesses take longer by distance makes fewer of them.
        let slower = ONE - job.bound + ((job.bound * Self::remoteness(machine, &job)) >> 16);
        job.bytes = job.bytes * ONE / slower;
        job
    }

    /// Growth of a job's demand by the sets that shared its cache when speeds were last settled.
    pub(super) fn growth(&self, machine: &Machine, job: &Job) -> u64 {
        let memory = &machine.memory;
        let off = memory.cache_exponent == 0 || memory.shared_cache == 0;
        if off || !machine.topology.is_even() || job.none {
            return ONE;
        }
        let capacity = u128::from(memory.shared_cache);
        let all = self.sets[job.group].max(capacity);
        let own = u128::from(job.working_set).max(capacity);
        // Tabulated at 64 points per unit from 1 to 64, linear between, constant beyond.
        let alpha = f64::from(memory.cache_exponent.min(4_000)) / 1_000.0;
        let point = |i: u128| libm::round(libm::pow(1.0 + i as f64 / 64.0, alpha) * ONE as f64) as u64;
        let x = all.saturating_sub(own) * (64 << 16) / own;
        let (step, rest) = (x >> 16, (x & 0xffff) as u64);
        if step >= 63 * 64 {
            return point(63 * 64);
        }
        point(step) + (((point(step + 1) - point(step)) * rest) >> 16)
    }

    /// The stretches under the demands of all running tasks.
    pub(super) fn settle(&mut self, machine: &Machine, jobs: &[Job]) {
        for group in 0..self.sets.len() {
            let sets = jobs.iter().filter(|job| job.group == group).map(|job| u128::from(job.working_set));
            self.sets[group] = sets.sum();
        }
        // What each job offers in all, in 2^-16 bytes per second, and of that to spread pages, in 2^-32.
        let offers: Vec<(&Job, u128, u128)> = jobs
            .iter()
            .map(|job| {
                let grown = u128::from(job.bytes) * u128::from(self.growth(machine, job));
                (job, grown, grown * u128::from(job.shared))
            })
            .collect();
        let memory = &machine.memory;
        let nodes = self.controllers.len();
        let each = |spread: u128| spread / nodes as u128;
        let spread = |from: &dyn Fn(usize) -> bool| -> u128 {
            offers.iter().filter(|(job, ..)| from(job.here)).map(|(.., spread)| spread).sum()
        };
        let own = |to: usize, from: &dyn Fn(usize) -> bool| -> u128 {
            offers
                .iter()
                .filter(|(job, ..)| from(job.here))
                .map(|(job, grown, _)| {
                    let own = ONE - job.shared;
                    let part = match &job.team {
                        Some(shares) => (own * shares[to]) >> 16,
                        None if job.node == Some(to) => own,
                        None => 0,
                    };
                    grown * u128::from(part)
                })
                .sum()
        };
        for node in 0..nodes {
            let all = own(node, &|_| true) + each(spread(&|_| true));
            let far = own(node, &|from| from != node) + each(spread(&|from| from != node));
            self.controllers[node] = self.stretch((all >> 32) as u64, memory.node_bandwidth);
            self.links[node] = self.stretch((far >> 32) as u64, memory.link_bandwidth);
        }
        let far: u128 = (0..nodes).map(|node| own(node, &|from| from != node)).sum();
        let crossing = far + each(spread(&|_| true)) * (nodes as u128 - 1);
        self.crossbar = self.stretch((crossing >> 32) as u64, memory.crossbar_bandwidth);
        // Of some jobs, bytes per second.
        let all = |of: &dyn Fn(&Job) -> bool| -> u64 {
            let grown: u128 = offers.iter().filter(|(job, ..)| of(job)).map(|(_, grown, _)| grown).sum();
            (grown >> 16) as u64
        };
        for package in 0..self.packages.len() {
            let load = all(&|job| job.package == package);
            self.packages[package] = self.stretch(load, memory.bus_bandwidth);
            let here = jobs.iter().filter(|job| job.package == package);
            let waiters: Vec<(&Job, u64)> =
                here.map(|job| (job, Self::waits(machine, job))).filter(|(_, share)| *share > 0).collect();
            let peak = |(job, share): &(&Job, u64)| {
                (u128::from(job.bytes) * u128::from(ONE) / u128::from(*share))
                    .min(u128::from(memory.core_bandwidth))
            };
            let mean = waiters.iter().map(peak).sum::<u128>() / (waiters.len() as u128).max(1);
            self.waiting[package] = (mean as u64, waiters.iter().map(|(_, share)| share).sum());
            let load = all(&|job| job.server == Some(package));
            self.servers[package] = self.stretch(load, memory.transfer_bandwidth);
        }
    }

    fn stretch(&self, load: u64, capacity: u64) -> u64 {
        if capacity == 0 || load == 0 {
            return ONE;
        }
        // rho in steps of the table, with 16 bits behind the point.
        let rho = ((u128::from(load) * u128::from(STEPS)) << 16) / u128::from(capacity);
        let (step, rest) = ((rho >> 16) as usize, (rho & 0xffff) as u64);
        if step as u64 >= STEPS * REACH {
            return (rho / u128::from(STEPS)) as u64;
        }
        let (low, high) = (self.table[step], self.table[step + 1]);
        low + (((high - low) * rest) >> 16)
    }

    /// Share of its time in which a job waits for memory, 1/65,536.
    fn waits(machine: &Machine, job: &Job) -> u64 {
        let far = Self::remoteness(machine, job);
        job.bound * far / (ONE - job.bound + ((job.bound * far) >> 16))
    }

    /// The stretch of a package's bus for one of its jobs. Where cores wait for each load, the job meets as
    /// many others as wait at once in the mean: between whole numbers the stretch is linear.
    fn bus(&self, machine: &Machine, job: &Job) -> u64 {
        let memory = &machine.memory;
        if !memory.blocking_loads || memory.bus_bandwidth == 0 {
            return self.packages[job.package];
        }
        let (mean, all) = self.waiting[job.package];
        let others = all - all.min(Self::waits(machine, job));
        let of = |waiters: u64| self.stretch(mean * waiters, memory.bus_bandwidth);
        let (few, many) = (of(1 + others / ONE), of(2 + others / ONE));
        few + (many.max(few) - few) * (others % ONE) / ONE
    }

    /// The cost of an access to a node: the worst stretch on the way times the distance.
    fn access(&self, machine: &Machine, job: &Job, node: usize) -> u128 {
        let mut ways = vec![self.controllers[node], self.bus(machine, job)];
        if node != job.here {
            ways.extend([self.links[node], self.crossbar]);
        }
        ways.extend(job.server.map(|package| self.servers[package]));
        let worst = ways.into_iter().max().unwrap_or(ONE);
        u128::from(worst) * u128::from(distance(machine, job.here, node))
    }

    /// Raw work per nanosecond: 1 / ((1 - b) + b m x mean cost of an access).
    pub(super) fn rate(&self, machine: &Machine, job: &Job) -> u64 {
        let nodes = self.controllers.len();
        let own = match &job.team {
            Some(shares) => {
                let each = (0..).zip(shares.iter());
                each.map(|(node, share)| self.access(machine, job, node) * u128::from(*share)).sum::<u128>()
                    >> 16
            }
            None => job.node.map_or(0, |node| self.access(machine, job, node)),
        };
        let spread = (0..nodes).map(|node| self.access(machine, job, node)).sum::<u128>() / nodes as u128;
        let shared = u128::from(job.shared);
        let slow = (own * (u128::from(ONE) - shared) + spread * shared) >> 32;
        let bound = u128::from(job.bound);
        let memory = (((bound * slow) >> 16) * u128::from(self.growth(machine, job))) >> 16;
        let denominator = (u128::from(ONE) - bound + memory).max(1);
        ((1u128 << 36) / denominator).max(1) as u64
    }

    /// The distance of all accesses of a job together.
    pub(super) fn remoteness(machine: &Machine, job: &Job) -> u64 {
        if job.none {
            return ONE;
        }
        let own = match &job.team {
            Some(shares) => mean_of(machine, job.here, shares),
            None => job.node.map_or(ONE, |node| distance(machine, job.here, node)),
        };
        ((ONE - job.shared) * own + job.shared * mean_distance(machine, job.here)) >> 16
    }
}
