//! Small helpers shared by policies: allowed cpus, integer division of cpus, shuffles from a counter-based stream.

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::View;
use sim_core::rng;

/// The cpus that a task may use, in order.
pub(crate) fn allowed_cpus(view: &dyn View, task: TaskId) -> Vec<CpuId> {
    view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu)).collect()
}

/// The first cpu that a task may use; the kernel promises that there is one.
pub(crate) fn first_allowed(view: &dyn View, task: TaskId) -> CpuId {
    view.machine().cpu_ids().find(|cpu| view.allowed(task, *cpu)).unwrap_or(CpuId(0))
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

    /// A uniform number below `bound` (at least 1); the bias of the fixed-point product is below bound / 2^32.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next += 1;
        let draw = u128::from(rng::draw(self.key, self.next));
        ((draw * u128::from(bound.max(1))) >> 32) as u64
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
}
