//! The cores of what was found, each with its package, NUMA node and group of cores that share a cache.

use std::collections::BTreeMap;

use super::found::{CACHE_LEVELS, Cpu, Found, NONE, named};

/// A cache as a core has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Held {
    /// 1 for L1.
    pub(super) level: usize,
    /// Bytes; of a cache that several NUMA nodes or packages share, the part of one of them.
    pub(super) size: u64,
    /// Number of NUMA nodes or packages that share the cache.
    pub(super) parts: u32,
    /// Number of cores that share a cache which counts as private: each has an equal part.
    pub(super) cores: u32,
    /// Bytes of that whole cache.
    pub(super) whole: u64,
}

/// A core.
#[derive(Clone, Debug)]
pub(super) struct Core {
    /// Its cpus as positions in [`Found::cpus`], by rising number.
    pub(super) cpus: Vec<u32>,
    /// The lowest number of its cpus.
    pub(super) first: u32,
    /// Positions of its package and NUMA node.
    pub(super) package: u32,
    pub(super) node: u32,
    /// Its group of cores that share a cache; cores that share none have different groups.
    pub(super) group: u32,
    /// Its cluster: the cores that share a cache inside that of the group; none where it shares none.
    pub(super) cluster: Option<u32>,
    /// The outermost cache inside the shared one, or the core's part of it when other cores use it too.
    pub(super) private: Option<Held>,
    /// The outermost cache that other cores of its node and package use.
    pub(super) shared: Option<Held>,
    pub(super) speed: u64,
}

/// The cores, in order of their lowest cpu.
pub(super) fn cores_of(found: &Found) -> Result<Vec<Core>, String> {
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (at, cpu) in (0..).zip(&found.cpus) {
        members.entry(cpu.core).or_default().push(at);
    }
    let mut cores = Vec::with_capacity(members.len());
    for mut cpus in members.into_values() {
        cpus.sort_by_key(|at| found.cpus[*at as usize].number);
        cores.push(core(found, cpus)?);
    }
    cores.sort_by_key(|core| core.first);
    share(found, &mut cores);
    Ok(cores)
}

/// A core without its caches.
fn core(found: &Found, cpus: Vec<u32>) -> Result<Core, String> {
    let all = || cpus.iter().map(|at| &found.cpus[*at as usize]);
    let first = *all().next().unwrap_or(&Cpu::new(0));
    let numbers: Vec<u32> = all().map(|cpu| cpu.number).collect();
    if all().any(|cpu| cpu.package != first.package || cpu.node != first.node) {
        return Err(format!("{} share a core but not a package and a NUMA node", named(&numbers)));
    }
    let speed = all().map(|cpu| cpu.speed).max().unwrap_or(0);
    let (package, node) = (first.package, first.node);
    Ok(Core {
        first: first.number,
        package,
        node,
        group: NONE,
        cluster: None,
        private: None,
        shared: None,
        speed,
        cpus,
    })
}

/// A cache within one NUMA node and package.
type Part = (u32, u32, u32);

/// Sets the caches and groups of the cores.
fn share(found: &Found, cores: &mut [Core]) {
    let mut users: BTreeMap<Part, u32> = BTreeMap::new();
    let of = |core: &Core| found.cpus[core.cpus[0] as usize].caches;
    let part = |core: &Core, cache: u32| (cache, core.node, core.package);
    for core in cores.iter() {
        for cache in of(core).into_iter().filter(|cache| *cache != NONE) {
            *users.entry(part(core, cache)).or_default() += 1;
        }
    }
    let mut parts: BTreeMap<u32, u32> = BTreeMap::new();
    for (cache, ..) in users.keys() {
        *parts.entry(*cache).or_default() += 1;
    }
    let mut groups: BTreeMap<Part, u32> = BTreeMap::new();
    let mut clusters: BTreeMap<Part, u32> = BTreeMap::new();
    for (at, core) in cores.iter_mut().enumerate() {
        let mut held = (None, None, None);
        let (mut cluster, mut most) = (None, 0);
        for level in (0..CACHE_LEVELS).rev() {
            let cache = of(core)[level];
            if cache == NONE {
                continue;
            }
            let shares = parts.get(&cache).copied().unwrap_or(1).max(1);
            let size = found.caches.get(cache as usize).map_or(0, |cache| cache.size) / u64::from(shares);
            let this = Held { level: level + 1, size, parts: shares, cores: 1, whole: size };
            let part = part(core, cache);
            let users = users.get(&part).copied().unwrap_or(1).max(1);
            if users > 1 && held.1.is_none() {
                (held.1, held.2, most) = (Some(this), Some(part), users);
            } else {
                // What Linux has as the threads of a core is no cluster.
                if users > 1 && users < most && !found.modules {
                    cluster = cluster.or(Some(part));
                }
                held.0 = held.0.or(Some(Held { size: size / u64::from(users), cores: users, ..this }));
            }
        }
        let lonely = (NONE, NONE, at as u32);
        let next = groups.len() as u32;
        let group = *groups.entry(held.2.unwrap_or(lonely)).or_insert(next);
        let next = clusters.len() as u32;
        core.cluster = cluster.map(|cluster| *clusters.entry(cluster).or_insert(next));
        (core.private, core.shared, core.group) = (held.0, held.1, group);
    }
}
