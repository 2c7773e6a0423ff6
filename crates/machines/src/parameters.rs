//! The parameter table of machines, the generic values of synthetic ones, and the making of a `Machine` from values.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::machine::{Costs, Level, Machine, Memory, Smt, Topology};
use sim_core::program::Spread;
use sim_core::time::{Span, Speed};

/// Longest single cost: beyond a second it is no cost of an operation but a workload.
const MAX_COST: u64 = 1_000_000_000;
/// Largest bandwidth, 1 TB/s: sums over all tasks of a run stay below 2^64.
const MAX_RATE: u64 = 1_000_000_000_000;
/// Largest cache, 1 TiB.
const MAX_CACHE: u64 = 1 << 40;

const fn cost(name: &'static str, default: u64, min: u64, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Duration, default, min, max: MAX_COST, about }
}

const fn memory(
    name: &'static str,
    kind: Kind,
    default: u64,
    range: (u64, u64),
    about: &'static str,
) -> Parameter {
    Parameter { name, kind, default, min: range.0, max: range.1, about }
}

/// Parameters of every machine. The defaults are those of a synthetic machine of today: costs measured on two
/// cores of a virtual Xeon server under Linux 6.18 (medians), the rest typical of servers of the 2020s; see [`GENERIC_NOTES`].
pub const PARAMETERS: &[Parameter] = &[
    memory(
        "core_speed",
        Kind::Factor,
        1_000,
        (1, 100_000),
        "Speed of a core relative to the nominal core of the workload catalogue (Opteron 8350, 2.0 GHz).",
    ),
    memory(
        "node_bandwidth",
        Kind::Rate,
        150_000_000_000,
        (0, MAX_RATE),
        "Bandwidth of the memory controller of each NUMA node. 0 means no limit.",
    ),
    memory(
        "bus_bandwidth",
        Kind::Rate,
        0,
        (0, MAX_RATE),
        "Bandwidth of each package's front-side bus. 0 means that the machine has no such bus.",
    ),
    memory(
        "link_bandwidth",
        Kind::Rate,
        60_000_000_000,
        (0, MAX_RATE),
        "Bandwidth of each NUMA node's port to the interconnect, through which it serves all other nodes. 0 means no \
            limit.",
    ),
    memory(
        "crossbar_bandwidth",
        Kind::Rate,
        0,
        (0, MAX_RATE),
        "Bandwidth of all traffic between nodes together, on machines with a central crossbar. 0 means no limit.",
    ),
    memory(
        "core_bandwidth",
        Kind::Rate,
        15_000_000_000,
        (1, MAX_RATE),
        "Memory bandwidth that one core can draw when it runs alone.",
    ),
    memory(
        "remote_factor",
        Kind::Factor,
        1_500,
        (1_000, 100_000),
        "Time of a remote memory access divided by the time of a local one.",
    ),
    memory(
        "private_cache",
        Kind::Size,
        2 << 20,
        (0, MAX_CACHE),
        "Size of the caches that are private to a core.",
    ),
    memory(
        "shared_cache",
        Kind::Size,
        32 << 20,
        (0, MAX_CACHE),
        "Size of the cache that a cache group shares. Without cache groups, a package shares it. 0 means none.",
    ),
    memory(
        "cache_exponent",
        Kind::Factor,
        0,
        (0, 2_000),
        "Exponent of the cache-sharing model. When several working sets share a cache, the memory demand of each task \
            grows by the factor (all working sets / what fits)^exponent. 0 switches the model off.",
    ),
    memory(
        "smt_compute",
        Kind::Factor,
        620,
        (1, 1_000),
        "Relative speed of a hardware thread while a sibling computes and both work in their registers and caches. The \
            factor applies once for each such sibling.",
    ),
    memory(
        "smt_memory",
        Kind::Factor,
        850,
        (1, 1_000),
        "Like `smt_compute`, when both threads are fully memory-bound. In between, the factor follows the mean of their \
            memory-bound shares.",
    ),
    memory(
        "smt_poll",
        Kind::Factor,
        900,
        (1, 1_000),
        "Relative speed of a hardware thread while a sibling polls or works in the kernel. The factor applies once for \
            each such sibling.",
    ),
    memory(
        "stretch_exponent",
        Kind::Count,
        4,
        (1, 16),
        "Exponent p of the contention model, in which memory accesses slow down by the factor (1 + load^p)^(1/p). A \
            large p makes the knee of the curve sharp.",
    ),
    memory(
        "bound_demand",
        Kind::Factor,
        167,
        (1, 10_000),
        "Demand from which a task counts as fully memory-bound, as a share of a memory controller's bandwidth.",
    ),
    memory(
        "distances",
        Kind::Flag,
        1,
        (0, 1),
        "Use the machine's list of distances, if it has one. `false` applies `remote_factor` between any two nodes.",
    ),
    memory(
        "turbo",
        Kind::Flag,
        1,
        (0, 1),
        "Use the machine's list of turbo steps, if it has one. `false` keeps the same clock for any number of busy \
            cores.",
    ),
    memory(
        "slow_cores",
        Kind::Count,
        0,
        (0, sim_core::limits::MAX_CPUS),
        "Number of slow cores per package, for an asymmetric machine. The last cores of each package run at \
            `slow_speed`. 0 means none.",
    ),
    memory(
        "slow_speed",
        Kind::Factor,
        500,
        (10, 1_000),
        "Speed of the slow cores divided by the speed of the other cores.",
    ),
    cost("switch_thread", 800, 0, "Context switch between threads of one process."),
    cost("switch_process", 980, 0, "Context switch between processes."),
    cost("poll", 90, 1, "One poll of a flag, including the loop."),
    cost("yield_call", 367, 0, "Call of sched_yield without a context switch."),
    cost("wake", 700, 0, "Waking one sleeping task, paid by the waker."),
    cost("sleep", 600, 0, "Going to sleep, paid by the sleeper."),
    cost("ipi", 1_000, 0, "Inter-processor interrupt, from sending to the handler."),
    cost("idle_exit", 6_000, 0, "Leaving the idle state."),
    cost("migration", 3_000, 0, "Moving a task to another cpu's queue. The refill of its caches is extra."),
    cost("tick", 2_000, 0, "Handling one timer tick."),
    cost("fork", 30_000, 0, "Creating one thread or process, paid by the parent."),
    memory(
        "fork_spread",
        Kind::Percent,
        2_000,
        (0, 10_000),
        "Half-width of the variation of `fork` from one task to the next. It makes the start of the tasks differ between \
            seeds.",
    ),
    cost("line_same", 1, 1, "Time until a store is visible on the same cpu."),
    cost("line_core", 20, 1, "Time until a store is visible to the other hardware thread of the core."),
    cost("line_cache", 40, 1, "Time until a store is visible to a core of the same cache group."),
    cost("line_near", 60, 1, "Time until a store is visible to a core of the same package or NUMA node."),
    cost("line_far", 150, 1, "Time until a store is visible to a core of another package and node."),
];

/// Where the generic values come from: parameter, source, whether it is uncertain. "Measured" means: median on two cores
/// of a virtual Xeon server under Linux 6.18.
pub const GENERIC_NOTES: &[(&str, &str, bool)] = &[
    ("core_speed", "the nominal core, so that times are comparable across machines", true),
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
    (
        "cache_exponent",
        "off: published figures cannot separate the effects of bandwidth and of cache capacity; 0.5 is the square-root \
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
    ("distances", "a setting of the simulator", false),
    ("turbo", "a setting of the simulator", false),
    ("slow_cores", "chosen by the scenario", false),
    ("slow_speed", "small cores of big.LITTLE processors do about half the work of the big cores", true),
    ("switch_thread", "measured: a yield with a switch takes 1.17 us, minus the call", false),
    ("switch_process", "measured: a yield with a switch takes 1.35 us, minus the call", false),
    ("poll", "measured", false),
    ("yield_call", "measured: sched_yield without another runnable task", false),
    ("wake", "measured: futex wake on the same core", false),
    (
        "sleep",
        "measured: one leg of a futex ping-pong on one core takes 2.3 us, minus the wake, the switch and three polls \
            (0.6-1.5 us in other cases)",
        true,
    ),
    ("ipi", "part of the measured 8 us from the wake to running on an idle core", true),
    ("idle_exit", "part of the measured 8 us from the wake to running on an idle core", true),
    (
        "migration",
        "measured: 11 us from sched_setaffinity to running on another cpu, minus the wake-up",
        true,
    ),
    ("tick", "1-3 us per tick", true),
    ("fork", "creating a thread or process takes 20-50 us", true),
    ("fork_spread", "page faults and allocation vary from one creation to the next; no measurement", true),
    ("line_same", "smallest latency of the simulator", false),
    ("line_core", "typical", true),
    ("line_cache", "typical, 30-60 ns", true),
    ("line_near", "typical, 50-100 ns", true),
    ("line_far", "typical, 100-250 ns", true),
];

/// The generic values of a synthetic machine: the defaults of [`PARAMETERS`], with the controller's bandwidth
/// multiplied by the packages of a NUMA node (machines without a NUMA level have one node for all).
#[must_use]
pub fn generic_values(topology: &Topology) -> Values {
    let packages = u64::from((topology.span(Level::Node) / topology.span(Level::Package)).max(1));
    let mut table = PARAMETERS.to_vec();
    for parameter in &mut table {
        if parameter.name == "node_bandwidth" {
            parameter.default = (parameter.default * packages).min(parameter.max);
        }
    }
    Values::defaults(&table)
}

/// What a machine file gives as lists, all in thousandths; each may be empty.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lists {
    /// Time of an access from each NUMA node (row) to each (column) over a local one, row by row.
    pub distances: Vec<u32>,
    /// Factor on the speed of a package's cores by the number of busy ones: the first entry for one.
    pub turbo: Vec<u32>,
    /// Factor on `core_speed` by core number, repeated to the last core.
    pub core_speeds: Vec<u32>,
}

/// The machine of this shape with these lists and values of [`PARAMETERS`].
#[must_use]
pub fn build(name: &str, topology: &Topology, values: &Values, lists: &Lists) -> Machine {
    let speeds = core_speeds_of(topology, values, lists);
    let used = |flag, list: &[u32]| if values.flag(flag) { list.to_vec() } else { Vec::new() };
    Machine {
        name: name.to_owned(),
        topology: topology.clone(),
        costs: costs(values),
        memory: Memory { distances: used("distances", &lists.distances), ..memory_of(values) },
        smt: Smt {
            compute: values.get("smt_compute") as u32,
            memory: values.get("smt_memory") as u32,
            poll: values.get("smt_poll") as u32,
        },
        turbo: used("turbo", &lists.turbo),
        core_speed: speeds.map(|billionths| Speed::ratio(billionths, 1_000_000_000)).collect(),
    }
}

/// Cores of a package.
pub(crate) const fn cores_per_package(topology: &Topology) -> u64 {
    (topology.span(Level::Package) / topology.span(Level::Core)) as u64
}

/// The speed of each core in billionths of the nominal one: `core_speed`, the entry of the list, the factor of slow cores.
fn core_speeds_of(topology: &Topology, values: &Values, lists: &Lists) -> impl Iterator<Item = u64> + use<> {
    let in_package = cores_per_package(topology);
    let first_slow = in_package.saturating_sub(values.get("slow_cores"));
    let (base, slow) = (values.get("core_speed"), values.get("slow_speed"));
    let pattern = if lists.core_speeds.is_empty() { vec![1_000] } else { lists.core_speeds.clone() };
    (0..topology.count(Level::Core)).zip(pattern.into_iter().cycle()).map(move |(core, factor)| {
        let is_slow = u64::from(core) % in_package >= first_slow;
        base * u64::from(factor) * if is_slow { slow } else { 1_000 }
    })
}

/// What only values and lists together can get wrong.
pub(crate) fn check(topology: &Topology, values: &Values, lists: &Lists) -> Result<(), String> {
    let (slow, cores) = (values.get("slow_cores"), cores_per_package(topology));
    if slow > cores {
        return Err(format!("`slow_cores` is {slow}, but a package has {cores} cores"));
    }
    // The range of `core_speed` itself, in billionths.
    let good = 1_000_000..=100_000_000_000;
    match core_speeds_of(topology, values, lists).position(|speed| !good.contains(&speed)) {
        Some(core) => Err(format!("the speed of core {core} is outside 0.001 to 100 times the nominal core")),
        None => Ok(()),
    }
}

fn costs(values: &Values) -> Costs {
    let span = |name| Span::from_ns(values.get(name));
    Costs {
        switch_thread: span("switch_thread"),
        switch_process: span("switch_process"),
        poll: span("poll"),
        yield_call: span("yield_call"),
        wake: span("wake"),
        sleep: span("sleep"),
        ipi: span("ipi"),
        idle_exit: span("idle_exit"),
        migration: span("migration"),
        tick: span("tick"),
        fork: span("fork"),
        // Hundredths of a per cent to 1/65,536.
        fork_spread: Spread((values.get("fork_spread") * u64::from(Spread::MAX) / 10_000) as u32),
        line: [span("line_same"), span("line_core"), span("line_cache"), span("line_near"), span("line_far")],
    }
}

fn memory_of(values: &Values) -> Memory {
    Memory {
        node_bandwidth: values.get("node_bandwidth"),
        bus_bandwidth: values.get("bus_bandwidth"),
        link_bandwidth: values.get("link_bandwidth"),
        crossbar_bandwidth: values.get("crossbar_bandwidth"),
        core_bandwidth: values.get("core_bandwidth"),
        remote_factor: values.get("remote_factor") as u32,
        distances: Vec::new(),
        private_cache: values.get("private_cache"),
        shared_cache: values.get("shared_cache"),
        cache_exponent: values.get("cache_exponent") as u32,
        stretch_exponent: values.get("stretch_exponent") as u32,
        bound_demand: values.get("bound_demand") as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_topology;

    #[test]
    fn the_table_is_sound_and_sourced() {
        for (i, p) in PARAMETERS.iter().enumerate() {
            assert!(p.min <= p.default && p.default <= p.max, "{}", p.name);
            assert!(!p.about.is_empty());
            assert!(PARAMETERS[..i].iter().all(|q| q.name != p.name), "{} twice", p.name);
            assert!(GENERIC_NOTES.iter().any(|(name, ..)| *name == p.name), "{} has no source", p.name);
        }
        assert_eq!(GENERIC_NOTES.len(), PARAMETERS.len());
    }

    #[test]
    fn every_parameter_reaches_the_machine() {
        let tree = parse_topology("package:2 numa:1 cache:2 core:2 pu:2").unwrap();
        let lists =
            Lists { distances: vec![1_000, 1_400, 1_400, 1_000], turbo: vec![1_200], ..Lists::default() };
        // `slow_speed` acts where there are slow cores.
        let mut base = Values::defaults(PARAMETERS);
        base.set("slow_cores", 1).unwrap();
        let plain = build("m", &tree, &base, &lists);
        for p in PARAMETERS {
            let mut values = base.clone();
            let now = values.get(p.name);
            values.set(p.name, if now < p.max { now + 1 } else { now - 1 }).unwrap();
            assert_ne!(build("m", &tree, &values, &lists), plain, "{} has no effect", p.name);
        }
    }

    #[test]
    fn the_last_cores_of_each_package_are_slow() {
        let tree = parse_topology("package:2 core:4 pu:2").unwrap();
        let mut values = Values::defaults(PARAMETERS);
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
        let mut values = Values::defaults(PARAMETERS);
        values.set("core_speed", 800).unwrap();
        let machine = build("m", &tree, &values, &lists);
        let (fast, slow) = (Speed::ratio(16, 10), Speed::ratio(2, 10));
        assert_eq!(machine.core_speed, [fast, slow, fast, slow]);
        values.set("core_speed", 60_000).unwrap();
        assert!(check(&tree, &values, &lists).unwrap_err().contains("core 0"));
    }

    #[test]
    fn one_memory_for_many_packages_is_as_wide_as_they_need() {
        let uma = generic_values(&parse_topology("package:4 core:16").unwrap());
        let numa = generic_values(&parse_topology("package:4 numa:1 core:16").unwrap());
        let split = generic_values(&parse_topology("package:4 numa:4 core:4").unwrap());
        assert_eq!(uma.get("node_bandwidth"), 4 * numa.get("node_bandwidth"));
        assert_eq!(split.get("node_bandwidth"), numa.get("node_bandwidth"));
        assert!(uma.changed().is_empty(), "generic values are no overrides");
    }
}
