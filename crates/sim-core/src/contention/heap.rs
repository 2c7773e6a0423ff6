//! A pairing heap over cpus: who of a class completes first. All heaps share one table of links.

use crate::ids::CpuId;
use crate::machine::PerCpu;

/// No cpu: the end of a list, the root of an empty heap.
pub(super) const NO_CPU: u32 = u32::MAX;

/// A member of a class while it runs: its completion on the class's clock, its heap links, its demand. Half a cache line.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Member {
    target: u64,
    /// Before growth, bytes per second.
    bytes: u64,
    child: u32,
    sibling: u32,
    /// Parent or left sibling.
    previous: u32,
}

/// The links of all heaps: a cpu is in one of them at most.
pub(super) struct Heaps {
    members: PerCpu<Member>,
}

impl Heaps {
    pub(super) fn new(cpus: u32) -> Self {
        let member = Member { target: 0, bytes: 0, child: NO_CPU, sibling: NO_CPU, previous: NO_CPU };
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

    /// What a member demands.
    #[inline]
    pub(super) fn bytes(&self, cpu: u32) -> u64 {
        self.members[CpuId(cpu)].bytes
    }

    /// Adds a member and returns the new root.
    #[inline]
    pub(super) fn insert(&mut self, root: u32, cpu: u32, target: u64, bytes: u64) -> u32 {
        self.members[CpuId(cpu)] = Member { target, bytes, child: NO_CPU, sibling: NO_CPU, previous: NO_CPU };
        self.meld(root, cpu)
    }

    /// Calls `found` for every member of a heap whose target has come.
    #[inline]
    pub(super) fn each_due(&self, root: u32, clock: u64, mut found: impl FnMut(CpuId)) {
        let due = |node: u32| self.target(node).wrapping_sub(clock) as i64 <= 0;
        if root == NO_CPU || !due(root) {
            return;
        }
        found(CpuId(root));
        // Most often it is the only one. Below a member that is not due nobody is.
        let mut node = self.members[CpuId(root)].child;
        while node != NO_CPU && !due(node) {
            node = self.members[CpuId(node)].sibling;
        }
        if node != NO_CPU {
            self.each_due_from(node, root, clock, found);
        }
    }

    /// Goes on from a node below the root, children before siblings.
    fn each_due_from(&self, first: u32, root: u32, clock: u64, mut found: impl FnMut(CpuId)) {
        let member = |node: u32| &self.members[CpuId(node)];
        let mut node = first;
        loop {
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
                    let is_parent = member(previous).child == node;
                    node = previous;
                    if is_parent {
                        break;
                    }
                }
                if node == root {
                    return;
                }
            }
            node = member(node).sibling;
        }
    }

    /// Melds two heaps. The sibling and the previous one of a root mean nothing.
    #[inline]
    fn meld(&mut self, a: u32, b: u32) -> u32 {
        if a == NO_CPU {
            return b;
        }
        if b == NO_CPU {
            return a;
        }
        let a_first = self.target(a).wrapping_sub(self.target(b)) as i64 <= 0;
        let (top, low) = if a_first { (a, b) } else { (b, a) };
        let child = std::mem::replace(&mut self.members[CpuId(top)].child, low);
        let record = &mut self.members[CpuId(low)];
        (record.sibling, record.previous) = (child, top);
        if child != NO_CPU {
            self.members[CpuId(child)].previous = low;
        }
        top
    }

    /// Melds a list of siblings in pairs, left to right, then the results right to left.
    fn meld_list(&mut self, first: u32) -> u32 {
        let (mut next, mut melded) = (first, NO_CPU);
        while next != NO_CPU {
            let a = next;
            let b = self.members[CpuId(a)].sibling;
            next = if b == NO_CPU { NO_CPU } else { self.members[CpuId(b)].sibling };
            let pair = self.meld(a, b);
            // Results are chained through `sibling`, the last one first.
            self.members[CpuId(pair)].sibling = std::mem::replace(&mut melded, pair);
        }
        let mut root = melded;
        let mut rest = self.members[CpuId(root)].sibling;
        while rest != NO_CPU {
            let a = rest;
            rest = self.members[CpuId(a)].sibling;
            root = self.meld(root, a);
        }
        root
    }

    /// Removes a node and returns the new root.
    #[inline]
    pub(super) fn remove(&mut self, root: u32, node: u32) -> u32 {
        let Member { child, sibling, previous, .. } = self.members[CpuId(node)];
        let orphan = if child == NO_CPU { NO_CPU } else { self.meld_list(child) };
        if node == root {
            return orphan;
        }
        let before = &mut self.members[CpuId(previous)];
        *(if before.child == node { &mut before.child } else { &mut before.sibling }) = sibling;
        if sibling != NO_CPU {
            self.members[CpuId(sibling)].previous = previous;
        }
        self.meld(root, orphan)
    }
}
