//! What a description of a computer holds, whatever its form: cpus with their core, package, NUMA node and
//! caches, and facts with their sources.

use std::collections::BTreeSet;
use std::fmt;

use notation::lists;

/// Most cpus that are imported: 128 times as many as Linux supports.
pub(super) const MAX_CPUS: usize = 1 << 20;

/// Levels of caches, L1 to L5.
pub(super) const CACHE_LEVELS: usize = 5;

/// Stands for "none" where a cpu names an instance.
pub(super) const NONE: u32 = u32::MAX;

/// The remark on dies, which hwloc and Linux have as a level.
pub(super) const DIES: &str = "dies are not a level of the simulator: only their caches and NUMA nodes count";

/// A value and the place that states it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sourced<T> {
    pub(super) value: T,
    pub(super) source: String,
}

/// A cpu (hardware thread).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cpu {
    /// Its number under Linux.
    pub(super) number: u32,
    /// Position of its package in [`Found::packages`].
    pub(super) package: u32,
    /// Its die, cluster or group, the innermost one: cpus with the same number share it. It only tells which
    /// NUMA node is near.
    pub(super) unit: u32,
    /// Position of its NUMA node in [`Found::nodes`].
    pub(super) node: u32,
    /// Its core: cpus with the same number share one.
    pub(super) core: u32,
    /// Its data or unified cache of each level, L1 first, as a position in [`Found::caches`]; [`NONE`] where
    /// there is none.
    pub(super) caches: [u32; CACHE_LEVELS],
    /// Its speed in any unit that all cpus share; 0 where it is unknown.
    pub(super) speed: u64,
}

impl Cpu {
    /// A cpu of which only the number is known.
    pub(super) const fn new(number: u32) -> Self {
        let caches = [NONE; CACHE_LEVELS];
        Self { number, package: NONE, unit: NONE, node: NONE, core: NONE, caches, speed: 0 }
    }
}

/// A NUMA node.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct NumaNode {
    /// Its number under Linux.
    pub(super) number: u32,
    /// Its memory in bytes; 0 where it is unknown.
    pub(super) memory: u64,
    /// Its bandwidth in bytes per second as stated; 0 where it is unknown.
    pub(super) bandwidth: u64,
    /// The kind of its memory where that is stated: DRAM, HBM, MCDRAM, NVM.
    pub(super) kind: String,
    /// Numbers of the cpus that it is local to, those that may not be used included.
    pub(super) local: Vec<u32>,
    /// A remark names it already.
    pub(super) said: bool,
}

/// A cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cache {
    /// Its size in bytes; 0 where it is unknown.
    pub(super) size: u64,
}

/// Clocks that follow what cpus use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Governed {
    /// The directory that states all of it.
    pub(super) source: String,
    /// Lowest clock over the highest one, in thousandths, if both are stated.
    pub(super) lowest: Option<u64>,
    /// Cores share a clock, so the cores of a package do here.
    pub(super) shared: bool,
}

/// A table of the distances between NUMA nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Distances {
    /// Numbers of the nodes, in the order of rows and columns.
    pub(super) nodes: Vec<u32>,
    /// Values row by row, in any unit.
    pub(super) values: Vec<u64>,
    pub(super) source: String,
}

/// Where each kind of fact was found, as the beginning of a source.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Places {
    /// Cpus, cores, packages and nodes.
    pub(super) shape: String,
    /// Sizes of caches; `{}` stands for the name of the cache.
    pub(super) caches: String,
    /// Speeds of cpus.
    pub(super) speeds: String,
    /// Bandwidths of NUMA nodes.
    pub(super) bandwidth: String,
}

/// All that was found.
#[derive(Clone, Default, Debug)]
pub(super) struct Found {
    /// The description in words, for summaries: `hwloc XML file x.xml`.
    pub(super) origin: String,
    pub(super) places: Places,
    /// The cpus that a program may use.
    pub(super) cpus: Vec<Cpu>,
    /// Numbers of the packages.
    pub(super) packages: Vec<u32>,
    pub(super) nodes: Vec<NumaNode>,
    pub(super) caches: Vec<Cache>,
    pub(super) distances: Option<Distances>,
    /// Release of Linux, such as `6.1.0-13-amd64`.
    pub(super) release: Option<Sourced<String>>,
    /// Name of the processor.
    pub(super) model: Option<String>,
    /// What Linux has as the two threads of a core are the two integer cores of a module (AMD family 15h).
    pub(super) modules: bool,
    /// Speeds of cores are known by their clocks only.
    pub(super) clocks: bool,
    /// What sets the clocks of cores, where it is known and lowers them.
    pub(super) governed: Option<Governed>,
    /// The shape contains a default because a file is missing.
    pub(super) guessed: bool,
    /// Cpus whose NUMA node is the nearest one, because they have none of their own.
    pub(super) borrowed: BTreeSet<u32>,
    /// What the description states and a machine file has no place for, in words.
    pub(super) unused: BTreeSet<String>,
    /// What the user has to know: what was left out, ignored or missing.
    pub(super) remarks: Vec<String>,
}

impl Found {
    /// Adds a remark.
    pub(super) fn remark(&mut self, text: impl fmt::Display) {
        self.remarks.push(text.to_string());
    }

    /// Leaves out the cpus that are not `kept`, and remarks on them.
    pub(super) fn keep(&mut self, kept: impl Fn(u32) -> bool, why: &str) {
        let mut left_out: Vec<u32> =
            self.cpus.iter().map(|cpu| cpu.number).filter(|number| !kept(*number)).collect();
        if left_out.is_empty() {
            return;
        }
        left_out.sort_unstable();
        self.cpus.retain(|cpu| kept(cpu.number));
        self.remark(format_args!("{} left out: {why}", named(&left_out)));
    }
}

/// `cpu 3`, `cpus 0-3,8`: cpus in rising order.
pub(super) fn named(cpus: &[u32]) -> String {
    let word = if cpus.len() == 1 { "cpu" } else { "cpus" };
    format!("{word} {}", lists::ranges(cpus.iter().copied()))
}

/// A text with single spaces.
pub(super) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Clocks within this share of the fastest, in per cent, are those of one kind of core: favoured cores and
/// rounding make small differences (hwloc has the same limit).
const ONE_KIND: u64 = 10;

impl Found {
    /// Gives cpus of nearly the same clock the same speed.
    pub(super) fn merge_clocks(&mut self) {
        let mut clocks: Vec<u64> = self.cpus.iter().map(|cpu| cpu.speed).collect();
        clocks.sort_unstable_by(|one, other| other.cmp(one));
        clocks.dedup();
        let mut kinds: Vec<u64> = Vec::new();
        for clock in clocks {
            let near = |kind: &u64| clock > 0 && clock * 100 >= kind * (100 - ONE_KIND);
            if !kinds.last().is_some_and(near) {
                kinds.push(clock);
            }
        }
        for cpu in &mut self.cpus {
            cpu.speed = kinds.iter().rev().find(|kind| **kind >= cpu.speed).copied().unwrap_or(cpu.speed);
        }
    }
}

/// Gives all cpus the part 0 if none has one.
pub(super) fn single(
    cpus: &mut [Cpu],
    what: &str,
    mut of: impl FnMut(&mut Cpu) -> &mut u32,
    make: impl FnOnce(),
) -> Result<(), String> {
    let mut without: Vec<u32> =
        cpus.iter_mut().filter_map(|cpu| (*of(cpu) == NONE).then_some(cpu.number)).collect();
    if without.is_empty() {
        return Ok(());
    }
    if without.len() < cpus.len() {
        without.sort_unstable();
        return Err(format!("{} have no {what}, and other cpus have one", named(&without)));
    }
    make();
    cpus.iter_mut().for_each(|cpu| *of(cpu) = 0);
    Ok(())
}
