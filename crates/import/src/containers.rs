//! Limits of containers as the kernel gets them: shares to weights, cpus to quotas, and the groups and
//! applications of a scenario that has them.

use std::collections::BTreeMap;

use crate::page::{self, Page};
use crate::units::span;

/// Least and greatest shares of cgroup v1 (`MIN_SHARES`, `MAX_SHARES` of kernel/sched/sched.h).
const SHARES: (u64, u64) = (2, 262_144);
/// Period of the completely fair scheduler where none is stated: 100 ms.
pub(crate) const PERIOD_US: u64 = 100_000;
/// Least quota: 1 ms (`min_cfs_quota_period` of kernel/sched/core.c; the kubelet's `MinQuotaPeriod`).
pub(crate) const LEAST_QUOTA_US: u64 = 1_000;
/// Greatest quota of a scenario: 1,000 s.
const MOST_QUOTA_US: u64 = 1_000_000_000;
/// Least and greatest period of the kernel: 1 ms and 1 s.
const PERIODS_US: (u64, u64) = (1_000, 1_000_000);
/// Most groups of a scenario.
pub(crate) const MOST_GROUPS: usize = 1_000;

/// How shares of cgroup v1 become weights of cgroup v2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formula {
    /// 1 + (shares - 2) * 9999 / 262142, of systemd, the kubelet and runc up to 1.3.1: 1,024 shares become
    /// 39.
    Linear,
    /// 10^((log2(shares)^2 + 125 log2(shares)) / 612 - 7/34), of runc 1.3.2 and crun 1.23: 1,024 become 100.
    Quadratic,
}

impl Formula {
    /// The weight of these shares, 1 to 10,000.
    #[must_use]
    pub fn weight(self, shares: u64) -> u64 {
        let shares = shares.clamp(SHARES.0, SHARES.1);
        match self {
            Self::Linear => 1 + (shares - 2) * 9_999 / 262_142,
            Self::Quadratic => {
                let log = libm::log2(shares as f64);
                let exponent = (log * log + 125.0 * log) / 612.0 - 7.0 / 34.0;
                // Rounded up, but not for the last bit of a power.
                let weight = libm::ceil(libm::pow(10.0, exponent) - 1e-9) as u64;
                weight.clamp(1, 10_000)
            }
        }
    }

    /// How comments name it.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Linear => "the linear formula",
            Self::Quadratic => "the formula of runc 1.3.2",
        }
    }
}

/// Shares of a request in thousandths of a cpu, as the kubelet computes them (`MilliCPUToShares`).
pub(crate) fn shares(milli: u64) -> u64 {
    (milli.saturating_mul(1_024) / 1_000).clamp(SHARES.0, SHARES.1)
}

/// Quota in us of a limit in thousandths of a cpu, as the kubelet computes it (`MilliCPUToQuota`).
pub(crate) fn quota(milli: u64, period_us: u64) -> u64 {
    (milli.saturating_mul(period_us) / 1_000).max(LEAST_QUOTA_US)
}

/// The weight of a nice value as `cpu.weight` (`sched_prio_to_weight` times 100 by 1,024, rounded).
pub(crate) fn nice_weight(nice: i64) -> Option<u64> {
    const WEIGHTS: [u64; 40] = [
        88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906,
        3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45,
        36, 29, 23, 18, 15,
    ];
    let weight = WEIGHTS.get(usize::try_from(nice + 20).ok()?)?;
    Some(((weight * 100 + 512) / 1_024).clamp(1, 10_000))
}

/// A control group of a scenario.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Group {
    /// Its weight with the origin of the number.
    pub(crate) weight: Option<(u64, String)>,
    /// Quota and period in us, with the origin.
    pub(crate) limit: Option<(u64, u64, String)>,
    /// Burst in us, with the origin.
    pub(crate) burst: Option<(u64, String)>,
}

/// An application in a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) origin: String,
    /// Cpus that it may use, with the origin.
    pub(crate) cpus: Option<(Vec<u32>, String)>,
    /// Tasks, with the origin.
    pub(crate) tasks: (u64, String),
}

/// Writes groups and their members.
pub(crate) fn write(
    page: &mut Page,
    options: &crate::Options,
    groups: &BTreeMap<String, Group>,
    members: &[Member],
) {
    let stated = |group: &&Group| group.weight.is_some() || group.limit.is_some();
    let used = |path: &String| members.iter().any(|m| m.group == *path || inside(&m.group, path));
    let given: Vec<_> = groups.iter().filter(|(path, group)| stated(group) && used(path)).collect();
    if !given.is_empty() {
        page.line(0, "cgroups:", "");
        given.into_iter().for_each(|(path, group)| write_group(page, path, group));
    }
    page.line(0, "apps:", "");
    let workload = page::workload(page, options);
    for member in members {
        page.line(2, &format!("{}:", member.name), &member.origin);
        page.line(4, &workload, if options.workload.is_some() { "--workload" } else { "assumed" });
        page.line(4, &format!("tasks: {}", member.tasks.0), &member.tasks.1);
        if let Some((cpus, origin)) = &member.cpus {
            page.line(4, &format!("cpus: '{}'", page::list(cpus)), origin);
        }
        page.line(4, &format!("cgroup: {}", member.group), "");
    }
    page.line(0, "policies: [LOAD]", "");
}

/// True when a group is inside another one.
fn inside(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
}

fn write_group(page: &mut Page, path: &str, group: &Group) {
    page.line(2, &format!("{path}:"), "");
    if let Some((weight, origin)) = &group.weight {
        page.line(4, &format!("weight: {weight}"), origin);
    }
    if let Some((quota, period, origin)) = &group.limit {
        page.line(4, &format!("quota: {}", span(quota * 1_000)), origin);
        page.line(4, &format!("period: {}", span(period * 1_000)), "");
    }
    if let Some((burst, origin)) = &group.burst {
        page.line(4, &format!("burst: {}", span(burst * 1_000)), origin);
    }
}

/// A limit within the ranges of a scenario; what was changed is noted.
pub(crate) fn limit(page: &mut Page, place: &str, quota: u64, period: u64) -> Option<(u64, u64)> {
    if !(PERIODS_US.0..=PERIODS_US.1).contains(&period) {
        page.notes.left_out(place, format!("a period of {period} us: the kernel accepts 1 ms to 1 s"));
        return None;
    }
    if !(LEAST_QUOTA_US..=MOST_QUOTA_US).contains(&quota) {
        page.notes.left_out(place, format!("a quota of {quota} us: a scenario has 1 ms to 1,000 s"));
        return None;
    }
    Some((quota, period))
}

/// Thousandths of a cpu from a text such as `1.5` or `250m`, rounded up as Kubernetes does.
pub(crate) fn milli(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix('m') {
        Some(number) => (number, 1.0),
        None => (text.strip_suffix('u').unwrap_or(text), if text.ends_with('u') { 1e-3 } else { 1e3 }),
    };
    let value: f64 = number.parse().ok()?;
    let milli = libm::ceil(value * unit - 1e-6);
    (milli.is_finite() && (0.0..=1e9).contains(&milli)).then_some(milli as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formulas_give_the_published_weights() {
        let both = |shares| (Formula::Linear.weight(shares), Formula::Quadratic.weight(shares));
        assert_eq!(both(2), (1, 1));
        assert_eq!(both(1_024), (39, 100));
        assert_eq!(both(262_144), (10_000, 10_000));
        assert_eq!(both(0), (1, 1));
        assert_eq!(both(u64::MAX), (10_000, 10_000));
        // Equation of opencontainers/cgroups: 10^((49 + 875) / 612 - 7/34) = 20.14, rounded up.
        assert_eq!(Formula::Quadratic.weight(128), 21);
    }

    #[test]
    fn the_kubelet_rounds_down_and_has_least_values() {
        assert_eq!([shares(0), shares(1), shares(100), shares(1_500)], [2, 2, 102, 1_536]);
        assert_eq!([quota(1, 100_000), quota(250, 100_000)], [1_000, 25_000]);
        assert_eq!(quota(333, 50_000), 16_650);
    }

    #[test]
    fn cpus_are_counted_in_thousandths() {
        assert_eq!(
            [milli("250m"), milli("1.5"), milli("0.0001"), milli("2")].map(Option::unwrap_or_default),
            [250, 1_500, 1, 2_000]
        );
        assert!(["", "x", "-1", "nan", "1e400", "inf", "1k"].iter().all(|text| milli(text).is_none()));
    }

    #[test]
    fn nice_values_have_the_kernel_weights() {
        assert_eq!([nice_weight(0), nice_weight(19), nice_weight(-20)], [Some(100), Some(1), Some(8_668)]);
        assert_eq!([nice_weight(20), nice_weight(-21)], [None, None]);
    }
}
