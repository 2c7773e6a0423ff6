//! The profiles of tuned, with which RHEL is installed: values of rules that an installed profile writes.
//!
//! Source: profiles/*/tuned.conf of tuned (github.com/redhat-performance/tuned): `[sysctl]` and `[vm]`. On
//! kernels where the values are in debugfs (5.13 and later), tuned writes them there. Kernels with EEVDF have
//! no granularities any more.

use notation::declare::amount::ms;
use notation::parameter::{Parameter, Values};
use notation::{choices, parameters};

use super::Entry;

choices! {
    /// The words of `tuned`.
    pub(super) enum Profile {
        None = "none",
        Latency = "latency-performance",
        Throughput = "throughput-performance",
        Hpc = "hpc-compute",
        Guest = "virtual-guest",
        Host = "virtual-host",
    }
}

parameters! {
    /// The installed profile.
    pub(super) struct Installed {
        /// Profile of tuned that writes values of other rules, unless the scenario gives them another value
        /// than their default.
        /// `throughput-performance` (the default of servers) and `virtual-guest` (that of virtual machines):
        /// min_granularity 10ms, wakeup_granularity 15ms. `virtual-host`: the same and migration_cost 5ms.
        /// `latency-performance`: min_granularity 10ms, migration_cost 5ms. `hpc-compute`: the same without
        /// automatic NUMA balancing and with huge pages. Under EEVDF only migration_cost and NUMA balancing
        /// are left of them.
        tuned: Profile = Profile::None;
    }
}

/// Number of these parameters.
pub(super) const TUNED: usize = Installed::TABLE.len();

const MIN_GRANULARITY: (&str, u64) = ("min_granularity", ms(10));
const WAKEUP_GRANULARITY: (&str, u64) = ("wakeup_granularity", ms(15));
const MIGRATION_COST: (&str, u64) = ("migration_cost", ms(5));
const NO_NUMA_BALANCING: (&str, u64) = ("numa_balancing", 0);
const HUGE_PAGES: (&str, u64) = ("numa_huge_pages", 1);

/// What a profile writes.
const fn written(profile: Profile) -> &'static [(&'static str, u64)] {
    match profile {
        Profile::None => &[],
        Profile::Latency => &[MIN_GRANULARITY, MIGRATION_COST],
        Profile::Throughput | Profile::Guest => &[MIN_GRANULARITY, WAKEUP_GRANULARITY],
        Profile::Hpc => &[MIN_GRANULARITY, MIGRATION_COST, NO_NUMA_BALANCING, HUGE_PAGES],
        Profile::Host => &[MIN_GRANULARITY, WAKEUP_GRANULARITY, MIGRATION_COST],
    }
}

/// Whether a parameter names the profile.
pub(super) fn names_profile(parameter: &Parameter) -> bool {
    parameter.name == Installed::tuned.name
}

/// The values with what the profile writes, where the kernel has the rule and its value is that of its row.
pub(super) fn applied(entry: &Entry, values: &Values) -> Values {
    let mut all = values.clone();
    if !entry.parameters.iter().any(names_profile) {
        return all;
    }
    let profile = Installed::from(&values.only(names_profile)).tuned;
    for (name, value) in written(profile) {
        let of_row = entry.parameters.iter().find(|rule| rule.name == *name).map(|rule| rule.default);
        if of_row.is_some() && values.number(name) == of_row {
            // In the range of its rule, which a test asks for.
            _ = all.set(name, *value);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use notation::declare::Choice;
    use sim_core::os::{Discipline, OsModel};
    use sim_core::time::Span;

    use super::*;
    use crate::{Balance, KERNELS, build};

    fn booted(kernel: &str, profile: Profile, settings: &[(&str, u64)]) -> OsModel {
        let entry = KERNELS.resolve(kernel).unwrap();
        let mut values = Values::defaults(entry.parameters);
        values.set("tuned", profile as u64).unwrap();
        settings.iter().for_each(|(name, value)| values.set(name, *value).unwrap());
        build(entry, &values, 16)
    }

    fn granularities(model: &OsModel) -> [Span; 2] {
        match &model.discipline {
            Discipline::Cfs(params) => [params.min_granularity, params.wakeup_granularity],
            _ => panic!("{} has no CFS", model.name),
        }
    }

    fn migration_cost(model: &OsModel) -> u64 {
        match Balance::of(&model.balancer) {
            Some(Balance::Types(rules)) => rules.migration_cost.ns(),
            _ => panic!("{} has another balancer", model.name),
        }
    }

    #[test]
    fn profiles_write_their_values() {
        let of = |profile| {
            let model = booted("rhel-8.10", profile, &[]);
            (granularities(&model), migration_cost(&model), model.numa_balancing.is_some())
        };
        let [own, ten, fifteen] = [3_000, 10_000, 15_000].map(Span::from_us);
        let four = Span::from_ms(4);
        assert_eq!(of(Profile::None), ([own, four], 500_000, true));
        assert_eq!(of(Profile::Latency), ([ten, four], ms(5), true));
        assert_eq!(of(Profile::Throughput), ([ten, fifteen], 500_000, true));
        assert_eq!(of(Profile::Guest), ([ten, fifteen], 500_000, true));
        assert_eq!(of(Profile::Host), ([ten, fifteen], ms(5), true));
        assert_eq!(of(Profile::Hpc), ([ten, four], ms(5), false));
    }

    #[test]
    fn what_a_scenario_changes_stays_and_eevdf_has_no_granularities() {
        let model =
            booted("rhel-9.4", Profile::Hpc, &[("min_granularity", ms(2)), ("numa_scan_size", 1 << 20)]);
        assert_eq!((granularities(&model)[0], migration_cost(&model)), (Span::from_ms(2), ms(5)));
        let eevdf = booted("rhel-10.0", Profile::Hpc, &[]);
        assert!(eevdf.numa_balancing.is_none() && migration_cost(&eevdf) == ms(5));
        let plain = booted("rhel-10.0", Profile::None, &[]);
        assert_eq!(booted("rhel-10.0", Profile::Throughput, &[]), plain);
    }

    #[test]
    fn every_value_is_one_of_a_rule() {
        let entry = KERNELS.resolve("rhel-9.6").unwrap();
        for (at, word) in Profile::WORDS.iter().enumerate() {
            let profile = Installed::from(&{
                let mut values = Values::defaults(Installed::TABLE);
                values.set("tuned", at as u64).unwrap();
                values
            });
            assert_eq!(profile.tuned.word(), *word);
            for (name, value) in written(profile.tuned) {
                let rule = entry.parameters.iter().find(|rule| rule.name == *name);
                assert!(rule.is_some_and(|rule| (rule.min..=rule.max).contains(value)), "{name}");
            }
        }
    }
}
