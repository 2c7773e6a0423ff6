//! Cpus with two or more working tasks of their own, the most overloaded first, of equals the nearest: found
//! without looking at all.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::machine::{Division, Level, PerCpu, Topology};

/// The cpus by how many work there. One on which nothing was found to take is left out until something
/// happens there.
#[derive(Clone, Debug, Default)]
pub(super) struct Overloaded {
    by_count: BTreeMap<u32, BTreeSet<CpuId>>,
    /// Of each cpu: how many work there, and that nothing was found to take.
    cpus: PerCpu<(u32, bool)>,
}

/// Where a search stands: how many work on the cpu found last, the distance and the cpu from which to go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    count: u32,
    ring: usize,
    from: u32,
}

impl Overloaded {
    pub(super) fn new(cpus: u32) -> Self {
        Self { by_count: BTreeMap::new(), cpus: PerCpu::filled(cpus as usize, (0, false)) }
    }

    /// So many work on a cpu now.
    pub(super) fn set(&mut self, cpu: CpuId, count: u32) {
        self.unlist(cpu);
        self.cpus[cpu] = (count, false);
        if count > 1 {
            self.by_count.entry(count).or_default().insert(cpu);
        }
    }

    /// Something has happened on a cpu: there may be a task to take again.
    pub(super) fn dirty(&mut self, cpu: CpuId) {
        if self.cpus[cpu].1 {
            self.set(cpu, self.cpus[cpu].0);
        }
    }

    /// There is no task to take until something changes there.
    pub(super) fn set_barren(&mut self, cpu: CpuId) {
        self.unlist(cpu);
        self.cpus[cpu].1 = true;
    }

    /// True when there is no cpu to take from.
    pub(super) fn is_empty(&self) -> bool {
        self.by_count.is_empty()
    }

    fn unlist(&mut self, cpu: CpuId) {
        let (count, _) = self.cpus[cpu];
        if let Some(cpus) = self.by_count.get_mut(&count)
            && cpus.remove(&cpu)
            && cpus.is_empty()
        {
            self.by_count.remove(&count);
        }
    }

    /// Where a search for the most overloaded begins.
    pub(super) const START: Cursor = Cursor { count: u32::MAX, ring: 0, from: 0 };

    /// The next cpu with more than `least` at work, in the order of `rings`, which hold each other.
    pub(super) fn next(&self, rings: &[Range<u32>], least: u32, cursor: &mut Cursor) -> Option<CpuId> {
        while let Some((count, cpus)) = self.by_count.range(..=cursor.count).next_back() {
            if *count <= least {
                return None;
            }
            if *count < cursor.count {
                *cursor = Cursor { count: *count, ring: 0, from: 0 };
            }
            while let Some(ring) = rings.get(cursor.ring) {
                let inner = if cursor.ring > 0 { rings[cursor.ring - 1].clone() } else { 0..0 };
                let after =
                    |from: u32| cpus.range(CpuId(from.max(ring.start))..CpuId(ring.end)).next().copied();
                let found = after(cursor.from).and_then(|cpu| {
                    if inner.contains(&cpu.0) { after(cursor.from.max(inner.end)) } else { Some(cpu) }
                });
                if let Some(cpu) = found {
                    cursor.from = cpu.0 + 1;
                    return Some(cpu);
                }
                (cursor.ring, cursor.from) = (cursor.ring + 1, 0);
            }
            cursor.count = count.checked_sub(1)?;
            (cursor.ring, cursor.from) = (0, 0);
        }
        None
    }
}

/// The cpus no further from one than its core, its cache, its package or node, and the machine: as
/// [`Topology::distance`] tells them apart.
pub(super) fn rings(topology: &Topology, cpu: CpuId) -> [Range<u32>; 4] {
    let (package, node) = (topology.span(Level::Package), topology.span(Level::Node));
    let near = if node < topology.cpus() { node.max(package) } else { package };
    let around = |level: Level| topology.division(level).around(cpu);
    let near = Division::equal(topology.cpus(), near).around(cpu);
    [around(Level::Core), around(Level::Cache), near, 0..topology.cpus()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_a_sort() {
        let levels =
            [(Level::Package, 2), (Level::Node, 2), (Level::Cache, 2), (Level::Core, 2), (Level::Thread, 2)];
        let topology = Topology::new(&levels).unwrap();
        let cpus = topology.cpus();
        let mut overloaded = Overloaded::new(cpus);
        let counts: Vec<u32> = (0..cpus).map(|cpu| cpu * 7 % 5).collect();
        for (cpu, count) in counts.iter().enumerate() {
            overloaded.set(CpuId(cpu as u32), *count);
        }
        overloaded.set_barren(CpuId(2));
        for to in (0..cpus).map(CpuId) {
            for least in 1..4 {
                let fits = |cpu: &CpuId| counts[cpu.0 as usize] > least && cpu.0 != 2 && *cpu != to;
                let mut plain: Vec<CpuId> = (0..cpus).map(CpuId).filter(fits).collect();
                let key = |cpu: &CpuId| {
                    (std::cmp::Reverse(counts[cpu.0 as usize]), topology.distance(to, *cpu), *cpu)
                };
                plain.sort_by_key(key);
                let (rings, mut cursor) = (rings(&topology, to), Overloaded::START);
                let found = std::iter::from_fn(|| overloaded.next(&rings, least, &mut cursor));
                assert_eq!(
                    found.filter(|cpu| *cpu != to).collect::<Vec<_>>(),
                    plain,
                    "to {to}, more than {least}"
                );
            }
        }
        overloaded.dirty(CpuId(2));
        let rings = rings(&topology, CpuId(2));
        assert_eq!(overloaded.next(&rings, 3, &mut { Overloaded::START }), Some(CpuId(2)));
    }
}
