//! Which member of a class completes first: a 4-ary heap per class, and the position of each cpu in its heap.

use crate::ids::CpuId;
use crate::machine::PerCpu;

const ARITY: usize = 4;

/// A place in a heap.
#[derive(Clone, Copy)]
struct Slot {
    /// Completion on the class's clock (wraps).
    target: u64,
    cpu: u32,
}

impl Slot {
    #[inline]
    fn is_before(self, other: Self) -> bool {
        (self.target.wrapping_sub(other.target) as i64) < 0
    }

    #[inline]
    fn is_due(self, clock: u64) -> bool {
        self.target.wrapping_sub(clock) as i64 <= 0
    }
}

/// A member of a class while it runs.
#[derive(Clone, Copy)]
struct Member {
    target: u64,
    /// Its demand before growth, bytes per second.
    bytes: u64,
    /// Where it stands in the heap.
    place: u32,
}

/// The heaps of all classes: a cpu is in one of them at most.
pub(super) struct Heaps {
    members: PerCpu<Member>,
    /// By class. The children of place p are 4p + 1 to 4p + 4.
    heaps: Vec<Vec<Slot>>,
}

impl Heaps {
    /// For a machine of so many cpus and so many classes, each with room for so many members; more ask for
    /// memory.
    pub(super) fn new(cpus: u32, classes: usize, members: usize) -> Self {
        let member = Member { target: 0, bytes: 0, place: 0 };
        let heaps = (0..classes).map(|_| Vec::with_capacity(members)).collect();
        Self { members: PerCpu::filled(cpus as usize, member), heaps }
    }

    /// Makes sure that a class has a heap.
    pub(super) fn add(&mut self, class: u32) {
        if class as usize >= self.heaps.len() {
            self.heaps.resize_with(class as usize + 1, Vec::new);
        }
    }

    /// The earliest target of a class.
    #[inline]
    pub(super) fn first(&self, class: u32) -> Option<u64> {
        self.heaps[class as usize].first().map(|slot| slot.target)
    }

    #[inline]
    pub(super) fn target(&self, cpu: CpuId) -> u64 {
        self.members[cpu].target
    }

    /// What a member demands.
    #[inline]
    pub(super) fn bytes(&self, cpu: CpuId) -> u64 {
        self.members[cpu].bytes
    }

    /// Adds a member.
    #[inline]
    pub(super) fn insert(&mut self, class: u32, cpu: CpuId, target: u64, bytes: u64) {
        let (heap, slot) = (&mut self.heaps[class as usize], Slot { target, cpu: cpu.0 });
        self.members[cpu] = Member { target, bytes, place: 0 };
        let at = heap.len();
        heap.push(slot);
        Self::rise(heap, &mut self.members, at, slot);
    }

    /// Puts a member at a place without one, or where it belongs above.
    #[inline]
    fn rise(heap: &mut [Slot], members: &mut PerCpu<Member>, mut at: usize, slot: Slot) {
        while at > 0 {
            let above = (at - 1) / ARITY;
            let parent = heap[above];
            if !slot.is_before(parent) {
                break;
            }
            heap[at] = parent;
            members[CpuId(parent.cpu)].place = at as u32;
            at = above;
        }
        heap[at] = slot;
        members[CpuId(slot.cpu)].place = at as u32;
    }

    /// Removes a member: the hole goes down to the lowest level, by three comparisons without a branch each,
    /// and the last member goes up from there, most often nowhere.
    #[inline]
    pub(super) fn remove(&mut self, class: u32, cpu: CpuId) {
        let (heap, members) = (&mut self.heaps[class as usize], &mut self.members);
        let mut at = members[cpu].place as usize;
        let Some(last) = heap.pop() else { return };
        if at == heap.len() {
            return;
        }
        while let Some(below) = heap.get(at * ARITY + 1..) {
            let Some(child) = first_of(below) else { break };
            let (child, slot) = (at * ARITY + 1 + child, below[child]);
            heap[at] = slot;
            members[CpuId(slot.cpu)].place = at as u32;
            at = child;
        }
        Self::rise(heap, members, at, last);
    }

    /// Calls `found` for every member whose target has come.
    #[inline]
    pub(super) fn each_due(&self, class: u32, clock: u64, mut found: impl FnMut(CpuId)) {
        let heap = &self.heaps[class as usize][..];
        let Some((first, below)) = heap.split_first().filter(|(first, _)| first.is_due(clock)) else {
            return;
        };
        found(CpuId(first.cpu));
        // Most often it is the only one.
        if below.iter().take(ARITY).any(|slot| slot.is_due(clock)) {
            (1..=ARITY).for_each(|child| Self::each_due_from(heap, child, clock, &mut found));
        }
    }

    /// From a place on downwards: below a member that is not due no task is.
    fn each_due_from(heap: &[Slot], at: usize, clock: u64, found: &mut impl FnMut(CpuId)) {
        let Some(slot) = heap.get(at).filter(|slot| slot.is_due(clock)) else { return };
        found(CpuId(slot.cpu));
        (1..=ARITY).for_each(|child| Self::each_due_from(heap, at * ARITY + child, clock, found));
    }
}

/// Which of the first four comes first.
#[inline]
fn first_of(slots: &[Slot]) -> Option<usize> {
    if let [a, b, c, d, ..] = *slots {
        let (low, left) = if b.is_before(a) { (1, b) } else { (0, a) };
        let (high, right) = if d.is_before(c) { (3, d) } else { (2, c) };
        return Some(if right.is_before(left) { high } else { low });
    }
    let mut first = 0;
    for at in 1..slots.len() {
        if slots[at].is_before(slots[first]) {
            first = at;
        }
    }
    (!slots.is_empty()).then_some(first)
}
