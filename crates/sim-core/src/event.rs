//! When things happen next: a tournament tree with one armed instant per source, and a heap of timers.
//!
//! Order of simultaneous events: all timers of an instant, by class and then by order of arming; then the sources that
//! are due. Timer classes: applications start before tasks wake, so that a wake sees the whole population; tasks wake
//! before policies look, so that a policy sees the queues as they are; ticks come before timers and slots
//! because in-kernel work precedes user-level work. Sources (cpus, contention clocks) only mark cpus; marked
//! cpus then decide in id order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::{AppId, CpuId, TaskId};
use crate::time::Time;

const ARITY: usize = 4;

/// A 4-ary tournament tree: the earliest of one instant per source, the lowest source among equals.
pub(crate) struct Tournament {
    levels: Vec<Vec<u64>>,
}

impl Tournament {
    pub(crate) fn new(sources: usize) -> Self {
        let mut levels = Vec::new();
        let mut len = sources.max(1);
        loop {
            let padded = len.next_multiple_of(ARITY);
            levels.push(vec![u64::MAX; padded]);
            if padded == ARITY {
                break;
            }
            len = padded / ARITY;
        }
        Self { levels }
    }

    /// Makes room for at least this many sources; doubles, so that growing one by one costs little.
    pub(crate) fn grow(&mut self, sources: usize) {
        let old = &self.levels[0];
        if sources <= old.len() {
            return;
        }
        let mut tree = Self::new(sources.max(2 * old.len()));
        for (source, at) in old.iter().enumerate() {
            tree.set(source, Time::from_ns(*at));
        }
        *self = tree;
    }

    fn best(group: &[u64]) -> u64 {
        group.iter().copied().min().unwrap_or(u64::MAX)
    }

    /// Arms a source; `Time::NEVER` disarms it.
    pub(crate) fn set(&mut self, source: usize, at: Time) {
        let mut at = at.ns();
        let mut index = source;
        for level in &mut self.levels {
            if level[index] == at {
                return;
            }
            level[index] = at;
            let group = index / ARITY;
            at = Self::best(&level[group * ARITY..(group + 1) * ARITY]);
            index = group;
        }
    }

    pub(crate) fn get(&self, source: usize) -> Time {
        Time::from_ns(self.levels[0][source])
    }

    /// The earliest instant.
    pub(crate) fn earliest(&self) -> Time {
        self.levels.last().map_or(Time::NEVER, |top| Time::from_ns(Self::best(top)))
    }

    /// The lowest source armed at the earliest instant.
    pub(crate) fn first(&self) -> usize {
        let at = self.earliest().ns();
        let mut group = 0;
        for level in self.levels.iter().rev() {
            let slots = &level[group * ARITY..(group + 1) * ARITY];
            let slot = slots.iter().position(|t| *t == at).unwrap_or(0);
            group = group * ARITY + slot;
        }
        group
    }
}

/// What a timer does. The order of the variants is the order within an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Timer {
    /// An application arrives.
    Start(AppId),
    /// The launcher of an application creates the next rank.
    Create(AppId),
    /// Applications in the admission queue may start.
    Admit,
    /// A sleeping task becomes runnable; the cpu whose task or timer wakes it.
    Wake(TaskId, CpuId),
    /// The kernel brings the priorities of all tasks up to date.
    Update,
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
            Self::Wake(..) => 1,
            Self::Update => 2,
            Self::Tick(_) => 3,
            Self::Policy(_) => 4,
            Self::Slot => 5,
        }
    }
}

/// Timers by (instant, class, order of arming).
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, u8, u64, Timer)>>,
    armed: u64,
}

impl Timers {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(capacity), armed: 0 }
    }

    pub(crate) fn arm(&mut self, at: Time, timer: Timer) {
        self.armed += 1;
        self.heap.push(Reverse((at, timer.class(), self.armed, timer)));
    }

    pub(crate) fn earliest(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at)
    }

    pub(crate) fn take(&mut self, at: Time) -> Option<Timer> {
        if self.earliest() != at {
            return None;
        }
        self.heap.pop().map(|Reverse((.., timer))| timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_agrees_with_a_scan() {
        for sources in [1, 3, 4, 5, 17, 64, 100] {
            let mut tree = Tournament::new(sources);
            let mut plain = vec![u64::MAX; sources];
            for step in 0..2_000u64 {
                let draw = u64::from(crate::rng::draw(sources as u64, step));
                let source = (draw % sources as u64) as usize;
                let at = if draw & 64 == 0 { u64::MAX } else { draw >> 24 };
                tree.set(source, Time::from_ns(at));
                plain[source] = at;
                let least = plain.iter().copied().min().unwrap();
                assert_eq!(tree.earliest().ns(), least);
                if least != u64::MAX {
                    assert_eq!(tree.first(), plain.iter().position(|t| *t == least).unwrap());
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
        assert_eq!((tree.first(), tree.get(2).ns()), (49, 7));
        tree.set(49, Time::NEVER);
        assert_eq!((tree.first(), tree.earliest().ns()), (2, 7));
    }

    #[test]
    fn timers_keep_class_and_order() {
        let mut timers = Timers::default();
        let at = Time::from_ns(5);
        timers.arm(at, Timer::Slot);
        timers.arm(at, Timer::Policy(2));
        timers.arm(at, Timer::Policy(1));
        timers.arm(at, Timer::Start(AppId(0)));
        let order: Vec<_> = std::iter::from_fn(|| timers.take(at)).collect();
        assert_eq!(order, [Timer::Start(AppId(0)), Timer::Policy(2), Timer::Policy(1), Timer::Slot]);
    }
}
