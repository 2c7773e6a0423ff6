//! Classes of tasks alike: their keys, their records, and the index that finds them again.

use super::law::{Demand, Distances, ONE};
use crate::ids::CpuId;
use crate::time::{Speed, Time, Work};

/// Kinds of lists of classes: all with spread accesses (list 0), or by the package that serves them (the
/// lists from 1 on), which no class with spread accesses has; of the others by page node and all that
/// cross nodes; by bus, by cache group.
pub(super) const SLOT: usize = 0;
pub(super) const SPREAD: usize = 1;
pub(super) const FAR: usize = 2;
pub(super) const BUS: usize = 3;
pub(super) const GROUP: usize = 4;
/// Number of kinds.
pub(super) const KINDS: usize = 5;

/// No class: the end of a list.
pub(super) const NO_CLASS: u32 = u32::MAX;

/// Index of a class of tasks that share a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClassId(pub(crate) u32);

impl ClassId {
    /// Runs at nominal speed whatever the others do.
    pub(crate) const FREE: Self = Self(u32::MAX);
}

/// What makes tasks alike.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) profile: u32,
    /// Page node; the number of nodes stands for interleaved pages, greater ones for pages of teams.
    pub(super) slot: u32,
    /// Where it computes: all cpus of a place are on one node, one bus and one shared cache; or ([`REMOTE`])
    /// they are on other nodes than the pages, all at the same distance.
    pub(super) place: u32,
    /// As in [`Origin`](super::Origin).
    pub(super) server: u32,
}

/// Flag of a place that is a distance.
pub(super) const REMOTE: u32 = 1 << 31;

impl Key {
    #[inline]
    fn hash(self) -> u64 {
        let mixed = (u64::from(self.profile) << 42) ^ (u64::from(self.slot) << 21) ^ u64::from(self.place);
        let mixed = mixed ^ (u64::from(self.server) << 32);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    }
}

/// A class. What each start and stop of a member needs comes first; 128 bytes.
#[repr(C, align(64))]
pub(super) struct Class {
    /// Clock: work done since the start by a task that always ran (wraps).
    clock: u64,
    /// When the clocks were last set.
    at: Time,
    /// Speed of the clock.
    pub(super) rate: u64,
    /// How much slower distance alone makes its tasks, 1/65,536: they ask for as much less per second.
    pub(super) slow: u64,
    pub(super) key: Key,
    /// How many members run.
    pub(super) members: u32,
    /// Memory-bound share, share of the accesses spread over all nodes, 1/65,536.
    pub(super) bound: u32,
    pub(super) spread: u32,
    /// Factor of distance between its cpus and its page node, 1/65,536.
    pub(super) distance: u32,
    /// Its pages are on another node.
    pub(super) is_far: bool,
    /// Its next completion may have moved.
    pub(super) moved: bool,
    /// Kinds of lists that it belongs in while it has members, and those that it stands in; a bit each.
    pub(super) kinds: u8,
    pub(super) listed: u8,
    /// The class behind it in each list.
    pub(super) next: [u32; KINDS],
    /// Node of its cpus, their bus, their cache group (of one of them, where the place is a distance).
    pub(super) node: u32,
    pub(super) bus: u32,
    pub(super) group: u32,
    /// Factor of distance over all its accesses, 1/65,536; larger ones than fit count as the largest.
    pub(super) remote: u32,
    /// Growth of the demand in the shared cache, 1/65,536.
    pub(super) growth: u64,
    excess: u64,
    /// Sum of what the members demand before growth, bytes per second; kept only where demand can grow.
    pub(super) bytes: u64,
}

impl Class {
    /// An empty class of tasks on cpus of this node, bus and cache group. `team`: mean factor of distance to
    /// pages on several nodes.
    pub(super) fn new(
        key: Key,
        demand: &Demand,
        distances: &Distances,
        ((node, bus, group), team): ((u32, u32, u32), Option<u64>),
        kinds: u8,
    ) -> Self {
        let Demand { spread, bound, .. } = *demand;
        let interleaved = spread == ONE;
        let near = match team {
            Some(mean) => mean,
            None if interleaved => ONE,
            None => distances.between(node, key.slot),
        };
        let mean = distances.mean(node);
        let remote = (((ONE - spread) * near + spread * mean) >> 16).min(u64::from(u32::MAX));
        let is_far = key.slot != node;
        Self {
            clock: 0,
            at: Time::ZERO,
            rate: Speed::NOMINAL.raw(),
            slow: ONE - bound + ((bound * remote) >> 16),
            key,
            members: 0,
            bound: bound as u32,
            spread: spread as u32,
            distance: distances.cost(near),
            is_far,
            moved: false,
            kinds: if is_far { kinds } else { kinds & !(1 << FAR) },
            listed: 0,
            next: [NO_CLASS; KINDS],
            node,
            bus,
            group,
            remote: remote as u32,
            growth: ONE,
            excess: 0,
            bytes: 0,
        }
    }

    /// Share of its members' time in which they wait for memory, 1/65,536: b R / (1 - b + b R).
    pub(super) fn waits(&self) -> u64 {
        u64::from(self.bound) * u64::from(self.remote) / self.slow
    }

    #[inline]
    pub(super) fn clock(&self, now: Time) -> u64 {
        self.clock.wrapping_add(now.since(self.at).ns().wrapping_mul(self.rate))
    }

    /// By how much traffic, the clock weighted with the growth of demand, is ahead of the clock (wraps).
    #[inline]
    pub(super) fn excess(&self, now: Time) -> u64 {
        if self.growth == ONE {
            return self.excess;
        }
        let speed = ((self.rate * self.growth) >> 16) - self.rate;
        self.excess.wrapping_add(now.since(self.at).ns().wrapping_mul(speed))
    }

    /// Brings the clocks to now.
    #[inline]
    pub(super) fn retime(&mut self, now: Time) {
        (self.clock, self.excess) = (self.clock(now), self.excess(now));
        self.at = now;
    }

    /// When the clock shows `target`.
    #[inline]
    pub(super) fn when(&self, target: u64) -> Time {
        let left = target.wrapping_sub(self.clock) as i64;
        self.at + Work::from_raw(left.max(0) as u64).duration_at(Speed::from_raw(self.rate))
    }
}

/// All classes that were ever used, with an open-addressed index by key.
pub(super) struct Classes {
    pub(super) records: Vec<Class>,
    /// [`NO_CLASS`] = free. At most half full.
    index: Vec<u32>,
}

impl Classes {
    /// Room for so many.
    pub(super) fn with_capacity(classes: usize) -> Self {
        let index = vec![NO_CLASS; (2 * classes).next_power_of_two().max(64)];
        Self { records: Vec::with_capacity(classes), index }
    }

    /// The class with this key, or where it belongs in the index.
    pub(super) fn find(&self, key: Key) -> Result<ClassId, usize> {
        let mask = self.index.len() - 1;
        let mut at = key.hash() as usize & mask;
        while let Some(class) = self.records.get(self.index[at] as usize) {
            if class.key == key {
                return Ok(ClassId(self.index[at]));
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    /// A class is used for the first time; the index grows when it is half full.
    pub(super) fn add(&mut self, at: usize, class: Class) -> ClassId {
        let id = self.records.len() as u32;
        self.index[at] = id;
        self.records.push(class);
        if self.records.len() * 2 > self.index.len() {
            let mask = self.index.len() * 2 - 1;
            self.index.clear();
            self.index.resize(mask + 1, NO_CLASS);
            for (class, record) in self.records.iter().enumerate() {
                let mut at = record.key.hash() as usize & mask;
                while self.index[at] != NO_CLASS {
                    at = (at + 1) & mask;
                }
                self.index[at] = class as u32;
            }
        }
        ClassId(id)
    }

    /// Goes through a list of a kind and takes out who has no members; returns what is then the first.
    #[inline(always)]
    pub(super) fn each_of(&mut self, kind: usize, first: u32, mut visit: impl FnMut(u32, &mut Class)) -> u32 {
        let (mut first, mut at, mut before) = (first, first, NO_CLASS);
        while at != NO_CLASS {
            let record = &mut self.records[at as usize];
            let next = record.next[kind];
            if record.members > 0 {
                visit(at, record);
                before = at;
            } else {
                record.listed &= !(1 << kind);
                match self.records.get_mut(before as usize) {
                    Some(record) => record.next[kind] = next,
                    None => first = next,
                }
            }
            at = next;
        }
        first
    }

    #[inline]
    pub(super) fn get(&self, class: ClassId) -> Option<&Class> {
        self.records.get(class.0 as usize)
    }
}

/// The home of a cpu: by the sizes of nodes, buses, cache groups and places.
pub(super) struct Spans {
    pub(super) node: u32,
    pub(super) bus: u32,
    pub(super) group: u32,
    /// The smallest of the three lies inside the others: the levels nest.
    pub(super) place: u32,
}

impl Spans {
    /// Node, bus and cache group of a cpu.
    pub(super) const fn of(&self, cpu: CpuId) -> (u32, u32, u32) {
        (cpu.0 / self.node, cpu.0 / self.bus, cpu.0 / self.group)
    }
}
