//! The releases whose balancer `LOAD` may follow, a row each: which of the two balancers it is, and its
//! rules where these differ. The rules of the balancer by loads are a template of flags and constants per
//! level, and named rules, each of them a parameter of `LOAD`.
//!
//! Values: include/linux/topology.h, include/linux/sched.h and arch/x86 `topology.h` of each release. 2.6.18
//! (the kernel of RHEL 5) was reconstructed from those headers and from kernel mails; its rules are marked as
//! uncertain below.

use super::{CacheLevel, Fuzz, Parameters, Switch};
use crate::group_types;
use notation::declare::{Choice, Field};
use notation::parameter::Kind;
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

/// When cores that share a cache form a level of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SharedCaches {
    /// Never.
    Ignored,
    /// On machines with one memory node only: the release learns of shared caches from Intel processors
    /// alone, and the NUMA machines of its time are Opterons.
    OneNode,
    /// Wherever the machine's tree has a `cache` level.
    Known,
}

/// The rules of a balancer that compares the loads of cpus, where releases differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rules {
    pub(super) templates: Templates,
    pub(super) shared_caches: SharedCaches,
    /// F of the small-imbalance test: one task is worth moving when MAX - THIS + F tasks >= 1 or 2 tasks
    /// (`SCHED_LOAD_SCALE_FUZZ` and its successor).
    pub(super) fuzz: u64,
    /// Going idle looks at every level that allows it; otherwise the walk ends at the first level that does
    /// not, because the flag "something was pulled" starts out as set (.27, .28).
    pub(super) newidle_walks_on: bool,
    /// Going idle always brings the next ordinary attempt forward (before .27 idle cpus look at every tick).
    pub(super) newidle_resets: bool,
    /// One designated cpu balances for its group (since 2.6.20).
    pub(super) designated: bool,
    /// A group with very different queues is worth a look even when it has few tasks (`__group_imb`, since
    /// 2.6.24).
    pub(super) group_imbalance: bool,
    /// A queue whose tasks are all pinned elsewhere is left out and the search repeated (since 2.6.19);
    /// before, the attempt ended there.
    pub(super) leaves_out_pinned: bool,
    /// The walk through a queue accepts a task of up to twice the amount (CFS); before, it had to fit.
    pub(super) halves: bool,
}

/// Which balancer a release has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Balancing {
    /// By the loads of cpus (kernel/sched.c, `find_busiest_group`).
    Loads(&'static Rules),
    /// By types of groups (kernel/sched/fair.c, `calculate_imbalance` since 5.5): [`group_types`].
    GroupTypes(group_types::Rules),
}

/// A release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Release {
    /// As kernels and the parameter `release` name it.
    pub(super) name: &'static str,
    pub(super) balancing: Balancing,
}

/// The rules of 2.6.18. Uncertain: no fuzz, no designated cpu, no group imbalance, pinned queues end an
/// attempt, whole tasks only.
pub(super) const RULES_2_6_18: Rules = Rules {
    templates: Templates {
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
    },
    shared_caches: SharedCaches::Ignored,
    fuzz: 0,
    newidle_walks_on: true,
    newidle_resets: true,
    designated: false,
    group_imbalance: false,
    leaves_out_pinned: false,
    halves: false,
};

/// The rules of 2.6.27: like 2.6.28, but ...
pub(super) const RULES_2_6_27: Rules = Rules {
    templates: Templates {
        cpu: Template { newidle: true, wake_balance: false, ..CPU },
        node: Template { wake_affine: false, ..NODE },
        ..TEMPLATES
    },
    shared_caches: SharedCaches::OneNode,
    fuzz: 2,
    ..RULES_2_6_28
};

/// The rules of 2.6.28, and of every kernel that is not in the table.
pub(super) const RULES_2_6_28: Rules = Rules {
    templates: TEMPLATES,
    shared_caches: SharedCaches::Known,
    fuzz: 1,
    newidle_walks_on: false,
    newidle_resets: false,
    designated: true,
    group_imbalance: true,
    leaves_out_pinned: true,
    halves: true,
};

/// The rules of 2.6.30: like 2.6.28, but ...
pub(super) const RULES_2_6_30: Rules = Rules { newidle_walks_on: true, ..RULES_2_6_28 };

/// The rules of 6.18.
pub(crate) const RULES_6_18: group_types::Rules =
    group_types::Rules { busy_factor: 16, imbalance_pct: 117, numa_divisor: 8 };

/// The releases, oldest first. A new one is a row here and an entry among the kernels.
pub(super) const RELEASES: [Release; 5] = [
    Release { name: "linux-2.6.18", balancing: Balancing::Loads(&RULES_2_6_18) },
    Release { name: "linux-2.6.27", balancing: Balancing::Loads(&RULES_2_6_27) },
    Release { name: "linux-2.6.28", balancing: Balancing::Loads(&RULES_2_6_28) },
    Release { name: "linux-2.6.30", balancing: Balancing::Loads(&RULES_2_6_30) },
    Release { name: "linux-6.18", balancing: Balancing::GroupTypes(RULES_6_18) },
];

/// What `release` may name: the kernel's own release, or one of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Named(Option<Release>);

impl Named {
    const ALL: [&'static str; RELEASES.len() + 1] = {
        let (mut words, mut at) = (["kernel"; RELEASES.len() + 1], 0);
        while at < RELEASES.len() {
            words[at + 1] = RELEASES[at].name;
            at += 1;
        }
        words
    };
}

impl Choice for Named {
    const WORDS: &'static [&'static str] = &Self::ALL;

    fn word(self) -> &'static str {
        self.0.map_or(Self::WORDS[0], |release| release.name)
    }
}

impl Field for Named {
    const KIND: Kind = Kind::Choice(Self::WORDS);
    const MAX: u64 = RELEASES.len() as u64;

    fn from_numbers(numbers: &[u64]) -> Self {
        let at = numbers.first().and_then(|at| (*at as usize).checked_sub(1));
        Self(at.and_then(|at| RELEASES.get(at)).copied())
    }
}

/// The balancer of the kernel, unless the parameter names another release; that of 2.6.28 for a kernel with
/// another balancer.
pub(super) fn of(values: &Parameters, kernel: &OsModel) -> Balancing {
    let own = || RELEASES.into_iter().find(|release| release.name == kernel.balancer.release);
    values.release.0.or_else(own).map_or(Balancing::Loads(&RULES_2_6_28), |release| release.balancing)
}

/// The rules of a balancer by group types, with what the parameters set.
pub(super) fn with_types(rules: group_types::Rules, values: &Parameters) -> group_types::Rules {
    let excess = values.tolerance.hundredths() / 100;
    group_types::Rules {
        busy_factor: if values.busy_factor == 0 { rules.busy_factor } else { values.busy_factor },
        imbalance_pct: if excess == 0 { rules.imbalance_pct } else { 100 + excess },
        numa_divisor: if values.numa_divisor == 0 { rules.numa_divisor } else { values.numa_divisor },
    }
}

impl Rules {
    /// With what the parameters set.
    pub(super) fn with(self, values: &Parameters) -> Self {
        let set = |switch: Switch, own: bool| match switch {
            Switch::Release => own,
            Switch::On => true,
            Switch::Off => false,
        };
        Self {
            fuzz: match values.fuzz {
                Fuzz::Release => self.fuzz,
                Fuzz::Zero => 0,
                Fuzz::One => 1,
                Fuzz::Two => 2,
            },
            newidle_walks_on: set(values.newidle_walks_on, self.newidle_walks_on),
            newidle_resets: set(values.newidle_resets, self.newidle_resets),
            designated: set(values.designated, self.designated),
            group_imbalance: set(values.group_imbalance, self.group_imbalance),
            leaves_out_pinned: set(values.leaves_out_pinned, self.leaves_out_pinned),
            halves: set(values.halves, self.halves),
            ..self
        }
    }

    /// The domains of cores that share a cache; single cores when the release has no such level here.
    /// Asked for (`on`) on a machine whose tree has no caches below the package, it is the package: its cores
    /// share the last-level cache.
    pub(super) fn caches(&self, topology: &Topology, wanted: CacheLevel) -> Division {
        if wanted == CacheLevel::On && !topology.levels().iter().any(|(level, _)| *level == Level::Cache) {
            let inner = if topology.span(Level::Node) < topology.span(Level::Package) {
                Level::Node
            } else {
                Level::Package
            };
            return topology.division(inner);
        }
        let seen = match (wanted, self.shared_caches) {
            (CacheLevel::On, _) | (_, SharedCaches::Known) => true,
            (_, SharedCaches::OneNode) => topology.count(Level::Node) == 1,
            (_, SharedCaches::Ignored) => false,
        };
        topology.division(if seen && wanted != CacheLevel::Off { Level::Cache } else { Level::Core })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_releases_differ_where_their_headers_do() {
        let [old, r27, r28, r30] = [RULES_2_6_18, RULES_2_6_27, RULES_2_6_28, RULES_2_6_30];
        // 2.6.28 took new-idle balancing from the CPU level and gave NODE affine wake-ups.
        assert!(r27.templates.cpu.newidle && !r28.templates.cpu.newidle);
        assert!(!r27.templates.node.wake_affine && r28.templates.node.wake_affine);
        assert_eq!((r27.fuzz, r28.fuzz, r30.fuzz), (2, 1, 1));
        assert!(!r28.newidle_walks_on && r30.newidle_walks_on);
        // 2.6.18 spreads forks over nodes only.
        assert!(!old.templates.smt.fork && !old.templates.cpu.fork && old.templates.node.fork);
        assert_eq!(
            old.templates.smt.flags(),
            ["BALANCE_NEWIDLE", "WAKE_AFFINE", "WAKE_IDLE", "SHARE_CPUPOWER"]
        );
        assert_eq!(r28.templates.node.flags(), ["BALANCE_FORK", "WAKE_AFFINE", "WAKE_BALANCE", "SERIALIZE"]);
    }
}
