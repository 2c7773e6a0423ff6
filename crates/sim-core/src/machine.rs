//! Machines: a tree of cpus with caches, memory controllers, buses and costs. Frozen once built, shared by
//! all runs.

use crate::ids::{CpuId, Id, IdVec, NodeId};
use crate::spread::Spread;
use crate::time::{Span, Speed};

pub use crate::topology::{Arity, Distance, Division, Level, Topology};

/// What operations cost in time on a machine under its operating system. All in nanoseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Costs {
    /// Context switch between two threads of one process.
    pub switch_thread: Span,
    /// Context switch between two processes.
    pub switch_process: Span,
    /// One poll of a flag, loop included; at least 1 ns.
    pub poll: Span,
    /// `sched_yield`: the call and the scheduler's pass, without a switch.
    pub yield_call: Span,
    /// Waking one sleeper of the same cpu (paid by the waker). A wake-up takes effect after this time, also
    /// on another cpu.
    pub wake: Span,
    /// Waking one sleeper of another cpu that is idle (paid by the waker): the inter-processor interrupt is
    /// sent within the call.
    pub wake_remote: Span,
    /// Going to sleep (paid by the sleeper).
    pub sleep: Span,
    /// Inter-processor interrupt, from sending to the handler.
    pub ipi: Span,
    /// Leaving the idle state.
    pub idle_exit: Span,
    /// The same by the time for which the cpu has been idle: rows of idle time, ascending, and exit time.
    /// Exit times are linear between rows and constant outside. Empty: `idle_exit` always.
    pub idle_exits: Vec<(Span, Span)>,
    /// `wake_remote` by the time for which the other cpu has been idle, likewise.
    pub wake_remotes: Vec<(Span, Span)>,
    /// Moving a queued or running task to another cpu's queue (paid by the cpu that receives it).
    pub migration: Span,
    /// One timer tick.
    pub tick: Span,
    /// Creating one thread or process (paid by the parent).
    pub fork: Span,
    /// Variation of `fork` from one task to the next.
    pub fork_spread: Spread,
    /// One page fault at the first touch of a page, without clearing the page.
    pub page_fault: Span,
    /// Least time between two page faults of the threads of one process, which share a lock.
    pub fault_lock: Span,
    /// Time until a store is seen by another cpu, by distance; at least 1 ns each.
    pub line: [Span; 5],
}

impl Costs {
    /// Everything free (polls and signals cost their minimum of 1 ns): for analytical examples.
    #[must_use]
    pub const fn free() -> Self {
        let none = Span::ZERO;
        let least = Span::from_ns(1);
        Self {
            switch_thread: none,
            switch_process: none,
            poll: least,
            yield_call: none,
            wake: none,
            wake_remote: none,
            sleep: none,
            ipi: none,
            idle_exit: none,
            idle_exits: Vec::new(),
            wake_remotes: Vec::new(),
            migration: none,
            tick: none,
            fork: none,
            fork_spread: Spread::NONE,
            page_fault: none,
            fault_lock: none,
            line: [least; 5],
        }
    }

    /// The time in which a cpu leaves the idle state after it has been idle for so long.
    ///
    /// ```
    /// use sim_core::machine::Costs;
    /// use sim_core::time::Span;
    ///
    /// let us = Span::from_us;
    /// let costs = Costs { idle_exits: vec![(us(20), us(6)), (us(200), us(15))], ..Costs::free() };
    /// assert_eq!([us(1), us(40), us(999)].map(|idle| costs.idle_exit_after(idle)), [us(6), us(7), us(15)]);
    /// // A cpu that has only begun to halt may take longer to come back.
    /// let costs = Costs { idle_exits: vec![(us(2), us(28)), (us(12), us(18))], ..costs };
    /// assert_eq!(costs.idle_exit_after(us(7)), us(23));
    /// ```
    #[must_use]
    pub fn idle_exit_after(&self, idle: Span) -> Span {
        by_idle_time(&self.idle_exits, idle).unwrap_or(self.idle_exit)
    }

    /// What a waker pays for a sleeper of another cpu that has been idle for so long.
    #[must_use]
    pub fn wake_remote_after(&self, idle: Span) -> Span {
        by_idle_time(&self.wake_remotes, idle).unwrap_or(self.wake_remote)
    }
}

/// The cost after this idle time: linear between the rows, constant outside. None without rows.
fn by_idle_time(rows: &[(Span, Span)], idle: Span) -> Option<Span> {
    let above = rows.partition_point(|(from, _)| *from <= idle);
    let Some((until, next)) = rows.get(above).copied() else {
        return rows.last().map(|(_, cost)| *cost);
    };
    let Some((from, cost)) = above.checked_sub(1).map(|at| rows[at]) else { return Some(next) };
    let (gone, span) = (i128::from((idle - from).ns()), i128::from((until - from).ns()));
    let change = (i128::from(next.ns()) - i128::from(cost.ns())) * gone / span;
    Some(Span::from_ns((i128::from(cost.ns()) + change) as u64))
}

/// Memory of a machine: controllers, buses, links, caches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Bandwidth of the controller of each NUMA node, bytes per second; 0 = without limit.
    pub node_bandwidth: u64,
    /// Bandwidth of each package's front-side bus, bytes per second; 0 = no such bus.
    pub bus_bandwidth: u64,
    /// Bandwidth at which each NUMA node serves all others (its port to the interconnect), bytes per second;
    /// 0 = without limit.
    pub link_bandwidth: u64,
    /// Bandwidth of all traffic between nodes together (a central crossbar), bytes per second; 0 = without
    /// limit.
    pub crossbar_bandwidth: u64,
    /// Bandwidth at which the tasks of one package serve all readers of their blocks in all-to-all transfers,
    /// bytes per second; 0 = that of the resources on the way.
    pub transfer_bandwidth: u64,
    /// What one core can draw alone, bytes per second.
    pub core_bandwidth: u64,
    /// Time of a remote access over a local one, in thousandths (1300 = 1.3); at least 1000.
    pub remote_factor: u32,
    /// The same for each pair of nodes (row: node of the cpu, column: node of the pages), nodes x nodes
    /// values of at least 1000; empty = `remote_factor` between any two nodes.
    pub distances: Vec<u32>,
    /// Capacity of the caches private to a core, bytes.
    pub private_cache: u64,
    /// Capacity of the cache shared at [`Level::Cache`] (or of the package), bytes; 0 = none.
    pub shared_cache: u64,
    /// Exponent alpha, in thousandths, of the power by which demand grows when working sets share a cache:
    /// (all working sets / what fits)^alpha; 0 = caches are not shared out.
    pub cache_exponent: u32,
    /// Exponent p of the slowdown factor (1 + rho^p)^(1/p); 1..=16.
    pub stretch_exponent: u32,
    /// Demand, in thousandths of a controller's bandwidth, from which a task counts as fully memory-bound.
    pub bound_demand: u32,
    /// Cores wait for each load: a task demands bandwidth only while it waits for memory, during its
    /// memory-bound share, and tasks on one front-side bus meet there by chance.
    pub blocking_loads: bool,
}

/// A machine, frozen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Its name in reports.
    pub name: String,
    /// Its tree.
    pub topology: Topology,
    /// Its costs.
    pub costs: Costs,
    /// Its memory.
    pub memory: Memory,
    /// Speed of each core (by core number) against the core in whose seconds work counts (`work_unit`).
    pub core_speed: Vec<Speed>,
    /// Speed of the core in whose seconds work counts, against the nominal core of the workload catalogue.
    /// Nothing here follows from it: programs are written for it ([`crate::program::Program::in_unit`]).
    pub work_unit: Speed,
    /// What hardware threads of one core do to each other.
    pub smt: Smt,
    /// Factor on the speed of cores of a package by the number of busy ones, in thousandths: the first entry
    /// of a row holds for one busy core, the last one for all beyond. One row counts all cores of the
    /// package; several rows are for the kinds of cores ([`Machine::kinds`]), and each counts those of its
    /// kind. Empty = 1000 always.
    pub turbo: Vec<Vec<u32>>,
    /// Who sets the clocks of the cores.
    pub clocks: Clocks,
}

/// Who sets the clocks of cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Governor {
    /// Cores always have their highest clock.
    Performance,
    /// The clock follows what the cpu uses (kernel/sched/cpufreq_schedutil.c, Linux since 4.7).
    Schedutil,
}

/// How the clocks of cores are set. Under [`Governor::Performance`] nothing else here counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// By whom.
    pub governor: Governor,
    /// The lowest clock over the highest one, in thousandths, 1..=1000.
    pub lowest: u32,
    /// All cores of a package have one clock; else each core has its own, the highest that one of its busy
    /// threads asks for.
    pub shared: bool,
    /// A clock that has changed does not change again for so long (`rate_limit_us`).
    pub rate_limit: Span,
}

impl Clocks {
    /// Cores always have their highest clock.
    pub const HIGHEST: Self =
        Self { governor: Governor::Performance, lowest: 1_000, shared: false, rate_limit: Span::from_ms(1) };
}

/// Speed that is left to a hardware thread for each busy sibling, in thousandths (1000 = no loss), 1..=1000.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Smt {
    /// Both compute without memory traffic.
    pub compute: u32,
    /// Both are fully memory-bound; between the two it goes by the mean of their memory-bound shares.
    pub memory: u32,
    /// The sibling polls in a loop with `pause`. Kernel work counts as computing without memory traffic, and
    /// a cycle of polls and yields as the mean of both by time.
    pub poll: u32,
}

impl Smt {
    /// Threads do not disturb each other.
    pub const NONE: Self = Self { compute: 1_000, memory: 1_000, poll: 1_000 };
}

impl Memory {
    /// Memory without limits, distances or caches: for analytical examples.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self {
            node_bandwidth: 0,
            bus_bandwidth: 0,
            link_bandwidth: 0,
            crossbar_bandwidth: 0,
            transfer_bandwidth: 0,
            core_bandwidth: 1_000_000_000,
            remote_factor: 1_000,
            distances: Vec::new(),
            private_cache: 0,
            shared_cache: 0,
            cache_exponent: 0,
            stretch_exponent: 4,
            bound_demand: 167,
            blocking_loads: false,
        }
    }
}

impl Machine {
    /// The number of cpus.
    #[must_use]
    pub const fn cpus(&self) -> u32 {
        self.topology.cpus()
    }

    /// All cpus in order.
    pub fn cpu_ids(&self) -> impl Iterator<Item = CpuId> + use<> {
        (0..self.cpus()).map(CpuId)
    }

    /// The number of NUMA nodes.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.topology.count(Level::Node)
    }

    /// The NUMA node of a cpu.
    #[must_use]
    pub fn node_of(&self, cpu: CpuId) -> NodeId {
        NodeId(self.topology.group(Level::Node, cpu))
    }

    /// The speed of a cpu's core.
    #[must_use]
    pub fn speed_of(&self, cpu: CpuId) -> Speed {
        let core = self.topology.group(Level::Core, cpu) as usize;
        // Cores behind the last entry have nominal speed.
        self.core_speed.get(core).copied().unwrap_or(Speed::NOMINAL)
    }

    /// The kind of each core: cores of one speed are of one kind; kinds count from 0 in the order of their
    /// first cores.
    #[must_use]
    pub fn kinds(&self) -> Vec<u32> {
        let mut known: Vec<Speed> = Vec::new();
        let mut kind = |core: u32| {
            let speed = self.core_speed.get(core as usize).copied().unwrap_or(Speed::NOMINAL);
            let place = known.iter().position(|other| *other == speed);
            place.unwrap_or_else(|| {
                known.push(speed);
                known.len() - 1
            }) as u32
        };
        (0..self.topology.count(Level::Core)).map(&mut kind).collect()
    }

    /// The greatest speed of a core at the highest clock of its kind.
    #[must_use]
    pub fn top_speed(&self) -> Speed {
        let at_best = (0_u32..).zip(self.kinds()).take(self.topology.count(Level::Core) as usize);
        let speeds = at_best.map(|(core, kind)| {
            let speed = self.core_speed.get(core as usize).copied().unwrap_or(Speed::NOMINAL);
            // A single row is for all kinds of cores.
            let row = self.turbo.get(if self.turbo.len() > 1 { kind as usize } else { 0 });
            let step = row.and_then(|steps| steps.first()).map_or(1_000, |step| u64::from(*step));
            Speed::from_raw(speed.raw().saturating_mul(step) / 1_000)
        });
        speeds.max().unwrap_or(Speed::NOMINAL)
    }

    /// Time until a store on one cpu is seen on another.
    #[must_use]
    #[inline]
    pub fn signal_latency(&self, from: CpuId, to: CpuId) -> Span {
        self.costs.line[self.topology.distance(from, to) as usize].max(Span::from_ns(1))
    }
}

/// A set of cpus.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CpuSet {
    words: Vec<u64>,
}

impl CpuSet {
    /// The set of these cpus.
    pub fn of(cpus: impl IntoIterator<Item = CpuId>) -> Self {
        let mut set = Self::default();
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }

    /// Adds a cpu.
    pub fn insert(&mut self, cpu: CpuId) {
        let word = cpu.index() / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu.0 % 64);
    }

    /// Takes a cpu out.
    pub fn remove(&mut self, cpu: CpuId) {
        if let Some(word) = self.words.get_mut(cpu.index() / 64) {
            *word &= !(1 << (cpu.0 % 64));
        }
    }

    /// True when the cpu is in the set.
    #[must_use]
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.words.get(cpu.index() / 64).is_some_and(|word| word >> (cpu.0 % 64) & 1 == 1)
    }

    /// The cpus in order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.words.iter().enumerate().flat_map(|(i, word)| {
            (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| CpuId(i as u32 * 64 + b))
        })
    }

    /// The number of cpus.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }
}

/// A flat map with one entry per cpu.
pub type PerCpu<T> = IdVec<CpuId, T>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        let set = CpuSet::of([CpuId(3), CpuId(64), CpuId(3)]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [CpuId(3), CpuId(64)]);
        assert!(set.contains(CpuId(64)) && !set.contains(CpuId(65)) && set.len() == 2);
    }
}
