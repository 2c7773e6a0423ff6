//! The built-in operating systems, one file each: what a scenario's `kernel:` may name, with the parameters
//! that may be overridden.

mod balance;
mod distributions;
mod freebsd;
mod linux_2_6;
mod linux_3_10;
mod linux_6_18;
mod linux_o1;
mod missing;
mod nearest;
mod real_time;
mod round_robin;
mod solaris;
mod tuned;
mod types;
mod ule;

use notation::declare::{Duration, amount::s};
use notation::parameter::{Parameter, Values};
use notation::registry::{self, Registry};
use sim_core::os::{Balancer, Discipline, OsModel};
use sim_core::time::Span;

use balance::Form;
pub use balance::{Balance, Levels, LoadRules, SharedCaches};
pub use missing::{Error, Missing, missing};
pub use nearest::{Fit, Nearest, nearest, numbers_of};
pub use types::{
    ActiveBalance, Compares, Crowded, Detach, Failing, Fork, ForkNuma, IdleClass, NumaAllowance, NumaPeriod,
    NumaSearch, Scan, Siblings, TYPE_ROWS, TypeRules,
};
pub use ule::{Balances, Places, Steals, UleRules};

/// The kernel where neither a scenario nor its machine names one, and of scenarios that commands write: that
/// of today, which has control groups, slices of tasks and all scheduling policies.
pub const DEFAULT_KERNEL: &str = "linux-6.18";

/// A built-in operating system.
pub type Entry = registry::Entry<Kernel>;

/// What only operating systems have.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The policy that is its own placement and balancing.
    pub policy: &'static str,
    /// The kernel of which it is a variation, with the same parameters; pages list only what differs.
    pub base: Option<&'static str>,
    /// How the packages of a distribution are told that have these rules; none for a mainline release.
    pub package: Option<Package>,
    balance: Form,
    /// Its parameters include the rules of a real-time class.
    real_time: bool,
    make: fn(&Values, u32) -> OsBuilt,
}

/// The kernel packages of a distribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Package {
    /// What `uname -r` contains under this distribution, `.el9`; nothing for a mainline release whose name is
    /// not the one of its rules.
    pub mark: &'static str,
    /// The oldest release of a package with these rules, as `uname -r` begins.
    pub release: &'static str,
}

impl Kernel {
    /// A kernel of Linux: its queues, and the form of its balancer.
    const fn linux(make: fn(&Values, u32) -> OsBuilt, balance: Form) -> Self {
        Self { policy: "LOAD", base: None, package: None, balance, real_time: true, make }
    }

    /// The same without a real-time class.
    const fn without_real_time(self) -> Self {
        Self { real_time: false, ..self }
    }

    /// The same as a variation of another kernel.
    const fn like(self, base: &'static str) -> Self {
        Self { base: Some(base), ..self }
    }

    /// The same in the packages of a distribution.
    const fn packaged(self, mark: &'static str, release: &'static str) -> Self {
        Self { package: Some(Package { mark, release }), ..self }
    }

    /// Whether it is a mainline release, not that of a distribution.
    #[must_use]
    pub fn is_mainline(&self) -> bool {
        self.package.is_none_or(|package| package.mark.is_empty())
    }

    /// Whether its balancer is one of Linux, whose rules are among its parameters.
    #[must_use]
    pub const fn has_linux_balancer(&self) -> bool {
        matches!(self.balance, Form::Loads | Form::Types)
    }

    /// Whether a rule is one of the real-time class.
    fn is_of_class(&self, rule: &Parameter) -> bool {
        self.real_time && real_time::ClassRules::TABLE.iter().any(|other| other.name == rule.name)
    }

    /// Whether a rule is one of the balancer.
    fn balances(&self, rule: &Parameter) -> bool {
        self.balance.table().iter().any(|other| other.name == rule.name)
    }
}

/// Shortest tick and quantum the simulator accepts, 1 us.
const SHORTEST: u64 = 1_000;
/// Longest of the times below, one hour.
const LONGEST: u64 = s(3_600);

/// What the parameters of an operating system define.
struct OsBuilt {
    tick: Duration,
    tick_skew: bool,
    autogroup: bool,
    discipline: Discipline,
}

/// The built-in operating systems.
// A static, because each use of a constant has a copy of these 200 kB in the program.
pub static KERNELS: Registry<Kernel> = Registry {
    noun: "kernel",
    entries: &[
        linux_2_6::LINUX_2_6_28,
        linux_2_6::LINUX_2_6_27,
        linux_2_6::LINUX_2_6_30,
        linux_3_10::LINUX_3_10,
        linux_3_10::LINUX_CFS[0],
        linux_3_10::LINUX_CFS[1],
        linux_3_10::LINUX_CFS[2],
        linux_3_10::LINUX_CFS[3],
        linux_3_10::LINUX_CFS[4],
        linux_3_10::LINUX_CFS[5],
        linux_o1::LINUX_2_6_18,
        linux_6_18::LINUX_6_18,
        linux_6_18::LINUX_EEVDF[0],
        linux_6_18::LINUX_EEVDF[1],
        linux_6_18::LINUX_EEVDF[2],
        linux_6_18::LINUX_EEVDF[3],
        linux_6_18::LINUX_EEVDF[4],
        linux_6_18::LINUX_EEVDF[5],
        linux_6_18::LINUX_EEVDF[6],
        linux_6_18::LINUX_EEVDF[7],
        linux_6_18::LINUX_EEVDF[8],
        distributions::RHEL_CFS[0],
        distributions::RHEL_CFS[1],
        distributions::RHEL_CFS[2],
        distributions::RHEL_CFS[3],
        distributions::RHEL_CFS[4],
        distributions::RHEL_CFS[5],
        distributions::RHEL_CFS[6],
        distributions::RHEL_CFS[7],
        distributions::RHEL_CFS[8],
        distributions::RHEL_CFS[9],
        distributions::RHEL_CFS[10],
        distributions::RHEL_CFS[11],
        distributions::RHEL_10_0,
        distributions::OTHERS[0],
        distributions::OTHERS[1],
        distributions::OTHERS[2],
        distributions::UBUNTU_24_04,
        freebsd::FREEBSD_7,
        freebsd::FREEBSD_14,
        solaris::SOLARIS_9,
        round_robin::ROUND_ROBIN,
    ],
    text: include_str!("kernels.md"),
};

/// The kernel with these values of its parameters, booted on `cpus` cpus.
#[must_use]
pub fn build(entry: &Entry, values: &Values, cpus: u32) -> OsModel {
    let (kernel, values) = (&entry.own, &tuned::applied(entry, values));
    let apart =
        |rule: &Parameter| kernel.balances(rule) || kernel.is_of_class(rule) || tuned::names_profile(rule);
    let queues = values.only(|rule| !apart(rule));
    let OsBuilt { tick, tick_skew, autogroup, discipline } = (kernel.make)(&queues, cpus);
    let rules = kernel.balance.table().iter();
    let rules = rules.filter_map(|rule| Some((rule.name, values.number(rule.name)?))).collect();
    let balancer = Balancer { policy: kernel.policy, rules };
    OsModel {
        name: entry.name.to_owned(),
        tick: Span::from_ns(tick.ns()),
        tick_skew,
        discipline,
        numa_balancing: Balance::of(&balancer).and_then(|balance| balance.numa_balancing()),
        balancer,
        groups: Vec::new(),
        autogroup,
        real_time: kernel.real_time.then(|| real_time::class(&values.only(|rule| kernel.is_of_class(rule)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_conforms_and_every_parameter_counts() {
        for entry in KERNELS.entries {
            let plain = Values::defaults(entry.parameters);
            let model = build(entry, &plain, 16);
            assert_eq!(model.name, entry.name);
            assert!(model.tick >= Span::from_us(1));
            let least = if entry.own.base.is_some() { 60 } else { 200 };
            assert!(
                KERNELS.about(entry).len() > least && entry.example.contains(entry.name),
                "{}",
                entry.name
            );
            for p in entry.parameters {
                assert!(p.min <= p.default && p.default <= p.max && !p.about.is_empty(), "{}", p.name);
                let mut values = plain.clone();
                // The rules of a class act where there is one.
                if ["deadline_limit", "deadline_timer"].contains(&p.name) {
                    values.set("deadline_class", 1).unwrap();
                }
                let before = build(entry, &values, 16);
                let other = if p.default < p.max { p.default + 1 } else { p.default - 1 };
                values.set(p.name, other).unwrap();
                assert_ne!(build(entry, &values, 16), before, "{}.{} has no effect", entry.name, p.name);
            }
        }
    }

    #[test]
    fn unknown_kernels_get_a_hint() {
        assert!(KERNELS.resolve("linux-2.6.82").unwrap_err().contains("did you mean `linux-2.6.28`?"));
        assert!(KERNELS.resolve("round-robin").is_ok());
    }
}
