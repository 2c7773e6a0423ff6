//! A pairing heap over cpus: who of a class completes first. All heaps share one table of links.

use super::Entry;
use crate::ids::CpuId;
use crate::machine::PerCpu;

/// No cpu: the end of a list, the root of an empty heap.
pub(super) const NO_CPU: u32 = u32::MAX;

/// A member of a class while it runs: its completion on the class's clock, its heap links, what it brought along. One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Member {
    pub(super) target: u64,
    child: u32,
    sibling: u32,
    /// Parent or left sibling.
    previous: u32,
    entry: Entry,
}

/// The links of all heaps: a cpu is in one of them at most.
pub(super) struct Heaps {
    members: PerCpu<Member>,
}

impl Heaps {
    pub(super) fn new(cpus: u32) -> Self {
        let entry = Entry::default();
        let member = Member { target: 0, child: NO_CPU, sibling: NO_CPU, previous: NO_CPU, entry };
        Self { members: PerCpu::filled(cpus as usize, member) }
    }

    /// Cpus of the machine.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    #[inline]
    pub(super) fn target(&self, cpu: u32) -> u64 {
        self.members[CpuId(cpu)].target
    }

    /// What a member brought along.
    #[inline]
    pub(super) fn entry(&self, cpu: u32) -> Entry {
        self.members[CpuId(cpu)].entry
    }

    /// Adds a member and returns the new root.
    pub(super) fn insert(&mut self, root: u32, cpu: u32, target: u64, entry: Entry) -> u32 {
        self.members[CpuId(cpu)] = Member { target, child: NO_CPU, sibling: NO_CPU, previous: NO_CPU, entry };
        self.meld(root, cpu)
    }

    /// Calls `found` for every member of a heap whose target has come.
    pub(super) fn each_due(&self, root: u32, clock: u64, mut found: impl FnMut(CpuId)) {
        let member = |node: u32| &self.members[CpuId(node)];
        let mut node = root;
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

    #[inline]
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

    #[inline]
    fn detach(&mut self, node: u32) {
        let record = &mut self.members[CpuId(node)];
        record.sibling = NO_CPU;
        record.previous = NO_CPU;
    }

    /// Removes a node and returns the new root.
    pub(super) fn remove(&mut self, root: u32, node: u32) -> u32 {
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
}
