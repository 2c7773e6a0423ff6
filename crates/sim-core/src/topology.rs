//! The shape of a machine: a tree of cpus. Packages and NUMA nodes are all alike; within one, cores may have
//! different numbers of hardware threads and caches different numbers of cores, as hybrid processors have.

use std::ops::Range;
use std::sync::Arc;

use crate::ids::{CpuId, Id};

/// A level of the machine tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// A NUMA node: the cpus near one memory controller.
    Node,
    /// A package (socket).
    Package,
    /// A group of cores that share a cache beyond their own (a last-level cache, or a pairwise shared L2).
    Cache,
    /// A part of such a group whose cores share one more cache, inside the one of the group: an L2 of several
    /// cores, or the tags of an L3 (Intel's small cores, Kunpeng 920).
    Cluster,
    /// A core.
    Core,
    /// A hardware thread (a cpu of the operating system).
    Thread,
}

impl Level {
    /// All levels, outermost first (a node may also hold several packages).
    pub const ALL: [Self; 6] =
        [Self::Node, Self::Package, Self::Cache, Self::Cluster, Self::Core, Self::Thread];

    #[inline]
    const fn slot(self) -> usize {
        self as usize
    }
}

/// How far apart two cpus are; smaller is nearer. Prices signals and migrations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Distance {
    /// The same cpu.
    Same,
    /// Two hardware threads of one core.
    Core,
    /// Two cores that share a cache.
    Cache,
    /// The same package or NUMA node.
    Near,
    /// Different packages and nodes.
    Far,
}

impl Distance {
    /// All distances, nearest first.
    pub const ALL: [Self; 5] = [Self::Same, Self::Core, Self::Cache, Self::Near, Self::Far];
}

/// Parts that lie side by side and differ in size.
#[derive(PartialEq, Eq, Debug)]
struct Parts {
    /// The first cpu of each part, and the number of cpus behind the last one.
    starts: Vec<u32>,
    /// The part of each cpu.
    of: Vec<u32>,
}

impl Parts {
    fn of_sizes(sizes: impl Iterator<Item = u32>) -> Self {
        let (mut starts, mut of) = (vec![0], Vec::new());
        for (part, size) in (0..).zip(sizes) {
            of.extend(std::iter::repeat_n(part, size as usize));
            starts.push(of.len() as u32);
        }
        Self { starts, of }
    }

    fn members(&self, part: u32) -> Range<u32> {
        self.starts[part as usize]..self.starts[part as usize + 1]
    }

    fn part(&self, cpu: CpuId) -> u32 {
        self.of[cpu.index()]
    }

    fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    fn largest(&self) -> u32 {
        self.starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(1)
    }
}

/// All cpus, divided into parts that lie side by side: the instances of a level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Division {
    cpus: u32,
    /// Cpus of the largest part; of each, where parts are equal.
    largest: u32,
    uneven: Option<Arc<Parts>>,
}

impl Division {
    /// Parts of `span` cpus, at least one; the last part may have fewer.
    #[must_use]
    pub const fn equal(cpus: u32, span: u32) -> Self {
        Self { cpus, largest: if span == 0 { 1 } else { span }, uneven: None }
    }

    /// Which part holds a cpu.
    #[must_use]
    #[inline]
    pub fn part(&self, cpu: CpuId) -> u32 {
        self.uneven.as_ref().map_or_else(|| cpu.0 / self.largest, |parts| parts.part(cpu))
    }

    /// The cpus of a part.
    #[must_use]
    #[inline]
    pub fn members(&self, part: u32) -> Range<u32> {
        if let Some(parts) = &self.uneven {
            return parts.members(part);
        }
        let start = part * self.largest;
        start..(start + self.largest).min(self.cpus)
    }

    /// The cpus of the part that holds this one.
    #[must_use]
    #[inline]
    pub fn around(&self, cpu: CpuId) -> Range<u32> {
        self.members(self.part(cpu))
    }

    /// The number of parts.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.uneven.as_ref().map_or_else(|| self.cpus.div_ceil(self.largest), |parts| parts.count())
    }

    /// Whether all parts have the same number of cpus (the last one may have fewer).
    #[must_use]
    #[inline]
    pub const fn is_equal(&self) -> bool {
        self.uneven.is_none()
    }

    /// Cpus of the largest part.
    #[must_use]
    #[inline]
    pub const fn largest(&self) -> u32 {
        self.largest
    }
}

/// The shape of the tree: arities from the outermost level inwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topology {
    levels: Vec<(Level, u32)>,
    cpus: u32,
    /// Number of cpus within the largest instance of each level.
    span: [u32; 6],
    /// Number of cpus that share a core, share a cache, are near each other ([`Topology::distance`]).
    reach: [u32; 3],
    /// All three are powers of two, and hold for all: one operation compares the groups of two cpus.
    powers_of_two: bool,
    /// Groups that share a cache, clusters, and cores, where any differ in size.
    uneven: Option<[Arc<Parts>; 3]>,
}

/// One level and how many of it stand inside the level before.
pub type Arity = (Level, u32);

impl Topology {
    /// The tree with these arities, outermost first; a level appears at most once and `Thread` may be
    /// left out (one thread per core), as may any other level.
    ///
    /// # Errors
    /// A sentence that names the error: a level twice, an order that is no tree (a core above a package), an
    /// arity of 0, too many cpus.
    pub fn new(levels: &[Arity]) -> Result<Self, String> {
        let has = |wanted: Level| levels.iter().any(|(level, _)| *level == wanted);
        if has(Level::Cluster) && !has(Level::Cache) {
            return Err(CLUSTER_ALONE.into());
        }
        Self::tree(levels)
    }

    /// The same for a part of a tree.
    fn tree(levels: &[Arity]) -> Result<Self, String> {
        let mut cpus: u64 = 1;
        for (i, (level, arity)) in levels.iter().enumerate() {
            if *arity == 0 {
                return Err(format!("level {level:?} has an arity of 0; every level holds at least 1"));
            }
            for (above, _) in &levels[..i] {
                if above == level {
                    return Err(format!("level {level:?} is given twice"));
                }
                let node_in_package = *above == Level::Package && *level == Level::Node;
                if above > level && !node_in_package {
                    return Err(format!("level {level:?} cannot stand inside level {above:?}"));
                }
            }
            cpus = cpus.saturating_mul(u64::from(*arity));
            if cpus > crate::limits::MAX_CPUS {
                return Err(format!("more than {} cpus", crate::limits::MAX_CPUS));
            }
        }
        let cpus = cpus as u32;
        let mut span = [0u32; 6];
        let mut inside = cpus;
        for (level, arity) in levels {
            inside /= arity;
            span[level.slot()] = inside;
        }
        Ok(Self::spanning(levels.to_vec(), cpus, span))
    }

    /// The tree with these spans; 0 where a level was not given.
    fn spanning(levels: Vec<Arity>, cpus: u32, mut span: [u32; 6]) -> Self {
        if span[Level::Core.slot()] == 0 {
            span[Level::Core.slot()] = 1;
        }
        span[Level::Thread.slot()] = 1;
        for shared in [Level::Cluster, Level::Cache] {
            if span[shared.slot()] == 0 {
                span[shared.slot()] = span[Level::Core.slot()];
            }
        }
        for outer in [Level::Node, Level::Package] {
            if span[outer.slot()] == 0 {
                span[outer.slot()] = cpus;
            }
        }
        let [core, cache] = [Level::Core, Level::Cache].map(|level| span[level.slot()]);
        let [node, package] = [Level::Node, Level::Package].map(|level| span[level.slot()]);
        // A node of several packages counts, when it is not the whole machine.
        let reach = [core, cache, if node < cpus { node.max(package) } else { package }];
        let powers_of_two = reach.iter().all(|span| span.is_power_of_two());
        Self { levels, cpus, span, reach, powers_of_two, uneven: None }
    }

    /// The tree whose innermost package or NUMA node holds several kinds of parts side by side: `first` are
    /// arities as [`Topology::new`] takes them, each entry of `more` the levels from the cache, the cluster
    /// or the core inwards of a further kind. Cores without a cache of their own join the last group before
    /// them; those of a kind without clusters are in none.
    ///
    /// ```
    /// use sim_core::machine::{Level, Topology};
    ///
    /// // Two cores of two hardware threads, and four of one.
    /// let fast = [(Level::Core, 2), (Level::Thread, 2)];
    /// let hybrid = Topology::of_kinds(&fast, &[vec![(Level::Core, 4)]])?;
    /// assert_eq!((hybrid.cpus(), hybrid.count(Level::Core), hybrid.span(Level::Core)), (8, 6, 2));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// As [`Topology::new`]; a further kind that begins with a package or a node; caches that only a later
    /// kind has.
    pub fn of_kinds(first: &[Arity], more: &[Vec<Arity>]) -> Result<Self, String> {
        let regular = Self::new(first)?;
        let cut = first.iter().take_while(|(level, _)| matches!(level, Level::Node | Level::Package)).count();
        let (outer, inner) = first.split_at(cut);
        let cached = inner.iter().any(|(level, _)| *level == Level::Cache);
        let mut groups: Vec<Group> = Vec::new();
        for kind in std::iter::once(inner).chain(more.iter().map(Vec::as_slice)) {
            add_kind(&mut groups, kind, cached)?;
        }
        let blocks = outer.iter().map(|(_, arity)| u64::from(*arity)).product::<u64>();
        let block: u64 =
            groups.iter().flat_map(|group| &group.cores).map(|threads| u64::from(*threads)).sum();
        if blocks.saturating_mul(block) > crate::limits::MAX_CPUS {
            return Err(format!("more than {} cpus", crate::limits::MAX_CPUS));
        }
        if more.is_empty() {
            return Ok(regular);
        }
        let kinds = || std::iter::once(inner).chain(more.iter().map(Vec::as_slice));
        let clustered = kinds().flatten().any(|(level, _)| *level == Level::Cluster);
        Ok(Self::of_groups(outer, [cached, clustered], blocks as usize, &groups))
    }

    /// The tree of so many blocks, each with these groups.
    fn of_groups(outer: &[Arity], [cached, clustered]: [bool; 2], blocks: usize, groups: &[Group]) -> Self {
        let all = || std::iter::repeat_n(groups, blocks).flatten();
        let threads = || all().flat_map(|group| &group.cores).copied();
        let sizes = all().map(|group| group.cores.iter().sum::<u32>());
        let cores = Parts::of_sizes(threads());
        let clusters = Parts::of_sizes(all().flat_map(|group| &group.clusters).copied());
        let caches = if cached { Parts::of_sizes(sizes) } else { Parts::of_sizes(threads()) };
        let (cpus, most) = (cores.of.len() as u32, cores.largest());
        let mut levels = outer.to_vec();
        levels.extend(cached.then_some((Level::Cache, groups.len() as u32)));
        let largest = |of: fn(&Group) -> usize| groups.iter().map(of).max().unwrap_or(1) as u32;
        levels.extend(clustered.then_some((Level::Cluster, largest(|group| group.clusters.len()))));
        levels.push((Level::Core, largest(|group| group.cores.len())));
        levels.extend((most > 1).then_some((Level::Thread, most)));
        let mut span = [0; 6];
        let mut inside = cpus;
        for (level, arity) in outer {
            inside /= arity;
            span[level.slot()] = inside;
        }
        (span[Level::Cache.slot()], span[Level::Core.slot()]) = (caches.largest(), most);
        span[Level::Cluster.slot()] = clusters.largest();
        let equal = |parts: &Parts| parts.largest() * parts.count() == cpus;
        let same = equal(&cores) && equal(&clusters) && equal(&caches);
        let mut tree = Self::spanning(levels, cpus, span);
        if !same {
            tree.powers_of_two = false;
            tree.uneven = Some([caches, clusters, cores].map(Arc::new));
        }
        tree
    }

    /// The arities as given. Where parts differ: the number of cache groups, and the largest numbers of
    /// clusters and cores in one, and of threads.
    #[must_use]
    pub fn levels(&self) -> &[Arity] {
        &self.levels
    }

    /// Whether all parts of a level are alike.
    #[must_use]
    pub const fn is_even(&self) -> bool {
        self.uneven.is_none()
    }

    /// The number of cpus.
    #[must_use]
    pub const fn cpus(&self) -> u32 {
        self.cpus
    }

    /// The number of cpus within the largest instance of `level`: within each, where they are equal, as
    /// packages and nodes always are.
    #[must_use]
    #[inline]
    pub const fn span(&self, level: Level) -> u32 {
        self.span[level.slot()]
    }

    /// The instances of a level, where they may differ in size.
    const fn parts(&self, level: Level) -> Option<&Arc<Parts>> {
        match (&self.uneven, level) {
            (Some([caches, ..]), Level::Cache) => Some(caches),
            (Some([_, clusters, _]), Level::Cluster) => Some(clusters),
            (Some([.., cores]), Level::Core) => Some(cores),
            _ => None,
        }
    }

    /// The instances of `level`.
    #[must_use]
    pub fn division(&self, level: Level) -> Division {
        let largest = self.span(level);
        let differ = |parts: &&Arc<Parts>| largest * parts.count() != self.cpus;
        Division { cpus: self.cpus, largest, uneven: self.parts(level).filter(differ).cloned() }
    }

    /// Cpus that share the last-level cache (`cpus_share_cache` of Linux): the innermost `cache` level of the
    /// tree; without one the package or node when it has a cache (`packaged`), else the core.
    #[must_use]
    pub fn last_caches(&self, packaged: bool) -> Division {
        let named = self.levels().iter().any(|(level, _)| *level == Level::Cache);
        let inner = self.span(Level::Node) < self.span(Level::Package);
        self.division(match (named || !packaged, inner) {
            (true, _) => Level::Cache,
            (false, true) => Level::Node,
            (false, false) => Level::Package,
        })
    }

    /// The number of instances of `level`.
    #[must_use]
    #[inline]
    pub fn count(&self, level: Level) -> u32 {
        self.parts(level).map_or_else(|| self.cpus / self.span(level), |parts| parts.count())
    }

    /// Which instance of `level` holds `cpu`.
    #[must_use]
    #[inline]
    pub fn group(&self, level: Level, cpu: CpuId) -> u32 {
        self.parts(level).map_or_else(|| cpu.0 / self.span(level), |parts| parts.part(cpu))
    }

    /// The cpus of one instance of `level`.
    #[must_use]
    pub fn members(&self, level: Level, group: u32) -> Range<u32> {
        if let Some(parts) = self.parts(level) {
            return parts.members(group);
        }
        let span = self.span(level);
        group * span..(group + 1) * span
    }

    /// Which hardware thread of its core a cpu is, from 0.
    #[must_use]
    pub fn thread(&self, cpu: CpuId) -> u32 {
        cpu.0 - self.members(Level::Core, self.group(Level::Core, cpu)).start
    }

    /// How far apart two cpus are.
    #[must_use]
    #[inline]
    pub fn distance(&self, a: CpuId, b: CpuId) -> Distance {
        if a.0 == b.0 {
            Distance::Same
        } else if self.shared(0, a, b) {
            Distance::Core
        } else if self.shared(1, a, b) {
            Distance::Cache
        } else if self.shared(2, a, b) {
            Distance::Near
        } else {
            Distance::Far
        }
    }

    /// Whether two cpus share a core (0), share a cache (1), or are near each other (2).
    #[inline]
    fn shared(&self, reach: usize, a: CpuId, b: CpuId) -> bool {
        let span = self.reach[reach];
        if self.powers_of_two {
            return (a.0 ^ b.0) < span;
        }
        match (&self.uneven, reach) {
            (Some([.., cores]), 0) => cores.part(a) == cores.part(b),
            (Some([caches, ..]), 1) => caches.part(a) == caches.part(b),
            _ => a.0 / span == b.0 / span,
        }
    }
}

/// Clusters divide what shares a cache.
const CLUSTER_ALONE: &str = "a cluster is a part of what shares a cache: `cache:1 cluster:4 core:4`";

/// What shares a cache: threads by core, and cpus by cluster.
#[derive(Clone, Default)]
struct Group {
    cores: Vec<u32>,
    clusters: Vec<u32>,
}

/// Adds a kind of parts to the groups.
fn add_kind(groups: &mut Vec<Group>, kind: &[Arity], cached: bool) -> Result<(), String> {
    // The levels of a kind are in order, none twice, and not empty.
    Topology::tree(kind)?;
    if let Some((level, _)) = kind.iter().find(|(level, _)| *level < Level::Cache) {
        return Err(format!(
            "level {level:?} cannot stand in a further kind of parts: only the parts inside it differ"
        ));
    }
    let arity = |wanted: Level| kind.iter().find(|(level, _)| *level == wanted).map(|(_, arity)| *arity);
    let (threads, cores) = (arity(Level::Thread).unwrap_or(1), arity(Level::Core).unwrap_or(1));
    // Each core is a cluster of its own where there are none.
    let (clusters, size) =
        arity(Level::Cluster).map_or((cores, threads), |clusters| (clusters, cores * threads));
    if arity(Level::Cluster).is_some() && !cached {
        return Err(CLUSTER_ALONE.into());
    }
    let group = Group {
        cores: vec![threads; (clusters * size / threads) as usize],
        clusters: vec![size; clusters as usize],
    };
    match (arity(Level::Cache), groups.last_mut()) {
        (Some(_), Some(_)) if !cached => {
            Err("the first kind of parts has no cache level, and a further one has".into())
        }
        (Some(count), _) => {
            groups.extend(std::iter::repeat_n(group, count as usize));
            Ok(())
        }
        (None, Some(last)) => {
            last.cores.extend(group.cores);
            last.clusters.extend(group.clusters);
            Ok(())
        }
        (None, None) => {
            groups.push(group);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barcelona_like_tree() {
        let tree = Topology::new(&[(Level::Package, 4), (Level::Node, 1), (Level::Core, 4)]).unwrap();
        assert_eq!(tree.cpus(), 16);
        assert_eq!(tree.count(Level::Node), 4);
        assert_eq!(tree.group(Level::Package, CpuId(7)), 1);
        assert_eq!(tree.members(Level::Package, 3), 12..16);
        assert_eq!(tree.distance(CpuId(0), CpuId(3)), Distance::Near);
        assert_eq!(tree.distance(CpuId(0), CpuId(4)), Distance::Far);
    }

    #[test]
    fn uma_machine_with_cache_pairs() {
        let tree = Topology::new(&[(Level::Package, 4), (Level::Cache, 2), (Level::Core, 2)]).unwrap();
        assert_eq!(tree.count(Level::Node), 1);
        assert_eq!(tree.distance(CpuId(0), CpuId(1)), Distance::Cache);
        assert_eq!(tree.distance(CpuId(0), CpuId(2)), Distance::Near);
        assert_eq!(tree.distance(CpuId(0), CpuId(4)), Distance::Far);
    }

    #[test]
    fn a_cache_that_no_level_names_is_that_of_a_package_or_node() {
        let caches =
            |levels: &[(Level, u32)], packaged| Topology::new(levels).unwrap().last_caches(packaged).count();
        let flat = [(Level::Package, 2), (Level::Core, 4)];
        assert_eq!((caches(&flat, true), caches(&flat, false)), (2, 8));
        let nodes = [(Level::Package, 2), (Level::Node, 2), (Level::Core, 4)];
        assert_eq!((caches(&nodes, true), caches(&nodes, false)), (4, 16));
        let named = [(Level::Package, 2), (Level::Cache, 3), (Level::Core, 4)];
        assert_eq!((caches(&named, true), caches(&named, false)), (6, 6));
    }

    #[test]
    fn nodes_may_hold_packages() {
        let tree = Topology::new(&[(Level::Node, 18), (Level::Package, 4), (Level::Core, 2)]).unwrap();
        assert_eq!(tree.cpus(), 144);
        assert_eq!(tree.span(Level::Node), 8);
        assert_eq!(tree.distance(CpuId(0), CpuId(2)), Distance::Near);
        assert_eq!(tree.distance(CpuId(7), CpuId(8)), Distance::Far);
    }

    #[test]
    fn distances_do_not_need_powers_of_two() {
        let levels = [(Level::Package, 2), (Level::Cache, 3), (Level::Core, 2), (Level::Thread, 2)];
        let tree = Topology::new(&levels).unwrap();
        let from = |cpu| tree.distance(CpuId(13), CpuId(cpu));
        let [same, core, cache, near, far] = [13, 12, 14, 16, 11].map(from);
        assert_eq!((same, core, cache), (Distance::Same, Distance::Core, Distance::Cache));
        assert_eq!((near, far), (Distance::Near, Distance::Far));
    }

    #[test]
    fn clusters_divide_what_shares_a_cache() {
        let levels = [(Level::Package, 2), (Level::Cache, 1), (Level::Cluster, 8), (Level::Core, 4)];
        let tree = Topology::new(&levels).unwrap();
        assert_eq!((tree.cpus(), tree.count(Level::Cluster), tree.span(Level::Cluster)), (64, 16, 4));
        assert_eq!(tree.distance(CpuId(0), CpuId(31)), Distance::Cache);
        // Without clusters each core is one.
        let plain = Topology::new(&[(Level::Cache, 2), (Level::Core, 2), (Level::Thread, 2)]).unwrap();
        assert_eq!((plain.span(Level::Cluster), plain.count(Level::Cluster)), (2, 4));
        let kinds = [vec![(Level::Cluster, 2), (Level::Core, 4)]];
        let hybrid =
            Topology::of_kinds(&[(Level::Cache, 1), (Level::Core, 8), (Level::Thread, 2)], &kinds).unwrap();
        assert_eq!((hybrid.cpus(), hybrid.count(Level::Core), hybrid.count(Level::Cluster)), (24, 16, 10));
        assert_eq!((hybrid.members(Level::Cluster, 7), hybrid.members(Level::Cluster, 9)), (14..16, 20..24));
        assert_eq!((hybrid.count(Level::Cache), hybrid.span(Level::Cluster)), (1, 4));
        assert!(Topology::new(&[(Level::Cluster, 2), (Level::Core, 2)]).is_err());
        assert!(Topology::of_kinds(&[(Level::Core, 2)], &kinds).is_err());
    }

    #[test]
    fn bad_trees_are_refused() {
        assert!(Topology::new(&[(Level::Core, 2), (Level::Package, 2)]).is_err());
        assert!(Topology::new(&[(Level::Core, 0)]).is_err());
        assert!(Topology::new(&[(Level::Core, 2), (Level::Core, 2)]).is_err());
        assert!(Topology::new(&[(Level::Package, 1 << 20), (Level::Core, 1 << 20)]).is_err());
    }
}
