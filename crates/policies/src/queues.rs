//! Lengths of all queues, kept up to date from the hooks: idle and overloaded cpus by group, and the next cpu
//! in order with so few or so many tasks, found in time that grows with the logarithm of the number of cpus.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::machine::{Division, PerCpu};
use sim_core::policy::View;

/// Idle and overloaded cpus of groups.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    groups: Division,
    counts: PerCpu<u32>,
    /// Cpus without a task, by group.
    idle: Vec<u32>,
    /// Cpus with two tasks or more, by group.
    overloaded: Vec<u32>,
    all_idle: u32,
    all_crowded: u32,
    lengths: Lengths,
    /// A hook has reported a change since the last refresh.
    changed: bool,
    /// What has not been changed, but was seen by the last refresh.
    seen: usize,
}

/// A tree over cpus with the shortest and the longest queue below each node: the root is node 1, the children
/// of n are 2n and 2n + 1.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    /// Leaves, a power of two.
    leaves: u32,
    /// Shortest and longest; beyond the last cpu the two are the wrong way round, so that nothing is found
    /// there.
    nodes: Vec<(u32, u32)>,
}

/// What is looked for.
#[derive(Clone, Copy)]
enum Wanted {
    AtMost(u32),
    AtLeast(u32),
}

impl Lengths {
    pub(crate) fn new(cpus: u32) -> Self {
        let leaves = cpus.max(1).next_power_of_two();
        let mut lengths = Self { leaves, nodes: vec![(u32::MAX, 0); 2 * leaves as usize] };
        (0..cpus).for_each(|cpu| lengths.set(cpu, 0));
        lengths
    }

    pub(crate) fn set(&mut self, cpu: u32, length: u32) {
        let mut node = (self.leaves + cpu) as usize;
        self.nodes[node] = (length, length);
        while node > 1 {
            node /= 2;
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            let both = (left.0.min(right.0), left.1.max(right.1));
            if self.nodes[node] == both {
                return;
            }
            self.nodes[node] = both;
        }
    }

    pub(crate) fn get(&self, cpu: u32) -> u32 {
        self.nodes[(self.leaves + cpu) as usize].0
    }

    /// The longest of all.
    pub(crate) fn longest(&self) -> u32 {
        self.nodes[1].1
    }

    /// The first cpu of a range with at least so many.
    pub(crate) fn first_at_least(&self, cpus: &Range<u32>, length: u32) -> Option<u32> {
        self.first(Wanted::AtLeast(length), cpus)
    }

    fn holds(&self, node: usize, wanted: Wanted) -> bool {
        let (shortest, longest) = self.nodes[node];
        match wanted {
            Wanted::AtMost(length) => shortest <= length,
            Wanted::AtLeast(length) => longest >= length,
        }
    }

    /// The first cpu of a range: climbs from its start past subtrees without one, and descends into the next.
    fn first(&self, wanted: Wanted, cpus: &Range<u32>) -> Option<u32> {
        if cpus.is_empty() {
            return None;
        }
        let mut node = (self.leaves + cpus.start) as usize;
        while !self.holds(node, wanted) {
            node >>= node.trailing_ones();
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < self.leaves as usize {
            node = 2 * node + usize::from(!self.holds(2 * node, wanted));
        }
        Some(node as u32 - self.leaves).filter(|cpu| *cpu < cpus.end)
    }

    /// The last cpu of a range, in the same way from its end.
    fn last(&self, wanted: Wanted, cpus: &Range<u32>) -> Option<u32> {
        if cpus.is_empty() {
            return None;
        }
        let mut node = (self.leaves + cpus.end - 1) as usize;
        while !self.holds(node, wanted) {
            node >>= node.trailing_zeros();
            if node == 1 {
                return None;
            }
            node -= 1;
        }
        while node < self.leaves as usize {
            node = 2 * node + usize::from(self.holds(2 * node + 1, wanted));
        }
        Some(node as u32 - self.leaves).filter(|cpu| *cpu >= cpus.start)
    }
}

impl Queues {
    /// Groups of `span` cpus.
    pub(crate) fn new(cpus: u32, span: u32) -> Self {
        Self::by(cpus, Division::equal(cpus, span))
    }

    pub(crate) fn by(cpus: u32, groups: Division) -> Self {
        Self {
            counts: PerCpu::filled(cpus as usize, 0),
            idle: (0..groups.count()).map(|group| groups.members(group).len() as u32).collect(),
            overloaded: vec![0; groups.count() as usize],
            groups,
            all_idle: cpus,
            all_crowded: 0,
            lengths: Lengths::new(cpus),
            changed: false,
            seen: 0,
        }
    }

    /// The first cpu of a range with at most so many tasks.
    pub(crate) fn first_at_most(&self, cpus: Range<u32>, tasks: u32) -> Option<CpuId> {
        self.lengths.first(Wanted::AtMost(tasks), &cpus).map(CpuId)
    }

    /// The last cpu of a range with at most so many tasks.
    pub(crate) fn last_at_most(&self, cpus: Range<u32>, tasks: u32) -> Option<CpuId> {
        self.lengths.last(Wanted::AtMost(tasks), &cpus).map(CpuId)
    }

    /// The tasks on a cpu.
    pub(crate) fn length(&self, cpu: CpuId) -> u32 {
        self.lengths.get(cpu.0)
    }

    /// The first cpu of a range with at least so many tasks.
    pub(crate) fn first_at_least(&self, cpus: Range<u32>, tasks: u32) -> Option<CpuId> {
        self.lengths.first(Wanted::AtLeast(tasks), &cpus).map(CpuId)
    }

    /// The last cpu of a range with at least so many tasks.
    pub(crate) fn last_at_least(&self, cpus: Range<u32>, tasks: u32) -> Option<CpuId> {
        self.lengths.last(Wanted::AtLeast(tasks), &cpus).map(CpuId)
    }

    /// The fewest and the most tasks on a cpu.
    pub(crate) fn extremes(&self) -> (u32, u32) {
        self.lengths.nodes[1]
    }

    /// The first idle cpu that will do of a range, searched from `from` to its end and on from its start.
    pub(crate) fn idle_from(
        &self,
        cpus: Range<u32>,
        from: u32,
        fits: impl Fn(CpuId) -> bool,
    ) -> Option<CpuId> {
        [from..cpus.end, cpus.start..from].into_iter().find_map(|part| {
            let mut at = part.start;
            while let Some(cpu) = self.first_at_most(at..part.end, 0) {
                if fits(cpu) {
                    return Some(cpu);
                }
                at = cpu.0 + 1;
            }
            None
        })
    }

    /// Before searches: brings lengths up to date that no hook has reported yet. The counts of idle and
    /// overloaded cpus follow the hooks only.
    pub(crate) fn refresh(&mut self, view: &dyn View) {
        if std::mem::take(&mut self.changed) {
            self.seen = 0;
        }
        view.unreported(self.seen, &mut |cpu| {
            self.seen += 1;
            self.lengths.set(cpu.0, view.nr_running(cpu));
        });
        debug_assert!(
            view.machine().cpu_ids().all(|cpu| view.nr_running(cpu) == self.lengths.get(cpu.0)),
            "the tree of queue lengths is out of date"
        );
    }

    /// The queue of `cpu` has changed.
    pub(crate) fn note(&mut self, view: &dyn View, cpu: CpuId) {
        let after = view.nr_running(cpu);
        self.changed = true;
        let before = std::mem::replace(&mut self.counts[cpu], after);
        self.lengths.set(cpu.0, after);
        let group = self.groups.part(cpu) as usize;
        let change = |count: &mut u32, was: bool, is: bool| {
            *count = (*count + u32::from(is)).saturating_sub(u32::from(was));
        };
        change(&mut self.idle[group], before == 0, after == 0);
        change(&mut self.all_idle, before == 0, after == 0);
        change(&mut self.overloaded[group], before >= 2, after >= 2);
        change(&mut self.all_crowded, before >= 2, after >= 2);
    }

    /// The group of a cpu.
    pub(crate) fn group(&self, cpu: CpuId) -> u32 {
        self.groups.part(cpu)
    }

    /// The cpus of the group of a cpu.
    pub(crate) fn near(&self, cpu: CpuId) -> Range<u32> {
        self.groups.around(cpu)
    }

    /// Idle cpus of a group.
    pub(crate) fn idle_in(&self, group: u32) -> u32 {
        self.idle.get(group as usize).copied().unwrap_or(0)
    }

    /// Idle cpus of the machine.
    pub(crate) const fn idle(&self) -> u32 {
        self.all_idle
    }

    /// Crowded cpus of a group.
    pub(crate) fn overloaded_in(&self, group: u32) -> u32 {
        self.overloaded.get(group as usize).copied().unwrap_or(0)
    }

    /// Crowded cpus of the machine.
    pub(crate) const fn overloaded(&self) -> u32 {
        self.all_crowded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_find_what_a_walk_finds() {
        for cpus in [1, 2, 7, 8, 13] {
            let mut lengths = Lengths::new(cpus);
            let length = |cpu: u32, round: u32| (cpu * 5 + round * 7) % 11 % 4;
            for round in 0..11 {
                (0..cpus).for_each(|cpu| lengths.set(cpu, length(cpu, round)));
                for (start, end, wanted) in (0..=cpus).flat_map(|start| {
                    (0..=cpus).flat_map(move |end| (1..4).map(move |wanted| (start, end, wanted)))
                }) {
                    let range = start..end;
                    let (few, many) = (Wanted::AtMost(wanted - 1), Wanted::AtLeast(wanted));
                    let holds = |cpu: &u32, least: bool| (length(*cpu, round) >= wanted) == least;
                    let walk = |least: bool| range.clone().filter(move |cpu| holds(cpu, least));
                    assert_eq!(lengths.first(few, &range), walk(false).next(), "{range:?} of {cpus}");
                    assert_eq!(lengths.last(few, &range), walk(false).next_back(), "{range:?} of {cpus}");
                    assert_eq!(lengths.first(many, &range), walk(true).next(), "{range:?} of {cpus}");
                    assert_eq!(lengths.last(many, &range), walk(true).next_back(), "{range:?} of {cpus}");
                }
            }
        }
    }
}
