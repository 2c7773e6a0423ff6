//! Which cpus are idle and unclaimed: the kernel's built-in idle tracking (`kernel/sched/ext_idle.c`).
//!
//! A bit of an idle cpu is taken away when the cpu is claimed, and comes back when the cpu has looked for a
//! task and found none.

use std::sync::Arc;

use sim_core::ids::{CpuId, NodeId};
use sim_core::machine::{Level, Machine};

use crate::ext::abi::{PICK_IDLE_CORE, PICK_IDLE_IN_NODE};
use crate::ext::mask::CpuMask;

/// The idle cpus of the machine, or of a node.
#[derive(Clone, Debug)]
struct Part {
    cpus: CpuMask,
    /// The cpus of cores of which every cpu is idle.
    cores: CpuMask,
}

/// What the search for an idle cpu knows of the machine and of its cpus.
#[derive(Debug)]
pub(crate) struct Idle {
    /// One for the machine, or one for each node.
    parts: Vec<Part>,
    /// The node of each cpu.
    nodes: Vec<u32>,
    /// The nodes around each one, the nearest first, itself included.
    order: Vec<Vec<u32>>,
    /// The cpus of each core, by cpu, where cores have several.
    siblings: Vec<Arc<CpuMask>>,
    /// The cpus that share a cache, by cpu; empty where that is no help in a search.
    pub(crate) caches: Vec<Arc<CpuMask>>,
    /// The cpus of a node, by cpu; empty where that is no help.
    pub(crate) node_cpus: Vec<Arc<CpuMask>>,
    /// The cpu with which the last search from each cpu ended (`distribute_cpu_mask_prev`).
    last: Vec<u32>,
}

impl Idle {
    /// All cpus of the machine are idle.
    pub(crate) fn new(machine: &Machine, per_node: bool) -> Self {
        let (cpus, topology) = (machine.cpus(), &machine.topology);
        let members = |level: Level| -> Vec<Arc<CpuMask>> {
            let of = |group| Arc::new(CpuMask::range(cpus, topology.members(level, group)));
            let groups: Vec<Arc<CpuMask>> = (0..topology.count(level)).map(of).collect();
            let group = |cpu| groups.get(topology.group(level, cpu) as usize).map(Arc::clone);
            machine.cpu_ids().filter_map(group).collect()
        };
        let (caches, nodes) = (members(Level::Cache), members(Level::Node));
        // `scx_idle_update_selcpu_topology` looks at the first cpu.
        let differ = caches.iter().zip(&nodes).any(|(cache, node)| cache.count() != node.count());
        let several = |sets: &[Arc<CpuMask>]| sets.first().is_some_and(|set| set.count() < cpus);
        let by_cache = several(&caches) && (!per_node || differ);
        let by_node = !per_node && several(&nodes) && differ;
        let idle = |cpus: CpuMask| Part { cores: cpus.clone(), cpus };
        let parts = if per_node {
            let of = |node| idle(CpuMask::range(cpus, topology.members(Level::Node, node)));
            (0..machine.nodes()).map(of).collect()
        } else {
            vec![idle(CpuMask::full(cpus))]
        };
        Self {
            parts,
            nodes: machine.cpu_ids().map(|cpu| machine.node_of(cpu).0).collect(),
            order: (0..machine.nodes()).map(|node| nearest(machine, node)).collect(),
            siblings: if topology.span(Level::Core) > 1 { members(Level::Core) } else { Vec::new() },
            caches: if by_cache { caches } else { Vec::new() },
            node_cpus: if by_node { nodes } else { Vec::new() },
            last: vec![0; cpus as usize],
        }
    }

    /// Whether cores have several cpus.
    pub(crate) const fn has_siblings(&self) -> bool {
        !self.siblings.is_empty()
    }

    /// Whether each node has masks of its own.
    pub(crate) const fn is_per_node(&self) -> bool {
        self.parts.len() > 1
    }

    /// The idle cpus of a node, or of the machine where nodes have no masks of their own.
    pub(crate) fn cpus(&self, node: NodeId) -> Option<&CpuMask> {
        self.part(node.0).map(|part| &part.cpus)
    }

    /// The same for cores that are idle as a whole; where a core has one cpu, those are the idle cpus.
    pub(crate) fn cores(&self, node: NodeId) -> Option<&CpuMask> {
        self.part(node.0).map(|part| if self.has_siblings() { &part.cores } else { &part.cpus })
    }

    fn part(&self, node: u32) -> Option<&Part> {
        self.parts.get(if self.is_per_node() { node as usize } else { 0 })
    }

    fn node(&self, cpu: CpuId) -> u32 {
        self.nodes.get(cpu.0 as usize).copied().unwrap_or(0)
    }

    /// A cpu is idle or not (`update_builtin_idle`).
    pub(crate) fn update(&mut self, cpu: CpuId, idle: bool) {
        let node = if self.is_per_node() { self.node(cpu) as usize } else { 0 };
        let Some(part) = self.parts.get_mut(node) else { return };
        part.cpus.set(cpu, idle);
        if let Some(siblings) = self.siblings.get(cpu.0 as usize)
            && (!idle || siblings.is_subset(&part.cpus))
        {
            part.cores.set_all(siblings, idle);
        }
    }

    /// True when the cpu was idle: it is claimed now (`scx_idle_test_and_clear_cpu`).
    pub(crate) fn claim(&mut self, cpu: CpuId) -> bool {
        let node = if self.is_per_node() { self.node(cpu) as usize } else { 0 };
        let Some(part) = self.parts.get_mut(node) else { return false };
        // Claimed or not, its core is not idle as a whole.
        if let Some(siblings) = self.siblings.get(cpu.0 as usize) {
            part.cores.set_all(siblings, false);
        }
        let idle = part.cpus.contains(cpu);
        part.cpus.set(cpu, false);
        idle
    }

    /// Whether the core of a cpu is idle as a whole.
    pub(crate) fn is_core_idle(&self, cpu: CpuId) -> bool {
        self.part(self.node(cpu)).is_some_and(|part| part.cores.contains(cpu))
    }

    /// Claims an idle cpu of one of the masks of `node` that is in all of `allowed`, if possible on a core
    /// that is idle as a whole, or only there (`SCX_PICK_IDLE_CORE`). The search from a cpu, `by`, begins
    /// behind where its last one has ended.
    pub(crate) fn pick_in_node(
        &mut self,
        allowed: &[&CpuMask],
        node: u32,
        flags: u64,
        by: CpuId,
    ) -> Option<CpuId> {
        loop {
            let start = self.last.get(by.0 as usize).map_or(0, |last| last + 1);
            let part = self.part(node)?;
            let core = self.has_siblings().then(|| part.cores.first_common(allowed, start)).flatten();
            let found = match core {
                None if self.has_siblings() && flags & PICK_IDLE_CORE != 0 => None,
                None => part.cpus.first_common(allowed, start),
                core => core,
            };
            let cpu = found?;
            if let Some(last) = self.last.get_mut(by.0 as usize) {
                *last = cpu.0;
            }
            if self.claim(cpu) {
                return Some(cpu);
            }
        }
    }

    /// The same where a search goes on in other nodes, in the order of their distances from `node`, unless it
    /// is to stay there (`SCX_PICK_IDLE_IN_NODE`).
    pub(crate) fn pick(&mut self, allowed: &[&CpuMask], node: u32, flags: u64, by: CpuId) -> Option<CpuId> {
        if let Some(cpu) = self.pick_in_node(allowed, node, flags, by) {
            return Some(cpu);
        }
        if !self.is_per_node() || flags & PICK_IDLE_IN_NODE != 0 {
            return None;
        }
        let count = self.order.get(node as usize).map_or(0, Vec::len);
        (0..count).find_map(|at| {
            let other = self.order.get(node as usize).and_then(|order| order.get(at)).copied()?;
            (other != node).then(|| self.pick_in_node(allowed, other, flags, by)).flatten()
        })
    }

    /// Any cpu of a set, idle or not: the one behind where the last search from `by` has ended.
    pub(crate) fn pick_any(&mut self, allowed: &CpuMask, by: CpuId) -> Option<CpuId> {
        let last = self.last.get_mut(by.0 as usize)?;
        let cpu = allowed.first_common(&[], *last + 1)?;
        *last = cpu.0;
        Some(cpu)
    }
}

/// The nodes in the order of their distances from one; of equal ones the lowest number first.
fn nearest(machine: &Machine, node: u32) -> Vec<u32> {
    let nodes = machine.nodes();
    let distance = |other: u32| {
        let at = (node * nodes + other) as usize;
        machine.memory.distances.get(at).copied().unwrap_or(u32::from(other != node))
    };
    let mut order: Vec<u32> = (0..nodes).collect();
    order.sort_by_key(|other| (distance(*other), *other));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ext::testing::machine;

    fn idle(levels: &[(Level, u32)], per_node: bool) -> Idle {
        Idle::new(&machine(levels), per_node)
    }

    #[test]
    fn a_claimed_cpu_is_not_found_again_before_it_is_idle_again() {
        let mut idle = idle(&[(Level::Core, 4)], false);
        let all = CpuMask::full(4);
        let mut pick = || idle.pick(&[&all], 0, 0, CpuId(0)).map(|cpu| cpu.0);
        // The search goes on behind the last one that was found.
        assert_eq!([pick(), pick(), pick(), pick(), pick()], [Some(1), Some(2), Some(3), Some(0), None]);
        idle.update(CpuId(2), true);
        assert!(idle.claim(CpuId(2)) && !idle.claim(CpuId(2)));
    }

    #[test]
    fn a_core_is_idle_when_all_its_cpus_are() {
        let mut idle = idle(&[(Level::Core, 3), (Level::Thread, 2)], false);
        let all = CpuMask::full(6);
        idle.update(CpuId(3), false);
        assert!(!idle.is_core_idle(CpuId(2)) && idle.is_core_idle(CpuId(4)));
        let mut pick = |flags| idle.pick(&[&all], 0, flags, CpuId(0)).map(|cpu| cpu.0);
        assert_eq!(
            [pick(PICK_IDLE_CORE), pick(PICK_IDLE_CORE), pick(PICK_IDLE_CORE)],
            [Some(1), Some(4), None]
        );
        assert_eq!([pick(0), pick(0), pick(0), pick(0)], [Some(5), Some(0), Some(2), None]);
        for cpu in [2, 3] {
            idle.update(CpuId(cpu), true);
        }
        assert!(idle.is_core_idle(CpuId(2)));
    }

    #[test]
    fn a_search_that_fails_to_claim_still_ends_the_idleness_of_the_core() {
        let mut idle = idle(&[(Level::Core, 2), (Level::Thread, 2)], false);
        assert!(idle.claim(CpuId(0)));
        idle.update(CpuId(0), true);
        idle.update(CpuId(1), false);
        assert!(!idle.claim(CpuId(1)));
        assert!(idle.is_core_idle(CpuId(2)) && !idle.is_core_idle(CpuId(0)));
    }

    #[test]
    fn masks_per_node_are_searched_from_the_nearest_node_on() {
        let levels = [(Level::Package, 2), (Level::Node, 1), (Level::Core, 2)];
        let mut idle = idle(&levels, true);
        let all = CpuMask::full(4);
        let mut pick = |node, flags| idle.pick(&[&all], node, flags, CpuId(0)).map(|cpu| cpu.0);
        assert_eq!(
            [pick(1, 0), pick(1, PICK_IDLE_IN_NODE), pick(1, PICK_IDLE_IN_NODE)],
            [Some(2), Some(3), None]
        );
        assert_eq!([pick(1, 0), pick(1, 0), pick(1, 0)], [Some(0), Some(1), None]);
        assert_eq!(idle.cpus(NodeId(0)).unwrap().count(), 0);
    }

    #[test]
    fn caches_help_where_the_machine_has_several() {
        let one = idle(&[(Level::Cache, 1), (Level::Core, 4)], false);
        let two = idle(&[(Level::Cache, 2), (Level::Core, 4)], false);
        assert!(
            one.caches.is_empty() && two.caches[5].contains(CpuId(4)) && !two.caches[5].contains(CpuId(3))
        );
        // Where each node is one cache, the cache is enough.
        let nodes = [(Level::Package, 2), (Level::Node, 1), (Level::Cache, 1), (Level::Core, 2)];
        assert!(idle(&nodes, false).node_cpus.is_empty() && !idle(&nodes, false).caches.is_empty());
        assert!(idle(&nodes, true).caches.is_empty());
    }
}
