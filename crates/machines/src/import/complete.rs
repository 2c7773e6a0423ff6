//! What a description need not state: one package and one node for all cpus, near nodes, a core for each cpu.

use super::found::{Found, NONE, NumaNode, single};
use super::near;

impl Found {
    /// Completes what a description need not state: one package and one NUMA node for all cpus if there is
    /// no other, the nearest node for cpus without one, and a core for each cpu without one.
    ///
    /// # Errors
    /// Only some of the cpus have a package.
    pub(super) fn complete(&mut self) -> Result<(), String> {
        let packages = &mut self.packages;
        single(&mut self.cpus, "package", |cpu| &mut cpu.package, || packages.push(0))?;
        near::nodes(self);
        let nodes = &mut self.nodes;
        let node = NumaNode { number: 0, ..NumaNode::default() };
        single(&mut self.cpus, "NUMA node", |cpu| &mut cpu.node, || nodes.push(node))?;
        let free = self.cpus.iter().map(|cpu| cpu.core).filter(|core| *core != NONE).max();
        let next = free.map_or(0, |core| core + 1);
        let without = self.cpus.iter_mut().filter(|cpu| cpu.core == NONE);
        (next..).zip(without).for_each(|(core, cpu)| cpu.core = core);
        Ok(())
    }
}
