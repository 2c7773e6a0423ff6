//! What a user-level balancer can measure of the threads of its application, and how it deals them to cores
//! at first.

use std::collections::BTreeMap;

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::Machine;
use sim_core::policy::{System, TaskState, View};
use sim_core::time::{Span, Time};

/// Speed 1 in fixed point: a whole cpu, or nominal speed.
pub(crate) const FULL: u64 = 1 << 16;

/// A speed in thousandths, for reasons.
pub(crate) const fn thousandths(speed: u64) -> u64 {
    speed * 1_000 / FULL
}

/// What is read of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// Its cpu time, user and system, polling included (`/proc` or taskstats).
    CpuTime,
    /// The work it has done (hardware counters of useful instructions).
    Work,
}

/// A thread under observation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge {
    /// The thread.
    pub(crate) task: TaskId,
    looked: Time,
    read: Span,
}

impl Gauge {
    /// One that counts from the start of the run.
    pub(crate) const fn new(task: TaskId) -> Self {
        Self { task, looked: Time::ZERO, read: Span::ZERO }
    }

    /// What the thread has gained since the last look, and the time since then; counts from now on.
    pub(crate) fn look(&mut self, system: &mut dyn System, what: Reading) -> (Span, Span) {
        let now = system.now();
        let value = match what {
            Reading::CpuTime => system.cpu_time(self.task),
            Reading::Work => system.progress(self.task),
        };
        let seen = (value.saturating_sub(self.read), now.since(self.looked));
        (self.looked, self.read) = (now, value);
        seen
    }

    /// True until the thread ends.
    pub(crate) fn live(&self, view: &dyn View) -> bool {
        view.task(self.task).state != TaskState::Exited
    }
}

/// `gained` over `real` as a speed; none when no time has passed.
pub(crate) fn speed(gained: Span, real: Span) -> Option<u64> {
    let scaled = u128::from(gained.ns()) * u128::from(FULL);
    scaled.checked_div(u128::from(real.ns())).map(|speed| speed as u64)
}

/// The position among `cpus` (in ascending order) of the core of each thread: full rounds in cpu order;
/// threads that are left over, or all if they are fewer, go to the first hardware threads of cores first, and
/// to the nodes in proportion to their cpus (Sainte-Lagué's rule), so that the nodes fill evenly even where a
/// mask leaves some of them fewer cpus.
pub(crate) fn deal(machine: &Machine, cpus: &[CpuId], threads: usize) -> Vec<usize> {
    let thread = |cpu: CpuId| machine.topology.thread(cpu);
    let class = |cpu: CpuId| (thread(cpu), machine.node_of(cpu));
    let mut sizes = BTreeMap::new();
    let numbered = |cpu: &CpuId| {
        let number: &mut u64 = sizes.entry(class(*cpu)).or_default();
        *number += 1;
        *number
    };
    let numbers: Vec<u64> = cpus.iter().map(numbered).collect();
    let turn = |i: usize| (2 * numbers[i] - 1) * SHARE / (2 * sizes[&class(cpus[i])]);
    let mut even: Vec<usize> = (0..cpus.len()).collect();
    even.sort_by_cached_key(|i| (thread(cpus[*i]), turn(*i), cpus[*i].0));
    let whole = threads - threads.checked_rem(cpus.len()).unwrap_or(threads);
    let rounds = (0..whole).map(|thread| thread % cpus.len());
    rounds.chain(even.into_iter().take(threads - whole)).collect()
}

/// Turns of a node's cpus as parts of this.
const SHARE: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::machine;
    use sim_core::machine::Level;

    fn counts(levels: &[(Level, u32)], threads: usize) -> Vec<usize> {
        let machine = machine(levels);
        let cpus: Vec<CpuId> = machine.cpu_ids().collect();
        let dealt = deal(&machine, &cpus, threads);
        (0..cpus.len()).map(|core| dealt.iter().filter(|at| **at == core).count()).collect()
    }

    #[test]
    fn what_is_left_over_goes_to_the_nodes_in_turn() {
        let nodes = [(Level::Node, 2), (Level::Core, 4)];
        assert_eq!(counts(&nodes, 8), [1; 8]);
        assert_eq!(counts(&nodes, 10), [2, 1, 1, 1, 2, 1, 1, 1]);
        assert_eq!(counts(&nodes, 3), [1, 1, 0, 0, 1, 0, 0, 0]);
        assert!(deal(&machine(&nodes), &[], 3).is_empty());
        // Six too many on nodes with four, four and two cpus.
        let machine = machine(&[(Level::Node, 4), (Level::Core, 4)]);
        let cpus: Vec<CpuId> = (0..10).map(CpuId).collect();
        let dealt = deal(&machine, &cpus, 16);
        let on = |node: usize| dealt.iter().filter(|at| **at / 4 == node).count();
        assert_eq!([on(0), on(1), on(2)], [7, 6, 3]);
    }

    #[test]
    fn cores_get_a_thread_each_before_their_second_hardware_threads_do() {
        assert_eq!(counts(&[(Level::Core, 2), (Level::Thread, 2)], 2), [1, 0, 1, 0]);
        assert_eq!(counts(&[(Level::Core, 2), (Level::Thread, 2)], 5), [2, 1, 1, 1]);
    }

    #[test]
    fn a_small_node_gets_its_share_before_a_large_one_is_full() {
        // Four cpus of one node and one of the other: the third of three threads goes to the small node.
        let machine = machine(&[(Level::Node, 2), (Level::Core, 4)]);
        let cpus: Vec<CpuId> = (0..5).map(CpuId).collect();
        assert_eq!(deal(&machine, &cpus, 3), [0, 1, 4]);
    }
}
