//! How fast running tasks run: the stretch law per resource, shared caches, and virtual clocks per class of tasks.
//!
//! Tasks alike in profile, page node and place (all cpus of one node, bus and cache group) form a class: they share a
//! clock on which their completions are fixed, so a change of load costs one update per occupied class of the resource
//! that changed, not one per cpu. Classes are created when first used; their order has no influence on results.
//!
//! A resource (controller, link, bus, crossbar) of load rho stretches accesses by s = (1 + rho^p)^(1/p), rho = sum of the
//! unthrottled demands over the capacity, each less by what distance alone slows its task down. An access costs (greatest stretch on its way) x (factor R of distance). A
//! task with memory-bound share b, whose demand has grown by m in a shared cache, runs at 1 / ((1 - b) + b m x mean cost).

mod heap;
mod law;
mod loads;

use crate::ids::{CpuId, NodeId};
use crate::machine::{Level, Machine};
use crate::program::{MemoryProfile, Pages};
use crate::time::{Span, Speed, Time, Work};
use heap::{Heaps, NO_CPU};
use law::{CacheLaw, Demand, Distances};
use loads::Loads;

pub(crate) use law::{ONE, cache_span};

/// Index of a class of tasks that share a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClassId(pub(crate) u32);

impl ClassId {
    /// Runs at nominal speed whatever the others do.
    pub(crate) const FREE: Self = Self(u32::MAX);
}

/// What makes tasks alike.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    profile: u32,
    /// Page node; the number of nodes stands for interleaved pages.
    slot: u32,
    /// Where it computes: all cpus of a place are on one node, one bus and one shared cache.
    place: u32,
}

impl Key {
    #[inline]
    fn hash(self) -> u64 {
        let mixed = (u64::from(self.profile) << 42) ^ (u64::from(self.slot) << 21) ^ u64::from(self.place);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    }
}

/// Number of lists of occupied classes that a class can be in.
const LISTS: usize = 5;

struct Class {
    key: Key,
    /// Clock: work done since the start by a task that always ran (wraps).
    clock: u64,
    /// The same weighted with the growth of demand (wraps).
    traffic: u64,
    /// When the clocks were last set.
    at: Time,
    /// Speed of the clock.
    rate: u64,
    /// Root of the pairing heap of running members by target.
    root: u32,
    /// Sum of what the members demand before growth, bytes per second.
    bytes: u64,
    /// Growth of the demand in the shared cache, 1/65,536.
    growth: u64,
    /// Factor of distance over all its accesses, 1/65,536.
    remote: u64,
    /// How much slower distance alone makes its tasks, 1/65,536: they ask for as much less per second.
    slow: u64,
    /// Node of its cpus, their bus, their cache group.
    node: u32,
    bus: u32,
    group: u32,
    /// Its rate has to be worked out anew.
    stale: bool,
    /// Its next completion may have moved.
    moved: bool,
    /// Where it stands in the lists of occupied classes.
    positions: [u32; LISTS],
}

impl Class {
    /// Brings the clocks to now.
    #[inline]
    fn retime(&mut self, now: Time) {
        let elapsed = now.since(self.at).ns();
        let work = elapsed.wrapping_mul(self.rate);
        self.clock = self.clock.wrapping_add(work);
        let traffic =
            if self.growth == ONE { work } else { elapsed.wrapping_mul((self.rate * self.growth) >> 16) };
        self.traffic = self.traffic.wrapping_add(traffic);
        self.at = now;
    }
}

/// What a member brings along when it starts.
#[derive(Clone, Copy, Default)]
struct Entry {
    clock: u64,
    traffic: u64,
    /// Demand before growth, bytes per second.
    bytes: u64,
}

/// The memory system of a run.
pub(crate) struct Contention {
    nodes: u32,
    cpus_per_node: u32,
    cpus_per_bus: u32,
    cpus_per_place: u32,
    core_bandwidth: u64,
    demands: Vec<Demand>,
    distances: Distances,
    cache: CacheLaw,
    classes: Vec<Class>,
    /// Open-addressed index of the classes by key; `u32::MAX` = free.
    index: Vec<u32>,
    heaps: Heaps,
    loads: Loads,
}

impl Contention {
    pub(crate) fn new(machine: &Machine, profiles: &[MemoryProfile]) -> Self {
        let (memory, cpus) = (&machine.memory, machine.cpus());
        let cache = CacheLaw::new(machine);
        let cpus_per_node = machine.topology.span(Level::Node);
        let cpus_per_bus =
            if memory.bus_bandwidth > 0 { machine.topology.span(Level::Package) } else { cpus };
        let cpus_per_group = if cache.span > 0 { cache.span } else { cpus };
        Self {
            nodes: machine.nodes(),
            cpus_per_node,
            cpus_per_bus,
            // The levels nest, so the smallest of the three lies inside the others.
            cpus_per_place: cpus_per_node.min(cpus_per_bus).min(cpus_per_group),
            core_bandwidth: memory.core_bandwidth,
            demands: profiles.iter().map(|p| Demand::new(machine, p)).collect(),
            distances: Distances::new(machine),
            loads: Loads::new(machine, cpus / cpus_per_bus, cpus / cpus_per_group),
            cache,
            classes: Vec::new(),
            index: vec![u32::MAX; 64],
            heaps: Heaps::new(cpus),
        }
    }

    /// The class of a task with this profile and home node on this cpu. `last`: its last one, most often the same.
    #[inline]
    pub(crate) fn class(&mut self, profile: u32, home: NodeId, cpu: CpuId, last: ClassId) -> ClassId {
        let demand = &self.demands[profile as usize];
        if demand.bound == 0 && demand.bytes == 0 {
            return ClassId::FREE;
        }
        let slot = self.slot(profile, home);
        let key = Key { profile, slot, place: cpu.0 / self.cpus_per_place };
        if self.classes.get(last.0 as usize).is_some_and(|class| class.key == key) {
            return last;
        }
        self.find(key, cpu)
    }

    fn find(&mut self, key: Key, cpu: CpuId) -> ClassId {
        let mask = self.index.len() - 1;
        let mut at = key.hash() as usize & mask;
        while let Some(class) = self.classes.get(self.index[at] as usize) {
            if class.key == key {
                return ClassId(self.index[at]);
            }
            at = (at + 1) & mask;
        }
        let class = self.classes.len() as u32;
        self.index[at] = class;
        self.create(key, cpu);
        ClassId(class)
    }

    /// Page node of a task with this home, or the number of nodes when its pages are interleaved.
    #[inline]
    fn slot(&self, profile: u32, home: NodeId) -> u32 {
        match self.demands[profile as usize].pages {
            Pages::FirstTouch | Pages::NextTouch | Pages::Master => home.0,
            Pages::Interleaved => self.nodes,
            Pages::Node(node) if node.0 < self.nodes => node.0,
            Pages::Node(_) => 0,
        }
    }

    /// A class is used for the first time; the index grows when it is half full.
    fn create(&mut self, key: Key, cpu: CpuId) {
        let Demand { spread, bound, .. } = self.demands[key.profile as usize];
        let node = cpu.0 / self.cpus_per_node;
        let near = if key.slot < self.nodes { self.distances.between(node, key.slot) } else { ONE };
        let mean = self.distances.mean(node);
        let remote = ((ONE - spread) * near + spread * mean) >> 16;
        self.classes.push(Class {
            key,
            clock: 0,
            traffic: 0,
            at: Time::ZERO,
            rate: Speed::NOMINAL.raw(),
            root: NO_CPU,
            bytes: 0,
            growth: ONE,
            remote,
            slow: ONE - bound + ((bound * remote) >> 16),
            node,
            bus: cpu.0 / self.cpus_per_bus,
            group: cpu.0.checked_div(self.cache.span).unwrap_or(0),
            stale: false,
            moved: false,
            positions: [u32::MAX; LISTS],
        });
        if self.classes.len() * 2 > self.index.len() {
            let mask = self.index.len() * 2 - 1;
            self.index.clear();
            self.index.resize(mask + 1, u32::MAX);
            for (class, record) in self.classes.iter().enumerate() {
                let mut at = record.key.hash() as usize & mask;
                while self.index[at] != u32::MAX {
                    at = (at + 1) & mask;
                }
                self.index[at] = class as u32;
            }
        }
    }

    /// What a task demands before growth: at its core's own speed at most what one core can draw, slowed by `factor` (1/65,536).
    #[inline]
    pub(crate) fn offer(&self, profile: u32, own: Speed, factor: u64) -> u64 {
        (self.draw(profile, own) * factor) >> 16
    }

    /// The same without the slow-down, bytes per second; at most 2^44.
    #[inline]
    pub(crate) fn draw(&self, profile: u32, own: Speed) -> u64 {
        let bytes = self.demands[profile as usize].bytes;
        let drawn = (u128::from(bytes) * u128::from(own.raw())) >> 20;
        drawn.min(u128::from(self.core_bandwidth.min(1 << 44))) as u64
    }

    /// Memory-bound share of a profile, 1/65,536.
    #[inline]
    pub(crate) fn bound(&self, profile: u32) -> u64 {
        self.demands[profile as usize].bound
    }

    /// Factor of distance over all accesses of a class, 1/65,536.
    #[inline]
    pub(crate) fn remote(&self, class: ClassId) -> u64 {
        self.classes.get(class.0 as usize).map_or(ONE, |class| class.remote)
    }

    /// Factor of distance between a cpu and the pages of a task with this profile and home, 1/65,536.
    pub(crate) fn distance(&self, profile: u32, home: NodeId, cpu: CpuId) -> u64 {
        let (slot, node) = (self.slot(profile, home), cpu.0 / self.cpus_per_node);
        if slot == self.nodes { self.distances.mean(node) } else { self.distances.between(node, slot) }
    }

    /// The working set of a task that starts or stops to compute on a cpu.
    #[inline]
    pub(crate) fn occupy(&mut self, profile: u32, cpu: CpuId, enters: bool) {
        if let Some(group) = cpu.0.checked_div(self.cache.span) {
            self.loads.occupy(group, self.demands[profile as usize].working_set, enters);
        }
    }

    #[inline]
    fn clock(class: &Class, now: Time) -> u64 {
        class.clock.wrapping_add(now.since(class.at).ns().wrapping_mul(class.rate))
    }

    #[inline]
    fn traffic(class: &Class, now: Time) -> u64 {
        let speed = (class.rate * class.growth) >> 16;
        class.traffic.wrapping_add(now.since(class.at).ns().wrapping_mul(speed))
    }

    /// A task starts to compute: after `lead` of overhead (done at the class's present speed) it needs `work`, scaled to
    /// the cpu, and would demand `bytes` per second before growth if its pages were local. A core has so many requests under
    /// way and no more: when each takes longer, it makes fewer (Little 1961).
    pub(crate) fn start(
        &mut self,
        class: ClassId,
        cpu: CpuId,
        now: Time,
        lead: Span,
        work: Work,
        bytes: u64,
    ) {
        if self.classes[class.0 as usize].root == NO_CPU {
            self.open(class.0, now);
        }
        let record = &mut self.classes[class.0 as usize];
        let bytes = bytes * ONE / record.slow;
        let (clock, traffic) = (Self::clock(record, now), Self::traffic(record, now));
        let target = clock.wrapping_add(lead.ns().wrapping_mul(record.rate)).wrapping_add(work.raw());
        record.root = self.heaps.insert(record.root, cpu.0, target, Entry { clock, traffic, bytes });
        self.loads.note_move(class.0, record);
        self.load(class.0, bytes, true);
    }

    /// A task stops computing; returns the work left (zero when it is complete), at most `work`, and the mean growth of
    /// its demand since it started, 1/65,536.
    pub(crate) fn stop(&mut self, class: ClassId, cpu: CpuId, now: Time, work: Work) -> (Work, u64) {
        let left = self.left(class, cpu, now, work);
        let entry = self.heaps.entry(cpu.0);
        let record = &mut self.classes[class.0 as usize];
        let done = Self::clock(record, now).wrapping_sub(entry.clock);
        let traffic = Self::traffic(record, now).wrapping_sub(entry.traffic);
        let growth = if traffic == done {
            ONE
        } else {
            ((u128::from(traffic) << 16) / u128::from(done.max(1))) as u64
        };
        record.root = self.heaps.remove(record.root, cpu.0);
        let empty = record.root == NO_CPU;
        self.loads.note_move(class.0, record);
        self.load(class.0, entry.bytes, false);
        if empty {
            self.unlist(class.0);
        }
        (left, growth)
    }

    /// The work left of a running task, at most `work`.
    #[inline]
    pub(crate) fn left(&self, class: ClassId, cpu: CpuId, now: Time, work: Work) -> Work {
        let clock = Self::clock(&self.classes[class.0 as usize], now);
        let left = self.heaps.target(cpu.0).wrapping_sub(clock) as i64;
        if left <= 0 { Work::ZERO } else { Work::from_raw(left as u64).min(work) }
    }

    /// When the next member of the class completes.
    #[inline]
    pub(crate) fn next(&self, class: u32) -> Time {
        let record = &self.classes[class as usize];
        if record.root == NO_CPU {
            return Time::NEVER;
        }
        let left = self.heaps.target(record.root).wrapping_sub(record.clock) as i64;
        let left = Work::from_raw(left.max(0) as u64);
        record.at + left.duration_at(Speed::from_raw(record.rate))
    }

    /// Calls `found` for every member that has completed by `now` (they stay members until they are stopped).
    pub(crate) fn each_due(&self, class: u32, now: Time, found: impl FnMut(CpuId)) {
        let record = &self.classes[class as usize];
        self.heaps.each_due(record.root, Self::clock(record, now), found);
    }

    /// Cpus of the machine.
    #[inline]
    pub(crate) fn cpus(&self) -> usize {
        self.heaps.len()
    }

    /// The home node of what is first touched on a cpu.
    #[inline]
    pub(crate) const fn node(&self, cpu: CpuId) -> NodeId {
        NodeId(cpu.0 / self.cpus_per_node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(demand: u64, bound: u32) -> MemoryProfile {
        MemoryProfile { demand, bound: Some(bound), ..MemoryProfile::NONE }
    }

    #[test]
    fn pairing_heap_agrees_with_sorting() {
        let machine = crate::kernel::test_machine(64);
        let mut memory = Contention::new(&machine, &[profile(0, 1)]);
        let class = memory.class(0, NodeId(0), CpuId(0), ClassId::FREE);
        let mut inside: Vec<(u64, u32)> = Vec::new();
        for step in 0..5_000u64 {
            let draw = u64::from(crate::rng::draw(9, step));
            let cpu = (draw % 64) as u32;
            if let Some(at) = inside.iter().position(|m| m.1 == cpu) {
                inside.remove(at);
                memory.stop(class, CpuId(cpu), Time::ZERO, Work::MAX);
            } else {
                let work = Work::from_raw((draw >> 8) % 50);
                memory.start(class, CpuId(cpu), Time::ZERO, Span::ZERO, work, 0);
                inside.push((work.raw(), cpu));
            }
            let least = inside.iter().min().map_or(NO_CPU, |m| m.1);
            assert_eq!(memory.classes[class.0 as usize].root, least);
        }
    }

    #[test]
    fn stop_and_start_conserve_work() {
        let machine = crate::kernel::test_machine(4);
        let mut memory = Contention::new(&machine, &[profile(1_000, 65_536)]);
        let class = memory.class(0, NodeId(0), CpuId(1), ClassId::FREE);
        let work = Work::from_span(Span::from_ns(1_000));
        memory.start(class, CpuId(1), Time::ZERO, Span::from_ns(10), work, 1_000);
        assert_eq!(memory.next(class.0), Time::from_ns(1_010));
        let (left, growth) = memory.stop(class, CpuId(1), Time::from_ns(410), work);
        assert_eq!((left.floor_ns(), growth), (600, ONE));
    }

    #[test]
    fn classes_are_found_again_however_many_there_are() {
        let machine = crate::kernel::test_machine(4);
        let mut memory = Contention::new(&machine, &[profile(1_000, 9); 500]);
        let ids: Vec<_> = (0..500).map(|p| memory.class(p, NodeId(0), CpuId(1), ClassId::FREE)).collect();
        assert!((0..500).all(|p| memory.class(p, NodeId(0), CpuId(3), ClassId::FREE) == ids[p as usize]));
        assert_eq!(memory.classes.len(), 500);
    }
}
