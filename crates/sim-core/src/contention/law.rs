//! The laws of memory as integer functions: the stretch of a resource, the growth of demand in a shared
//! cache, the factor of remote access, and what a profile demands.

use std::sync::{Arc, Mutex, PoisonError};

use crate::machine::{Level, Machine};
use crate::program::{MemoryProfile, Pages};

/// One in the fixed-point format of stretches, shares and factors.
pub(crate) const ONE: u64 = 1 << 16;

/// Steps of the stretch table per unit of rho, and its length in units.
pub(super) const STEPS: u64 = 256;
const REACH: u64 = 8;
/// The same of the cache table, which begins at 1: beyond, demand grows no more.
const CACHE_STEPS: u64 = 64;
const CACHE_REACH: u64 = 64;

/// Tables of the last exponents. They depend on nothing else, and making both takes 0.4 ms, which is a third
/// of a run of a millisecond.
type Tables<T> = Mutex<Vec<(u32, Arc<[T]>)>>;
static STRETCHES: Tables<u32> = Mutex::new(Vec::new());
static CACHES: Tables<u64> = Mutex::new(Vec::new());
/// Tables that are kept of each kind: 32 kB each.
const KEPT: usize = 16;

/// The table of an exponent, made if it is not there.
fn kept<T>(tables: &Tables<T>, exponent: u32, make: fn(u32) -> Vec<T>) -> Arc<[T]> {
    let mut tables = tables.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, table)) = tables.iter().find(|(known, _)| *known == exponent) {
        return Arc::clone(table);
    }
    let table: Arc<[T]> = make(exponent).into();
    if tables.len() >= KEPT {
        tables.remove(0);
    }
    tables.push((exponent, Arc::clone(&table)));
    table
}

/// h(rho) for rho = i / STEPS in 1/65,536.
pub(super) fn stretch_table(exponent: u32) -> Arc<[u32]> {
    kept(&STRETCHES, exponent, stretches)
}

/// The table, with a software power function that gives the same bits everywhere.
#[expect(clippy::float_arithmetic, reason = "a table built once; no float enters simulated state")]
fn stretches(exponent: u32) -> Vec<u32> {
    let p = f64::from(exponent.clamp(1, 16));
    (0..=STEPS * REACH)
        .map(|i| {
            let rho = i as f64 / STEPS as f64;
            let h = libm::pow(1.0 + libm::pow(rho, p), 1.0 / p);
            libm::round(h * ONE as f64) as u32
        })
        .collect()
}

/// x^alpha for x = 1 + i / CACHE_STEPS in 1/65,536, alpha in thousandths (at most 4).
#[expect(clippy::float_arithmetic, reason = "a table built once; no float enters simulated state")]
fn cache_table(alpha: u32) -> Vec<u64> {
    let alpha = f64::from(alpha.min(4_000)) / 1_000.0;
    (0..=CACHE_STEPS * (CACHE_REACH - 1))
        .map(|i| {
            let x = 1.0 + i as f64 / CACHE_STEPS as f64;
            libm::round(libm::pow(x, alpha) * ONE as f64) as u64
        })
        .collect()
}

/// A profile as the laws want it.
#[derive(Clone, Copy)]
pub(super) struct Demand {
    /// Bytes per second.
    pub(super) bytes: u64,
    /// Memory-bound share of the time, 1/65,536.
    pub(super) bound: u64,
    /// Share of the accesses spread over all nodes, 1/65,536.
    pub(super) spread: u64,
    /// Bytes.
    pub(super) working_set: u64,
    pub(super) pages: Pages,
}

impl Demand {
    /// It neither asks for anything nor waits for it.
    #[inline]
    pub(super) const fn is_free(&self) -> bool {
        self.bound == 0 && self.bytes == 0
    }

    pub(super) fn new(machine: &Machine, profile: &MemoryProfile) -> Self {
        let everywhere = profile.pages == Pages::Interleaved;
        Self {
            bytes: profile.demand,
            bound: u64::from(profile.bound_on(&machine.memory)),
            spread: if everywhere { ONE } else { u64::from(profile.shared).min(ONE) },
            working_set: profile.working_set,
            pages: profile.pages,
        }
    }
}

/// The law of the cache that the cpus of a group share.
pub(super) struct CacheLaw {
    table: Arc<[u64]>,
    /// Bytes.
    capacity: u64,
    /// Cpus of a group; 0 = the law is switched off.
    pub(super) span: u32,
}

/// Number of cpus that share a cache: of the largest [`Level::Cache`], or of a package where there is no such
/// level.
pub(crate) fn cache_span(machine: &Machine) -> u32 {
    let topology = &machine.topology;
    let has_level = topology.levels().iter().any(|(level, _)| *level == Level::Cache);
    topology.span(if has_level { Level::Cache } else { Level::Package })
}

impl CacheLaw {
    pub(super) fn new(machine: &Machine) -> Self {
        let memory = &machine.memory;
        let on = memory.cache_exponent > 0 && memory.shared_cache > 0 && machine.topology.is_even();
        Self {
            table: if on { kept(&CACHES, memory.cache_exponent, cache_table) } else { Arc::new([]) },
            capacity: memory.shared_cache,
            span: if on { cache_span(machine) } else { 0 },
        }
    }

    /// Growth of the demand of a task with this working set beside working sets of `sum` bytes in all, its
    /// own included: (max(C, sum) / max(C, own))^alpha, at least 1.
    pub(super) fn growth(&self, sum: u128, own: u64) -> u64 {
        let Some(last) = self.table.last() else { return ONE };
        let capacity = u128::from(self.capacity);
        let (all, own) = (sum.max(capacity), u128::from(own).max(capacity));
        if all <= own {
            return ONE;
        }
        // The sum of at most 2^22 sets of 64 bits, times 2^22: no overflow.
        let beyond = ((all - own) * u128::from(CACHE_STEPS << 16)) / own;
        let beyond = beyond.min(1 << 40) as u64;
        let (step, rest) = ((beyond >> 16) as usize, beyond & 0xffff);
        match (self.table.get(step), self.table.get(step + 1)) {
            (Some(low), Some(high)) => low + (((high - low) * rest) >> 16),
            _ => *last,
        }
    }
}

/// Time of an access by the node of the cpu and the node of the page, over that of a local one.
pub(super) struct Distances {
    nodes: usize,
    remote: u64,
    /// Row by row; empty when one factor holds for all.
    matrix: Vec<u64>,
}

/// The greatest factor that counts.
const LIMIT: u64 = 1 << 23;

const fn factor(thousandths: u32) -> u64 {
    let at_least = if thousandths < 1_000 { 1_000 } else { thousandths };
    ((at_least as u64) << 16) / 1_000
}

impl Distances {
    pub(super) fn new(machine: &Machine) -> Self {
        let (memory, nodes) = (&machine.memory, machine.nodes() as usize);
        let given = memory.distances.len() == nodes * nodes;
        let matrix = memory.distances.iter().map(|d| factor(*d)).collect();
        Self { nodes, remote: factor(memory.remote_factor), matrix: if given { matrix } else { Vec::new() } }
    }

    #[inline]
    pub(super) fn between(&self, cpu: u32, page: u32) -> u64 {
        match self.matrix.get(cpu as usize * self.nodes + page as usize) {
            Some(factor) => *factor,
            None if cpu == page => ONE,
            None => self.remote,
        }
    }

    /// A factor as the cost of an access wants it: beyond 128 all are one.
    #[inline]
    pub(super) fn cost(&self, factor: u64) -> u32 {
        factor.min(LIMIT) as u32
    }

    /// The factor between any two nodes, where it is one for all, as the cost of an access wants it.
    pub(super) fn uniform(&self) -> Option<u32> {
        self.matrix.is_empty().then(|| self.cost(self.remote))
    }

    /// Whether any factor is beyond what [`Self::cost`] tells apart.
    pub(super) fn beyond(&self) -> bool {
        self.remote > LIMIT || self.matrix.iter().any(|factor| *factor > LIMIT)
    }

    /// Mean over pages that lie on the nodes in these shares.
    pub(super) fn mean_of(&self, cpu: u32, shares: &[u64]) -> u64 {
        (0..).zip(shares).map(|(page, share)| self.between(cpu, page) * share).sum::<u64>() >> 16
    }

    /// Mean over pages on all nodes.
    pub(super) fn mean(&self, cpu: u32) -> u64 {
        let nodes = self.nodes as u64;
        if self.matrix.is_empty() {
            return (ONE + (nodes - 1) * self.remote) / nodes;
        }
        (0..self.nodes as u32).map(|page| self.between(cpu, page)).sum::<u64>() / nodes
    }
}

/// The stretch of a resource, 1/65,536: bytes per second over bytes per second (capacity 0 = without limit).
#[inline]
pub(super) fn stretch(table: &[u32], load: u64, capacity: u64) -> u64 {
    if capacity == 0 || load == 0 {
        return ONE;
    }
    // In 64 bits where they suffice: below 2^40 bytes per second.
    if load >> 40 > 0 {
        return stretch_of(table, ((u128::from(load) * u128::from(STEPS)) << 16) / u128::from(capacity));
    }
    let scaled = (load * (STEPS << 16)) / capacity;
    match table.get((scaled >> 16) as usize..) {
        Some([low, high, ..]) => between(*low, *high, scaled & (ONE - 1)),
        _ => scaled / STEPS,
    }
}

/// The stretch for rho x STEPS with 16 fraction bits: from the table, which ends where it is rho itself.
#[cold]
fn stretch_of(table: &[u32], scaled: u128) -> u64 {
    let step = usize::try_from(scaled >> 16).unwrap_or(usize::MAX);
    match table.get(step..) {
        Some([low, high, ..]) => between(*low, *high, scaled as u64 & (ONE - 1)),
        _ => (scaled / u128::from(STEPS)) as u64,
    }
}

/// A value between two entries of a table that are a share of 1/65,536 apart.
#[inline]
fn between(low: u32, high: u32, share: u64) -> u64 {
    u64::from(low) + ((u64::from(high - low) * share) >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_value(exponent: u32, rho: u64) -> u64 {
        u64::from(stretch_table(exponent)[(rho * STEPS) as usize])
    }

    #[test]
    fn the_stretch_is_a_smooth_knee() {
        assert_eq!(table_value(4, 0), ONE);
        // (1 + 1)^(1/4) = 1.189207
        assert_eq!(table_value(4, 1), 77_936);
        // Far above the knee the stretch is rho itself.
        assert!(table_value(4, 8).abs_diff(8 * ONE) < ONE / 100);
    }

    #[test]
    fn demand_grows_by_the_power_of_what_does_not_fit() {
        let law = CacheLaw { table: cache_table(500).into(), capacity: 1_000, span: 2 };
        assert_eq!(law.growth(900, 400), ONE);
        assert_eq!(law.growth(2_000, 2_000), ONE);
        // sqrt(2), and sqrt(4) beside own sets that fill the cache.
        assert_eq!(law.growth(2_000, 700), 92_682);
        assert_eq!(law.growth(4_000, 1_000), 2 * ONE);
        assert_eq!(law.growth(1 << 90, 1), 8 * ONE);
    }

    #[test]
    fn loads_beyond_64_bits_are_stretched_as_small_ones() {
        let table = stretch_table(4);
        let stretches = |capacity: u64| [1, 2, 3].map(|load| stretch(&table, load * capacity, 2 * capacity));
        assert_eq!(stretches(1 << 20)[1], 77_936);
        assert_eq!(stretches(1 << 41), stretches(1 << 20));
        assert_eq!(stretch(&table, 1 << 44, 1 << 40), 16 * ONE);
    }
}
