//! The parameter table of machines, the generic values of synthetic ones, and the making of a `Machine` from
//! values.

use std::collections::BTreeMap;

use notation::declare::{Duration, Factor, Percent, Rate, Size};
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::machine::{Clocks, Costs, Governor, Level, Machine, Memory, Smt, Topology};
use sim_core::program::Spread;
use sim_core::time::{Span, Speed};

/// Longest single cost: beyond a second it is no cost of an operation but a workload.
const MAX_COST: u64 = 1_000_000_000;
/// Largest bandwidth, 1 TB/s: sums over all tasks of a run stay below 2^64.
const MAX_RATE: u64 = 1_000_000_000_000;
/// Largest cache, 1 TiB.
const MAX_CACHE: u64 = 1 << 40;

choices! {
    /// The words of `governor`.
    pub(crate) enum Governors { Performance = "performance", Schedutil = "schedutil" }
}

choices! {
    /// The words of `work_unit`.
    pub(crate) enum Units { Nominal = "nominal", Own = "own" }
}

choices! {
    /// The words of `clock_domain`.
    pub(crate) enum Domains { Core = "core", Package = "package" }
}

parameters! {
    /// Parameters of every machine. The defaults are those of a synthetic machine of today: costs measured on
    /// two cores of a virtual Xeon server under Linux 6.18 (medians), the rest typical of servers of the
    /// 2020s; see [`GENERIC_NOTES`].
    pub struct Parameters {
        /// Speed of a core relative to the nominal core of the workload catalogue (Opteron 8350, 2.0 GHz).
        core_speed: Factor = 1_000, in 1..=100_000;
        /// The core in whose seconds work counts where a scenario states it (`grain: 100us`, `run 5ms`), and
        /// in whose seconds results show it. `nominal`: the nominal core, so that a program has the same work
        /// on every machine and takes less time on a faster one. `own`: the fastest core of this machine at
        /// its highest clock, so that work takes as long there as it says. Work of the catalogue (`npb`,
        /// `spec-omp`, `parbench`) takes the same time with both.
        work_unit: Units = Units::Nominal;
        /// Bandwidth of the memory controller of each NUMA node. 0 means no limit.
        node_bandwidth: Rate = gb_per_s(150), in 0..=MAX_RATE;
        /// Bandwidth of each package's front-side bus. 0 means that the machine has no such bus.
        bus_bandwidth: Rate = 0, in 0..=MAX_RATE;
        /// Bandwidth of each NUMA node's port to the interconnect, through which it serves all other nodes. 0
        /// means no limit.
        link_bandwidth: Rate = gb_per_s(60), in 0..=MAX_RATE;
        /// Bandwidth of all traffic between nodes together, on machines with a central crossbar. 0 means no
        /// limit.
        crossbar_bandwidth: Rate = 0, in 0..=MAX_RATE;
        /// Rate at which the tasks of one package serve all readers of their blocks in all-to-all transfers
        /// (ft and is in UPC and MPI). 0 means that only memory and the buses on the way limit them.
        transfer_bandwidth: Rate = 0, in 0..=MAX_RATE;
        /// Memory bandwidth that one core can draw when it runs alone.
        core_bandwidth: Rate = gb_per_s(15), in 1..=MAX_RATE;
        /// Time of a remote memory access divided by the time of a local one.
        remote_factor: Factor = 1_500, in 1_000..=100_000;
        /// Size of the caches that are private to a core.
        private_cache: Size = mib(2), in 0..=MAX_CACHE;
        /// Size of the cache that a cache group shares. Without cache groups, a package shares it. 0 means
        /// none.
        shared_cache: Size = mib(32), in 0..=MAX_CACHE;
        /// Exponent of the cache-sharing model. When several working sets share a cache, the memory demand of
        /// each task grows by the factor (all working sets / what fits)^exponent. 0 switches the model off.
        cache_exponent: Factor = 0, in 0..=2_000;
        /// Relative speed of a hardware thread while a sibling computes and both work in their registers and
        /// caches. The factor applies once for each such sibling.
        smt_compute: Factor = 620, in 1..=1_000;
        /// Like `smt_compute`, when both threads are fully memory-bound. In between, the factor follows the
        /// mean of their memory-bound shares.
        smt_memory: Factor = 850, in 1..=1_000;
        /// Relative speed of a hardware thread while a sibling polls in a loop with `pause`. The factor
        /// applies once for each such sibling. Kernel work has no `pause` and counts as `smt_compute`. A
        /// sibling that polls and yields counts as the mean of both by the times `poll` and `yield_call`.
        smt_poll: Factor = 900, in 1..=1_000;
        /// Exponent p of the contention model, in which memory accesses slow down by the factor (1 +
        /// load^p)^(1/p). A large p makes the knee of the curve sharp.
        stretch_exponent: u32 = 4, in 1..=16;
        /// Demand from which a task counts as fully memory-bound, as a share of a memory controller's
        /// bandwidth.
        bound_demand: Factor = 167, in 1..=10_000;
        /// Cores wait for each load (in-order cores with blocking loads). A task then uses its package's bus
        /// only while it waits for memory, and two tasks slow each other down by the product of their
        /// memory-bound shares. `false` means that a task uses the bus evenly.
        blocking_loads: bool = false;
        /// Use the machine's list of distances, if it has one. `false` applies `remote_factor` between any
        /// two nodes.
        distances: bool = true;
        /// Use the machine's turbo steps, if it has some. `false` keeps the same clock for any number of busy
        /// cores.
        turbo: bool = true;
        /// Who sets the clocks of cores. `performance` keeps them at the highest one, as nodes of clusters
        /// are set up. `schedutil` has them follow what cpus use: 1.25 times their utilisation, which halves
        /// in 32ms, or what is expected of their tasks (get_next_freq, map_util_perf; Linux since 4.7). After
        /// idle times they begin slowly.
        governor: Governors = Governors::Performance;
        /// Lowest clock of a core divided by the highest one, under `schedutil`.
        lowest_clock: Factor = 250, in 50..=1_000;
        /// Cores that have one clock, under `schedutil`: each its own, the highest that one of its busy
        /// hardware threads asks for, or all of a package the highest that one of its cpus asks for.
        clock_domain: Domains = Domains::Core;
        /// Least time between two changes of a clock, under `schedutil` (rate_limit_us).
        clock_rate_limit: Duration = ms(1), in 0..=MAX_COST;
        /// Number of slow cores per package, for an asymmetric machine. The last cores of each package run at
        /// `slow_speed`. 0 means none.
        slow_cores: u64 = 0, in 0..=sim_core::limits::MAX_CPUS;
        /// Speed of the slow cores divided by the speed of the other cores.
        slow_speed: Factor = 500, in 10..=1_000;
        /// Context switch between threads of one process.
        switch_thread: Duration = 800, in 0..=MAX_COST;
        /// Context switch between processes.
        switch_process: Duration = 980, in 0..=MAX_COST;
        /// One poll of a flag, including the loop.
        poll: Duration = 90, in 1..=MAX_COST;
        /// Call of sched_yield without a context switch.
        yield_call: Duration = 367, in 0..=MAX_COST;
        /// Waking one sleeping task on the same cpu, paid by the waker. On any cpu, a wake-up takes effect
        /// after this time.
        wake: Duration = 700, in 0..=MAX_COST;
        /// Waking one sleeping task on another cpu that is idle, paid by the waker. The inter-processor
        /// interrupt is sent within this call. On a busy cpu, or one to which an interrupt is on its way, it
        /// is `wake`.
        wake_remote: Duration = us(2), in 0..=MAX_COST;
        /// Going to sleep, paid by the sleeper.
        sleep: Duration = 1_200, in 0..=MAX_COST;
        /// Inter-processor interrupt, from sending to the handler.
        ipi: Duration = us(1), in 0..=MAX_COST;
        /// Leaving the idle state.
        idle_exit: Duration = us(6), in 0..=MAX_COST;
        /// Use the machine's lists of `idle_exit` and `wake_remote` by the length of the idle time, if it has
        /// them. `false` applies these two after any idle time.
        deep_idle: bool = true;
        /// Moving a task to another cpu's queue. The refill of its caches is extra.
        migration: Duration = us(3), in 0..=MAX_COST;
        /// Handling one timer tick.
        tick: Duration = us(2), in 0..=MAX_COST;
        /// Creating one thread or process, paid by the parent.
        fork: Duration = us(30), in 0..=MAX_COST;
        /// Half-width of the variation of `fork` from one task to the next. It makes the start of the tasks
        /// differ between seeds.
        fork_spread: Percent = percent(20), in 0..=percent(100);
        /// One page fault, when a task first touches a page as it starts (`touch`). Clearing the page of 4
        /// KiB, at the rate of one core, is extra.
        page_fault: Duration = 500, in 0..=MAX_COST;
        /// Least time between two page faults of the threads of one process. Each fault takes and releases
        /// the lock of the address space, and the cache line of the lock travels to its core. 0 means no
        /// limit.
        fault_lock: Duration = 300, in 0..=MAX_COST;
        /// Time until a store is visible on the same cpu.
        line_same: Duration = 1, in 1..=MAX_COST;
        /// Time until a store is visible to the other hardware thread of the core.
        line_core: Duration = 20, in 1..=MAX_COST;
        /// Time until a store is visible to a core of the same cache group.
        line_cache: Duration = 40, in 1..=MAX_COST;
        /// Time until a store is visible to a core of the same package or NUMA node.
        line_near: Duration = 60, in 1..=MAX_COST;
        /// Time until a store is visible to a core of another package and node.
        line_far: Duration = 150, in 1..=MAX_COST;
    }
}

/// Where the generic values come from: parameter, source, whether it is uncertain. "Measured" means: median
/// on two cores of a virtual Xeon server under Linux 6.18.
pub const GENERIC_NOTES: &[(&str, &str, bool)] = &[
    ("core_speed", "the nominal core, so that times are comparable across machines", true),
    ("work_unit", "a setting of the simulator", false),
    (
        "node_bandwidth",
        "three quarters of eight channels of DDR4-3200 (205 GB/s), for each package of the node",
        true,
    ),
    ("bus_bandwidth", "point-to-point links: no front-side bus", false),
    ("core_bandwidth", "single-core streams on servers of the 2020s reach 10-20 GB/s", true),
    ("remote_factor", "two-socket servers have 1.4-1.7", true),
    ("private_cache", "L2 of the measured machine", false),
    ("shared_cache", "last-level caches of servers of the 2020s have 16-64 MiB per group", true),
    ("link_bandwidth", "three UPI links at 10.4 GT/s, each about 20 GB/s per direction", true),
    ("crossbar_bandwidth", "point-to-point links: no central crossbar", false),
    ("transfer_bandwidth", "no limit is known beside those of memory", true),
    (
        "cache_exponent",
        "off: published figures cannot separate the effects of bandwidth and of cache capacity; 0.5 is the \
            square-root \
            rule of cache misses (Hartstein et al., On the nature of cache miss behavior, 2006)",
        true,
    ),
    (
        "smt_compute",
        "two threads together do about 1.25 times the work of one (Hyper-Threading, general experience)",
        true,
    ),
    ("smt_memory", "memory waits overlap, so two threads do about 1.7 times the work of one", true),
    ("smt_poll", "a polling loop with pause instructions takes few issue slots", true),
    ("stretch_exponent", "fitted to NPB speed-ups on Barcelona", true),
    ("bound_demand", "fitted to NPB speed-ups on Barcelona", true),
    ("blocking_loads", "out-of-order cores have many loads in flight while they compute", true),
    ("distances", "a setting of the simulator", false),
    ("turbo", "a setting of the simulator", false),
    ("governor", "a setting of the operating system; nodes of clusters keep their highest clock", false),
    ("lowest_clock", "servers of the 2020s have 0.8 GHz of 3 to 4 GHz (cpuinfo_min_freq)", true),
    (
        "clock_domain",
        "a setting of the hardware: servers since Haswell (2014) have a clock for each core",
        false,
    ),
    (
        "clock_rate_limit",
        "1 ms without a stated latency and for amd-pstate, 0.5 or 5 ms for intel_pstate, to 10 ms for others \
            (cpufreq_policy_transition_delay_us)",
        true,
    ),
    ("slow_cores", "chosen by the scenario", false),
    ("slow_speed", "small cores of big.LITTLE processors do about half the work of the big cores", true),
    ("switch_thread", "measured: a yield with a switch takes 1.17 us, minus the call", false),
    ("switch_process", "measured: a yield with a switch takes 1.35 us, minus the call", false),
    ("poll", "measured", false),
    ("yield_call", "measured: sched_yield without another runnable task", false),
    ("wake", "measured: futex wake on the same core", false),
    (
        "wake_remote",
        "about 2 us fitted on the measured machine; 2 to 9 us on virtual machines, where the interrupt \
            leaves the guest",
        true,
    ),
    (
        "sleep",
        "measured: one leg of a futex ping-pong on one core takes 2.3 us. Counted with Linux 6.18, a leg has \
            0.6 sleeps and wake-ups, 0.4 calls of 0.3 us that wake no task, and one switch (0.6-1.5 us in \
            other cases)",
        true,
    ),
    ("ipi", "part of the measured 8 us from the wake to running on an idle core", true),
    ("idle_exit", "part of the measured 8 us from the wake to running on an idle core", true),
    ("deep_idle", "a setting of the simulator", false),
    (
        "migration",
        "measured: 11 us from sched_setaffinity to running on another cpu, minus the wake-up",
        true,
    ),
    ("tick", "1-3 us per tick", true),
    ("fork", "creating a thread or process takes 20-50 us", true),
    ("fork_spread", "page faults and allocation vary from one creation to the next; no measurement", true),
    (
        "page_fault",
        "0.5-1 us on a real machine (lmbench); the measured server is virtual, where it takes longer",
        true,
    ),
    ("fault_lock", "taking and releasing the lock each fetch its cache line (`line_far`)", true),
    ("line_same", "smallest latency of the simulator", false),
    ("line_core", "typical", true),
    ("line_cache", "typical, 30-60 ns", true),
    ("line_near", "typical, 50-100 ns", true),
    ("line_far", "typical, 100-250 ns", true),
];

/// Ranges that the sources of uncertain generic values state, as parameters hold them.
const GENERIC_RANGES: &[(&str, (u64, u64))] = &[
    ("core_bandwidth", (10_000_000_000, 20_000_000_000)),
    ("remote_factor", (1_400, 1_700)),
    ("shared_cache", (16 << 20, 64 << 20)),
    // What a second thread adds to a core that computes: a tenth less (fontc with rayon on 12 cores takes
    // 12.3 s with 12 threads and 14.3 s with 24, googlefonts/fontc #1803; Saini et al., The impact of
    // Hyper-Threading on processor resource utilization in production applications, HiPC 2011, find codes
    // without a gain) to 30 % more (Zhao, Wright and Antypas, Effects of Hyper-Threading on the NERSC
    // workload on Edison, Cray User Group 2013) and a little above (GROMACS, 31 %, geopm #703).
    ("smt_compute", (450, 700)),
    // From nothing, where both wait for the same bandwidth, to as much as the first one, where each waits for
    // its own loads.
    ("smt_memory", (500, 1_000)),
    ("wake_remote", (2_000, 9_000)),
    ("tick", (1_000, 3_000)),
    ("fork", (20_000, 50_000)),
    ("lowest_clock", (200, 400)),
    ("clock_rate_limit", (500_000, 10_000_000)),
    ("line_cache", (30, 60)),
    ("line_near", (50, 100)),
    ("line_far", (100, 250)),
];

/// The range that the source of a generic value states.
pub(crate) fn generic_range(parameter: &str) -> Option<(u64, u64)> {
    GENERIC_RANGES.iter().find(|(name, _)| *name == parameter).map(|(_, range)| *range)
}

/// The generic values of a synthetic machine: the defaults of [`Parameters`], with the controller's bandwidth
/// multiplied by the packages of a NUMA node (machines without a NUMA level have one node for all).
#[must_use]
pub fn generic_values(topology: &Topology) -> Values {
    let packages = u64::from((topology.span(Level::Node) / topology.span(Level::Package)).max(1));
    let mut table = Parameters::TABLE.to_vec();
    for parameter in &mut table {
        if parameter.name == Parameters::node_bandwidth.name {
            parameter.default = (parameter.default * packages).min(parameter.max);
        }
    }
    Values::defaults(&table)
}

/// What a machine file gives as lists, factors in thousandths; each may be empty.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lists {
    /// Time of an access from each NUMA node (row) to each (column) over a local one, row by row.
    pub distances: Vec<u32>,
    /// Factor on the speed of a package's cores by the number of busy ones: the first entry for one. One row
    /// for all cores of a package, or a row for each kind of core.
    pub turbo: Vec<Vec<u32>>,
    /// Factor on `core_speed` by core number, repeated to the last core.
    pub core_speeds: Vec<u32>,
    /// Time to leave the idle state (second) after so long an idle time (first, ascending), in ns.
    pub idle_exit: Vec<(u64, u64)>,
    /// `wake_remote` (second) of a cpu after so long an idle time (first, ascending), in ns.
    pub wake_remote: Vec<(u64, u64)>,
    /// Number of each cpu under Linux, in the order of the simulator's cpus; empty = the simulator's numbers.
    pub cpu_numbers: Vec<u32>,
}

/// The machine of this shape with these lists and values of [`Parameters`].
#[must_use]
pub fn build(name: &str, topology: &Topology, values: &Values, lists: &Lists) -> Machine {
    let values = &Parameters::from(values);
    let speeds = core_speeds_of(topology, values, lists);
    let distances = if values.distances { lists.distances.clone() } else { Vec::new() };
    let nominal = Machine {
        name: name.to_owned(),
        topology: topology.clone(),
        costs: Costs {
            idle_exits: by_idle_time(values, &lists.idle_exit),
            wake_remotes: by_idle_time(values, &lists.wake_remote),
            ..costs(values)
        },
        memory: Memory { distances, ..memory_of(values) },
        smt: Smt {
            compute: values.smt_compute.thousandths() as u32,
            memory: values.smt_memory.thousandths() as u32,
            poll: values.smt_poll.thousandths() as u32,
        },
        turbo: if values.turbo { lists.turbo.clone() } else { Vec::new() },
        clocks: clocks(values),
        core_speed: speeds.map(|billionths| Speed::ratio(billionths, 1_000_000_000)).collect(),
        work_unit: Speed::NOMINAL,
    };
    match values.work_unit {
        Units::Nominal => nominal,
        Units::Own => {
            let work_unit = nominal.top_speed();
            let own = |speed: &Speed| Speed::ratio(speed.raw(), work_unit.raw());
            Machine { core_speed: nominal.core_speed.iter().map(own).collect(), work_unit, ..nominal }
        }
    }
}

fn by_idle_time(values: &Parameters, rows: &[(u64, u64)]) -> Vec<(Span, Span)> {
    let rows = if values.deep_idle { rows } else { &[] };
    rows.iter().map(|(idle, cost)| (Span::from_ns(*idle), Span::from_ns(*cost))).collect()
}

/// Cores of a package.
pub(crate) fn cores_per_package(topology: &Topology) -> u64 {
    (topology.count(Level::Core) / topology.count(Level::Package)).into()
}

/// The speed of each core in billionths of the nominal one: `core_speed`, the entry of the list, the factor
/// of slow cores.
fn core_speeds_of(
    topology: &Topology,
    values: &Parameters,
    lists: &Lists,
) -> impl Iterator<Item = u64> + use<> {
    let in_package = cores_per_package(topology);
    let first_slow = in_package.saturating_sub(values.slow_cores);
    let (base, slow) = (values.core_speed.thousandths(), values.slow_speed.thousandths());
    let pattern = if lists.core_speeds.is_empty() { vec![1_000] } else { lists.core_speeds.clone() };
    (0..topology.count(Level::Core)).zip(pattern.into_iter().cycle()).map(move |(core, factor)| {
        let is_slow = u64::from(core) % in_package >= first_slow;
        base * u64::from(factor) * if is_slow { slow } else { 1_000 }
    })
}

/// What only values and lists together can get wrong.
pub(crate) fn check(topology: &Topology, values: &Values, lists: &Lists) -> Result<(), String> {
    let values = &Parameters::from(values);
    let (slow, cores) = (values.slow_cores, cores_per_package(topology));
    if slow > cores {
        return Err(format!("`slow_cores` is {slow}, but a package has {cores} cores"));
    }
    if values.cache_exponent.thousandths() > 0 && !topology.is_even() {
        return Err(
            "`cache_exponent` needs cores and caches that are all alike: what is shared by parts of \
            different sizes is not modelled"
                .into(),
        );
    }
    if values.turbo && lists.turbo.len() > 1 {
        check_turbo(topology, core_speeds_of(topology, values, lists), &lists.turbo)?;
    }
    // The range of `core_speed` itself, in billionths.
    let good = 1_000_000..=100_000_000_000;
    match core_speeds_of(topology, values, lists).position(|speed| !good.contains(&speed)) {
        Some(core) => Err(format!("the speed of core {core} is outside 0.001 to 100 times the nominal core")),
        None => Ok(()),
    }
}

/// One row of steps for each kind of core, with no more steps than a package has cores of the kind.
fn check_turbo(
    topology: &Topology,
    speeds: impl Iterator<Item = u64>,
    rows: &[Vec<u32>],
) -> Result<(), String> {
    let in_package = cores_per_package(topology).max(1);
    // Of each speed: cores by package.
    let mut kinds: Vec<(u64, BTreeMap<u64, usize>)> = Vec::new();
    for (core, speed) in (0..).zip(speeds) {
        let at = kinds.iter().position(|(other, _)| *other == speed).unwrap_or_else(|| {
            kinds.push((speed, BTreeMap::new()));
            kinds.len() - 1
        });
        *kinds[at].1.entry(core / in_package).or_default() += 1;
    }
    if kinds.len() != rows.len() {
        return Err(format!(
            "`turbo` has {} rows, and the cores have {} different speeds: write one list for all cores, or a \
                row for each speed in the order of the cores",
            rows.len(),
            kinds.len()
        ));
    }
    let most = kinds.iter().map(|(_, packages)| packages.values().copied().max().unwrap_or(0));
    for (row, (steps, most)) in rows.iter().zip(most).enumerate() {
        if steps.len() > most {
            return Err(format!(
                "row {row} of `turbo` has {} entries; a package has {most} cores of this speed",
                steps.len()
            ));
        }
    }
    Ok(())
}

fn clocks(values: &Parameters) -> Clocks {
    Clocks {
        governor: match values.governor {
            Governors::Performance => Governor::Performance,
            Governors::Schedutil => Governor::Schedutil,
        },
        lowest: values.lowest_clock.thousandths() as u32,
        shared: values.clock_domain == Domains::Package,
        rate_limit: Span::from_ns(values.clock_rate_limit.ns()),
    }
}

fn costs(values: &Parameters) -> Costs {
    Costs {
        switch_thread: Span::from_ns(values.switch_thread.ns()),
        switch_process: Span::from_ns(values.switch_process.ns()),
        poll: Span::from_ns(values.poll.ns()),
        yield_call: Span::from_ns(values.yield_call.ns()),
        wake: Span::from_ns(values.wake.ns()),
        wake_remote: Span::from_ns(values.wake_remote.ns()),
        sleep: Span::from_ns(values.sleep.ns()),
        ipi: Span::from_ns(values.ipi.ns()),
        idle_exit: Span::from_ns(values.idle_exit.ns()),
        idle_exits: Vec::new(),
        wake_remotes: Vec::new(),
        migration: Span::from_ns(values.migration.ns()),
        tick: Span::from_ns(values.tick.ns()),
        fork: Span::from_ns(values.fork.ns()),
        // Hundredths of a per cent to 1/65,536.
        fork_spread: Spread((values.fork_spread.hundredths() * u64::from(Spread::MAX) / 10_000) as u32),
        page_fault: Span::from_ns(values.page_fault.ns()),
        fault_lock: Span::from_ns(values.fault_lock.ns()),
        line: [
            Span::from_ns(values.line_same.ns()),
            Span::from_ns(values.line_core.ns()),
            Span::from_ns(values.line_cache.ns()),
            Span::from_ns(values.line_near.ns()),
            Span::from_ns(values.line_far.ns()),
        ],
    }
}

fn memory_of(values: &Parameters) -> Memory {
    Memory {
        node_bandwidth: values.node_bandwidth.bytes_per_second(),
        bus_bandwidth: values.bus_bandwidth.bytes_per_second(),
        link_bandwidth: values.link_bandwidth.bytes_per_second(),
        crossbar_bandwidth: values.crossbar_bandwidth.bytes_per_second(),
        transfer_bandwidth: values.transfer_bandwidth.bytes_per_second(),
        core_bandwidth: values.core_bandwidth.bytes_per_second(),
        remote_factor: values.remote_factor.thousandths() as u32,
        distances: Vec::new(),
        private_cache: values.private_cache.bytes(),
        shared_cache: values.shared_cache.bytes(),
        cache_exponent: values.cache_exponent.thousandths() as u32,
        stretch_exponent: values.stretch_exponent,
        bound_demand: values.bound_demand.thousandths() as u32,
        blocking_loads: values.blocking_loads,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_topology;

    #[test]
    fn the_table_is_sound_and_sourced() {
        for (i, p) in Parameters::TABLE.iter().enumerate() {
            assert!(p.min <= p.default && p.default <= p.max, "{}", p.name);
            assert!(!p.about.is_empty());
            assert!(Parameters::TABLE[..i].iter().all(|q| q.name != p.name), "{} twice", p.name);
            assert!(GENERIC_NOTES.iter().any(|(name, ..)| *name == p.name), "{} has no source", p.name);
        }
        assert_eq!(GENERIC_NOTES.len(), Parameters::TABLE.len());
    }

    #[test]
    fn every_parameter_reaches_the_machine() {
        let tree = parse_topology("package:2 numa:1 cache:2 core:2 pu:2").unwrap();
        let lists = Lists {
            distances: vec![1_000, 1_400, 1_400, 1_000],
            turbo: vec![vec![1_200]],
            idle_exit: vec![(1, 1)],
            wake_remote: vec![(1, 1)],
            ..Lists::default()
        };
        // `slow_speed` acts where there are slow cores.
        let mut base = Values::defaults(Parameters::TABLE);
        base.set("slow_cores", 1).unwrap();
        // Work counts in another unit where the fastest core is not the nominal one.
        base.set("core_speed", 1_500).unwrap();
        let plain = build("m", &tree, &base, &lists);
        for p in Parameters::TABLE {
            let mut values = base.clone();
            let now = values.number(p.name).unwrap();
            values.set(p.name, if now < p.max { now + 1 } else { now - 1 }).unwrap();
            assert_ne!(build("m", &tree, &values, &lists), plain, "{} has no effect", p.name);
        }
    }

    #[test]
    fn the_last_cores_of_each_package_are_slow() {
        let tree = parse_topology("package:2 core:4 pu:2").unwrap();
        let mut values = Values::defaults(Parameters::TABLE);
        values.set("slow_cores", 2).unwrap();
        let machine = build("m", &tree, &values, &Lists::default());
        let (fast, slow) = (Speed::NOMINAL, Speed::ratio(1, 2));
        assert_eq!(machine.core_speed, [fast, fast, slow, slow, fast, fast, slow, slow]);
        values.set("slow_cores", 5).unwrap();
        assert!(check(&tree, &values, &Lists::default()).unwrap_err().contains("a package has 4 cores"));
    }

    #[test]
    fn listed_speeds_repeat_and_multiply() {
        let tree = parse_topology("package:1 core:4").unwrap();
        let lists = Lists { core_speeds: vec![2_000, 250], ..Lists::default() };
        let mut values = Values::defaults(Parameters::TABLE);
        values.set("core_speed", 800).unwrap();
        let machine = build("m", &tree, &values, &lists);
        let (fast, slow) = (Speed::ratio(16, 10), Speed::ratio(2, 10));
        assert_eq!(machine.core_speed, [fast, slow, fast, slow]);
        values.set("core_speed", 60_000).unwrap();
        assert!(check(&tree, &values, &lists).unwrap_err().contains("core 0"));
    }

    #[test]
    fn work_can_count_in_seconds_of_the_fastest_core() {
        let tree = parse_topology("package:1 core:4").unwrap();
        let turbo = vec![vec![1_200, 1_100], vec![1_500, 1_100]];
        let lists = Lists { core_speeds: vec![1_000, 500], turbo, ..Lists::default() };
        let mut values = Values::defaults(Parameters::TABLE);
        values.set("core_speed", 2_000).unwrap();
        let nominal = build("m", &tree, &values, &lists);
        values.set("work_unit", 1).unwrap();
        let own = build("m", &tree, &values, &lists);
        // 2 times 1.2 alone, and 1 times 1.5.
        assert_eq!((nominal.work_unit, own.work_unit), (Speed::NOMINAL, Speed::ratio(24, 10)));
        assert_eq!(own.core_speed[..2], [Speed::ratio(20, 24), Speed::ratio(10, 24)]);
        assert_eq!((&own.turbo, own.kinds()), (&nominal.turbo, nominal.kinds()));
        values.set("turbo", 0).unwrap();
        assert_eq!(build("m", &tree, &values, &lists).core_speed[0], Speed::NOMINAL);
    }

    #[test]
    fn each_kind_of_core_has_a_row_of_turbo_steps() {
        let tree = parse_topology("package:2 core:2 pu:2 + core:2").unwrap();
        let steps = vec![vec![1_300, 1_200], vec![1_100]];
        let lists = Lists { core_speeds: vec![1_000, 1_000, 600, 600], turbo: steps, ..Lists::default() };
        let mut values = Values::defaults(Parameters::TABLE);
        assert_eq!(check(&tree, &values, &lists), Ok(()));
        assert_eq!(build("m", &tree, &values, &lists).kinds(), [0, 0, 1, 1, 0, 0, 1, 1]);
        let long = Lists { turbo: vec![vec![1_300, 1_200, 1_100], vec![1_100]], ..lists.clone() };
        let refused = check(&tree, &values, &long).unwrap_err();
        assert!(refused.contains("row 0") && refused.contains("2 cores of this speed"), "{refused}");
        let equal = Lists { core_speeds: Vec::new(), ..lists.clone() };
        assert!(check(&tree, &values, &equal).unwrap_err().contains("have 1 different speeds"));
        // Slow cores are a further kind; without turbo nothing is asked.
        values.set("slow_cores", 1).unwrap();
        assert!(check(&tree, &values, &lists).unwrap_err().contains("have 3 different speeds"));
        values.set("turbo", 0).unwrap();
        assert_eq!(check(&tree, &values, &lists), Ok(()));
    }

    #[test]
    fn one_memory_for_many_packages_is_as_wide_as_they_need() {
        let uma = generic_values(&parse_topology("package:4 core:16").unwrap());
        let numa = generic_values(&parse_topology("package:4 numa:1 core:16").unwrap());
        let split = generic_values(&parse_topology("package:4 numa:4 core:4").unwrap());
        assert_eq!(uma.number("node_bandwidth").unwrap(), 4 * numa.number("node_bandwidth").unwrap());
        assert_eq!(split.number("node_bandwidth").unwrap(), numa.number("node_bandwidth").unwrap());
        assert!(uma.changed().is_empty(), "generic values are no overrides");
    }
}
