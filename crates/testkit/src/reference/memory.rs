//! The stretch law, worked out from scratch from the list of running tasks.

use sim_core::ids::{CpuId, NodeId};
use sim_core::machine::{Level, Machine};
use sim_core::program::{MemoryProfile, Pages};

/// One in the fixed-point format of stretches, shares and factors.
const ONE: u64 = 1 << 16;
/// The law is tabulated at this many points per unit of rho, up to rho = 8; between them it is linear, beyond it is rho.
const STEPS: u64 = 256;
const REACH: u64 = 8;

/// What a computing task asks of memory.
#[derive(Clone, Copy)]
pub(super) struct Job {
    /// Bytes per second at the speed of its cpu.
    bytes: u64,
    /// Memory-bound share, 1/65,536.
    bound: u64,
    /// Node of its pages; `None` = interleaved.
    node: Option<usize>,
    far: bool,
    package: usize,
}

impl Job {
    pub(super) const NONE: Self = Self { bytes: 0, bound: 0, node: None, far: false, package: 0 };
}

/// The memory system.
pub(super) struct RefMemory {
    table: Vec<u64>,
    nodes: Vec<u64>,
    packages: Vec<u64>,
}

impl RefMemory {
    pub(super) fn new(machine: &Machine) -> Self {
        let p = f64::from(machine.memory.stretch_exponent.clamp(1, 16));
        let point = |i: u64| {
            let rho = i as f64 / STEPS as f64;
            libm::round(libm::pow(1.0 + libm::pow(rho, p), 1.0 / p) * ONE as f64) as u64
        };
        Self {
            table: (0..=STEPS * REACH).map(point).collect(),
            nodes: vec![ONE; machine.nodes() as usize],
            packages: vec![ONE; machine.topology.count(Level::Package) as usize],
        }
    }

    /// What a task with this profile and home demands on a cpu of this speed (raw).
    pub(super) fn job(machine: &Machine, profile: &MemoryProfile, home: u32, cpu: u32, speed: u64) -> Job {
        let memory = &machine.memory;
        let here = machine.node_of(CpuId(cpu)).0;
        let full = u128::from(memory.node_bandwidth) * u128::from(memory.bound_demand) / 1_000;
        // Without a limit nothing is memory-bound; with a threshold of zero everything that has a demand is.
        let unlimited = memory.node_bandwidth == 0 || profile.demand == 0;
        let derived = match (u128::from(profile.demand) << 16).checked_div(full) {
            Some(share) => share.min(u128::from(ONE)) as u64,
            None if unlimited => 0,
            None => ONE,
        };
        let node = match profile.pages {
            Pages::FirstTouch | Pages::NextTouch | Pages::Master => Some(home),
            Pages::Interleaved => None,
            Pages::Node(NodeId(node)) if node < machine.nodes() => Some(node),
            Pages::Node(_) => Some(0),
        };
        Job {
            bytes: ((u128::from(profile.demand) * u128::from(speed)) >> 20) as u64,
            bound: profile.bound.map_or(derived, |bound| u64::from(bound).min(ONE)),
            node: node.map(|node| node as usize),
            far: node.is_some_and(|node| node != here),
            package: machine.topology.group(Level::Package, CpuId(cpu)) as usize,
        }
    }

    /// The stretches under the demands of all running tasks.
    pub(super) fn settle(&mut self, machine: &Machine, jobs: &[Job]) {
        let count = self.nodes.len();
        for node in 0..count {
            let share = |job: &Job| match job.node {
                Some(own) if own == node => job.bytes,
                Some(_) => 0,
                None => job.bytes / count as u64,
            };
            self.nodes[node] = self.stretch(jobs.iter().map(share).sum(), machine.memory.node_bandwidth);
        }
        for package in 0..self.packages.len() {
            let load = jobs.iter().filter(|job| job.package == package).map(|job| job.bytes).sum();
            self.packages[package] = self.stretch(load, machine.memory.bus_bandwidth);
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

    /// Raw work per nanosecond: 1 / ((1 - b) + b s R).
    pub(super) fn rate(&self, machine: &Machine, job: &Job) -> u64 {
        let remote = (u64::from(machine.memory.remote_factor.max(1_000)) << 16) / 1_000;
        let nodes = self.nodes.len() as u64;
        let (stretch, factor) = match job.node {
            None => (self.nodes.iter().sum::<u64>() / nodes, (ONE + (nodes - 1) * remote) / nodes),
            Some(node) => (self.nodes[node], if job.far { remote } else { ONE }),
        };
        let stretch = stretch.max(self.packages[job.package]);
        let slow = ((u128::from(stretch) * u128::from(factor)) >> 16) as u64;
        let denominator = (ONE - job.bound) + ((u128::from(job.bound) * u128::from(slow)) >> 16) as u64;
        ((1u64 << 36) / denominator.max(1)).max(1)
    }
}
