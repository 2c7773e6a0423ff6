//! What a machine can do at most.

use sim_core::ids::CpuId;
use sim_core::machine::{CpuSet, Division, Level, Machine};

/// What a machine can do at most.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Size {
    /// Seconds of nominal work per second of each core with one busy hardware thread, at the highest turbo
    /// clock.
    cores: Vec<f64>,
    /// The cpus of each core.
    threads: Division,
    /// What hardware threads of a core do together against one alone, by the number of busy ones, at their
    /// best.
    together: Vec<f64>,
    /// Bytes per second of all memory controllers; 0 = without limit.
    pub(super) bandwidth: f64,
}

impl Size {
    /// For programs that are memory-bound for this share of their time at most, 0 to 1.
    pub(super) fn of(machine: &Machine, bound: f64) -> Self {
        let threads = machine.topology.span(Level::Core).max(1);
        let [compute, memory] =
            [machine.smt.compute, machine.smt.memory].map(|kept| f64::from(kept) / 1_000.0);
        let kept = compute + (memory - compute).max(0.0) * bound;
        // Each busy sibling leaves this part of a thread's speed; some may as well idle.
        let mut together = vec![0.0];
        let mut each = 1.0;
        for busy in 1..=threads {
            let best = f64::max(together[busy as usize - 1], f64::from(busy) * each);
            together.push(best);
            each *= kept;
        }
        let kinds = if machine.turbo.len() > 1 { machine.kinds() } else { Vec::new() };
        let turbo = |core: u32| {
            let row = kinds.get(core as usize).map_or(0, |kind| *kind as usize);
            let steps = machine.turbo.get(row).into_iter().flatten();
            steps.map(|t| f64::from(*t) / 1_000.0).reduce(f64::max).unwrap_or(1.0)
        };
        let nominal = sim_core::time::Speed::NOMINAL.raw() as f64;
        let threads = machine.topology.division(Level::Core);
        let speed = |core| machine.speed_of(CpuId(threads.members(core).start)).raw() as f64;
        let cores = (0..threads.count()).map(|core| speed(core) / nominal * turbo(core)).collect();
        let memory = &machine.memory;
        // Cores that wait for each load ask for bandwidth only meanwhile, so that the sum is no limit.
        let limited = if memory.blocking_loads { 0 } else { memory.node_bandwidth };
        let bandwidth = limited as f64 * f64::from(machine.nodes());
        Self { cores, threads, together, bandwidth }
    }

    /// Cores of speed 1.
    #[cfg(test)]
    pub(super) fn even(cores: usize, bandwidth: f64) -> Self {
        let threads = Division::equal(cores as u32, 1);
        Self { cores: vec![1.0; cores], threads, together: vec![0.0, 1.0], bandwidth }
    }

    /// Cpus of a core that a mask allows.
    fn allowed(&self, core: usize, mask: Option<&CpuSet>) -> usize {
        let cpus = self.threads.members(core as u32);
        cpus.filter(|cpu| mask.is_none_or(|set| set.contains(CpuId(*cpu)))).count()
    }

    /// The work per second of the cpus that a mask allows.
    pub(super) fn capacity(&self, mask: Option<&CpuSet>) -> f64 {
        let of = |(core, speed): (usize, &f64)| speed * self.together[self.allowed(core, mask)];
        self.cores.iter().enumerate().map(of).sum()
    }

    /// The work per second of the fastest cpu that a mask allows.
    pub(super) fn fastest(&self, mask: Option<&CpuSet>) -> f64 {
        let usable = self.cores.iter().enumerate().filter(|(core, _)| self.allowed(*core, mask) > 0);
        usable.map(|(_, speed)| *speed).fold(0.0, f64::max)
    }
}
