//! From cores to the tree of a machine: packages and NUMA nodes that are all alike. Cores and cache groups
//! may differ within them, as on hybrid processors. Any other shape is refused with what differs, or cut down
//! to the largest regular machine inside it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cores::Core;
use super::found::{Found, named};

/// Which of package and NUMA node contains the other one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// One NUMA node for the whole machine.
    Packages,
    PackageOfNodes,
    NodeOfPackages,
}

/// Depths of the tree: outer part, inner part, cache group, core.
const DEPTHS: usize = 4;
const GROUP: usize = 2;
const CORE: usize = 3;

/// Most different numbers of parts that the search for the largest regular machine tries at each depth.
const MAX_TRIED: usize = 6;

/// A regular machine.
#[derive(Clone, Debug)]
pub(super) struct Regular {
    /// Its shape as a description.
    pub(super) topology: String,
    /// Its cores in the order of the simulator.
    pub(super) cores: Vec<Core>,
    /// Numbers of parts, outermost first: packages and so on, as words.
    pub(super) words: String,
    /// Numbers of the cpus that have no place in it, rising.
    pub(super) left_out: Vec<u32>,
    /// Why cpus have no place in it.
    pub(super) why: Option<String>,
}

/// The regular machine of these cores; with `largest`, the largest regular one among them.
///
/// # Errors
/// What is irregular.
pub(super) fn regular(found: &Found, cores: &[Core], largest: bool) -> Result<Regular, String> {
    let order = order(found, cores)?;
    let plain = Tree::new(found, order, cores.to_vec(), true);
    let Some(why) = plain.irregular() else { return Ok(plain.finish(cores, None)) };
    if !largest && let Some(kinds) = plain.kinds() {
        return Ok(plain.uneven(&kinds));
    }
    let best = [true, false].map(|grouped| Tree::new(found, order, cores.to_vec(), grouped).largest());
    let [with, without] = best;
    // Cache groups are kept unless they cost cpus.
    let best = if without.size() > with.size() { without } else { with };
    let best = best.finish(cores, Some(why.clone()));
    if largest {
        return Ok(best);
    }
    Err(format!(
        "{why}. Packages and NUMA nodes of the simulator are all alike. --largest-regular imports `{}`, \
            the largest machine of equal parts inside this one, without {}",
        best.topology,
        if best.left_out.is_empty() { "its cache groups".to_owned() } else { named(&best.left_out) }
    ))
}

fn order(found: &Found, cores: &[Core]) -> Result<Order, String> {
    let mut nodes_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut packages_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for core in cores {
        nodes_of.entry(core.package).or_default().push(core.node);
        packages_of.entry(core.node).or_default().push(core.package);
    }
    for all in nodes_of.values_mut().chain(packages_of.values_mut()) {
        all.sort_unstable();
        all.dedup();
    }
    if packages_of.len() == 1 {
        return Ok(Order::Packages);
    }
    let Some((node, packages)) = packages_of.iter().find(|(_, packages)| packages.len() > 1) else {
        return Ok(Order::PackageOfNodes);
    };
    let Some((package, _)) = nodes_of.iter().find(|(_, nodes)| nodes.len() > 1) else {
        return Ok(Order::NodeOfPackages);
    };
    let number = |package: &u32| found.packages.get(*package as usize).copied().unwrap_or(*package);
    Err(format!(
        "NUMA node {} has cpus of packages {} and {}, and package {} has cpus of several NUMA nodes: neither \
            contains the other",
        found.nodes.get(*node as usize).map_or(*node, |node| node.number),
        packages.first().map_or(0, number),
        packages.last().map_or(0, number),
        number(package)
    ))
}

/// Cores in the order of the tree.
#[derive(Clone)]
struct Tree<'a> {
    found: &'a Found,
    order: Order,
    cores: Vec<Core>,
    grouped: bool,
}

impl<'a> Tree<'a> {
    /// Sorts the cores: each part by the lowest cpu in it.
    fn new(found: &'a Found, order: Order, mut cores: Vec<Core>, grouped: bool) -> Self {
        let grouped = grouped && cores.iter().any(|core| core.shared.is_some());
        if !grouped {
            (0..).zip(&mut cores).for_each(|(at, core)| core.group = at);
        }
        let mut firsts: [BTreeMap<u32, u32>; CORE] = Default::default();
        for core in &cores {
            for (depth, firsts) in firsts.iter_mut().enumerate() {
                let first = firsts.entry(key(order, core, depth)).or_insert(core.first);
                *first = (*first).min(core.first);
            }
        }
        let mut clusters: BTreeMap<u32, u32> = BTreeMap::new();
        for core in &cores {
            if let Some(cluster) = core.cluster {
                let first = clusters.entry(cluster).or_insert(core.first);
                *first = (*first).min(core.first);
            }
        }
        let path = |core: &Core| {
            let of = |depth: usize| firsts[depth].get(&key(order, core, depth)).copied();
            let cluster = core.cluster.and_then(|cluster| clusters.get(&cluster)).copied();
            (of(0), of(1), of(GROUP), cluster.unwrap_or(core.first), core.first)
        };
        cores.sort_by_cached_key(path);
        Self { found, order, cores, grouped }
    }

    /// The parts at a depth, as ranges of cores.
    fn parts(&self, depth: usize) -> Vec<Range<usize>> {
        if depth == CORE {
            return (0..self.cores.len()).map(|at| at..at + 1).collect();
        }
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (at, core) in self.cores.iter().enumerate() {
            match parts.last_mut() {
                Some(part)
                    if key(self.order, &self.cores[part.start], depth) == key(self.order, core, depth) =>
                {
                    part.end = at + 1;
                }
                _ => parts.push(at..at + 1),
            }
        }
        parts
    }

    /// The parts at a depth, each with the number of parts in it.
    fn counted(&self, depth: usize) -> Vec<(Range<usize>, usize)> {
        let parts = self.parts(depth);
        if depth == CORE {
            return parts.into_iter().map(|part| (part.clone(), self.cores[part.start].cpus.len())).collect();
        }
        let mut inner = self.parts(depth + 1).into_iter().peekable();
        let mut count = |part: &Range<usize>| {
            std::iter::from_fn(|| inner.next_if(|inner| inner.start < part.end)).count()
        };
        parts.into_iter().map(|part| (part.clone(), count(&part))).collect()
    }

    /// The first parts, from the innermost depth outwards, that differ: a sentence without full stop.
    fn irregular(&self) -> Option<String> {
        (0..DEPTHS).rev().find_map(|depth| {
            let parts = self.counted(depth);
            let (one, of_one) = parts.first()?;
            let (other, of_other) = parts.iter().find(|(_, count)| count != of_one)?;
            let what = self.children(depth, *of_other);
            Some(format!(
                "{} has {of_other} {what}, and {} has {of_one}",
                self.name(depth, other),
                self.name(depth, one)
            ))
        })
    }

    fn children(&self, depth: usize, count: usize) -> &'static str {
        let one = count == 1;
        match depth {
            0 if self.order == Order::NodeOfPackages => {
                if one {
                    "package"
                } else {
                    "packages"
                }
            }
            0 => {
                if one {
                    "NUMA node"
                } else {
                    "NUMA nodes"
                }
            }
            1 if self.grouped => {
                if one {
                    "cache group"
                } else {
                    "cache groups"
                }
            }
            1 | GROUP => {
                if one {
                    "core"
                } else {
                    "cores"
                }
            }
            _ => {
                if one {
                    "hardware thread"
                } else {
                    "hardware threads"
                }
            }
        }
    }

    /// The name of a part: that of the outermost part with the same cores.
    fn name(&self, depth: usize, part: &Range<usize>) -> String {
        let outermost = (0..depth).find(|outer| self.parts(*outer).contains(part)).unwrap_or(depth);
        let core = &self.cores[part.start];
        let package = || {
            let number = self.found.packages.get(core.package as usize).copied();
            format!("package {}", number.unwrap_or(core.package))
        };
        let node = || {
            let number = self.found.nodes.get(core.node as usize).map(|node| node.number);
            format!("NUMA node {}", number.unwrap_or(core.node))
        };
        match (outermost, self.order) {
            (0, Order::Packages | Order::PackageOfNodes) | (1, Order::NodeOfPackages | Order::Packages) => {
                package()
            }
            (0, Order::NodeOfPackages) | (1, Order::PackageOfNodes) => node(),
            (GROUP, _) => format!("the cache group of {}", named(&self.numbers(part))),
            _ => format!("the core of {}", named(&self.numbers(part))),
        }
    }

    /// Numbers of the cpus of a part, rising.
    fn numbers(&self, part: &Range<usize>) -> Vec<u32> {
        let cores = self.cores.get(part.clone()).unwrap_or_default();
        let cpus = cores.iter().flat_map(|core| &core.cpus);
        let mut numbers: Vec<u32> = cpus.map(|at| self.found.cpus[*at as usize].number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Cpus and cores.
    fn size(&self) -> (usize, usize) {
        (self.cores.iter().map(|core| core.cpus.len()).sum(), self.cores.len())
    }

    /// The regular tree with the most cpus inside this one, and of those the one with the most cores. Cores
    /// of different speeds with different numbers of threads keep one thread each.
    fn largest(self) -> Self {
        let kinds = |one: &Core, other: &Core| one.speed != other.speed && one.cpus.len() != other.cpus.len();
        let hybrid = self.cores.first().is_some_and(|one| self.cores.iter().any(|other| kinds(one, other)));
        if hybrid {
            let least = self.cores.iter().map(|core| core.cpus.len()).min().unwrap_or(1);
            return self.with_at_least(CORE, least).search(GROUP);
        }
        self.search(CORE)
    }

    /// The largest regular tree, cut at this depth and outwards.
    fn search(self, depth: usize) -> Self {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, count) in self.counted(depth) {
            *counts.entry(count).or_default() += 1;
        }
        // A number of parts, and how many parts have at least as many.
        let mut tried: Vec<(usize, usize)> = counts
            .keys()
            .map(|least| (*least, counts.range(least..).map(|(_, many)| many).sum::<usize>()))
            .collect();
        tried.sort_by_key(|(least, many)| std::cmp::Reverse(least * many));
        tried.truncate(MAX_TRIED);
        let mut best: Option<Self> = None;
        for (least, _) in tried {
            let cut = self.clone().with_at_least(depth, least);
            let cut = if depth == 0 { cut } else { cut.search(depth - 1) };
            if best.as_ref().is_none_or(|best| cut.size() > best.size()) {
                best = Some(cut);
            }
        }
        best.unwrap_or(self)
    }

    /// Only the parts of a depth with at least so many parts, and only that many of these.
    fn with_at_least(mut self, depth: usize, least: usize) -> Self {
        let parts = self.counted(depth);
        if depth == CORE {
            self.cores.retain(|core| core.cpus.len() >= least);
            self.cores.iter_mut().for_each(|core| core.cpus.truncate(least));
            return self;
        }
        let inner = self.parts(depth + 1);
        let mut kept = Vec::new();
        for (part, _) in parts.into_iter().filter(|(_, count)| *count >= least) {
            let from = inner.partition_point(|inner| inner.start < part.start);
            let inside = inner.get(from..from + least).unwrap_or_default();
            kept.extend(inside.iter().flat_map(|range| self.cores[range.clone()].iter().cloned()));
        }
        self.cores = kept;
        self
    }

    /// How many cores the cluster of a core has here; 1 without clusters.
    fn cluster_of(&self, core: &Core) -> usize {
        let Some(cluster) = core.cluster.filter(|_| self.grouped) else { return 1 };
        self.cores.iter().filter(|other| other.cluster == Some(cluster)).count()
    }

    /// The groups of each innermost part, if all packages and nodes have the same ones: threads, and cores of
    /// the cluster, by core.
    fn kinds(&self) -> Option<Vec<Vec<(usize, usize)>>> {
        let alike = |depth: usize| {
            let parts = self.counted(depth);
            parts.iter().all(|(_, count)| *count == parts[0].1)
        };
        let groups = self.parts(GROUP);
        let kind = |core: &Core| (core.cpus.len(), self.cluster_of(core));
        let of = |part: &Range<usize>| -> Vec<Vec<(usize, usize)>> {
            let inside = groups.iter().filter(|group| part.contains(&group.start));
            inside.map(|group| self.cores[group.clone()].iter().map(kind).collect()).collect()
        };
        let parts = self.parts(1);
        let first = of(parts.first()?);
        (alike(0) && parts.iter().all(|part| of(part) == first)).then_some(first)
    }

    /// The machine of a tree whose innermost packages or nodes have these groups.
    fn uneven(self, kinds: &[Vec<(usize, usize)>]) -> Regular {
        let inner = self.counted(0).first().map_or(1, |(_, count)| *count);
        let (mut levels, mut words) = (Vec::new(), Vec::new());
        for (level, count, name) in self.outer(self.parts(0).len(), inner) {
            levels.push(format!("{level}:{count}"));
            words.push(counted(count, name));
        }
        let (mut shapes, mut told): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let groups = if self.grouped { kinds.to_vec() } else { vec![kinds.concat()] };
        for same in groups.chunk_by(|one, other| one == other) {
            let runs: Vec<&[(usize, usize)]> = same[0].chunk_by(|one, other| one == other).collect();
            // Groups of several kinds of cores have no count.
            let repeats = if runs.len() > 1 { same.len() } else { 1 };
            for _ in 0..repeats {
                for (at, run) in runs.iter().enumerate() {
                    let (mut shape, mut tell) = (Vec::new(), Vec::new());
                    if self.grouped && at == 0 {
                        shape.push(format!("cache:{}", same.len() / repeats));
                        tell.push(counted(same.len() / repeats, "cache group"));
                    }
                    let (threads, size) = run[0];
                    let clusters =
                        if size > 1 && run.len().is_multiple_of(size) { run.len() / size } else { 1 };
                    if size > 1 {
                        shape.push(format!("cluster:{clusters}"));
                        tell.push(counted(clusters, "cluster"));
                    }
                    shape.push(format!("core:{}", run.len() / clusters));
                    tell.push(counted(run.len() / clusters, "core"));
                    if threads > 1 {
                        shape.push(format!("pu:{threads}"));
                        tell.push(counted(threads, "hardware thread"));
                    }
                    shapes.push(shape.join(" "));
                    told.push(tell.join(" x "));
                }
            }
        }
        levels.push(shapes.join(" + "));
        words.push(told.join(" + "));
        let (topology, words) = (levels.join(" "), words.join(" x "));
        Regular { topology, words, cores: self.cores, left_out: Vec::new(), why: None }
    }

    /// Packages and NUMA nodes: level, number, name.
    fn outer(&self, outer: usize, inner: usize) -> Vec<(&'static str, usize, &'static str)> {
        match self.order {
            Order::Packages => vec![("package", outer, "package")],
            Order::PackageOfNodes => vec![("package", outer, "package"), ("numa", inner, "NUMA node")],
            Order::NodeOfPackages => vec![("numa", outer, "NUMA node"), ("package", inner, "package")],
        }
    }

    /// The machine of a regular tree; `all` are the cores from which it was made.
    fn finish(self, all: &[Core], why: Option<String>) -> Regular {
        let arity = |depth: usize| self.counted(depth).first().map_or(1, |(_, count)| *count);
        let (outer, inner, in_inner) = (self.parts(0).len(), arity(0), arity(1));
        let mut words = self.outer(outer, inner);
        if self.grouped {
            words.push(("cache", in_inner, "cache group"));
        }
        let cores = if self.grouped { arity(GROUP) } else { in_inner };
        let cluster = self.cores.first().map_or(1, |core| self.cluster_of(core));
        if cluster > 1 && cluster < cores && self.cores.iter().all(|core| self.cluster_of(core) == cluster) {
            words.extend([("cluster", cores / cluster, "cluster"), ("core", cluster, "core")]);
        } else {
            words.push(("core", cores, "core"));
        }
        if arity(CORE) > 1 {
            words.push(("pu", arity(CORE), "hardware thread"));
        }
        let topology: Vec<String> =
            words.iter().map(|(level, count, _)| format!("{level}:{count}")).collect();
        let text: Vec<String> = words.iter().map(|(_, count, name)| counted(*count, name)).collect();
        let numbers = |cores: &[Core]| {
            let cpus = cores.iter().flat_map(|core| &core.cpus);
            cpus.map(|at| self.found.cpus[*at as usize].number).collect::<std::collections::BTreeSet<u32>>()
        };
        let left_out = numbers(all).difference(&numbers(&self.cores)).copied().collect();
        Regular { topology: topology.join(" "), words: text.join(" x "), cores: self.cores, left_out, why }
    }
}

/// `1 core`, `2 cores`
fn counted(count: usize, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}

/// What tells the parts of a depth apart.
fn key(order: Order, core: &Core, depth: usize) -> u32 {
    match (depth, order) {
        (0, Order::Packages | Order::PackageOfNodes) | (1, Order::Packages | Order::NodeOfPackages) => {
            core.package
        }
        (0, Order::NodeOfPackages) | (1, Order::PackageOfNodes) => core.node,
        _ => core.group,
    }
}
