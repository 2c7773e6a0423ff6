//! The NUMA node that cpus use which have none of their own: a node without memory, an offline node, a cpuset
//! with fewer `mems` than nodes.

use std::collections::{BTreeMap, BTreeSet};

use notation::lists;
use notation::parameter::Kind;

use super::found::{CACHE_LEVELS, Cpu, Found, NONE, NumaNode, named};

/// Gives cpus without a NUMA node the nearest one: that of their core, of their die or a cache of theirs, of
/// their package, or any; of equally near ones the one with the fewest cpus, then the first.
pub(super) fn nodes(found: &mut Found) {
    let mut near = Near::of(found);
    if near.all.is_empty() {
        return;
    }
    // Cpus of a die get one node, others those of their outermost cache or of their core.
    let mut units: BTreeMap<(u32, u8, u32), Vec<usize>> = BTreeMap::new();
    for (at, cpu) in found.cpus.iter().enumerate().filter(|(_, cpu)| cpu.node == NONE) {
        let outermost = cpu.caches.iter().rev().find(|cache| **cache != NONE);
        let (kind, unit) = match outermost {
            _ if cpu.unit != NONE => (0, cpu.unit),
            Some(cache) => (1, *cache),
            None if cpu.core != NONE => (2, cpu.core),
            None => (3, cpu.number),
        };
        units.entry((cpu.package, kind, unit)).or_default().push(at);
    }
    let mut taken: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for cpus in units.into_values() {
        let Some(first) = cpus.first().and_then(|at| found.cpus.get(*at)).copied() else { continue };
        let node = near.choose(&first, cpus.len());
        for at in cpus {
            let cpu = &mut found.cpus[at];
            cpu.node = node;
            found.borrowed.insert(cpu.number);
            taken.entry(node).or_default().push(cpu.number);
        }
    }
    found.guessed |= !taken.is_empty();
    for (node, mut cpus) in taken {
        cpus.sort_unstable();
        let words =
            if cpus.len() == 1 { ("has", "its own: it uses") } else { ("have", "their own: they use") };
        let number = found.nodes.get(node as usize).map_or(node, |node| node.number);
        found.remark(format_args!(
            "{} {} no NUMA node of {} node {number}, the nearest",
            named(&cpus),
            words.0,
            words.1
        ));
    }
}

/// The nodes of the cpus that have one, by what these share with others.
struct Near {
    by_core: BTreeMap<u32, BTreeSet<u32>>,
    by_unit: BTreeMap<(u32, u32), BTreeSet<u32>>,
    by_cache: BTreeMap<u32, BTreeSet<u32>>,
    by_package: BTreeMap<u32, BTreeSet<u32>>,
    all: BTreeSet<u32>,
    /// Cpus of each node.
    cpus: BTreeMap<u32, usize>,
}

impl Near {
    fn of(found: &Found) -> Self {
        let mut near = Self {
            by_core: BTreeMap::new(),
            by_unit: BTreeMap::new(),
            by_cache: BTreeMap::new(),
            by_package: BTreeMap::new(),
            all: BTreeSet::new(),
            cpus: BTreeMap::new(),
        };
        for cpu in found.cpus.iter().filter(|cpu| cpu.node != NONE) {
            near.by_core.entry(cpu.core).or_default().insert(cpu.node);
            near.by_unit.entry((cpu.package, cpu.unit)).or_default().insert(cpu.node);
            for cache in cpu.caches.into_iter().filter(|cache| *cache != NONE) {
                near.by_cache.entry(cache).or_default().insert(cpu.node);
            }
            near.by_package.entry(cpu.package).or_default().insert(cpu.node);
            near.all.insert(cpu.node);
            *near.cpus.entry(cpu.node).or_default() += 1;
        }
        near
    }

    /// The node for a cpu, and so many cpus with it.
    fn choose(&mut self, cpu: &Cpu, count: usize) -> u32 {
        let own = |known: bool, nodes: Option<&BTreeSet<u32>>| nodes.filter(|_| known).cloned();
        let caches = (0..CACHE_LEVELS).find_map(|level| self.by_cache.get(&cpu.caches[level]));
        let candidates = own(cpu.core != NONE, self.by_core.get(&cpu.core))
            .or_else(|| own(cpu.unit != NONE, self.by_unit.get(&(cpu.package, cpu.unit))))
            .or_else(|| caches.cloned())
            .or_else(|| self.by_package.get(&cpu.package).cloned())
            .unwrap_or_else(|| self.all.clone());
        let cpus = |node: &u32| (self.cpus.get(node).copied().unwrap_or(0), *node);
        let node = candidates.iter().map(cpus).min().map_or(0, |(_, node)| node);
        *self.cpus.entry(node).or_default() += count;
        node
    }
}

impl Found {
    /// Takes their NUMA node from cpus that get no memory from it (`why`), and gives them the nearest other
    /// one by the distances, if these are known.
    pub(super) fn without_memory(&mut self, lacking: &BTreeSet<u32>, why: &str) {
        let has = |at: u32| !lacking.contains(&at);
        let used: BTreeSet<u32> = self.cpus.iter().map(|cpu| cpu.node).filter(|node| *node != NONE).collect();
        if !(0..).zip(&self.nodes).any(|(at, _)| has(at)) {
            return;
        }
        for node in used.into_iter().filter(|node| !has(*node)) {
            let near = self.nearest_by_distance(node, &has);
            let numbers: Vec<u32> = self.cpus.iter().filter(|c| c.node == node).map(|c| c.number).collect();
            for cpu in self.cpus.iter_mut().filter(|cpu| cpu.node == node) {
                cpu.node = near.unwrap_or(NONE);
                // They stay together.
                cpu.unit = NONE - 1 - node;
            }
            self.borrowed.extend(&numbers);
            let number = |at: u32| self.nodes.get(at as usize).map_or(at, |node| node.number);
            let of = number(node);
            let to = near.map_or_else(String::new, |near| {
                format!(": {} use node {}, the nearest by the distances", named(&numbers), number(near))
            });
            self.guessed = true;
            if let Some(node) = self.nodes.get_mut(node as usize) {
                node.said = true;
            }
            self.remark(format_args!("NUMA node {of} left out: {why}{to}"));
        }
    }

    /// The node with the least distance from another one; of equally near ones the one with the fewest cpus.
    fn nearest_by_distance(&self, from: u32, has: &dyn Fn(u32) -> bool) -> Option<u32> {
        let table = self.distances.as_ref()?;
        let place = |at: u32| {
            let number = self.nodes.get(at as usize)?.number;
            table.nodes.iter().position(|other| *other == number)
        };
        let from = place(from)?;
        let others = (0..self.nodes.len() as u32).filter(|at| has(*at));
        let key = |at: u32| {
            let distance = *table.values.get(from * table.nodes.len() + place(at)?)?;
            Some((distance, self.cpus.iter().filter(|cpu| cpu.node == at).count(), at))
        };
        others.filter_map(key).min().map(|(.., at)| at)
    }
}

/// Remarks on the NUMA nodes that no cpu uses, each with the reason.
pub(super) fn left_out_nodes(found: &mut Found) {
    let usable: BTreeMap<u32, u32> = found.cpus.iter().map(|cpu| (cpu.number, cpu.node)).collect();
    let used: BTreeSet<u32> = usable.values().copied().collect();
    // Nodes with one reason share a remark.
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, node) in (0..).zip(&found.nodes).filter(|(at, node)| !used.contains(at) && !node.said) {
        let local: Vec<u32> = node.local.iter().copied().filter(|cpu| usable.contains_key(cpu)).collect();
        let owners: BTreeSet<u32> = local.iter().filter_map(|cpu| usable.get(cpu)).copied().collect();
        let why = if node.local.is_empty() {
            "a node of a machine file has cpus".to_owned()
        } else if local.is_empty() {
            format!("none of the {} may be used", named(&node.local))
        } else {
            let number = |at: &u32| found.nodes.get(*at as usize).map_or(*at, |node| node.number);
            let owners = lists::ranges(owners.iter().map(number).collect::<BTreeSet<_>>());
            let (word, hold) =
                if owners.contains([',', '-']) { ("nodes", "hold") } else { ("node", "holds") };
            format!(
                "{word} {owners} {hold} the same {}; a machine file has one node per group of cpus",
                named(&local)
            )
        };
        reasons.entry(why).or_default().push(described(node));
    }
    for (why, nodes) in reasons {
        let word = if nodes.len() == 1 { "node" } else { "nodes" };
        found.remark(format_args!("NUMA {word} {} left out: {why}", nodes.join(", ")));
    }
}

/// A node with what is stated of it: `1 (HBM, 2048 MiB, 80 GB/s)`.
fn described(node: &NumaNode) -> String {
    let mut facts = Vec::new();
    if !node.kind.is_empty() {
        facts.push(node.kind.clone());
    }
    if node.memory > 0 {
        facts.push(format!("{} MiB", node.memory >> 20));
    }
    if node.bandwidth > 0 {
        facts.push(Kind::Rate.show(node.bandwidth));
    }
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    format!("{}{facts}", node.number)
}
