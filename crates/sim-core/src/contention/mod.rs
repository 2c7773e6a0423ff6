//! How fast running tasks run: the stretch law per resource, shared caches, and virtual clocks per class of
//! tasks.
//!
//! Tasks alike in profile, page node and place (all cpus of one node, bus and cache group) form a class: they
//! share a clock on which their completions are fixed, so a change of load costs one update per occupied
//! class of the resource that changed, not one per cpu. Without buses and shared caches that count, tasks
//! away from their pages differ by their distance only, and form a class wherever they are. Classes are
//! created when first used; their order has no influence on results.
//!
//! A resource (controller, link, bus, crossbar) of load rho stretches accesses by s = (1 + rho^p)^(1/p), rho
//! = sum of the unthrottled demands over the capacity, each less by what distance alone slows its task down.
//! An access costs (greatest stretch on its way) x (factor R of distance). A task with memory-bound share b,
//! whose demand has grown by m in a shared cache, runs at 1 / ((1 - b) + b m x mean cost). Where cores wait
//! for each load, tasks use a bus during their shares b only and meet there by chance (`overlap`).

mod class;
mod heap;
mod law;
mod loads;
mod overlap;
mod rates;
mod teams;

use crate::ids::{CpuId, NodeId};
use crate::machine::{Level, Machine, PerCpu};
use crate::program::{MemoryProfile, Pages};
use crate::time::{Span, Speed, Time, Work};
use class::{Class, Classes, Key, REMOTE, Spans};
use heap::Heaps;
use law::{CacheLaw, Demand, Distances};
use loads::Loads;
use teams::Teams;

pub(crate) use class::ClassId;
pub(crate) use law::{ONE, cache_span};

/// The clock of its class when a member started, and by how much traffic was ahead.
type Entry = (u64, u64);

/// Where the accesses of a task go: the node of its own pages, and the package that serves them, plus one;
/// 0 = none, for all but all-to-all transfers on machines whose packages have a limit for these.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) node: NodeId,
    pub(crate) server: u32,
}

impl Origin {
    /// Pages on this node.
    pub(crate) const fn at(node: NodeId) -> Self {
        Self { node, server: 0 }
    }
}

/// The memory system of a run.
pub(crate) struct Contention {
    nodes: u32,
    spans: Spans,
    /// Tasks far from their pages differ by their distance only: there are no buses and no shared caches that
    /// count.
    by_distance: bool,
    core_bandwidth: u64,
    demands: Vec<Demand>,
    distances: Distances,
    teams: Teams,
    cache: CacheLaw,
    classes: Classes,
    heaps: Heaps,
    /// What members brought along; kept only where demand can grow.
    entries: PerCpu<Entry>,
    loads: Loads,
}

impl Contention {
    pub(crate) fn new(machine: &Machine, profiles: &[MemoryProfile]) -> Self {
        let (memory, cpus) = (&machine.memory, machine.cpus());
        let cache = CacheLaw::new(machine);
        let distances = Distances::new(machine);
        let node = machine.topology.span(Level::Node);
        let package = machine.topology.span(Level::Package);
        let bus = if memory.bus_bandwidth > 0 { package } else { cpus };
        let servers = if memory.transfer_bandwidth > 0 { cpus / package } else { 0 };
        let group = if cache.span > 0 { cache.span } else { cpus };
        let demands: Vec<_> = profiles.iter().map(|p| Demand::new(machine, p)).collect();
        let groups = cpus.checked_div(cache.span).unwrap_or(0);
        let spread = demands.iter().any(|demand| demand.spread > 0);
        let by_distance = memory.bus_bandwidth == 0 && cache.span == 0 && !distances.beyond();
        // Per profile: one class per home node, one for remote tasks.
        let demanding = demands.iter().filter(|demand| !demand.is_free()).count();
        let usual = (2 * demanding * machine.nodes() as usize).min(cpus as usize);
        let place = node.min(bus).min(group);
        Self {
            nodes: machine.nodes(),
            spans: Spans { node, bus, group, place },
            by_distance,
            core_bandwidth: memory.core_bandwidth,
            loads: Loads::new(machine, [cpus / bus, groups, servers], usual, spread, distances.uniform()),
            demands,
            distances,
            teams: Teams::new(machine.nodes()),
            classes: Classes::with_capacity(usual),
            // Room for all of a place, unless that is very large. Of those who are away from their pages any
            // number can be in one class.
            heaps: Heaps::new(cpus, usual, place.min(1_024) as usize),
            entries: PerCpu::filled(if cache.span > 0 { cpus as usize } else { 0 }, (0, 0)),
            cache,
        }
    }

    /// The class of a task with this profile and origin of its data on this cpu. `last`: its last one, most
    /// often the same.
    #[inline]
    pub(crate) fn class(&mut self, profile: u32, from: Origin, cpu: CpuId, last: ClassId) -> ClassId {
        let demand = &self.demands[profile as usize];
        if demand.is_free() {
            return ClassId::FREE;
        }
        let slot = self.slot(profile, from.node);
        let node = cpu.0 / self.spans.node;
        let place = if self.by_distance && demand.spread == 0 && slot < self.nodes && slot != node {
            REMOTE | self.distances.between(node, slot) as u32
        } else {
            cpu.0 / self.spans.place
        };
        let key = Key { profile, slot, place, server: from.server };
        if self.classes.get(last).is_some_and(|class| class.key == key) {
            return last;
        }
        self.find(key, cpu)
    }

    fn find(&mut self, key: Key, cpu: CpuId) -> ClassId {
        self.classes.find(key).unwrap_or_else(|at| {
            let demand = &self.demands[key.profile as usize];
            let home = self.spans.of(cpu);
            let team = self.teams.shares(key.slot);
            let kinds = self.loads.kinds(demand.spread > 0 || team.is_some(), key.server);
            let near = team.map(|shares| self.distances.mean_of(home.0, shares));
            let class = Class::new(key, demand, &self.distances, (home, near), kinds);
            let id = self.classes.add(at, class);
            self.heaps.add(id.0);
            self.loads.reserve(self.classes.records.capacity());
            id
        })
    }

    /// The code of pages on several nodes, in proportion to these counts, used as the home of a task.
    pub(crate) fn team(&mut self, pages: &[u64]) -> NodeId {
        let home = self.teams.find(pages);
        self.loads.plain &= home.0 < self.nodes;
        home
    }

    /// Adds so many parts, of 65,536 pages each, with this home to counts by node.
    pub(crate) fn add_pages(&self, home: NodeId, parts: u64, counts: &mut [u64]) {
        let add = |count: &mut u64, share| *count = count.saturating_add(parts.saturating_mul(share));
        if let Some(shares) = self.teams.shares(home.0) {
            counts.iter_mut().zip(shares).for_each(|(count, share)| add(count, *share));
        } else if let Some(count) = counts.get_mut(home.0 as usize) {
            add(count, ONE);
        }
    }

    /// Number of classes there is room for; more ask for memory.
    pub(crate) const fn room(&self) -> usize {
        self.classes.records.capacity()
    }

    /// Page node of a task with this home, or the number of nodes when its pages are interleaved.
    #[inline]
    fn slot(&self, profile: u32, home: NodeId) -> u32 {
        match self.demands[profile as usize].pages {
            Pages::FirstTouch | Pages::NextTouch | Pages::Master | Pages::Team => home.0,
            Pages::Interleaved => self.nodes,
            Pages::Node(node) if node.0 < self.nodes => node.0,
            Pages::Node(_) => 0,
        }
    }

    /// What a task demands before growth: at its core's own speed at most what one core can draw, slowed by
    /// `factor` (1/65,536).
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

    /// Share of a profile's accesses that are spread over all nodes, 1/65,536.
    #[inline]
    pub(crate) fn spread(&self, profile: u32) -> u64 {
        self.demands[profile as usize].spread
    }

    /// Factor of distance over all accesses of a class, 1/65,536.
    #[inline]
    pub(crate) fn remote(&self, class: ClassId) -> u64 {
        self.classes.get(class).map_or(ONE, |class| u64::from(class.remote))
    }

    /// Factor of distance between a cpu and the pages of a task with this profile and home, 1/65,536.
    pub(crate) fn distance(&self, profile: u32, home: NodeId, cpu: CpuId) -> u64 {
        let (slot, node) = (self.slot(profile, home), cpu.0 / self.spans.node);
        match self.teams.shares(slot) {
            Some(shares) => self.distances.mean_of(node, shares),
            None if slot == self.nodes => self.distances.mean(node),
            None => self.distances.between(node, slot),
        }
    }

    /// The working set of a task that starts or stops to compute on a cpu.
    #[inline]
    pub(crate) fn occupy(&mut self, profile: u32, cpu: CpuId, enters: bool) {
        if let Some(group) = cpu.0.checked_div(self.cache.span) {
            self.loads.occupy(group, self.demands[profile as usize].working_set, enters);
        }
    }

    /// A task starts to compute: after `overhead` (done at the class's present speed) it needs `work`, scaled
    /// to the cpu, and would demand `bytes` per second before growth if its pages were local. A core has so
    /// many requests under way and no more: when each takes longer, it makes fewer (Little 1961).
    #[inline]
    pub(crate) fn start(
        &mut self,
        class: ClassId,
        cpu: CpuId,
        now: Time,
        overhead: Span,
        work: Work,
        bytes: u64,
    ) {
        if self.classes.records[class.0 as usize].members == 0 {
            self.open(class.0, now);
        }
        let record = &mut self.classes.records[class.0 as usize];
        let bytes = if record.slow == ONE { bytes } else { bytes * ONE / record.slow };
        let clock = record.clock(now);
        let target = clock.wrapping_add(overhead.ns().wrapping_mul(record.rate)).wrapping_add(work.raw());
        record.members += 1;
        self.heaps.insert(class.0, cpu, target, bytes);
        if self.cache.span > 0 {
            self.entries[cpu] = (clock, record.excess(now));
            record.bytes += bytes;
        }
        self.loads.note_move(class.0, record);
        self.loads.shift(record, self.teams.shares(record.key.slot), bytes, true);
        self.loads.meet(record, bytes, true);
    }

    /// A task stops computing; returns the work left (zero when it is complete), at most `work`, and the mean
    /// growth of its demand since it started, 1/65,536.
    #[inline]
    pub(crate) fn stop(&mut self, class: ClassId, cpu: CpuId, now: Time, work: Work) -> (Work, u64) {
        let record = &mut self.classes.records[class.0 as usize];
        let clock = record.clock(now);
        let left = Self::left_at(clock, self.heaps.target(cpu)).min(work);
        let bytes = self.heaps.bytes(cpu);
        let mut growth = ONE;
        if self.cache.span > 0 {
            let entry = self.entries[cpu];
            let (done, excess) = (clock.wrapping_sub(entry.0), record.excess(now).wrapping_sub(entry.1));
            if excess != 0 {
                growth = ((u128::from(done.wrapping_add(excess)) << 16) / u128::from(done.max(1))) as u64;
            }
            record.bytes -= bytes;
        }
        record.members -= 1;
        self.heaps.remove(class.0, cpu);
        self.loads.note_move(class.0, record);
        self.loads.shift(record, self.teams.shares(record.key.slot), bytes, false);
        self.loads.meet(record, bytes, false);
        (left, growth)
    }

    #[inline]
    fn left_at(clock: u64, target: u64) -> Work {
        let left = target.wrapping_sub(clock) as i64;
        Work::from_raw(left.max(0) as u64)
    }

    /// The work left of a running task, at most `work`.
    #[inline]
    pub(crate) fn left(&self, class: ClassId, cpu: CpuId, now: Time, work: Work) -> Work {
        let clock = self.classes.records[class.0 as usize].clock(now);
        Self::left_at(clock, self.heaps.target(cpu)).min(work)
    }

    /// Calls `found` for every member that has completed by `now` (they stay members until they are stopped).
    #[inline]
    pub(crate) fn each_due(&self, class: u32, now: Time, found: impl FnMut(CpuId)) {
        let record = &self.classes.records[class as usize];
        self.heaps.each_due(class, record.clock(now), found);
    }

    /// The home node of what is first touched on a cpu.
    #[inline]
    pub(crate) const fn node(&self, cpu: CpuId) -> NodeId {
        NodeId(cpu.0 / self.spans.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(demand: u64, bound: u32) -> MemoryProfile {
        MemoryProfile { demand, bound: Some(bound), ..MemoryProfile::NONE }
    }

    #[test]
    fn heap_agrees_with_sorting() {
        let machine = crate::engine::test_machine(64);
        let mut memory = Contention::new(&machine, &[profile(0, 1)]);
        let class = memory.class(0, Origin::at(NodeId(0)), CpuId(0), ClassId::FREE);
        let mut inside: Vec<(u64, u32)> = Vec::new();
        for step in 0..crate::steps(5_000) {
            let draw = u64::from(crate::rng::draw(9, step));
            let cpu = (draw % 64) as u32;
            if let Some(at) = inside.iter().position(|m| m.1 == cpu) {
                inside.remove(at);
                memory.stop(class, CpuId(cpu), Time::ZERO, Work::MAX);
            } else {
                let work = Work::from_raw((draw >> 8) % 9);
                memory.start(class, CpuId(cpu), Time::ZERO, Span::ZERO, work, 0);
                inside.push((work.raw(), cpu));
            }
            let least = inside.iter().map(|member| member.0).min();
            assert_eq!(memory.heaps.first(class.0), least);
            assert_eq!(memory.classes.records[class.0 as usize].members as usize, inside.len());
            let mut due: Vec<_> =
                inside.iter().filter(|member| member.0 == 0).map(|member| member.1).collect();
            let mut notified = Vec::new();
            memory.each_due(class.0, Time::ZERO, |cpu| notified.push(cpu.0));
            due.sort_unstable();
            notified.sort_unstable();
            assert_eq!(due, notified);
        }
    }

    #[test]
    fn stop_and_start_conserve_work() {
        let machine = crate::engine::test_machine(4);
        let mut memory = Contention::new(&machine, &[profile(1_000, 65_536)]);
        let class = memory.class(0, Origin::at(NodeId(0)), CpuId(1), ClassId::FREE);
        let work = Work::from_span(Span::from_ns(1_000));
        memory.start(class, CpuId(1), Time::ZERO, Span::from_ns(10), work, 1_000);
        assert_eq!(
            memory.classes.records[class.0 as usize].when(memory.heaps.target(CpuId(1))),
            Time::from_ns(1_010)
        );
        let (left, growth) = memory.stop(class, CpuId(1), Time::from_ns(410), work);
        assert_eq!((left.floor_ns(), growth), (600, ONE));
    }

    #[test]
    fn classes_are_found_again_however_many_there_are() {
        let machine = crate::engine::test_machine(4);
        let mut memory = Contention::new(&machine, &[profile(1_000, 9); 500]);
        let ids: Vec<_> =
            (0..500).map(|p| memory.class(p, Origin::at(NodeId(0)), CpuId(1), ClassId::FREE)).collect();
        assert!(
            (0..500)
                .all(|p| memory.class(p, Origin::at(NodeId(0)), CpuId(3), ClassId::FREE) == ids[p as usize])
        );
        assert_eq!(memory.classes.records.len(), 500);
    }

    /// Eight nodes of two cpus at one distance: as one factor; as a matrix, for which the mean over nodes is
    /// summed for each class; with buses that never matter, which keep classes of tasks away from their pages
    /// apart.
    fn equals() -> [Machine; 3] {
        use crate::machine::{Memory, Topology};
        let mut machine = crate::engine::test_machine(16);
        machine.topology = Topology::new(&[(Level::Package, 8), (Level::Node, 1), (Level::Core, 2)]).unwrap();
        let memory = Memory { link_bandwidth: 2_000_000_000, remote_factor: 1_400, ..machine.memory.clone() };
        let matrix = (0..64).map(|at| if at % 9 == 0 { 1_000 } else { 1_400 }).collect();
        let with = |memory| Machine { memory, ..machine.clone() };
        [
            with(memory.clone()),
            with(Memory { distances: matrix, ..memory.clone() }),
            with(Memory { bus_bandwidth: u64::MAX, ..memory }),
        ]
    }

    #[test]
    fn short_ways_of_summing_and_of_sharing_classes_change_no_completion() {
        let profiles = [
            profile(3_000_000_000, 50_000),
            MemoryProfile { shared: 20_000, ..profile(2_000_000_000, 60_000) },
            MemoryProfile { pages: Pages::Interleaved, ..profile(4_000_000_000, 65_536) },
        ];
        let work = Work::from_span(Span::from_ms(50));
        let machines = equals();
        let mut twins = machines.each_ref().map(|machine| (Contention::new(machine, &profiles), [None; 16]));
        for step in 0..crate::steps(3_000) as u32 {
            let draw = crate::rng::draw(7, u64::from(step));
            let (cpu, home, profile) = (CpuId(draw % 16), NodeId(draw >> 8 & 7), draw >> 16 & 0xff);
            let now = Time::from_ns(u64::from(step) * 900);
            let notified = twins.each_mut().map(|(memory, running)| {
                let notified = if let Some(class) = running[cpu.0 as usize].take() {
                    memory.stop(class, cpu, now, work).0
                } else {
                    let class = memory.class(profile % 3, Origin::at(home), cpu, ClassId::FREE);
                    running[cpu.0 as usize] = Some(class);
                    let bytes = memory.draw(profile % 3, Speed::NOMINAL);
                    memory.start(class, cpu, now, Span::ZERO, work, bytes);
                    Work::ZERO
                };
                memory.refresh(now, |_, _| {});
                notified
            });
            assert!(notified.iter().all(|left| *left == notified[0]), "step {step}: {notified:?}");
        }
        let classes = twins.map(|twin| twin.0.classes.records.len());
        // At home and away, 8 x 8 with a shared part, 8 interleaved. Miri makes too few steps for all.
        assert!(cfg!(miri) || classes == [16 + 64 + 8, 16 + 64 + 8, 64 + 64 + 8], "{classes:?}");
    }
}
