//! How fast running tasks run: the stretch law per controller and bus, and virtual clocks per class of tasks.
//!
//! All memory-bound tasks on one controller slow by one factor, the stretch s = (1 + rho^p)^(1/p) of rho = sum of the
//! unthrottled demands over the capacity. A task with memory-bound share b runs at 1 / ((1 - b) + b s R), R the remote
//! factor. Tasks alike in profile, page node, distance and bus share a clock on which their completions are fixed, so
//! a change of load costs one update per class, not one per cpu.

use crate::ids::{CpuId, NodeId};
use crate::machine::{Level, Machine, PerCpu};
use crate::program::{MemoryProfile, Pages};
use crate::time::{Span, Speed, Time, Work};

/// One in the fixed-point format of stretches, shares and factors.
pub(crate) const ONE: u64 = 1 << 16;
const NO_CPU: u32 = u32::MAX;

/// Index of a class of tasks that share a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClassId(pub(crate) u32);

impl ClassId {
    /// Runs at nominal speed whatever the others do.
    pub(crate) const FREE: Self = Self(u32::MAX);
}

#[derive(Clone, Copy)]
struct Class {
    /// Clock: work done since the start by a task that always ran (wraps).
    clock: u64,
    /// When `clock` was last set.
    at: Time,
    /// Speed of the clock.
    rate: u64,
    /// Root of the pairing heap of running members by target.
    root: u32,
}

/// A member of a class while it runs: its completion on the class's clock, and its heap links.
#[derive(Clone, Copy)]
struct Member {
    target: u64,
    child: u32,
    sibling: u32,
    /// Parent or left sibling.
    previous: u32,
}

/// A profile as the law wants it.
#[derive(Clone, Copy)]
struct Demand {
    /// Bytes per second.
    bytes: u64,
    /// Memory-bound share of the time, 1/65,536.
    bound: u64,
    pages: Pages,
}

/// A shared resource: a controller or a bus.
#[derive(Clone, Copy)]
struct Resource {
    /// Sum of the demands of the tasks that compute now, bytes per second.
    load: u64,
    /// Bytes per second; 0 = without limit.
    capacity: u64,
    stretch: u64,
    dirty: bool,
}

/// The memory system of a run.
pub(crate) struct Contention {
    nodes: u32,
    buses: u32,
    cpus_per_node: u32,
    cpus_per_bus: u32,
    remote: u64,
    demands: Vec<Demand>,
    classes: Vec<Class>,
    members: PerCpu<Member>,
    /// Controllers, then buses, then one entry for interleaved pages (unused load).
    resources: Vec<Resource>,
    dirty: Vec<u32>,
    table: Vec<u32>,
}

/// Steps of the stretch table per unit of rho, and its length in units.
const STEPS: u64 = 256;
const REACH: u64 = 8;

/// h(rho) for rho = i / STEPS in 1/65,536. Built once with a software power function that gives the same bits everywhere.
#[expect(clippy::float_arithmetic, reason = "a table built once; no float enters simulated state")]
fn stretch_table(exponent: u32) -> Vec<u32> {
    let p = f64::from(exponent.clamp(1, 16));
    (0..=STEPS * REACH)
        .map(|i| {
            let rho = i as f64 / STEPS as f64;
            let h = libm::pow(1.0 + libm::pow(rho, p), 1.0 / p);
            libm::round(h * ONE as f64) as u32
        })
        .collect()
}

impl Contention {
    pub(crate) fn new(machine: &Machine, profiles: &[MemoryProfile]) -> Self {
        let nodes = machine.nodes();
        let memory = &machine.memory;
        let buses = if memory.bus_bandwidth > 0 { machine.topology.count(Level::Package) } else { 1 };
        let bound_demand =
            (u128::from(memory.node_bandwidth) * u128::from(memory.bound_demand) / 1_000) as u64;
        let demands = profiles
            .iter()
            .map(|p| {
                let derived = if bound_demand == 0 {
                    if p.demand > 0 && memory.node_bandwidth > 0 { ONE } else { 0 }
                } else {
                    ((u128::from(p.demand) << 16) / u128::from(bound_demand)).min(u128::from(ONE)) as u64
                };
                Demand {
                    bytes: p.demand,
                    bound: p.bound.map_or(derived, |b| u64::from(b).min(ONE)),
                    pages: p.pages,
                }
            })
            .collect::<Vec<_>>();
        let class = Class { clock: 0, at: Time::ZERO, rate: Speed::NOMINAL.raw(), root: NO_CPU };
        // One extra "node" holds the classes of interleaved pages.
        let count = (nodes as usize + 1) * demands.len() * 2 * buses as usize;
        let resource = |capacity| Resource { load: 0, capacity, stretch: ONE, dirty: false };
        let mut resources = vec![resource(memory.node_bandwidth); nodes as usize];
        resources.extend(vec![resource(memory.bus_bandwidth); buses as usize]);
        let member = Member { target: 0, child: NO_CPU, sibling: NO_CPU, previous: NO_CPU };
        let mut this = Self {
            nodes,
            buses,
            cpus_per_node: machine.topology.span(Level::Node),
            cpus_per_bus: if buses > 1 { machine.topology.span(Level::Package) } else { machine.cpus() },
            remote: (u64::from(memory.remote_factor.max(1_000)) << 16) / 1_000,
            demands,
            classes: vec![class; count],
            members: PerCpu::filled(machine.cpus() as usize, member),
            dirty: Vec::with_capacity(resources.len()),
            resources,
            table: stretch_table(memory.stretch_exponent),
        };
        for class in 0..count {
            this.classes[class].rate = this.rate(class as u32);
        }
        this
    }

    /// Number of classes: each is a source of events.
    pub(crate) fn classes(&self) -> usize {
        self.classes.len()
    }

    /// The class of a task with this profile and home node on this cpu.
    pub(crate) fn class(&self, profile: u32, home: NodeId, cpu: CpuId) -> ClassId {
        let demand = &self.demands[profile as usize];
        if demand.bound == 0 && demand.bytes == 0 {
            return ClassId::FREE;
        }
        let here = cpu.0 / self.cpus_per_node;
        let (slot, far) = match demand.pages {
            Pages::FirstTouch | Pages::NextTouch | Pages::Master => (home.0, home.0 != here),
            Pages::Interleaved => (self.nodes, false),
            Pages::Node(node) => {
                let node = if node.0 < self.nodes { node.0 } else { 0 };
                (node, node != here)
            }
        };
        let bus = cpu.0 / self.cpus_per_bus;
        let profiles = self.demands.len() as u32;
        ClassId(((slot * profiles + profile) * 2 + u32::from(far)) * self.buses + bus)
    }

    /// (page slot, profile, far, bus) of a class.
    fn parts(&self, class: u32) -> (u32, u32, bool, u32) {
        let (rest, bus) = (class / self.buses, class % self.buses);
        let (rest, far) = (rest / 2, rest % 2 == 1);
        let profiles = self.demands.len() as u32;
        (rest / profiles, rest % profiles, far, bus)
    }

    fn stretch(&self, resource: &Resource) -> u64 {
        if resource.capacity == 0 || resource.load == 0 {
            return ONE;
        }
        let scaled = ((u128::from(resource.load) * u128::from(STEPS)) << 16) / u128::from(resource.capacity);
        let (step, rest) = ((scaled >> 16) as u64, scaled as u64 & (ONE - 1));
        if step >= STEPS * REACH {
            return (scaled / u128::from(STEPS)) as u64;
        }
        let (low, high) = (u64::from(self.table[step as usize]), u64::from(self.table[step as usize + 1]));
        low + (((high - low) * rest) >> 16)
    }

    /// Speed of a class's clock under the present stretches.
    fn rate(&self, class: u32) -> u64 {
        let (slot, profile, far, bus) = self.parts(class);
        let nodes = u64::from(self.nodes);
        let (node, factor) = if slot == self.nodes {
            let sum: u64 = self.resources[..self.nodes as usize].iter().map(|r| r.stretch).sum();
            (sum / nodes, (ONE + (nodes - 1) * self.remote) / nodes)
        } else {
            (self.resources[slot as usize].stretch, if far { self.remote } else { ONE })
        };
        let stretch = node.max(self.resources[(self.nodes + bus) as usize].stretch);
        let bound = self.demands[profile as usize].bound;
        let slow = ((u128::from(stretch) * u128::from(factor)) >> 16) as u64;
        let denominator = (ONE - bound) + ((u128::from(bound) * u128::from(slow)) >> 16) as u64;
        ((1u64 << 36) / denominator.max(1)).max(1)
    }

    fn load(&mut self, class: ClassId, speed: Speed, add: bool) {
        let (slot, profile, _, bus) = self.parts(class.0);
        let bytes =
            ((u128::from(self.demands[profile as usize].bytes) * u128::from(speed.raw())) >> 20) as u64;
        let has_bus = self.resources[(self.nodes + bus) as usize].capacity > 0;
        let mut change = |at: usize, bytes: u64| {
            let resource = &mut self.resources[at];
            if add {
                resource.load += bytes;
            } else {
                resource.load -= bytes;
            }
            if !resource.dirty {
                resource.dirty = true;
                self.dirty.push(at as u32);
            }
        };
        if slot == self.nodes {
            for node in 0..self.nodes as usize {
                change(node, bytes / u64::from(self.nodes));
            }
        } else {
            change(slot as usize, bytes);
        }
        if has_bus {
            change((self.nodes + bus) as usize, bytes);
        }
    }

    fn clock(&self, class: &Class, now: Time) -> u64 {
        class.clock.wrapping_add(now.since(class.at).ns().wrapping_mul(class.rate))
    }

    /// A task starts to compute: after `lead` of overhead (done at the class's present speed) it needs `work`, scaled to the cpu.
    pub(crate) fn start(
        &mut self,
        class: ClassId,
        cpu: CpuId,
        now: Time,
        lead: Span,
        work: Work,
        speed: Speed,
    ) {
        if self.classes[class.0 as usize].root == NO_CPU {
            self.retime(class.0, now);
        }
        let record = self.classes[class.0 as usize];
        let clock = self.clock(&record, now);
        let target = clock.wrapping_add(lead.ns().wrapping_mul(record.rate)).wrapping_add(work.raw());
        self.members[cpu] = Member { target, child: NO_CPU, sibling: NO_CPU, previous: NO_CPU };
        self.classes[class.0 as usize].root = self.meld(record.root, cpu.0);
        self.load(class, speed, true);
    }

    /// A task stops computing; returns the work left (zero when it is complete), at most `work`.
    pub(crate) fn stop(&mut self, class: ClassId, cpu: CpuId, now: Time, work: Work, speed: Speed) -> Work {
        let left = self.left(class, cpu, now, work);
        let root = self.classes[class.0 as usize].root;
        self.classes[class.0 as usize].root = self.remove(root, cpu.0);
        self.load(class, speed, false);
        left
    }

    /// The work left of a running task, at most `work`.
    pub(crate) fn left(&self, class: ClassId, cpu: CpuId, now: Time, work: Work) -> Work {
        let clock = self.clock(&self.classes[class.0 as usize], now);
        let left = self.members[cpu].target.wrapping_sub(clock) as i64;
        if left <= 0 { Work::ZERO } else { Work::from_raw(left as u64).min(work) }
    }

    /// When the next member of the class completes.
    pub(crate) fn next(&self, class: u32) -> Time {
        let record = &self.classes[class as usize];
        if record.root == NO_CPU {
            return Time::NEVER;
        }
        let left = self.members[CpuId(record.root)].target.wrapping_sub(record.clock) as i64;
        let left = Work::from_raw(left.max(0) as u64);
        record.at + left.duration_at(Speed::from_raw(record.rate))
    }

    /// Calls `found` for every member that has completed by `now` (they stay members until they are stopped).
    pub(crate) fn each_due(&self, class: u32, now: Time, mut found: impl FnMut(CpuId)) {
        let record = &self.classes[class as usize];
        let clock = self.clock(record, now);
        let member = |node: u32| &self.members[CpuId(node)];
        let mut node = record.root;
        while node != NO_CPU {
            // Below a member that is not due nobody is.
            if member(node).target.wrapping_sub(clock) as i64 <= 0 {
                found(CpuId(node));
                if member(node).child != NO_CPU {
                    node = member(node).child;
                    continue;
                }
            }
            // On to the right, or up until there is a right.
            while member(node).sibling == NO_CPU {
                loop {
                    let previous = member(node).previous;
                    if previous == NO_CPU {
                        return;
                    }
                    let is_parent = member(previous).child == node;
                    node = previous;
                    if is_parent {
                        break;
                    }
                }
            }
            node = member(node).sibling;
        }
    }

    /// Brings stretches and rates up to date; calls `changed` for each class whose next completion may have moved.
    pub(crate) fn refresh(&mut self, now: Time, mut changed: impl FnMut(&Self, u32)) {
        let per_slot = self.demands.len() as u32 * 2 * self.buses;
        while let Some(at) = self.dirty.pop() {
            let stretch = self.stretch(&self.resources[at as usize]);
            let resource = &mut self.resources[at as usize];
            resource.dirty = false;
            if resource.stretch == stretch {
                continue;
            }
            resource.stretch = stretch;
            let is_node = at < self.nodes;
            let range = if is_node { at * per_slot..(at + 1) * per_slot } else { 0..self.nodes * per_slot };
            let spread = self.nodes * per_slot..(self.nodes + 1) * per_slot;
            for class in range.chain(spread) {
                let bus = class % self.buses;
                // An empty class is brought up to date when a member enters.
                if self.classes[class as usize].root == NO_CPU || (!is_node && bus != at - self.nodes) {
                    continue;
                }
                self.retime(class, now);
                changed(self, class);
            }
        }
    }

    /// Sets a class's clock to now and its rate to the present one.
    fn retime(&mut self, class: u32, now: Time) {
        let rate = self.rate(class);
        let record = &mut self.classes[class as usize];
        record.clock = record.clock.wrapping_add(now.since(record.at).ns().wrapping_mul(record.rate));
        record.at = now;
        record.rate = rate;
    }

    fn before(&self, a: u32, b: u32) -> bool {
        let difference = self.members[CpuId(a)].target.wrapping_sub(self.members[CpuId(b)].target) as i64;
        difference < 0 || (difference == 0 && a < b)
    }

    /// Melds two heaps (roots without siblings).
    fn meld(&mut self, a: u32, b: u32) -> u32 {
        if a == NO_CPU {
            return b;
        }
        if b == NO_CPU {
            return a;
        }
        let (top, low) = if self.before(a, b) { (a, b) } else { (b, a) };
        let child = self.members[CpuId(top)].child;
        let record = &mut self.members[CpuId(low)];
        record.sibling = child;
        record.previous = top;
        if child != NO_CPU {
            self.members[CpuId(child)].previous = low;
        }
        self.members[CpuId(top)].child = low;
        top
    }

    /// Melds a list of siblings in pairs, left to right, then the results right to left.
    fn meld_list(&mut self, first: u32) -> u32 {
        let mut next = first;
        let mut melded = NO_CPU;
        while next != NO_CPU {
            let a = next;
            let b = self.members[CpuId(a)].sibling;
            next = if b == NO_CPU { NO_CPU } else { self.members[CpuId(b)].sibling };
            self.detach(a);
            if b != NO_CPU {
                self.detach(b);
            }
            let pair = self.meld(a, b);
            // Results are chained through `sibling`, the last one first.
            self.members[CpuId(pair)].sibling = melded;
            melded = pair;
        }
        let mut root = NO_CPU;
        while melded != NO_CPU {
            let rest = self.members[CpuId(melded)].sibling;
            self.detach(melded);
            root = self.meld(root, melded);
            melded = rest;
        }
        root
    }

    fn detach(&mut self, node: u32) {
        let record = &mut self.members[CpuId(node)];
        record.sibling = NO_CPU;
        record.previous = NO_CPU;
    }

    /// Removes a node and returns the new root.
    fn remove(&mut self, root: u32, node: u32) -> u32 {
        let Member { child, sibling, previous, .. } = self.members[CpuId(node)];
        let orphan = self.meld_list(child);
        self.members[CpuId(node)].child = NO_CPU;
        if node == root {
            return orphan;
        }
        if self.members[CpuId(previous)].child == node {
            self.members[CpuId(previous)].child = sibling;
        } else {
            self.members[CpuId(previous)].sibling = sibling;
        }
        if sibling != NO_CPU {
            self.members[CpuId(sibling)].previous = previous;
        }
        self.detach(node);
        self.meld(root, orphan)
    }

    /// The home node of what is first touched on a cpu.
    pub(crate) const fn node(&self, cpu: CpuId) -> NodeId {
        NodeId(cpu.0 / self.cpus_per_node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_value(exponent: u32, rho: u64) -> u64 {
        u64::from(stretch_table(exponent)[(rho * STEPS) as usize])
    }

    #[test]
    fn the_stretch_is_a_smooth_knee() {
        assert_eq!(table_value(4, 0), ONE);
        // (1 + 1)^(1/4) = 1.189207
        assert_eq!(table_value(4, 1), 77_936);
        // Far above the knee the stretch is rho itself.
        assert!(table_value(4, 8).abs_diff(8 * ONE) < ONE / 100);
    }

    #[test]
    fn pairing_heap_agrees_with_sorting() {
        let machine = crate::kernel::test_machine(64);
        let profile =
            MemoryProfile { demand: 0, bound: Some(1), working_set: 0, pages: Pages::FirstTouch, shared: 0 };
        let mut memory = Contention::new(&machine, &[profile]);
        let class = memory.class(0, NodeId(0), CpuId(0));
        let mut inside: Vec<(u64, u32)> = Vec::new();
        for step in 0..5_000u64 {
            let draw = u64::from(crate::rng::draw(9, step));
            let cpu = (draw % 64) as u32;
            if let Some(at) = inside.iter().position(|m| m.1 == cpu) {
                inside.remove(at);
                memory.stop(class, CpuId(cpu), Time::ZERO, Work::MAX, Speed::NOMINAL);
            } else {
                let work = Work::from_raw((draw >> 8) % 50);
                memory.start(class, CpuId(cpu), Time::ZERO, Span::ZERO, work, Speed::NOMINAL);
                inside.push((work.raw(), cpu));
            }
            let least = inside.iter().min().map_or(NO_CPU, |m| m.1);
            assert_eq!(memory.classes[class.0 as usize].root, least);
        }
    }

    #[test]
    fn stop_and_start_conserve_work() {
        let machine = crate::kernel::test_machine(4);
        let profile = MemoryProfile {
            demand: 1_000,
            bound: Some(65_536),
            working_set: 0,
            pages: Pages::FirstTouch,
            shared: 0,
        };
        let mut memory = Contention::new(&machine, &[profile]);
        let class = memory.class(0, NodeId(0), CpuId(1));
        let work = Work::from_span(Span::from_ns(1_000));
        memory.start(class, CpuId(1), Time::ZERO, Span::from_ns(10), work, Speed::NOMINAL);
        assert_eq!(memory.next(class.0), Time::from_ns(1_010));
        let left = memory.stop(class, CpuId(1), Time::from_ns(410), work, Speed::NOMINAL);
        assert_eq!(left.floor_ns(), 600);
    }
}
