//! The rules of the balancer that `LOAD` follows: those of the kernel, or of the one that `release` names;
//! and what the balancer by loads does at each level, as flags and constants.
//!
//! Values: include/linux/topology.h, include/linux/sched.h and arch/x86 `topology.h` of each release.

use super::{CacheLevel, Parameters};
use kernels::{Balance, Entry, KERNELS, Levels, LoadRules, SharedCaches};
use notation::declare::{Choice, Field};
use notation::parameter::{Kind, Values};
use sim_core::machine::{Division, Level, Topology};
use sim_core::os::OsModel;

/// What the balancer does at a level (the `SD_*_INIT` macros). Intervals in milliseconds, `*_index` select a
/// load average.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Template {
    pub(super) name: &'static str,
    pub(super) min_ms: u64,
    pub(super) max_ms: u64,
    pub(super) busy_factor: u64,
    pub(super) imbalance_pct: u64,
    pub(super) cache_nice_tries: u32,
    pub(super) busy_index: usize,
    pub(super) idle_index: usize,
    pub(super) newidle_index: usize,
    pub(super) wake_index: usize,
    pub(super) fork_index: usize,
    pub(super) newidle: bool,
    pub(super) fork: bool,
    pub(super) wake_affine: bool,
    pub(super) wake_balance: bool,
    /// A woken task looks for an idle cpu of the level (`SD_WAKE_IDLE`).
    pub(super) wake_idle: bool,
    pub(super) share_cpu_power: bool,
    /// The cpus share a cache (`SD_SHARE_PKG_RESOURCES`): as a group of the level above they count as one
    /// unit.
    pub(super) share_cache: bool,
    /// One attempt at a time in the whole machine (`SD_SERIALIZE`); for show, an attempt takes no time here.
    pub(super) serialize: bool,
}

impl Template {
    /// Its flags in the kernel's words, without the prefix.
    pub(super) fn flags(&self) -> Vec<&'static str> {
        let flags = [
            (self.newidle, "BALANCE_NEWIDLE"),
            (self.fork, "BALANCE_FORK"),
            (self.wake_affine, "WAKE_AFFINE"),
            (self.wake_balance, "WAKE_BALANCE"),
            (self.wake_idle, "WAKE_IDLE"),
            (self.share_cpu_power, "SHARE_CPUPOWER"),
            (self.share_cache, "SHARE_PKG_RESOURCES"),
            (self.serialize, "SERIALIZE"),
        ];
        flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
    }
}

/// The templates of a release, lowest level first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Templates {
    pub(super) smt: Template,
    pub(super) mc: Template,
    pub(super) cpu: Template,
    pub(super) node: Template,
    pub(super) all_nodes: Template,
}

const SMT: Template = Template {
    name: "SMT",
    min_ms: 1,
    max_ms: 2,
    busy_factor: 64,
    imbalance_pct: 110,
    cache_nice_tries: 0,
    busy_index: 0,
    idle_index: 0,
    newidle_index: 0,
    wake_index: 0,
    fork_index: 0,
    newidle: true,
    fork: true,
    wake_affine: true,
    wake_balance: true,
    wake_idle: false,
    share_cpu_power: true,
    share_cache: false,
    serialize: false,
};
const MC: Template = Template {
    name: "MC",
    max_ms: 4,
    imbalance_pct: 125,
    cache_nice_tries: 1,
    busy_index: 2,
    wake_index: 1,
    fork_index: 1,
    newidle: false,
    share_cpu_power: false,
    share_cache: true,
    ..SMT
};
const CPU: Template = Template { name: "CPU", idle_index: 1, newidle_index: 2, share_cache: false, ..MC };
const NODE: Template = Template {
    name: "NODE",
    min_ms: 8,
    max_ms: 32,
    busy_factor: 32,
    cache_nice_tries: 2,
    busy_index: 3,
    idle_index: 2,
    serialize: true,
    ..CPU
};
const ALL_NODES: Template = Template {
    name: "ALLNODES",
    min_ms: 64,
    max_ms: 64,
    busy_factor: 128,
    imbalance_pct: 133,
    cache_nice_tries: 1,
    busy_index: 3,
    idle_index: 3,
    newidle_index: 0,
    wake_index: 0,
    fork_index: 0,
    newidle: true,
    fork: false,
    wake_affine: true,
    wake_balance: false,
    serialize: true,
    ..NODE
};
const TEMPLATES: Templates = Templates { smt: SMT, mc: MC, cpu: CPU, node: NODE, all_nodes: ALL_NODES };

/// 2.6.18.
const TEMPLATES_2_6_18: Templates = Templates {
    smt: Template {
        busy_factor: 8,
        newidle_index: 1,
        fork: false,
        wake_balance: false,
        wake_idle: true,
        ..SMT
    },
    mc: Template { newidle: true, fork: false, wake_balance: false, share_cache: false, ..MC },
    cpu: Template { newidle: true, fork: false, wake_balance: false, ..CPU },
    node: Template { newidle_index: 0, wake_affine: false, serialize: false, ..NODE },
    all_nodes: Template { newidle: false, wake_affine: false, serialize: false, ..ALL_NODES },
};

/// 2.6.27.
const TEMPLATES_2_6_27: Templates = Templates {
    cpu: Template { newidle: true, wake_balance: false, ..CPU },
    node: Template { wake_affine: false, ..NODE },
    ..TEMPLATES
};

/// What the balancer does at each level.
pub(super) const fn templates(rules: &LoadRules) -> &'static Templates {
    match rules.levels {
        Levels::L2618 => &TEMPLATES_2_6_18,
        Levels::L2627 => &TEMPLATES_2_6_27,
        Levels::L2628 => &TEMPLATES,
    }
}

/// The rules of the kernel that other kernels have when `LOAD` balances them.
pub(super) const OTHERWISE: &str = "linux-2.6.28";

/// The kernels of which `LOAD` is the balancer.
const LINUX: [&Entry; COUNT] = {
    let (mut found, mut at, mut next) = ([&KERNELS.entries[0]; COUNT], 0, 0);
    while at < KERNELS.entries.len() {
        if KERNELS.entries[at].own.has_linux_balancer() {
            found[next] = &KERNELS.entries[at];
            next += 1;
        }
        at += 1;
    }
    found
};

/// How many they are.
const COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < KERNELS.entries.len() {
        count += KERNELS.entries[at].own.has_linux_balancer() as usize;
        at += 1;
    }
    count
};

/// What `release` may name: the scenario's own kernel, or one with a balancer that `LOAD` knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named(Option<&'static Entry>);

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word()
    }
}

impl Eq for Named {}

impl Choice for Named {
    const WORDS: &'static [&'static str] = &{
        let (mut words, mut at) = (["kernel"; COUNT + 1], 0);
        while at < COUNT {
            words[at + 1] = LINUX[at].name;
            at += 1;
        }
        words
    };

    fn word(self) -> &'static str {
        self.0.map_or(Self::WORDS[0], |entry| entry.name)
    }
}

impl Field for Named {
    const KIND: Kind = Kind::Choice(Self::WORDS);
    const MAX: u64 = COUNT as u64;

    fn from_numbers(numbers: &[u64]) -> Self {
        let at = numbers.first().and_then(|at| (*at as usize).checked_sub(1));
        Self(at.and_then(|at| LINUX.get(at)).copied())
    }
}

/// The balancer of the kernel, unless the parameter names another one; that of 2.6.28 for a kernel with
/// another balancer.
#[expect(clippy::expect_used, reason = "the kernel named here has rules of a balancer")]
pub(super) fn of(values: &Parameters, kernel: &OsModel) -> Balance {
    let of_entry = |entry: &Entry| {
        let model = kernels::build(entry, &Values::defaults(entry.parameters), 1);
        Balance::of(&model.balancer)
    };
    let named = values.release.0.and_then(of_entry);
    let otherwise = || KERNELS.find(OTHERWISE).and_then(of_entry);
    named.or_else(|| Balance::of(&kernel.balancer)).or_else(otherwise).expect("2.6.28 has a balancer")
}

/// The domains of cores that share a cache; single cores when the release has no such level here. Asked for
/// (`on`) on a machine whose tree has no caches below the package, it is the package: its cores share the
/// last-level cache.
pub(super) fn caches(rules: &LoadRules, topology: &Topology, wanted: CacheLevel) -> Division {
    if wanted == CacheLevel::On && !topology.levels().iter().any(|(level, _)| *level == Level::Cache) {
        let inner = if topology.span(Level::Node) < topology.span(Level::Package) {
            Level::Node
        } else {
            Level::Package
        };
        return topology.division(inner);
    }
    let seen = match (wanted, rules.shared_caches) {
        (CacheLevel::On, _) | (_, SharedCaches::Known) => true,
        (_, SharedCaches::OneNode) => topology.count(Level::Node) == 1,
        (_, SharedCaches::Never) => false,
    };
    topology.division(if seen && wanted != CacheLevel::Off { Level::Cache } else { Level::Core })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_releases_differ_where_their_headers_do() {
        let [old, r27, r28] = [&TEMPLATES_2_6_18, &TEMPLATES_2_6_27, &TEMPLATES];
        // 2.6.28 took new-idle balancing from the CPU level and gave NODE affine wake-ups.
        assert!(r27.cpu.newidle && !r28.cpu.newidle);
        assert!(!r27.node.wake_affine && r28.node.wake_affine);
        // 2.6.18 spreads forks over nodes only.
        assert!(!old.smt.fork && !old.cpu.fork && old.node.fork);
        assert_eq!(old.smt.flags(), ["BALANCE_NEWIDLE", "WAKE_AFFINE", "WAKE_IDLE", "SHARE_CPUPOWER"]);
        assert_eq!(r28.node.flags(), ["BALANCE_FORK", "WAKE_AFFINE", "WAKE_BALANCE", "SERIALIZE"]);
    }
}
