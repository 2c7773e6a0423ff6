//! Small helpers shared by policies: allowed cpus, integer division of cpus, shuffles from a counter-based
//! stream.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::{Division, Level, Topology};
use sim_core::policy::{CpuChoice, View, Why};
use sim_core::rng;

/// The cpus that a task may use, in order.
pub(crate) fn allowed_cpus(view: &dyn View, task: TaskId) -> Vec<CpuId> {
    view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu)).collect()
}

/// The first cpu that a task may use; the kernel promises that there is one.
pub(crate) fn first_allowed(view: &dyn View, task: TaskId) -> CpuId {
    view.first_allowed(task).unwrap_or(CpuId(0))
}

/// First hardware threads of all cores before the second ones; otherwise in the order given.
pub(crate) fn threads_last(topology: &Topology, cpus: &mut [CpuId]) {
    cpus.sort_by_key(|cpu| topology.thread(*cpu));
}

/// Neighbours in the list far apart: another package (or board) first, then another node, cache and core of
/// the same, the second hardware threads last. This is `KMP_AFFINITY=scatter` of Intel's OpenMP runtime.
pub(crate) fn far_apart(topology: &Topology, cpus: &mut [CpuId]) {
    let mut levels = Level::ALL.map(|level| topology.division(level)).to_vec();
    levels.push(Division::equal(topology.cpus(), topology.cpus()));
    levels.sort_by_key(Division::largest);
    // The place of each part of a cpu in the next larger one, from the innermost level to the outermost: the
    // innermost one changes last.
    let place = |cpu: CpuId, inner: &Division, outer: &Division| {
        inner.part(cpu) - inner.part(CpuId(outer.around(cpu).start))
    };
    let digits = |cpu: &CpuId| -> Vec<u32> { levels.windows(2).map(|s| place(*cpu, &s[0], &s[1])).collect() };
    cpus.sort_by_cached_key(digits);
}

/// The rule of kernels whose choice the mask of a task forbids.
const MASKED: &str = "the mask forbids the chosen cpu: goes to the first allowed cpu";

/// The cpu that a kernel has chosen for a task and why, or the first allowed one when the mask forbids it.
pub(crate) fn unless_masked(view: &dyn View, task: TaskId, (cpu, why): (CpuId, Why)) -> CpuChoice {
    if view.allowed(task, cpu) {
        return CpuChoice::new(cpu, why);
    }
    CpuChoice::new(first_allowed(view, task), Why::rule(MASKED).with("chosen cpu", u64::from(cpu.0)))
}

/// `total` things in `parts` shares that differ by at most one, larger shares first.
pub(crate) fn shares(total: u32, parts: u32) -> impl Iterator<Item = u32> {
    let (base, rest) = (total / parts.max(1), total % parts.max(1));
    (0..parts).map(move |i| base + u32::from(i < rest))
}

/// A counter-based stream with its own position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    key: u64,
    next: u64,
}

impl Draws {
    pub(crate) fn new(seed: u64, purpose: rng::Purpose, entity: u64) -> Self {
        Self { key: rng::key(seed, purpose, entity), next: 0 }
    }

    /// A uniform number below `bound` (at least 1); the bias of the fixed-point product is below bound /
    /// 2^32.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next += 1;
        let draw = u128::from(rng::draw(self.key, self.next));
        ((draw * u128::from(bound.max(1))) >> 32) as u64
    }

    /// An exponential number with this mean.
    pub(crate) fn exponential(&mut self, mean: u64) -> u64 {
        self.next += 1;
        rng::exponential(mean, rng::draw(self.key, self.next))
    }

    /// Fisher-Yates shuffle.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u64 + 1) as usize;
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_apart_is_packages_then_cores_then_threads() {
        // The two packages of four cores with two hardware threads of a Nehalem: cpus 0 to 7 are package 0.
        let nehalem = Topology::new(&[(Level::Package, 2), (Level::Core, 4), (Level::Thread, 2)]).unwrap();
        let order = |cpus: Vec<u32>| {
            let mut cpus: Vec<CpuId> = cpus.into_iter().map(CpuId).collect();
            far_apart(&nehalem, &mut cpus);
            cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>()
        };
        assert_eq!(order((0..16).collect())[..10], [0, 8, 2, 10, 4, 12, 6, 14, 1, 9]);
        assert_eq!(order(vec![3, 2, 1, 0]), [0, 2, 1, 3]);
        // Pairs of cores that share a cache (Tigerton): the other pair before the other core of the pair.
        let pairs = Topology::new(&[(Level::Package, 2), (Level::Cache, 2), (Level::Core, 2)]).unwrap();
        let mut cpus: Vec<CpuId> = (0..8).map(CpuId).collect();
        far_apart(&pairs, &mut cpus);
        assert_eq!(cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>(), [0, 4, 2, 6, 1, 5, 3, 7]);
    }

    #[test]
    fn shares_differ_by_at_most_one() {
        assert_eq!(shares(4, 3).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!(shares(2, 4).collect::<Vec<_>>(), [1, 1, 0, 0]);
        assert_eq!(shares(5, 0).count(), 0);
    }

    #[test]
    fn shuffles_permute_and_depend_on_the_seed() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..16).collect();
            Draws::new(seed, rng::Purpose::Layout, 0).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let mut sorted = shuffled(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn a_shuffle_of_two_leaves_about_half_in_place() {
        let kept = |seed: &u64| {
            let mut items = [0, 1];
            Draws::new(*seed, rng::Purpose::Layout, 0).shuffle(&mut items);
            items == [0, 1]
        };
        let kept = (0..100).filter(kept).count();
        assert!((30..=70).contains(&kept), "{kept}");
    }
}
