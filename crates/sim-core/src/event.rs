//! When things happen next: a tournament tree with one armed instant per source, and a heap of timers.
//!
//! Order of simultaneous events: all timers of an instant, by class and then by order of arming; then the
//! sources that are due. Timer classes: applications start before tasks wake, so that a wake-up finds the
//! whole population. Tasks wake before policies act, so that a policy observes the queues as they are. Ticks
//! precede timers and slots because in-kernel work precedes user-level work. Sources (cpus, contention
//! clocks) only mark cpus; marked cpus then decide in id order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::ids::{AppId, CpuId, TaskId};
use crate::time::Time;

const ARITY: usize = 4;

/// A 4-ary tournament tree: the earliest of one instant per source, the lowest source among equals.
///
/// All groups of four lie in one vector, the root first, the children of group g at 4g + 1 to 4g + 4.
pub(crate) struct Tournament {
    groups: Vec<[u64; ARITY]>,
    /// The first group of the lowest level.
    leaves: usize,
    /// The earliest instant.
    least: u64,
}

/// The least of a group.
#[inline]
fn best(group: &[u64; ARITY]) -> u64 {
    group[0].min(group[1]).min(group[2].min(group[3]))
}

impl Tournament {
    pub(crate) fn new(sources: usize) -> Self {
        let (mut leaves, mut width) = (0, 1);
        while width * ARITY < sources {
            leaves += width;
            width *= ARITY;
        }
        let used = sources.max(1).div_ceil(ARITY);
        Self { groups: vec![[u64::MAX; ARITY]; leaves + used], leaves, least: u64::MAX }
    }

    /// Makes room for at least this many sources; doubles, so that growing one by one costs little.
    #[inline]
    pub(crate) fn grow(&mut self, sources: usize) {
        if sources > (self.groups.len() - self.leaves) * ARITY {
            self.regrow(sources);
        }
    }

    fn regrow(&mut self, sources: usize) {
        let old = &self.groups[self.leaves..];
        let mut tree = Self::new(sources.max(2 * ARITY * old.len()));
        for (source, at) in old.as_flattened().iter().enumerate() {
            tree.set(source, Time::from_ns(*at));
        }
        *self = tree;
    }

    /// Arms a source; `Time::NEVER` disarms it.
    #[inline]
    pub(crate) fn set(&mut self, source: usize, at: Time) {
        let (mut group, mut slot, mut at) = (self.leaves + source / ARITY, source % ARITY, at.ns());
        loop {
            let slots = &mut self.groups[group];
            // The others are compared first: that need not wait for `at`, which most often comes out of a
            // chain of divisions.
            slots[slot] = u64::MAX;
            let others = best(slots);
            slots[slot] = at;
            at = at.min(others);
            if group == 0 {
                self.least = at;
                return;
            }
            (group, slot) = ((group - 1) / ARITY, (group - 1) % ARITY);
            if self.groups[group][slot] == at {
                return;
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, source: usize) -> Time {
        Time::from_ns(self.groups[self.leaves + source / ARITY][source % ARITY])
    }

    /// The earliest instant.
    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        Time::from_ns(self.least)
    }

    /// The lowest source that is armed at the earliest instant.
    pub(crate) fn first(&self) -> usize {
        let mut group = 0;
        loop {
            let slot = self.groups[group].iter().take_while(|at| **at != self.least).count();
            if group >= self.leaves {
                return (group - self.leaves) * ARITY + slot;
            }
            group = group * ARITY + 1 + slot;
        }
    }

    /// The source that is armed at the earliest instant, if it is the only one.
    #[inline]
    pub(crate) fn only_first(&self) -> Option<usize> {
        let mut group = 0;
        loop {
            let [a, b, c, d] = self.groups[group];
            let due = |at: u64, bit: u32| u32::from(at == self.least) << bit;
            let mask = due(a, 0) | due(b, 1) | due(c, 2) | due(d, 3);
            if !mask.is_power_of_two() {
                return None;
            }
            let slot = mask.trailing_zeros() as usize;
            if group >= self.leaves {
                return Some((group - self.leaves) * ARITY + slot);
            }
            group = group * ARITY + 1 + slot;
        }
    }

    /// Calls `found` for every source that is armed at the earliest instant, in order; they stay armed.
    pub(crate) fn each_first(&self, found: &mut impl FnMut(usize)) {
        self.visit(0, found);
    }

    fn visit(&self, group: usize, found: &mut impl FnMut(usize)) {
        for (slot, at) in self.groups[group].iter().enumerate() {
            if *at == self.least {
                if group >= self.leaves {
                    found((group - self.leaves) * ARITY + slot);
                } else {
                    self.visit(group * ARITY + 1 + slot, found);
                }
            }
        }
    }
}

/// All sources: the cpus, then the contention clocks. Each kind has a separate tree, so that an event climbs
/// one or two levels less.
pub(crate) struct Sources {
    cpus: Tournament,
    clocks: Tournament,
    /// Number of cpus, and of the first clock.
    fixed: usize,
}

impl Sources {
    /// Sources of this number of cpus, with room for this number of clocks.
    pub(crate) fn new(cpus: usize, clocks: usize) -> Self {
        Self { cpus: Tournament::new(cpus), clocks: Tournament::new(clocks), fixed: cpus }
    }

    /// Makes room for at least this many clocks.
    #[inline]
    pub(crate) fn grow(&mut self, clocks: usize) {
        self.clocks.grow(clocks);
    }

    /// Arms a source; `Time::NEVER` disarms it.
    #[inline]
    pub(crate) fn set(&mut self, source: usize, at: Time) {
        match source.checked_sub(self.fixed) {
            None => self.cpus.set(source, at),
            Some(clock) => self.clocks.set(clock, at),
        }
    }

    /// When a cpu is armed.
    #[inline]
    pub(crate) fn get(&self, cpu: usize) -> Time {
        self.cpus.get(cpu)
    }

    /// The earliest instant.
    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        self.cpus.earliest().min(self.clocks.earliest())
    }

    /// The source that is armed at the earliest instant, if it is the only one.
    #[inline]
    pub(crate) fn only_first(&self) -> Option<usize> {
        match self.cpus.least.cmp(&self.clocks.least) {
            Ordering::Less => self.cpus.only_first(),
            Ordering::Greater => self.clocks.only_first().map(|clock| self.fixed + clock),
            Ordering::Equal => None,
        }
    }

    /// Calls `found` for every source that is armed at the earliest instant, in order; they stay armed.
    pub(crate) fn each_first(&self, mut found: impl FnMut(usize)) {
        let at = self.earliest();
        if self.cpus.earliest() == at {
            self.cpus.each_first(&mut found);
        }
        if self.clocks.earliest() == at {
            self.clocks.each_first(&mut |clock| found(self.fixed + clock));
        }
    }
}

/// What a timer does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timer {
    /// An application arrives.
    Start(AppId),
    /// The launcher of an application creates the next rank.
    Create(AppId),
    /// Applications in the admission queue may start.
    Admit,
    /// A sleeping task becomes runnable; the cpu whose task or timer wakes it.
    Wake(TaskId, CpuId),
    /// A source sends its next request; its number.
    Source(u32),
    /// An application changes the affinity mask of its tasks; which change.
    Bind(AppId, u16),
    /// The runtime of an application switches the yields of its waiters.
    Yields(AppId, u8),
    /// The operating system updates the priorities of all tasks.
    Update,
    /// A period begins for a task group of limited cpu time.
    Period(u16),
    /// A period of the limit of the real-time class begins.
    Refill,
    /// The next period of a task of `SCHED_DEADLINE` begins.
    Replenish(TaskId),
    /// Busy cpus ask the governor for their clocks.
    Clocks,
    /// A scheduler tick that a policy asked for.
    Tick(CpuId),
    /// A timer that a policy asked for.
    Policy(u64),
    /// A time slot begins.
    Slot,
}

impl Timer {
    const fn class(self) -> u8 {
        match self {
            Self::Start(_) | Self::Create(_) | Self::Admit => 0,
            Self::Wake(..) | Self::Source(_) | Self::Bind(..) | Self::Yields(..) => 1,
            Self::Update | Self::Period(_) | Self::Refill | Self::Replenish(_) | Self::Clocks => 2,
            Self::Tick(_) => 3,
            Self::Policy(_) => 4,
            Self::Slot => 5,
        }
    }

    /// A start, a wake-up or a request: a task becomes runnable.
    const fn is_entry(self) -> bool {
        matches!(self, Self::Start(_) | Self::Create(_) | Self::Admit | Self::Wake(..) | Self::Source(_))
    }
}

/// An armed timer; the one that comes first is the greatest.
struct Armed {
    /// Instant, class and order of arming in one number.
    key: u128,
    timer: Timer,
}

impl PartialEq for Armed {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Armed {}

impl PartialOrd for Armed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Armed {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

/// Timers by (instant, class, order of arming).
pub(crate) struct Timers {
    heap: BinaryHeap<Armed>,
    armed: u64,
    /// Armed starts, wake-ups and requests.
    entries: u32,
    /// The earliest instant.
    least: Time,
}

impl Timers {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(capacity), armed: 0, entries: 0, least: Time::NEVER }
    }

    pub(crate) fn arm(&mut self, at: Time, timer: Timer) {
        // 56 bits count the timers of any run.
        self.armed += 1;
        debug_assert!(self.armed < 1 << 56, "{} timers were armed", self.armed);
        let order = u64::from(timer.class()) << 56 | self.armed;
        self.entries += u32::from(timer.is_entry());
        self.heap.push(Armed { key: u128::from(at.ns()) << 64 | u128::from(order), timer });
        self.least = self.least.min(at);
    }

    #[inline]
    pub(crate) fn earliest(&self) -> Time {
        self.least
    }

    /// A start, a wake-up or a request is armed: the run is not deadlocked.
    #[inline]
    pub(crate) const fn has_entries(&self) -> bool {
        self.entries > 0
    }

    fn pop(&mut self) -> Option<Timer> {
        let first = self.heap.pop();
        self.entries -= u32::from(first.as_ref().is_some_and(|armed| armed.timer.is_entry()));
        self.least = self.heap.peek().map_or(Time::NEVER, |armed| Time::from_ns((armed.key >> 64) as u64));
        first.map(|armed| armed.timer)
    }

    #[inline]
    pub(crate) fn take(&mut self, at: Time) -> Option<Timer> {
        debug_assert!(self.least >= at, "a timer for {:?} is left at {at:?}", self.least);
        if self.least != at { None } else { self.pop() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firsts(tree: &Tournament) -> Vec<usize> {
        let mut found = Vec::new();
        tree.each_first(&mut |source| found.push(source));
        let only = if let [only] = found[..] { Some(only) } else { None };
        assert_eq!((tree.only_first(), tree.first()), (only, found[0]));
        found
    }

    #[test]
    fn the_tree_agrees_with_a_scan() {
        for sources in [1, 3, 4, 5, 17, 64, 100] {
            let mut tree = Tournament::new(sources);
            let mut plain = vec![u64::MAX; sources];
            for step in 0..crate::steps(2_000) {
                let draw = u64::from(crate::rng::draw(sources as u64, step));
                let source = (draw % sources as u64) as usize;
                let at = if draw & 64 == 0 { u64::MAX } else { draw >> 28 };
                tree.set(source, Time::from_ns(at));
                plain[source] = at;
                let least = plain.iter().copied().min().unwrap();
                assert_eq!(tree.earliest().ns(), least);
                if least != u64::MAX {
                    let due: Vec<usize> = (0..sources).filter(|at| plain[*at] == least).collect();
                    assert_eq!(firsts(&tree), due);
                }
            }
        }
    }

    #[test]
    fn a_grown_tree_remembers() {
        let mut tree = Tournament::new(3);
        tree.set(2, Time::from_ns(7));
        tree.grow(50);
        tree.set(49, Time::from_ns(6));
        assert_eq!((firsts(&tree), tree.get(2).ns()), (vec![49], 7));
        tree.set(49, Time::NEVER);
        assert_eq!((firsts(&tree), tree.earliest().ns()), (vec![2], 7));
    }

    #[test]
    fn clocks_come_after_cpus() {
        let mut sources = Sources::new(5, 1);
        let firsts = |sources: &Sources| {
            let mut found = Vec::new();
            sources.each_first(|source| found.push(source));
            (sources.earliest().ns(), found, sources.only_first())
        };
        sources.set(5, Time::from_ns(7));
        assert_eq!(firsts(&sources), (7, vec![5], Some(5)));
        sources.grow(9);
        sources.set(13, Time::from_ns(7));
        sources.set(3, Time::from_ns(7));
        assert_eq!(firsts(&sources), (7, vec![3, 5, 13], None));
        sources.set(4, Time::from_ns(6));
        assert_eq!((firsts(&sources), sources.get(3).ns()), ((6, vec![4], Some(4)), 7));
        sources.set(4, Time::NEVER);
        sources.set(5, Time::NEVER);
        sources.set(13, Time::NEVER);
        assert_eq!(firsts(&sources), (7, vec![3], Some(3)));
    }

    #[test]
    fn timers_keep_class_and_order() {
        let mut timers = Timers::with_capacity(8);
        let at = Time::from_ns(5);
        timers.arm(at, Timer::Slot);
        timers.arm(at, Timer::Policy(2));
        timers.arm(at, Timer::Policy(1));
        timers.arm(at, Timer::Start(AppId(0)));
        let order: Vec<_> = std::iter::from_fn(|| timers.take(at)).collect();
        assert_eq!(order, [Timer::Start(AppId(0)), Timer::Policy(2), Timer::Policy(1), Timer::Slot]);
    }
}
