//! The rules of the balancers of Linux, each a key of `kernel:`, and the rows of the releases.
//!
//! There are two balancers: one compares loads (kernel/sched.c, `find_busiest_group`, 2.6.18 to 2.6.30), one
//! compares types of groups (kernel/sched/fair.c, `calculate_imbalance` since 5.5). 2.6.18 (the kernel of
//! RHEL 5) was reconstructed from its headers and from kernel mails; its rules are uncertain.

use notation::declare::amount::{mib, s};
use notation::parameter::{Parameter, Values, changed};
use notation::{choices, parameters};
use sim_core::os::{Balancer, NumaBalancing};
use sim_core::time::Span;

use super::types::{NumaPeriod, TypeRules};
use super::ule::UleRules;

choices! {
    /// The flags and constants of the levels (the `SD_*_INIT` macros of include/linux/topology.h).
    pub enum Levels {
        /// Forks are spread over nodes only, woken tasks look for an idle thread of their core.
        L2618 = "2.6.18",
        /// A cpu that goes idle pulls inside a socket.
        L2627 = "2.6.27",
        /// New-idle balancing between threads only.
        L2628 = "2.6.28",
    }
}

choices! {
    /// When cores that share a cache form a level of their own.
    pub enum SharedCaches { Never = "never", OneNode = "one-node", Known = "known" }
}

parameters! {
    /// The rules of the balancer by loads.
    pub struct LoadRules {
        /// Balancer: flags and constants of its levels, as in include/linux/topology.h of this release.
        levels: Levels = Levels::L2628;
        /// Balancer: when cores that share a cache form a level of their own, of which a group is one unit of
        /// capacity. `one-node`: only on machines with one memory node, because the release learns of shared
        /// caches from Intel processors alone (2.6.27). `known`: where the machine's tree has a cache level.
        shared_caches: SharedCaches = SharedCaches::Known;
        /// Balancer: how many tasks count in favour of moving one at a small imbalance (SCHED_LOAD_SCALE_FUZZ
        /// in find_busiest_group; 0 in 2.6.18, 2 in 2.6.27, then 1).
        fuzz: u64 = 1, in 0..=2;
        /// Balancer: a cpu that goes idle checks every level that allows it, instead of up to the first that
        /// does not (idle_balance; 2.6.18 and 2.6.30).
        newidle_walks_on: bool = false;
        /// Balancer: a cpu that goes idle always brings its next ordinary pass forward (idle_balance of
        /// 2.6.18).
        newidle_resets: bool = false;
        /// Balancer: one designated cpu balances for its group (find_busiest_group, since 2.6.20).
        designated: bool = true;
        /// Balancer: a group whose queues differ much is worth a look even if it has few tasks (__group_imb
        /// in find_busiest_group, since 2.6.24).
        group_imbalance: bool = true;
        /// Balancer: a queue whose tasks may all not come is left out and the search repeated (load_balance,
        /// since 2.6.19).
        leaves_out_pinned: bool = true;
        /// Balancer: a task of up to twice the amount to move is accepted (balance_tasks, since 2.6.23).
        halves: bool = true;
    }
}

/// Number of rules of the balancer by loads.
pub(super) const LOADS: usize = LoadRules::TABLE.len();

/// 2.6.28.
pub(super) const LOADS_2_6_28: [Parameter; LOADS] = changed(LoadRules::TABLE, &[]);

/// 2.6.18. Uncertain: no fuzz, no designated cpu, no group imbalance, pinned queues end an attempt, whole
/// tasks only.
pub(super) const LOADS_2_6_18: [Parameter; LOADS] = changed(
    LoadRules::TABLE,
    &[
        LoadRules::levels.with(Levels::L2618 as u64),
        LoadRules::shared_caches.with(SharedCaches::Never as u64),
        LoadRules::fuzz.with(0),
        LoadRules::newidle_walks_on.with(true as u64),
        LoadRules::newidle_resets.with(true as u64),
        LoadRules::designated.with(false as u64),
        LoadRules::group_imbalance.with(false as u64),
        LoadRules::leaves_out_pinned.with(false as u64),
        LoadRules::halves.with(false as u64),
    ],
);

/// 2.6.27.
pub(super) const LOADS_2_6_27: [Parameter; LOADS] = changed(
    LoadRules::TABLE,
    &[
        LoadRules::levels.with(Levels::L2627 as u64),
        LoadRules::shared_caches.with(SharedCaches::OneNode as u64),
        LoadRules::fuzz.with(2),
    ],
);

/// 2.6.30.
pub(super) const LOADS_2_6_30: [Parameter; LOADS] =
    changed(LoadRules::TABLE, &[LoadRules::newidle_walks_on.with(true as u64)]);

/// Which balancer a kernel of Linux has, with its rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Balance {
    /// The one by loads.
    Loads(LoadRules),
    /// The one by types of groups.
    Types(TypeRules),
}

/// Which rules of a balancer a kernel has among its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// None: its balancer has no rules of its own.
    None,
    Loads,
    Types,
    Ule,
}

impl Form {
    /// The rules.
    pub(super) const fn table(self) -> &'static [Parameter] {
        match self {
            Self::None => &[],
            Self::Loads => LoadRules::TABLE,
            Self::Types => TypeRules::TABLE,
            Self::Ule => UleRules::TABLE,
        }
    }
}

/// The values of the rules of this form in the balancer of an operating system; none if that has other rules.
fn values(form: Form, balancer: &Balancer) -> Option<Values> {
    let own = balancer.rules.iter().map(|(name, _)| *name);
    if !form.table().iter().map(|rule| rule.name).eq(own) {
        return None;
    }
    let mut values = Values::defaults(form.table());
    // The numbers are those of a checked table.
    balancer.rules.iter().for_each(|(name, value)| _ = values.set(name, *value));
    Some(values)
}

impl Balance {
    /// The balancer of an operating system; none if that is not one of Linux.
    #[must_use]
    pub fn of(balancer: &Balancer) -> Option<Self> {
        let loads = || values(Form::Loads, balancer).map(|values| Self::Loads(LoadRules::from(&values)));
        let types = || values(Form::Types, balancer).map(|values| Self::Types(TypeRules::from(&values)));
        loads().or_else(types)
    }

    /// Automatic NUMA balancing, if it is on.
    #[must_use]
    pub fn numa_balancing(&self) -> Option<NumaBalancing> {
        let Self::Types(rules) = self else { return None };
        let linux = NumaBalancing::linux(rules.numa_huge_pages);
        let (size, fastest) = (rules.numa_scan_size.bytes(), rules.numa_period_min.ns());
        // `MAX_SCAN_WINDOW`.
        let passes = (mib(2_560) / size.max(1)).max(1);
        rules.numa_balancing.then(|| NumaBalancing {
            delay: Span::from_ns(rules.numa_scan_delay.ns()),
            window: size.max(linux.page),
            fastest: Span::from_ns(fastest),
            slowest: Span::from_ns(rules.numa_period_max.ns().max(fastest)),
            floor: Span::from_ns(s(1) / passes),
            early: rules.numa_moves_early,
            private_slows: rules.numa_period == NumaPeriod::Private,
            moves_tasks: rules.numa_moves_tasks,
            ..linux
        })
    }
}

impl UleRules {
    /// The rules of an operating system; none if its balancer is not that of ULE.
    #[must_use]
    pub fn of(balancer: &Balancer) -> Option<Self> {
        values(Form::Ule, balancer).map(|values| Self::from(&values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KERNELS, build};

    fn numa(kernel: &str, settings: &[(&str, u64)]) -> Option<NumaBalancing> {
        let entry = KERNELS.resolve(kernel).unwrap();
        let mut values = Values::defaults(entry.parameters);
        settings.iter().for_each(|(name, value)| values.set(name, *value).unwrap());
        build(entry, &values, 16).numa_balancing
    }

    #[test]
    fn distributions_balance_memory_and_mainline_does_when_told() {
        for kernel in ["rhel-8.0", "rhel-9.4", "rhel-10.0", "debian-12", "sles-15"] {
            assert_eq!(numa(kernel, &[]), Some(NumaBalancing::linux(true)), "{kernel}");
            assert_eq!(numa(kernel, &[("numa_balancing", 0)]), None, "{kernel}");
        }
        // 3.15: pages move at the second fault, and only local faults slow the scans; 4.18: the first alone.
        let late = NumaBalancing { early: false, ..NumaBalancing::linux(true) };
        let oldest = NumaBalancing { private_slows: false, ..late };
        assert_eq!(numa("rhel-7.9", &[]), Some(oldest));
        assert_eq!(numa("linux-4.18", &[("numa_balancing", 1)]), Some(late));
        let pages = NumaBalancing { moves_tasks: false, ..NumaBalancing::linux(true) };
        assert_eq!(numa("rhel-9.4", &[("numa_moves_tasks", 0)]), Some(pages));
        for kernel in ["ubuntu-22.04", "ubuntu-24.04"] {
            assert_eq!(numa(kernel, &[]), Some(NumaBalancing::linux(false)), "{kernel}");
        }
        for kernel in ["linux-2.6.28", "linux-3.10", "linux-5.15", "linux-6.18", "freebsd-7"] {
            assert_eq!(numa(kernel, &[]), None, "{kernel}");
        }
        assert_eq!(numa("linux-6.18", &[("numa_balancing", 1)]), Some(NumaBalancing::linux(true)));
    }

    #[test]
    fn passes_of_other_sizes_have_another_least_distance() {
        let on = ("numa_balancing", 1);
        let rules = numa("linux-6.18", &[on, ("numa_scan_size", mib(1_280))]).unwrap();
        assert_eq!((rules.window, rules.floor), (mib(1_280), Span::from_ms(500)));
        // The window has a page at least, and the longest period is not shorter than the shortest.
        let rules = numa("linux-6.18", &[on, ("numa_scan_size", mib(1)), ("numa_period_max", 1_000_000)]);
        let rules = rules.unwrap();
        assert_eq!((rules.window, rules.slowest), (mib(2), rules.fastest));
    }
}
